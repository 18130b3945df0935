"""One row a topic: how many optima there are, the first of them, the units in all and in none of them.

The count is exact and of any size; it is complete unless a limit was reached. With --within, --at-least, --within-steps
or --best all selections that are nearly as good are counted, which takes 10 seconds a topic at most unless --time-limit
says otherwise. Sets are sets of the units of the problem: sentences that can add nothing are none. TOPICS is as for
optsum solve.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from optsum.cli.flags import Details, Files, Flags, NearFlags, output_or_pipe
from optsum.options.options import Options

FLAGS = Flags(Options, without={"strategy"})


def run(
    files: Files,
    options: dict[str, Any],
    near: NearFlags,
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="branch-and-bound or exhaustive [branch-and-bound]")
    ] = None,
    max_solutions: Annotated[
        int, typer.Option(metavar="N", min=0, help="sets listed in a row; the count does not depend on it")
    ] = 100,
    count_only: Annotated[bool, typer.Option("--count-only", help="list none")] = False,
    minimal: Annotated[bool, typer.Option("--minimal", help="list only sets that contain no other")] = False,
    diverse: Annotated[int, typer.Option(metavar="K", min=0, help="list so many sets that differ much")] = 0,
    sample: Annotated[int, typer.Option(metavar="K", min=0, help="list so many sets drawn at random")] = 0,
    details: Details = False,
) -> int:
    """Enumerate the optima of all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.report.tables.results import near_table, optima_table
    from optsum.running.all_optima.oracles import enumerate_topics, resolve_enumeration
    from optsum.running.posed import posed

    nearness = near.nearness()
    _, options = posed(files.topics, options, files.config)
    resolved = resolve_enumeration({**options, "strategy": strategy}, nearness, config=files.config)
    listed = 0 if count_only else max_solutions
    shape = {"max_solutions": listed, "minimal": minimal, "sample": sample, "diverse": diverse}
    work = EachTopic(files, output_or_pipe(files.output), [resolved], other=lambda row: _other(row, nearness, shape))
    return work.show(
        lambda source: enumerate_topics(source, resolved, nearness, details=details, **shape),
        optima_table if nearness is None else near_table,
    )


def _other(row: Mapping[str, Any], nearness: object, shape: Mapping[str, int]) -> str | None:
    """Return which flag a row was made without, or with; they are no options of the search, which has a hash."""
    if "count" not in row:  # an error
        return None
    if row.get("near") != (None if nearness is None else str(nearness)):
        return "--within, --at-least, --within-steps or --best"
    if shape["minimal"] != (row.get("minimal_count") is not None):
        return "--minimal"
    count = row["minimal_count"] if shape["minimal"] else row["count"]
    for name, flag in {"optima": "max_solutions", "sample": "sample", "diverse": "diverse"}.items():
        sets, wanted = row.get(name), shape[flag]
        if name == "sample" and sets and count:
            fits = len(sets) == wanted
        elif name != "optima" and not row.get("complete"):
            fits = not sets
        else:
            fits = not sets if not wanted else sets is not None and len(sets) == min(count, wanted)
        if not fits:
            return f"--{flag.replace('_', '-')}"
    return None
