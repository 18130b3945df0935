"""Print how many topics of a run are done or failed, its speed and the time left, also while it runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from optsum.cli.exits import DONE, put
from optsum.report.messages import duration

if TYPE_CHECKING:
    from optsum.experiments.status import RunStatus


def run(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="folder of a run")],
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object, for programs")] = False,
) -> int:
    """Look at a run."""
    from optsum.experiments.status import status

    found = status(folder)
    put(json.dumps(found.to_json(), ensure_ascii=False) if as_json else in_words(found))
    if not as_json and found.failed:
        put(said_of_errors(found))
    for doubt in () if as_json else found.doubts:
        put(doubt)
    return DONE


def in_words(found: RunStatus) -> str:
    """Return how far a run is, in one line."""
    of = "" if found.total is None else f" of {found.total}"
    state = "running" if found.running else "complete" if found.complete else "stopped"
    parts = [f"{found.folder}: {state}"]
    if found.shard != "1/1":
        parts.append(f"shard {found.shard}")
    kinds = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in found.rows.items())
    parts.append(f"{found.done}{of} done" + (f" ({kinds})" if kinds else ""))
    if found.per_second is not None:
        parts.append(f"{found.per_second:.3g} a second")
    if found.left_s is not None and not found.complete:
        parts.append(f"{duration(found.left_s)} left")
    return "; ".join(parts)


def said_of_errors(found: RunStatus) -> str:
    """Return what is wrong with the first error of a run."""
    which = "it" if found.failed == 1 else "the first"
    return (
        f"{found.failed} of {found.done} could not be searched, and --resume tries again; {which}: {found.first_error}"
    )
