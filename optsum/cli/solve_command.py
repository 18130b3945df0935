"""On a terminal a table is printed; in a pipe, or with -o, the rows are written, one JSON object a line.

Recall needs a length limit: --max-length N, or a --preset. TOPICS holds one topic a line: {"id": ..., "documents":
[[sentence, ...], ...], "references": [[sentence, ...], ...]}
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from optsum.cli.flags import Config, Flags, Output
from optsum.options.options import Options

__all__ = ["FLAGS", "run"]

FLAGS = Flags(Options)

_SHOWN = 50
"""Lines of the table; a file may have any number of topics."""


def run(
    topics: Annotated[str, typer.Argument(metavar="TOPICS", help="JSON Lines file; - for the standard input")],
    options: dict[str, Any],
    output: Output = None,
    config: Config = None,
) -> int:
    """Solve all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.contracts.result import Result
    from optsum.options.options import resolve
    from optsum.report.result_tables import headline, results_table
    from optsum.running.topics import solve_topics

    resolved = resolve(options, config=config)
    terminal = sys.stdout is not None and sys.stdout.isatty()
    output = output or (None if terminal else "-")
    work = EachTopic(topics, output, inputs=[config, resolved.stopwords], ways=[resolved])
    shown: list[Result] = []
    all_, interrupted = 0, False
    try:
        for results in work.run(lambda source: solve_topics(source, resolved)):
            all_ += len(results)
            if terminal and len(shown) < _SHOWN:
                shown += results
    except KeyboardInterrupt:
        interrupted = True
    if terminal and output != "-":
        table = results_table(shown[:_SHOWN])
        table.title = headline(resolved)
        table.caption = [work.summary()]
        if all_ > _SHOWN:
            table.caption.insert(0, f"... and {all_ - _SHOWN} more: -o FILE writes all")
        table.show()
    elif output != "-":
        print(work.summary())  # noqa: T201
    return work.interrupted() if interrupted else work.status()
