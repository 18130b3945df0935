"""What the charts of the page show, as numbers: lines, dots, and the table beneath each."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from statistics import fmean, median
from typing import Final

from optsum.page.gather import Gathered, Variant
from optsum.report.tables import counted, number, seconds

_POINTS: Final = 160
"""Corners of a line: more than a small chart can show."""

_DOTS: Final = 400
"""Dots of one strategy."""

_LINES_OF_TABLE: Final = 12

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes
    ----------
    title : str
    low, high : float
    log : bool
        Whether equal factors have equal lengths.
    unit : str
        "seconds", "share", or empty for plain numbers.
    """

    title: str
    low: float
    high: float
    log: bool = False
    unit: str = ""


@dataclass(frozen=True)
class Series:
    """What one strategy has in a chart; `strategy` is its place among all."""

    strategy: int
    points: list[Point]


@dataclass(frozen=True)
class Chart:
    """One small chart.

    Attributes
    ----------
    title, about : str
        What it is, and what it shows in a sentence: what is counted, and what was left out.
    x, y : Axis
    series : list of Series
    kind : str
        "steps", "line" or "dots".
    heading, table : lists
        The same as a table.
    """

    title: str
    about: str
    x: Axis
    y: Axis
    series: list[Series]
    kind: str = "steps"
    heading: list[str] = field(default_factory=list)
    table: list[list[str]] = field(default_factory=list)


def charts_of(gathered: Gathered) -> list[Chart]:
    """Return the charts for which there are numbers."""
    makers = (_ratios, _gaps, _profile, _values, _sizes, _lengths)
    return [chart for maker in makers if (chart := maker(gathered)) is not None]


def _ratios(gathered: Gathered) -> Chart | None:
    """Return the share of topics whose ratio is at most x, for all that prove nothing."""
    values = {
        place: [each.ratio for each in _of(gathered, variant) if each.ratio is not None]
        for place, (variant, exact) in enumerate(zip(gathered.variants, gathered.exact(), strict=True))
        if not exact
    }
    bound = sum(each.guaranteed for problem in gathered.problems for each in problem.found.values())
    note = f"; {bound} against the best bound, where the optimum is not known" if bound else ""
    return _distribution(
        gathered, "Ratio to the optimum", f"Share of topics with at most this ratio{note}.", values, "ratio", high=1.0
    )


def _gaps(gathered: Gathered) -> Chart | None:
    """Return the share of topics whose certified gap is at most x."""
    values = {
        place: [gap for each in _of(gathered, variant) if (gap := each.result.gap) is not None]
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
        Series(place, _thinned([(low, 0.0), *_steps([one for one in found if one <= high], len(found))], high))
        for place, found in sorted(values.items())
    ]
    counts = {len(found) for found in values.values()}
    n = f"n = {counts.pop()}" if len(counts) == 1 else f"n = {min(counts)} to {max(counts)}"
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


def _steps(values: Sequence[float], count: int) -> list[Point]:
    """Return where the share of so many values that are at most x rises."""
    return [(value, bisect_right(values, value) / count) for value in dict.fromkeys(values)]


def _profile(gathered: Gathered) -> Chart | None:
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
    series = []
    for variant, found in ratios.items():
        series.append(Series(places[variant], _thinned([(1.0, 0.0), *_steps(found, n)], high)))
    factors = [factor for factor in (1, 2, 5, 10, 100, 1000) if factor <= high * 10]
    return Chart(
        "Performance profile of time",
        "Share of topics whose optimum was found within this many times the time of the fastest that found it; "
        f"n = {counted(n, 'topic')} with a known optimum.",
        Axis("times the fastest", 1.0, high, log=True),
        Axis("share of topics", 0.0, 1.0, unit="share"),
        series,
        heading=["strategy", *(f"{factor} x" for factor in factors)],
        table=[
            [names[places[variant]], *(f"{bisect_right(found, factor) / n:.0%}" for factor in factors)]
            for variant, found in ratios.items()
        ],
    )


def _values(gathered: Gathered) -> Chart | None:
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
    counts = {len(found) for found in traces.values()}
    n = f"n = {counts.pop()}" if len(counts) == 1 else f"n = {min(counts)} to {max(counts)}, as far as there are traces"
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


def _sizes(gathered: Gathered) -> Chart | None:
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


def _lengths(gathered: Gathered) -> Chart | None:
    """Return the mean objective by maximum length, where topics were searched under several."""
    values: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for problem in gathered.problems:
        length = problem.setting.max_length
        if length is None:
            continue
        for place, variant in enumerate(gathered.variants):
            each = problem.found.get(variant)
            if each is not None and each.result.objective is not None:
                values[place][length].append(each.result.objective)
    lengths = sorted({length for found in values.values() for length in found})
    if len(lengths) < 2:
        return None
    names = gathered.names()
    series = [
        Series(place, [(float(length), fmean(found[length])) for length in sorted(found)])
        for place, found in sorted(values.items())
    ]
    heights = [value for each in series for _, value in each.points]
    shown = lengths if len(lengths) <= _LINES_OF_TABLE else lengths[:: ceil(len(lengths) / _LINES_OF_TABLE)]
    return Chart(
        "Value against length",
        f"Mean objective by maximum length; {counted(len(lengths), 'length')}.",
        Axis("maximum length", lengths[0], lengths[-1]),
        Axis("objective", min(0.0, *heights), max(*heights, 1e-9)),
        series,
        "line",
        heading=["strategy", *map(str, shown)],
        table=[
            [names[place], *(number(fmean(found[length])) if length in found else "-" for length in shown)]
            for place, found in sorted(values.items())
        ],
    )


def _of(gathered: Gathered, variant: Variant):  # type: ignore[no-untyped-def]
    return [problem.found[variant] for problem in gathered.problems if variant in problem.found]


def _thinned(points: list[Point], end: float) -> list[Point]:
    """Return no more corners than a small chart can show, the first and the last among them, and go on to `end`."""
    if len(points) > _POINTS:
        every = (len(points) - 1) / (_POINTS - 1)
        points = [points[round(place * every)] for place in range(_POINTS)]
    return [*points, (end, points[-1][1])]
