"""Tables of results: one line a result, one line an enumeration, and what was optimized in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from optsum.contracts.enumeration import Enumeration
from optsum.contracts.result import Result, Status
from optsum.contracts.shown import unit_text
from optsum.options.options import Options
from optsum.registry import FORMULATIONS
from optsum.report.tables.table import Cell, Column, Table, number, seconds, share

__all__ = ["headline", "near_table", "optima_table", "results_table"]

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


def _sets(all_: Enumeration) -> Cell:
    """Return how many sets there are."""
    count, least = all_.count, "" if all_.complete else "at least "
    return Cell(least + (f"{count:,}" if count < 10**9 else f"{Decimal(count):.3e}"), count)


def _in_all(all_: Enumeration) -> list[str]:
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
        words.append(f"at most {options.max_length} {options.length_unit}")
    if options.min_length:
        words.append(f"at least {options.min_length} {options.length_unit}")
    if options.stem:
        words.append("stemmed" if options.stemmer == "rouge155" else f"stemmed as {options.stemmer}")
    if options.stopwords != "keep":
        words.append("without stop words")
    return ", ".join(words)
