"""What to call for minimum covers: one with a proof (`solve_cover`), or all of them (`enumerate_covers`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Final

from optsum.contracts.result import Termination
from optsum.contracts.run import CERTIFICATE_S, Limits, Run, Stopped
from optsum.coverage.clauses import Bits, Clauses, clauses_of, members
from optsum.coverage.instance import Coverage
from optsum.optima.diagram import Diagram
from optsum.optima.optima import Optima
from optsum.system.deadline import Deadline

from ..engine.monitor import Monitor, stop_at
from .search import minimum_covers

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
    limits = limits or Limits()
    meter = Monitor(limits, Deadline(limits.time_s, should_stop))
    # Some time for a first cover, however short the limit is.
    first = partial(stop_at, Deadline(None if limits.time_s is None else max(limits.time_s, CERTIFICATE_S)))
    known: list[tuple[int, ...]] = []
    value = bound = 0

    def on_node() -> None:
        meter.check()
        meter.statistics.nodes += 1

    def on_bound(proven: int) -> None:
        nonlocal bound
        bound = max(bound, proven)

    def statistics() -> dict[str, float]:
        done = meter.finish()
        return {"nodes": done.nodes, "seconds": done.seconds["total"]}

    search = partial(minimum_covers, coverage, on_node=on_node, on_bound=on_bound, deadline=meter.deadline)
    try:
        clauses = clauses_of(coverage, first)
        if not all(clauses):
            return Optima(Diagram.of_sets([]), 0, 0)
        best = quick_cover(clauses, coverage.lengths.tolist(), first)
        known, value = [tuple(members(best))], sum(int(coverage.lengths[unit]) for unit in members(best))
        if meter.deadline.limited or limits.nodes is not None or not every:
            found = search(every=False)  # something to fall back on if the time does not suffice for all
            known, value = [next(iter(found.covers))], found.minimum or 0
            on_bound(value)
        found = found if not every else search()
    except (Stopped, KeyboardInterrupt) as stop:
        termination = stop.termination if isinstance(stop, Stopped) else Termination.INTERRUPTED
        return Optima.of_sets(
            known, value, bound, complete=False, termination=termination.value, statistics=statistics()
        )
    done = {**statistics(), "relaxations": found.relaxations, "diagram": len(found.covers.nodes)}
    return Optima(found.covers, found.minimum or 0, found.minimum or 0, statistics=done)


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
