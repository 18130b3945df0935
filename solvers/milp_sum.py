"""Sums of ratios by integer programs: cells of denominators, split until the programs of each prove it.

`optsum.program.surrogate` has linear programs that no better selection escapes, one for each corner of a cell. A
solver maximizes each over the selections of its cell: an optimum of 0 or less is the proof for that corner. A selection
that is worth more in the program, but not in truth, splits the cell at its own denominators, for which the program is
exact. What cannot be split (denominators that do not vary, or hardly) loses the selection by a row that it
alone breaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import floor
from typing import Final

import numpy as np

from optsum.contracts.backend import Backend
from optsum.contracts.run import Run
from optsum.coverage.evaluate import score
from optsum.coverage.instance import Coverage, IntArray
from optsum.problem.problem import Selection
from optsum.program.model import LinearModel, coverage_model
from optsum.program.surrogate import Cell, Weighted, cell_of, collapsed, excess, programs, reaches

from .claims import RELATIVE, judge
from .milp_ratio import checked_answer, conclusive, see_greedy, solve_round

__all__ = ["maximize_sum"]

_REACH: Final = 2.0**46
"""About what the program of all units comes to: so large that rounding adds less than a solver leaves uncertain."""

_FINE: Final = 1_000
"""Quotients in the middle of cells have smaller denominators: a solver keeps rows with small numbers."""

_WIDE: Final = 3e-3
"""Cells are split in the middle while their programs make more than this, as a share, of typical numerators."""


@dataclass(frozen=True)
class _Side:
    """A row over denominators: ``sum of times[h] D_h`` is at least, or at most, `limit`."""

    times: dict[int, int]
    limit: int
    least: bool

    def holds(self, totals: tuple[int, ...]) -> bool:
        """Whether a selection with these totals keeps it."""
        held = sum(times * totals[2 * h + 1] for h, times in self.times.items())
        return held >= self.limit if self.least else held <= self.limit


@dataclass(frozen=True)
class _Part:
    """What is left to be proven: selections with a positive denominator in these ratios, in a cell, within rows."""

    ratios: tuple[int, ...]
    cell: Cell
    sides: tuple[_Side, ...]


def maximize_sum(run: Run, backend: Backend, name: str) -> None:
    """Find the largest weighted mean of several ratios, and prove it as far as the solver's numbers go.

    Raises
    ------
    Stopped
        At a limit.
    BackendError
        For an answer that cannot be used.
    """
    see_greedy(run)
    search = _Search(run, backend, name)
    search.search()
    if search.rough:
        run.detail = (
            f"optimal up to {RELATIVE:g} of the objective, which is as far as {name} sees: "
            "branch-and-bound proves it to the last digit"
        )
    run.prove()


class _Search:
    """One run.

    Attributes
    ----------
    seen : selections that were looked at, and are in no program any more
    rough : bool
        Whether a proof is one up to the solver's precision alone.
    """

    def __init__(self, run: Run, backend: Backend, name: str) -> None:
        self.run, self.backend, self.name = run, backend, name
        self.coverage: Coverage = run.problem.coverage
        self.seen: list[Selection] = []
        self.rough = False
        self._rounds = 0

    def search(self) -> None:
        """Prove part by part."""
        for ratios, sides in self._cases():
            parts = [_Part(ratios, cell_of(self.coverage, self._wish(ratios)), sides)]
            while parts:
                parts.extend(self._left_of(parts.pop()))

    def _cases(self) -> Iterator[tuple[tuple[int, ...], tuple[_Side, ...]]]:
        """Yield the ratios that may have a denominator at once: those that always have one, and any of the others."""
        most = reaches(self.coverage)
        bottoms = self.coverage.constants[1::2].tolist()
        certain = [h for h, bottom in enumerate(bottoms) if bottom > 0]
        others = [h for h, bottom in enumerate(bottoms) if bottom <= 0 < most[2 * h + 1]]
        for size in range(len(others), -1, -1):
            for chosen in combinations(others, size):
                yield tuple(sorted((*certain, *chosen))), tuple(_Side({h: 1}, 1, least=True) for h in chosen)

    def _wish(self, ratios: tuple[int, ...]) -> Weighted:
        """Return what every selection fulfils that is better than the incumbent."""
        held = self.run.evaluation
        totals = None if self.run.selection is None else score(self.coverage, self.run.selection)[0]
        return Weighted(
            ratios,
            tuple(Fraction(self.coverage.weights[h]) for h in ratios),
            Fraction(0) if held is None else Fraction(held.key) * sum(self.coverage.weights),
            tuple(0.5 if totals is None else max(float(totals[2 * h]), 0.5) for h in ratios),
        )

    def _left_of(self, part: _Part) -> list[_Part]:
        """Ask the programs of a part; return what is left of it to be proven."""
        if not part.ratios:  # every ratio is over nothing: whatever is feasible is worth 0
            return self._anything(part)
        wish = self._wish(part.ratios)
        for weights in programs(self.coverage, part.cell, wish, largest=_REACH):
            while (found := self._above(part, *weights)) is not None:
                held = self.run.evaluation
                self.run.see(found)
                if self.run.evaluation is not held:
                    return [part]
                self.run.check()
                totals = score(self.coverage, found)[0]
                if smaller := _split(part, totals, wide=excess(part.cell, wish) > _WIDE):
                    return smaller
                self.seen.append(found)
        return []

    def _anything(self, part: _Part) -> list[_Part]:
        nothing = (0,) * self.coverage.ratios
        if self.run.evaluation is None and (found := self._above(part, nothing, nothing)) is not None:
            self.run.see(found)
        return []

    def _above(self, part: _Part, tops: tuple[int, ...], bottoms: tuple[int, ...]) -> Selection | None:
        """Return a selection of a part that is worth more than 0 in a program; None if none is.

        While nothing is held, any selection will do.
        """
        linear = collapsed(self.coverage, tops, bottoms)
        model = self._with_sides(_program(linear), part)
        self._rounds += 1
        outcome = solve_round(self.run, self.backend, model, self._rounds)
        # A solver is as exact as the numbers are large that it adds, and the value is a small difference of such: it
        # is judged as if it were as large, further from 0.
        size = 1 + sum(a * max(1, t) for a, t in zip(tops, self._tops(), strict=True))
        stated = outcome.objective if outcome.bound is None else outcome.bound
        added = -size if stated is not None and stated < 0 else size
        shift = added - model.offset
        worth = None
        if outcome.selection is not None:
            top, bottom = checked_answer(linear, outcome.selection, self.name)
            worth = Fraction(top - bottom + shift)
        raised = replace(
            outcome,
            objective=None if outcome.objective is None else outcome.objective + added,
            bound=None if outcome.bound is None else outcome.bound + added,
        )
        known = self._known(linear, part)
        verdict = judge(raised, self.name, model, worth, None if known is None else known + shift)
        tolerance = floor(RELATIVE * size)
        if outcome.selection is not None and worth is not None:
            if self.run.evaluation is None or worth - shift > tolerance:
                return outcome.selection
            self.run.see(outcome.selection)
        conclusive(verdict, outcome, self.name)
        self.rough |= tolerance > 0
        return None

    def _tops(self) -> tuple[int, ...]:
        """Return the incumbent's numerators; all that there could be, while there is none."""
        if self.run.selection is None:
            return tuple(reaches(self.coverage)[0::2])
        return score(self.coverage, self.run.selection)[0][0::2]

    def _known(self, linear: Coverage, part: _Part) -> Fraction | None:
        """Return what the incumbent is worth in a program; None where it is none of its selections."""
        selection = self.run.selection
        if selection is None or selection in self.seen:
            return None
        totals = score(self.coverage, selection)[0]
        if not all(side.holds(totals) for side in part.sides):
            return None
        top, bottom = score(linear, selection)[0]
        return Fraction(top - bottom)

    def _with_sides(self, model: LinearModel, part: _Part) -> LinearModel:
        """Return a program with the rows of a part, and without the selections that were looked at."""
        coverage, n = self.coverage, model.units
        full = np.diff(coverage.level_start) - 1
        last = model.columns - int(full.sum()) + np.cumsum(full) - 1  # the column of a feature's last step
        for side in part.sides:
            values = np.zeros(model.columns, np.int64)
            constant = 0
            for h, times in side.times.items():
                values[:n] += times * coverage.mass[2 * h + 1]
                fed = np.flatnonzero((coverage.slot == 2 * h + 1) & (full > 0))
                values[last[fed]] += times * coverage.level[coverage.level_start[fed] + 1]
                constant += times * int(coverage.constants[2 * h + 1])
            limit = float(side.limit - constant)
            model = _with_row(model, values, *((limit, np.inf) if side.least else (-np.inf, limit)))
        if part.sides:
            units = np.repeat(np.arange(n), np.diff(coverage.unit_start))
            for feature in np.flatnonzero((coverage.slot % 2 == 1) & (full > 0)):
                # A denominator may not count what no unit has, to reach a row's least.
                values = np.zeros(model.columns, np.int64)
                values[units[coverage.unit_feature == feature]] = -1
                values[last[feature]] = 1
                model = _with_row(model, values, -np.inf, 0.0)
        for selection in self.seen:
            values = np.zeros(model.columns, np.int64)
            values[:n] = -1
            values[list(selection)] = 1
            model = _with_row(model, values, -np.inf, len(selection) - 1.0)
        return model


def _program(linear: Coverage) -> LinearModel:
    """Return the program ``T - D`` of one ratio, over all selections, whatever their denominator is."""
    bottom = int(linear.constants[1])
    raised = replace(linear, constants=np.array([linear.constants[0], max(bottom, 1)], np.int64))
    if raised.constant_denominator:
        model = coverage_model(raised)
        return replace(model, offset=model.offset - bottom, denominator=1)
    model = coverage_model(raised, Fraction(1))
    return replace(model, offset=model.offset + max(bottom, 1) - bottom)


def _with_row(model: LinearModel, values: IntArray, lower: float, upper: float) -> LinearModel:
    """Return a program with one more row."""
    columns = np.flatnonzero(values)
    return replace(
        model,
        row_start=np.append(model.row_start, model.row_start[-1] + len(columns)),
        row_column=np.append(model.row_column, columns),
        row_value=np.append(model.row_value, values[columns]),
        row_lower=np.append(model.row_lower, lower),
        row_upper=np.append(model.row_upper, upper),
    )


def _split(part: _Part, totals: tuple[int, ...], wide: bool) -> list[_Part]:
    """Split a part in the middle, or in three at the denominators of a selection; empty if nothing can be split.

    Denominators are integers, so that rows part them.
    """
    if part.cell.quotient:
        first, second = part.ratios
        middle = Fraction(part.cell.middle()[1]).limit_denominator(_FINE)
        own = Fraction(totals[2 * second + 1], max(1, totals[2 * first + 1]))
        low, high = part.cell.low[0], part.cell.high[0]
        at = middle if wide and low < float(middle) < high else own
        times = {second: at.denominator, first: -at.numerator}
        return _in_three(part, 0, float(at), float(at), times, 0) if low < high else []
    for ratio, constant, which in zip(part.ratios, part.cell.constants, part.cell.part, strict=True):
        if which >= 0 and part.cell.low[which] < part.cell.high[which]:
            held = floor(part.cell.middle()[part.ratios.index(ratio)]) if wide else totals[2 * ratio + 1]
            return _in_three(part, which, float(held - constant - 1), float(held - constant + 1), {ratio: 1}, held)
    return []


def _in_three(part: _Part, which: int, below: float, above: float, times: dict[int, int], held: int) -> list[_Part]:
    """Return what is below a sum of denominators, above it, and what has just that.

    `below` and `above` are the nearest coordinates that the others can have.
    """
    found = []
    low, high = part.cell.low[which], part.cell.high[which]
    at = (below + above) / 2
    most, least = _Side(times, held, least=False), _Side(times, held, least=True)
    for first, last, sides in (
        (low, below, (replace(most, limit=held - 1),)),
        (above, high, (replace(least, limit=held + 1),)),
        (at, at, (most, least)),
    ):
        if first <= last:
            cell = replace(part.cell, low=_put(part.cell.low, which, first), high=_put(part.cell.high, which, last))
            found.append(replace(part, cell=cell, sides=(*part.sides, *sides)))
    return found


def _put(values: tuple[float, ...], which: int, value: float) -> tuple[float, ...]:
    return (*values[:which], value, *values[which + 1 :])
