"""One row a topic: its sentences as they were searched, and 0 or 1 for each.

Raw text is split once, so that labels never shift. --soft adds the share of all optima that hold each sentence, --all K
the labels of K optima; with --within and the like both are of all selections that are nearly as good. TOPICS is as for
optsum solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from optsum.cli.exits import put
from optsum.cli.flags import Files, Flags, NearFlags
from optsum.options.options import Options

FLAGS = Flags(Options, without={"strategy"})


@dataclass(frozen=True)
class LabelFiles(Files):
    """Rows of labels may be a folder."""

    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE|DIR/", help="rows, as .jsonl, .csv or .parquet; a folder of datasets: DIR/"
        ),
    ] = None


def run(
    files: LabelFiles,
    options: dict[str, Any],
    near: NearFlags,
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="how to search [auto; branch-and-bound with --soft or --all]")
    ] = None,
    soft: Annotated[
        bool, typer.Option("--soft", help="add the share of all optima that hold each sentence, and how many there are")
    ] = False,
    all_: Annotated[int, typer.Option("--all", metavar="K", min=0, help="add the labels of up to K optima")] = 0,
    diverse: Annotated[
        bool, typer.Option("--diverse", help="of optima that differ much, instead of the first K")
    ] = False,
    weighted: Annotated[bool, typer.Option("--weighted", help="count each by its objective in the shares")] = False,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="bertsum|datasets", help="of the output, where its name does not say it"),
    ] = None,
) -> int:
    """Label all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.corpus.rows.formats import format_of_labels
    from optsum.exchange.labels import Wanted, label_result, label_row, label_topics, resolve_labels

    output = files.output or "-"
    form = format_of_labels(output, format_)
    nearness = near.nearness()
    wanted = Wanted(soft, all_, diverse, form.kind == "bertsum", nearness, weighted)
    resolved = resolve_labels({**options, "strategy": strategy}, wanted, config=files.config)
    work = EachTopic(
        files,
        output,
        [resolved],
        other=wanted.differing,
        row_of=label_row,
        result_of=label_result,
        form=form if form.kind in {"bertsum", "datasets"} else None,
    )
    with work.until_interrupted():
        for _ in work.run(lambda source: label_topics(source, resolved, wanted)):
            pass
    if output != "-" and not work.interrupted:
        put(work.summary())
    return work.status()
