"""Define the commands that prepare topics: parse, chunks and align."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

from typer import Argument, Option

from optsum.chunks.parse import Parse, conllu_blocks
from optsum.chunks.tree import PROFILES, bracketed, chunk_tree, explained, indented, load_rules, word_sequences
from optsum.cli.flags import Files, Flags, output_or_pipe, reading_by
from optsum.cli.loop import Loop
from optsum.cli.signals import DONE, failed, put
from optsum.corpus.alignment import UNREAD, align
from optsum.corpus.topic import BadTopic, Reading, Topic, topic_to_json
from optsum.corpus.topics import topics_read
from optsum.errors import InputError, counted, located, unknown_name
from optsum.options.options import READING, options_of, reading_of, resolve_as
from optsum.report.tables import Table
from optsum.system.files import begin_of, name_of, read_text


def _written(
    loop: Loop, reading: Reading, make: Callable[[Iterator[Topic | BadTopic]], Iterator[Topic | BadTopic]]
) -> Iterator[Topic]:
    """Write the topics and errors that `make` yields, with paths relative to the output, and yield the topics."""
    from optsum.corpus.parses import rebased

    folder = Path(loop.output).parent if loop.output not in {None, "-"} else None
    source = loop.topics(reading)
    with loop:
        # A generator, because Ctrl-C is thrown into it; `make` may return another iterator.
        for topic in loop.iterate(made for made in make(source)):
            if isinstance(topic, BadTopic):
                reason = located(topic.source, topic.error)
                loop.write({"id": topic.id, "status": "error", "error": reason}, reason)
            else:
                loop.write(topic_to_json(rebased(topic, folder) if folder else topic))
                yield topic


def run_parse(
    files: Files,
    options: Annotated[dict[str, Any], Flags(READING)],
    model: Annotated[str, Option(metavar="NAME", help="pipeline of spaCy, or its folder")] = "en_core_web_sm",
) -> int:
    """Parse all topics of a file.

    Writes the topics with "parses", one for each sentence, as optsum solve --formulation compressive needs them.

    Needs spaCy (extra spacy) and one of its pipelines: python -m spacy download en_core_web_sm. TOPICS is as for optsum
    solve.
    """
    from optsum.corpus.parses import load_model, parsed_topic

    reading = reading_by(options, files.config)
    loop = Loop(files, output_or_pipe(files.output))
    pipeline = load_model(model)

    def parsed(topics: Iterator[Topic | BadTopic]) -> Iterator[Topic | BadTopic]:
        for topic in topics:
            try:
                yield topic if isinstance(topic, BadTopic) else parsed_topic(topic, pipeline)
            except InputError as error:
                yield BadTopic(topic.id, topic.source, str(error))

    done = f"{counted(sum(1 for _ in _written(loop, reading, parsed)), 'topic')} parsed"
    if loop.output != "-":
        put(done + (f" in {loop.output}" if loop.output and not loop.interrupted else ""))
    return loop.status(done, f"{counted(loop.errors, 'topic')} could not be parsed")


def run_chunks(
    options: Annotated[dict[str, Any], Flags(READING)],
    file: Annotated[str, Argument(metavar="FILE", help="CoNLL-U or topics; - for CoNLL-U from standard input")],
    profile: Annotated[
        str,
        Option(
            "--profile",
            "--chunk-profile",
            metavar="strict|paper",
            help="strict keeps subjects, objects and the like with their verb; paper lets each be dropped",
        ),
    ] = "strict",
    chunk_rules: Annotated[
        str | None, Option("--chunk-rules", metavar="FILE", help="ud, clearnlp, or a file of your own rules")
    ] = None,
    tree: Annotated[bool, Option("--tree", help="also print the tree of the chunks")] = False,
    why: Annotated[bool, Option("--why", help="also print the rule that applies to each word")] = False,
    candidates: Annotated[
        bool,
        Option(
            "--candidates", help="also print each pair of words that can become neighbours, and its sets V, U and T"
        ),
    ] = False,
) -> int:
    """Print the chunks of all sentences of a file.

    The number at a bracket is that of the chunk; "!" marks a chunk that is kept or dropped together with its parent.

    FILE has parsed sentences as CoNLL-U, or topics with "parses" or meta.conllu.
    """
    if profile not in PROFILES:
        raise unknown_name("chunk profile", profile, PROFILES)
    rules = load_rules(chunk_rules) if chunk_rules is not None else None
    done, errors = 0, []
    ways: dict[str, list[tuple[int, int]]] = {}
    for item in _items_chunks(file, reading_by(options)):
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
            for number, (gram, line) in enumerate(word_sequences(item, chunks) if candidates else (), start=1):
                put(f"w{done},{number}: {line}")
                ways.setdefault(gram, []).append((done, number))
            if tree or why or candidates:
                put()
    for gram, places in ways.items():
        if len(places) > 1:
            put(f"T({gram.replace('_', ' ')}) = {{{', '.join(f'({i}, {v})' for i, v in places)}}}")
    if not errors:
        return DONE
    return failed(f"{counted(len(errors), 'part')} of {file} could not be used", len(errors), str(errors[0]))


def _items_chunks(file: str, reading: Reading) -> Iterator[Parse | InputError | str]:
    # A pipe could not be read again.
    begin = begin_of(file, 4096) if file != "-" and os.path.isfile(file) else None  # noqa: PTH113
    if begin is None or not begin.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        text = read_text(file, "")
        if text.lstrip().startswith("{"):
            raise InputError(f"{name_of(file)} is a pipe with topics; save them to a file, and give that")
        blocks = conllu_blocks(text, name_of(file))
        if not blocks:
            raise InputError(f"{file} has no sentence; give CoNLL-U, with a blank line after each sentence, or topics")
        for block in blocks:
            try:
                yield block.parse()
            except InputError as error:
                yield error
        return
    from optsum.corpus.parses import parses_of

    for topic in topics_read(file, reading):
        if isinstance(topic, BadTopic):
            yield InputError(located(topic.source, topic.error))
            continue
        yield f"# {topic.id}"
        try:
            yield from parses_of(topic)
        except InputError as error:
            yield error


_OPTIONS: Final = options_of(align)
_SHOWN: Final = 50  # Lines of the table.


def run_align(files: Files, options: Annotated[dict[str, Any], Flags(_OPTIONS)]) -> int:
    """Align all topics of a file.

    Writes the topics with "cover", one for each reference, as optsum solve --formulation cover needs them.

    Each sentence of a reference is aligned with the smallest sets of source sentences that together contain a given
    share of its n-grams. A topic that cannot be used becomes a row with the reason. TOPICS is as for optsum solve.
    """
    resolved = resolve_as(_OPTIONS, options, config=files.config)
    given = resolved.model_dump()
    loop = Loop(files, output_or_pipe(files.output), [*filter(None, [given["alignments"]]), given["stopwords"]])
    table = Table.of(["id"], ["sentences", "sets", "uncovered"])
    covers = sentences = uncovered = cut = 0
    reading = reading_of(resolved)._replace(summary_lines="broken")

    def aligned(source: Iterator[Topic | BadTopic]) -> Iterator[Topic | BadTopic]:
        for topic in align(source, **given):
            # With a limit, alignments may name topics that are not read.
            if files.limit is None or not isinstance(topic, BadTopic) or topic.error != UNREAD:
                yield topic

    for topic in _written(loop, reading, aligned):
        cover = topic.cover or ()
        bare = sum(not alternatives for alternatives in cover)
        covers, sentences, uncovered = covers + 1, sentences + len(cover), uncovered + bare
        cut += len(topic.meta["align"].get("cut", ()))
        if covers <= _SHOWN:
            table.rows.append([topic.id, str(len(cover)), str(sum(map(len, cover))), str(bare)])
    said = f"{counted(covers, 'cover')} of {counted(sentences, 'abstract sentence')}"
    if uncovered:
        said += f"; {uncovered} of them without any alternative (optsum solve --uncoverable skip leaves these out)"
    if cut:
        said += f"; {cut} of them with more sets than --max-sets {given['max_sets']}: the smallest are kept"
    if loop.output is None:
        more = [f"... and {covers - _SHOWN} more"] if covers > _SHOWN else []
        table.caption = [*more, said, "-o FILE writes them"]
        table.show()
    elif loop.output != "-":
        put(f"{said}; topics in {loop.output}")
    return loop.status(f"{counted(covers, 'cover')} made", f"{counted(loop.errors, 'topic')} could not be aligned")
