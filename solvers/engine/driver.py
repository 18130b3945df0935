"""Exact optima of one program: bound, levels, fixing, search, splitting.

The root relaxation gives prices, the prices an integer bound. Then targets are tried from the bound downwards: all
sets of at least the target's value are enumerated, and the first target that has any has exactly the optima, since
the one above had none. Where values are large numbers (weighted gains), the optimum is closed in first, by searches
that stop at one set.

A subtree is searched with a limited number of frames. If they do not suffice it is split at a unit and each half gets
prices of its own, which tightens their bounds: right where the search mostly fails. Where it mostly succeeds (frames
become diagram nodes) splitting would only cut the diagram in parts that share less, so the search goes on, with a
larger memo, as long as it stays fruitful. Where the bound does not see the length (`order.is_flat`) splitting does not
help, and merging does: there a search is run far, with a memo that grows with it.

Relaxations are warm. That of a subtree is the one of an ancestor with bounds changed, until the core is much smaller,
and begins where its parent's ended; one of which no more is asked than that nothing reaches a target ends there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.coverage.instance import IntArray
from optsum.errors import UnsupportedError
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET
from optsum.system.deadline import Deadline

from .bound import decide, grain_of, upper_bound
from .core import DROPPED, FREE, TAKEN, Core, States, above, below, lean, reduced
from .guess import good_set, polished
from .monitor import Monitor
from .order import branching_order, frontier_order, halving_unit, is_flat
from .program import Program
from .relaxation import POOL, Session, columns_and_rows, linear_program, priced
from .root import core_of
from .search import DONE, FOUND, PAUSED, NodeStore, Search

_SHORT: Final = 7
"""Splits up to which a search is too short to look for good sets as well."""

_CLEAR: Final = 655
"""How far below a target, in units of prices, a relaxation need not be solved further: more than rounding them does."""

_NODE_BYTES: Final = 400
"""Memory of a diagram node while everything is done with it that can be done."""

_SMALL_MEMO: Final = 1 << 15
_MEMO: Final = 1 << 18
_PATIENT_MEMO: Final = 1 << 16
_LARGEST_MEMO: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class Effort:
    """The frames one subtree may use.

    Attributes
    ----------
    start, first : frames before the memo grows, and before a search must be fruitful to go on
    slice, longest : frames between two looks at the limits, and at most
    fruitful : share of the frames that become nodes, from which on a search goes on
    deepest : splits on one way; deeper down no search gives up
    patient, patient_slice, patient_fruitful : the same for searches whose bound does not see the length
    shrink : a relaxation is made anew once a core has this many times fewer units
    brief, brief_shrink : frames, and the same, in a search for one set that was split often: relaxations decide it
    """

    start: int = 300
    first: int = 1_500
    slice: int = 100_000
    longest: int = 150_000
    fruitful: float = 0.3
    deepest: int = 200
    patient: int = 600_000
    patient_slice: int = 60_000
    patient_fruitful: float = 0.1
    shrink: float = 1.6
    brief: int = 100
    brief_shrink: float = 2.5

    def run(self, search: Search, check: Callable[[], None], *, endless: bool, brief: bool = False) -> int:
        """Run a search until it is done or has used its effort; `check` may raise."""
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
        """Run a search for so many frames, and to its end if it finds much; `check` may raise."""
        slots = _PATIENT_MEMO
        answer = PAUSED
        while answer == PAUSED and (search.frames < frames or search.fruitful > self.patient_fruitful * search.frames):
            check()
            while slots < min(_LARGEST_MEMO, 4 * search.frames):
                slots *= 2
            search.grow_memo(slots)
            answer = search.run(self.patient_slice)
        return answer


DEFAULT: Final = Effort()
"""What proved quickest on topics of all kinds."""


@dataclass(frozen=True, slots=True)
class Subtree:
    """A subtree that is to be searched.

    Attributes
    ----------
    relaxed, rank : the core whose relaxation gives prices, and the number of that among the relaxations at hand
    state : of all units of the program
    depth : splits that led to it
    basis : of the relaxation, where the subtree that it is part of was solved; or None
    near : how much of each unit of `relaxed` the one before it had, where the relaxation is made anew; or None
    """

    relaxed: Core
    rank: int
    state: States
    depth: int
    basis: object = None
    near: NDArray[np.float64] | None = None

    def decided(self, free: IntArray, taken: list[int]) -> None:
        """Take note of the units that are still free, and of those taken; others that were free are dropped."""
        gone = self.state == FREE
        gone[free] = False
        self.state[gone] = np.int8(DROPPED)
        self.state[taken] = np.int8(TAKEN)

    def halves(
        self, core: Core, unit: int, shrink: float, seen: tuple[NDArray[np.float64], object] | None
    ) -> list[Subtree]:
        """Return both halves of what is left of it, a core: without a unit, and, unless that is too long, with it.

        `seen` is how much of each unit of the core the relaxation has, and its basis.
        """
        relaxed, rank = self.relaxed, self.rank
        near, basis = (None, None) if seen is None else seen
        if shrink * core.size < relaxed.size:
            relaxed, rank, basis = core, rank + 1, None
        else:
            near = None
        chain, found = above(core, unit), []
        kinds = [(below(core, unit), DROPPED)]
        if int(core.lengths[chain].sum()) <= core.high:
            kinds.append((chain, TAKEN))
        for places, kind in kinds:
            state = self.state.copy()
            state[core.ids[places]] = np.int8(kind)
            found.append(Subtree(relaxed, rank, state, self.depth + 1, basis, near))
        return found


class Driver(Monitor):
    """The search of one program.

    Parameters
    ----------
    program : Program
    limits : Limits
        Of nodes (frames), memory and, without a deadline, time.
    deadline : Deadline, optional
    effort : Effort
        How long subtrees are searched.
    root : a core and the divisor of its values, optional
        Where the program's root is known already, with prices.

    Attributes
    ----------
    store : NodeStore
    divisor : int
        Values of the engine times this, plus the program's base, are values of the program.
    feasible : bool
        Whether any set meets the length limits.
    upper : int
        Bound of the root; the caller lowers it as targets fail.
    met : units and value, or None
        The best set that was met where a search was split often, whatever the target was.

    Raises
    ------
    UnsupportedError
        If a minimum length would need too large a table, or values leave the range of 64-bit integers.
    Stopped
        If the deadline passes before the root is made.
    """

    def __init__(
        self,
        program: Program,
        limits: Limits,
        deadline: Deadline | None = None,
        effort: Effort = DEFAULT,
        *,
        root: tuple[Core, int] | None = None,
    ) -> None:
        super().__init__(limits, deadline)
        self._effort = effort
        self.store = NodeStore()
        self._size = program.size
        self._solved = -1
        self._seen: tuple[NDArray[np.float64], object] | None = None
        self._stopped: Stopped | None = None
        self.met: tuple[tuple[int, ...], int] | None = None
        self._core, self.divisor = core_of(program, self.deadline) if root is None else root
        if self._core.low > 0 and self._core.high >= 0 and grain_of(self._core) > 1:
            raise UnsupportedError(
                f"A minimum length needs an exact table of {self._core.size} units by {self._core.high} lengths, which "
                "is too large; measure the length in words or use the strategy milp."
            )
        self._root = self._priced(self._core) if root is None else self._core
        bound = upper_bound(self._root) if self._core.high >= 0 else None
        self.feasible = bound is not None
        self.upper = 0 if bound is None else bound // self._core.scale

    def all_of(self, target: int) -> tuple[int, Termination | None]:
        """Enumerate every set of value >= `target`.

        Returns
        -------
        node : int
            In `store`.
        reason : Termination or None
            None if the node holds all of them, otherwise the limit that was reached.
        """
        self._stopped = None
        found: tuple[int, ...] | None = None
        if self._core.tied:  # one set is sought without the units that touch nothing, which is quicker
            try:
                found = self.one_of(target)
            except Stopped as stopped:
                return EMPTY_FAMILY, stopped.termination
            if found is None:
                return EMPTY_FAMILY, None
        else:
            self.statistics.levels += 1
        node = self._explore(self._whole(), target, root=True)
        if node == EMPTY_FAMILY and found is not None:  # stopped before it came to what is known
            node = self.store.add_all(list(found), EMPTY_SET)
        return node, self._reason()

    def _reason(self) -> Termination | None:
        return None if self._stopped is None else self._stopped.termination

    def one_of(self, target: int) -> tuple[int, ...] | None:
        """Find one set of value >= `target`; None if there is none.

        Raises
        ------
        Stopped
        """
        found: list[tuple[int, ...]] = []
        self.rising(target, found.append)
        return found[0] if found else None

    def rising(
        self, target: int, judge: Callable[[tuple[int, ...]], int | None], undone: Sequence[States] = ()
    ) -> list[States]:
        """Find sets of value >= `target`, which rises with each, in one search that goes on until there is none.

        Parameters
        ----------
        target : int
        judge : callable
            Gets a set that reaches the target, and returns the next target, which it does not reach; or None, which
            ends the search.
        undone : sequence of States
            Subtrees that an earlier search left, of this program or of one that bounded this one; all if empty.

        Returns
        -------
        list of States
            What is left to be searched where `judge` ended it. No other set reaches the last target.

        Raises
        ------
        Stopped
        """
        self.statistics.levels += 1
        left = [Subtree(self._core, 0, state, 0) for state in undone] or [self._whole()]
        root = not undone
        while left:
            now = left.pop()
            core: Core | None = self._root if root else self._opened(now, target)
            first, root, answer = root, False, FOUND
            while answer == FOUND and core is not None:
                core, taken = self._useful(core, target)
                if core is None:
                    break
                if now.depth == 0:
                    self.statistics.core = core.size
                now.decided(core.ids, taken)
                brief = self.statistics.splits > _SHORT
                found = self._meet(core, now, target) if brief else None
                if found is None:
                    order, unit = branching_order(core)
                    search = Search(core, order, target, self.store, first_only=True)
                    answer = self._run(search, now.depth, brief=brief)
                    if answer == PAUSED and core.tied and is_flat(core):
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
        """Return a good set and its value, improved by exchanges where no more than so many are to be looked at."""
        found = polished(self._root, exchanges) if exchanges else None
        return found or good_set(self._root)

    def value_of(self, units: tuple[int, ...]) -> int:
        """Value of a set of units."""
        return reduced(self._core, np.isin(self._core.ids, units).astype(np.int8)).base

    def _whole(self) -> Subtree:
        return Subtree(self._core, 0, np.full(self._size, np.int8(FREE)), 0)

    def _explore(self, now: Subtree, target: int, *, root: bool = False) -> int:
        """Return the node of all sets of a subtree that reach the target, without the units that led to it."""
        core, taken = self._fixed(self._root if root else self._opened(now, target), target)
        if core is None:
            return EMPTY_FAMILY
        if root:
            self.statistics.core = core.size
        order, unit = branching_order(core)
        search = Search(core, order, target, self.store, first_only=False)
        try:
            answer = self._run(search, now.depth)
            if answer != DONE and core.tied and is_flat(core):
                core, also = self._squeezed(now, core, target)
                taken += also
                if core is None:
                    return EMPTY_FAMILY
                order, unit = branching_order(core)
                search = Search(core, frontier_order(core) if core.tied else order, target, self.store, False)
                answer = self._run(search, now.depth, far=True)
        except Stopped as stopped:
            self._stopped = stopped
            return self.store.add_all(taken, search.partial())
        if answer == DONE:
            return self.store.add_all(taken, search.root)
        self.statistics.splits += 1
        del search  # its tables, at every depth, would be most of the memory
        now.decided(core.ids, taken)
        nodes = [EMPTY_FAMILY, EMPTY_FAMILY]
        parts, chain = self._halves(now, core, unit, root=root, every=True), above(core, unit)
        try:
            while parts:
                part = parts.pop()
                took = bool(part.state[core.ids[unit]] == TAKEN)
                node = self._explore(part, target)
                # The unit itself becomes the node that joins both halves.
                nodes[took] = self.store.add_all(core.ids[chain[1:]].tolist(), node) if took else node
                if self._stopped is not None:
                    break
        except Stopped as stopped:
            self._stopped = stopped
        node = self.store.node(int(core.ids[unit]), nodes[0], nodes[1])
        return self.store.add_all(taken, node)

    def _useful(self, core: Core, target: int) -> tuple[Core | None, list[int]]:
        """Decide what the bound decides; where units are tied, those that touch nothing are left out."""
        if not core.tied:
            return self._fixed(core, target)
        left, taken = self._fixed(lean(core), target)
        return None if left is None else lean(left), taken

    def _opened(self, now: Subtree, target: int) -> Core:
        """Return what is left of a subtree, with prices of its own, or with some that show it to miss a target."""
        core, state = now.relaxed, now.state[now.relaxed.ids]
        enough = float(target - core.base) - _CLEAR / core.scale
        with self.phase("relaxation"):
            session = self._session(core, now.rank, now.near)
            if session is not None:
                session.begin_at(now.basis)
                session.decide(state)
                found = self._multipliers(session, enough)
                core = core if found is None else priced(core, found)
            return reduced(core, state)

    def _halves(
        self, now: Subtree, core: Core, unit: int, *, root: bool, every: bool = False, brief: bool = False
    ) -> list[Subtree]:
        """Return both halves of what is left of a subtree, parted at `unit` where `every` set is sought.

        Otherwise the relaxation says where, if one was solved.
        """
        sessions = POOL.sessions
        session = sessions[now.rank] if now.rank < len(sessions) and sessions[now.rank].owner is now.relaxed else None
        values = None if session is None else session.values()
        seen = None if session is None or values is None else (values, session.basis())
        if root:
            if session is not None and session.solved == self._solved:
                self._seen = seen
            seen = self._seen
        if seen is not None:
            whole = np.zeros(self._size)
            whole[now.relaxed.ids] = seen[0]
            seen = whole[core.ids], seen[1]
            if not every and not core.tied:
                unit = halving_unit(core, seen[0])
        return now.halves(core, unit, self._effort.brief_shrink if brief else self._effort.shrink, seen)

    def _meet(self, core: Core, now: Subtree, target: int) -> Sequence[int] | None:
        """Units of a core where a search was split, whose prices are near the optimum's, if they reach the target."""
        with self.phase("search"):
            found = polished(core)
        if found is not None and (self.met is None or found[1] > self.met[1]):
            self.met = (*np.flatnonzero(now.state == TAKEN).tolist(), *found[0]), found[1]
        return found[0] if found is not None and found[1] >= target else None

    def _check(self) -> None:
        self.check(self.store.used * _NODE_BYTES)

    def _session(self, core: Core, rank: int, near: NDArray[np.float64] | None = None) -> Session | None:
        """Relaxation number `rank`, with the model of a core; None if the core has no use for prices.

        A model that is loaded begins where there is about so much of each unit, if `near` says so.
        """
        sessions = POOL.sessions
        if rank < len(sessions) and sessions[rank].owner is core:
            return sessions[rank]
        program = linear_program(core)
        if program is None:
            return None
        while len(sessions) <= rank:
            sessions.append(Session())
        sessions[rank].load(program, core.scale, core)
        standing = None if near is None else columns_and_rows(core, program, near)
        if standing is not None:
            sessions[rank].begin_near(*standing)
        return sessions[rank]

    def _multipliers(self, session: Session, enough: float = -inf) -> IntArray | None:
        self.statistics.relaxations += 1
        return session.multipliers(self.deadline, enough)

    def _priced(self, core: Core) -> Core:
        """Return a core with the prices of its relaxation."""
        with self.phase("relaxation"):
            session = self._session(core, 0) if core.high >= 0 else None
            found = None if session is None else self._multipliers(session)
            self._solved = -1 if session is None else session.solved
        return core if found is None else priced(core, found)

    def _fixed(self, core: Core, target: int) -> tuple[Core | None, list[int]]:
        """Decide what the bound decides, again and again; None if nothing reaches the target."""
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
        """Decide what the bound decides with prices that see the length (`Session.squeezed`)."""
        with self.phase("relaxation"):
            session = self._session(core, now.rank + 1)
            if session is None:
                return core, []
            self.statistics.relaxations += 1
            found = session.squeezed(target - core.base, max(0, core.low), self.deadline)
        return self._fixed(core if found is None else priced(core, found), target)

    def _run(self, search: Search, depth: int, *, far: bool = False, brief: bool = False) -> int:
        """Run a search until it is done or has used its effort, and count what it did."""
        frames, merged, effort = search.frames, search.hits, self._effort
        try:
            with self.phase("search"):
                if far:
                    return effort.run_far(search, self._check, effort.patient if depth == 0 else effort.patient // 10)
                return effort.run(search, self._check, endless=depth >= effort.deepest, brief=brief)
        finally:
            self.statistics.nodes += search.frames - frames
            self.statistics.merged += search.hits - merged
