"""Exact optima of one program: bound, levels, fixing, search, splitting.

The root relaxation gives prices, the prices an integer bound. Then targets are tried from the bound downwards: all
sets of at least the target's value are enumerated, and the first target that has any has exactly the optima, since
the one above had none. Where values are large numbers (weighted gains), the optimum is closed in first, by searches
that stop at one set. A subtree is searched with a limited number of frames; if they do not suffice it is split at
its first unit and each half gets prices of its own (`effort`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from optsum.errors import UnsupportedError
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET

from ..effort import Effort
from ..program import Program
from ..reduction import DROPPED, TAKEN
from ..running import Limits, Running, Stopped
from ..search import DONE, FOUND
from .bound import IMPOSSIBLE, decide, grain_of
from .core import Core, core_of, reduced
from .guess import good_set
from .order import branching_order
from .relaxation import Relaxation
from .search import Search

__all__ = ["Engine"]


class _Pool(threading.local):
    """A thread's relaxations: making a HiGHS object takes longer than solving a small model."""

    def __init__(self) -> None:
        self.relaxations: list[Relaxation] = []


_POOL: Final = _Pool()

_SHRINK: Final = 1.6
"""A relaxation is made anew once a core has this many times fewer units."""

_DEEPEST: Final = 200
"""Splits on one way, at most."""


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


class Engine(Running):
    """The state of one run on a program whose occurrences are decided by single units.

    Attributes
    ----------
    divisor : int
        Values of the engine times this, plus the program's base, are values of the program.
    feasible : bool
        Whether any set meets the length limits.
    upper : int
        Bound of the root; the caller lowers it as targets fail.
    """

    def __init__(self, program: Program, limits: Limits) -> None:
        super().__init__(limits)
        self._core, self.divisor = core_of(program)
        if self._core.low > 0 and self._core.high >= 0 and grain_of(self._core) > 1:
            raise UnsupportedError(
                f"A minimum length needs an exact table of {self._core.size} units by {self._core.high} lengths, which "
                "is too large; measure the length in words or use the strategy milp."
            )
        self._relaxations = _POOL.relaxations
        self._root = self._priced()
        bound = IMPOSSIBLE
        if self._core.high >= 0:
            bound, _, _ = decide(self._root, None, grain_of(self._root))
        self.feasible = bound > IMPOSSIBLE // 2
        self.upper = bound // self._core.scale

    def all_of(self, target: int) -> tuple[int, str | None]:
        """Enumerate every set of value >= `target`.

        Returns
        -------
        node : int
            In `store`.
        reason : str or None
            None if the node holds all of them, otherwise the limit that was reached.
        """
        self.statistics.levels += 1
        self._stopped = None
        node = self._explore(_Node(self._root, self._core, 0, ()), target, 0)
        return node, self._stopped

    def one_of(self, target: int) -> tuple[int, ...] | None:
        """Find one set of value >= `target`; None if there is none.

        Raises
        ------
        Stopped
        """
        self.statistics.levels += 1
        return self._find(_Node(self._root, self._core, 0, ()), target, 0)

    def guess(self) -> tuple[tuple[int, ...], int]:
        """Return a good set and its value (`guess.good_set`)."""
        return good_set(self._root)

    def value_of(self, units: tuple[int, ...]) -> int:
        """Value of a set of units."""
        return reduced(self._core, np.isin(self._core.ids, units).astype(np.int8)).base

    def _loaded(self, core: Core, rank: int) -> Relaxation:
        """Relaxation number `rank`, with the model of a core."""
        if rank < len(self._relaxations):
            self._relaxations[rank].load(core)
        else:
            self._relaxations.append(Relaxation(core))
        return self._relaxations[rank]

    def _priced(self) -> Core:
        """Return the root core with the prices of its relaxation."""
        core = self._core
        if not len(core.price) and not len(core.fee_weight):
            return core
        with self._relaxing():
            priced = self._loaded(core, 0).priced()
        return core if priced is None else priced

    def _fixed(self, core: Core, target: int) -> tuple[Core | None, list[int]]:
        """Decide what the bound decides, again and again; None if nothing reaches the target."""
        taken: list[int] = []
        while True:
            if core.high < 0:
                return None, taken
            bound, state, moved = decide(core, target, grain_of(core))
            if bound < target * core.scale:
                return None, taken
            if not moved:
                return core, taken
            taken += core.ids[state == TAKEN].tolist()
            core = reduced(core, state)

    def _children(self, node: _Node, core: Core, taken: list[int], unit: int) -> Iterator[tuple[int, _Node]]:
        """Both halves of a core, the one with the unit first, each with prices of its own.

        The relaxation is warm: it is the one of an ancestor, with bounds changed, until half of the ancestor's
        units are decided.
        """
        if _SHRINK * core.size < node.relaxed.size:
            node = _Node(core, core, node.rank + 1, ())
            own: tuple[int, ...] = ()
        else:
            own = (*node.taken, *taken)
        number = int(core.ids[unit])
        free = np.delete(core.ids, unit)
        for choice in (TAKEN, DROPPED):
            if choice == TAKEN and core.lengths[unit] > core.high:
                continue
            now = (*own, number) if choice == TAKEN else own
            with self._relaxing():
                if node.rank >= len(self._relaxations) or self._relaxations[node.rank].core is not node.relaxed:
                    self._loaded(node.relaxed, node.rank)
                child = self._relaxations[node.rank].reduced(free, now)
            yield choice, _Node(child, node.relaxed, node.rank, now)

    def _explore(self, whole: _Node, target: int, depth: int) -> int:
        """Node of all sets of a core that reach the target."""
        core, taken = self._fixed(whole.core, target)
        if core is None:
            return EMPTY_FAMILY
        if depth == 0:
            self.statistics.core = core.size
        order = branching_order(core)
        search = Search(core, order, target, False, self.store)
        try:
            answer = self._run(search, Effort(endless=depth >= _DEEPEST))
        except Stopped as stopped:
            self._stopped = stopped.reason
            return self.store.add_all(taken, search.partial())
        if answer == DONE:
            return self.store.add_all(taken, search.root)
        self.statistics.splits += 1
        unit = int(order[0])
        nodes = {TAKEN: EMPTY_FAMILY, DROPPED: EMPTY_FAMILY}
        try:
            for choice, child in self._children(whole, core, taken, unit):
                nodes[choice] = self._explore(child, target, depth + 1)
                if self._stopped is not None:
                    break
        except Stopped as stopped:
            self._stopped = stopped.reason
        node = self.store.node(int(core.ids[unit]), nodes[DROPPED], nodes[TAKEN])
        return self.store.add_all(taken, node)

    def _find(self, whole: _Node, target: int, depth: int) -> tuple[int, ...] | None:
        """One set of a core that reaches the target."""
        core, taken = self._fixed(whole.core, target)
        if core is None:
            return None
        if depth == 0:
            self.statistics.core = core.size
        order = branching_order(core)
        search = Search(core, order, target, True, self.store)
        answer = self._run(search, Effort(endless=depth >= _DEEPEST))
        if answer == FOUND:
            return (*taken, *search.path())
        if answer == DONE:
            return tuple(taken) if search.root == EMPTY_SET else None
        self.statistics.splits += 1
        unit = int(order[0])
        for choice, child in self._children(whole, core, taken, unit):
            found = self._find(child, target, depth + 1)
            if found is not None:
                own = (int(core.ids[unit]),) if choice == TAKEN else ()
                return (*taken, *own, *found)
        return None
