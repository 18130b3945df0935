"""List strategies, formulations, backends, metrics, presets and what reads text, and whether each works here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import getdoc
from typing import Any, Final

from optsum.corpus.sentences import SPLITTERS
from optsum.errors import OptsumError, describe
from optsum.metrics.names import METRICS, MetricSum
from optsum.options.options import resolve
from optsum.options.presets import PRESETS
from optsum.plugins import Functions, load_place
from optsum.problem.serves import ASPECTS
from optsum.registry import BACKENDS, FORMULATIONS, STRATEGIES
from optsum.report.tables.table import Column, Table
from optsum.running.one_problem import build
from optsum.running.setup import setup_of
from optsum.running.warm import SAMPLE, warm_up
from optsum.text.stemmers import STEMMERS
from optsum.text.tokenizers import TOKENIZERS

_OBJECTIVES: Final[Mapping[str, Mapping[str, Any]]] = {
    "recall": {"max_length": 100},
    "F1": {"max_length": 100, "measure": "f1"},
    "sum": {"max_length": 100, "metric": "rouge-1+rouge-2"},
    "F1-sum": {"max_length": 100, "metric": "rouge-1+rouge-2", "measure": "f1"},
    "mean": {"max_length": 100, "references": "mean"},
    "joined": {"max_length": 100, "metric": "rouge-2", "boundaries": "joined"},
    "meaning": {"max_length": 100, "metric": "similarity"},
    "meaning-F1": {"max_length": 100, "metric": "similarity", "measure": "f1"},
}
"""What extracts can be searched for."""


def _failure(work: Callable[[], object]) -> str:
    """Return why something does not work, or nothing."""
    try:
        work()
    except (OptsumError, SystemExit) as error:
        return describe(error)
    return ""


def _strategies() -> Table:
    objectives = {**_OBJECTIVES, **_other_formulations()}
    columns = [Column("strategy"), Column("proves"), *map(Column, objectives), Column("about", long=True)]
    table = Table(columns)
    for name in STRATEGIES:
        if reason := _failure(lambda name=name: STRATEGIES.load(name)):  # type: ignore[misc]
            table.rows.append([name, "-", *("-" for _ in objectives), reason])
            continue
        strategy = STRATEGIES.load(name)
        served = ["-" if _failure(partial(_accept, name, case)) else "yes" for case in objectives.values()]
        table.rows.append([name, "yes" if strategy.exact else "no", *served, strategy.about])
    table.caption = [
        "Extracts by recall, by F1 or precision, by a sum of metrics (rouge-1+rouge-2; F1-sum: of their F1s), by the",
        "mean over references, with n-grams across sentence ends (joined), or by similarity of meaning and its F1;",
        "compressions by recall; covers of fewest sentences.",
    ]
    return table


def _other_formulations() -> dict[str, Mapping[str, Any]]:
    """Return what the named formulations search, unless it is whole sentences by a metric."""
    found = {name: FORMULATIONS.load(name) for name in FORMULATIONS.builtin}
    asked = {"max_length": 100, "metric": "rouge-2"}
    return {
        name: {"formulation": name, **(asked if formulation.has_metric else {})}
        for name, formulation in found.items()
        if not (formulation.has_metric and formulation.whole_sentences)
    }


def _accept(strategy: str, case: Mapping[str, Any]) -> None:
    setup = setup_of(resolve({"strategy": strategy, **case}))
    setup.strategy.accept(build(SAMPLE, setup).problem)


def _formulations() -> Table:
    headings = ["formulation", "metrics", *(aspect.replace("_", " ") for aspect in ASPECTS)]
    table = Table([*map(Column, headings), Column("about", long=True)])
    for name in FORMULATIONS:
        if reason := _failure(lambda name=name: FORMULATIONS.load(name)):  # type: ignore[misc]
            table.rows.append([name, *("-" for _ in ("metrics", *ASPECTS)), reason])
            continue
        formulation = FORMULATIONS.load(name)
        serves = formulation.serves
        served = [serves.metric_forms(), *(serves.values(aspect) for aspect in ASPECTS)]
        shown = [" ".join(values) for values in served] if formulation.has_metric else ["-" for _ in served]
        table.rows.append([name, *shown, formulation.about])
    table.caption = ["What is served by itself; a combination that is not is refused by a sentence that says so."]
    return table


def _backends() -> Table:
    columns = ["backend", "installed", "works", "version", "licence", "reached by"]
    table = Table([*map(Column, columns), Column("about, or why not and what installs it", long=True)])
    for name in BACKENDS:
        if reason := _failure(lambda name=name: BACKENDS.load(name)):  # type: ignore[misc]
            table.rows.append([name, "no", "no", "", "", "", reason])
            continue
        backend = BACKENDS.load(name)()
        state = backend.available()
        if not state.usable:
            about = f"{state.reason}: {backend.declaration.install}"
            table.rows.append([name, "no", "no", "", backend.declaration.licence, backend.access, about])
            continue
        reason = _tried(name)
        works = "no" if reason else "yes"
        licence = backend.licence()
        table.rows.append([name, "yes", works, state.version, licence, backend.access, reason or backend.about])
    table.caption = [
        "pyomo:NAME takes any of them, and any other solver that Pyomo knows ('pyomo help --solvers' names those),",
        "on the equations as papers print them. pip install 'optsum[solvers]' brings CP-SAT, SCIP, RC2 and Gurobi.",
    ]
    return table


def _tried(backend: str) -> str:
    """Return why a backend does not solve a tiny problem, or nothing; some are for covers alone."""
    reason = ""
    for case in (_OBJECTIVES["recall"], *(each for each in _other_formulations().values() if "metric" not in each)):
        setup = setup_of(resolve({"backend": backend, **case}))  # the strategy is the one that a backend is of
        if not (reason := _failure(partial(warm_up, setup))):
            break
    return reason


def _metrics() -> Table:
    table = Table([Column("metric"), Column("about", long=True)])
    for form in METRICS:
        reason = _failure(lambda form=form: METRICS.load(form))  # type: ignore[misc]
        table.rows.append([form, reason or METRICS.load(form).about])
    table.rows.append([MetricSum.form, MetricSum.about])
    return table


def _presets() -> Table:
    table = Table([Column("preset"), Column("about", long=True), Column("options", long=True)])
    for name, preset in PRESETS.items():
        options = " ".join(f"{option}={value}" for option, value in preset.options.items())
        table.rows.append([name, preset.about, options])
    return table


def _functions(functions: Functions) -> Table:
    """Return the names of functions, and the first line that each says of itself."""
    table = Table([Column(functions.kind), Column("about", long=True)])
    for name in functions:
        if reason := _failure(lambda name=name: functions.load(name)):  # type: ignore[misc]
            table.rows.append([name, reason])
        else:
            table.rows.append([name, (getdoc(functions.load(name)) or "").partition("\n")[0]])
    for prefix, place in functions.families.items():
        table.rows.append([f"{prefix}NAME", (getdoc(load_place(place)) or "").partition("\n")[0]])
    table.caption = ["Also module:function, FILE.py:function, and in Python a function itself."]
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
