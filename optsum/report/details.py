"""What a comparison can say beyond means: spread, ratio quantiles, wins and ties, significance, time to target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from statistics import median
from typing import Final

from optsum.contracts.result import Result
from optsum.coverage.instance import Key, Sense
from optsum.report.significance import wilcoxon
from optsum.report.statistics import INTERVALS, quantiles, spread_of
from optsum.report.tables.table import Cell, Table, Tabular, number, seconds, share

TARGETS: Final = (0.95, 0.99, 1.0)
"""Shares of the optimum whose times are reported."""

_SHARES: Final = {"least": 0.0, "5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two strategies on the problems that both have a selection for.

    Attributes
    ----------
    first, second : str
    wins, ties, losses : int
        Problems where the first is better, equal, worse; objectives are compared exactly.
    p_value : float or None
        Of Wilcoxon's signed-rank test, two-sided, ties left out; None for fewer than six problems that differ.
    """

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    p_value: float | None


def time_to_target(result: Result, target: float, sense: Sense) -> float | None:
    """Return the seconds of search after which the incumbent was at least as good as `target`; None if it never was."""
    for point in result.trace:
        if point.objective == target or sense.better(point.objective, target):
            return point.seconds
    return None


@dataclass
class Details(Tabular):
    """Numbers of every strategy, problem by problem."""

    strategies: list[str]
    sense: Sense
    _keys: dict[str, list[Key | None]] = field(init=False)
    _ratios: dict[str, list[float]] = field(init=False)
    _times: dict[tuple[str, float], list[float | None]] = field(init=False)

    def __post_init__(self) -> None:
        self._keys = {name: [] for name in self.strategies}
        self._ratios = {name: [] for name in self.strategies}
        self._times = {(name, target): [] for name in self.strategies for target in TARGETS}

    def add(
        self, names: Sequence[str], results: Sequence[Result], optimum: Key | None, ratios: Sequence[float | None]
    ) -> None:
        """Take in the results of a problem by all strategies, and their ratios to the optimum or the best bound.

        `names` says whose each result is; of a strategy that was run with several seeds the mean objective counts.
        """
        keys: dict[str, list[Key | None]] = {}
        for name, result, ratio in zip(names, results, ratios, strict=True):
            keys.setdefault(name, []).append(result.key)
            if ratio is not None:
                self._ratios[name].append(ratio)
            if optimum is None:
                continue
            for target in TARGETS:
                reach = float(optimum) * target if self.sense is Sense.MAXIMIZE else float(optimum) / target
                self._times[name, target].append(time_to_target(result, reach, self.sense))
        for name, found in keys.items():
            self._keys[name].append(_mean_key(found))

    def ratios_of(self, strategy: str) -> Sequence[float]:
        """Return the ratios of a strategy, run by run."""
        return self._ratios[strategy]

    def pairs(self) -> list[Pair]:
        """Return every two strategies side by side."""
        found = []
        for first, second in combinations(self.strategies, 2):
            keys = zip(self._keys[first], self._keys[second], strict=True)
            both = [(left, right) for left, right in keys if left is not None and right is not None]
            wins = sum(self.sense.better(left, right) for left, right in both)
            ties = sum(left == right for left, right in both)
            apart = [float(left - right) for left, right in both if left != right]
            found.append(Pair(first, second, wins, ties, len(both) - wins - ties, wilcoxon(apart)))
        return found

    def tables(self) -> list[Table]:
        """Return the tables: spread of objectives, quantiles of ratios, pairs, times to targets."""
        return [self.objectives(), self.ratios(), self.pairwise(), self.times()]

    def objectives(self) -> Table:
        """Return mean, deviation, coefficient of variation and confidence interval (Akhmetov et al. 2022, Table 4)."""
        headings = ["mean", "std", "CV", "CI +/- mean", "CI lower", "CI upper"]
        table = Table.of(["strategy"], headings, "Spread of the objective")
        for name in self.strategies:
            if (spread := spread_of([float(key) for key in self._keys[name] if key is not None])) is not None:
                values = (spread.mean, spread.std, spread.cv, spread.half_width, spread.lower, spread.upper)
                table.rows.append([name, *map(number, values)])
        table.caption.append(f"CI: {INTERVALS['student']}.")
        return table

    def ratios(self) -> Table:
        """Return quantiles of the ratios."""
        table = Table.of(["strategy"], [*_SHARES, "at 1"], "Distribution of the ratio")
        for name in self.strategies:
            if found := self._ratios[name]:
                at_one = sum(ratio == 1.0 for ratio in found) / len(found)
                table.rows.append([name, *map(number, quantiles(found, list(_SHARES.values()))), share(at_one)])
        return table

    def pairwise(self) -> Table:
        """Return wins, ties, losses and significance of every two strategies."""
        table = Table.of(["strategy", "against"], ["wins", "ties", "losses", "p"], "Every two strategies")
        for pair in self.pairs():
            counts = (number(count, 0) for count in (pair.wins, pair.ties, pair.losses))
            significance = Cell("-" if pair.p_value is None else f"{pair.p_value:.2g}", pair.p_value)
            table.rows.append([pair.first, pair.second, *counts, significance])
        table.caption.append("p: Wilcoxon's signed-rank test, two-sided; - where fewer than six problems differ.")
        return table

    def times(self) -> Table:
        """Return the median time to each share of the optimum, and how often it was reached."""
        table = Table.of(["strategy"], [f"{target:.0%}" for target in TARGETS], "Time to a share of the optimum")
        for name in self.strategies:
            cells = []
            for target in TARGETS:
                found = self._times[name, target]
                reached = [one for one in found if one is not None]
                middle = median(reached) if reached else None
                cells.append(Cell(f"{seconds(middle)} ({len(reached)}/{len(found)})", middle))
            table.rows.append([name, *cells])
        table.caption.append(
            "Median seconds of search where it was reached (how often, of problems with a known optimum)."
        )
        return table


def _mean_key(keys: Sequence[Key | None]) -> Key | None:
    """Return the mean of values as they are compared, exact where they are; None where one is missing."""
    held = [key for key in keys if key is not None]
    if len(held) < len(keys):
        return None
    return held[0] if len(held) == 1 else sum(held) / Fraction(len(held))
