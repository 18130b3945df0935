"""The topics are written again with "parses", one a sentence; optsum solve --formulation compressive runs on them.

Needs spaCy (extra spacy) and one of its pipelines: python -m spacy download en_core_web_sm. TOPICS is as for optsum
solve.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any

import typer

from optsum.cli.exits import DONE, FAILED, INTERRUPTED, put, tell
from optsum.cli.flags import CsvSafe, Output, Overwrite, existing, output_or_pipe
from optsum.cli.topics import Limit, Map, ReadingFlags, Topics, count_topics, open_topics
from optsum.corpus.topic import BadTopic, topic_to_json
from optsum.errors import InputError
from optsum.report.messages import bar


def run(
    topics: Topics,
    texts: ReadingFlags,
    model: Annotated[str, typer.Option(metavar="NAME", help="pipeline of spaCy, or its folder")] = "en_core_web_sm",
    output: Output = None,
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
    columns: Map = None,
    limit: Limit = None,
) -> int:
    """Parse all topics of a file."""
    from optsum.cli.signals import Stopping
    from optsum.corpus.parses import load_model, parsed_topic
    from optsum.corpus.rows.writer import RowWriter
    from optsum.report.tables.table import counted

    output, mode = output_or_pipe(output), existing(overwrite)
    source = open_topics(topics, columns, texts.reading(), limit)
    pipeline = load_model(model)
    made, failed, first_error = 0, 0, ""
    with ExitStack() as stack:
        rows = (
            stack.enter_context(RowWriter(output, inputs=[topics], existing=mode, csv_safe=csv_safe))
            if output
            else None
        )
        stopping = stack.enter_context(Stopping())
        advance = stack.enter_context(bar("topics", lambda: count_topics(topics, limit)))
        for topic in stopping.until(source, advance):
            row: dict[str, Any]
            reason = topic.error if isinstance(topic, BadTopic) else ""
            if not isinstance(topic, BadTopic):
                try:
                    row = topic_to_json(parsed_topic(topic, pipeline))
                except InputError as error:
                    reason = str(error)
            if reason:
                reason = f"{topic.source}: {reason}" if topic.source else reason
                row = {"id": topic.id, "status": "error", "error": reason}
                first_error = first_error or reason
            made, failed = made + (not reason), failed + bool(reason)
            if rows is not None:
                rows.write(row)
        if stopping.stopped and rows is not None:
            rows.stop()
    if output != "-":
        put(f"{counted(made, 'topic')} parsed" + (f" in {output}" if output and not stopping.stopped else ""))
    if stopping.stopped:
        where = f", in {rows.held}" if rows is not None and rows.held is not None else ""
        return tell(f"interrupted; {counted(made, 'topic')} parsed{where}", INTERRUPTED)
    return tell(f"{counted(failed, 'topic')} could not be parsed; the first: {first_error}", FAILED) if failed else DONE
