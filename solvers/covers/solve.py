"""What to call for minimum covers: one with a proof (`solve_cover`), or all of them (`enumerate_covers`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from heapq import heapify, heappop, heappush
from time import perf_counter
from typing import Final

from optsum.contracts.result import Termination
from optsum.contracts.run import CERTIFICATE_S, Limits, Run, Stopped
from optsum.coverage.clauses import Bits, Clauses, clauses_of, members
from optsum.coverage.instance import Coverage
from optsum.deadline import Deadline
from optsum.optima.diagram import Diagram
from optsum.optima.optima import Optima

from .search import minimum_covers

__all__ = ["enumerate_covers", "quick_cover", "solve_cover"]

_OFTEN: Final = 1000
"""Alternatives between two questions whether to go on."""


def solve_cover(run: Run) -> None:
    """Search a run whose problem is a cover; the run learns covers, bounds, nodes and the proof.

    Raises
    ------
    UnsupportedError
        If the problem's instance is no cover (`optsum.coverage.clauses.is_cover`).
    Stopped
        When a limit is reached.
    """
    coverage = run.problem.coverage

    def on_node() -> None:
        run.count(nodes=1)
        run.check()

    clauses = clauses_of(coverage, run.check)
    if all(clauses):
        run.see(members(quick_cover(clauses, coverage.lengths.tolist(), run.check)))
    found = minimum_covers(coverage, every=False, on_node=on_node, on_bound=run.raise_bound, deadline=run.deadline)
    for cover in found.covers:
        run.see(cover)
    run.statistics["relaxations"] = found.relaxations
    run.prove()


def enumerate_covers(
    coverage: Coverage,
    limits: Limits | None = None,
    *,
    every: bool = True,
    should_stop: Callable[[], bool] | None = None,
) -> Optima:
    """Find all minimum covers, counted exactly.

    Parameters
    ----------
    coverage : Coverage
        A cover (`optsum.coverage.clauses.is_cover`).
    limits : Limits, optional
        Seconds and nodes (states looked at); the others do not apply.
    every : bool
        All of them; otherwise the answer is complete with one.
    should_stop : callable, optional
        Asked at every node; true ends the search ("interrupted").

    Returns
    -------
    Optima
        `value` is the summed length. Without a limit in the way it is complete; an instance that cannot be covered
        has no set and the value 0. If a limit is reached, it holds one cover: a minimum cover where that much was
        proven (`value` equals `bound`), otherwise a good one.

    Raises
    ------
    UnsupportedError
        If the instance is no cover.
    """
    meter = _Meter(limits or Limits(), should_stop)
    search = partial(minimum_covers, coverage, on_node=meter, on_bound=meter.raise_bound, deadline=meter.deadline)
    known: list[tuple[int, ...]] = []
    value = 0
    try:
        clauses = clauses_of(coverage, meter.check_start)
        if not all(clauses):
            return Optima(Diagram.of_sets([]), 0, 0)
        best = quick_cover(clauses, coverage.lengths.tolist(), meter.check_start)
        known, value = [tuple(members(best))], sum(int(coverage.lengths[unit]) for unit in members(best))
        if meter.limited or not every:  # something to fall back on if the time does not suffice for all
            found = search(every=False)
            known, value = [next(iter(found.covers))], found.minimum or 0
            meter.raise_bound(value)
        found = found if not every else search()
    except (Stopped, KeyboardInterrupt) as stop:
        termination = stop.termination if isinstance(stop, Stopped) else Termination.INTERRUPTED
        return Optima.of_sets(
            known, value, meter.bound, complete=False, termination=termination.value, statistics=meter.statistics()
        )
    statistics = {**meter.statistics(), "relaxations": found.relaxations, "diagram": len(found.covers.nodes)}
    return Optima(found.covers, found.minimum or 0, found.minimum or 0, statistics=statistics)


class _Meter:
    """Counts nodes and seconds, and stops at the limits."""

    def __init__(self, limits: Limits, should_stop: Callable[[], bool] | None) -> None:
        self._most_nodes = limits.nodes
        self.deadline = Deadline(limits.time_s, should_stop)
        self._started = Deadline(None if limits.time_s is None else max(limits.time_s, CERTIFICATE_S))
        self._start = perf_counter()
        self.nodes = 0
        self.bound = 0

    @property
    def limited(self) -> bool:
        return self.deadline.limited or self._most_nodes is not None

    def raise_bound(self, bound: int) -> None:
        self.bound = max(self.bound, bound)

    def check_start(self) -> None:
        """Allow some time for a first cover, however short the limit is."""
        if reason := self._started.reason:
            raise Stopped(Termination(reason))

    def __call__(self) -> None:
        if self._most_nodes is not None and self.nodes >= self._most_nodes:
            raise Stopped(Termination.NODE_LIMIT)
        if reason := self.deadline.reason:
            raise Stopped(Termination(reason))
        self.nodes += 1

    def statistics(self) -> dict[str, float]:
        return {"nodes": self.nodes, "seconds": perf_counter() - self._start}


def quick_cover(clauses: Clauses, lengths: list[int], check: Callable[[], object]) -> Bits:
    """Return a good cover at once: always the clause and alternative that add least, then what is not needed goes.

    Parameters
    ----------
    clauses : Clauses
        Each with an alternative at least.
    lengths : of all units
    check : callable
        Called every few milliseconds; what it raises ends the work.
    """
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
        if covered[index] or length != added[entry]:  # it was counted again since
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
