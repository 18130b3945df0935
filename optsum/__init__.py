"""Exact oracle summaries: how good could a summary of this text possibly be.

Everything on the command line is one call here, with the same names; what is imported is loaded when it is first
used, so ``import optsum`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from optsum._version import __version__

if TYPE_CHECKING:
    from optsum.alignment import align
    from optsum.comparison import compare
    from optsum.corpus.jsonl import BadTopic, read_topics
    from optsum.corpus.systems import System, read_systems
    from optsum.corpus.topic import Topic, as_topic
    from optsum.coverage import Coverage
    from optsum.coverage_problem import CoverageProblem
    from optsum.errors import (
        BackendError,
        InputError,
        OptionError,
        OptsumError,
        UnknownNameError,
        UnsupportedError,
    )
    from optsum.exporting import export
    from optsum.importing import import_solutions
    from optsum.optima import Optima
    from optsum.oracles import Oracles, enumerate_optima
    from optsum.pipeline import solve, solve_all
    from optsum.problem import Capability, Evaluation, Problem, Sense
    from optsum.result import Result, Status, Termination
    from optsum.rouge_score import rouge
    from optsum.run import Limits, Run
    from optsum.searching import search
    from optsum.strategy import Strategy
    from optsum.studies import study
    from optsum.system_scores import score

_HOME = {
    "BackendError": "optsum.errors",
    "BadTopic": "optsum.corpus.jsonl",
    "Capability": "optsum.problem",
    "Coverage": "optsum.coverage",
    "CoverageProblem": "optsum.coverage_problem",
    "Evaluation": "optsum.problem",
    "InputError": "optsum.errors",
    "Limits": "optsum.run",
    "Optima": "optsum.optima",
    "OptionError": "optsum.errors",
    "Oracles": "optsum.oracles",
    "OptsumError": "optsum.errors",
    "Problem": "optsum.problem",
    "Result": "optsum.result",
    "Run": "optsum.run",
    "Sense": "optsum.problem",
    "Status": "optsum.result",
    "Strategy": "optsum.strategy",
    "System": "optsum.corpus.systems",
    "Termination": "optsum.result",
    "Topic": "optsum.corpus.topic",
    "UnknownNameError": "optsum.errors",
    "UnsupportedError": "optsum.errors",
    "align": "optsum.alignment",
    "as_topic": "optsum.corpus.topic",
    "compare": "optsum.comparison",
    "enumerate_optima": "optsum.oracles",
    "export": "optsum.exporting",
    "import_solutions": "optsum.importing",
    "read_systems": "optsum.corpus.systems",
    "read_topics": "optsum.corpus.jsonl",
    "rouge": "optsum.rouge_score",
    "score": "optsum.system_scores",
    "search": "optsum.searching",
    "solve": "optsum.pipeline",
    "solve_all": "optsum.pipeline",
    "study": "optsum.studies",
}

__all__ = [
    "BackendError",
    "BadTopic",
    "Capability",
    "Coverage",
    "CoverageProblem",
    "Evaluation",
    "InputError",
    "Limits",
    "Optima",
    "OptionError",
    "OptsumError",
    "Oracles",
    "Problem",
    "Result",
    "Run",
    "Sense",
    "Status",
    "Strategy",
    "System",
    "Termination",
    "Topic",
    "UnknownNameError",
    "UnsupportedError",
    "__version__",
    "align",
    "as_topic",
    "compare",
    "enumerate_optima",
    "export",
    "import_solutions",
    "read_systems",
    "read_topics",
    "rouge",
    "score",
    "search",
    "solve",
    "solve_all",
    "study",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'optsum' has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
