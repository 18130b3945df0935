"""Topics from a folder of CoNLL-U files: each file a topic, each ``# newdoc`` a document, the parses included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from optsum.chunks.conllu_text import Block, conllu_blocks
from optsum.corpus.formats.lines import Line, bad_topic
from optsum.corpus.sentences import well_formed
from optsum.corpus.topic import Reading, as_id
from optsum.errors import InputError
from optsum.system.files import is_meant, read_text

_REFERENCE = re.compile(r"(?:meta::)?(?:summary|reference)_?\d*")
_AUTHOR = re.compile(r"\(([^()]*)\)\s*")


def conllu_files(folder: Path) -> list[Path]:
    """Return the CoNLL-U files of a folder, by name."""
    files = (*folder.glob("*.conllu"), *folder.glob("*.conllu.gz"))
    return sorted(file for file in files if is_meant(file.name) and file.is_file())


def conllu_topics(files: list[Path], reading: Reading) -> Iterator[Line]:
    """Iterate over the topics of CoNLL-U files, each a topic with the name of its file.

    Its references are comments ``# summary1 = ...``, ``# reference = ...`` (or ``# meta::summary1 = ...``, as the
    treebank GUM has them), raw text, which may begin with who wrote it, in parentheses; one that says so and does not
    say "human" is left out. One file is in memory at a time.
    """
    return (_topic(file, reading) for file in files)


def _topic(file: Path, reading: Reading) -> Line:
    name = file.name.removesuffix(".gz").removesuffix(".conllu")
    source = well_formed(str(file))
    try:
        as_id(name, "the name of the file")
    except InputError as error:
        return Line(source, None, str(error))
    try:
        blocks = conllu_blocks(read_text(file, ""), "")
        documents: list[list[str]] = []
        references: list[Any] = []
        for block in blocks:
            if not documents or any(line.startswith(("# newdoc", "#newdoc")) for line in block.text.split("\n")):
                documents.append([])
            documents[-1].append(block.parse().text)
            references += [reading.summary(text) for text in _references(block)]
    except InputError as error:
        return bad_topic(source, name, str(error))
    if not references:
        return bad_topic(source, name, "there is no reference; give it as a comment, # summary1 = text")
    parses = [block.text for block in blocks]
    return Line(source, {"id": name, "documents": documents, "references": references, "parses": parses})


def _references(block: Block) -> Iterator[str]:
    for key, value in block.meta.items():
        if _REFERENCE.fullmatch(key):
            author = _AUTHOR.match(value)
            if author is None:
                yield value
            elif "human" in author[1]:
                yield value[author.end() :]
