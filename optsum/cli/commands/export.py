"""One file a problem, named by its id, for programs that know nothing of optsum.

optsum import-solution reads their answers.

lp and mps hold the integer program, wcnf (covers only) the MaxSAT instance, json the normal form of every objective.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from optsum.cli.exits import DONE, FAILED, put, tell
from optsum.cli.flags import Config, Flags
from optsum.cli.topics import Limit, Map, Topics, open_topics
from optsum.errors import OptionError
from optsum.options.options import OF_SEARCHES, Options, resolve

FLAGS = Flags(Options, without=OF_SEARCHES)


def run(
    topics: Topics,
    options: dict[str, Any],
    format: Annotated[str, typer.Option("--format", metavar="lp|mps|wcnf|json", help="of the files")] = "lp",  # noqa: A002
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="DIR", help="where they are written")] = None,
    columns: Map = None,
    limit: Limit = None,
    config: Config = None,
) -> int:
    """Export all problems of a file."""
    from optsum.exchange.export import export_topics
    from optsum.report.tables.table import counted
    from optsum.running.posed import posed

    if output is None:
        raise OptionError("An export needs a folder to write to: give --output DIR.")
    _, options = posed(topics, options, config)
    resolved = resolve(options, config=config)
    written, failures = 0, []
    for made in export_topics(open_topics(topics, columns, resolved.reading, limit), output, format, resolved):
        written += made.path is not None
        failures += [] if made.error is None else [f"{made.id or '?'}: {made.error}"]
    put(f"{counted(written, 'file')} in {output}")
    if failures:
        return tell(f"{counted(len(failures), 'problem')} could not be written; the first: {failures[0]}", FAILED)
    return DONE
