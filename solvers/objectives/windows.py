"""Harmonic means of ratios (F1 of two sums) by windows of the denominator that varies (`optsum.program.tangent`).

Each window has programs of its own, tangents at ratios such as selections have there. What they hold is listed and
evaluated where that takes few nodes; otherwise the window is halved, until it is narrow: then it takes what it takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from optsum.contracts.run import Stopped
from optsum.coverage.evaluate import score
from optsum.optima.diagram import EMPTY_FAMILY
from optsum.program.tangent import anchored, least_of, most_of, restricted, varying, window_cell

from ..engine.driver import Driver
from .covering import FRAMES, Reaching, Search
from .meter import least

_NARROW: Final = 0.05
"""Windows are halved at will while their ends differ by more than this, as a share."""

_TRIED: Final = 2_000
_FAMILY: Final = 20_000
"""Nodes that a listing may take, and sets that it may hold, before its window is halved instead."""

_WIDE: Final = 0.1
"""Windows are as wide as this at first, as a share of where they begin."""

_SUITS: Final = 0.02
"""Anchors are as good as others whose ratios are so near in proportion, as a share."""


@dataclass(frozen=True)
class _Window:
    """Selections whose denominator is between two values, and ratios such as they have there."""

    low: int
    high: int
    anchor: tuple[float, ...]
    settled: bool = False


class WindowedSearch(Search):
    """A run for a harmonic mean."""

    def _cover(self, ratios: Sequence[int]) -> None:
        """Look at every selection that is at least as good as the incumbent."""
        which = varying(self.instance)
        if which is None:
            super()._cover(ratios)
            return
        low, most = least_of(self.instance, which), most_of(self.instance, which)
        anchor = self._ratios(self.best.totals) or (0.5,) * self.instance.ratios
        windows = []
        while low <= most:
            high = min(most, low + int(low * _WIDE))
            windows.append(_Window(low, high, anchor))
            low = high + 1
        while windows:
            windows.extend(self._left_of(windows.pop(), which))

    def _left_of(self, window: _Window, which: int) -> Iterator[_Window]:
        """Yield windows in which there is still something to be looked at."""
        instance = restricted(self.instance, which, window.low, window.high)
        cell = window_cell(self.instance, which, window.low, window.high)
        narrow = window.high <= window.low * (1 + _NARROW)
        for program in self._programs(cell, anchored(self.instance, self._wanted, window.anchor), instance):
            with self.meter.engine(program) as engine:
                if not engine.feasible:
                    return
                target = least(program, engine, 0 if self.every else 1)
                if engine.upper < target:
                    continue
                guess = tuple(sorted(engine.guess()[0]))
                self._see(guess)
                anchor = self._ratios(score(instance, guess)[0]) or window.anchor
                if not narrow:
                    better = self._tried(engine, target)
                    if better is False:
                        continue
                    if better:
                        yield window
                        return
                    middle = (window.low + window.high) // 2
                    yield _Window(window.low, middle, anchor)
                    yield _Window(middle + 1, window.high, anchor)
                    return
                if not window.settled and _apart(anchor, window.anchor) > _SUITS:
                    yield _Window(window.low, window.high, anchor, settled=True)
                    return
                for nodes, _ in FRAMES:  # a listing that is cut has improved the incumbent, or it goes on for longer
                    better = self._listed(engine, target, nodes)
                    if better is not None:
                        break
                if better:
                    yield window
                    return

    def _tried(self, engine: Driver, target: int) -> bool | None:
        """Evaluate all sets that reach a target, if that is quick: whether one is better, or None if it is not."""
        answer = self._leash.hold(_TRIED, engine, lambda: engine.all_of(target))
        if answer is None:
            return None
        node, reason = answer
        if reason is not None:
            if self._leash.short:
                return None
            raise Stopped(reason)
        if node == EMPTY_FAMILY:
            return False
        found = engine.store.diagram(node)
        return None if found.count > _FAMILY else self._evaluated(found)

    def _ratios(self, totals: Sequence[int]) -> tuple[float, ...]:
        """Return the ratios, or nothing if one is 0."""
        pairs = zip(totals[0::2], totals[1::2], strict=True)
        found = tuple(top / bottom if bottom > 0 else 0.0 for top, bottom in pairs)
        return found if all(found) else ()


class WindowedReaching(WindowedSearch, Reaching):
    """A run for all sets that a harmonic mean is worth a threshold for."""


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    """Return how far from one another the proportions of ratios are."""
    logs = [log(a / b) for a, b in zip(one, other, strict=True)]
    return max(logs) - min(logs)
