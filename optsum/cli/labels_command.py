"""One row a topic: its sentences as they were searched, and 0 or 1 for each.

Raw text is split once, so that labels never shift. --soft adds the share of all optima that hold each sentence, --all K
the labels of K optima. TOPICS is as for optsum solve.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from optsum.cli.exits import put
from optsum.cli.flags import Config, Flags, Output, Overwrite, existing
from optsum.cli.topics import Map, Topics
from optsum.options.options import Options

__all__ = ["FLAGS", "run"]

FLAGS = Flags(Options, without={"strategy"})


def run(
    topics: Topics,
    options: dict[str, Any],
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="how to search [milp; branch-and-bound with --soft or --all]")
    ] = None,
    soft: Annotated[
        bool, typer.Option("--soft", help="add the share of all optima that hold each sentence, and how many there are")
    ] = False,
    all_: Annotated[int, typer.Option("--all", metavar="K", min=0, help="add the labels of up to K optima")] = 0,
    diverse: Annotated[
        bool, typer.Option("--diverse", help="of optima that differ much, instead of the first K")
    ] = False,
    output: Output = None,
    overwrite: Overwrite = False,
    columns: Map = None,
    config: Config = None,
) -> int:
    """Label all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.labelling.labels import Wanted, label_row, label_topics, resolve_labels

    wanted = Wanted(soft, all_, diverse)
    resolved = resolve_labels({**options, "strategy": strategy}, wanted, config=config)
    output = output or "-"
    work = EachTopic(
        topics,
        columns,
        output,
        inputs=[config, resolved.stopwords],
        ways=[resolved],
        existing=existing(overwrite),
        row_of=label_row,
    )
    try:
        for _ in work.run(lambda source: label_topics(source, resolved, wanted)):
            pass
    except KeyboardInterrupt:
        return work.interrupted()
    if output != "-":
        put(work.summary())
    return work.status()
