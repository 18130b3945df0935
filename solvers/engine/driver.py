"""Exact optima of one program: bound, levels, fixing, search, splitting.

The root relaxation gives prices, the prices an integer bound. Then targets are tried from the bound downwards: all
sets of at least the target's value are enumerated, and the first target that has any has exactly the optima, since
the one above had none. Where values are large numbers (weighted gains), the optimum is closed in first, by searches
that stop at one set. A subtree is searched with a limited number of frames; if they do not suffice it is split at
a unit and each half gets prices of its own (`bounding`, `effort`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET
from optsum.system.deadline import Deadline

from .bounding import Bounding
from .effort import DEFAULT, Effort
from .operations import C, Node, Open, Operations
from .program import Program
from .reduction import DROPPED, FREE, TAKEN, States
from .search import DONE, FOUND, PAUSED

_SHORT: Final = 7
"""Splits up to which a search is too short to look for good sets as well."""


class Driver(Bounding[C]):
    """The state of one run.

    Parameters
    ----------
    program : Program
    ops : Operations
        What serves the program.
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
        ops: Operations[C],
        limits: Limits,
        deadline: Deadline | None = None,
        effort: Effort = DEFAULT,
        *,
        root: tuple[C, int] | None = None,
    ) -> None:
        super().__init__(program, ops, limits, deadline, effort, root)
        self._stopped: Stopped | None = None
        self.met: tuple[tuple[int, ...], int] | None = None

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
        if self._ops.finds_first:
            try:
                found = self.one_of(target)
            except Stopped as stopped:
                return EMPTY_FAMILY, stopped.termination
            if found is None:
                return EMPTY_FAMILY, None
        else:
            self.statistics.levels += 1
        node = self._explore(self._whole(self._root), target, 0)
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
        if self.rises:
            found: list[tuple[int, ...]] = []
            self.rising(target, found.append)
            return found[0] if found else None
        self.statistics.levels += 1
        return self._find(self._whole(self._ops.lean(self._root)), target, 0)

    @property
    def rises(self) -> bool:
        """Whether `rising` does all that searches for one set do: there are no blind bounds."""
        return self._ops.merging_order is None

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
        ops, effort = self._ops, self._effort
        states = undone or [np.full(self._size, np.int8(FREE))]
        left = [Open(self._core, 0, state, 0) for state in states]
        root = not undone
        while left:
            now = left.pop()
            core: C | None = self._root if root else self._opened(now, target)
            first, root, answer = root, False, FOUND
            while answer == FOUND and core is not None:
                core, taken = self._fixed(core, target)
                if core is None:
                    break
                if now.depth == 0:
                    self.statistics.core = core.size
                now.decided(core.ids, taken)
                chosen = tuple(np.flatnonzero(now.state == TAKEN).tolist())
                brief = self.statistics.splits > _SHORT
                found = self._meet(core, chosen, target) if brief else None
                if found is None:
                    order, unit = ops.order(core)
                    search = ops.search(core, order, target, self.store, True)
                    answer = self._run(search, now.depth, brief=brief)
                    found = search.path() if answer == FOUND else None
                if found is not None:
                    following = judge((*chosen, *found))
                    if following is None:
                        return [each.state for each in [*left, now]]
                    target = following
                elif answer != DONE:
                    self.statistics.splits += 1
                    left += self._halves(now, core, unit, effort.brief_shrink if brief else effort.shrink, root=first)
        return []

    def _meet(self, core: C, chosen: tuple[int, ...], target: int) -> Sequence[int] | None:
        """Units of a core where a search was split, whose prices are near the optimum's, if they reach the target."""
        with self.phase("search"):
            found = self._ops.polished(core)
        if found is not None and (self.met is None or found[1] > self.met[1]):
            self.met = (*chosen, *found[0]), found[1]
        return found[0] if found is not None and found[1] >= target else None

    def guess(self, exchanges: int = 0) -> tuple[tuple[int, ...], int]:
        """Return a good set and its value, improved by exchanges where no more than so many are to be looked at."""
        found = self._ops.polished(self._root, exchanges) if exchanges else None
        return found or self._ops.guess(self._root)

    def value_of(self, units: tuple[int, ...]) -> int:
        """Value of a set of units."""
        return self._ops.reduced(self._core, np.isin(self._core.ids, units).astype(np.int8)).base

    def _children(self, node: Node[C], core: C, taken: list[int], unit: int) -> Iterator[tuple[list[int], Node[C]]]:
        """Both halves of a core, the one with the unit first, each with prices of its own, and the units it takes.

        The relaxation is warm: it is the one of an ancestor, with bounds changed, until the core is much smaller.
        """
        if self._effort.shrink * core.size < node.relaxed.size:
            node = Node(core, core, node.rank + 1, ())
            own: tuple[int, ...] = ()
        else:
            own = (*node.taken, *taken)
        chain = self._ops.above(core, unit)
        for took, gone in ((core.ids[chain].tolist(), chain), ([], self._ops.below(core, unit))):
            if took and int(core.lengths[chain].sum()) > core.high:
                continue
            now = (*own, *took)
            mark = np.full(self._size, np.int8(DROPPED))
            mark[core.ids] = FREE
            mark[core.ids[gone]] = DROPPED
            mark[list(now)] = TAKEN
            yield took, Node(self._child(node, mark[node.relaxed.ids]), node.relaxed, node.rank, now)

    def _explore(self, whole: Node[C], target: int, depth: int) -> int:
        """Node of all sets of a core that reach the target."""
        ops = self._ops
        core, taken = self._fixed(whole.core, target)
        if core is None:
            return EMPTY_FAMILY
        if depth == 0:
            self.statistics.core = core.size
        order, unit = ops.order(core)
        search = ops.search(core, order, target, self.store, False)
        try:
            answer = self._run(search, depth)
            if answer != DONE and ops.merging_order is not None and ops.blind(core):
                core, also = self._squeezed(whole, core, target)
                taken += also
                if core is None:
                    return EMPTY_FAMILY
                unit = ops.order(core)[1]
                search = ops.search(core, ops.merging_order(core), target, self.store, False)
                answer = self._run(search, depth, far=True)
        except Stopped as stopped:
            self._stopped = stopped
            return self.store.add_all(taken, search.partial())
        if answer == DONE:
            return self.store.add_all(taken, search.root)
        self.statistics.splits += 1
        del search  # its tables, at every depth, would be most of the memory
        nodes = [EMPTY_FAMILY, EMPTY_FAMILY]
        try:
            for took, child in self._children(whole, core, taken, unit):
                node = self._explore(child, target, depth + 1)
                # The unit itself becomes the node that joins both halves.
                nodes[bool(took)] = self.store.add_all(took[1:], node) if took else node
                if self._stopped is not None:
                    break
        except Stopped as stopped:
            self._stopped = stopped
        node = self.store.node(int(core.ids[unit]), nodes[0], nodes[1])
        return self.store.add_all(taken, node)

    def _find(self, whole: Node[C], target: int, depth: int) -> tuple[int, ...] | None:
        """One set of a core that reaches the target."""
        ops = self._ops
        core, taken = self._fixed(ops.lean(whole.core), target)
        if core is None:
            return None
        core = ops.lean(core)
        if depth == 0:
            self.statistics.core = core.size
        order, unit = ops.order(core)
        search = ops.search(core, order, target, self.store, True)
        answer = self._run(search, depth)
        if answer == PAUSED and ops.blind(core):
            core, also = self._squeezed(whole, core, target)
            taken += also
            if core is None:
                return None
            core = ops.lean(core)
            order, unit = ops.order(core)
            search = ops.search(core, order, target, self.store, True)
            answer = self._run(search, depth)
        if answer == FOUND:
            return (*taken, *search.path())
        if answer == DONE:
            return None
        self.statistics.splits += 1
        del search
        for took, child in self._children(whole, core, taken, unit):
            found = self._find(child, target, depth + 1)
            if found is not None:
                return (*taken, *took, *found)
        return None
