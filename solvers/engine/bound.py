r"""The Lagrangian bound in integers of the engine, and the units that it decides.

Searches of few units and of covers have bounds of their own, in `few_units` and `objectives.covers`.

With prices p_f >= 0 on copies and y_r >= 0 on rows of joints, every selection S that is closed under parents has
(everything times `scale`)

    value(S) <= base + sum_f max over c in [0, R_f] of (table_f(c) - p_f c) + sum over joints o of max(0, q_o)
                + sum of y_r over the vetoing and the unconditional rows + sum over S of profit_i,

    profit_i = mass_i + sum_f p_f count_if + sum of y_r over rows that need i - sum of y_r over rows that i vetoes,
    q_o      = mass_o + sum_f p_f count_of - sum of y_r over the rows that o is a member of,

where R_f is the number of copies in all items. All but the last sum is `slack`; the last is at most an integer knapsack
over the lengths, under precedence: units are in preorder, so unit i is followed by i + 1 if it is taken, and by the
unit after its descendants if not. Knapsack tables from both ends give the bound with any one unit taken or dropped.

A capped cost, ``-weight * min(copies, step)``, is not concave, so it is distributed to its items. A chosen item i is
charged a share s_i of at most weight * copies of i, and the slack includes the largest amount by which the shares of
chosen items may exceed the cost. With v copies and the shares s(V) in the items V that are chosen already, this is
``s(V) + max(-weight v, -weight step + s(undecided))``, without the first argument once v >= step: below the step the
shares of more items are at most the cost of their copies, above it the whole cost is due.

Lengths may be divided by `grain` (rounded down) to keep the tables small, which only weakens the knapsack bound.

The multipliers come from the linear relaxation of a core, which HiGHS solves again as more units are decided:

maximize    base + sum mass_i x_i + sum_f sum_s slope_fs z_fs - sum_g weight_g (step_g y_g + sum_i count_ig t_ig)
subject to  sum_i count_if x_i - sum_s z_fs >= 0          for every feature f (its dual is the price of f)
            low <= sum_i length_i x_i <= high
            x_i - y_g - t_ig <= 0                          for every item i of a cost g (its dual is the share of i)
            sum over the members x_o <= x_u, 1 - x_u, or 1 for every row of joints (its dual is the price of the row)
            x_i <= x_parent(i)
            0 <= x_i <= 1, 0 <= z_fs <= width_fs           (i: units and joints; s: pieces of equal slope of f's table)
            0 <= y_g, 0 <= t_ig                            (t_ig only where i has fewer copies than step_g)

Any prices >= 0, and any shares from 0 to weight * count, give a valid bound.

If the units of a feature are a subset of those of the next one, rows contain only the difference. Levels of a
similarity are such chains, because a unit that reaches a level reaches those below it. If F is a subset of G, both are
gained once, and z_F, z_G are 1 if they are gained,

    z_G <= sum of x_u (u in G)          may be          z_G <= z_F + sum of x_u (u in G, not in F),

because z_F = min(1, sum of x_u (u in F)) in an optimum. The value is the same, and in a chain of k levels a unit occurs
once instead of up to k times (Elloumi 2010, for the p-median problem). With the multipliers y of such rows, a unit has
the multiplier of its row, which is the sum of the prices p_F = y_F - y_G of whole rows. If y_G > y_F, the row of z_G is
tight without new units, and y_G = y_F is valid too. Similarly, for long rows of vetoes (a unit vetoes every seam that
spans it), a column represents the members of a row, and another row has the difference to the row before.

Exactness does not depend on the tolerances of the simplex method, because any multipliers within their limits give a
valid bound; duals at a time limit can be used as well. A reported infeasibility is not used for pruning.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

import threading
from collections.abc import Sequence
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray, grouped, packed_rows
from optsum.program.model import LinearRows, divisor_of, new_highs, run, was_stopped
from optsum.system.clock import Deadline
from optsum.system.compiled import njit

from .core import DROPPED, NEED, TAKEN, VETO, Core, States, first_gains, skips

IMPOSSIBLE: Final = -(2**61)  # Profit of a knapsack that cannot be filled to the least length.
_CELLS: Final = 20_000_000
_TIED_CELLS: Final = 4_000_000


def grain_of(core: Core) -> int:
    """Return the divisor of lengths that keeps a knapsack table below 160 MB, or 32 MB if units have ties.

    If all units together fit, the divisor exceeds ``core.high``: the table has one column, and the length of a state
    does not matter.
    """
    if core.low <= 0 and core.lengths.sum() <= core.high:
        return core.high + 1
    smallest = -(-(core.size + 1) * (core.high + 1) // (_TIED_CELLS if core.tied else _CELLS))
    return max(1, min(smallest, core.high))


@njit(cache=True)
def net(table_start, table, price, scale, f, c):
    top = table_start[f + 1] - table_start[f] - 1
    return table[table_start[f] + min(c, top)] * scale - price[f] * c


@njit(cache=True)
def cost_term(weight, step, scale, v, chosen, undecided):
    """Return a capped cost's term in the slack, from chosen copies `v` and the shares of `chosen` and other items."""
    due = undecided - weight * step * scale
    if v >= step:
        return chosen + due
    return chosen + max(-weight * v * scale, due)


@njit(cache=True)
def knapsack(lengths, profit, skip, low, high, grain):
    """Return the knapsack table: ``K[i, c]`` is the best profit of the units from i on within the length c <= `high`.

    With a minimum length `low` (and grain 1), selections that are too short are `IMPOSSIBLE`. ``skip[i]`` is the first
    unit after the descendants of i; it is empty if no unit has any.
    """
    n = len(lengths)
    room = high // grain
    forest = len(skip) > 0
    K = np.zeros((n + 1, room + 1), np.int64)
    if grain == 1 and low > 0:
        for c in range(max(0, high - low + 1), room + 1):
            K[n, c] = -(2**61)
    for i in range(n - 1, -1, -1):
        w = lengths[i] // grain
        p = profit[i]
        now, without, longer, shorter = K[i], K[skip[i] if forest else i + 1], K[i, w:], K[i + 1]
        for c in range(room + 1):
            now[c] = without[c]
        for c in range(len(longer)):  # slices without negative indices are compiled to vector instructions
            longer[c] = max(longer[c], shorter[c] + p)
    return K


@njit(cache=True)
def evaluated(core):
    """Return the terms of a core's bound under its prices; all except the counts `best` and `left` are scaled.

    `alone` (items,): value of the mass and the copies of each item, less its shares, without rows. `profit` (n,),
    `surplus` (joints,): that value of units and of joints, with rows. `best` (features,): the count that maximizes
    ``table - price * count``. `left` (features,): copies in all items. `unpaid` (costs,): sum of the shares. `slack`.
    """
    _ids, lengths, mass, start, feature, count, table_start, table, price, costs, base, _low, _high, scale, ties = core
    cost_start, cost, _cost_count, cost_share, cost_weight, cost_step = costs
    _parent, _needs, _need_unit, _vetoes, _veto_unit, row_unit, row_sign, row_price, row, joint = ties
    n, m = len(lengths), len(price)
    zero = np.int64(0)  # a literal would compile `cost_term` once more
    alone = np.empty(len(mass), np.int64)
    for i in range(len(mass)):
        total = mass[i] * scale
        for k in range(start[i], start[i + 1]):
            total += price[feature[k]] * count[k]
        for k in range(cost_start[i], cost_start[i + 1]):
            total -= cost_share[k]
        alone[i] = total
    best, left = np.zeros(m, np.int64), np.zeros(m, np.int64)
    for k in range(len(feature)):
        left[feature[k]] += count[k]
    slack = base * scale
    for f in range(m):
        first, last = table_start[f], table_start[f + 1] - 1
        while first < last and (table[first + 1] - table[first]) * scale > price[f]:
            first += 1
        best[f] = first - table_start[f]
        slack += net(table_start, table, price, scale, f, min(best[f], left[f]))
    unpaid = np.zeros(len(cost_weight), np.int64)
    for k in range(len(cost)):
        unpaid[cost[k]] += cost_share[k]
    for g in range(len(cost_weight)):
        slack += cost_term(cost_weight[g], cost_step[g], scale, zero, zero, unpaid[g])
    profit = alone[:n].copy()
    surplus = alone[n:].copy()
    for r in range(len(row_unit)):
        if row_unit[r] < 0:
            slack += row_price[r]
        elif row_sign[r] == 1:
            slack += row_price[r]
            profit[row_unit[r]] -= row_price[r]
        else:
            profit[row_unit[r]] += row_price[r]
    for k in range(len(row)):
        surplus[joint[k]] -= row_price[row[k]]
    for o in range(len(surplus)):
        slack += max(0, surplus[o])
    return alone, profit, surplus, best, left, unpaid, slack


@njit(cache=True)
def _decide(core, grain, target, bound_only, state):
    _ids, lengths, _mass, start, feature, count, table_start, table, price, costs, _base, low, high, scale, ties = core
    cost_start, cost, cost_count, cost_share, cost_weight, cost_step = costs
    parent, need_joint, need_unit, veto_joint, veto_unit, _ru, _rs, _rp, _row, _joint = ties
    n = len(lengths)
    forest = len(parent) > 0
    zero = np.int64(0)  # a literal would compile `cost_term` once more
    for i in range(n):
        state[i] = 2
    _alone, profit, surplus, best, copies, shares, bound = evaluated(core)
    skip = skips(parent)
    K = knapsack(lengths, profit, skip, low, high, grain)
    room = high // grain
    total = bound + K[0, room]
    goal = target * scale
    moved = 0
    if bound_only or total < goal:
        return total, moved
    # Losses of the joints that become impossible if a unit is taken or dropped.
    lost_in = np.zeros(n if forest else 0, np.int64)
    lost_out = np.zeros(n if forest else 0, np.int64)
    for k in range(len(need_unit)):
        lost_out[need_unit[k]] += max(0, surplus[need_joint[k]])
    for k in range(len(veto_unit)):
        lost_in[veto_unit[k]] += max(0, surplus[veto_joint[k]])
    dropped = np.empty(n if forest else 0, np.int64)
    # prefix[x, c]: best profit of units before i that leave length c exactly; one row suffices if no unit is skipped.
    # Slices without negative indices and branches are compiled to vector instructions, as in `knapsack`.
    none = np.int64(-(2**61))
    prefix = np.full((n + 1 if forest else 1, room + 1), none, np.int64)
    prefix[0, room] = 0
    for i in range(n):
        w = lengths[i] // grain
        p = profit[i]
        past = skip[i] if forest else i + 1
        held = prefix[i if forest else 0]
        without, longer, shorter = K[past], held[w:], K[i + 1]
        out, into = none, none
        for c in range(room + 1):
            out = max(out, held[c] + without[c] if held[c] > -(2**60) else none)
        for c in range(len(longer)):
            into = max(into, longer[c] + p + shorter[c] if longer[c] > -(2**60) else none)
        loss_in = 0
        loss_out = 0
        for k in range(start[i], start[i + 1]):
            f = feature[k]
            now = min(best[f], copies[f])
            if now < count[k]:
                loss_in += net(table_start, table, price, scale, f, now) - net(
                    table_start, table, price, scale, f, count[k]
                )
            if now > copies[f] - count[k]:
                loss_out += net(table_start, table, price, scale, f, now) - net(
                    table_start, table, price, scale, f, copies[f] - count[k]
                )
        for k in range(cost_start[i], cost_start[i + 1]):
            g = cost[k]
            now = cost_term(cost_weight[g], cost_step[g], scale, zero, zero, shares[g])
            rest = shares[g] - cost_share[k]
            loss_in += now - cost_term(cost_weight[g], cost_step[g], scale, cost_count[k], cost_share[k], rest)
            loss_out += now - cost_term(cost_weight[g], cost_step[g], scale, zero, zero, rest)
        if forest:
            loss_in += lost_in[i]
            loss_out += lost_out[i]
            if parent[i] >= 0:
                out = max(out, dropped[parent[i]])
            dropped[i] = out
        fits_in = into > -(2**60) and bound + into - loss_in >= goal
        fits_out = out > -(2**60) and bound + out - loss_out >= goal
        if forest and parent[i] >= 0 and state[parent[i]] == 0:
            fits_in = False  # it is dropped with its parent
            fits_out = True
        if not fits_in and not fits_out:
            return np.int64(-(2**61)), moved
        if not fits_in:
            state[i] = 0
            moved += 1
        elif not fits_out:
            state[i] = 1
            moved += 1
        if forest:
            following = prefix[past]
            for c in range(room + 1):
                following[c] = max(following[c], held[c])
        following = prefix[i + 1 if forest else 0]
        for c in range(len(longer)):
            following[c] = max(following[c], longer[c] + p if longer[c] > -(2**60) else none)
    if forest:  # a unit is taken with its ancestors
        for i in range(n - 1, -1, -1):
            if state[i] == 1 and parent[i] >= 0:
                if state[parent[i]] == 0:
                    return np.int64(-(2**61)), moved
                moved += state[parent[i]] == 2
                state[parent[i]] = 1
    return total, moved


@njit(cache=True)
def bounds_within(core, longest):
    """Return a core's bound at each maximum length from 0 to `longest`; it must have no costs and no minimum length."""
    lengths, scale = core[1], core[13]
    _alone, profit, _surplus, _best, _left, _unpaid, slack = evaluated(core)
    out = np.empty(longest + 1, np.int64)
    for c in range(longest + 1):
        out[c] = slack
    for i in range(len(lengths)):
        for c in range(longest, lengths[i] - 1, -1):
            out[c] = max(out[c], out[c - lengths[i]] + profit[i])
    for c in range(longest + 1):
        out[c] //= scale
    return out


@njit(cache=True)
def _through_seams(alone, first, second, worth, by_second, by_first):
    n, seams = len(alone), len(first)
    last, best = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)  # best values up to i with unit i; before i
    k = 0
    for i in range(n):
        top = best[i]
        while k < seams and second[by_second[k]] == i:
            top = max(top, last[first[by_second[k]]] + worth[by_second[k]])
            k += 1
        last[i] = top + alone[i]
        best[i + 1] = max(best[i], last[i])
    head, after = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)  # best values from i on with unit i; from i on
    k = seams - 1
    for i in range(n - 1, -1, -1):
        top = after[i + 1]
        while k >= 0 and first[by_first[k]] == i:
            top = max(top, head[second[by_first[k]]] + worth[by_first[k]])
            k -= 1
        head[i] = top + alone[i]
        after[i] = max(after[i + 1], head[i])
    out = np.empty(seams, np.int64)
    for k in range(seams):
        out[k] = last[first[k]] + worth[k] + head[second[k]]
    return out


def bounds_of_seams(core: Core) -> tuple[IntArray, IntArray] | None:
    """Return the two units of each joint, and the scaled bound of selections in which it is active.

    The result is None unless all joints are seams: they need two units, and are vetoed by all units between the two
    that joints need. Active seams do not overlap then, so that the best choice of units and seams under the prices of
    the features alone is a longest path from unit to unit.
    """
    n, joints, ties = core.size, core.joints, core.ties
    if (ties.parent >= 0).any() or not (np.bincount(ties.need_joint, minlength=joints) == 2).all():
        return None
    ends = ties.need_unit[np.lexsort((ties.need_unit, ties.need_joint))].reshape(-1, 2)
    first, second = ends[:, 0], ends[:, 1]
    start, order = grouped(ties.veto_joint, joints)
    joint, unit = ties.veto_joint[order], ties.veto_unit[order]
    needed = np.zeros(n, np.int64)
    needed[ties.need_unit] = 1
    alone, _profit, surplus, *_others, slack = evaluated(core.plain)
    held = np.maximum(alone[:n], 0)

    def left(values: IntArray) -> IntArray:
        """Return, for each joint, the sum of `values` over the units between its two units that do not veto it."""
        between, vetoing = (np.concatenate([[0], np.cumsum(each)]) for each in (values, values[unit]))
        found: IntArray = between[second] - between[first + 1] - vetoing[start[1:]] + vetoing[start[:-1]]
        return found

    apart = len(np.unique(first * n + second)) == joints
    if not apart or not ((unit > first[joint]) & (unit < second[joint])).all() or left(needed).any():
        return None
    slack -= int(np.maximum(surplus, 0).sum())
    rows = ties.rows
    slack -= int(rows.price[(rows.unit < 0) | (rows.sign == VETO)].sum())
    worth = alone[n:] + left(held)
    by_second, by_first = np.argsort(second, kind="stable"), np.argsort(first, kind="stable")
    return ends, slack + _through_seams(alone[:n].copy(), first.copy(), second.copy(), worth, by_second, by_first)


def decide(core: Core, target: int | None) -> tuple[int, States, int]:
    """Bound a core, and find the units that all selections of value >= `target` take, or that all drop.

    The result: the bound times ``core.scale``, below the scaled target if no selection reaches it, and about
    `IMPOSSIBLE` if none meets the length limits; the states of the units; the number of decided units.
    """
    state: NDArray[np.int8] = np.empty(core.size, np.int8)
    bound, moved = _decide(core.plain, grain_of(core), 0 if target is None else target, target is None, state)
    return int(bound), state, int(moved)


HUGE: Final = 1e30  # A limit that HiGHS takes for infinite.
# Positions of a column or a row: at its lower limit, in the basis, or at its upper limit.
BELOW: Final = 0
BETWEEN: Final = 1
ABOVE: Final = 2
_LARGEST: Final = 2.0**61  # Largest multiplier.
_CLOSE: Final = 1e-6
_LARGE: Final = 50_000  # Entries above which a relaxation is solved in a separate thread, so that Ctrl-C can end it.
_ANY: Final = 2**62
_LONG: Final = 12  # Average number of members beyond which vetoing rows are written as differences.
_WHOLE: Final = 1e-7  # Distance from 0 or 1 within which a column of a unit is integral.
_SAME: Final = 1e-4  # Difference up to which the gain of a piece equals the price of its feature.
_MANY: Final = 8  # Average number of units of a feature from which chains are looked for.
_PAIRS: Final = 50_000_000  # Largest number of pairs of a feature and a unit among which chains are looked for.

Matrix: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Start, row and value of the entries, column by column."""


class LinearProgram(NamedTuple):
    """A linear maximization as the arrays that HiGHS takes."""

    # cost, lower, upper: (columns,)
    cost: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    # row_lower, row_upper: (rows,)
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    # start, place, value: the matrix, column by column; units come first
    start: NDArray[np.int32]
    place: NDArray[np.int32]
    value: NDArray[np.float64]
    size: int  # Number of units.
    most: IntArray | None  # (rows,): largest useful multiplier of each row, scaled; None if there are no limits.
    length_row: int
    # (features,): whether each feature has all units of the one before, so that its row has only the others
    # (`chains_of`); None if no feature has.
    holds: NDArray[np.bool_] | None = None


class Session:
    """A HiGHS object for one relaxation after another, because creating it takes longer than solving a small model."""

    def __init__(self) -> None:
        import highspy

        self._optimal = highspy.HighsModelStatus.kOptimal
        self._start()

    def _start(self) -> None:
        self.owner: object = None
        self.solved = 0
        self._timed, self._ends_at = False, inf
        self._basis: object = None
        self._solution: Any = None
        self._highs: Any = new_highs()
        # From some bases HiGHS with perturbed costs takes half a minute for what it does in .1 s without.
        options = {"presolve": "off", "solver": "simplex", "dual_simplex_cost_perturbation_multiplier": 0.0}
        for name, option in options.items():
            self._highs.setOptionValue(name, option)

    def load(self, program: LinearProgram, scale: int, owner: object) -> None:
        """Replace the model; `scale`: the fixed-point unit of the multipliers."""
        self.owner, self._program, self._scale, self._basis = owner, program, scale, None
        self._divisor = divisor_of(program.cost)
        self._highs.passModel(
            len(program.cost),
            len(program.row_lower),
            len(program.place),
            1,  # the matrix is given column by column
            1,  # minimize: HiGHS ends only minimizations at a bound, and a change of sense makes its basis useless
            0.0,
            program.cost / -self._divisor,
            program.lower,
            program.upper,
            program.row_lower,
            program.row_upper,
            program.start,
            program.place,
            program.value,
            np.zeros(len(program.cost), np.int32),  # every column continuous
        )

    def decide(self, state: States) -> None:
        every = np.arange(len(state), dtype=np.int32)
        lower, upper = (state == TAKEN).astype(np.float64), (state != DROPPED).astype(np.float64)
        self._highs.changeColsBounds(len(every), every, lower, upper)

    def at_most(self, length: int) -> None:
        row = self._program.length_row
        self._highs.changeRowBounds(row, self._program.row_lower[row], float(length))

    def multipliers(self, deadline: Deadline, enough: float = -inf) -> IntArray | None:
        """Solve from the last basis, and return scaled, rounded multipliers of the rows; None without a solution.

        At the deadline, or once the optimum is known to be at most `enough`, they are those of the last basis.
        """
        ends_at = -enough / self._divisor
        if ends_at != self._ends_at:
            self._ends_at = ends_at
            self._highs.setOptionValue("objective_bound", ends_at)
        self.solved += 1
        self._basis = None
        if len(self._program.value) > _LARGE:  # in a thread, so that Ctrl-C can end it
            ended, self._timed = False, True
            try:
                ended = run(self._highs, deadline)
            finally:
                if not ended:  # HiGHS is still running, and must be left alone
                    self._start()
            if not ended:
                return None
        else:
            if (left := deadline.left_s) < inf or self._timed:  # setting an option takes as long as a small model
                self._timed = left < inf
                self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)
            self._highs.run()
        status, solution = self._highs.getModelStatus(), self._highs.getSolution()
        self._solution = solution
        if status != self._optimal and not (solution.dual_valid and was_stopped(self._highs)):
            return None
        dual = np.abs(np.asarray(solution.row_dual)) * (self._scale * self._divisor)
        found: IntArray = np.rint(np.minimum(dual, _LARGEST)).astype(np.int64)
        if self._program.holds is not None:
            found = _unchained(found, self._program.holds)
        most = self._program.most
        return found if most is None else np.minimum(found, most)

    def solution(self) -> tuple[NDArray[np.float64], object] | None:
        """Return the value of each unit in the last solution, and its basis; None if there was none."""
        values = np.asarray(self._solution.col_value, np.float64)
        if len(values) < self._program.size:
            return None
        if self._basis is None:
            self._basis = self._highs.getBasis()
        return values[: self._program.size], self._basis

    def begin_at(self, basis: object) -> None:
        if basis is not None and basis is not self._basis:
            self._highs.setBasis(basis)

    def begin_near(self, columns: IntArray, rows: IntArray) -> None:
        """Start the first solution of a model at given positions of columns and rows, which need not form a basis."""
        import highspy

        status = highspy.HighsBasisStatus
        kinds = [status.kLower, status.kBasic, status.kUpper]  # as BELOW, BETWEEN and ABOVE number them
        basis = highspy.HighsBasis()
        basis.col_status, basis.row_status = [kinds[at] for at in columns], [kinds[at] for at in rows]
        basis.valid = basis.alien = True  # HiGHS completes an alien basis
        self._highs.setBasis(basis)

    def squeezed(self, target: float, least: int, deadline: Deadline) -> IntArray | None:
        """Return multipliers for the largest maximum length >= `least` for which the relaxation misses the target.

        The result is None if there is no such length. If the true maximum length does not bind, copies have no price,
        and the bound does not depend on the length. These multipliers are valid, too, and make it depend on the length.
        """
        row = self._program.length_row
        low, high = self._program.row_lower[row], self._program.row_upper[row]
        first, last = least, int(high)
        found = None
        while first < last and not deadline.passed:
            middle = (first + last) // 2
            self._highs.changeRowBounds(row, low, float(middle))
            multipliers = self.multipliers(deadline)
            value = -self._highs.getInfo().objective_function_value * self._divisor
            if multipliers is None or value >= target - _CLOSE:
                last = middle
            else:
                first, found = middle + 1, multipliers
        self._highs.changeRowBounds(row, low, high)
        return found


class _Pool(threading.local):
    """The HiGHS sessions of a thread: one for each depth of the search at which a new relaxation is built."""

    def __init__(self) -> None:
        self.sessions: list[Session] = []


POOL: Final = _Pool()


def _unchained(multipliers: IntArray, holds: NDArray[np.bool_]) -> IntArray:
    """Convert the multipliers of difference rows (`chains_of`) into multipliers of whole rows."""
    found, m = multipliers.copy(), len(holds)
    # The least value so far in each chain; ranks are lower in later chains, so that earlier chains have no effect.
    values, rank = np.unique(found[:m], return_inverse=True)
    down = m * np.cumsum(~holds)
    least = values[np.minimum.accumulate(rank.reshape(-1) - down) + down]
    found[:m] = least
    found[: m - 1] -= np.where(holds[1:], least[1:], 0)
    return found


@njit(cache=True)
def _model(core):
    """Return objective, upper limits and entries of the columns x, z, y, t; rows: features, length, items of costs."""
    _ids, lengths, mass, start, feature, count, table_start, table, _price, paid, _base, _low, _high, _scale, _ties = (
        core
    )
    cost_start, cost, cost_count, _cost_share, cost_weight, cost_step = paid
    n, m, units, costs = len(mass), len(table_start) - 1, len(lengths), len(cost_weight)
    most = n + len(table) + costs + len(cost)  # columns; arrays are cut to their true lengths at the end
    worth, upper, first = np.empty(most, np.float64), np.ones(most, np.float64), np.empty(most + 1, np.int32)
    most = len(feature) + units + len(table) + 3 * len(cost)
    index, value = np.empty(most, np.int32), np.empty(most, np.float64)
    at = 0
    for i in range(n):
        first[i] = at
        worth[i] = mass[i]
        for k in range(start[i], start[i + 1]):
            index[at] = feature[k]
            value[at] = count[k]
            at += 1
        if i < units:
            index[at] = m
            value[at] = lengths[i]
            at += 1
        for k in range(cost_start[i], cost_start[i + 1]):
            index[at] = m + 1 + k
            value[at] = 1.0
            at += 1
    c = n
    for f in range(m):
        last = np.int64(-1)
        for t in range(table_start[f] + 1, table_start[f + 1]):
            step = table[t] - table[t - 1]
            if step > 0 and step != last:
                first[c] = at
                worth[c] = step
                index[at] = f
                value[at] = -1.0
                at += 1
                c += 1
                last = step
            elif step > 0:
                upper[c - 1] += 1.0
    place = np.zeros(costs + 1, np.int64)
    for k in range(len(cost)):
        place[cost[k] + 1] += 1
    for g in range(costs):
        first[c] = at + place[g]
        worth[c] = -cost_weight[g] * cost_step[g]
        place[g + 1] += place[g]
        c += 1
    for k in range(len(cost)):
        index[at + place[cost[k]]] = m + 1 + k
        value[at + place[cost[k]]] = -1.0
        place[cost[k]] += 1
    at += len(cost)
    for k in range(len(cost)):
        if cost_count[k] < cost_step[cost[k]]:
            first[c] = at
            worth[c] = -cost_weight[cost[k]] * cost_count[k]
            index[at] = m + 1 + k
            value[at] = -1.0
            at += 1
            c += 1
    first[c] = at
    return worth[:c], upper[:c], first[: c + 1], index[:at], value[:at]


def linear_program(core: Core) -> LinearProgram | None:
    """Return the linear relaxation of a core; None if it has no features, costs or rows, hence no multipliers."""
    m, costs, ties = len(core.price), core.costs, core.ties
    if not m and not len(costs.weight) and not len(ties.rows.unit):
        return None
    cost, upper, start, place, value = _model(core.plain)
    matrix = start, place, value
    lower = np.zeros(len(cost))
    chains = None if core.tied else chains_of(core)
    if chains is not None:
        matrix = with_chains(core, *chains, matrix)
    rows = m + 1 + len(costs.cost)
    row_lower, row_upper = np.zeros(rows), np.full(rows, HUGE)
    row_lower[m + 1 :] = -HUGE
    row_upper[m + 1 :] = 0.0
    row_lower[m] = core.low if core.low > 0 else -HUGE
    row_upper[m] = core.high
    most = None
    if len(costs.cost) or core.tied:
        most = np.full(rows, _ANY)
        most[m + 1 :] = costs.weight[costs.cost] * costs.copies * core.scale
    if core.tied:
        model = LinearRows()
        model.count = rows
        spans = _add_rows(core, model, len(cost))
        children = np.flatnonzero(ties.parent >= 0)
        block = np.arange(len(children))
        model.add(block, children, np.ones(len(children), np.int64))
        model.add(block, ties.parent[children], np.full(len(children), -1))
        model.close(len(children), -HUGE, 0.0)
        more = np.zeros(spans), np.full(spans, -HUGE), np.full(spans, HUGE)
        cost, lower, upper = (np.append(old, new) for old, new in zip((cost, lower, upper), more, strict=True))
        column = np.concatenate([packed_rows(start), *model.column])
        row, value = np.concatenate([matrix[1], *model.row]), np.concatenate([matrix[2], *model.value])
        matrix = _by_column(column, row, value, len(cost))
        row_lower, row_upper = np.concatenate([row_lower, *model.lower]), np.concatenate([row_upper, *model.upper])
        # Prices are limited: of a feature to its first gain, of a row to the largest gain of its members.
        slope, gain, of_rows = first_gains(core.table_start, core.table), core.mass.clip(0), ties.rows.unit * 0
        np.add.at(gain, packed_rows(core.start), slope[core.feature] * core.count)
        np.maximum.at(of_rows, ties.rows.row, gain[core.size + ties.rows.joint])
        most = np.concatenate([most, of_rows * core.scale, np.full(model.count - rows - len(of_rows), _ANY)])
        most[:m] = slope * core.scale
    return LinearProgram(
        cost, lower, upper, row_lower, row_upper, *matrix, core.size, most, m, None if chains is None else chains[0]
    )


def _by_column(column: IntArray, row: IntArray, value: NDArray[Any], columns: int) -> Matrix:
    start, order = grouped(column, columns)
    return start.astype(np.int32), row[order].astype(np.int32), value[order].astype(np.float64)


def _add_rows(core: Core, model: LinearRows, span_column: int) -> int:
    """Add the rows of the joints; return the number of columns that represent members of long rows."""
    rows, joint_column = core.ties.rows, core.size
    count = len(rows.unit)
    tied = rows.unit >= 0
    vetoing = tied & (rows.sign == VETO)
    members = np.bincount(rows.row, minlength=count)
    chained = vetoing if vetoing.any() and members[vetoing].mean() > _LONG else np.zeros(count, np.bool_)
    spelled = ~chained[rows.row]
    model.add(rows.row[spelled], joint_column + rows.joint[spelled], np.ones(int(spelled.sum()), np.int64))
    numbers = np.flatnonzero(tied)
    model.add(numbers, rows.unit[numbers], np.where(rows.sign[numbers] == NEED, -1, 1))
    chain = np.flatnonzero(chained)[np.argsort(rows.unit[chained], kind="stable")]
    place = np.arange(len(chain))
    model.add(chain, span_column + place, np.ones(len(chain), np.int64))
    model.close(count, -HUGE, np.where(tied & (rows.sign == NEED), 0.0, 1.0))
    if not len(chain):
        return 0
    model.add(place, span_column + place, np.ones(len(chain), np.int64))
    model.add(place[1:], span_column + place[:-1], np.full(len(chain) - 1, -1))
    member = np.zeros((len(chain), core.joints), np.int8)
    place_of = np.full(count, -1, np.int64)
    place_of[chain] = place
    member[place_of[rows.row[~spelled]], rows.joint[~spelled]] = 1
    at, joint = np.nonzero(change := np.diff(member, axis=0, prepend=np.int8(0)))
    model.add(at, joint_column + joint, -change[at, joint].astype(np.int64))
    model.close(len(chain), 0.0, 0.0)
    return len(chain)


def priced(core: Core, multipliers: IntArray) -> Core:
    """Return a core with the multipliers of its relaxation as prices of features and rows, and as shares of costs."""
    m = len(core.price)
    shares = m + 1 + len(core.costs.cost)
    core = core._replace(price=multipliers[:m], costs=core.costs._replace(share=multipliers[m + 1 : shares]))
    if core.tied:
        rows = core.ties.rows._replace(price=multipliers[shares : shares + len(core.ties.rows.unit)])
        core = core._replace(ties=core.ties._replace(rows=rows))
    return core


def columns_and_rows(
    core: Core, program: LinearProgram, values: NDArray[np.float64]
) -> tuple[IntArray, IntArray] | None:
    """Return likely positions of a relaxation's columns and rows in an optimum; None with costs, chains or ties.

    They follow from a core's prices and `values`, the column of each unit in an earlier solution. A piece with a gain
    above its feature's price is full, with a gain below it empty; a feature without a price has spare copies. After a
    reduction, most positions agree with the optimal basis.
    """
    n, m = core.size, len(core.price)
    if core.tied or len(core.costs.cost) or program.holds is not None:
        return None
    columns = np.full(len(program.cost), BETWEEN)
    columns[:n][values < _WHOLE] = BELOW
    columns[:n][values > 1.0 - _WHOLE] = ABOVE
    dearer = program.cost[n:] - core.price[program.place[program.start[n:-1]]] / core.scale
    columns[n:][dearer < -_SAME] = BELOW
    columns[n:][dearer > _SAME] = ABOVE
    rows = np.full(m + 1, ABOVE)  # the length is used up
    rows[:m] = np.where(core.price > 0, BELOW, BETWEEN)
    return columns, rows


def chains_of(core: Core) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return masks of features with all units of the feature before, and of entries that their rows omit; or None."""
    m, n = len(core.table_start) - 1, core.size
    if len(core.feature) < _MANY * m or m * n > _PAIRS or core.count.max(initial=1) > 1:
        return None
    unit = packed_rows(core.start)
    inside = np.zeros((m, n), np.bool_)
    inside[core.feature, unit] = True
    once = np.diff(core.table_start) == 2
    holds = np.zeros(m, np.bool_)
    holds[1:] = once[1:] & once[:-1] & ~(inside[:-1] & ~inside[1:]).any(axis=1)
    return (holds, holds[core.feature] & inside[core.feature - 1, unit]) if holds.any() else None


def with_chains(core: Core, holds: NDArray[np.bool_], saved: NDArray[np.bool_], matrix: Sequence[Any]) -> Matrix:
    """Return the matrix of a core's relaxation in which features of chains have only their new units (`chains_of`)."""
    start, row, value = matrix
    columns, n, m = len(start) - 1, core.size, len(holds)
    column = packed_rows(start)
    keep = np.ones(len(row), np.bool_)
    keep[np.flatnonzero((column < n) & (row < m))[saved]] = False  # the core's entries, in their order
    gain = np.flatnonzero((column >= n) & (row < m))
    gained = np.zeros(m, np.int64)  # the column z of each feature
    gained[row[gain]] = column[gain]
    later = np.flatnonzero(holds)
    more = np.concatenate([row[keep], later]), np.concatenate([value[keep], np.ones(len(later))])
    return _by_column(np.concatenate([column[keep], gained[later - 1]]), *more, columns)
