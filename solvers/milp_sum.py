"""Sums of ratios by integer programs: cells of denominators, split until the programs of each are proven.

`optsum.program.surrogate` has linear programs that no better selection escapes, one for each corner of a cell. Cells
whose relaxations leave something open are split while their programs are coarse, the one with the largest bound first;
what is left a solver maximizes over the selections of the cell. An answer that is worth more in the program, but not in
truth, is surpassed from then on, in every program: what comes after has a larger numerator or a smaller denominator, as
every better selection has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import combinations, count
from math import ceil, floor
from typing import Final

import numpy as np

from optsum.contracts.backend import Backend
from optsum.contracts.result import Termination
from optsum.contracts.run import Run, Stopped
from optsum.coverage.cell import Cell
from optsum.coverage.evaluate import score
from optsum.coverage.instance import Coverage
from optsum.errors import BackendError
from optsum.problem.problem import Selection
from optsum.program.dual_bound import model_bound
from optsum.program.surrogate import Weighted, cell_of, excess, programs

from .audit import judge
from .milp_ratio import conclude, see_greedy, solve_round, totals_of
from .ratio_rows import RatioRows, Side, sides_of

_REACH: Final = 2.0**28
"""Approximate objective of a program with all units: small enough for a solver to see a difference of 1."""

_STEEPEST: Final = 2.0**18
"""Approximate limit of a numerator's coefficient, by which a solver's violation of rows is multiplied."""

_GRID: Final = 10**9
"""Bounds are multiples of its reciprocal."""

_COARSE: Final = 3e-4
"""Cells are split while their programs overestimate typical numerators by more than this share."""

_SHARE: Final = 0.25
"""They are split, too, only while that is more than this share of the gap that relaxations leave open."""

_FINEST: Final = 1e-7
_SURPASSED: Final = 4
"""After `_SURPASSED` answers that are worth less than their program says, cells are split down to `_FINEST`."""


@dataclass(frozen=True)
class _Part:
    """A part of the proof that is still open: selections in a cell of the denominators of some ratios."""

    ratios: tuple[int, ...]
    cell: Cell
    sides: tuple[Side, ...]


def maximize_sum(run: Run, backend: Backend, name: str) -> None:
    """Find the largest weighted mean of several ratios, and prove it.

    Raises
    ------
    Stopped
        At a limit.
    BackendError
        For an answer that cannot be used.
    """
    see_greedy(run)
    _Search(run, backend, name).search()
    run.prove()


class _Search:
    """One run.

    Attributes
    ----------
    seen : totals of selections that were looked at
    surpassed : those of them that some program took for better than they are
    """

    def __init__(self, run: Run, backend: Backend, name: str) -> None:
        self.run, self.backend, self.name = run, backend, name
        self.coverage: Coverage = run.problem.coverage
        self.totals = RatioRows(self.coverage)
        self.seen: list[tuple[int, ...]] = []
        self.surpassed: list[tuple[int, ...]] = []
        self._rounds = 0
        self._queue: list[tuple[float | Fraction, int, _Part]] = []
        self._number = count()

    def search(self) -> None:
        """Prove part by part, the one with the largest bound first."""
        if self.run.selection is not None:
            self.seen.append(self._score(self.run.selection))
        elif self._largest((1,) * self.coverage.ratios, (0,) * self.coverage.ratios, ()) is None:
            return  # nothing is feasible
        for ratios, sides in self._cases():
            if (cell := _whole(cell_of(self.coverage, self._wish(ratios)))) is not None:
                self._put(float("inf"), _Part(ratios, cell, sides))
        while self._queue:
            bound = -self._queue[0][0]
            if bound <= self._value:
                return
            if isinstance(bound, Fraction):
                self.run.raise_bound(bound)
            self.run.check()
            self._look_at(bound, heappop(self._queue)[2])

    @property
    def _value(self) -> Fraction:
        """Value of the incumbent, as it is compared."""
        assert self.run.evaluation is not None  # noqa: S101 - a search begins with one
        return Fraction(self.run.evaluation.key)

    def _put(self, bound: float | Fraction, part: _Part) -> None:
        heappush(self._queue, (-bound, next(self._number), part))

    def _score(self, selection: Selection) -> tuple[int, ...]:
        return score(self.coverage, selection)[0]

    def _cases(self) -> Iterator[tuple[tuple[int, ...], tuple[Side, ...]]]:
        """Yield the ratios that may have a denominator at once: those that always have one, and any of the others.

        Those whose denominators are the same have one, or none, together.
        """
        most, constants = self.totals.most, self.totals.constants
        certain: list[int] = []
        others: dict[object, list[int]] = {}
        for h in range(self.coverage.ratios):
            if constants[2 * h + 1] > 0:
                certain.append(h)
            elif most[2 * h + 1] > 0:
                fed = np.flatnonzero(self.coverage.slot == 2 * h + 1)
                alike = (constants[2 * h + 1], self.coverage.mass[2 * h + 1].tobytes(), h if len(fed) else -1)
                others.setdefault(alike, []).append(h)
        groups = list(others.values())
        for size in range(len(groups), -1, -1):
            for chosen in combinations(groups, size):
                ratios = sorted([*certain, *(h for group in chosen for h in group)])
                if not ratios:
                    continue  # all are over nothing: whatever is feasible is worth 0
                sides = [Side({group[0]: 1}, low=1 - constants[2 * group[0] + 1]) for group in chosen]
                left = [group[0] for group in groups if group not in chosen]
                sides += [Side({h: 1}, high=-constants[2 * h + 1]) for h in left]
                yield tuple(ratios), tuple(sides)

    def _wish(self, ratios: tuple[int, ...]) -> Weighted:
        """Return what every selection fulfils that is as good as the incumbent."""
        assert self.run.selection is not None  # noqa: S101 - a search begins with one
        totals = self._score(self.run.selection)
        return Weighted(
            ratios,
            tuple(Fraction(self.coverage.weights[h]) for h in ratios),
            self._value * sum(self.coverage.weights),
            tuple(max(float(totals[2 * h]), 0.5) for h in ratios),
        )

    def _look_at(self, bound: float | Fraction, part: _Part) -> None:
        """Bound a part by relaxations; split it, or let the solver close it, if that leaves something open."""
        wish = self._wish(part.ratios)
        sides = (*part.sides, *sides_of(part.cell, part.ratios, self.totals.constants))
        left: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        largest: float | Fraction = Fraction(0)
        for weights in programs(self.coverage, part.cell, wish, largest=_REACH, steepest=_STEEPEST):
            tops, bottoms = (tuple(2 * weight for weight in each) for each in weights)  # no surplus is less than 2
            model = self.totals.program(tops, bottoms, sides)
            assert model is not None  # noqa: S101 - nothing is to be surpassed
            surplus = model_bound(model, self.run.deadline) + model.offset
            if surplus < 2:
                continue
            left.append((tops, bottoms))
            below = sum(b * self._least(part, h) for h, b in enumerate(bottoms) if b)
            share = Fraction(surplus) / below if below > 0 else float("inf")
            largest = max(largest, share)
        if not left:
            return
        if self._value and largest < float("inf"):
            bound = min(bound, Fraction(ceil(self._value * (1 + largest) * _GRID), _GRID))
        coarse = excess(part.cell, wish)
        split: Sequence[Cell] | None = part.cell.halves() if coarse > max(_COARSE, _SHARE * float(largest)) else None
        if split is None:
            split = self._closed(part, left, sides, coarse=coarse > _COARSE)
        for cell in split:
            if (whole := _whole(cell)) is not None:
                self._put(bound, replace(part, cell=whole))

    def _least(self, part: _Part, h: int) -> Fraction:
        """Return what the denominator of a ratio is at least in a part."""
        constant = self.totals.constants[2 * h + 1]
        which = part.cell.part[part.ratios.index(h)]
        if part.cell.quotient or which < 0:
            return Fraction(max(1, constant))
        first = Fraction(part.cell.low[0])
        low = first * Fraction(part.cell.low[which]) if part.cell.outlines and which else Fraction(part.cell.low[which])
        return max(Fraction(1), constant + low)

    def _closed(
        self,
        part: _Part,
        left: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
        sides: tuple[Side, ...],
        *,
        coarse: bool,
    ) -> Sequence[Cell]:
        """Let the solver maximize the programs of a part; return the cells that are to be looked at again."""
        times = 0
        for tops, bottoms in left:
            while True:
                held = self.run.evaluation
                found = self._largest(tops, bottoms, sides)
                if found is None:
                    break
                if found in self.surpassed:
                    if self.backend.options:
                        raise Stopped(Termination.COMPLETED, f"{self.name} keeps no rows under {self.backend.given()}")
                    raise BackendError(
                        f"{self.name} found again what its program has no more: it would search forever."
                    )
                self.surpassed.append(found)
                if self.run.evaluation is not held:
                    return (part.cell,)
                times += 1
                halves = part.cell.halves() if coarse or times >= _SURPASSED else None
                if halves is not None and excess(part.cell, self._wish(part.ratios)) > _FINEST:
                    return halves
        return ()

    def _largest(
        self, tops: tuple[int, ...], bottoms: tuple[int, ...], sides: tuple[Side, ...]
    ) -> tuple[int, ...] | None:
        """Return totals that are worth more than 0 in a program, after a look at their selection; None if none are.

        While nothing is held, any selection will do.
        """
        any_will_do = self.run.evaluation is None
        worse = [totals for totals in self.surpassed if self.totals.worth(tops, bottoms, totals) > 0]
        self.run.check()
        model = self.totals.program(tops, bottoms, sides, worse)
        if model is None:
            return None
        self._rounds += 1
        outcome = solve_round(self.run, self.backend, model, self._rounds)
        selection = outcome.selection
        totals = totals_of(self.coverage, outcome, self.backend, self.name)
        worth = None if totals is None else self.totals.worth(tops, bottoms, totals)
        known = max(
            (
                self.totals.worth(tops, bottoms, each)
                for each in self.seen
                if all(side.holds(self.totals.masses(each)) for side in sides)
                and not any(_no_better(each, other) for other in worse)
            ),
            default=None,
        )
        size = sum(a * most for a, most in zip(tops, self.totals.most[0::2], strict=True))
        verdict = judge(
            outcome,
            self.backend,
            self.name,
            model,
            None if worth is None else Fraction(worth - model.offset),
            None if known is None else Fraction(known - model.offset),
            size=float(size),
        )
        if selection is not None and totals is not None and worth is not None:
            self.run.see(selection)
            self.seen.append(totals)
            if worth > 0 or any_will_do:
                self.run.check()
                return totals
        surplus = None if verdict.bound is None else verdict.bound + model.offset
        conclude(verdict, outcome, self.backend, self.name, proven=surplus is None or surplus < 2)
        return None


def _no_better(totals: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether no numerator is larger than the other's, and no denominator smaller."""
    tops = all(one <= two for one, two in zip(totals[0::2], other[0::2], strict=True))
    return tops and all(one >= two for one, two in zip(totals[1::2], other[1::2], strict=True))


def _whole(cell: Cell) -> Cell | None:
    """Return a cell whose ends are integers, as denominators are; None if there is none between them."""
    if cell.quotient:
        return cell
    straight = 1 if cell.outlines else len(cell.low)
    low = (*map(float, map(ceil, cell.low[:straight])), *cell.low[straight:])
    high = (*map(float, map(floor, cell.high[:straight])), *cell.high[straight:])
    return None if any(one > two for one, two in zip(low, high, strict=True)) else replace(cell, low=low, high=high)
