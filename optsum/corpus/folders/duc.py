"""Topics from files of the Document Understanding Conferences: document sets, and summaries beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from optsum.corpus.formats.lines import Line, bad_topic
from optsum.corpus.formats.sgml import Document, Summary, is_sgml, parse_documents, parse_summaries, summary_of_name
from optsum.corpus.sentences import ENGLISH, Splitter, well_formed
from optsum.errors import InputError
from optsum.system.files import begin_of, read_text

_SAMPLE = 4096
_LOOKED_AT = 100
"""Files of a folder that tell what it is."""


def is_duc_file(path: Path) -> bool:
    """Return whether a file holds documents or summaries in SGML."""
    begin = begin_of(path, _SAMPLE)
    return begin is not None and is_sgml(begin)


def duc_files(folder: Path) -> list[Path]:
    """Return all files below a folder, if there are documents or summaries in SGML among the first of them."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and not file.name.startswith("."))
    first = list(islice(files, _LOOKED_AT))
    return [*first, *files] if any(map(is_duc_file, first)) else []


def duc_topics(files: Sequence[Path], split: Splitter = ENGLISH) -> Iterator[Line]:
    """Yield a topic for each document that has summaries of its own, and for each set that has summaries of it all.

    A topic is called after its document, or its set: ``d061``, or ``d061-200`` where there are several sizes. A set is
    the folder that its documents lie in; a letter behind its name says who chose them, and need not be in the
    summaries.

    Parameters
    ----------
    files : sequence of path
        All are held in memory: the largest of these sets has a few megabytes.
    split : Splitter
        By whose rules texts without marked sentences are split.
    """
    line = None
    for line in _topics(files, split):
        yield line
    if line is None:
        yield Line(well_formed(str(files[0])), None, "there is no whole <DOC> and no whole <SUM> here")


def _topics(files: Sequence[Path], split: Splitter) -> Iterator[Line]:
    documents: dict[str, Document] = {}
    sets: defaultdict[str, list[str]] = defaultdict(list)
    origin: dict[str, str] = {}
    summaries: list[Summary] = []
    for file in files:
        source = well_formed(str(file))
        try:
            text = read_text(file, "")
        except InputError as error:
            yield Line(source, None, str(error))
            continue
        summary = summary_of_name(file.name, text, split)
        summaries += parse_summaries(text, split) if summary is None else [summary]
        for document in parse_documents(text, split):
            if not document.name:
                yield Line(source, None, "a document has no number; give <DOCNO>")
            elif document.name in documents:
                if document != documents[document.name]:
                    yield Line(source, None, f"document {document.name!r} is there twice, and differs")
            else:
                documents[document.name] = document
                origin[document.name] = source
            if document.name and document.name not in sets[file.parent.name.casefold()]:
                sets[file.parent.name.casefold()].append(document.name)
    yield from _of_documents(documents, origin, summaries)
    yield from _of_sets(documents, sets, summaries)


def _of_documents(
    documents: dict[str, Document], origin: dict[str, str], summaries: Sequence[Summary]
) -> Iterator[Line]:
    by_document: defaultdict[str, list[Summary]] = defaultdict(list)
    for summary in summaries:
        if not summary.multi:
            by_document[summary.documents[0] if summary.documents else ""].append(summary)
    for name, own in by_document.items():
        if name not in documents:
            of = f"document {name!r}" if name else f"a document of {own[0].docset!r}"
            yield Line(name or own[0].docset, None, f"there is a summary of {of}, but no such document")
    for name, document in documents.items():
        if own := by_document.get(name, []):
            yield _line(name, origin[name], [document], own)
        elif not any(summary.multi for summary in summaries):
            yield bad_topic(origin[name], name, _NONE)


_NONE = "there is no summary of the document; put files with <SUM DOCREF=...>, or pages of SEE, beside it"


def _of_sets(
    documents: dict[str, Document], sets: dict[str, list[str]], summaries: Sequence[Summary]
) -> Iterator[Line]:
    by_set: defaultdict[str, defaultdict[str, list[Summary]]] = defaultdict(lambda: defaultdict(list))
    for summary in summaries:
        if summary.multi:
            by_set[summary.docset.casefold()][summary.size].append(summary)
    for docset, sizes in by_set.items():
        for size, own in sizes.items():
            name = docset if len(sizes) == 1 else f"{docset}-{size}"
            chosen = _documents_of(own[0], documents, sets)
            if chosen:
                yield _line(name, docset, [documents[each] for each in chosen], own)
            else:
                error = f"there are summaries of the document set {docset!r}, but no folder of that name with documents"
                yield bad_topic(docset, name, error)


def _documents_of(summary: Summary, documents: dict[str, Document], sets: dict[str, list[str]]) -> list[str]:
    """Return the documents of a set: those that the summary names, if all are there, or those in its folder."""
    if summary.documents and all(name in documents for name in summary.documents):
        return list(summary.documents)
    docset = summary.docset.casefold()
    for folder, names in sets.items():
        if folder == docset or (folder[:-1] == docset and folder[-1].isalpha()):
            return names
    return []


def _line(name: str, source: str, documents: Sequence[Document], summaries: Sequence[Summary]) -> Line:
    ordered = sorted(summaries, key=lambda summary: summary.author)
    topic = {
        "id": name,
        "documents": [list(document.sentences) for document in documents],
        "references": [list(summary.sentences) for summary in ordered],
        "meta": {
            "documents": [document.name for document in documents],
            "docset": ordered[0].docset,
            "sizes": [summary.size for summary in ordered],
            "authors": [summary.author for summary in ordered],
        },
    }
    return Line(source, topic)
