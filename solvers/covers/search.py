"""Branch and bound for minimum covers: one of them with a proof, or all of them, counted exactly.

Hirao et al. 2004 (TSC3), section 3.1.1, asks for the smallest set of source sentences from which an abstract can be
made and calls it a constraint satisfaction problem; how it was solved there is not said. Here it is

1. reduced by rules that lose no minimum cover (`reduction`), and split into independent parts;
2. bounded by shares of the lengths, the duals of a relaxation, in integers (`bound`); what the bound alone
   decides within the length allowed is fixed;
3. branched on: a unit is chosen, or ruled out.

What can still be reached from a state does not depend on how the state was reached, so each is solved once, and its
minimum covers become one node of a decision diagram: there may be more of them than could ever be listed.

The length allowed starts at the bound and rises to the least bound of what was cut off until covers are found; those
are all minimum covers, and nothing longer was ever looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from optsum.coverage.clauses import (
    Bits,
    Clause,
    Clauses,
    canonical,
    clauses_of,
    interchangeable,
    members,
    support,
    without,
)
from optsum.coverage.instance import Coverage
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram
from optsum.system.deadline import NEVER, Deadline
from optsum.system.recursion import deep_recursion

from ..engine.monitor import stop_at
from .bound import Relaxer, Shares
from .families import Families
from .reduction import parts, reduced, take

_SHARES_KEPT = 1000
"""Shares are asked for twice, soon after one another."""


@dataclass(frozen=True)
class MinimumCovers:
    """What a search found.

    Attributes
    ----------
    minimum : int or None
        Summed length of every minimum cover; None if nothing covers.
    covers : Diagram
        All minimum covers, or one of them, as sets of units.
    nodes : int
        States that were looked at.
    relaxations : int
        Linear programs solved.
    """

    minimum: int | None
    covers: Diagram
    nodes: int
    relaxations: int


def minimum_covers(
    instance: Coverage,
    *,
    every: bool = True,
    on_node: Callable[[], object] | None = None,
    on_bound: Callable[[int], object] | None = None,
    deadline: Deadline = NEVER,
) -> MinimumCovers:
    """Find all minimum covers, or one.

    Parameters
    ----------
    instance : Coverage
        A cover (`optsum.coverage.clauses.is_cover`).
    every : bool
        All of them; otherwise one.
    on_node : callable, optional
        Called before each state; what it raises ends the search.
    on_bound : callable, optional
        Called with each better lower bound of the minimum.

    Raises
    ------
    Stopped
        When the deadline has passed.
    UnsupportedError
        If the instance is no cover.

    Examples
    --------
    >>> from optsum.coverage.instance import Sense, Joint
    >>> joints = (Joint(0, (1, 2)), Joint(1, (0, 2)))
    >>> tiny = Coverage.of([1, 1, 1], [{0: 1}, {}, {}], [[1], [1]], joints=joints, goal=Sense.MINIMIZE)
    >>> found = minimum_covers(tiny)
    >>> found.minimum, list(found.covers)
    (2, [(0, 2)])
    """
    check = partial(stop_at, deadline)
    clauses = clauses_of(instance, check)
    lengths = instance.lengths.tolist()
    search = CoverSearch(lengths, every=every, on_node=on_node, deadline=deadline)
    if not all(clauses):
        return MinimumCovers(None, search.families.diagram(EMPTY_FAMILY), 0, 0)
    kept, classes = interchangeable(canonical(clauses, check), lengths, every=every, check=check)
    minimum, family = search.run(kept, on_bound)
    family = search.families.spread(family, classes)
    return MinimumCovers(minimum, search.families.diagram(family), search.nodes, search.relaxer.solved)


class CoverSearch:
    """One search; see the module's text.

    Parameters
    ----------
    lengths : of all units
    every, on_node : as of `minimum_covers`
        What is called at a node has to end the search when the deadline has passed.
    deadline : Deadline
        Bounds become weaker from then on.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        *,
        every: bool = True,
        on_node: Callable[[], object] | None = None,
        deadline: Deadline = NEVER,
    ) -> None:
        self.families = Families()
        self.relaxer = Relaxer(lengths, deadline)
        self.nodes = 0
        self._lengths = lengths
        self._every = every
        self._on_node = on_node
        self._weightless = sum([1 << unit for unit, length in enumerate(lengths) if length == 0])
        self._solved: dict[Clauses, tuple[int, int]] = {}  # length and family of its minimum covers
        self._bounds: dict[Clauses, int] = {}  # proven lower bound of what was not solved
        self._shares: dict[Clauses, Shares] = {}

    def run(self, state: Clauses, on_bound: Callable[[int], object] | None = None) -> tuple[int, int]:
        """Return the minimum and the family of covers of clauses that each have an alternative."""
        everything = (1 << len(self._lengths)) - 1
        allowed = 0
        with deep_recursion():  # each choice of a unit nests three calls
            while True:
                length, family = self._within(state, allowed, everything)
                if family != EMPTY_FAMILY:
                    return length, family
                allowed = length
                if on_bound is not None:
                    on_bound(allowed)

    def _length(self, units: Bits) -> int:
        return sum([self._lengths[unit] for unit in members(units)])

    def _within(self, state: Sequence[Clause], allowed: int, undecided: Bits) -> tuple[int, int]:
        """Return the minimum and its covers if it is at most `allowed`; else a bound above `allowed`, and no family.

        Covers are made of `undecided` units. Only those without length matter beyond the clauses: they may be in
        a minimum cover and add nothing.
        """
        if not all(state):
            return sys.maxsize, EMPTY_FAMILY
        forced, state = reduced(state)
        length = self._length(forced)
        groups = sorted(parts(state), key=lambda group: sum(map(len, group)))
        least = [self._bound(group) for group in groups]
        total = length + sum(least)
        found = []
        for place, group in enumerate(groups):
            if total > allowed:
                return total, EMPTY_FAMILY
            needed, covers = self._part(group, allowed - total + least[place])
            total += needed - least[place]
            found.append(covers)
        if total > allowed or EMPTY_FAMILY in found:
            return total, EMPTY_FAMILY
        family = EMPTY_SET
        for covers in reversed(found):  # a product copies its left side, so the largest comes first
            family = self.families.product(covers, family)
        if self._every and (idle := undecided & self._weightless & ~forced & ~support(state)):
            family = self.families.add_any(members(idle), family)
        return total, self.families.add_all(members(forced), family)

    def _bound(self, group: Clauses) -> int:
        if group in self._solved:
            return self._solved[group][0]
        if len(group) == 1:
            self._bounds[group] = min(map(self._length, group[0]))
        return self._bounds.get(group) or self._relax(group).bound

    def _relax(self, group: Clauses) -> Shares:
        shares = self._shares.get(group)
        if shares is None:
            if len(self._shares) >= _SHARES_KEPT:
                self._shares.clear()
            shares = self._shares[group] = self.relaxer.shares(group)
            self._bounds[group] = max(self._bounds.get(group, 0), shares.bound)
        return shares

    def _part(self, group: Clauses, allowed: int) -> tuple[int, int]:
        """As `_within`, for clauses that hang together and are reduced."""
        if group in self._solved:
            length, family = self._solved[group]
            return length, family if length <= allowed else EMPTY_FAMILY
        if self._bound(group) > allowed:
            return self._bounds[group], EMPTY_FAMILY
        if self._on_node is not None:
            self._on_node()
        self.nodes += 1
        if len(group) == 1 and not support(group) & self._weightless:
            length, family = self._single(group[0])
        else:
            length, family = self._branch(group, allowed)
        if family == EMPTY_FAMILY:
            self._bounds[group] = max(self._bounds[group], length)
        else:
            self._solved[group] = length, family
        return length, family if length <= allowed else EMPTY_FAMILY

    def _single(self, clause: Clause) -> tuple[int, int]:
        """One clause: its shortest alternatives."""
        lengths = list(map(self._length, clause))
        least = min(lengths)
        shortest = [alternative for alternative, length in zip(clause, lengths, strict=True) if length == least]
        sets = [tuple(members(units)) for units in (shortest if self._every else shortest[:1])]
        return least, self.families.adopt(Diagram.of_sets(sets))

    def _branch(self, group: Clauses, allowed: int) -> tuple[int, int]:
        """Fix what the bound decides, or choose a unit and rule it out."""
        shares = self._relax(group)
        units = support(group)
        fixed = shares.fixed(allowed)
        if fixed.inside or fixed.outside or fixed.clauses != group:
            if fixed.inside & fixed.outside:
                return fixed.cut, EMPTY_FAMILY
            state = take(without(fixed.clauses, fixed.outside), fixed.inside)
            length = self._length(fixed.inside)
            more, family = self._within(state, allowed - length, units & ~fixed.inside & ~fixed.outside)
            if family == EMPTY_FAMILY:
                return min(length + more, fixed.cut), EMPTY_FAMILY
            return length + more, self.families.add_all(members(fixed.inside), family)
        unit = _branching_unit(group, shares)
        bit = 1 << unit
        longer, having = self._within(take(group, bit), allowed - self._lengths[unit], units & ~bit)
        longer += self._lengths[unit]
        if having != EMPTY_FAMILY:
            allowed = longer if self._every else longer - 1
        length, lacking = self._within(without(group, bit), allowed, units & ~bit)
        if lacking == EMPTY_FAMILY:
            return (min(longer, length) if having == EMPTY_FAMILY else longer), self.families.node(
                unit, lacking, having
            )
        if length < longer:
            having = EMPTY_FAMILY
        return length, self.families.node(unit, lacking, having)


def _branching_unit(group: Clauses, shares: Shares) -> int:
    """Return the unit that most clauses name, among those that the relaxation takes in part if there are any."""
    count: dict[int, int] = {}
    for clause in group:
        for unit in members(support([clause])):
            count[unit] = count.get(unit, 0) + 1
    parted = [unit for unit in count if 0.001 < shares.chosen.get(unit, 0.0) < 0.999]
    return max(parted or count, key=lambda unit: (count[unit], -unit))
