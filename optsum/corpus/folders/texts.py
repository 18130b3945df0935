"""Topics from raw text: stories with highlights, documents and references in two folders, two files line by line."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import Final
from unicodedata import normalize

from optsum.corpus.formats.lines import BY_RETURNS, Line, bad_topic, broken_off, ends_by_returns, text_of
from optsum.corpus.sentences import well_formed
from optsum.corpus.topic import AS_IS, Reading, Text
from optsum.errors import InputError
from optsum.system.files import READ_ERRORS, PathLike, begin_of, describe_os_error, is_meant, open_bytes, read_text

_DOCUMENTS: Final = (
    *("documents", "document", "articles", "article"),
    *("source", "sources", "src", "texts", "text", "docs", "news articles"),
)
_REFERENCES: Final = (
    *("references", "reference", "summaries", "summary", "highlights"),
    *("target", "targets", "tgt", "abstract", "abstracts", "models"),
)
_HIGHLIGHT: Final = re.compile(r"^[^\S\r\n]*@highlight[^\S\r\n]*\r?$", re.MULTILINE)


def stories_in(folder: Path) -> list[Path]:
    """Return the files ``*.story`` of a folder, sorted by name."""
    return sorted(file for file in folder.glob("*.story") if is_meant(file.name) and file.is_file())


def story_topics(files: list[Path], reading: Reading = AS_IS) -> Iterator[Line]:
    """Yield one topic for each file, as in CNN / Daily Mail: raw text, then references below ``@highlight``."""
    for file in files:
        try:
            text = _text(file)
        except InputError as error:
            yield bad_topic(file, _name(file), str(error))
            continue
        document, *highlights = _HIGHLIGHT.split(text)
        if not highlights:
            yield bad_topic(file, _name(file), "there is no reference; write one below a line @highlight")
            continue
        reference = [" ".join(highlight.split()) for highlight in highlights if highlight.strip()]
        yield _line(file, reading.documents(document, "the story"), [tuple(reference)], _name(file))


def parallel_folders(folder: Path) -> tuple[Path, Path] | None:
    """Return the two subfolders with documents and references; None if there are none."""
    inside = {each.name.lower(): each for each in folder.iterdir() if each.is_dir()}
    documents = next((inside[name] for name in _DOCUMENTS if name in inside), None)
    references = next((inside[name] for name in _REFERENCES if name in inside), None)
    return (documents, references) if documents is not None and references is not None else None


def parallel_topics(folders: tuple[Path, Path], reading: Reading = AS_IS) -> Iterator[Line]:
    """Yield a topic for each file of documents, or folder of such files.

    A topic is named after its file without the ending (or after its folder, whose files are its documents). Its
    references are the files of the same name, with or without a suffix: ``a.1.txt``, ``a.B.txt``, or all files of a
    folder ``a``. If two folders ``a`` contain files of the same names, those are the topics, ``a/1``, ``a/2`` (BBC News
    Summary).
    """
    documents, references = folders
    for beside in sorted(documents.parent.iterdir()):
        if beside.is_dir() and beside not in folders and beside.name.lower() in {*_DOCUMENTS, *_REFERENCES}:
            reading.notes(
                "beside", f"documents are {documents.name}, references are {references.name}, and {beside} is left out"
            )
    entries = _entries(documents)
    names = set(map(_name, entries))
    by_name: defaultdict[str, list[Path]] = defaultdict(list)
    left = []
    for entry in _entries(references):
        if (owner := next((name for name in _owners(entry) if name in names), None)) is not None:
            by_name[owner] += _files(entry)
        else:
            left.append(entry)
    if left:
        reading.notes(
            "left",
            f"{len(left)} of {references} belong{'s' if len(left) == 1 else ''} to nothing in {documents}, such as "
            f"{left[0].name}, and is left out; give it the name of its document, or NAME.1.txt and NAME.2.txt where "
            "several belong to one",
        )
    for entry in entries:
        beside = references / entry.name
        if entry.is_dir() and beside.is_dir():
            files = [{_name(file): file for file in _files(each)} for each in (entry, beside)]
            shared = files[0].keys() & files[1].keys()
            if shared and files[0].keys() == files[1].keys():
                reading.notes(
                    "folders",
                    f"{entry} and {beside} have files of the same names, which are separate topics, such as "
                    f"{entry.name}/{min(shared)}; for one topic give the references other names",
                )
                for name, file in files[0].items():
                    yield _topic(f"{entry.name}/{name}", file, [file], [files[1][name]], references, reading)
                continue
            if shared:
                reading.notes(
                    "folders",
                    f"{entry} is one topic, though {beside} holds some files of the same names, such as "
                    f"{min(shared)}; if all names are the same, each is a separate topic",
                )
        name = _name(entry)
        yield _topic(name, entry, _files(entry), by_name.get(name, []), references, reading)


def _topic(
    name: str, entry: Path, documents: list[Path], summaries: list[Path], references: Path, reading: Reading
) -> Line:
    """Return the topic of some files; `references`: the folder that was searched for more of them."""
    texts: list[Text] = []
    found: list[Text] = []
    try:
        for file in documents:
            texts += reading.documents(_text(file), "the documents")
        found = [reading.summary(_text(file)) for file in summaries]
    except InputError as error:
        return bad_topic(entry, name, str(error))
    if not found:
        return bad_topic(entry, name, f"there is no reference in {references} named {name}")
    return _line(entry, texts, found, name)


def _entries(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if is_meant(entry.name))


def _name(entry: Path) -> str:
    """Return the name without the ending, with each accent composed into one character: macOS may store two."""
    return normalize("NFC", entry.name if entry.is_dir() else entry.stem)


def _files(entry: Path) -> list[Path]:
    return sorted(file for file in _entries(entry) if file.is_file()) if entry.is_dir() else [entry]


def _owners(entry: Path) -> list[str]:
    """Return the names that a file of references may belong to, likeliest first: a.b.txt to "a.b", or to "a"."""
    name = _name(entry)
    return [name] if entry.is_dir() else list(filter(None, (name, name.rpartition(".")[0])))


def _text(file: Path) -> str:
    text = read_text(file, "")
    if _HTML.match(text):
        raise InputError(f"{well_formed(str(file))} is an HTML page; give its text")
    return text


_HTML: Final = re.compile(r"\s*(?:<!doctype html|<html)\b", re.IGNORECASE)


def _line(file: Path, documents: Sequence[Text], references: Sequence[Text], name: str) -> Line:
    for what, texts in (("document", documents), ("reference", references)):
        if not any(texts):
            return bad_topic(file, name, f"the {what} is empty; give it a text, or leave the topic out")
    topic = {"id": name, "documents": list(map(list, documents)), "references": list(map(list, references))}
    return Line(well_formed(str(file)), topic)


_COUNTERPARTS: Final = {
    "source": ("target",),
    "src": ("tgt",),
    "article": ("highlights", "abstract", "summary", "title"),
    "articles": ("highlights", "abstracts", "summaries", "titles"),
    "document": ("summary", "reference"),
    "documents": ("summaries", "references"),
    "text": ("summary",),
}
"""Words in the names of two files that belong together."""

_NO_TEXT: Final = re.compile(rb"\{\s*[\"}]|\[\s*[\"{\[]|PAR1|<(?:DOC|SUM)[\s>]")


def line_pair(path: PathLike) -> tuple[Path, Path] | None:
    """Return the two files of a path: ``SOURCES,SUMMARIES``, or a file with a counterpart in its folder.

    The names differ in one word: ``train.source`` and ``train.target``, ``val.src.txt`` and ``val.tgt.txt``. Files of
    JSON are not such a pair.
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
    begin = begin_of(path, 64)
    return begin is not None and _NO_TEXT.match(begin.lstrip(b"\xef\xbb\xbf \t\r\n")) is None


def pair_topics(pair: tuple[Path, Path], reading: Reading = AS_IS) -> Iterator[Line]:
    """Yield a topic for each pair of lines, named by its number from 0; a line may have marks, as raw text has."""
    stack = ExitStack()
    streams = []
    for path in pair:
        try:
            streams.append(open_bytes(path, stack))
        except READ_ERRORS as error:
            stack.close()
            raise InputError(f"the file {path} cannot be opened: {describe_os_error(error)}") from error

    def topics() -> Iterator[Line]:
        number = 0
        with stack:
            try:
                for number, (source, target) in enumerate(zip_longest(*streams)):
                    yield _of_two_lines(pair, number, source, target, reading)
            except READ_ERRORS as error:
                yield broken_off(error, str(pair[0]), number + 1)

    return topics()


def _of_two_lines(
    pair: tuple[Path, Path], number: int, source: bytes | None, target: bytes | None, reading: Reading
) -> Line:
    texts = {}
    for name, path, other, raw in (("source", *pair, source), ("target", *pair[::-1], target)):
        where = f"{path}:{number + 1}"
        if raw is None:
            return bad_topic(where, str(number), f"there is no line {number + 1} here, but one in {other}")
        if number == 0 and ends_by_returns(raw):
            return bad_topic(where, str(number), BY_RETURNS)
        try:
            texts[name] = text_of(raw).strip()
        except InputError as error:
            return bad_topic(where, str(number), str(error))
        if not texts[name]:
            return bad_topic(where, str(number), "the line is empty; give it a text, or leave it out of both files")
    documents = [list(document) for document in reading.documents(texts["source"], str(pair[0]))]
    references = [list(reading.summary(texts["target"]))]
    return Line(f"{pair[0]}:{number + 1}", {"id": str(number), "documents": documents, "references": references})
