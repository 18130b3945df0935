"""Topics from raw text: stories with highlights, documents and references in two folders, two files line by line."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import Final

from optsum.corpus.formats.columns import Columns, between_marks
from optsum.corpus.formats.lines import Line, bad_topic, broken_off
from optsum.corpus.sentences import ENGLISH, Splitter, well_formed
from optsum.errors import InputError
from optsum.system.files import READ_ERRORS, PathLike, begin_of, describe_os_error, open_bytes, read_text

__all__ = ["line_pair"]

_DOCUMENTS: Final = (
    *("documents", "document", "articles", "article"),
    *("source", "sources", "src", "texts", "text", "docs"),
)
_REFERENCES: Final = (
    *("references", "reference", "summaries", "summary", "highlights"),
    *("target", "targets", "tgt", "abstracts", "models"),
)
_HIGHLIGHT: Final = re.compile(r"^[ \t]*@highlight[ \t]*$", re.MULTILINE)


def stories_in(folder: Path) -> list[Path]:
    """Return the files ``*.story`` of a folder, by name."""
    return sorted(file for file in folder.glob("*.story") if file.is_file())


def story_topics(files: list[Path], split: Splitter = ENGLISH) -> Iterator[Line]:
    """Yield a topic for each file: raw text, and below each line ``@highlight`` a sentence of the one reference.

    CNN / Daily Mail was spread so. A topic has the name of its file.
    """
    for file in files:
        text = _text(file)
        if isinstance(text, Line):
            yield text
            continue
        document, *highlights = _HIGHLIGHT.split(text)
        if not highlights:
            yield _bad(file, "there is no reference; write one below a line @highlight")
            continue
        reference = [" ".join(highlight.split()) for highlight in highlights if highlight.strip()]
        yield _line(file, [_sentences(document, split)], [reference])


def parallel_folders(folder: Path) -> tuple[Path, Path] | None:
    """Return the two folders in a folder that hold documents and references; None if there are no such two."""
    inside = {each.name.lower(): each for each in folder.iterdir() if each.is_dir()}
    documents = next((inside[name] for name in _DOCUMENTS if name in inside), None)
    references = next((inside[name] for name in _REFERENCES if name in inside), None)
    return (documents, references) if documents is not None and references is not None else None


def parallel_topics(folders: tuple[Path, Path], split: Splitter = ENGLISH) -> Iterator[Line]:
    """Yield a topic for each file, or folder of files, among the documents.

    A topic is called after its file without the ending (or its folder, whose files are its documents). Its references
    are the files of the same name, with or without something behind it: ``a.txt`` has ``a.txt``, ``a.1.txt``,
    ``a.B.txt``, or all files of a folder ``a``.
    """
    documents, references = folders
    by_name: defaultdict[str, list[Path]] = defaultdict(list)
    for entry in _entries(references):
        for name in _prefixes(entry):
            by_name[name] += _files(entry)
    for entry in _entries(documents):
        name = _name(entry)
        found: list[list[list[str]]] = [[], []]
        bad = None
        for texts, files in zip(found, (_files(entry), by_name.get(name, [])), strict=True):
            for file in files:
                text = _text(file)
                if isinstance(text, Line):
                    bad = bad or text
                else:
                    texts.append(_sentences(text, split))
        if bad is not None:
            yield bad._replace(value={**bad.value, "id": name})
        elif not found[1]:
            yield _bad(entry, f"there is no reference in {references} that is called {name}")
        else:
            yield _line(entry, *found)


def _entries(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def _name(entry: Path) -> str:
    return entry.name if entry.is_dir() else entry.stem


def _files(entry: Path) -> list[Path]:
    return sorted(file for file in _entries(entry) if file.is_file()) if entry.is_dir() else [entry]


def _prefixes(entry: Path) -> list[str]:
    """Return the names that a file of references may belong to: a.b.txt to "a.b" and "a"."""
    name = _name(entry)
    return [name] if entry.is_dir() else list(filter(None, (name, name.rpartition(".")[0])))


def _sentences(text: str, split: Splitter) -> list[str]:
    """Return the sentences of a text; an empty line ends one, as below a heading."""
    if (marked := between_marks(text)) is not None:
        return marked
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)]
    return [sentence for paragraph in paragraphs for sentence in split(paragraph)]


def _text(file: Path) -> str | Line:
    try:
        return read_text(file, "")
    except InputError as error:
        return _bad(file, str(error))


def _line(file: Path, documents: list[list[str]], references: list[list[str]]) -> Line:
    return Line(well_formed(str(file)), {"id": _name(file), "documents": documents, "references": references})


def _bad(file: Path, error: str) -> Line:
    return bad_topic(well_formed(str(file)), _name(file), error)


_COUNTERPARTS: Final = {
    "source": ("target",),
    "src": ("tgt",),
    "article": ("highlights", "abstract", "summary"),
    "articles": ("highlights", "abstracts", "summaries"),
    "document": ("summary", "reference"),
    "documents": ("summaries", "references"),
    "text": ("summary",),
}
"""Words in the names of two files that belong together."""

_COLUMNS: Final = Columns({"documents": ("source",), "references": ("target",)})


def line_pair(path: PathLike) -> tuple[Path, Path] | None:
    """Return the two files that a path means: ``SOURCES,SUMMARIES``, or a file with a counterpart beside it.

    A counterpart has the same name but for one word: ``train.source`` and ``train.target``, ``val.src.txt`` and
    ``val.tgt.txt``, ``articles.txt.gz`` and ``highlights.txt.gz``. Files that hold JSON are no such pair.
    """
    name = str(path)
    if not Path(name).exists() and name.count(",") == 1:
        source, target = map(Path, name.split(","))
        return (source, target) if source.is_file() and target.is_file() else None
    if name == "-" or not Path(name).is_file():
        return None
    words = re.split(r"([^A-Za-z]+)", Path(name).name)
    for place, word in enumerate(words):
        for other in _COUNTERPARTS.get(word.lower(), ()):
            beside = Path(name).with_name("".join([*words[:place], other, *words[place + 1 :]]))
            if beside.is_file() and _is_text(Path(name)) and _is_text(beside):
                return Path(name), beside
    return None


def _is_text(path: Path) -> bool:
    """Whether a file begins as plain text, and not as JSON, Parquet or SGML."""
    begin = begin_of(path, 64)
    others = (b"{", b'["', b"[{", b"[[", b"PAR1", b"<DOC", b"<SUM")
    return begin is not None and not begin.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(others)


def pair_topics(pair: tuple[Path, Path], split: Splitter = ENGLISH) -> Iterator[Line]:
    """Return a topic for each two lines, called by its number from 0.

    A line is raw text, or has marks between its sentences or documents (`optsum.corpus.formats.columns`).

    Raises
    ------
    InputError
        At once, if one of the files cannot be opened.
    """
    stack = ExitStack()
    streams = []
    for path in pair:
        try:
            streams.append(open_bytes(path, stack))
        except READ_ERRORS as error:
            stack.close()
            raise InputError(f"the file {path} cannot be opened: {describe_os_error(error)}") from error
    return _pairs(pair, streams[0], streams[1], stack, split)


def _pairs(
    pair: tuple[Path, Path], sources: Iterator[bytes], targets: Iterator[bytes], stack: ExitStack, split: Splitter
) -> Iterator[Line]:
    number = 0
    with stack:
        try:
            for number, (source, target) in enumerate(zip_longest(sources, targets)):
                yield _of_two_lines(pair, number, source, target, split)
        except READ_ERRORS as error:
            yield broken_off(error, str(pair[0]), number + 1)


def _of_two_lines(
    pair: tuple[Path, Path], number: int, source: bytes | None, target: bytes | None, split: Splitter
) -> Line:
    texts = {}
    for name, path, other, raw in (("source", *pair, source), ("target", *pair[::-1], target)):
        where = f"{path}:{number + 1}"
        if raw is None:
            return bad_topic(where, str(number), f"there is no line {number + 1} here, but one in {other}")
        try:
            texts[name] = raw.decode("utf-8-sig" if number == 0 else "utf-8").strip()
        except UnicodeDecodeError as error:
            reason = f"byte {error.start + 1} (0x{raw[error.start]:02x}) is not UTF-8; save the file as UTF-8"
            return bad_topic(where, str(number), reason)
    (topic,) = _COLUMNS.topics(texts, number, split)
    return Line(f"{pair[0]}:{number + 1}", topic)
