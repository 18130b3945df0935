"""The topics are written again with "cover", one for each reference; optsum solve --formulation cover runs on them.

To a sentence of a reference correspond the smallest sets of source sentences that together hold a share of its
n-grams. A topic that cannot be used becomes a row with the reason. TOPICS is as for optsum solve.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from optsum.cli.exits import DONE, FAILED, INTERRUPTED, put, tell
from optsum.cli.flags import Config, CsvSafe, Flags, Output, Overwrite, existing, output_or_pipe
from optsum.cli.topics import Limit, Map, Topics, count_topics, open_topics
from optsum.corpus.alignment import align
from optsum.corpus.topic import BadTopic, Topic, reading_of, topic_to_json
from optsum.options.options import options_of, resolve_as
from optsum.report.messages import bar
from optsum.report.tables.table import Column, Table, counted

_OPTIONS = options_of(align)
FLAGS = Flags(_OPTIONS)

_SHOWN = 50


class _Made:
    """Count the aligned topics, and show the first of them as a table."""

    def __init__(self, max_sets: int) -> None:
        self._max_sets = max_sets
        self._table = Table(
            [Column("id"), *(Column(name, numeric=True) for name in ("sentences", "sets", "uncovered"))]
        )
        self.covers = self.failed = self._sentences = self._uncovered = self._cut = 0
        self._first_error = ""

    def row(self, topic: Topic | BadTopic, folder: Path | None) -> dict[str, Any]:
        """Count a topic, and return its row; paths in it are seen from `folder`."""
        from optsum.corpus.parses import rebased

        if isinstance(topic, BadTopic):
            reason = f"{topic.source}: {topic.error}" if topic.source else topic.error
            self._first_error, self.failed = self._first_error or reason, self.failed + 1
            return {"id": topic.id, "status": "error", "error": reason}
        cover = topic.cover or ()
        bare = sum(not alternatives for alternatives in cover)
        self.covers += 1
        self._sentences += len(cover)
        self._uncovered += bare
        self._cut += len(topic.meta["align"].get("cut", ()))
        if self.covers <= _SHOWN:
            self._table.rows.append([topic.id, str(len(cover)), str(sum(map(len, cover))), str(bare)])
        return topic_to_json(rebased(topic, folder) if folder else topic)

    def show(self, output: str | None) -> None:
        """Say what was made, with the table where the topics are not written."""
        said = f"{counted(self.covers, 'cover')} of {counted(self._sentences, 'abstract sentence')}"
        if self._uncovered:
            without = "without any alternative (optsum solve --uncoverable skip leaves these out)"
            said += f"; {self._uncovered} of them {without}"
        if self._cut:
            said += f"; {self._cut} of them with more sets than --max-sets {self._max_sets}: the smallest are kept"
        if output is None:
            more = [f"... and {self.covers - _SHOWN} more"] if self.covers > _SHOWN else []
            self._table.caption = [*more, said, "-o FILE writes them"]
            self._table.show()
        elif output != "-":
            put(f"{said}; topics in {output}")

    def status(self, *, interrupted: bool) -> int:
        """Return the exit status, and say why if it is not 0."""
        if interrupted:
            return tell(f"interrupted; {counted(self.covers, 'cover')} made", INTERRUPTED)
        if self.failed:
            first = f"the first: {self._first_error}" if self.failed > 1 else self._first_error
            return tell(f"{counted(self.failed, 'topic')} could not be aligned; {first}", FAILED)
        return DONE


def run(
    topics: Topics,
    options: dict[str, Any],
    output: Output = None,
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
    columns: Map = None,
    limit: Limit = None,
    config: Config = None,
) -> int:
    """Align all topics of a file."""
    from optsum.cli.signals import Interrupts
    from optsum.corpus.rows.writer import RowWriter

    given, mode = resolve_as(_OPTIONS, options, config=config).model_dump(), existing(overwrite)
    texts = ("language", "splitter", "flat", "lines", "source_words")
    reading = reading_of(**{name: given[name] for name in texts})._replace(summary_lines="broken")
    output = output_or_pipe(output)
    folder = Path(output).parent if output not in {None, "-"} else None

    def counting() -> Any:
        for topic in source:
            yield topic
            advance()

    source = open_topics(topics, columns, reading, limit)
    aligned = (topic for topic in align(counting(), **given))  # a generator: Ctrl-C can be thrown into it
    inputs = [topics, *filter(None, [config]), given["stopwords"]]
    made, interrupted = _Made(given["max_sets"]), False
    try:
        with ExitStack() as stack:
            rows = (
                stack.enter_context(RowWriter(output, inputs=inputs, existing=mode, csv_safe=csv_safe))
                if output
                else None
            )
            interrupts = stack.enter_context(Interrupts())
            advance = stack.enter_context(bar("topics", lambda: count_topics(topics, limit)))
            for topic in interrupts.pull(aligned, parallel=False):
                row = made.row(topic, folder)
                if rows is not None:
                    rows.write(row)
    except KeyboardInterrupt:
        interrupted = True
    made.show(output)
    return made.status(interrupted=interrupted)
