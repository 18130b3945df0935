"""Exact oracle summaries: the best possible summaries of a text.

Each command of the command line is one function here, with the same names. Modules are loaded when they are first used,
so ``import optsum`` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from optsum._version import __version__ as __version__

if TYPE_CHECKING:
    from optsum.chunks.rules.rules import parse_rules as parse_rules
    from optsum.contracts.backend import Availability as Availability, Backend as Backend, RawOutcome as RawOutcome
    from optsum.contracts.backend import (
        BoundQuality as BoundQuality,
        Declaration as Declaration,
        Ending as Ending,
        OptionNames as OptionNames,
        SizeLimit as SizeLimit,
    )
    from optsum.contracts.result import Result as Result, Status as Status
    from optsum.contracts.run import Limits as Limits, Run as Run
    from optsum.contracts.strategy import Strategy as Strategy
    from optsum.corpus.alignment import align as align
    from optsum.corpus.formats.cover_table import parse_cover_table as parse_cover_table
    from optsum.corpus.arguments import with_vectors as with_vectors
    from optsum.corpus.systems import System as System, read_systems as read_systems
    from optsum.corpus.topic import BadTopic as BadTopic, Topic as Topic, as_topic as as_topic
    from optsum.corpus.topics import read_topics as read_topics
    from optsum.coverage.instance import Coverage as Coverage, Sense as Sense
    from optsum.coverage.normal_form_json import coverage_of_json as coverage_of_json
    from optsum.coverage.row import Row as Row
    from optsum.errors import (
        BackendError as BackendError,
        ExecutorError as ExecutorError,
        InputError as InputError,
        OptionError as OptionError,
        OptsumError as OptsumError,
        UnknownNameError as UnknownNameError,
        UnsupportedError as UnsupportedError,
    )
    from optsum.exchange.solver_files import export as export
    from optsum.exchange.solver_files import import_solutions as import_solutions
    from optsum.exchange.labels import labels as labels
    from optsum.experiments.folder import merge as merge
    from optsum.experiments.run import run as run
    from optsum.experiments.folder import RunStatus as RunStatus, status as status
    from optsum.metrics.metric import Metric as Metric
    from optsum.metrics.names import METRICS as METRICS, parse_metric as parse_metric
    from optsum.metrics.rouge import rouge as rouge
    from optsum.optima.optima import Optima as Optima
    from optsum.problem.objective import Counted as Counted
    from optsum.problem.coverage_problem import CoverageProblem as CoverageProblem
    from optsum.problem.formulation import Extract as Extract, Formulation as Formulation, Task as Task
    from optsum.problem.linear_problem import PyomoProblem as PyomoProblem
    from optsum.problem.problem import Capability as Capability, Evaluation as Evaluation, Problem as Problem
    from optsum.problem.formulation import Requirement as Requirement, Compatibility as Compatibility
    from optsum.problem.spec import Spec as Spec
    from optsum.registry import BACKENDS as BACKENDS, FORMULATIONS as FORMULATIONS, STRATEGIES as STRATEGIES
    from optsum.report.comparison import compare as compare
    from optsum.report.page.write import write_page as write_page
    from optsum.report.system_scores import score as score
    from optsum.report.tables.results import to_frame as to_frame
    from optsum.running.oracles import Oracles as Oracles
    from optsum.running.oracles import enumerate_optima as enumerate_optima
    from optsum.running.context import context as context
    from optsum.running.frontier import frontier as frontier
    from optsum.running.search import search as search
    from optsum.running.topics import solve as solve, solve_all as solve_all
    from optsum.studies import study as study
    from optsum.studies.tsc3 import score_extract as score_extract
    from optsum.system.clock import Stopped as Stopped, Termination as Termination
    from optsum.text.analyzer import Analyzer as Analyzer

_NAMES = {
    name: f"optsum.{module}"
    for module, names in {
        "chunks.rules.rules": "+parse_rules",
        "contracts.backend": "+Availability +Backend +BoundQuality +Declaration +Ending +OptionNames +RawOutcome "
        "+SizeLimit",
        "contracts.result": "Result Status",
        "contracts.run": "Limits +Run",
        "contracts.strategy": "+Strategy",
        "corpus.alignment": "align",
        "corpus.formats.cover_table": "+parse_cover_table",
        "corpus.arguments": "+with_vectors",
        "corpus.systems": "System read_systems",
        "corpus.topic": "Topic as_topic +BadTopic",
        "corpus.topics": "read_topics",
        "coverage.instance": "+Coverage +Sense",
        "coverage.row": "+Row",
        "errors": "InputError OptionError OptsumError +BackendError +ExecutorError +UnknownNameError +UnsupportedError",
        "exchange.labels": "labels",
        "exchange.solver_files": "export import_solutions",
        "coverage.normal_form_json": "+coverage_of_json",
        "experiments.run": "run",
        "experiments.folder": "merge status +RunStatus",
        "metrics.metric": "+Metric",
        "metrics.names": "+METRICS +parse_metric",
        "metrics.rouge": "rouge",
        "optima.optima": "+Optima",
        "problem.coverage_problem": "+CoverageProblem",
        "problem.linear_problem": "PyomoProblem",
        "problem.formulation": "+Extract +Formulation +Requirement +Compatibility +Task",
        "problem.objective": "+Counted",
        "problem.problem": "Problem +Capability +Evaluation",
        "problem.spec": "+Spec",
        "registry": "+BACKENDS +FORMULATIONS +STRATEGIES",
        "report.comparison": "compare",
        "report.page.write": "write_page",
        "report.system_scores": "score",
        "report.tables.results": "to_frame",
        "running.oracles": "enumerate_optima +Oracles",
        "running.context": "context",
        "running.frontier": "frontier",
        "running.search": "search",
        "running.topics": "solve solve_all",
        "studies": "study",
        "studies.tsc3": "score_extract",
        "system.clock": "Termination +Stopped",
        "text.analyzer": "+Analyzer",
    }.items()
    for name in names.split()
}
"""The module of each public name; a + marks names for extensions, which `optsum.plugins` offers too."""

_HOME = {name.removeprefix("+"): module for name, module in _NAMES.items()}

__all__ = sorted({"__version__", *(name for name in _NAMES if name[0] != "+")})  # noqa: PLE0605 - of strings


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module, attribute = _HOME[name], name
    else:
        from optsum.registry import PUBLIC_NAMES  # which `import optsum` is quicker without

        if name not in PUBLIC_NAMES:
            raise AttributeError(f"module 'optsum' has no attribute {name!r}")
        module, _, attribute = PUBLIC_NAMES[name].partition(":")
    from optsum.system.processes.signal_guard import postponing  # which `import optsum` is quicker without

    with postponing():
        found = getattr(import_module(module), attribute)
        keywords = str(getattr(found, "__annotations__", {}).get("options", ""))
        if "Keywords]" in keywords:  # **options: Unpack[Keywords]
            from optsum.options.options import with_options  # which the function has loaded

            with_options(found, keywords.removeprefix("Unpack[").removesuffix("]"))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


class _ByName(ModuleType):
    """The package, pickled by name: dill copies the whole of a module that is not in site-packages."""

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _ByName
