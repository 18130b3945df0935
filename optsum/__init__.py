"""Exact oracle summaries: the best possible summaries of a text.

Each command of the command line is one function here, with the same name and options. A module is loaded when one of
its names is first used, so ``import optsum`` takes next to no time.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from optsum._version import __version__ as __version__

_NAMES = {
    name: f"optsum.{module}"
    for module, names in {
        "chunks.tree": "+parse_rules",
        "contracts.backend": "+Availability +Backend +BoundQuality +Declaration +Ending +OptionNames +RawOutcome "
        "+SizeLimit",
        "contracts.result": "Result Status",
        "contracts.strategy": "+Run +Strategy",
        "corpus.alignment": "align",
        "corpus.cover": "+parse_cover_table",
        "corpus.topic": "Topic as_topic +BadTopic",
        "corpus.topics": "System read_systems read_topics +with_vectors",
        "coverage.instance": "+Coverage +Row +Sense +coverage_of_json",
        "errors": "InputError OptionError OptsumError +BackendError +ExecutorError +UnknownNameError +UnsupportedError",
        "exchange.labels": "labels",
        "exchange.solver_files": "export import_solutions",
        "experiments": "merge run status +RunStatus",
        "metrics.rouge": "rouge +METRICS +Metric +parse_metric",
        "optima.optima": "+Optima",
        "problem.linear_problem": "PyomoProblem",
        "problem.formulation": "+Formulation +Requirement +Compatibility +Spec +Task",
        "problem.objective": "+Counted +Extract",
        "problem.problem": "Problem +Capability +CoverageProblem +Evaluation",
        "registry": "+BACKENDS +FORMULATIONS +STRATEGIES",
        "report.comparison": "compare",
        "report.page.write": "write_page",
        "report.system_scores": "score",
        "report.tables": "to_frame",
        "running.enumerate": "enumerate_optima +Oracles",
        "running.frontier": "frontier",
        "running.search": "search",
        "running.solve": "context solve solve_all",
        "studies": "study",
        "studies.tsc3": "score_extract",
        "system.clock": "Limits Termination +Stopped",
        "text.analyzer": "+Analyzer",
    }.items()
    for name in names.split()
}
"""The module of each public name; a + marks a name for extensions, which `optsum.plugins` offers too.

``python tests/unit/test_startup.py`` writes `__init__.pyi` from this table, for type checkers.
"""

_HOME = {name.removeprefix("+"): module for name, module in _NAMES.items()}

__all__ = sorted({"__version__", *(name for name in _NAMES if name[0] != "+")})  # noqa: PLE0605 - of strings


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module, attribute = _HOME[name], name
    else:
        from optsum.registry import PUBLIC_NAMES  # imported late to keep `import optsum` quick

        if name not in PUBLIC_NAMES:
            raise AttributeError(f"module 'optsum' has no attribute {name!r}")
        module, _, attribute = PUBLIC_NAMES[name].partition(":")
    from optsum.system.processes.signal_guard import postponing  # imported late for the same reason

    with postponing():
        found = getattr(import_module(module), attribute)
        keywords = str(getattr(found, "__annotations__", {}).get("options", ""))
        if "Keywords]" in keywords:  # **options: Unpack[Keywords]
            from optsum.options.options import with_options  # the function's module has loaded it already

            with_options(found, keywords.removeprefix("Unpack[").removesuffix("]"))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


class _ByName(ModuleType):
    """The package as a module that is pickled by name, because dill copies whole modules outside site-packages."""

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _ByName
