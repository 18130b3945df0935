"""Exact search of one program for its optima, or for all sets that reach a value.

The root relaxation gives prices, and the prices give an integer bound. Then targets are tried from the bound downwards:
all sets that reach the target are enumerated, and the first target with any set gives exactly the optima. If values are
large numbers (weighted gains), the optimum is bracketed first, by searches that stop at one set.

A subtree is searched with a limited number of frames, the nodes of the depth-first search. If they do not suffice, it
is split at a unit, and each half gets its own prices, which tightens the bounds. This helps if most frames fail. If
most frames become diagram nodes, the halves would share less, so the search continues with a larger memo while many do.
If the bound does not depend on the length (`is_flat`), splitting does not help but merging does, so the search
continues with a growing memo.

Relaxations are warm-started: a subtree uses the model of an ancestor with changed bounds until the core is much
smaller, and starts from its parent's basis. The solution of a relaxation ends once it is known to miss the target.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from math import floor, inf
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.errors import UnsupportedError
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram
from optsum.optima.optima import Optima
from optsum.system.clock import Deadline, Limits, Stopped, Termination, clock
from optsum.system.compiled import njit

from .bound import (
    IMPOSSIBLE,
    POOL,
    Session,
    bounds_of_seams,
    columns_and_rows,
    decide,
    evaluated,
    grain_of,
    linear_program,
    priced,
)
from .core import DROPPED, FREE, TAKEN, Core, Program, States, core_of, lean, reduced, skips, widths
from .search import DONE, FOUND, PAUSED, NodeStore, Search, filled_up, good_set, polished, shaken

_WHOLE: Final = 0.02  # Added to the fractionality of a unit (0 to 0.5), so that integral units have a weight, too.
_CLOSE: Final = 24  # Largest number of units in a group of trees that stays together because of common joints.


@njit(cache=True)
def _weights(core):
    """Return weights <= 0 of units for `branching_order`: the lower, the looser the bound while a unit is undecided."""
    _ids, lengths, mass, start, feature, count, table_start, table, price, costs, _base, _low, _high, scale, ties = core
    cost_start, cost, cost_count, cost_share, cost_weight, _cost_step = costs
    parent, need_joint, need_unit, _vj, veto_unit, _ru, _rs, _rp, _row, _joint = ties
    n, m = len(lengths), len(price)
    copies = np.zeros(m, np.int64)
    for k in range(len(feature)):
        copies[feature[k]] += count[k]
    weight = np.zeros(m, np.float64)
    margin = scale // 100
    for f in range(m):
        if price[f] > margin and price[f] < table[table_start[f] + 1] * scale - margin:
            weight[f] = np.sqrt(price[f] / scale) / copies[f] ** 0.75
    shared, holders = np.zeros(len(cost_weight), np.float64), np.zeros(len(cost_weight), np.int64)
    for k in range(len(cost)):
        shared[cost[k]] += cost_share[k]
        holders[cost[k]] += cost_count[k]
    for g in range(len(cost_weight)):
        shared[g] = np.sqrt(shared[g] / scale) / holders[g] ** 0.75 if shared[g] > margin else 0.0
    out = np.empty(len(mass), np.float64)
    for i in range(len(mass)):
        total = 0.05
        for k in range(cost_start[i], cost_start[i + 1]):
            total += shared[cost[k]] * cost_count[k]
        for k in range(start[i], start[i + 1]):
            total += weight[feature[k]] * count[k]
        out[i] = total
    if len(parent):
        # Units without any effect on the value can wait: their weight is 0.
        touched = np.zeros(n, np.bool_)
        for k in range(len(need_unit)):
            touched[need_unit[k]] = True
            out[need_unit[k]] += out[n + need_joint[k]]
        for k in range(len(veto_unit)):
            touched[veto_unit[k]] = True
        for i in range(n):
            idle = start[i] == start[i + 1] and cost_start[i] == cost_start[i + 1] and mass[i] == 0
            if idle and not touched[i]:
                out[i] = 0.0
    for i in range(n):
        out[i] *= -np.sqrt(max(lengths[i], 1))
    return out[:n]


@njit(cache=True)
def _root_of(group, a):
    while group[a] != a:
        group[a] = group[group[a]]
        a = group[a]
    return a


@njit(cache=True)
def _trees(weight, parent, joint, unit, joints):
    """Return the tree of each unit, the least weight in each, and groups of trees that share joints (`joint`, `unit`).

    The last three results are the group of each unit, and the number of units and the least weight of each group.
    """
    n = len(parent)
    tree, heaviest = np.empty(n, np.int64), np.zeros(n, np.float64)
    for i in range(n):
        tree[i] = i if parent[i] < 0 else tree[parent[i]]
        heaviest[tree[i]] = min(heaviest[tree[i]], weight[i])
    group, first = np.arange(n), np.full(joints, -1, np.int64)
    for k in range(len(joint)):
        if first[joint[k]] < 0:
            first[joint[k]] = tree[unit[k]]
        a, b = _root_of(group, first[joint[k]]), _root_of(group, tree[unit[k]])
        group[max(a, b)] = min(a, b)
    root, total, top = np.empty(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.float64)
    for i in range(n):
        root[i] = _root_of(group, tree[i])
        total[root[i]] += 1
        top[root[i]] = min(top[root[i]], heaviest[tree[i]])
    return tree, heaviest, root, total, top


def branching_order(core: Core) -> tuple[IntArray, int]:
    """Return the units in the order of decision, and the unit to branch on if the core is split.

    Units that tighten the bound of the rest most come first. The Lagrangian bound is loose on features whose price is
    strictly between 0 and the gain of the first copy, because they are paid for in part in every case. Long units with
    many copies of such features come first. A copy has the weight ``sqrt(price) / copies^(3/4)`` of its feature, and
    the sum is multiplied by the root of the length; the exponents were found by trial on the hardest real instances,
    where this order takes an eighth of the time of "length times fractionality of the relaxation". Costs shared among
    several units count as such features, and joints count with the units that they need.

    With ties, trees follow one another, the heaviest first, with parents before children. Small groups of trees that
    share joints are adjacent, so that joints are decided early.
    """
    weights = _weights(core.plain)
    if not core.tied:
        order = np.argsort(weights, kind="stable")
        return order, int(order[0]) if core.size else -1
    ties = core.ties
    joint, unit = np.append(ties.need_joint, ties.veto_joint), np.append(ties.need_unit, ties.veto_unit)
    tree, heaviest, root, total, top = _trees(weights, ties.parent, joint, unit, core.joints)
    close = total[root] <= _CLOSE
    first = np.where(close, top[root], heaviest[tree])
    group = np.where(close, root, tree)
    order = np.lexsort((np.arange(core.size), tree, heaviest[tree], group, first))
    return order.astype(np.int64), int(np.argmin(weights)) if core.size else -1


def above(core: Core, unit: int) -> IntArray:
    chain = [unit]
    while core.tied and core.ties.parent[chain[-1]] >= 0:
        chain.append(int(core.ties.parent[chain[-1]]))
    return np.array(chain)


def below(core: Core, unit: int) -> IntArray:
    return np.arange(unit, int(skips(core.ties.parent)[unit])) if core.tied else np.array([unit])


def is_flat(core: Core) -> bool:
    """Return whether no unit has a positive profit, so that the bound is the same for every length.

    If all gains fit into the summary with room to spare, copies have no price: the bound only cuts selections that miss
    a gain, and new multipliers for subtrees would not change that. Prices that depend on the length help
    (`bound.Session.squeezed`), and so does merging of equal states in the order `frontier_order`.
    """
    return not (evaluated(core.plain)[1] > 0).any()


def frontier_order(core: Core) -> IntArray:
    """Return the units in an order for merging: tree by tree, so that few features are open at a time.

    A feature is open while some trees with it are decided and some are not. The next tree is the one with the fewest
    features that it opens, minus those that it closes.
    """
    n, ties = core.size, core.ties
    tree = np.arange(n)
    for unit in np.flatnonzero(ties.parent >= 0):
        tree[unit] = tree[ties.parent[unit]]
    item_tree = np.concatenate([tree, np.full(core.joints, -1)])
    item_tree[n + ties.need_joint] = tree[ties.need_unit]
    item_tree[n + ties.veto_joint] = tree[ties.veto_unit]  # a joint of several trees counts with one of them
    features = len(core.price)
    held: dict[int, set[int]] = {int(root): set() for root in np.flatnonzero(tree == np.arange(n))}
    for start, feature, shift in ((core.start, core.feature, 0), (core.costs.start, core.costs.cost, features)):
        for root, each in zip(np.repeat(item_tree, widths(start)).tolist(), (feature + shift).tolist(), strict=True):
            held[root].add(each)
    holding: list[list[int]] = [[] for _ in range(features + len(core.costs.weight))]
    for root, features_of in held.items():
        for f in features_of:
            holding[f].append(root)
    holders = list(map(len, holding))
    waiting = holders.copy()

    def cost_of(root: int) -> tuple[int, int, int]:
        opened = sum(waiting[f] == holders[f] > 1 for f in held[root])
        closed = sum(waiting[f] == 1 < holders[f] for f in held[root])
        return opened - closed, opened, root

    cost = {root: cost_of(root) for root in held}
    heap = sorted(cost.values())
    place: dict[int, int] = {}
    while heap:
        now = heappop(heap)
        root = now[2]
        if cost.get(root) != now:  # an outdated entry
            continue
        place[root] = len(place)
        del cost[root]
        for f in held[root]:
            waiting[f] -= 1
        changed = {f for f in held[root] if waiting[f] + 1 == holders[f] or waiting[f] == 1}
        for other in {other for f in changed for other in holding[f] if other in cost}:
            cost[other] = cost_of(other)
            heappush(heap, cost[other])
    return np.lexsort((np.arange(n), np.array([place[root] for root in tree.tolist()], np.int64))).astype(np.int64)


_NARROW: Final = 64  # Largest gap between bound and good set at which an enumeration tries targets one by one.
_NEAR: Final = 500  # A gap is small if it is less than the bound divided by this number.
_SHORT: Final = 7  # Number of splits up to which a search is too short to look for good sets, too.
_CLEAR: Final = 655  # Distance below a target at which a relaxation stops, scaled; more than rounded prices can lose.
_NODE_BYTES: Final = 400  # Memory (bytes) of a diagram node, with everything that is computed from it.
_SMALL_MEMO: Final = 1 << 15
_MEMO: Final = 1 << 18
_PATIENT_MEMO: Final = 1 << 16
_LARGEST_MEMO: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class Effort:
    """The numbers of frames that the search of one subtree may use before it is split."""

    # start, first: frames before the memo grows, and before the search must be fruitful to continue
    start: int = 300
    first: int = 1_500
    # slice, longest: frames between two checks of the limits, and frames after which a search is split in any case
    slice: int = 100_000
    longest: int = 150_000
    fruitful: float = 0.3  # share of the frames that must become nodes for the search to continue
    deepest: int = 200  # depth of splits at which searches are no longer split
    # patient, patient_slice, patient_fruitful: `longest`, `slice` and `fruitful` for bounds independent of the length
    patient: int = 600_000
    patient_slice: int = 60_000
    patient_fruitful: float = 0.1
    shrink: float = 1.6  # factor by which a core must become smaller for a new relaxation
    # brief, brief_shrink: `start` and `shrink` for one set after many splits, where relaxations matter more than frames
    brief: int = 100
    brief_shrink: float = 2.5

    def run(self, search: Search, check: Callable[[], None], *, endless: bool, brief: bool = False) -> int:
        """Run a search until it ends or, unless `endless`, has used up its frames; `check` may raise `Stopped`."""
        check()
        answer = search.run(min(self.start, self.brief) if brief else self.start)
        if answer != PAUSED or (brief and not endless):
            return answer
        search.grow_memo(_SMALL_MEMO)
        answer = search.run(self.first - self.start)
        while answer == PAUSED and (
            endless or (search.frames < self.longest and search.fruitful > self.fruitful * search.frames)
        ):
            check()
            search.grow_memo(_MEMO)
            answer = search.run(self.slice)
        return answer

    def run_far(self, search: Search, check: Callable[[], None], frames: int) -> int:
        """Run a search for `frames` frames, and further while it finds many sets; `check` may raise `Stopped`."""
        slots = _PATIENT_MEMO
        answer = PAUSED
        while answer == PAUSED and (search.frames < frames or search.fruitful > self.patient_fruitful * search.frames):
            check()
            while slots < min(_LARGEST_MEMO, 4 * search.frames):
                slots *= 2
            search.grow_memo(slots)
            answer = search.run(self.patient_slice)
        return answer


@dataclass
class Statistics:
    """Counts and times of the search of one program, or of several programs."""

    levels: int = 0
    nodes: int = 0  # frames of the depth-first search
    merged: int = 0  # frames that met an equal state
    relaxations: int = 0
    splits: int = 0
    core: int = 0  # undecided units after fixing at the root, last target
    diagram: int = 0
    # by phase: ``total``, ``relaxation``, ``search``
    seconds: dict[str, float] = field(default_factory=lambda: {"total": 0.0, "relaxation": 0.0, "search": 0.0})

    def add(self, other: Statistics) -> None:
        """Add the statistics of a part of the run; `core` is the largest of all parts."""
        for name, value in vars(other).items():
            if name == "core":
                self.core = max(self.core, other.core)
            elif name != "seconds":
                setattr(self, name, getattr(self, name) + value)
        for phase, seconds in other.seconds.items():
            self.seconds[phase] += seconds


_REHEARSAL_S: Final = 10.0  # Time limit (s) of a search that only compiles kernels; compiling itself does not count.


@contextmanager
def rehearsal() -> Iterator[Deadline]:
    """Provide the deadline of a search that only compiles kernels; Ctrl-C, which ends the search, is raised again."""
    deadline = Deadline(_REHEARSAL_S)
    with suppress(Stopped):
        yield deadline
    if deadline.reason == "interrupted":
        raise KeyboardInterrupt


class Budget:
    """The limits and the progress of a search; the search of each program has a budget of its own (`Driver`).

    `limits`: the limits of nodes (frames of a search) and of memory; the deadline limits the time. `programs`: number
    of searched programs. `corners`: number of examined corners of boxes of denominators. The limit of nodes holds for
    each of the two as well.
    """

    def __init__(self, limits: Limits | None = None, deadline: Deadline | None = None) -> None:
        self._started = clock()
        self.limits = limits or Limits()
        self.deadline = deadline or Deadline(self.limits.time_s)
        self.statistics = Statistics()
        self.programs = self.corners = 0

    def check(self, memory: int = 0) -> None:
        """Raise `Stopped` if a limit is reached; `memory`: bytes of the answer."""
        self.deadline.check()
        # Programs and corners count as nodes, so that a limit also ends searches of many programs without nodes.
        done = max(self.programs, self.corners, self.statistics.nodes)
        if self.limits.nodes is not None and done >= self.limits.nodes:
            raise Stopped(Termination.NODE_LIMIT)
        if memory > self.limits.memory:
            raise Stopped(Termination.MEMORY_LIMIT)

    def finish(self) -> Statistics:
        self.statistics.seconds["total"] = clock() - self._started
        return self.statistics

    def as_dict(self) -> dict[str, Any]:
        found = self.finish()
        return {**({"programs": self.programs} if self.programs else {}), **vars(found), "seconds": dict(found.seconds)}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure the time of a phase; Ctrl-C during the phase ends every search that has the same deadline."""
        started = clock()
        try:
            yield
        except KeyboardInterrupt:
            self.deadline.interrupt()
            raise Stopped(Termination.INTERRUPTED) from None
        finally:
            self.statistics.seconds[name] += clock() - started


T = TypeVar("T")
DEFAULT: Final = Effort()  # The quickest setting on topics of all kinds.


@dataclass(frozen=True, slots=True)
class Subtree:
    """A subtree of the search of a program: the states of its units, and the start of its relaxation."""

    # relaxed, rank: the core whose relaxation gives prices, and the number of this relaxation in the pool
    relaxed: Core
    rank: int
    state: States  # of all units of the program
    depth: int  # number of splits that led to the subtree
    basis: object = None  # basis of the relaxation in the parent subtree, if it is the same relaxation
    near: NDArray[np.float64] | None = None  # value of each unit in the previous relaxation, for a new relaxation

    def decided(self, free: IntArray, taken: list[int]) -> None:
        """Record decisions in `state`: `free` units stay undecided, `taken` units are chosen, others are dropped."""
        gone = self.state == FREE
        gone[free] = False
        self.state[gone] = np.int8(DROPPED)
        self.state[taken] = np.int8(TAKEN)


class Driver(Budget):
    """The search of one program.

    `limits`: limits of nodes (frames), memory and, without a deadline, time. `root`: the program's root with prices and
    its divisor, if known. `one`: whether only one optimum is searched. `upper`: bound of the root, which the caller
    lowers when targets fail. `met`: the best set found at splits of a search, for any target, and its value. `short`:
    whether the nodes allowed by `hold` are used up.
    """

    def __init__(
        self,
        program: Program,
        limits: Limits,
        deadline: Deadline | None = None,
        effort: Effort = DEFAULT,
        *,
        root: tuple[Core, int] | None = None,
        one: bool = False,
    ) -> None:
        super().__init__(limits, deadline)
        self._effort = effort
        self.program, self._size = program, program.size
        self._solved = -1
        self._seen: tuple[NDArray[np.float64], object] | None = None
        self._stopped: Stopped | None = None
        self._until, self.short = inf, False
        self.met: tuple[tuple[int, ...], int] | None = None
        self._core, self.divisor = core_of(program, self.deadline) if root is None else root
        self._most: int | None = None  # value of gaining everything, if a set that does so ends the search
        if one and not self._core.tied and self._core.low <= 0:
            _alone, profit, *_others, slack = evaluated(self._core.plain)
            self._most = int(slack + np.maximum(profit, 0).sum()) // self._core.scale
        if self._core.high >= 0 and grain_of(self._core) > 1 and self._core.low > 0:
            raise UnsupportedError(
                f"With a minimum length, branch-and-bound needs a table of {self._core.size} units by "
                f"{self._core.high} lengths, which is too large: measure the length in words, or use the strategy milp."
            )
        self.store = NodeStore()
        self._greedy: tuple[tuple[int, ...], int] | None = None
        if self._most is not None and root is None and self._core.high >= 0:
            self._greedy = filled_up(self._core, from_knapsack=False)
            if self._greedy[1] >= self._most:
                self._root, self.feasible, self.upper = self._core, True, self._greedy[1]
                return
        self._root = self._core
        if root is None and self._core.high >= 0:
            with self.phase("relaxation"):
                session = self._session(self._core, 0)
                if session is not None and (found := session.multipliers(self.deadline)) is not None:
                    self._root = priced(self._core, found)
                self._solved = -1 if session is None else session.solved
        bound = decide(self._root, None)[0] if self._core.high >= 0 else IMPOSSIBLE
        self.feasible = bound > IMPOSSIBLE // 2
        self.upper = bound // self._core.scale if self.feasible else 0

    def all_of(self, target: int) -> tuple[int, Termination | None]:
        """Enumerate all sets of value >= `target`.

        The result: a node of `store`; None if it has all of these sets, otherwise the limit that was reached.
        """
        self._stopped = None
        found: tuple[int, ...] | None = None
        if self._core.tied:  # a search for one set, without units that have no effect, is quicker, and may find none
            try:
                found = self.one_of(target)
            except Stopped as stopped:
                return EMPTY_FAMILY, stopped.termination
            if found is None:
                return EMPTY_FAMILY, None
        else:
            self.statistics.levels += 1
        node = self._explore(self._whole(), target, root=True)
        if node == EMPTY_FAMILY and found is not None:  # stopped before the known set was found again
            node = self.store.add_all(list(found), EMPTY_SET)
        return node, self._reason()

    def _reason(self) -> Termination | None:
        return None if self._stopped is None else self._stopped.termination

    def one_of(self, target: int) -> tuple[int, ...] | None:
        found: list[tuple[int, ...]] = []
        self.rising(target, found.append)
        return found[0] if found else None

    def rising(
        self, target: int, judge: Callable[[tuple[int, ...]], int | None], undone: Sequence[States] = ()
    ) -> list[States]:
        """Find sets of value >= `target` in one search, raising the target after each set, until no set reaches it.

        `judge`: called with a set that reaches the target, returns the next target, which this set must miss; None ends
        the search. `undone`: the subtrees to search, left by an earlier search of this program or of one that bounds
        it; by default the whole tree. The result: the remaining subtrees if `judge` ended the search; otherwise it is
        empty, and no set reaches the last target.
        """
        self.statistics.levels += 1
        left = [Subtree(self._core, 0, state, 0) for state in undone] or [self._whole()]
        root = not undone
        while left:
            now = left.pop()
            core: Core | None = self._opened(now, target, root=root)
            first, root, answer = root, False, FOUND
            while answer == FOUND and core is not None:
                tied = core.tied
                core, taken = self._fixed(lean(core) if tied else core, target)
                if core is None:
                    break
                core = lean(core) if tied else core
                if now.depth == 0:
                    self.statistics.core = core.size
                now.decided(core.ids, taken)
                brief = self.statistics.splits > _SHORT
                found = self._meet(core, now, target) if brief else None
                if found is None:
                    order, unit = branching_order(core)
                    search = Search(core, order, target, self.store, first_only=True)
                    answer = self._run(search, now.depth, brief=brief)
                    if answer == PAUSED and is_flat(core):
                        core, taken = self._squeezed(now, core, target)
                        if core is None:
                            break
                        now.decided(core.ids, taken)
                        order, unit = branching_order(core)
                        search = Search(core, order, target, self.store, first_only=True)
                        answer = self._run(search, now.depth, brief=brief)
                    found = search.path() if answer == FOUND else None
                if found is not None:
                    following = judge((*np.flatnonzero(now.state == TAKEN).tolist(), *found))
                    if following is None:
                        return [each.state for each in [*left, now]]
                    target = following
                elif answer != DONE:
                    self.statistics.splits += 1
                    left += self._halves(now, core, unit, root=first, brief=brief)
        return []

    def guess(self, exchanges: int = 0) -> tuple[tuple[int, ...], int]:
        """Return a good set and its value; the set is improved by exchanges of units if at most `exchanges` exist."""
        core, greedy = self._root, self._greedy
        if greedy is not None and greedy[1] >= self.upper:
            return greedy
        if self._most is not None and self.upper >= self._most:
            units, value = good_set(core, greedy)
            return (units, value) if value >= self.upper else shaken(core, units, self.upper)
        found = polished(core, exchanges) if exchanges else None
        return found or good_set(core, greedy)

    def seams(self, target: int) -> set[tuple[int, ...]] | None:
        """Return the units of each joint that may be active in a set of value >= `target`; None if all may be."""
        found = bounds_of_seams(self._root) if self._root.joints else None
        if found is None:
            return None
        ends, bounds = found
        return set(map(tuple, self._root.ids[ends[bounds >= target * self._root.scale]].tolist()))

    def optima(
        self,
        bottom: int,
        *,
        every: bool,
        at_most: Fraction | None = None,
        start: tuple[int, ...] | None = None,
    ) -> Optima:
        """Search one optimum, or all, of the program's value divided by `bottom`.

        `at_most`, `start`: for one optimum, a bound of the quotient, and a known feasible set. If a limit is reached
        although the optimum is known, value and bound are equal, and the sets are some of the optima. If it is not
        known, there is at most one set, a good one.
        """
        if not self.feasible:
            return Optima(Diagram.of_sets([]), 0, 0, statistics=self.as_dict())
        if at_most is not None:
            self.upper = min(self.upper, (floor(at_most * bottom) - self.program.base) // self.divisor)
        lowest, upper, node = self.aim(self.program.floor), self.upper, EMPTY_FAMILY
        guess: tuple[int, ...] | None = None
        value, termination = lowest - 1, Termination.COMPLETED
        if not every or upper > _NARROW:
            guess, value = self.guess()
            if start is not None and (known := self.value_of(start)) >= value:
                guess, value = start, known
            if not every or upper - value > _NARROW:
                begun = (guess, value) if value >= lowest else (None, lowest - 1)
                guess, value, upper, termination = self.closed(*begun)
        while every and termination is Termination.COMPLETED and node == EMPTY_FAMILY and upper >= lowest:
            node, reason = self.all_of(upper)
            if reason is not None:
                termination = reason
            elif node == EMPTY_FAMILY:
                upper -= 1
        if termination is Termination.COMPLETED and node == EMPTY_FAMILY and (every or guess is None):
            return Optima(Diagram.of_sets([]), 0, 0, statistics=self.as_dict())  # no set satisfies all rows
        if node != EMPTY_FAMILY:
            value = upper
        elif value < lowest:
            guess, value = self.guess()
        key, bound = (Fraction(self.worth(each), bottom) for each in (value, upper))
        statistics = self.as_dict()
        if node != EMPTY_FAMILY:
            diagram = self.store.diagram(node)
        else:
            diagram = Diagram.of_sets([guess or ()] if value >= lowest else [])
        if every:
            statistics["diagram"] = len(diagram.nodes)
        return Optima(
            diagram,
            key if value >= lowest else 0,
            bound,
            complete=termination is Termination.COMPLETED,
            termination=termination.value,
            statistics=statistics,
        )

    def closed(
        self, selection: tuple[int, ...] | None, value: int
    ) -> tuple[tuple[int, ...] | None, int, int, Termination]:
        """Search for better sets until none exists or a limit is reached; return set, value, bound and termination.

        `selection`, `value`: a known set and its value, or None and a value that sets must exceed. Bounds are usually
        nearer to the optimum than greedy sets, so targets begin near the bound; each one that no set reaches doubles
        the step to the next.
        """
        upper = self.upper
        step = max(1, (upper - value) // 16)

        def judge(units: tuple[int, ...]) -> int | None:
            nonlocal selection, value
            selection, value = units, self.value_of(units)
            return None if value >= upper else value + 1

        try:
            while value < upper:
                # If the gap is small, all targets take about the same time.
                quarter = (upper - value) // 4 if (upper - value) * _NEAR < upper else 0
                most = (upper - value) // 2 + 1 if self.met is not None else upper - value
                target = max(value + 1, upper - min(max(step, quarter), most) + 1)
                self.rising(target, judge)
                if value < target:
                    upper = target - 1
                    step *= 2
                else:
                    upper = value
                if self.met is not None and self.met[1] > value:
                    judge(self.met[0])
        except Stopped as stopped:
            if self.met is not None and self.met[1] > value:
                selection, value = self.met
            return selection, value, upper, stopped.termination
        return selection, value, value, Termination.COMPLETED

    def value_of(self, units: tuple[int, ...]) -> int:
        return reduced(self._core, np.isin(self._core.ids, units).astype(np.int8)).base

    def aim(self, value: int) -> int:
        """Return the least value of the core with which the program reaches `value`, or its floor if larger."""
        return -((self.program.base - max(value, self.program.floor)) // self.divisor)

    def worth(self, value: int) -> int:
        """Convert a value of the core to a value of the program."""
        return value * self.divisor + self.program.base

    def reaching(self, value: int) -> tuple[Diagram, Termination | None]:
        """Return all sets for which the program reaches a value, or some of them and the limit that was reached."""
        if not self.feasible:
            return Diagram.of_sets([]), None
        node, reason = self.all_of(self.aim(value))
        return self.store.diagram(node), reason

    def _whole(self) -> Subtree:
        return Subtree(self._core, 0, np.full(self._size, np.int8(FREE)), 0)

    def _explore(self, now: Subtree, target: int, *, root: bool = False) -> int:
        """Return the node of all sets of a subtree that reach the target, without the units of its earlier splits."""
        core, taken = self._fixed(self._opened(now, target, root=root), target)
        if core is None:
            return EMPTY_FAMILY
        if root:
            self.statistics.core = core.size
        order, unit = branching_order(core)
        search = Search(core, order, target, self.store, first_only=False)
        try:
            answer = self._run(search, now.depth)
            if answer != DONE and is_flat(core):
                core, also = self._squeezed(now, core, target)
                taken += also
                if core is None:
                    return EMPTY_FAMILY
                order, unit = branching_order(core)
                search = Search(core, frontier_order(core), target, self.store, first_only=False)
                answer = self._run(search, now.depth, far=True)
        except Stopped as stopped:
            self._stopped = stopped
            return self.store.add_all(taken, search.partial())
        if answer == DONE:
            return self.store.add_all(taken, search.root)
        self.statistics.splits += 1
        del search  # tables of searches at every depth would need most of the memory
        now.decided(core.ids, taken)
        nodes = [EMPTY_FAMILY, EMPTY_FAMILY]
        parts, chain = self._halves(now, core, unit, root=root, every=True), above(core, unit)
        try:
            while parts:
                part = parts.pop()
                took = bool(part.state[core.ids[unit]] == TAKEN)
                node = self._explore(part, target)
                # The unit itself is added by the node that joins both halves.
                nodes[took] = self.store.add_all(core.ids[chain[1:]].tolist(), node) if took else node
                if self._stopped is not None:
                    break
        except Stopped as stopped:
            self._stopped = stopped
        node = self.store.node(int(core.ids[unit]), nodes[0], nodes[1])
        return self.store.add_all(taken, node)

    def _opened(self, now: Subtree, target: int, *, root: bool) -> Core:
        if root:
            return self._root
        core, state = now.relaxed, now.state[now.relaxed.ids]
        enough = float(target - core.base) - _CLEAR / core.scale
        with self.phase("relaxation"):
            session = self._session(core, now.rank, now.near)
            if session is not None:
                session.begin_at(now.basis)
                session.decide(state)
                found = session.multipliers(self.deadline, enough)
                core = core if found is None else priced(core, found)
            return reduced(core, state)

    def _halves(
        self, now: Subtree, core: Core, unit: int, *, root: bool, every: bool = False, brief: bool = False
    ) -> list[Subtree]:
        """Return the two halves into which the rest of a subtree is split, at `unit` if `every` set is sought.

        If one set is sought, the weights of the units are multiplied by their fractionality in the relaxation, because
        a unit near 0 or 1 changes the bound of only one half. On topics of 700 sentences this needs half the
        relaxations; strong branching on eight of these units needs 15 % fewer still, but takes twice the time.
        """
        dropped, taken = below(core, unit), above(core, unit)
        sessions = POOL.sessions
        session = sessions[now.rank] if now.rank < len(sessions) and sessions[now.rank].owner is now.relaxed else None
        seen = None if session is None else session.solution()
        if root:
            if session is not None and session.solved == self._solved:
                self._seen = seen
            seen = self._seen
        if seen is not None:
            whole = np.zeros(self._size)
            whole[now.relaxed.ids] = seen[0]
            seen = whole[core.ids], seen[1]
            if not every and not core.tied:
                apart = np.maximum(np.minimum(seen[0], 1.0 - seen[0]), 0.0)
                dropped = taken = np.array([np.argmin(_weights(core.plain) * (apart + _WHOLE))])
        relaxed, rank = now.relaxed, now.rank
        near, basis = (None, None) if seen is None else seen
        if (self._effort.brief_shrink if brief else self._effort.shrink) * core.size < relaxed.size:
            relaxed, rank, basis = core, rank + 1, None
        else:
            near = None
        found, kinds = [], [(dropped, DROPPED)]
        if int(core.lengths[taken].sum()) <= core.high:
            kinds.append((taken, TAKEN))
        for places, kind in kinds:
            state = now.state.copy()
            state[core.ids[places]] = np.int8(kind)
            found.append(Subtree(relaxed, rank, state, now.depth + 1, basis, near))
        return found

    def _meet(self, core: Core, now: Subtree, target: int) -> Sequence[int] | None:
        """Find a good set of a core at a split, keep the best in `met`, and return its units if they reach `target`."""
        with self.phase("search"):
            found = polished(core)
        if found is not None and (self.met is None or found[1] > self.met[1]):
            self.met = (*np.flatnonzero(now.state == TAKEN).tolist(), *found[0]), found[1]
        return found[0] if found is not None and found[1] >= target else None

    def hold(self, nodes: int | None, search: Callable[[], T]) -> T | None:
        """Return the result of a search with a limit of nodes; at this limit, set `short` and return None."""
        self.short, self._until = False, inf if nodes is None else self.statistics.nodes + nodes
        try:
            return search()
        except Stopped:
            if not self.short:
                raise
            return None
        finally:
            self._until = inf

    def _check(self) -> None:
        self.short = self.statistics.nodes > self._until
        if self.short:
            raise Stopped(Termination.NODE_LIMIT)
        self.check(self.store.counters[0] * _NODE_BYTES)

    def _session(self, core: Core, rank: int, near: NDArray[np.float64] | None = None) -> Session | None:
        """Return relaxation number `rank` of the pool, loaded with a core; None if the core has no multipliers."""
        sessions = POOL.sessions
        if rank >= len(sessions) or sessions[rank].owner is not core:
            program = linear_program(core)
            if program is None:
                return None
            while len(sessions) <= rank:
                sessions.append(Session())
            sessions[rank].load(program, core.scale, core)
            if near is not None and (standing := columns_and_rows(core, program, near)) is not None:
                sessions[rank].begin_near(*standing)
        self.statistics.relaxations += 1
        return sessions[rank]

    def _fixed(self, core: Core, target: int) -> tuple[Core | None, list[int]]:
        """Fix units by the bound; return the remaining core (None: no set reaches the target) and the taken units."""
        taken: list[int] = []
        while True:
            if core.high < 0 or core.low > core.high:
                return None, taken
            bound, state, moved = decide(core, target)
            if bound < target * core.scale:
                return None, taken
            if not moved:
                return core, taken
            taken += core.ids[state == TAKEN].tolist()
            core = reduced(core, state)

    def _squeezed(self, now: Subtree, core: Core, target: int) -> tuple[Core | None, list[int]]:
        """Return the results of `_fixed` with prices that depend on the length (`Session.squeezed`)."""
        with self.phase("relaxation"):
            session = self._session(core, now.rank + 1)
            if session is None:
                return core, []
            found = session.squeezed(target - core.base, max(0, core.low), self.deadline)
        return self._fixed(core if found is None else priced(core, found), target)

    def _run(self, search: Search, depth: int, *, far: bool = False, brief: bool = False) -> int:
        effort = self._effort
        try:
            with self.phase("search"):
                if far:
                    return effort.run_far(search, self._check, effort.patient if depth == 0 else effort.patient // 10)
                return effort.run(search, self._check, endless=depth >= effort.deepest, brief=brief)
        finally:
            self.statistics.nodes += search.frames
            self.statistics.merged += search.merged


@contextmanager
def engine_for(program: Program, budget: Budget) -> Iterator[Driver]:
    """Provide an engine for a program; it gets what is left of a budget, and its work is counted in the budget."""
    budget.check()
    engine = Driver(program, budget.limits.after(nodes=budget.statistics.nodes), budget.deadline)
    try:
        yield engine
    finally:
        budget.programs += 1
        budget.statistics.add(engine.finish())


def sets_reaching(program: Program, budget: Budget, value: int = 0) -> tuple[Diagram, Termination | None]:
    """Return all sets for which a program reaches a value, or some of them and the limit that was reached."""
    try:
        with engine_for(program, budget) as engine:
            return engine.reaching(value)
    except Stopped as stopped:
        return Diagram.of_sets([]), stopped.termination
