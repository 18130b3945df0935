"""Exact optima of a program with joints, parents, minimum lengths and negative terms.

The same search as `..singles.engine` on a richer instance: the root relaxation gives prices, the prices an integer
bound (`bound`); a target is searched by fixing units, by a depth-first search with a limited number of frames
(`kernel`), and by splitting what that does not finish into halves with prices of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.errors import UnsupportedError
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET

from ..effort import Effort
from ..program import Program
from ..reduction import DROPPED, FREE, TAKEN
from ..running import Limits, Running, Stopped
from ..search import DONE, FOUND, PAUSED
from .bound import decide, grain_of, priced, upper_bound
from .core import Core, effective, fillers, reduced
from .flat import Patience, frontier_order, is_flat
from .guess import good_set
from .order import branching_order
from .relaxation import Relaxation
from .root import core_of
from .search import Search

__all__ = ["GeneralEngine"]

_SHRINK: Final = 1.6
"""A relaxation is made anew once a core has this many times fewer units."""

_PATIENT: Final = 600_000
"""Frames of an enumeration that is not split at once because the bound is blind (`flat`)."""

_DEEPEST: Final = 200
"""Splits on one way, at most."""


class _Pool(threading.local):
    """A thread's relaxations: making a HiGHS object takes longer than solving a small model."""

    def __init__(self) -> None:
        self.relaxations: list[Relaxation] = []


_POOL: Final = _Pool()


@dataclass(frozen=True, slots=True)
class _Node:
    """A subtree.

    Attributes
    ----------
    core : what is undecided, with prices
    relaxed : the ancestor whose relaxation gives prices; it is number `rank` of the relaxations at hand
    taken : units taken since that ancestor
    """

    core: Core
    relaxed: Core
    rank: int
    taken: tuple[int, ...]


class GeneralEngine(Running):
    """The state of one run; the interface is that of `..singles.engine.Engine`.

    Parameters
    ----------
    program : Program
        Joints may need and veto any units; units may have parents; masses may be negative and tables may fall.
    limits : Limits

    Attributes
    ----------
    divisor : int
        Values of the engine times this, plus the program's base, are values of the program.
    feasible : bool
        Whether any set meets the length limits.
    upper : int
        Bound of the root; the caller lowers it as targets fail.

    Raises
    ------
    UnsupportedError
        If a minimum length would need too large a table, or values leave the range of 64-bit integers.
    """

    def __init__(self, program: Program, limits: Limits) -> None:
        super().__init__(limits)
        self._core, self.divisor = core_of(program)
        if self._core.low > 0 and self._core.high >= 0 and grain_of(self._core) > 1:
            raise UnsupportedError(
                f"A minimum length needs an exact table of {self._core.size} units by {self._core.high} lengths, which "
                "is too large; measure the length in words or use the strategy milp."
            )
        self._size = program.size
        self._relaxations = _POOL.relaxations
        self._root = self._priced(self._core)
        bound = upper_bound(self._root)
        self.feasible = bound is not None
        self.upper = 0 if bound is None else bound // self._core.scale

    def all_of(self, target: int) -> tuple[int, str | None]:
        """Enumerate every set of value >= `target`.

        Returns
        -------
        node : int
            In `store`.
        reason : str or None
            None if the node holds all of them, otherwise the limit that was reached.
        """
        self._stopped = None
        try:
            found = self.one_of(target)
        except Stopped as stopped:
            return EMPTY_FAMILY, stopped.reason
        if found is None:
            return EMPTY_FAMILY, None
        node = self._explore(self._whole(self._root), target, 0)
        if node == EMPTY_FAMILY:  # stopped before it came to what is known
            node = self.store.add_all(list(found), EMPTY_SET)
        return node, self._stopped

    def one_of(self, target: int) -> tuple[int, ...] | None:
        """Find one set of value >= `target`; None if there is none.

        Raises
        ------
        Stopped
        """
        self.statistics.levels += 1
        core = self._lean(self._root)
        return self._find(self._whole(core), target, 0)

    def guess(self) -> tuple[tuple[int, ...], int]:
        """Return a good set and its value (`guess.good_set`)."""
        return good_set(self._root)

    def value_of(self, units: tuple[int, ...]) -> int:
        """Value of a set of units."""
        return reduced(self._core, np.isin(self._core.ids, units).astype(np.int8)).base

    @staticmethod
    def _whole(core: Core) -> _Node:
        return _Node(core, core, 0, ())

    @staticmethod
    def _lean(core: Core) -> Core:
        """Return the core without units that can only fill a summary up, unless it must be filled."""
        if core.low > 0:
            return core
        useful = effective(core)
        return core if useful.all() else reduced(core, np.where(useful, np.int8(FREE), np.int8(DROPPED)))

    def _loaded(self, core: Core, rank: int) -> Relaxation:
        """Relaxation number `rank`, with the model of a core."""
        if rank < len(self._relaxations):
            if self._relaxations[rank].core is not core:
                self._relaxations[rank].load(core)
        else:
            self._relaxations.append(Relaxation(core))
        return self._relaxations[rank]

    def _priced(self, core: Core) -> Core:
        """Return a core with the prices of its relaxation."""
        if core.high < 0 or not (len(core.price) or len(core.rows.unit)):
            return core
        with self._relaxing():
            found = self._loaded(core, 0).prices()
        return core if found is None else found

    @staticmethod
    def _fixed(core: Core, target: int) -> tuple[Core | None, list[int]]:
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

    def _squeezed(self, node: _Node, core: Core, target: int) -> tuple[Core | None, list[int]]:
        """Decide what the bound decides with prices that see the length (`Relaxation.squeezed`)."""
        if not (len(core.price) or len(core.rows.unit)):
            return core, []
        with self._relaxing():
            found = self._loaded(core, node.rank + 1).squeezed(target)
        return self._fixed(found or core, target)

    def _children(self, node: _Node, core: Core, taken: list[int], unit: int) -> Iterator[tuple[list[int], _Node]]:
        """Both halves of a core, the one with the unit first, each with prices of its own, and the units it takes.

        The relaxation is warm: it is the one of an ancestor, with bounds changed, until the core is much smaller.
        """
        if _SHRINK * core.size < node.relaxed.size:
            node = _Node(core, core, node.rank + 1, ())
            own: tuple[int, ...] = ()
        else:
            own = (*node.taken, *taken)
        chain = [unit]
        while core.parent[chain[-1]] >= 0:
            chain.append(int(core.parent[chain[-1]]))
        upwards = core.ids[chain].tolist()
        below = slice(unit, int(priced(core).skip[unit]))
        for took, gone in ((upwards, core.ids[chain]), ([], core.ids[below])):
            if took and int(core.lengths[chain].sum()) > core.high:
                continue
            now = (*own, *took)
            mark = np.full(self._size, np.int8(DROPPED))
            mark[core.ids] = FREE
            mark[gone] = DROPPED
            mark[list(now)] = TAKEN
            with self._relaxing():
                child = self._loaded(node.relaxed, node.rank).reduced(mark[node.relaxed.ids])
            yield took, _Node(child, node.relaxed, node.rank, now)

    def _search(self, core: Core, target: int, order: IntArray, *, first_only: bool) -> Search:
        outside = fillers(core) if not first_only and grain_of(core) == 1 else np.zeros(core.size, np.bool_)
        return Search(core, priced(core), order, target, first_only, self.store, outside)

    def _explore(self, whole: _Node, target: int, depth: int) -> int:
        """Node of all sets of a core that reach the target."""
        core, taken = self._fixed(whole.core, target)
        if core is None:
            return EMPTY_FAMILY
        at = priced(core)
        order, unit = branching_order(core, at)
        search = self._search(core, target, order, first_only=False)
        try:
            answer = self._run(search, Effort(endless=depth >= _DEEPEST))
            if answer != DONE and is_flat(at):
                squeezed, also = self._squeezed(whole, core, target)
                taken += also
                if squeezed is None:
                    return EMPTY_FAMILY
                core, at = squeezed, priced(squeezed)
                unit = branching_order(core, at)[1]
                search = self._search(core, target, frontier_order(core, at), first_only=False)
                answer = self._run(search, Patience(_PATIENT if depth == 0 else _PATIENT // 10))
        except Stopped as stopped:
            self._stopped = stopped.reason
            return self.store.add_all(taken, search.partial())
        if answer == DONE:
            return self.store.add_all(taken, search.root)
        self.statistics.splits += 1
        nodes = [EMPTY_FAMILY, EMPTY_FAMILY]
        try:
            for took, child in self._children(whole, core, taken, unit):
                node = self._explore(child, target, depth + 1)
                # The unit itself becomes the node that joins both halves.
                nodes[bool(took)] = self.store.add_all(took[1:], node) if took else node
                if self._stopped is not None:
                    break
        except Stopped as stopped:
            self._stopped = stopped.reason
        node = self.store.node(int(core.ids[unit]), nodes[0], nodes[1])
        return self.store.add_all(taken, node)

    def _find(self, whole: _Node, target: int, depth: int) -> tuple[int, ...] | None:
        """One set of a core that reaches the target."""
        core, taken = self._fixed(self._lean(whole.core), target)
        if core is None:
            return None
        core = self._lean(core)
        if depth == 0:
            self.statistics.core = core.size
        order, unit = branching_order(core, priced(core))
        search = self._search(core, target, order, first_only=True)
        answer = self._run(search, Effort(endless=depth >= _DEEPEST))
        if answer == PAUSED and is_flat(priced(core)):
            squeezed, also = self._squeezed(whole, core, target)
            taken += also
            if squeezed is None:
                return None
            core = self._lean(squeezed)
            order, unit = branching_order(core, priced(core))
            search = self._search(core, target, order, first_only=True)
            answer = self._run(search, Effort(endless=depth >= _DEEPEST))
        if answer == FOUND:
            return (*taken, *search.path())
        if answer == DONE:
            return None
        self.statistics.splits += 1
        for took, child in self._children(whole, core, taken, unit):
            found = self._find(child, target, depth + 1)
            if found is not None:
                return (*taken, *took, *found)
        return None
