"""Topics from folders of raw text: stories with highlights, or documents in one folder and references in another."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from optsum.corpus.formats.lines import Line, bad_topic
from optsum.corpus.formats.marks import between_marks
from optsum.corpus.sentences import split_sentences, well_formed
from optsum.errors import InputError
from optsum.system.files import read_text

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


def story_topics(files: list[Path], language: str = "en") -> Iterator[Line]:
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
        yield _line(file, [_sentences(document, language)], [reference])


def parallel_folders(folder: Path) -> tuple[Path, Path] | None:
    """Return the two folders in a folder that hold documents and references; None if there are no such two."""
    inside = {each.name.lower(): each for each in folder.iterdir() if each.is_dir()}
    documents = next((inside[name] for name in _DOCUMENTS if name in inside), None)
    references = next((inside[name] for name in _REFERENCES if name in inside), None)
    return (documents, references) if documents is not None and references is not None else None


def parallel_topics(folders: tuple[Path, Path], language: str = "en") -> Iterator[Line]:
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
        name = entry.name if entry.is_dir() else entry.stem
        found: list[list[list[str]]] = [[], []]
        bad = None
        for texts, files in zip(found, (_files(entry), by_name.get(name, [])), strict=True):
            for file in files:
                text = _text(file)
                if isinstance(text, Line):
                    bad = bad or text
                else:
                    texts.append(_sentences(text, language))
        if bad is not None:
            yield bad._replace(value={**bad.value, "id": name})
        elif not found[1]:
            yield _bad(entry, f"there is no reference in {references} that is called {name}")
        else:
            yield _line(entry, *found)


def _entries(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def _files(entry: Path) -> list[Path]:
    return sorted(file for file in _entries(entry) if file.is_file()) if entry.is_dir() else [entry]


def _prefixes(entry: Path) -> list[str]:
    """Return the names that a file of references may belong to: a.b.txt to "a.b" and "a"."""
    if entry.is_dir():
        return [entry.name]
    return list(filter(None, (entry.stem, entry.stem.rpartition(".")[0])))


def _sentences(text: str, language: str) -> list[str]:
    """Return the sentences of a text; an empty line ends one, as below a heading."""
    if (marked := between_marks(text)) is not None:
        return marked
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)]
    return [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph, language)]


def _text(file: Path) -> str | Line:
    try:
        return read_text(file, "")
    except InputError as error:
        return _bad(file, str(error))


def _line(file: Path, documents: list[list[str]], references: list[list[str]]) -> Line:
    name = file.name if file.is_dir() else file.stem
    return Line(well_formed(str(file)), {"id": name, "documents": documents, "references": references})


def _bad(file: Path, error: str) -> Line:
    name = file.name if file.is_dir() else file.stem
    return bad_topic(well_formed(str(file)), name, error)
