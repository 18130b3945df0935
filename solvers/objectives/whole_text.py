r"""The longest common subsequence with one whole reference: the best extract in polynomial time.

The longest common subsequence of a reference R and units in document order is the largest sum of those of each unit
and its piece, over all cuts of R into consecutive pieces. So a table of the units from i on, the rest of R from p on
and the length that is left has the best value of ``q T - p D``, unit by unit from the last one to the first,

.. math:: h_i(p, l) = \max\bigl(h_{i+1}(p, l), \max_{e \ge b \ge p} g_i(b, e) + h_{i+1}(e, l - c_i) - d_i\bigr),

where :math:`g_i(b, e)` is what the unit gains with R[b:e], and d_i what it costs. A ratio takes a few tables
(Dinkelbach 1967).
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np

from optsum.contracts.result import Termination
from optsum.coverage.ceiling_kernel import extend
from optsum.coverage.ceilings import TextSubsequence
from optsum.coverage.instance import Combination, Coverage, Sense
from optsum.coverage.state import arrays_of
from optsum.errors import BackendError
from optsum.optima.diagram import Diagram
from optsum.problem.problem import Selection
from optsum.system.compiled import njit
from optsum.system.deadline import Deadline

from .ratio import Best, Findings

__all__ = ["is_whole_text", "solve_whole_text"]

_CELLS: Final = 40_000_000
"""Cells that a table may have."""


def is_whole_text(instance: Coverage) -> bool:
    """Whether the value is one ratio, whose numerator is a common subsequence, within a maximum length alone."""
    if len(instance.ceilings) != 1 or not isinstance(instance.ceilings[0], TextSubsequence):
        return False
    plain, text = instance.plain, instance.ceilings[0]
    longest = min(instance.max_length, int(instance.lengths.sum()))
    return (
        instance.goal is Sense.MAXIMIZE
        and instance.combination is Combination.RATIO
        and instance.singletons
        and not instance.rows
        and instance.min_length <= 0
        and not plain.features
        and not plain.mass[0].any()
        and not int(plain.constants[0])
        and (instance.size + 1) * (len(text.reference) + 1) * (longest + 1) <= _CELLS
    )


def solve_whole_text(instance: Coverage, deadline: Deadline, start: Selection | None = None) -> Findings:
    """Find one optimum of an instance that `is_whole_text` holds for, from a selection that is known.

    Parameters
    ----------
    instance : Coverage
    deadline : Deadline
    start : tuple of int, optional
    """
    best = Best(instance)
    best.see_first(start, deadline)
    table = _LengthTable(instance)
    rounds, proven = 0, False
    while not deadline.passed:
        rounds += 1
        ratio = max(best.key, Fraction(0))
        found = table.best_of(ratio, deadline)
        if found is None:
            break
        surplus, units = found
        if surplus <= 0:
            proven = True
            break
        if not best.see(units):
            raise BackendError("branch-and-bound found no better ratio where its table has one.")
    interrupted = deadline.reason == "interrupted"
    reason = None if proven else Termination.INTERRUPTED if interrupted else Termination.TIME_LIMIT
    sets = Diagram.of_sets([] if best.selection is None else [best.selection])
    key = max(best.key, Fraction(0))
    return Findings(best.selection, key, sets, proven=proven, reason=reason, statistics={"nodes": 0, "tables": rounds})


class _LengthTable:
    """The table of an instance, made again for each ratio."""

    def __init__(self, instance: Coverage) -> None:
        (text,) = instance.ceilings
        assert isinstance(text, TextSubsequence)  # noqa: S101 - as `is_whole_text` says
        arrays = arrays_of(instance, totals_only=True)
        assert arrays is not None  # noqa: S101 - totals always fit
        self._instance, self._gain, self._ceilings = instance, text.gain, arrays.ceilings
        self._longest = min(instance.max_length, int(instance.lengths.sum()))
        self._wide = len(text.reference) + 1
        self._table = np.zeros((instance.size + 1, self._wide, self._longest + 1), np.int64)
        self._gains = np.zeros((self._wide, self._wide), np.int64)

    def best_of(self, ratio: Fraction, deadline: Deadline) -> tuple[int, list[int]] | None:
        """Return the largest ``q T - p D`` and its units; None if the deadline comes first."""
        instance, table = self._instance, self._table
        p, q = ratio.numerator, ratio.denominator
        costs = p * instance.mass[1]
        worth = q * self._gain
        lengths = instance.lengths.tolist()
        for unit in range(instance.size - 1, -1, -1):
            if lengths[unit] > self._longest:
                table[unit] = table[unit + 1]
                continue
            _gains_of(self._ceilings, unit, self._gains)
            _add_unit(table, unit, lengths[unit], worth, int(costs[unit]), self._gains)
            if deadline.passed:
                return None
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


@njit(cache=True)
def _gains_of(ceilings: Any, unit: int, gains: Any) -> None:
    """Write the longest common subsequence of a unit and each piece of the reference; -1 where a shorter one is equal.

    The columns of lengths are those of the reference without its beginning: its bits are masked.
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
    """Write the table from a unit on, that from the next one being there."""
    wide, most = table.shape[1], table.shape[2]
    below, here = table[unit + 1], table[unit]
    best = np.full(most, np.int64(-(2**62)))  # with the unit, of what is left of the reference from a place on
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
