"""Searches whose rows carry details: all optima are looked for when the search is done, and are in no time of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

from optsum.contracts.enumeration import listed
from optsum.contracts.result import Result, Status, Termination
from optsum.corpus.topic import Topic
from optsum.errors import OptsumError
from optsum.options.options import Options
from optsum.registry import PROVER
from optsum.running.all_optima.oracle_sets import Oracles
from optsum.running.all_optima.oracles import carrying, details_of, oracles_of
from optsum.running.results import unsolved
from optsum.running.setup import Setup, setup_of
from optsum.running.warm import refused, warm_up
from optsum.system.clock import clock

SolvePart: TypeAlias = Callable[[Topic], list[Result]]  # As for `optsum.running.each_topic.each_topic`.

_LIMIT_S: Final = 10.0
"""Seconds for the optima of a topic, where the options set no limit: they are looked at, and nobody waits for them."""

_LISTED: Final = 50  # Optima that are listed; shares are of all.

_NO_LIMITS: Final[dict[str, None]] = dict.fromkeys(("node_limit", "evaluation_limit", "gap", "target"))


def detailed(solve_part: SolvePart, setups: Sequence[Setup], asked: bool) -> SolvePart:
    """Return what searches a problem as `solve_part` does, with details if they are asked for."""
    return partial(with_details, setups=setups, solve_part=solve_part) if asked else solve_part


def with_details(part: Topic, setups: Sequence[Setup], solve_part: SolvePart) -> list[Result]:
    """Search a problem, and let its first result carry the details.

    The last result is interrupted if Ctrl-C came while the optima were looked for.
    """
    results = solve_part(part)
    if results[-1].termination is Termination.INTERRUPTED:
        return results
    failed = all(result.status is Status.ERROR for result in results)
    oracles = None if failed else _oracles(part, setups[0].options)
    if oracles is not None and oracles.termination == Termination.INTERRUPTED:
        return [*results[:-1], unsolved(part.id, setups[-1], Termination.INTERRUPTED)]
    found = details_of(part, setups[0], None if oracles is None else _shown(oracles))
    return [carrying(results[0], found), *results[1:]]


def _oracles(part: Topic, options: Options) -> Oracles | None:
    """Return the optima of a problem; None where they cannot be found, which costs its results nothing."""
    wanted = options.model_copy(
        update={
            "strategy": PROVER,
            "time_limit": _LIMIT_S if options.time_limit is None else options.time_limit,
            "strategy_options": (),
            "backend_options": (),
            **_NO_LIMITS,
        }
    )
    try:
        if refused(wanted):
            return None
        setup = setup_of(wanted)
        warm_up(setup)
        return oracles_of(part, setup, began=clock())
    except OptsumError:
        return None


def _shown(oracles: Oracles) -> dict[str, Any] | None:
    """Return optima as details have them: how many, whether that is all, the first of them, and the units' shares."""
    if not oracles or not oracles.proven:
        return None
    return {
        "count": oracles.count,
        "complete": oracles.complete,
        "listed": [list(map(listed, optimum)) for optimum in islice(oracles, _LISTED)],
        "shares": _shares(oracles) if oracles.complete else None,
    }


def _shares(oracles: Oracles) -> list[list[Any]]:
    """Return each unit with its share of the optima, of all that are in one."""
    found: Mapping[Any, Any] = oracles.share()
    members = oracles.names.members
    return [
        [listed(member), round(float(share), 6)]
        for unit, share in found.items()
        for member in members.get(unit, (unit,))
    ]
