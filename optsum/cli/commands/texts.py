"""Commands that prepare topics."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from optsum.chunks.conllu_text import conllu_blocks
from optsum.chunks.display import bracketed, explained, indented, word_sequences
from optsum.chunks.parse import Parse
from optsum.chunks.rules.files import load_rules
from optsum.chunks.tree import PROFILES, chunk_tree
from optsum.cli.exits import DONE, FAILED, INTERRUPTED, put, tell
from optsum.cli.flags import (
    Config,
    CsvSafe,
    Flags,
    Limit,
    Map,
    Output,
    Overwrite,
    ReadingFlags,
    Topics,
    count_topics,
    existing,
    open_topics,
    output_or_pipe,
)
from optsum.corpus.alignment import align
from optsum.corpus.topic import BadTopic, Reading, Topic, reading_of, topic_to_json
from optsum.corpus.topics import topics_read
from optsum.errors import InputError, unknown_name
from optsum.options.options import options_of, resolve_as
from optsum.report.messages import bar
from optsum.report.tables.table import Column, Table, counted
from optsum.system.files import begin_of, name_of, read_text


def run_parse(
    topics: Topics,
    texts: ReadingFlags,
    model: Annotated[str, typer.Option(metavar="NAME", help="pipeline of spaCy, or its folder")] = "en_core_web_sm",
    output: Output = None,
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
    columns: Map = None,
    limit: Limit = None,
) -> int:
    """Parse all topics of a file.

    The topics are written again with "parses", one a sentence; optsum solve --formulation compressive runs on them.

    Needs spaCy (extra spacy) and one of its pipelines: python -m spacy download en_core_web_sm. TOPICS is as for optsum
    solve.
    """
    from optsum.cli.signals import Interrupts
    from optsum.corpus.parses import load_model, parsed_topic
    from optsum.corpus.rows.writer import RowWriter

    output, mode = output_or_pipe(output), existing(overwrite)
    source = open_topics(topics, columns, texts.reading(), limit)
    pipeline = load_model(model)
    made, failed, first_error, interrupted = 0, 0, "", False

    def parsed() -> Generator[dict[str, Any], None, None]:
        for topic in source:
            reason = topic.error if isinstance(topic, BadTopic) else ""
            if not isinstance(topic, BadTopic):
                try:
                    yield topic_to_json(parsed_topic(topic, pipeline))
                except InputError as error:
                    reason = str(error)
            if reason:
                reason = f"{topic.source}: {reason}" if topic.source else reason
                yield {"id": topic.id, "status": "error", "error": reason}
            advance()

    with ExitStack() as stack:
        rows = (
            stack.enter_context(RowWriter(output, inputs=[topics], existing=mode, csv_safe=csv_safe))
            if output
            else None
        )
        interrupts = stack.enter_context(Interrupts())
        advance = stack.enter_context(bar("topics", lambda: count_topics(topics, limit)))
        try:
            for row in interrupts.pull(parsed(), parallel=False):
                if reason := str(row.get("error", "")):
                    first_error = first_error or reason
                made, failed = made + (not reason), failed + bool(reason)
                if rows is not None:
                    rows.write(row)
        except KeyboardInterrupt:
            interrupted = True
            if rows is not None:
                rows.stop()
    if output != "-":
        put(f"{counted(made, 'topic')} parsed" + (f" in {output}" if output and not interrupted else ""))
    if interrupted:
        where = f", in {rows.held}" if rows is not None and rows.held is not None else ""
        return tell(f"interrupted; {counted(made, 'topic')} parsed{where}", INTERRUPTED)
    return tell(f"{counted(failed, 'topic')} could not be parsed; the first: {first_error}", FAILED) if failed else DONE


def run_chunks(
    texts: ReadingFlags,
    file: Annotated[str, typer.Argument(metavar="FILE", help="CoNLL-U or topics; - for CoNLL-U from standard input")],
    profile: Annotated[
        str,
        typer.Option("--profile", "--chunk-profile", metavar="strict|paper", help="strict ties subjects, objects, ..."),
    ] = "strict",
    chunk_rules: Annotated[
        str | None, typer.Option("--chunk-rules", metavar="FILE", help="rules of your own; or ud or clearnlp")
    ] = None,
    tree: Annotated[bool, typer.Option("--tree", help="print the tree of the chunks, too")] = False,
    why: Annotated[bool, typer.Option("--why", help="print the rule that each word falls under, too")] = False,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="print each pair of words that can become neighbours: w, V, U, T, too")
    ] = False,
) -> int:
    """Print the chunks of all sentences of a file.

    The number at a bracket is that of the chunk; "!" marks a chunk that lives and dies with the one it hangs on.

    FILE holds parsed sentences as CoNLL-U, or topics with "parses" or meta.conllu.
    """
    if profile not in PROFILES:
        raise unknown_name("chunk profile", profile, PROFILES)
    rules = load_rules(chunk_rules) if chunk_rules is not None else None
    done, errors = 0, []
    ways: dict[str, list[tuple[int, int]]] = {}
    for item in _items_chunks(file, texts.reading()):
        if isinstance(item, str):
            put(item)
            continue
        done += 1
        if isinstance(item, InputError):
            errors.append(item)
            put(f"# error: {' '.join(str(item).split())}")
        else:
            chunks = chunk_tree(item, profile, rules)
            put(bracketed(item, chunks))
            for part in [indented(item, chunks)] * tree + [explained(item, rules)] * why:
                put(part)
            for number, found in enumerate(word_sequences(item, chunks) if candidates else (), start=1):
                put(f"w{done},{number}: {found}")
                ways.setdefault(found.gram, []).append((done, number))
            if tree or why or candidates:
                put()
    for gram, places in ways.items():
        if len(places) > 1:
            put(f"T({gram.replace('_', ' ')}) = {{{', '.join(f'({i}, {v})' for i, v in places)}}}")
    if not errors:
        return DONE
    first = f"the first: {errors[0]}" if len(errors) > 1 else errors[0]
    return tell(f"{counted(len(errors), 'part')} of {file} could not be used; {first}", FAILED)


def _items_chunks(file: str, reading: Reading) -> Iterator[Parse | InputError | str]:
    """Yield parses, what is wrong in their place, and lines to be printed as they are."""
    if not _is_json(file):
        blocks = conllu_blocks(read_text(file, ""), name_of(file))
        if not blocks:
            raise InputError(
                f"{file} holds no sentence; give CoNLL-U, with a blank line after each sentence, or topics"
            )
        for block in blocks:
            try:
                yield block.parse()
            except InputError as error:
                yield error
        return
    from optsum.corpus.parses import parses_of

    for topic in topics_read(file, reading):
        if isinstance(topic, BadTopic):
            yield InputError(f"{topic.source}: {topic.error}")
            continue
        yield f"# {topic.id}"
        try:
            yield from parses_of(topic)
        except InputError as error:
            yield error


def _is_json(file: str) -> bool:
    begin = None if file == "-" else begin_of(file, 4096)
    return begin is not None and begin.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


_OPTIONS = options_of(align)

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


def run_align(
    topics: Topics,
    options: Annotated[dict[str, Any], Flags(_OPTIONS)],
    output: Output = None,
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
    columns: Map = None,
    limit: Limit = None,
    config: Config = None,
) -> int:
    """Align all topics of a file.

    The topics are written again with "cover", one for each reference; optsum solve --formulation cover runs on them.

    To a sentence of a reference correspond the smallest sets of source sentences that together hold a share of its
    n-grams. A topic that cannot be used becomes a row with the reason. TOPICS is as for optsum solve.
    """
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
    inputs = [topics, *filter(None, [config, given["alignments"]]), given["stopwords"]]
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
