"""The number at a bracket is that of the chunk; "!" marks a chunk that lives and dies with the one it hangs on.

FILE holds parsed sentences as CoNLL-U, or topics with "parses" or meta.conllu.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from optsum.cli.exits import DONE, FAILED, put, tell
from optsum.cli.topics import ReadingFlags
from optsum.corpus.topic import BadTopic
from optsum.errors import InputError, unknown_name
from optsum.system.files import begin_of, name_of, read_text

if TYPE_CHECKING:
    from optsum.chunks.parse import Parse
    from optsum.corpus.topic import Reading


def run(
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
    """Print the chunks of all sentences of a file."""
    from optsum.chunks.display import bracketed, explained, indented, word_sequences
    from optsum.chunks.rules.files import load_rules
    from optsum.chunks.tree import PROFILES, chunk_tree
    from optsum.report.tables.table import counted

    if profile not in PROFILES:
        raise unknown_name("chunk profile", profile, PROFILES)
    rules = load_rules(chunk_rules) if chunk_rules is not None else None
    done, errors = 0, []
    ways: dict[str, list[tuple[int, int]]] = {}
    for item in _items(file, texts.reading()):
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


def _items(file: str, reading: Reading) -> Iterator[Parse | InputError | str]:
    """Yield parses, what is wrong in their place, and lines to be printed as they are."""
    if not _is_json(file):
        from optsum.chunks.conllu_text import conllu_blocks

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
    from optsum.corpus.topics import topics_read

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
    """Return whether the first character is the brace of a JSON object."""
    begin = None if file == "-" else begin_of(file, 4096)
    return begin is not None and begin.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
