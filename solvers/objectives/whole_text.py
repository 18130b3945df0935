r"""The longest common subsequence with one whole reference: the best extract in polynomial time.

The longest common subsequence of a reference R and units in document order is the largest sum over units and their
pieces, for all cuts of R into consecutive pieces. So a table over the units from i on, the rest of R from p on and the
remaining length has the best value of ``q T - p D``, computed from the last unit to the first,

.. math:: h_i(p, l) = \max\bigl(h_{i+1}(p, l), \max_{e \ge b \ge p} g_i(b, e) + h_{i+1}(e, l - c_i) - d_i\bigr),

where :math:`g_i(b, e)` is the gain of the unit with R[b:e], and d_i its cost. A ratio needs a few tables (Dinkelbach
1967).
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.ceilings import extend
from optsum.coverage.instance import Coverage, IntArray, Sense
from optsum.coverage.state import arrays_of
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram, DiagramNodes
from optsum.optima.optima import Optima
from optsum.problem.problem import Selection
from optsum.program.surrogate import reaches
from optsum.system.clock import Deadline, Limits, Stopped, Termination
from optsum.system.compiled import njit

from .ratio import Incumbent, dinkelbach

_CELLS: Final = 80_000_000  # Cells that a table may have, of four bytes.

_NEVER: Final = -(2**60)  # Less than any value.


def is_whole_text(instance: Coverage) -> bool:
    """Whether the value is one ratio with a common subsequence as numerator, and the only limit is a maximum length."""
    if not instance.combination.alone or len(instance.ceilings) != 1 or not instance.ceilings[0].text_length:
        return False
    plain, text = instance.plain, instance.ceilings[0]
    longest = min(instance.max_length, int(instance.lengths.sum()))
    top, bottom = reaches(instance)
    return (
        instance.goal is Sense.MAXIMIZE
        and instance.singletons
        and not instance.rows
        and instance.min_length <= 0
        and not plain.features
        and not plain.mass[0].any()
        and not int(plain.constants[0])
        and 2 * (top + 1) * (bottom + 1) < 2**31
        and (instance.size + 1) * (text.text_length + 1) * (longest + 1) <= _CELLS
    )


def solve_whole_text(
    instance: Coverage, limits: Limits, deadline: Deadline, *, every: bool, start: Selection | None = None
) -> Optima:
    best = Incumbent(instance)
    best.see_first(start, deadline)
    table = LengthTable(instance)
    rounds, proven, reason = 0, False, None
    tied: Diagram | None = None

    def beaten(ratio: Fraction) -> bool:
        nonlocal rounds
        deadline.check()
        rounds += 1
        surplus, units = table.best_of(ratio, deadline)
        if surplus > 0:
            best.see(units)
        return surplus > 0

    try:
        dinkelbach(lambda: max(best.key, Fraction(0)), beaten, "branch-and-bound")
        proven = True
        if every and best.selection is not None:
            tied = table.all_of(best.key, limits, deadline)
    except Stopped as stopped:
        reason = stopped.termination
    return best.optima(tied, reason, {"nodes": 0, "tables": rounds}, proven=proven)


class LengthTable:
    """The table of an instance, computed for each ratio."""

    def __init__(self, instance: Coverage) -> None:
        (text,) = instance.ceilings
        arrays = arrays_of(instance, totals_only=True)
        assert arrays is not None  # noqa: S101 - totals always fit
        self._instance, self._gain, self._ceilings = instance, text.gain, arrays.ceilings
        self._longest = min(instance.max_length, int(instance.lengths.sum()))
        self._wide = text.text_length + 1
        self._table = np.zeros((instance.size + 1, self._wide, self._longest + 1), np.int32)
        self._gains = np.zeros((self._wide, self._wide), np.int64)
        self._ratio: Fraction | None = None

    def _make(self, ratio: Fraction, deadline: Deadline) -> None:
        if ratio == self._ratio:
            return
        self._ratio = None
        instance, table = self._instance, self._table
        costs = ratio.numerator * instance.mass[1]
        worth = ratio.denominator * self._gain
        lengths = instance.lengths.tolist()
        for unit in range(instance.size - 1, -1, -1):
            if lengths[unit] > self._longest:
                table[unit] = table[unit + 1]
                continue
            _gains_of(self._ceilings, unit, self._gains)
            _add_unit(table, unit, lengths[unit], worth, int(costs[unit]), self._gains)
            deadline.check()
        self._ratio = ratio

    def best_of(self, ratio: Fraction, deadline: Deadline) -> tuple[int, list[int]]:
        self._make(ratio, deadline)
        instance, table = self._instance, self._table
        p, q = ratio.numerator, ratio.denominator
        costs, worth, lengths = p * instance.mass[1], q * self._gain, instance.lengths.tolist()
        units, place, left = [], 0, self._longest
        for unit in range(instance.size):
            value = int(table[unit, place, left])
            if value == int(table[unit + 1, place, left]):
                continue
            _gains_of(self._ceilings, unit, self._gains)
            place = int(_end_of(table, unit, place, left, lengths[unit], worth, value + int(costs[unit]), self._gains))
            units.append(unit)
            left -= lengths[unit]
        return int(table[0, 0, self._longest]) - p * int(instance.constants[1]), units

    def all_of(self, ratio: Fraction, limits: Limits, deadline: Deadline) -> Diagram:
        """Return all selections with a ratio.

        A state describes the units so far: the remaining length, and the value v(p) with the reference used up to each
        p. The table has the exact value of the best rest, so that a state is kept if and only if some selection reaches
        the ratio from it, with only the values that such a selection needs: others are below `_NEVER`, and equal states
        are merged.
        """
        instance = self._instance
        self._make(ratio, deadline)
        p, q = ratio.numerator, ratio.denominator
        needed, lengths = p * int(instance.constants[1]), instance.lengths
        left, counted = np.array([self._longest]), np.array([ratio <= 0 or int(instance.constants[1]) > 0])
        values = np.full((1, self._wide), 2 * _NEVER)
        values[0, 0] = 0
        steps: list[NDArray[np.int64]] = []
        held = 0
        for unit, (length, mass) in enumerate(zip(lengths.tolist(), instance.mass[1].tolist(), strict=True)):
            fits = np.flatnonzero(left >= length)
            taken = self._with(unit, values[fits], q * self._gain, p * mass)
            values = np.concatenate([values, taken])
            left = np.concatenate([left, left[fits] - length])
            counted = np.concatenate([counted, counted[fits] | (mass > 0)])
            values[values + self._table[unit + 1][:, left].T < needed] = 2 * _NEVER
            values[:, 1:][values[:, 1:] <= np.maximum.accumulate(values, axis=1)[:, :-1]] = 2 * _NEVER
            number, values, left, counted = _merged_states(values, left, counted)
            step = np.full((2, len(number) - len(taken)), -1)
            step[0] = number[: step.shape[1]]
            step[1, fits] = number[step.shape[1] :]
            steps.append(step)
            held += step.nbytes
            deadline.check()
            if held + 4 * values.nbytes > limits.memory:
                raise Stopped(Termination.MEMORY_LIMIT)
        return _diagram_of(steps, counted)

    def _with(self, unit: int, values: NDArray[np.int64], worth: int, cost: int) -> NDArray[np.int64]:
        """Return the values of states with a unit, whose piece begins where each of them ends."""
        _gains_of(self._ceilings, unit, self._gains)
        # Shorter pieces that are equal are those that end sooner, and those that begin later.
        gains = np.maximum.accumulate(np.maximum(self._gains, 0), axis=1)
        gains = worth * np.maximum.accumulate(gains[::-1], axis=0)[::-1]
        taken = np.full(values.shape, 2 * _NEVER)
        for begin in np.flatnonzero((values > _NEVER).any(axis=0)).tolist():
            np.maximum(taken[:, begin:], values[:, begin, None] + gains[begin, begin:], out=taken[:, begin:])
        taken -= cost
        return taken


def _merged_states(
    values: NDArray[np.int64], left: IntArray, counted: NDArray[np.bool_]
) -> tuple[IntArray, NDArray[np.int64], IntArray, NDArray[np.bool_]]:
    """Return the distinct states, and the number of each state among them; -1 if it cannot reach the ratio."""
    alive = np.flatnonzero((values > _NEVER).any(axis=1))
    rows = np.concatenate([left[alive, None], counted[alive, None], values[alive]], axis=1)
    _, first, which = np.unique(rows.view(f"V{rows.itemsize * rows.shape[1]}"), return_index=True, return_inverse=True)
    number = np.full(len(values), -1)
    number[alive] = which.reshape(-1)
    kept = alive[first]
    return number, values[kept], left[kept], counted[kept]


def _diagram_of(steps: list[NDArray[np.int64]], ends: NDArray[np.bool_]) -> Diagram:
    """Return the sets of all paths through layers of states, each with a successor without and with each unit."""
    nodes = DiagramNodes()
    below = np.append(np.where(ends, EMPTY_SET, EMPTY_FAMILY), EMPTY_FAMILY)  # the last is what -1 stands for
    for unit in range(len(steps) - 1, -1, -1):
        here = [nodes.node(unit, without, with_) for without, with_ in below[steps[unit]].T.tolist()]
        below = np.array([*here, EMPTY_FAMILY])
    return nodes.diagram(int(below[0]))


@njit(cache=True)
def _gains_of(ceilings: Any, unit: int, gains: Any) -> None:
    """Write the longest common subsequence of a unit and each piece of the reference; -1 if a shorter piece is equal.

    The columns of lengths are those of the reference with the bits of its beginning masked.
    """
    wide = len(gains)
    words = ceilings.places.shape[1]
    first, last = ceilings.start[unit], ceilings.start[unit + 1]
    gains[:] = -1
    held = np.zeros(words, np.uint64)
    for entry in range(first, last):
        for word in range(words):
            held[word] |= ceilings.places[ceilings.token[entry], word]
    masked = np.zeros((1, words), np.uint64)
    flat = ceilings.flat
    for begin in range(wide - 1):
        if not (held[begin >> 6] >> np.uint64(begin & 63)) & np.uint64(1):
            continue
        for word in range(words):
            flat[word] = np.uint64(0xFFFFFFFFFFFFFFFF)
        for entry in range(first, last):
            for word in range(words):
                bits = ceilings.places[ceilings.token[entry], word]
                if (word << 6) + 64 <= begin:
                    bits = np.uint64(0)
                elif (word << 6) < begin:
                    bits = (bits >> np.uint64(begin & 63)) << np.uint64(begin & 63)
                masked[0, word] = bits
            extend(flat, masked, 0)
        hits = 0
        for end in range(begin + 1, wide):
            if not (flat[(end - 1) >> 6] >> np.uint64((end - 1) & 63)) & np.uint64(1):
                hits += 1
                gains[begin, end] = hits


@njit(cache=True)
def _add_unit(table: Any, unit: int, length: int, worth: int, cost: int, gains: Any) -> None:
    wide, most = table.shape[1], table.shape[2]
    below, here = table[unit + 1], table[unit]
    best = np.full(most, np.int32(-(2**31)))  # with the unit, of what is left of the reference from a place on
    for place in range(wide - 1, -1, -1):
        for left in range(length, most):
            best[left] = max(best[left], below[place, left - length] - cost)
        for end in range(place + 1, wide):
            if gains[place, end] > 0:
                gain = worth * gains[place, end] - cost
                for left in range(length, most):
                    best[left] = max(best[left], below[end, left - length] + gain)
        for left in range(most):
            here[place, left] = max(below[place, left], best[left])


@njit(cache=True)
def _end_of(table: Any, unit: int, place: int, left: int, length: int, worth: int, value: int, gains: Any) -> int:
    """Return the end of the piece of a unit that, with the pieces after it, has a given value."""
    wide = table.shape[1]
    for begin in range(place, wide):
        if table[unit + 1, begin, left - length] == value:
            return begin
        for end in range(begin + 1, wide):
            if gains[begin, end] > 0 and table[unit + 1, end, left - length] + worth * gains[begin, end] == value:
                return end
    return place
