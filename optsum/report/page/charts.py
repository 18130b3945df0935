"""The charts of a page: how ratios and gaps are distributed, value against length; those of time are beside it."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from math import ceil, floor
from statistics import fmean
from typing import Final

from optsum.contracts.frontier import Reached
from optsum.report.page import times
from optsum.report.page.chart import Axis, Chart, Point, Series, counts_in_words, steps, thinned
from optsum.report.page.gather import Gathered
from optsum.report.tables.table import counted, number


def ratios(gathered: Gathered) -> Chart | None:
    """Return the share of topics whose ratio is at most x, for all that prove nothing."""
    values = {
        place: [each.ratio for each in gathered.of(variant) if each.ratio is not None]
        for place, (variant, exact) in enumerate(zip(gathered.variants, gathered.exact(), strict=True))
        if not exact
    }
    bound = sum(each.guaranteed for problem in gathered.problems for each in problem.found.values())
    note = f"; {bound} against the best bound, where the optimum is not known" if bound else ""
    return _distribution(
        gathered, "Ratio to the optimum", f"Share of topics with at most this ratio{note}.", values, "ratio", high=1.0
    )


def gaps(gathered: Gathered) -> Chart | None:
    """Return the share of topics whose certified gap is at most x."""
    values = {
        place: [gap for each in gathered.of(variant) if (gap := each.result.gap) is not None]
        for place, variant in enumerate(gathered.variants)
    }
    if all(gap == 0 for gaps in values.values() for gap in gaps):
        return None
    wide = sum(gap > 1 for gaps in values.values() for gap in gaps)
    note = f"; {wide} of more than 1" if wide else ""
    about = f"Share of topics with at most this gap to its own bound{note}."
    largest = max(gap for gaps in values.values() for gap in gaps)
    return _distribution(gathered, "Certified gap", about, values, "gap", low=0.0, high=min(1.0, largest))


def _distribution(
    gathered: Gathered,
    title: str,
    about: str,
    values: dict[int, list[float]],
    what: str,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Chart | None:
    values = {place: sorted(found) for place, found in values.items() if found}
    if not values:
        return None
    everything = [value for found in values.values() for value in found]
    low = min(everything) if low is None else low
    high = max(everything) if high is None else high
    high = high if high > low else low + 1.0 if high < 1 else high
    low = low if low < high else high - 0.1
    series = [
        Series(place, thinned([(low, 0.0), *steps([one for one in found if one <= high], len(found))], high))
        for place, found in sorted(values.items())
    ]
    n = counts_in_words(map(len, values.values()))
    shares = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    names = gathered.names()
    return Chart(
        title,
        f"{about} {n}.",
        Axis(what, low, high),
        Axis("share of topics", 0.0, 1.0, unit="share"),
        series,
        heading=["strategy", "least", "5 %", "25 %", "median", "75 %", "95 %", "largest"],
        table=[
            [names[place], *(number(found[min(len(found) - 1, floor(share * len(found)))], 4) for share in shares)]
            for place, found in sorted(values.items())
        ],
    )


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
        heading=["strategy", *(f"{length:g}" for length in shown)],
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


def charts_of(gathered: Gathered) -> list[Chart]:
    """Return the charts for which there are numbers."""
    makers = (ratios, gaps, times.profile, times.values, times.sizes, lengths)
    return [chart for maker in makers if (chart := maker(gathered)) is not None]
