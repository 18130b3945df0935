"""What time does: performance profiles, values over time, time against size."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from math import ceil, floor, log10
from statistics import fmean, median
from typing import Final

from optsum.report.page.chart import Axis, Chart, Point, Series, counts_in_words, steps, thinned
from optsum.report.page.gather import Gathered, Variant
from optsum.report.tables.table import counted, seconds

_DOTS: Final = 400
"""Dots of one strategy."""


def profile(gathered: Gathered) -> Chart | None:
    """Return the performance profile of time (Dolan & More 2002): a topic counts where its optimum was found."""
    times: dict[Variant, dict[int, float]] = {variant: {} for variant in gathered.variants}
    known = [place for place, problem in enumerate(gathered.problems) if problem.optimum is not None]
    for place in known:
        for variant, each in gathered.problems[place].found.items():
            if each.reached:
                times[variant][place] = max(each.result.timing.answer_s or each.result.seconds, 1e-6)
    best = {
        place: min(found[place] for found in times.values() if place in found)
        for place in known
        if any(place in found for found in times.values())
    }
    ratios = {
        variant: sorted(time / best[place] for place, time in found.items())
        for variant, found in times.items()
        if found
    }
    if len(ratios) < 2:
        return None
    high = max(10.0, *(found[-1] for found in ratios.values()))
    n = len(best)
    places = {variant: place for place, variant in enumerate(gathered.variants)}
    names = gathered.names()
    curves = {places[variant]: thinned([(1.0, 0.0), *steps(found, n)], high) for variant, found in ratios.items()}
    factors = [factor for factor in (1, 2, 5, 10, 100, 1000) if factor <= high * 10]
    return Chart(
        "Performance profile of time",
        "Share of topics whose optimum was found within this many times the time of the fastest that found it; "
        f"n = {counted(n, 'topic')} with a known optimum.",
        Axis("times the fastest", 1.0, high, log=True),
        Axis("share of topics", 0.0, 1.0, unit="share"),
        [Series(place, curve) for place, curve in curves.items()],
        heading=["strategy", *(f"{factor} x" for factor in factors)],
        table=[
            [names[places[variant]], *(f"{bisect_right(found, factor) / n:.0%}" for factor in factors)]
            for variant, found in ratios.items()
        ],
    )


def values(gathered: Gathered) -> Chart | None:
    """Return the mean of value / optimum that was held after so many seconds of search, from the traces."""
    traces: dict[int, list[list[Point]]] = defaultdict(list)
    for problem in gathered.problems:
        best = problem.value
        if problem.optimum is None or not best:
            continue
        for place, variant in enumerate(gathered.variants):
            each = problem.found.get(variant)
            if each is None or not each.result.trace:
                continue
            traces[place].append(
                [
                    (point.seconds, best / point.objective if problem.setting.minimizes else point.objective / best)
                    for point in each.result.trace
                    if point.objective
                ]
            )
    times = [second for found in traces.values() for trace in found for second, _ in trace if second > 0]
    if not times:
        return None
    low, high = 10 ** floor(log10(max(min(times), 1e-6))), 10 ** ceil(log10(max(*times, 2e-6)))
    high = high if high > low else low * 10
    grid = [low * (high / low) ** (step / 60) for step in range(61)]
    names = gathered.names()
    series = [
        Series(place, [(time, fmean(_held(trace, time) for trace in found)) for time in grid])
        for place, found in sorted(traces.items())
    ]
    shown = range(0, 61, 6)
    n = counts_in_words(map(len, traces.values()))
    return Chart(
        "Value over time",
        f"Mean of the value held after so many seconds of search, as a share of the optimum; {n}.",
        Axis("seconds of search", low, high, log=True, unit="seconds"),
        Axis("value / optimum", 0.0, 1.0, unit="share"),
        series,
        "line",
        heading=["strategy", *(seconds(grid[place]) for place in shown)],
        table=[[names[each.strategy], *(f"{each.points[place][1]:.1%}" for place in shown)] for each in series],
    )


def _held(trace: list[Point], time: float) -> float:
    place = bisect_right([second for second, _ in trace], time)
    return trace[place - 1][1] if place else 0.0


def sizes(gathered: Gathered) -> Chart | None:
    """Return the time of each topic against its number of sentences."""
    dots: dict[int, list[Point]] = defaultdict(list)
    for problem in gathered.problems:
        for place, variant in enumerate(gathered.variants):
            each = problem.found.get(variant)
            if each is not None and problem.sentences and each.result.error is None:
                time = each.result.timing.answer_s or each.result.seconds
                dots[place].append((float(problem.sentences), max(time, 1e-6)))
    sizes = sorted({size for found in dots.values() for size, _ in found})
    if len(sizes) < 2:
        return None
    times = [time for found in dots.values() for _, time in found]
    borders = [sizes[min(len(sizes) - 1, len(sizes) * part // 4)] for part in range(5)]
    names = gathered.names()
    table = []
    for place, found in sorted(dots.items()):
        cells = []
        for part in range(4):
            last = part == 3
            inside = [t for s, t in found if borders[part] <= s and (s < borders[part + 1] or last)]
            cells.append(seconds(median(inside)) if inside else "-")
        table.append([names[place], *cells])
    count = max(map(len, dots.values()))
    every = ceil(count / _DOTS)
    left = f", of which every {every}th is drawn" if every > 1 else ""
    return Chart(
        "Time against size",
        f"Seconds from text to answer by number of sentences; n = {count}{left}.",
        Axis("sentences", sizes[0], sizes[-1], log=sizes[-1] / sizes[0] > 20),
        Axis("seconds", min(times), max(*times, min(times) * 1.1), log=True, unit="seconds"),
        [Series(place, found[::every]) for place, found in sorted(dots.items())],
        "dots",
        heading=["strategy", *(f"{borders[part]:.0f} to {borders[part + 1]:.0f}" for part in range(4))],
        table=table,
    )
