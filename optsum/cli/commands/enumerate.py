"""One row a topic: how many optima there are, the first of them, the units in all and in none of them.

The count is exact and of any size; it is complete unless a limit was reached. TOPICS is as for optsum solve.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from optsum.cli.flags import Config, Flags, Output, Overwrite, Resume, existing, output_or_pipe
from optsum.cli.topics import Map, Topics
from optsum.options.options import Options

FLAGS = Flags(Options, without={"strategy"})


def run(
    topics: Topics,
    options: dict[str, Any],
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="branch-and-bound or exhaustive [branch-and-bound]")
    ] = None,
    max_solutions: Annotated[
        int, typer.Option(metavar="N", min=0, help="optima listed in a row; the count does not depend on it")
    ] = 100,
    count_only: Annotated[bool, typer.Option("--count-only", help="list none")] = False,
    minimal: Annotated[bool, typer.Option("--minimal", help="list only optima that contain no other")] = False,
    output: Output = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    columns: Map = None,
    config: Config = None,
) -> int:
    """Enumerate the optima of all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.report.result_tables import optima_table
    from optsum.running.oracles import enumerate_topics, resolve_enumeration

    resolved = resolve_enumeration({**options, "strategy": strategy}, config=config)
    listed = 0 if count_only else max_solutions
    work = EachTopic(
        topics,
        columns,
        output_or_pipe(output),
        inputs=[config, resolved.stopwords],
        ways=[resolved],
        existing=existing(overwrite, resume),
        other=lambda row: _other(row, listed, minimal),
    )
    return work.show(
        lambda source: enumerate_topics(source, resolved, max_solutions=listed, minimal=minimal), optima_table
    )


def _other(row: Mapping[str, Any], listed: int, minimal: bool) -> str | None:
    """Return which flag a row was made without, or with; they are no options of the search, which has a hash."""
    if "count" not in row:  # an error
        return None
    if minimal != (row.get("minimal_count") is not None):
        return "--minimal"
    count = row["minimal_count"] if minimal else row["count"]
    optima = row.get("optima")
    fits = optima is None if not listed else optima is not None and len(optima) == min(count, listed)
    return None if fits else "--max-solutions"
