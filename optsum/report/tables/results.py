"""Tables: one line a result, an enumeration, or a frontier and its steps; what was optimized in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final, TypeVar

from optsum.contracts.enumeration import OptimaFields
from optsum.contracts.frontier import Frontier, Reached, Step
from optsum.contracts.result import Result, Status
from optsum.contracts.shown import unit_text
from optsum.errors import UnsupportedError
from optsum.options.options import Options
from optsum.registry import FORMULATIONS, QUICK
from optsum.report.tables.table import Cell, Column, Table, number, seconds, share
from optsum.running.every_length.lengths import Lengths

_MOST_UNITS = 25
"""Units of a selection that a table shows."""


def results_table(results: Iterable[Result]) -> Table:
    """Return one line a result."""
    names = ["id", "objective", "bound", "gap", "status", "length", "units", "time"]
    table = Table([Column(name, name not in {"id", "status", "units"}, name == "units") for name in names])
    for result in results:
        if result.status is Status.ERROR:
            table.rows.append([result.id or "?", "-", "-", "-", "error", "-", result.error or ""])
            continue
        early = "" if result.termination.value == "completed" else f", {result.termination.value.replace('_', ' ')}"
        table.add(
            result.id or "?",
            _value(result.objective, result),
            _value(result.bound, result),
            share(result.gap, 1),
            result.status.value.replace("_", " ") + early,
            number(result.length, 0),
            _units(result.selection or ()),
            seconds(result.seconds),
        )
    return table


def optima_table(results: Iterable[Result]) -> Table:
    """Return one line an enumeration."""
    names = ["id", "objective", "optima", "always", "some", "never", "time"]
    table = Table([Column(name, name != "id") for name in names])
    for result in results:
        all_ = result.enumeration
        if all_ is None:
            table.rows.append([result.id or "?", "-", "-", "-", "-", "-", result.error or result.status.value])
            continue
        value = _value(result.objective, result)
        table.add(result.id or "?", value, _sets(all_), *_in_all(all_), seconds(result.seconds))
    table.caption = ["always, some, never: units in all, in some, in none of the optima"]
    return table


def near_table(results: Iterable[Result]) -> Table:
    """Return one line an enumeration of near-optimal sets."""
    names = ["id", "objective", "at least", "sets", "irredundant", "always", "some", "never", "of", "time"]
    table = Table([Column(name, name != "id") for name in names])
    for result in results:
        all_ = result.enumeration
        if all_ is None or all_.near is None:
            table.rows.append([result.id or "?", *["-"] * 8, result.error or result.status.value])
            continue
        near, units = all_.near, "-"
        if all_.units is not None:
            name = result.formulation or ""  # units are sentences, as far as that is known here
            more = name in FORMULATIONS.builtin and FORMULATIONS.load(name).whole_sentences
            more = more and result.sentence_count is not None
            units = f"{all_.units} of {result.sentence_count}" if more else str(all_.units)
        table.add(
            result.id or "?",
            _value(result.objective, result),
            _value(near.at_least, result),
            _sets(all_),
            share(near.irredundant, 0),
            *_in_all(all_),
            units,
            seconds(result.seconds),
        )
    table.caption = [
        "sets: selections worth at least as much; irredundant: of them those without a unit that could be left out",
        "always, some, never: units in all, in some, in none of the sets",
        "of: units that sets are made of, of all sentences; those that can add nothing are none",
    ]
    return table


def _sets(all_: OptimaFields) -> Cell:
    """Return how many sets there are."""
    count, least = all_.count, "" if all_.complete else "at least "
    return Cell(least + (f"{count:,}" if count < 10**9 else f"{Decimal(count):.3e}"), count)


def _in_all(all_: OptimaFields) -> list[str]:
    """Return how many units are in all, in some and in none of the sets."""
    if all_.always is None or all_.never is None or all_.units is None:
        return [number(None)] * 3
    always, never = len(all_.always), len(all_.never)
    return [number(count, 0) for count in (always, all_.units - never - always, never)]


def _value(value: float | None, result: Result) -> str:
    """Return an objective as people read it: the length of a cover is a whole number, though a bound need not be."""
    whole = result.metric is None and value is not None and value.is_integer()
    return number(value, 0 if whole else 4)


def _units(selection: Sequence[object]) -> str:
    more = len(selection) - _MOST_UNITS
    shown = " ".join(map(unit_text, selection[:_MOST_UNITS] if more > 1 else selection))
    return f"{shown} and {more} more" if more > 1 else shown


def headline(options: Options) -> str:
    """Return what is optimized, in a few words."""
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
        words.append("each sentence of a reference by itself")
    if options.max_length is not None:
        words.append(f"at most {longest_said(options.max_length, options.length_unit)}")
    if options.min_length:
        words.append(f"at least {options.min_length} {options.length_unit}")
    if options.stem:
        words.append("stemmed" if options.stemmer == "rouge155" else f"stemmed as {options.stemmer}")
    if options.stopwords != "keep":
        words.append("without stop words")
    return ", ".join(words)


def longest_said(length: int | str | None, unit: str) -> str:
    """Return a maximum length in words: a number of units, or those of the reference."""
    return f"as many {unit} as the reference" if length == "reference" else f"{length} {unit}"


Held = TypeVar("Held", bound=Reached)

_COLUMNS: Final = 6
"""Lengths that a table of several topics shows: the largest and some below, evenly spaced."""


def frontier_table(results: Sequence[Result]) -> Table:
    """Return one line a topic: the best value at some lengths, and what greedy search loses on average."""
    found = [result.frontier for result in results]
    every = sorted({length for one in found if one is not None for length in Lengths.given(one.lengths, None).of})
    lengths = sorted({every[place * len(every) // _COLUMNS - 1] for place in range(1, _COLUMNS + 1)} if every else ())
    table = Table.of(["id"], [*(f"<= {length}" for length in lengths), "steps", "greedy loses", "time"])
    for result, one in zip(results, found, strict=True):
        if one is None:
            cells = ["-"] * (len(lengths) + 2)
            table.rows.append([result.id or "?", *cells, result.error or result.status.value])
            continue
        values = [_shown(_at(one.steps, length)) for length in lengths]
        summed = (number(len(one.steps), 0), share(_loss(one), 1), seconds(result.seconds))
        table.add(result.id or "?", *values, *summed)
    table.caption = ["steps: different best values; greedy loses: mean over all lengths of the share that it misses"]
    if any(one is not None and not one.complete for one in found):
        table.caption.append("a-b: a limit came first; the best value is at least a and at most b")
    return table


def steps_table(result: Result) -> Table:
    """Return one line a step of one frontier."""
    one = result.frontier
    if one is None:
        raise UnsupportedError(f"the result {result.id or '?'} has no frontier: make it with optsum.frontier")
    names = ["from", "to", "objective", "gain", "units", QUICK]
    counted = any(step.complete is not None for step in one.steps)
    table = Table.of([], [*names, *(["optima"] if counted else [])])
    for step in one.steps:
        reached = _at(one.greedy or (), step.first)
        cells = [
            number(step.first, 0),
            number(step.last, 0),
            _shown(step),
            number(step.gain, 5),
            number(None if step.selection is None else len(step.selection), 0),
            number(None if reached is None else reached.objective),
        ]
        if counted:
            cells.append(number(step.count, 0))
        table.rows.append(cells)
    table.caption = ["gain: of the objective for each unit of length more; greedy: at the first length of the step"]
    return table


def _at(steps: Sequence[Held], length: int) -> Held | None:
    """Return the last step that begins at a length or before it."""
    return next((step for step in reversed(steps) if step.first <= length), None)


def _shown(step: Step | None) -> str:
    if step is None or step.objective is None:
        return number(None)
    if step.bound is None or step.bound == step.objective:
        return number(step.objective)
    return f"{number(step.objective)}-{number(step.bound)}"


def _loss(one: Frontier) -> float | None:
    """Return the mean share that greedy search misses, over all lengths at which something can be reached."""
    lost, lengths = 0.0, 0
    for step in one.steps:
        for reached in one.greedy or ():
            first, last = max(step.first, reached.first), min(step.last, reached.last)
            if first <= last and step.objective and reached.objective is not None:
                lost += (last - first + 1) * (1 - reached.objective / step.objective)
                lengths += last - first + 1
    return lost / lengths if lengths else None
