"""Tables are printed: means of each system, and correlations if there are human scores. -o writes a row a summary.

TOPICS is as for optsum solve. SYSTEMS holds one summary a line: {"topic_id": ..., "system": ..., "summary": [sentence,
...], "human": {name: number}}; an extract may have "selection", a list of sentence numbers, instead.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any

import typer

from optsum.cli.exits import DONE, FAILED, INTERRUPTED, tell
from optsum.cli.flags import Config, CsvSafe, Flags, Format, Output, Overwrite, existing
from optsum.cli.topics import Limit, Map, Topics, count_topics, open_topics
from optsum.options.options import ScoreOptions, resolve_score
from optsum.report.messages import bar
from optsum.report.tables.formats import table_format

FLAGS = Flags(ScoreOptions)


def run(
    topics: Topics,
    systems: Annotated[
        str, typer.Argument(metavar="SYSTEMS", help="a file of summaries, of any format (docs/topics.md)")
    ],
    options: dict[str, Any],
    format_: Format = "text",
    output: Output = None,
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
    columns: Map = None,
    limit: Limit = None,
    config: Config = None,
) -> int:
    """Score all summaries of a file."""
    resolved, mode, form = resolve_score(options, config=config), existing(overwrite), table_format(format_)

    from optsum.cli.signals import Interrupts
    from optsum.corpus.rows.writer import RowWriter
    from optsum.corpus.systems import systems_read
    from optsum.report.system_scores import SystemScores, score_rows
    from optsum.report.tables.table import counted, put_tables

    scores = SystemScores(resolved)
    first_error = None
    of_topics, of_systems = open_topics(topics, columns, resolved.reading), systems_read(systems, resolved.reading)
    inputs = [topics, systems, *filter(None, [config]), resolved.stopwords]
    try:
        with ExitStack() as stack:
            writer = (
                stack.enter_context(RowWriter(output, inputs=inputs, existing=mode, csv_safe=csv_safe))
                if output
                else None
            )
            interrupts = stack.enter_context(Interrupts())
            advance = stack.enter_context(bar("topics", lambda: count_topics(topics, limit)))
            for rows in interrupts.pull(
                score_rows(of_topics, of_systems, resolved, scores.oracles, limit), parallel=False
            ):
                scores.add(rows)
                for row in rows:
                    first_error = first_error or row["error"]
                    if writer is not None:
                        writer.write(row)
                advance()
    except KeyboardInterrupt:
        return tell(f"interrupted; {counted(scores.summaries, 'summary')} scored", INTERRUPTED)
    if output != "-":
        put_tables(scores, form)
    if scores.failed:
        return tell(f"{scores.failed} could not be scored, the first: {first_error}", FAILED)
    return DONE
