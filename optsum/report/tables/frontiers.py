"""Tables of frontiers: one line a topic, or one line a step where there is one topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from optsum.contracts.frontier import Frontier, Reached, Step
from optsum.contracts.result import Result
from optsum.errors import UnsupportedError
from optsum.registry import QUICK
from optsum.report.tables.table import Table, number, seconds, share
from optsum.running.every_length.lengths import Lengths

__all__ = ["frontier_table", "steps_table"]

Held = TypeVar("Held", bound=Reached)

_COLUMNS: Final = 6
"""Lengths that a table of several topics shows."""


def frontier_table(results: Sequence[Result]) -> Table:
    """Return one line a topic: the best value at some lengths, and what greedy search loses on average."""
    found = [result.frontier for result in results]
    lengths = _some(found)
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


def _some(found: Sequence[Frontier | None]) -> list[int]:
    """Return lengths to show: the largest and some below, evenly spaced."""
    lengths = sorted({length for one in found if one is not None for length in Lengths.given(one.lengths, None).of})
    return sorted({lengths[(place + 1) * len(lengths) // _COLUMNS - 1] for place in range(_COLUMNS)} if lengths else ())


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
