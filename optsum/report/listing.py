"""The tables of ``optsum list``: strategies, formulations, backends, metrics, presets and functions for texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import getdoc
from typing import Any, Final

from optsum.corpus.sentences import SPLITTERS
from optsum.errors import describe
from optsum.metrics.rouge import METRICS, SUM, parse_metric
from optsum.options.options import resolve
from optsum.options.presets import PRESETS
from optsum.plugins import Registry, load_place
from optsum.problem.formulation import ASPECTS
from optsum.registry import BACKENDS, FORMULATIONS, STRATEGIES
from optsum.report.tables import Table
from optsum.running.one_problem import SAMPLE, build, setup_of, warm_up
from optsum.text.analyzer import STEMMERS, TOKENIZERS

_OBJECTIVES: Final[Mapping[str, Mapping[str, Any]]] = {
    "recall": {"max_length": 100},
    "F1": {"max_length": 100, "measure": "f1"},
    "sum of metrics": {"max_length": 100, "metric": "rouge-1+rouge-2"},
    "sum of F1s": {"max_length": 100, "metric": "rouge-1+rouge-2", "measure": "f1"},
    "mean over references": {"max_length": 100, "references": "mean"},
    "joined sentences": {"max_length": 100, "metric": "rouge-2", "boundaries": "joined"},
    "similarity": {"max_length": 100, "metric": "similarity"},
    "F1 of similarity": {"max_length": 100, "metric": "similarity", "measure": "f1"},
}


def _failure(work: Callable[[], object]) -> str:
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything
        return describe(error)
    return ""


def _listed(
    table: Table, names: Registry[Any], row_of: Callable[[str, Any], Sequence[str]], absent: Sequence[str]
) -> Table:
    """Add a row for each name: the cells of `row_of` or, if loading it fails, the cells `absent` and the reason."""
    for name in names:
        reason = _failure(partial(names.load, name))
        table.rows.append([name, *absent, reason] if reason else [name, *row_of(name, names.load(name))])
    return table


def _strategies() -> Table:
    objectives = {**_OBJECTIVES, **_other_formulations()}

    def accept(strategy: str, case: Mapping[str, Any]) -> None:
        setup = setup_of(resolve({"strategy": strategy, **case}))
        setup.strategy.accept(build(SAMPLE, setup).problem)

    def row_of(name: str, strategy: Any) -> list[str]:
        refused = [case for case, options in objectives.items() if _failure(partial(accept, name, options))]
        return ["yes" if strategy.exact else "no", ", ".join(refused) or "-", strategy.about]

    caption = [f"Tried: {', '.join(objectives)}."]
    table = Table.of(["strategy", "proves"], long=["not for", "about"], caption=caption)
    return _listed(table, STRATEGIES, row_of, ["-", "-"])


def _other_formulations() -> dict[str, Mapping[str, Any]]:
    found = {name: FORMULATIONS.load(name) for name in FORMULATIONS.builtin}
    asked = {"max_length": 100, "metric": "rouge-2"}
    return {
        name: {"formulation": name, **(asked if formulation.has_metric else {})}
        for name, formulation in found.items()
        if not (formulation.has_metric and formulation.whole_sentences)
    }


def _formulations() -> Table:
    def row_of(_: str, formulation: Any) -> list[str]:
        serves = formulation.serves
        served = "; ".join(f"{aspect.replace('_', ' ')}: {', '.join(serves.values(aspect))}" for aspect in ASPECTS)
        shown = [", ".join(serves.metric_forms()), served] if formulation.has_metric else ["-", "-"]
        return [*shown, formulation.about]

    table = Table.of(["formulation"], long=["metrics", "served", "about"])
    table.caption = ["Supported values; unsupported combinations are refused with a message."]
    return _listed(table, FORMULATIONS, row_of, ["-", "-"])


def _backends() -> Table:
    def row_of(name: str, made_by: Any) -> list[str]:
        backend = made_by()
        state = backend.available()
        if not state.usable:
            about = f"{state.reason}: {backend.declaration.install}"
            return ["no", "no", "", backend.declaration.licence, backend.access, about]
        reason = _tried(name)
        works = "no" if reason else "yes"
        return ["yes", works, state.version, backend.licence(), backend.access, reason or backend.about]

    table = Table.of(["backend", "installed", "works", "version"], long=["licence", "reached by", "about"])
    table.caption = [
        "pyomo:NAME takes any solver that Pyomo knows ('pyomo help --solvers'), on the papers' equations.",
        "pip install 'optsum[solvers]' brings CP-SAT, SCIP, RC2 and Gurobi.",
    ]
    return _listed(table, BACKENDS, row_of, ["no", "no", "", "", ""])


def _tried(backend: str) -> str:
    """Return the reason why a backend solves none of several tiny problems; "" if it solves one of them."""
    reason = ""
    for case in (_OBJECTIVES["recall"], *(each for each in _other_formulations().values() if "metric" not in each)):
        setup = setup_of(resolve({"backend": backend, **case}))  # an option of a backend implies the strategy milp
        if not (reason := _failure(partial(warm_up, setup))):
            break
    return reason


def _metrics() -> Table:
    table = Table.of(["metric"], long=["about"])
    _listed(table, METRICS, lambda _, metric: [metric.about], []).add(SUM, parse_metric("rouge-1+rouge-2").about)
    return table


def _presets() -> Table:
    caption = ["optsum config show --preset NAME shows the options of a preset."]
    rows = [[name, preset.about] for name, preset in PRESETS.items()]
    return Table.of(["preset"], long=["about"], rows=rows, caption=caption)


def _functions(functions: Registry[Any]) -> Table:
    def about(_: str, function: Any) -> list[str]:
        return [(getdoc(function) or "").partition("\n")[0]]

    table = _listed(Table.of([functions.kind], long=["about"]), functions, about, [])
    table.rows += [[f"{prefix}NAME", *about("", load_place(place))] for prefix, place in functions.families.items()]
    table.caption = ["Also module:function, FILE.py:function, and in Python a function."]
    return table


LISTS: Final[Mapping[str, Callable[[], Table]]] = {
    "strategies": _strategies,
    "formulations": _formulations,
    "backends": _backends,
    "metrics": _metrics,
    "presets": _presets,
    "tokenizers": partial(_functions, TOKENIZERS),
    "stemmers": partial(_functions, STEMMERS),
    "splitters": partial(_functions, SPLITTERS),
}
