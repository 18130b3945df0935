"""What a row says beside its result where people are to look at it: the text, what was asked for, and all optima.

The page (`optsum.page`) is made of rows alone, so that they can be moved, kept and sent without the topics they are of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any, Final, TypeAlias

from optsum.contracts.result import Result, Status, Termination
from optsum.corpus.topic import Topic, topic_to_json
from optsum.errors import OptsumError
from optsum.options.options import Options
from optsum.running.one_problem import build
from optsum.running.oracle_sets import Oracles
from optsum.running.oracles import oracles_of
from optsum.running.results import unsolved
from optsum.running.setup import Setup, setup_of
from optsum.running.warm import refused, warm_up

__all__ = ["carrying", "detailed", "details_of"]

SolvePart: TypeAlias = Callable[[Topic], list[Result]]
"""As for `optsum.running.each_topic.each_topic`."""

_LIMIT_S: Final = 10.0
"""Seconds for the optima of a topic, where the options set no limit: they are looked at, and nobody waits for them."""

_LISTED: Final = 50
"""Optima that are listed; shares are of all."""

_NO_LIMITS: Final[dict[str, None]] = dict.fromkeys(("node_limit", "evaluation_limit", "gap", "target"))

_NO_MATTER: Final = {"preset", "workers", "seed"}


def detailed(solve_part: SolvePart, setups: Sequence[Setup], asked: bool) -> SolvePart:
    """Return what searches a problem as `solve_part` does, with details if they are asked for."""
    return partial(with_details, setups=setups, solve_part=solve_part) if asked else solve_part


def with_details(part: Topic, setups: Sequence[Setup], solve_part: SolvePart) -> list[Result]:
    """Search a problem, and let its first result carry the details.

    Parameters
    ----------
    part : Topic
    setups : sequence of Setup
    solve_part : SolvePart

    Returns
    -------
    list of Result
        The last is interrupted if Ctrl-C came while the optima were looked for.
    """
    results = solve_part(part)
    if results[-1].termination is Termination.INTERRUPTED:
        return results
    failed = all(result.status is Status.ERROR for result in results)
    oracles = None if failed else _oracles(part, setups[0].options)
    if oracles is not None and oracles.termination == Termination.INTERRUPTED:
        return [*results[:-1], unsolved(part.id, setups[-1], Termination.INTERRUPTED)]
    found = details_of(part, setups[0], oracles)
    return [carrying(results[0], found), *results[1:]]


def carrying(result: Result, details: Mapping[str, Any]) -> Result:
    """Return a result whose row has these details."""
    return replace(result, extra={**result.extra, "details": details})


def details_of(part: Topic, setup: Setup, oracles: Oracles | None) -> dict[str, Any]:
    """Return the details of a problem, as a row has them.

    Parameters
    ----------
    part : Topic
        As it was searched: with the references that count.
    setup : Setup
    oracles : Oracles or None
        Its optima, where they are known.

    Returns
    -------
    dict
        ``options`` that are not the defaults; ``documents``, ``references`` and perhaps ``cover`` as in a topic;
        ``parts``, for sentences that are not chosen as a whole: where each part begins, and which it is; ``optima``:
        ``count``, ``complete``, those that are ``listed`` (50 at most), and the ``shares`` of the units in them.
    """
    options = setup.options.model_dump(mode="json", exclude_defaults=True, exclude=_NO_MATTER)
    text = topic_to_json(part)
    found: dict[str, Any] = {"options": options}
    found |= {name: text[name] for name in ("documents", "references", "cover") if name in text}
    if (ids := part.meta.get("sentence_ids")) is not None:
        found["sentence_ids"] = ids
    parts = _parts(part, setup)
    if parts is not None:
        found["parts"] = parts
    if oracles is not None and oracles.proven and oracles:
        found["optima"] = {
            "count": oracles.count,
            "complete": oracles.complete,
            "listed": [list(map(_listed, optimum)) for optimum in islice(oracles, _LISTED)],
            "shares": _shares(oracles) if oracles.complete else None,
        }
    return found


def _parts(part: Topic, setup: Setup) -> list[list[tuple[int, int]]] | None:
    if setup.formulation.whole_sentences:
        return None
    try:
        return build(part, setup).parts()
    except OptsumError:  # its row says why
        return None


def _oracles(part: Topic, options: Options) -> Oracles | None:
    """Return the optima of a problem; None where they cannot be found, which costs its results nothing."""
    wanted = options.model_copy(
        update={
            "strategy": "branch-and-bound",
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
        return oracles_of(part, setup, began=perf_counter())
    except OptsumError:
        return None


def _shares(oracles: Oracles) -> list[list[Any]]:
    """Return each unit with its share of the optima, of all that are in one."""
    found: Mapping[Any, Any] = oracles.share()
    members = oracles.names.members
    return [
        [_listed(member), round(float(share), 6)]
        for unit, share in found.items()
        for member in members.get(unit, (unit,))
    ]


def _listed(unit: Any) -> Any:
    return list(unit) if isinstance(unit, tuple) else unit
