"""Topics from files of the Document Understanding Conferences and of TAC: document sets, and summaries next to them.

A document has ``<DOC>``, ``<DOCNO>`` (or ``<DOC id="...">``) and ``<TEXT>``, with its sentences in ``<s ...>`` if they
were marked (as in Figure 1 of Lin & Hovy 2003). A summary is ``<SUM DOCSET= TYPE= SIZE= DOCREF= ...>``, or a page for
the evaluation environment SEE, whose name has the same fields: ``D061.P.100.J.B.AP880911-0016.html``. The files are not
XML: tags are not closed, ampersands are not escaped, case varies.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from optsum.corpus.formats.lines import Line, bad_topic
from optsum.corpus.sentences import lines_of, well_formed
from optsum.corpus.topic import AS_IS, Reading
from optsum.errors import InputError
from optsum.system.files import begin_of, is_meant, read_text

_SAMPLE = 4096
_CHOOSER = r"(?<=\d)[a-z](?=-[a-z]$|$)"
"""The letter of the person who chose the documents of a set, which summaries leave out: d061j, d0801a-a."""

_LOOKED_AT = 100  # Files of a folder that tell what it is.


def is_duc_file(path: Path) -> bool:
    """Return whether a file contains documents or summaries in SGML."""
    begin = begin_of(path, _SAMPLE)
    return begin is not None and is_sgml(begin)


def duc_files(folder: Path) -> list[Path]:
    """Return all files below a folder if the first of them include documents or summaries in SGML."""
    files = (
        file
        for file in sorted(folder.rglob("*"))
        if all(map(is_meant, file.relative_to(folder).parts)) and file.is_file()
    )
    first = list(islice(files, _LOOKED_AT))
    return [*first, *files] if any(map(is_duc_file, first)) else []


def duc_topics(files: Sequence[Path], reading: Reading = AS_IS) -> Iterator[Line]:
    """Yield a topic for each document with summaries of its own, and for each set with summaries of the set.

    A topic is called after its document, or its set: ``d061``, or ``d061-200`` where there are several sizes. A set is
    the folder of its documents; the letter after its name (who chose them) may be missing in the summaries.
    """
    line = None
    for line in _topics(files, reading):
        yield line
    if line is None:
        yield Line(well_formed(str(files[0])), None, "there is no complete <DOC> or <SUM> here")


def _topics(files: Sequence[Path], reading: Reading) -> Iterator[Line]:
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
        summary = summary_of_name(file.name, text, reading)
        summaries += parse_summaries(text, reading) if summary is None else [summary]
        for document in parse_documents(text, reading):
            if not document.name:
                yield Line(source, None, "a document has no number; give <DOCNO>")
            elif document.name in documents:
                if document != documents[document.name]:
                    yield Line(source, None, f"document {document.name!r} occurs twice with different contents")
            else:
                documents[document.name] = document
                origin[document.name] = source
            if document.name and document.name not in sets[file.parent.name.casefold()]:
                sets[file.parent.name.casefold()].append(document.name)
    yield from _of_documents(documents, origin, summaries)
    yield from _of_sets(documents, sets, summaries, reading)


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
            missing = "there is no summary of the document; put files with <SUM DOCREF=...>, or pages of SEE, beside it"
            yield bad_topic(origin[name], name, missing)


def _of_sets(
    documents: dict[str, Document], sets: dict[str, list[str]], summaries: Sequence[Summary], reading: Reading
) -> Iterator[Line]:
    by_set: defaultdict[str, defaultdict[str, list[Summary]]] = defaultdict(lambda: defaultdict(list))
    used: set[str] = set()
    for summary in summaries:
        used.update(summary.documents)
        if summary.multi:
            by_set[summary.docset.casefold()][summary.size].append(summary)
            used.update(_documents_of(summary, documents, sets))
            if absent := [name for name in summary.documents if name not in documents]:
                number = f"{len(absent)} documents that are" if len(absent) > 1 else "1 document that is"
                one = f"a summary of {summary.docset} names {number} not here, such as {absent[0]}"
                reading.notes("absent", f"{one}; its topic has those of its folder")
    if by_set and (left := [folder for folder, names in sets.items() if used.isdisjoint(names)]):
        number = f"{len(left)} folder{'s' * (len(left) > 1)} of documents without a summary, such as {left[0]}"
        out = f"{'are' if len(left) > 1 else 'is'} left out"
        reading.notes("left", f"{number}, {out}; put files with <SUM DOCREF=...>, or models, beside it")
    for docset, sizes in by_set.items():
        for size, own in sizes.items():
            name = own[0].docset if len(sizes) == 1 else f"{own[0].docset}-{size}"
            chosen = _documents_of(own[0], documents, sets)
            if chosen:
                yield _line(name, docset, [documents[each] for each in chosen], own)
            else:
                error = f"there are summaries of the document set {docset!r}, but no folder of that name with documents"
                yield bad_topic(docset, name, error)


def _documents_of(summary: Summary, documents: dict[str, Document], sets: dict[str, list[str]]) -> list[str]:
    """Return the documents of a set: those named by the summary if all exist, else those in its folder."""
    if summary.documents and all(name in documents for name in summary.documents):
        return list(summary.documents)
    docset = summary.docset.casefold()
    for folder, names in sets.items():
        if docset in {folder, re.sub(_CHOOSER, "", folder)}:
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


# The markup.

# Each looks no further than the next tag of its kind, so that damaged files take no longer than others.
_DOC = r"(?is)(<doc(?=[\s>])[^<>]*>.*?)(?=</doc>|<doc(?=[\s>])|\Z)"
_DOCNO = r"(?i)<docno>([^<]*)|<doc(?=[\s>])[^<>]*?\bid\s*=\s*[\"']?([^\"'\s<>]+)"
_TEXT = r"(?is)<text\b[^<>]*>(.*?)(?=</text>|<text\b|\Z)"
_HEADLINE = r"(?is)<(headline|hl|head|title)\b[^<>]*>.*?(?=</\1>|<\1\b|\Z)"
_S = r"(?i)<s\b([^<>]*)>"
_HEAD = "hsntno"
_PARAGRAPH = r"(?i)</?p\b[^<>]*>|<br\b[^<>]*>|\n\s*\n"
_TAG = r"</?[a-zA-Z!][^<>]*>"
_SUM = r"(?is)<sum\b([^<>]*)>(.*?)(?=</sum>|<sum\b|\Z)"
_ATTRIBUTE = r"([\w-]{1,40})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))"
_SEE = r"(?is)<a\b[^<>]{0,200}\bid\s*=\s*\"?\d+\"?[^<>]{0,200}>(.*?)(?=</a>|<a\b|\Z)"
_NAME = r"(?i)(d\d+(?:-[a-z])?)\.([mp])\.(\d+)\.(\w+)\.(\w+)(?:\.([\w-]+?))?(?:\.html?)?"
_BEGIN = rb"(?i)\s*(?:<\?xml[^>]*>\s*|<!doctype[^>]*>\s*)*<(?:doc|sum)(?=[\s>])"


@dataclass(frozen=True, slots=True)
class Document:
    """A document and its sentences, without the headline."""

    name: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that a person or a system wrote."""

    docset: str  # The set of documents, such as ``d061``.
    documents: tuple[str, ...]  # Those that it is of, as far as it names them.
    multi: bool  # It is of a whole set.
    size: str  # Words that were asked for, as it is written.
    author: str
    sentences: tuple[str, ...]


def is_sgml(sample: bytes) -> bool:
    """Return whether a file with this beginning contains documents or summaries."""
    return re.match(_BEGIN, sample.removeprefix(b"\xef\xbb\xbf")) is not None


def parse_documents(text: str, reading: Reading = AS_IS) -> Iterator[Document]:
    r"""Yield the documents of a file.

    >>> text = "<DOC><DOCNO> AP1 </DOCNO><TEXT><s num=1>A seriously\nill cat.</s>\n<s num=2>AT&amp;T.</s></TEXT></DOC>"
    >>> list(parse_documents(text))
    [Document(name='AP1', sentences=('A seriously ill cat.', 'AT&T.'))]
    """
    for found in re.finditer(_DOC, text):
        numbers = re.finditer(_DOCNO, found[1])
        number = min(numbers, key=lambda match: match[1] is None, default=None)  # <DOCNO> before the attribute
        body = [match[1] for match in re.finditer(_TEXT, found[1])]
        if not any(_plain(part) for part in body):  # tags that say nothing, as some conversions leave them
            begin = number.end() if number and number[1] else found[1].index(">") + 1
            body = [re.sub(_HEADLINE, " ", found[1][begin:])]
        sentences = [sentence for part in body for sentence in _sentences(part, reading)]
        yield Document((number[1] or number[2] or "").strip() if number else "", tuple(sentences))


def parse_summaries(text: str, reading: Reading = AS_IS) -> Iterator[Summary]:
    """Yield the abstracts among the summaries ``<SUM ...>`` of a file; extracts (of type ``...-E``) are skipped.

    >>> text = '<SUM DOCSET="d061" TYPE="PERDOC" SIZE="100" DOCREF="AP1" SUMMARIZER="B">It sat. It ran.</SUM>'
    >>> list(parse_summaries(text))
    [Summary(docset='d061', documents=('AP1',), multi=False, size='100', author='B', sentences=('It sat.', 'It ran.'))]
    """
    for found in re.finditer(_SUM, text):
        said = {
            match[1].lower(): next(filter(None, match.groups()[1:]), "") for match in re.finditer(_ATTRIBUTE, found[1])
        }
        what = said.get("type", "").upper()
        if what.endswith("-E"):
            continue
        documents = tuple(said.get("docref", "").split())
        multi = what.startswith("MULTI") or (what != "PERDOC" and len(documents) != 1)
        yield Summary(
            said.get("docset", ""), documents, multi, said.get("size", ""), said.get("summarizer", ""),
            tuple(_sentences(found[2], reading)),
        )  # fmt: skip


def summary_of_name(name: str, text: str, reading: Reading = AS_IS) -> Summary | None:
    """Return the summary in a file named after the document or set, a page of SEE or plain text; None for other names.

    `name`: SET.TYPE.SIZE.SELECTOR.AUTHOR and perhaps .DOCUMENT, as in the evaluations of DUC.

    >>> page = '<html><body><a name="1">[1]</a> <a href="#1" id=1>It sat.</a></body></html>'
    >>> summary_of_name("D061.P.100.J.B.AP880911-0016.html", page).documents
    ('AP880911-0016',)
    """
    found = re.fullmatch(_NAME, name)
    if found is None:
        return None
    docset, what, size, _, author, document = found.groups()
    pieces = [plain for match in re.finditer(_SEE, text) if (plain := _plain(match[1]))]
    sentences = tuple(pieces or _sentences(re.sub(_HEADLINE, " ", text), reading))
    return Summary(docset, (document,) if document else (), what.upper() == "M", size, author, sentences)


def _sentences(text: str, reading: Reading) -> list[str]:
    """Return the marked sentences, or those that the splitter finds in each paragraph."""
    pieces = re.split(_S, text)  # text, attributes, sentence, attributes, sentence, ...
    if len(pieces) > 1:
        texts = [piece for said, piece in zip(pieces[1::2], pieces[2::2], strict=True) if _HEAD not in said.lower()]
        return [plain for piece in texts if (plain := _plain(piece))]
    parts = re.split(_PARAGRAPH, text)
    if reading.lines:
        return [plain for part in parts for line in lines_of(part) if (plain := _plain(line))]
    return [sentence for part in parts if (plain := _plain(part)) for sentence in reading.split(plain)]


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(_TAG, " ", text)).split())
