r"""Branch and bound for minimum covers, for one with a proof (`solve_cover`) or all of them (`enumerate_covers`).

Hirao et al. 2004 (TSC3), section 3.1.1, asks for the smallest set of source sentences from which an abstract can be
made, as a constraint satisfaction problem, without a method. Here the problem is

1. reduced by rules that lose no minimum cover (`reduced`), and split into independent parts;
2. bounded by shares of the lengths, the duals of a relaxation, in integers (`Shares`); units that the bound decides
   within the allowed length are fixed;
3. branched on: a unit is chosen, or ruled out.

The covers reachable from a state do not depend on its history, so each state is solved once, and its minimum covers
become one node of a decision diagram, because there may be too many to list.

The allowed length starts at the bound and rises to the least bound of cut branches until covers are found; these are
all minimum covers, and nothing longer was examined.

**Rules.** Only rules that lose no minimum cover are used, because ties are counted:

* a unit that all alternatives of a clause share is in every cover;
* an alternative that contains another one of its clause is removed;
* a clause is implied by another clause, and removed, if each alternative of the other contains one of its own;
* clauses without common units are separate problems.

**Bound.** Let each clause i get a share :math:`s_{iu} \ge 0` of the length of unit u, so that the shares of a unit add
up to at most its length :math:`c_u`. Every cover X contains an alternative :math:`A_i` of each clause, so

.. math:: \sum_{u \in X} c_u \ge \sum_i \sum_{u \in A_i} s_{iu} \ge \sum_i \min_{A \in i} \sum_{u \in A} s_{iu}.

The best share of clause i for unit u is the dual of their row in the relaxed program (`optsum.program.model`). Duals
are floats; rounded to multiples of 1/65536 within the lengths, they give a bound in integers, which errors of floating
point can weaken, but never make invalid.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from heapq import heapify, heappop, heappush
from itertools import chain
from math import isfinite
from operator import and_
from typing import Any, Final

from optsum.contracts.strategy import Run
from optsum.coverage.instance import Coverage
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram, DiagramNodes, deep_recursion
from optsum.optima.optima import Optima
from optsum.program.model import (
    SCALE,
    Bits,
    Clause,
    Clauses,
    LinearModel,
    canonical,
    clauses_of,
    contains_one,
    cover_program,
    interchangeable,
    members,
    new_highs,
    pass_model,
    run,
    support,
    without,
)
from optsum.system.clock import NEVER, Deadline, Limits, Stopped, Termination
from optsum.whole import unchecked

from ..engine.driver import Budget

_QUADRATIC = 600  # Largest number of alternatives for which clauses are compared pair by pair.


def take(clauses: Iterable[Sequence[Bits]], units: Bits) -> list[Clause]:
    left = []
    for clause in clauses:
        touched = {alternative & ~units for alternative in clause if alternative & units}
        if not touched:
            left.append(tuple(clause))
        elif 0 not in touched:
            others = [alternative for alternative in clause if not alternative & units]
            resting, kept = set(others), list[Bits]()
            for candidate in sorted(touched, key=int.bit_count):
                if not contains_one(candidate, resting) and not contains_one(candidate, kept):
                    kept.append(candidate)
            left.append((*kept, *[other for other in others if not contains_one(other, kept)]))
    return left


def reduced(clauses: Iterable[Sequence[Bits]]) -> tuple[Bits, Clauses]:
    """Return the units of every cover, and the remaining clauses after applying the rules until none has an effect."""
    left = [tuple(clause) for clause in clauses]
    forced = 0
    while shared := support([(reduce(and_, clause),) for clause in left]):
        forced |= shared
        left = take(left, shared)
    # Clauses with few alternatives come first, because they imply others. Of equivalent clauses the first is kept.
    left = sorted({tuple(sorted(clause)) for clause in left}, key=lambda clause: (len(clause), clause))
    if sum(map(len, left)) <= _QUADRATIC:
        left = _not_implied(reversed(_not_implied(left)))
    return forced, tuple(sorted(left))


def _not_implied(clauses: Iterable[Clause]) -> list[Clause]:
    """Return the clauses without those that an earlier one implies."""
    kept: list[tuple[Clause, Bits]] = []
    for weak in clauses:
        units = support([weak])
        for strong, others in kept:
            if units & others and all(any(small & large == small for small in weak) for large in strong):
                break
        else:
            kept.append((weak, units))
    return [clause for clause, _ in kept]


def parts(clauses: Clauses) -> list[Clauses]:
    groups: list[tuple[Bits, list[Clause]]] = []
    for clause in clauses:
        units, merged, apart = support([clause]), [clause], []
        for group in groups:
            if group[0] & units:
                units |= group[0]
                merged.extend(group[1])
            else:
                apart.append(group)
        groups = [*apart, (units, merged)]
    return [tuple(sorted(merged)) for _, merged in groups]


class Families(DiagramNodes):
    """Families of covers, as nodes of one growing decision diagram; a family is named by the number of its node."""

    def add(self, units: Iterable[int], family: int, *, every_subset: bool = False) -> int:
        """Return the family with the units, or every subset of them, added to each set."""
        for unit in units if family != EMPTY_FAMILY else ():
            family = self.node(unit, family if every_subset else EMPTY_FAMILY, family)
        return family

    def product(self, left: int, right: int) -> int:
        """Return the family of all unions of a set of each of two families, which have no common units."""
        if left == EMPTY_FAMILY or right == EMPTY_FAMILY:
            return EMPTY_FAMILY
        return left if right == EMPTY_SET else self._rebuilt(left, right, self.node)

    def spread(self, family: int, classes: Mapping[int, Sequence[int]]) -> int:
        """Return the family in which each unit of each set is replaced by every unit of its class, in separate sets."""

        def node(unit: int, lacking: int, having: int) -> int:
            for twin in classes.get(unit, (unit,)):
                lacking = self.node(twin, lacking, having)
            return lacking

        return self._rebuilt(family, EMPTY_SET, node)

    def _rebuilt(self, family: int, end: int, node: Callable[[int, int, int], int]) -> int:
        reached, stack = {family}, [family]
        while stack:
            for branch in self.rows[stack.pop()][1:]:
                if branch not in reached:
                    reached.add(branch)
                    stack.append(branch)
        moved = {EMPTY_FAMILY: EMPTY_FAMILY, EMPTY_SET: end}
        for number in sorted(reached - {EMPTY_FAMILY, EMPTY_SET}):  # branches have smaller numbers
            unit, lacking, having = self.rows[number]
            moved[number] = node(unit, moved[lacking], moved[having])
        return moved[family]

    def adopt(self, diagram: Diagram) -> int:
        moved = [EMPTY_FAMILY, EMPTY_SET]
        for unit, lacking, having in diagram.nodes[2:].tolist():
            moved.append(self.node(unit, moved[lacking], moved[having]))
        return moved[diagram.root]


_SMALL: Final = 10_000  # Largest number of entries of a linear program that is solved in this thread, within 0.1 s.


@dataclass(frozen=True)
class Shares:
    """The lengths of the units, distributed among clauses."""

    clauses: Clauses
    lengths: Sequence[int]
    share: Sequence[dict[int, int]]  # For each clause, unit -> share in multiples of 1 / `SCALE`.
    chosen: dict[int, float]  # Unit -> its value in the relaxation: a hint for branching.

    @cached_property
    def sums(self) -> list[list[int]]:
        """For each alternative of each clause, the sum of the shares of its units in this clause."""
        return [
            [sum([share[unit] for unit in members(alternative)]) for alternative in clause]
            for clause, share in zip(self.clauses, self.share, strict=True)
        ]

    @cached_property
    def total(self) -> int:
        """A lower bound of the length of every cover, in multiples of 1 / `SCALE`."""
        return sum(map(min, self.sums))

    @property
    def bound(self) -> int:
        return -(-self.total // SCALE)

    def fixed(self, limit: int) -> tuple[Bits, Bits, Clauses, int]:
        """Return facts about all covers of at most a length, and the least length of covers that violate one of them.

        The facts are the units in all of these covers, the units in none, and the clauses without the alternatives that
        no such cover contains.
        """
        slack = limit * SCALE - self.total
        # Increase of the bound if a unit is ruled out, and if it is chosen.
        dearer_without: dict[int, int] = {}
        dearer_with: dict[int, int] = {}
        left = []
        least_cut = sys.maxsize
        for clause, share, sums in zip(self.clauses, self.share, self.sums, strict=True):
            least = min(sums)
            for unit in members(clause[sums.index(least)]):
                bit = 1 << unit
                others = [value for alternative, value in zip(clause, sums, strict=True) if not alternative & bit]
                dearer_without[unit] = dearer_without.get(unit, 0) + min(others, default=sys.maxsize + least) - least
            relief = dict.fromkeys(share, 0)
            kept = []
            for alternative, value in zip(clause, sums, strict=True):
                for unit in members(alternative):
                    relief[unit] = max(relief[unit], least - value + share[unit])
                if value - least <= slack:
                    kept.append(alternative)
                else:
                    least_cut = min(least_cut, value - least)
            left.append(tuple(kept))
            for unit, saved in relief.items():
                dearer_with[unit] = dearer_with.get(unit, SCALE * self.lengths[unit]) - saved
        inside = {unit: more for unit, more in dearer_without.items() if more > slack}
        outside = {unit: more for unit, more in dearer_with.items() if more > slack}
        least_cut = min([least_cut, *inside.values(), *outside.values()])
        cut = -(-(self.total + least_cut) // SCALE)
        return sum([1 << unit for unit in inside]), sum([1 << unit for unit in outside]), tuple(left), cut


class Relaxer:
    """A solver of relaxations with one HiGHS object. `deadline`: shares that are not computed by then are 0."""

    def __init__(self, lengths: Sequence[int], deadline: Deadline = NEVER) -> None:
        self._lengths = lengths
        self._deadline = deadline
        self._highs: Any = None
        self.solved = 0

    def shares(self, clauses: Clauses) -> Shares:
        import highspy

        units = list(members(support(clauses)))
        program, links = cover_program(clauses, units, self._lengths)
        if self._highs is None:
            self._highs = new_highs()
            self._highs.setOptionValue("presolve", "off")
        self._highs.clearModel()
        # Columns never exceed 1 in an optimum; an explicit upper limit of 1 would take a part of the duals.
        wider = unchecked(LinearModel, vars(program), upper=2 * program.upper)
        pass_model(self._highs, wider, relaxed=True)
        ended = run(self._highs, self._deadline, apart=len(program.row_column) > _SMALL)
        self.solved += 1
        if not ended:  # HiGHS is still running, and must be left alone
            self._highs = None
        left = {unit: SCALE * self._lengths[unit] for unit in units}
        if not ended or self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return Shares(clauses, self._lengths, [dict.fromkeys(linked, 0) for linked in links], {})
        solution = self._highs.getSolution()
        duals, values = solution.row_dual, solution.col_value
        share: list[dict[int, int]] = []
        for clause, linked in enumerate(links):
            own: dict[int, int] = {}
            for unit, row in linked.items():
                dual = duals[clause] if row < 0 else -duals[row]
                own[unit] = min(left[unit], int(dual * SCALE)) if isfinite(dual) and dual > 0 else 0
                left[unit] -= own[unit]
            share.append(own)
        return Shares(clauses, self._lengths, share, dict(zip(units, values, strict=False)))


_SHARES_KEPT = 1000  # Largest number of shares that are kept, because they are soon needed a second time.


def minimum_covers(
    instance: Coverage,
    *,
    every: bool = True,
    on_node: Callable[[], object] = NEVER.check,
    on_bound: Callable[[int], object] | None = None,
    deadline: Deadline = NEVER,
) -> Optima:
    """Find all minimum covers, or one.

    Examples
    --------
    >>> from optsum.coverage.instance import Sense, Joint
    >>> joints = (Joint(0, (1, 2)), Joint(1, (0, 2)))
    >>> tiny = Coverage.of([1, 1, 1], [{0: 1}, {}, {}], [[1], [1]], joints=joints, goal=Sense.MINIMIZE)
    >>> found = minimum_covers(tiny)
    >>> found.value, list(found)
    (2, [(0, 2)])
    """
    clauses = clauses_of(instance, deadline.check)
    lengths = instance.lengths.tolist()
    if not all(clauses):
        return Optima(Diagram.of_sets([]), 0, 0, statistics={"relaxations": 0})
    kept, classes = interchangeable(canonical(clauses, deadline.check), lengths, every=every, check=deadline.check)
    search, everything, minimum = CoverSearch(lengths, every, on_node, deadline), (1 << len(lengths)) - 1, 0
    with deep_recursion():  # each choice of a unit nests three calls
        while True:
            minimum, family = search.within(kept, minimum, everything)
            if family != EMPTY_FAMILY:
                break
            if on_bound is not None:
                on_bound(minimum)
    diagram = search.families.diagram(search.families.spread(family, classes))
    return Optima(diagram, minimum, minimum, statistics={"relaxations": search.relaxer.solved})


class CoverSearch:
    """A search for one minimum cover, or all, of clauses with units of given lengths (see the module)."""

    def __init__(self, lengths: Sequence[int], every: bool, on_node: Callable[[], object], deadline: Deadline) -> None:
        self.families, self.relaxer = Families(), Relaxer(lengths, deadline)
        self._lengths, self._every, self._on_node = lengths, every, on_node
        self._weightless = sum([1 << unit for unit, length in enumerate(lengths) if length == 0])
        self._solved: dict[Clauses, tuple[int, int]] = {}  # length and family of the minimum covers of clauses
        self._bounds: dict[Clauses, int] = {}  # lower bound of the covers of clauses that are not solved
        self._shares: dict[Clauses, Shares] = {}

    def _length(self, units: Bits) -> int:
        return sum([self._lengths[unit] for unit in members(units)])

    def within(self, state: Sequence[Clause], allowed: int, undecided: Bits) -> tuple[int, int]:
        """Return the minimum length and the minimum covers; a bound and no family if more than `allowed` is needed.

        Covers consist of `undecided` units. Units outside the clauses matter only if they have no length, because any
        of them may be added to a minimum cover.
        """
        if not all(state):
            return sys.maxsize, EMPTY_FAMILY
        forced, state = reduced(state)
        length = self._length(forced)
        groups = sorted(parts(state), key=lambda group: sum(map(len, group)))
        least = [self._bound(group) for group in groups]
        total = length + sum(least)
        found = []
        for group, bound in zip(groups, least, strict=True):
            if total > allowed:
                return total, EMPTY_FAMILY
            needed, covers = self._part(group, allowed - total + bound)
            total += needed - bound
            found.append(covers)
        if total > allowed or EMPTY_FAMILY in found:
            return total, EMPTY_FAMILY
        family = EMPTY_SET
        for covers in reversed(found):  # a product copies its left side, so the largest comes first
            family = self.families.product(covers, family)
        if self._every and (idle := undecided & self._weightless & ~forced & ~support(state)):
            family = self.families.add(members(idle), family, every_subset=True)
        return total, self.families.add(members(forced), family)

    def _bound(self, group: Clauses) -> int:
        if group in self._solved:
            return self._solved[group][0]
        if len(group) == 1:
            self._bounds[group] = min(map(self._length, group[0]))
        return self._bounds.get(group) or self._relax(group).bound

    def _relax(self, group: Clauses) -> Shares:
        if group not in self._shares:
            if len(self._shares) >= _SHARES_KEPT:
                self._shares.clear()
            shares = self._shares[group] = self.relaxer.shares(group)
            self._bounds[group] = max(self._bounds.get(group, 0), shares.bound)
        return self._shares[group]

    def _part(self, group: Clauses, allowed: int) -> tuple[int, int]:
        if group in self._solved:
            length, family = self._solved[group]
            return length, family if length <= allowed else EMPTY_FAMILY
        if self._bound(group) > allowed:
            return self._bounds[group], EMPTY_FAMILY
        self._on_node()
        if len(group) == 1 and not support(group) & self._weightless:
            lengths = list(map(self._length, group[0]))
            length = min(lengths)
            shortest = [units for units, its in zip(group[0], lengths, strict=True) if its == length]
            kept = Diagram.of_sets(map(tuple, map(members, shortest if self._every else shortest[:1])))
            family = self.families.adopt(kept)
        else:
            length, family = self._branch(group, allowed)
        if family == EMPTY_FAMILY:
            self._bounds[group] = max(self._bounds[group], length)
        else:
            self._solved[group] = length, family
        return length, family if length <= allowed else EMPTY_FAMILY

    def _branch(self, group: Clauses, allowed: int) -> tuple[int, int]:
        """Return the result of `within` after fixing the units that the bound decides, or branching on a unit."""
        shares = self._relax(group)
        units = support(group)
        inside, outside, clauses, cut = shares.fixed(allowed)
        if inside or outside or clauses != group:
            if inside & outside:
                return cut, EMPTY_FAMILY
            state, length = take(without(clauses, outside), inside), self._length(inside)
            more, family = self.within(state, allowed - length, units & ~inside & ~outside)
            if family == EMPTY_FAMILY:
                return min(length + more, cut), EMPTY_FAMILY
            return length + more, self.families.add(members(inside), family)
        # Branch on the unit in most clauses, preferably one that is fractional in the relaxation.
        count = Counter(chain.from_iterable(members(support([clause])) for clause in group))
        parted = [unit for unit in count if 0.001 < shares.chosen.get(unit, 0.0) < 0.999]
        unit = max(parted or count, key=lambda unit: (count[unit], -unit))
        bit = 1 << unit
        longer, having = self.within(take(group, bit), allowed - self._lengths[unit], units & ~bit)
        longer += self._lengths[unit]
        if having != EMPTY_FAMILY:
            allowed = longer if self._every else longer - 1
        length, lacking = self.within(without(group, bit), allowed, units & ~bit)
        if lacking == EMPTY_FAMILY:
            length = min(longer, length) if having == EMPTY_FAMILY else longer
        elif length < longer:
            having = EMPTY_FAMILY
        return length, self.families.node(unit, lacking, having)


_OFTEN: Final = 1000  # Number of alternatives between two checks of the limits.


def solve_cover(run: Run) -> None:
    """Find and prove a minimum cover for a run, which records covers, bounds and nodes."""
    coverage = run.problem.coverage

    def on_node() -> None:
        run.count(nodes=1)
        run.check()

    clauses = clauses_of(coverage, run.check)
    if all(clauses):
        run.see(members(quick_cover(clauses, coverage.lengths.tolist(), run.check)))
    found = minimum_covers(coverage, every=False, on_node=on_node, on_bound=run.raise_bound, deadline=run.deadline)
    for cover in found:
        run.see(cover)
    run.statistics.update(found.statistics)
    run.prove()


def enumerate_covers(
    coverage: Coverage,
    limits: Limits | None = None,
    *,
    every: bool = True,
    should_stop: Callable[[], bool] | None = None,
) -> Optima:
    """Find all minimum covers, counted exactly; without `every`, only one.

    The value is the summed length; an instance that cannot be covered has no set and the value 0. If a limit is
    reached, there is one cover: a minimum one if that was proven (`value` equals `bound`), otherwise a good one.
    """
    limits = limits or Limits()
    budget = Budget(limits, Deadline(limits.time_s, should_stop))
    # A first cover gets some time, however short the limit is.
    first = limits.building().check
    known: list[tuple[int, ...]] = []
    value = bound = 0
    statistics: dict[str, float] = {}

    def on_node() -> None:
        budget.check()
        budget.statistics.nodes += 1

    def on_bound(proven: int) -> None:
        nonlocal bound
        bound = max(bound, proven)

    search = partial(minimum_covers, coverage, on_node=on_node, on_bound=on_bound, deadline=budget.deadline)
    try:
        clauses = clauses_of(coverage, first)
        if not all(clauses):
            return Optima(Diagram.of_sets([]), 0, 0)
        best = quick_cover(clauses, coverage.lengths.tolist(), first)
        known, value = [tuple(members(best))], sum(int(coverage.lengths[unit]) for unit in members(best))
        if budget.deadline.limited or limits.nodes is not None or not every:
            found = search(every=False)  # the result if the time does not suffice for all covers
            known, value = [next(iter(found))], int(found.value)
            on_bound(value)
        if every:
            found = search()
        statistics = {**found.statistics, "diagram": len(found.diagram.nodes)}
    except (Stopped, KeyboardInterrupt) as stop:
        termination = stop.termination if isinstance(stop, Stopped) else Termination.INTERRUPTED
        found = Optima.of_sets(known, value, bound, complete=False, termination=termination.value)
    done = budget.finish()
    return replace(found, statistics={"nodes": done.nodes, "seconds": done.seconds["total"], **statistics})


def quick_cover(clauses: Clauses, lengths: list[int], check: Callable[[], object]) -> Bits:
    """Return a good cover quickly: repeatedly add the alternative of least length, then drop unnecessary units."""
    alternatives = [(index, alternative) for index, clause in enumerate(clauses) for alternative in clause]
    holders: dict[int, list[int]] = {}
    for entry, (_, alternative) in enumerate(alternatives):
        if entry % _OFTEN == 0:
            check()
        for unit in members(alternative):
            holders.setdefault(unit, []).append(entry)
    added = [sum([lengths[unit] for unit in members(alternative)]) for _, alternative in alternatives]
    queue = [(length, entry) for entry, length in enumerate(added)]
    heapify(queue)
    chosen = 0
    covered = [False] * len(clauses)
    while queue:
        length, entry = heappop(queue)
        index, alternative = alternatives[entry]
        if covered[index] or length != added[entry]:  # an outdated entry
            continue
        covered[index] = True
        check()
        for unit in members(alternative & ~chosen):
            chosen |= 1 << unit
            for other in holders[unit]:
                added[other] -= lengths[unit]
                heappush(queue, (added[other], other))
    for unit in sorted(members(chosen), key=lambda unit: -lengths[unit]):
        check()
        smaller = chosen & ~(1 << unit)
        touched = {alternatives[entry][0] for entry in holders[unit]}
        if all(any(alternative & ~smaller == 0 for alternative in clauses[index]) for index in touched):
            chosen = smaller
    return chosen
