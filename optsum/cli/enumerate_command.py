"""One row a topic: how many optima there are, the first of them, the units in all and in none of them.

The count is exact and of any size; it is complete unless a limit was reached. TOPICS is as for optsum solve.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from optsum.cli.flags import Config, Flags, Output
from optsum.options.options import Options

__all__ = ["FLAGS", "run"]

FLAGS = Flags(Options, without={"strategy"})

_SHOWN = 50


def run(
    topics: Annotated[str, typer.Argument(metavar="TOPICS", help="JSON Lines file; - for the standard input")],
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
    config: Config = None,
) -> int:
    """Enumerate the optima of all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.contracts.result import Result
    from optsum.report.result_tables import headline, optima_table
    from optsum.running.oracles import enumerate_topics, resolve_enumeration

    resolved = resolve_enumeration({**options, "strategy": strategy}, config=config)
    terminal = sys.stdout is not None and sys.stdout.isatty()
    output = output or (None if terminal else "-")
    work = EachTopic(topics, output, inputs=[config, resolved.stopwords], ways=[resolved])
    listed = 0 if count_only else max_solutions
    shown: list[Result] = []
    interrupted = False
    try:
        for results in work.run(
            lambda source: enumerate_topics(source, resolved, max_solutions=listed, minimal=minimal)
        ):
            if terminal:
                shown += results[: _SHOWN - len(shown)]
    except KeyboardInterrupt:
        interrupted = True
    if terminal and output != "-":
        table = optima_table(shown)
        table.title = headline(resolved)
        table.caption.append(work.summary())
        table.show()
    elif output != "-":
        print(work.summary())  # noqa: T201
    return work.interrupted() if interrupted else work.status()
