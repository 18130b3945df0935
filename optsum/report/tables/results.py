"""Tables of results, enumerations, frontiers and their steps, one line for each; the objective in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import floor
from typing import Any, Final

from optsum.contracts.result import Result, Status, is_posed, unit_text
from optsum.corpus.rows import read_rows
from optsum.errors import InputError, UnsupportedError
from optsum.options.options import Options
from optsum.options.values import lengths_of
from optsum.registry import DEFAULT_HEURISTIC, FORMULATIONS
from optsum.report.tables.table import Cell, Column, Table, Tabular, data_frame, number, seconds, share
from optsum.system.files import PathLike

_MOST_UNITS = 25  # Units of a selection that a table shows.


def to_frame(results: Tabular | Result | PathLike | Iterable[Result | Mapping[str, Any]]) -> Any:
    """Return results, their rows, or a comparison as a `pandas.DataFrame`.

    Parameters
    ----------
    results : results, rows, path or table
        Results of `optsum.solve_all`, a single result, rows as mappings, a file of rows or the folder of a run; or a
        table, such as a comparison, for one line for each of its rows (pass ``table.results`` for its results).

    Returns
    -------
    pandas.DataFrame
        One line for each result, in order, and one column for each field, such as ``rouge.rouge-1.f1`` and
        ``statistics.evaluations``. Whole numbers stay whole even if some are missing (``Int64``, or Python's if
        larger); selections, summaries and traces are lists.

    Raises
    ------
    OptsumError
        If pandas is not installed, or a row cannot be read.

    Examples
    --------
    >>> from optsum import solve, to_frame
    >>> topic = {"id": "t", "documents": [["a b c", "a b d", "d"]], "references": [["a b c d"]]}
    >>> frame = to_frame([solve(topic, max_length=length) for length in (2, 4)])
    >>> frame[["id", "objective", "selection"]].values.tolist()
    [['t', 0.25, [2]], ['t', 1.0, [0, 2]]]
    """
    if isinstance(results, Tabular):
        return results.to_pandas()
    if isinstance(results, Result):
        results = [results]
    rows: list[dict[str, Any]] = []
    for row in read_rows(results) if isinstance(results, str | os.PathLike) else results:
        if not isinstance(row, Result | Mapping):
            raise InputError(f"A {type(row).__name__} is neither a result nor a row: give results of optsum.solve_all.")
        rows.append(dict(_flat(row.to_row() if isinstance(row, Result) else row)))
    names = list(dict.fromkeys(name for row in rows for name in row))
    split = {name.partition(".")[0] for name in names if "." in name}
    names = [name for name in names if name not in split or any(row.get(name) is not None for row in rows)]
    columns = {name: [row.get(name) for row in rows] for name in names}
    kinds = {}
    for name, values in columns.items():
        held = [value for value in values if value is not None]
        types = set(map(type, held))
        if types == {int} and all(-(2**63) <= value < 2**63 for value in held):
            kinds[name] = "Int64"
        elif types == {bool} or types in ({float}, {float, int}):
            kinds[name] = "boolean" if types == {bool} else "float64"
    return data_frame(list(zip(*columns.values(), strict=True)), names, "object").astype(kinds)


def _flat(row: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of a row, with nested fields of mappings; texts and trees for `optsum.write_page` stay whole."""
    for name, value in row.items():
        if isinstance(value, Mapping) and name != "details":
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _lines(
    results: Iterable[Result],
    numbers: Sequence[str],
    cells: Callable[[Result], Sequence[str] | None],
    long: Sequence[str] = (),
) -> Table:
    """Return a table with one line for each result; where `cells` returns None there are dashes, and the reason."""
    table = Table.of(["id"], numbers, long=long)
    dashes = ["-"] * (len(table.columns) - 2)
    for result in results:
        table.add(result.id or "?", *(cells(result) or [*dashes, result.error or result.status.value]))
    return table


def results_table(results: Iterable[Result]) -> Table:
    """Return one line for each result."""
    names = ["id", "objective", "bound", "gap", "status", "length", "units", "time"]
    table = Table([Column(name, name not in {"id", "status", "units"}, name == "units") for name in names])
    for result in results:
        if result.status is Status.ERROR:
            table.add(result.id or "?", "-", "-", "-", "error", "-", result.error or "")
            continue
        early = "" if result.termination.value == "completed" else f", {result.termination.value.replace('_', ' ')}"
        values = [_value(result.objective, result), _value(result.bound, result), share(result.gap, 1)]
        status, units = result.status.value.replace("_", " ") + early, _units(result.selection or ())
        table.add(result.id or "?", *values, status, number(result.length, 0), units, seconds(result.seconds))
    return table


def context_table(results: Iterable[Result], options: Options) -> Table:
    """Return one line for each context: the budget, the supported claims, and those of greedy selection."""
    cover = not options.formulated().has_metric
    budget = options.max_length if isinstance(options.max_length, int) else None
    lost = []

    def cells(result: Result) -> list[str] | None:
        packed = result.greedy
        if result.objective is None or packed is None:
            return None
        greedy = packed["objective"]
        share_lost = None if greedy is None or not result.objective else 1 - greedy / result.objective
        lost.append(share_lost or 0.0)
        claims = number(result.denominator if cover else None, 0)
        if cover and result.bound_key is not None and result.denominator is not None:
            bound = number(floor(result.bound_key * result.denominator), 0)
            values = [number(result.numerator, 0), bound, number(packed["numerator"], 0)]
        else:
            values = [number(result.objective), number(result.bound), number(greedy)]
        sizes = [number(budget, 0), number(result.length, 0), claims]
        missed = _units(result.missed) if result.missed else "-"
        return [*sizes, *values, share(share_lost, 1), seconds(result.seconds), missed]

    names = ["budget", "used", "claims", "supported", "bound", DEFAULT_HEURISTIC, "loses", "time"]
    table = _lines(results, names, cells, ["missed"])
    table.caption = [
        f"budget in {options.length_unit}; claims count by their weights; bound: no context supports more",
        f"{DEFAULT_HEURISTIC}: greedy selection by claims per length, and the share that it loses",
    ]
    if lost:
        table.caption.append(f"greedy selection loses {sum(lost) / len(lost):.1%} on average")
    return table


def optima_table(results: Iterable[Result]) -> Table:
    """Return one line for each enumeration."""

    def cells(result: Result) -> list[str] | None:
        if (all_ := result.enumeration) is None:
            return None
        return [_value(result.objective, result), _sets(all_), *_in_all(all_), seconds(result.seconds)]

    table = _lines(results, ["objective", "optima", "always", "some", "never", "time"], cells)
    table.caption = ["always, some, never: units in all, in some, in none of the optima"]
    return table


def near_table(results: Sequence[Result]) -> Table:
    """Return one line for each enumeration of near-optimal sets."""

    def cells(result: Result) -> list[str] | None:
        if (all_ := result.enumeration) is None or all_.near is None:
            return None
        name, units = result.formulation or "", "-" if all_.units is None else str(all_.units)
        # Units are sentences, as far as that is known here.
        if all_.units is not None and name in FORMULATIONS.builtin and FORMULATIONS.load(name).whole_sentences:
            units += "" if result.sentence_count is None else f" of {result.sentence_count}"
        values = [_value(result.objective, result), _value(all_.at_least, result), _sets(all_)]
        return [*values, share(all_.irredundant), *_in_all(all_), units, seconds(result.seconds)]

    names = ["objective", "at least", "sets", "irredundant", "always", "some", "never", "of", "time"]
    table = _lines(results, names, cells)
    table.caption = [
        "sets: selections of at least this value; irredundant: those from which no unit can be left out",
        "always, some, never: units in all, in some, in none of the sets",
    ]
    if not all(is_posed(result.formulation) for result in results):
        table.caption.append("of: number of units, of all sentences; sentences that can add nothing are not units")
    return table


def _sets(found: Any) -> Cell:
    shown = f"{found.count:,}" if found.count < 10**9 else f"{Decimal(found.count):.3e}"
    return Cell(shown if found.complete else f"at least {shown}", found.count)


def _in_all(found: Any) -> list[str]:
    if found.always is None or found.never is None or found.units is None:
        return [number(None)] * 3
    always, never = len(found.always), len(found.never)
    return [number(count, 0) for count in (always, found.units - never - always, never)]


def _value(value: float | None, result: Result) -> str:
    whole = result.metric is None and value is not None and value.is_integer()
    return number(value, 0 if whole else 4)


def _units(selection: Sequence[object]) -> str:
    more = len(selection) - _MOST_UNITS
    shown = " ".join(map(unit_text, selection[:_MOST_UNITS] if more > 1 else selection))
    return f"{shown} and {more} more" if more > 1 else shown


def headline(options: Options) -> str:
    """Describe the objective in a few words."""
    formulation = options.formulated()
    if not formulation.reads_topics:
        return formulation.about
    words = [formulation.goal(options.spec())]
    if not formulation.has_metric:
        return words[0]
    if options.formulation != "extractive":
        words.insert(0, options.formulation)
    if options.references != "pooled":
        names = {"each": "each reference by itself", "mean": "mean over references"}
        names |= {"best": "best reference", "first": "first reference", "agreed": "reference of best agreement"}
        words.append(names[options.references])
    if options.model_units == "sentences":
        words.append("each sentence of a reference separately")
    if options.max_length is not None:
        words.append(f"at most {longest_said(options.max_length, options.length_unit)}")
    if options.min_length:
        words.append(f"at least {options.min_length} {options.length_unit}")
    return ", ".join([*words, *words_kept(options)])


def words_kept(options: Options) -> list[str]:
    """Describe how the words of a text are changed before they are counted."""
    stemmed = ["stemmed" if options.stemmer == "rouge155" else f"stemmed as {options.stemmer}"]
    return [*(stemmed if options.stem else []), *(["without stop words"] if options.stopwords != "keep" else [])]


def longest_said(length: int | str | None, unit: str) -> str:
    """Return a maximum length in words: a number of units, or the length of the reference."""
    return f"as many {unit} as the reference" if length == "reference" else f"{length} {unit}"


_COLUMNS: Final = 6  # Lengths that a table of several topics shows: the largest and some below, evenly spaced.


def frontier_table(results: Sequence[Result]) -> Table:
    """Return one line for each topic: the best value at some lengths, and the mean loss of greedy search."""
    found = [result.frontier for result in results]
    every = sorted({length for one in found if one is not None for length in lengths_of(one.lengths)})
    lengths = sorted({every[place * len(every) // _COLUMNS - 1] for place in range(1, _COLUMNS + 1)} if every else ())

    def cells(result: Result) -> list[str] | None:
        if (one := result.frontier) is None:
            return None
        values = [_shown(_at(one.steps, length)) for length in lengths]
        lost = [  # by greedy search, at all lengths at which something can be reached
            (last - first + 1, abs(1 - reached.objective / step.objective))
            for step in one.steps
            for reached in one.greedy or ()
            for first, last in [(max(step.first, reached.first), min(step.last, reached.last))]
            if first <= last and step.objective and reached.objective is not None
        ]
        mean = sum(many * loss for many, loss in lost) / sum(many for many, _ in lost) if lost else None
        return [*values, number(len(one.steps), 0), share(mean, 1), seconds(result.seconds)]

    table = _lines(results, [*(f"<= {length}" for length in lengths), "steps", "greedy loses", "time"], cells)
    table.caption = ["steps: different best values; greedy loses: missed share, mean over all lengths"]
    if any(one is not None and not one.complete for one in found):
        table.caption.append("a-b: a limit was reached; a is attained, and nothing is better than b")
    return table


def steps_table(result: Result) -> Table:
    """Return one line for each step of a frontier."""
    one = result.frontier
    if one is None:
        raise UnsupportedError(f"the result {result.id or '?'} has no frontier: make it with optsum.frontier")
    names = ["from", "to", "objective", "gain", "units", DEFAULT_HEURISTIC]
    counted = any(step.complete is not None for step in one.steps)
    table = Table.of([], [*names, *(["optima"] if counted else [])])
    for step in one.steps:
        reached = _at(one.greedy or (), step.first)
        cells = [number(step.first, 0), number(step.last, 0), _shown(step), number(step.gain, 5)]
        cells.append(number(None if step.selection is None else len(step.selection), 0))
        cells.append(number(None if reached is None else reached.objective))
        table.add(*cells, *([number(step.count, 0)] if counted else []))
    table.caption = [
        "gain: increase of the objective per additional unit of length; greedy: at the first length of the step"
    ]
    if is_posed(result.formulation):
        ones = all(step.selection is None or step.length == len(step.selection) for step in one.steps)
        table.caption.insert(
            0, f"from, to: the largest {'number of units' if ones else 'summed length'} that is allowed"
        )
    return table


def _at(steps: Sequence[Any], length: int) -> Any:
    return next((step for step in reversed(steps) if step.first <= length), None)


def _shown(step: Any) -> str:
    if step is None or step.objective is None:
        return number(None)
    if step.bound is None or step.bound == step.objective:
        return number(step.objective)
    return f"{number(step.objective)}-{number(step.bound)}"
