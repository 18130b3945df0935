"""What an exact engine is made of: the driver is one, what it calls comes twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.system.deadline import Deadline

from .program import Program
from .reduction import DROPPED, FREE, TAKEN, States
from .relaxation import LinearProgram
from .search import Search
from .store import NodeStore


class Core(Protocol):
    """What is left of a program once some units are taken and some are dropped; both engines have more of it."""

    @property
    def ids(self) -> IntArray:
        """Unit numbers in the program."""

    @property
    def lengths(self) -> IntArray:
        """Lengths of the units."""

    @property
    def size(self) -> int:
        """Number of undecided units."""

    @property
    def base(self) -> int:
        """Value of what is taken already."""

    @property
    def low(self) -> int:
        """Least length that must still be added."""

    @property
    def high(self) -> int:
        """Largest length that may still be added."""

    @property
    def scale(self) -> int:
        """Fixed-point unit of prices and bounds."""


C = TypeVar("C", bound=Core)


@dataclass(frozen=True)
class Operations(Generic[C]):
    """What differs between engines, as functions of a core.

    Attributes
    ----------
    root : the root core of a program, and the divisor of its values: times that, plus the base, they are the program's
        Raises `UnsupportedError` if they are beyond what 64-bit integers hold with room to spare, and `Stopped` if the
        deadline passes before it is made.
    reduced : what remains once units are decided; a unit is dropped with those below it
    grain : divisor of the lengths that keeps a knapsack table small
    relaxation : the linear relaxation; None if it would not give the core a price
    columns_and_rows : where the relaxation's columns and rows stand (`relaxation.BELOW` and so on) at the core's prices
        and with so much of each unit; None if that is not known
    priced : the core with the multipliers of its relaxation
    upper_bound : bound times ``core.scale``; None if no selection meets the length limits
    decide : for a target the bound times ``core.scale`` (too small if nothing reaches the target), what every
        selection that reaches it takes or drops, and how many units that decides
    order : the order of decision, and the unit to branch on if the core is split
    halver : the unit to branch on where one knows how much of each unit the relaxation has; None if that is the same
    search : a depth-first search in an order, for the sets that reach a target, or for the first of them
    guess : a good set and its value, where some set is feasible
    polished : a good set of a core that a search has come to, and its value; None if none is looked for (with a number
        too: the exchanges that may be looked at)
    lean : the core without units that a search for one set does not need
    blind : whether the bound is the same for every length (`joints.flat`)
    merging_order : the order in which the most states are equal, for cores that are `blind`
    above, below : a unit with those that it needs, and with those that need it
    finds_first : whether one set is looked for before all are enumerated
    """

    root: Callable[[Program, Deadline], tuple[C, int]]
    reduced: Callable[[C, States], C]
    grain: Callable[[C], int]
    relaxation: Callable[[C], LinearProgram | None]
    priced: Callable[[C, IntArray], C]
    upper_bound: Callable[[C], int | None]
    decide: Callable[[C, int], tuple[int, States, int]]
    order: Callable[[C], tuple[IntArray, int]]
    search: Callable[[C, IntArray, int, NodeStore, bool], Search]
    guess: Callable[[C], tuple[tuple[int, ...], int]]
    lean: Callable[[C], C] = lambda core: core
    blind: Callable[[C], bool] = lambda _: False
    merging_order: Callable[[C], IntArray] | None = None
    above: Callable[[C, int], IntArray] = lambda _, unit: np.array([unit])
    below: Callable[[C, int], IntArray] = lambda _, unit: np.array([unit])
    finds_first: bool = False
    polished: Callable[..., tuple[tuple[int, ...], int] | None] = lambda *_: None
    columns_and_rows: Callable[..., tuple[IntArray, IntArray] | None] = lambda *_: None
    halver: Callable[[C, NDArray[np.float64]], int] | None = None


@dataclass(frozen=True, slots=True)
class Node(Generic[C]):
    """A subtree.

    Attributes
    ----------
    core : what is undecided, with prices
    relaxed : the ancestor whose relaxation gives prices; it is number `rank` of the relaxations at hand
    taken : units taken since that ancestor
    """

    core: C
    relaxed: C
    rank: int
    taken: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Open(Generic[C]):
    """A subtree that is to be searched.

    Attributes
    ----------
    relaxed, rank : the core whose relaxation gives prices, and the number of that among the relaxations at hand
    state : of all units of the program
    depth : splits that led to it
    basis : of the relaxation, where the subtree that it is part of was solved; or None
    near : how much of each unit of `relaxed` the one before it had, where the relaxation is made anew; or None
    """

    relaxed: C
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
        self, ops: Operations[C], core: C, unit: int, shrink: float, seen: tuple[NDArray[np.float64], object] | None
    ) -> list[Open[C]]:
        """Return both halves of what is left of it, a core: without a unit, and, unless that is too long, with it.

        `seen` is how much of each unit of the core the relaxation has, and its basis.
        """
        relaxed, rank = self.relaxed, self.rank
        near, basis = (None, None) if seen is None else seen
        if shrink * core.size < relaxed.size:
            relaxed, rank, basis = core, rank + 1, None
        else:
            near = None
        above, found = ops.above(core, unit), []
        kinds = [(ops.below(core, unit), DROPPED)]
        if int(core.lengths[above].sum()) <= core.high:
            kinds.append((above, TAKEN))
        for places, kind in kinds:
            state = self.state.copy()
            state[core.ids[places]] = np.int8(kind)
            found.append(Open(relaxed, rank, state, self.depth + 1, basis, near))
        return found
