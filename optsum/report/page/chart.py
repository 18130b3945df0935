"""A chart as numbers, lines or dots of strategies, with the table beneath; and as SVG.

Drawn here and not by a library of charts, whose script alone would be larger than the page of 1,000 topics and would
need a policy that allows scripts made from text. Lines differ in colour, dashes and marks: never in colour alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import Final

from optsum.report.tables.table import seconds

_POINTS: Final = 160
"""Corners of a line: more than a small chart can show."""

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
class Curve:
    """Points of one strategy in a chart; `strategy` is its index among all."""

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
    series : list of Curve
    kind : str
        "steps", "line" or "dots".
    heading, table : lists
        The same as a table.
    """

    title: str
    about: str
    x: Axis
    y: Axis
    series: list[Curve]
    kind: str = "steps"
    heading: list[str] = field(default_factory=list)
    table: list[list[str]] = field(default_factory=list)


def steps(values: Sequence[float], count: int) -> list[Point]:
    """Return where the share of so many values that are at most x rises; the values ascend."""
    return [(value, bisect_right(values, value) / count) for value in dict.fromkeys(values)]


def counts_in_words(counts: Iterable[int]) -> str:
    """Return "n = 50", or the range where strategies differ."""
    least, most = min(counts := list(counts)), max(counts)
    return f"n = {most}" if least == most else f"n = {least} to {most}"


def thinned(points: list[Point], end: float) -> list[Point]:
    """Return no more corners than a small chart can show, the first and the last among them, and go on to `end`."""
    if len(points) > _POINTS:
        every = (len(points) - 1) / (_POINTS - 1)
        points = [points[round(place * every)] for place in range(_POINTS)]
    return [*points, (end, points[-1][1])]


WIDTH: Final = 320
HEIGHT: Final = 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 8, 36
STYLES: Final = 8
"""Strategies that look different; the ninth looks like the first."""


@dataclass(frozen=True)
class Tick:
    """A mark of an axis, with its number, and how that stands to it."""

    place: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Drawing:
    """A chart, ready to be written: `lines` are (style, path), `dots` (style, places)."""

    chart: Chart
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[tuple[int, str]]
    dots: list[tuple[int, list[tuple[float, float]]]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM


def drawn(chart: Chart) -> Drawing:
    """Return a chart with places instead of numbers."""
    x = _scale(chart.x, _LEFT, WIDTH - _RIGHT)
    y = _scale(chart.y, HEIGHT - _BOTTOM, _TOP)
    lines, dots = [], []
    for series in chart.series:
        points = [(round(x(one), 1), round(y(other), 1)) for one, other in series.points]
        style = series.strategy % STYLES
        if chart.kind == "dots":
            dots.append((style, points))
        else:
            lines.append((style, _path(points, steps=chart.kind == "steps")))
    return Drawing(
        chart,
        [
            Tick(place := round(x(value), 1), _shown(value, chart.x), "end" if place > WIDTH - 2 * _RIGHT else "middle")
            for value in _ticks(chart.x, 4)
        ],
        [Tick(round(y(value), 1), _shown(value, chart.y)) for value in _ticks(chart.y, 4)],
        lines,
        dots,
    )


def _scale(axis: Axis, start: float, end: float) -> Callable[[float], float]:
    low, high = (log10(axis.low), log10(axis.high)) if axis.log else (axis.low, axis.high)
    span = high - low or 1.0

    def place(value: float) -> float:
        at = log10(max(value, axis.low)) if axis.log else value
        return start + (end - start) * min(1.0, max(0.0, (at - low) / span))

    return place


def _path(points: list[tuple[float, float]], *, steps: bool) -> str:
    (x, y), *rest = points
    parts = [f"M{x:g} {y:g}"]
    parts += [f"H{x:g}V{y:g}" if steps else f"L{x:g} {y:g}" for x, y in rest]
    return "".join(parts)


def _ticks(axis: Axis, wanted: int) -> list[float]:
    if axis.log:
        low, high = log10(axis.low), log10(axis.high)
        if high - low < 1:  # not a power of ten inside
            return [axis.low, (axis.low * axis.high) ** 0.5, axis.high]
        every = max(1, ceil((high - low) / (wanted + 1)))
        return [10.0**power for power in range(ceil(low - 1e-9), floor(high + 1e-9) + 1, every)]
    span = axis.high - axis.low
    if span <= 0:
        return [axis.low]
    rough = span / wanted
    base = 10 ** floor(log10(rough))
    step = next(base * factor for factor in (1, 2, 2.5, 5, 10) if base * factor >= rough * 0.999)
    first = ceil(axis.low / step - 1e-9)
    return [round(step * place, 12) for place in range(first, floor(axis.high / step + 1e-9) + 1)]


def _shown(value: float, axis: Axis) -> str:
    if axis.unit == "share":
        return f"{value:.0%}".replace("%", " %")
    if axis.unit == "seconds":
        return seconds(value).replace(".0 ", " ") if value >= 1e-3 else f"{value * 1e6:.0f} µs"
    return f"{value:.4g}"
