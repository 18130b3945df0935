"""Value against length: from searches under several limits, and from frontiers."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from math import ceil
from statistics import fmean
from typing import Final

from optsum.contracts.frontier import Reached
from optsum.report.page.chart import Axis, Chart, Point, Series
from optsum.report.page.gather import Gathered
from optsum.report.tables.table import counted, number

_COLUMNS: Final = 12
"""Lengths that the table has."""

_CORNERS: Final = 120
_FAR: Final = 1e15

GREEDY: Final = "greedy (frontier)"
"""What greedy search is called beside frontiers, which have no row of it."""


def lengths(gathered: Gathered) -> Chart | None:
    """Return the mean objective by maximum length, where there are several."""
    curves = _curves(gathered)
    where = sorted({length for found in curves.values() for curve in found for length, _ in curve})
    if len(where) < 2:
        return None
    grid = where if len(where) <= _CORNERS else where[:: ceil(len(where) / _CORNERS)]
    names = [*gathered.names(), GREEDY]
    series = [Series(place, _mean(found, grid)) for place, found in sorted(curves.items())]
    heights = [value for each in series for _, value in each.points]
    shown = grid[:: ceil(len(grid) / _COLUMNS)]
    table = []
    for each in series:
        known = dict(each.points)
        table.append([names[each.strategy], *(number(known.get(length)) for length in shown)])
    return Chart(
        "Value against length",
        f"Mean objective by maximum length; {counted(len(where), 'length')}.",
        Axis("maximum length", where[0], where[-1]),
        Axis("objective", min(0.0, *heights), max(*heights, 1e-9)),
        series,
        "line",
        heading=["strategy", *map(_plain, shown)],
        table=table,
    )


def _curves(gathered: Gathered) -> dict[int, list[list[Point]]]:
    """Return for each strategy the values of each topic by maximum length, ascending; frontiers' greedy is last."""
    single: dict[int, dict[str, dict[float, float]]] = defaultdict(lambda: defaultdict(dict))
    found: dict[int, list[list[Point]]] = defaultdict(list)
    for number_of, problem in enumerate(gathered.problems):
        for place, variant in enumerate(gathered.variants):
            each = problem.found.get(variant)
            if each is None:
                continue
            if (frontier := each.result.frontier) is not None:
                found[place] += [curve] if (curve := _points(frontier.steps)) else []
                found[len(gathered.variants)] += [curve] if (curve := _points(frontier.greedy or ())) else []
            elif each.result.objective is not None and (length := problem.setting.max_length) is not None:
                name = problem.id or f"#{number_of}"
                single[place][name][float(length)] = each.result.objective
    for place, topics in single.items():
        found[place] += [sorted(values.items()) for values in topics.values()]
    return {place: curves for place, curves in found.items() if curves}


def _points(steps: Sequence[Reached]) -> list[Point]:
    """Return where the value of a frontier rises."""
    held = [step for step in steps if step.objective is not None and abs(step.first) < _FAR]
    return sorted((float(step.first), float(step.objective or 0)) for step in held)


def _mean(curves: list[list[Point]], grid: list[float]) -> list[Point]:
    """Return the mean value at each length, over the topics that have one there or before."""
    points = []
    for length in grid:
        held = [curve[place - 1][1] for curve in curves if (place := bisect_right(curve, (length, _FAR)))]
        if len(held) == len(curves):  # a mean over fewer topics would be one of others
            points.append((length, fmean(held)))
    return points


def _plain(length: float) -> str:
    return f"{length:g}"
