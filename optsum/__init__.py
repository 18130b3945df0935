"""Exact oracle summaries: how good could a summary of this text possibly be.

Everything on the command line is one call here, with the same names; what is imported is loaded when it is first
used, so ``import optsum`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from optsum._version import __version__

if TYPE_CHECKING:
    from optsum.contracts.result import Result, Status, Termination
    from optsum.contracts.run import Limits, Run
    from optsum.contracts.strategy import Strategy
    from optsum.corpus.alignment import align
    from optsum.corpus.systems import System, read_systems
    from optsum.corpus.topic import BadTopic, Topic, as_topic
    from optsum.corpus.topics import read_topics
    from optsum.coverage.instance import Coverage, Sense
    from optsum.errors import (
        BackendError,
        InputError,
        OptionError,
        OptsumError,
        UnknownNameError,
        UnsupportedError,
    )
    from optsum.exchange.export import export
    from optsum.exchange.import_ import import_solutions
    from optsum.labelling.labels import labels
    from optsum.metrics.rouge import rouge
    from optsum.optima.optima import Optima
    from optsum.problem.coverage_problem import CoverageProblem
    from optsum.problem.problem import Capability, Evaluation, Problem
    from optsum.report.comparison import compare
    from optsum.report.system_scores import score
    from optsum.running.oracles import Oracles, enumerate_optima
    from optsum.running.search import search
    from optsum.running.topics import solve, solve_all
    from optsum.studies import study

_HOME = {
    "BackendError": "optsum.errors",
    "BadTopic": "optsum.corpus.topic",
    "Capability": "optsum.problem.problem",
    "Coverage": "optsum.coverage.instance",
    "CoverageProblem": "optsum.problem.coverage_problem",
    "Evaluation": "optsum.problem.problem",
    "InputError": "optsum.errors",
    "Limits": "optsum.contracts.run",
    "Optima": "optsum.optima.optima",
    "OptionError": "optsum.errors",
    "Oracles": "optsum.running.oracles",
    "OptsumError": "optsum.errors",
    "Problem": "optsum.problem.problem",
    "Result": "optsum.contracts.result",
    "Run": "optsum.contracts.run",
    "Sense": "optsum.coverage.instance",
    "Status": "optsum.contracts.result",
    "Strategy": "optsum.contracts.strategy",
    "System": "optsum.corpus.systems",
    "Termination": "optsum.contracts.result",
    "Topic": "optsum.corpus.topic",
    "UnknownNameError": "optsum.errors",
    "UnsupportedError": "optsum.errors",
    "align": "optsum.corpus.alignment",
    "as_topic": "optsum.corpus.topic",
    "compare": "optsum.report.comparison",
    "enumerate_optima": "optsum.running.oracles",
    "export": "optsum.exchange.export",
    "import_solutions": "optsum.exchange.import_",
    "labels": "optsum.labelling.labels",
    "read_systems": "optsum.corpus.systems",
    "read_topics": "optsum.corpus.topics",
    "rouge": "optsum.metrics.rouge",
    "score": "optsum.report.system_scores",
    "search": "optsum.running.search",
    "solve": "optsum.running.topics",
    "solve_all": "optsum.running.topics",
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
    "labels",
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
