"""Exact oracle summaries: how good could a summary of this text possibly be.

Everything on the command line is one call here, with the same names; what is imported is loaded when it is first
used, so ``import optsum`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from optsum._version import __version__

if TYPE_CHECKING:
    from optsum.chunks.rules.files import parse_rules
    from optsum.contracts.backend import Availability, Backend, RawOutcome
    from optsum.contracts.declaration import BoundQuality, Declaration, Ending, OptionNames, SizeLimit
    from optsum.contracts.result import Result, Status, Termination
    from optsum.contracts.run import Limits, Run, Stopped
    from optsum.contracts.strategy import Strategy
    from optsum.corpus.alignment import align
    from optsum.corpus.formats.cover_table import parse_cover_table
    from optsum.corpus.given import with_vectors
    from optsum.corpus.systems import System, read_systems
    from optsum.corpus.topic import BadTopic, Topic, as_topic
    from optsum.corpus.topics import read_topics
    from optsum.coverage.instance import Coverage, Sense
    from optsum.coverage.row import Row
    from optsum.errors import (
        BackendError,
        ExecutorError,
        InputError,
        OptionError,
        OptsumError,
        UnknownNameError,
        UnsupportedError,
    )
    from optsum.exchange.export import export
    from optsum.exchange.import_ import import_solutions
    from optsum.exchange.labels import labels
    from optsum.exchange.normal_form_json import coverage_of_json
    from optsum.experiments.merge import merge
    from optsum.experiments.run import run
    from optsum.experiments.status import RunStatus, status
    from optsum.metrics.metric import Metric
    from optsum.metrics.names import METRICS, parse_metric
    from optsum.metrics.rouge import rouge
    from optsum.optima.optima import Optima
    from optsum.problem.counted import Counted
    from optsum.problem.coverage_problem import CoverageProblem
    from optsum.problem.formulation import Extract, Formulation, Task
    from optsum.problem.problem import Capability, Evaluation, Problem
    from optsum.problem.serves import Rule, Serves
    from optsum.problem.spec import Spec
    from optsum.registry import BACKENDS, FORMULATIONS, STRATEGIES
    from optsum.report.comparison import compare
    from optsum.report.page.write import write_page
    from optsum.report.system_scores import score
    from optsum.running.all_optima.oracle_sets import Oracles
    from optsum.running.all_optima.oracles import enumerate_optima
    from optsum.running.every_length.frontier import frontier
    from optsum.running.search import search
    from optsum.running.topics import solve, solve_all
    from optsum.studies import study
    from optsum.studies.tsc3.measures import score_extract
    from optsum.text.analyzer import Analyzer

_HOME = {
    "Analyzer": "optsum.text.analyzer",
    "Availability": "optsum.contracts.backend",
    "BACKENDS": "optsum.registry",
    "Backend": "optsum.contracts.backend",
    "BackendError": "optsum.errors",
    "BadTopic": "optsum.corpus.topic",
    "BoundQuality": "optsum.contracts.declaration",
    "Capability": "optsum.problem.problem",
    "Counted": "optsum.problem.counted",
    "Coverage": "optsum.coverage.instance",
    "CoverageProblem": "optsum.problem.coverage_problem",
    "Declaration": "optsum.contracts.declaration",
    "Ending": "optsum.contracts.declaration",
    "Evaluation": "optsum.problem.problem",
    "Extract": "optsum.problem.formulation",
    "FORMULATIONS": "optsum.registry",
    "Formulation": "optsum.problem.formulation",
    "InputError": "optsum.errors",
    "Limits": "optsum.contracts.run",
    "METRICS": "optsum.metrics.names",
    "Metric": "optsum.metrics.metric",
    "Optima": "optsum.optima.optima",
    "ExecutorError": "optsum.errors",
    "OptionError": "optsum.errors",
    "OptionNames": "optsum.contracts.declaration",
    "OptsumError": "optsum.errors",
    "Oracles": "optsum.running.all_optima.oracle_sets",
    "Problem": "optsum.problem.problem",
    "RawOutcome": "optsum.contracts.backend",
    "Result": "optsum.contracts.result",
    "Row": "optsum.coverage.row",
    "Rule": "optsum.problem.serves",
    "Run": "optsum.contracts.run",
    "STRATEGIES": "optsum.registry",
    "Sense": "optsum.coverage.instance",
    "Serves": "optsum.problem.serves",
    "SizeLimit": "optsum.contracts.declaration",
    "Spec": "optsum.problem.spec",
    "Status": "optsum.contracts.result",
    "Stopped": "optsum.contracts.run",
    "Strategy": "optsum.contracts.strategy",
    "System": "optsum.corpus.systems",
    "Task": "optsum.problem.formulation",
    "Termination": "optsum.contracts.result",
    "Topic": "optsum.corpus.topic",
    "UnknownNameError": "optsum.errors",
    "UnsupportedError": "optsum.errors",
    "align": "optsum.corpus.alignment",
    "as_topic": "optsum.corpus.topic",
    "compare": "optsum.report.comparison",
    "coverage_of_json": "optsum.exchange.normal_form_json",
    "enumerate_optima": "optsum.running.all_optima.oracles",
    "export": "optsum.exchange.export",
    "frontier": "optsum.running.every_length.frontier",
    "import_solutions": "optsum.exchange.import_",
    "labels": "optsum.exchange.labels",
    "merge": "optsum.experiments.merge",
    "parse_cover_table": "optsum.corpus.formats.cover_table",
    "parse_metric": "optsum.metrics.names",
    "parse_rules": "optsum.chunks.rules.files",
    "read_systems": "optsum.corpus.systems",
    "read_topics": "optsum.corpus.topics",
    "rouge": "optsum.metrics.rouge",
    "run": "optsum.experiments.run",
    "RunStatus": "optsum.experiments.status",
    "status": "optsum.experiments.status",
    "score": "optsum.report.system_scores",
    "score_extract": "optsum.studies.tsc3.measures",
    "search": "optsum.running.search",
    "solve": "optsum.running.topics",
    "solve_all": "optsum.running.topics",
    "study": "optsum.studies",
    "with_vectors": "optsum.corpus.given",
    "write_page": "optsum.report.page.write",
}

__all__ = [
    "BACKENDS",
    "FORMULATIONS",
    "METRICS",
    "PYOMO_NEWER",
    "PYOMO_OLDER",
    "STRATEGIES",
    "Analyzer",
    "Availability",
    "Backend",
    "BackendError",
    "BadTopic",
    "BoundQuality",
    "Capability",
    "Counted",
    "Coverage",
    "CoverageProblem",
    "Declaration",
    "Ending",
    "Evaluation",
    "ExecutorError",
    "Extract",
    "Formulation",
    "InputError",
    "Limits",
    "Metric",
    "Optima",
    "OptionError",
    "OptionNames",
    "OptsumError",
    "Oracles",
    "Problem",
    "PyomoBackend",
    "PyomoDeclaration",
    "RawOutcome",
    "Result",
    "Row",
    "Rule",
    "Run",
    "RunStatus",
    "Sense",
    "Serves",
    "SizeLimit",
    "Spec",
    "Status",
    "Stopped",
    "Strategy",
    "System",
    "Task",
    "Termination",
    "Topic",
    "UnknownNameError",
    "UnsupportedError",
    "__version__",
    "align",
    "as_topic",
    "compare",
    "coverage_of_json",
    "enumerate_optima",
    "export",
    "frontier",
    "import_solutions",
    "labels",
    "merge",
    "parse_cover_table",
    "parse_metric",
    "parse_rules",
    "read_systems",
    "read_topics",
    "rouge",
    "run",
    "score",
    "score_extract",
    "search",
    "solve",
    "solve_all",
    "status",
    "study",
    "with_vectors",
    "write_page",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module, attribute = _HOME[name], name
    elif name in __all__:
        from optsum.registry import FACE  # which `import optsum` is quicker without

        module, _, attribute = FACE[name].partition(":")
    else:
        raise AttributeError(f"module 'optsum' has no attribute {name!r}")
    found = getattr(import_module(module), attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
