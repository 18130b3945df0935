"""The topics are written again with "cover", one for each reference; optsum solve --formulation cover runs on them.

To a sentence of a reference correspond the smallest sets of source sentences that together hold a share of its
n-grams. A topic that cannot be used becomes a row with the reason. TOPICS is as for optsum solve.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from optsum.cli.exits import DONE, FAILED, INTERRUPTED, put, tell
from optsum.cli.flags import Config, Flags, Output, Overwrite, existing, output_or_pipe
from optsum.cli.topics import Limit, Map, Topics, count_topics, open_topics
from optsum.corpus.alignment import align
from optsum.corpus.topic import BadTopic, topic_to_json
from optsum.options.options import options_of, resolve_as
from optsum.report.messages.progress import bar

_OPTIONS = options_of(align)
FLAGS = Flags(_OPTIONS)

_SHOWN = 50


def run(
    topics: Topics,
    options: dict[str, Any],
    output: Output = None,
    overwrite: Overwrite = False,
    columns: Map = None,
    limit: Limit = None,
    config: Config = None,
) -> int:
    """Align all topics of a file."""
    from optsum.cli.interrupts import Interrupts
    from optsum.corpus.parses import rebased
    from optsum.corpus.rows.writer import RowWriter
    from optsum.report.tables.table import Column, Table, counted

    given, mode = resolve_as(_OPTIONS, options, config=config).model_dump(), existing(overwrite)
    output = output_or_pipe(output)
    folder = Path(output).parent if output not in {None, "-"} else None
    read = 0

    def counting() -> Any:
        nonlocal read
        for topic in source:
            if read:
                advance()
            read += 1
            yield topic
        advance()

    source = open_topics(topics, columns, given["flat"], limit)
    aligned = align(counting(), **given)
    inputs = [topics, *filter(None, [config]), given["stopwords"]]
    table = Table([Column("id"), *(Column(name, numeric=True) for name in ("sentences", "sets", "uncovered"))])
    made = failed = sentences = uncovered = cut = 0
    first_error, interrupted = "", False
    try:
        with ExitStack() as stack:
            rows = stack.enter_context(RowWriter(output, inputs=inputs, existing=mode)) if output else None
            interrupts = stack.enter_context(Interrupts())
            advance = stack.enter_context(bar("topics", lambda: count_topics(topics, limit)))
            for topic in interrupts.pull(_each(aligned), parallel=False):
                if isinstance(topic, BadTopic):
                    reason = f"{topic.source}: {topic.error}" if topic.source else topic.error
                    row: dict[str, Any] = {"id": topic.id, "status": "error", "error": reason}
                    first_error, failed = first_error or reason, failed + 1
                else:
                    row, cover = topic_to_json(rebased(topic, folder) if folder else topic), topic.cover or ()
                    made += 1
                    bare = sum(not alternatives for alternatives in cover)
                    sentences, uncovered = sentences + len(cover), uncovered + bare
                    cut += len(topic.meta["align"].get("cut", ()))
                    if made <= _SHOWN:
                        table.rows.append([topic.id, str(len(cover)), str(sum(map(len, cover))), str(bare)])
                if rows is not None:
                    rows.write(row)
    except KeyboardInterrupt:
        interrupted = True
    summary = f"{counted(made, 'cover')} of {counted(sentences, 'abstract sentence')}"
    if uncovered:
        summary += f"; {uncovered} of them without any alternative (optsum solve --uncoverable skip leaves these out)"
    if cut:
        summary += f"; {cut} of them with more sets than --max-sets {given['max_sets']}: the smallest are kept"
    if output is None:
        table.caption = [*([f"... and {made - _SHOWN} more"] if made > _SHOWN else []), summary, "-o FILE writes them"]
        table.show()
    elif output != "-":
        put(f"{summary}; topics in {output}")
    if interrupted:
        return tell(f"interrupted; {counted(made, 'cover')} made", INTERRUPTED)
    if failed:
        first = f"the first: {first_error}" if failed > 1 else first_error
        return tell(f"{counted(failed, 'topic')} could not be aligned; {first}", FAILED)
    return DONE


def _each(aligned: Any) -> Any:
    """Make a generator of the iterator, so that Ctrl-C can be thrown into it."""
    yield from aligned
