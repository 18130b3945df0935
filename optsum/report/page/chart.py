"""A chart as numbers: lines or dots of strategies, and the table beneath."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

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
