"""The SGML of the Document Understanding Conferences: documents, and what people wrote of them.

A document has ``<DOC>``, ``<DOCNO>`` and ``<TEXT>``, with its sentences in ``<s ...>`` where they were set apart (as in
Figure 1 of Lin & Hovy 2003). A summary is ``<SUM DOCSET= TYPE= SIZE= DOCREF= ...>``, or a page for the evaluation
environment SEE, whose name says the same: ``D061.P.100.J.B.AP880911-0016.html``. It is no XML: tags stay open,
ampersands are bare, case varies.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from optsum.corpus.sentences import ENGLISH, Splitter

# Each looks no further than the next tag of its kind, so that damaged files take no longer than others.
_DOC = re.compile(r"<doc\b[^<>]*>(.*?)(?=</doc>|<doc\b|\Z)", re.IGNORECASE | re.DOTALL)
_DOCNO = re.compile(r"<docno>([^<]*)", re.IGNORECASE)
_TEXT = re.compile(r"<text\b[^<>]*>(.*?)(?=</text>|<text\b|\Z)", re.IGNORECASE | re.DOTALL)
_HEADLINE = re.compile(r"<(headline|hl|head|title)\b[^<>]*>.*?(?=</\1>|<\1\b|\Z)", re.IGNORECASE | re.DOTALL)
_S = re.compile(r"<s\b([^<>]*)>", re.IGNORECASE)
_HEAD = "hsntno"
_PARAGRAPH = re.compile(r"</?p\b[^<>]*>|<br\b[^<>]*>|\n\s*\n", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z!][^<>]*>")
_SUM = re.compile(r"<sum\b([^<>]*)>(.*?)(?=</sum>|<sum\b|\Z)", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(r"([\w-]{1,40})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
_SEE = re.compile(r"<a\b[^<>]{0,200}\bid\s*=\s*\"?\d+\"?[^<>]{0,200}>(.*?)(?=</a>|<a\b|\Z)", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"(d\d+)\.([mp])\.(\d+)\.(\w+)\.(\w+)(?:\.([\w-]+?))?(?:\.html?)?", re.IGNORECASE)
_BEGIN = re.compile(rb"\s*(?:<\?xml[^>]*>\s*|<!doctype[^>]*>\s*)?<(?:doc|sum)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Document:
    """A document and its sentences; those of the headline are none of the text's."""

    name: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What somebody wrote.

    Attributes
    ----------
    docset : str
        The set of documents, such as ``d061``.
    documents : tuple of str
        Those that it is of, as far as it names them.
    multi : bool
        It is of a whole set.
    size : str
        Words that were asked for, as it is written.
    author : str
    sentences : tuple of str
    """

    docset: str
    documents: tuple[str, ...]
    multi: bool
    size: str
    author: str
    sentences: tuple[str, ...]


def is_sgml(sample: bytes) -> bool:
    """Return whether a file that begins like this holds documents or summaries."""
    return _BEGIN.match(sample.removeprefix(b"\xef\xbb\xbf")) is not None


def parse_documents(text: str, split: Splitter = ENGLISH) -> Iterator[Document]:
    r"""Yield the documents of a file.

    Examples
    --------
    >>> text = "<DOC><DOCNO> AP1 </DOCNO><TEXT><s num=1>A seriously\nill cat.</s>\n<s num=2>AT&amp;T.</s></TEXT></DOC>"
    >>> list(parse_documents(text))
    [Document(name='AP1', sentences=('A seriously ill cat.', 'AT&T.'))]
    """
    for found in _DOC.finditer(text):
        number = _DOCNO.search(found[1])
        body = [match[1] for match in _TEXT.finditer(found[1])]
        if not any(_plain(part) for part in body):  # tags that say nothing, as some conversions leave them
            body = [_HEADLINE.sub(" ", found[1][number.end() if number else 0 :])]
        sentences = [sentence for part in body for sentence in _sentences(part, split)]
        yield Document(number[1].strip() if number else "", tuple(sentences))


def parse_summaries(text: str, split: Splitter = ENGLISH) -> Iterator[Summary]:
    """Yield the summaries ``<SUM ...>`` of a file that are abstracts; extracts (of type ``...-E``) are passed over.

    Examples
    --------
    >>> text = '<SUM DOCSET="d061" TYPE="PERDOC" SIZE="100" DOCREF="AP1" SUMMARIZER="B">It sat. It ran.</SUM>'
    >>> list(parse_summaries(text))
    [Summary(docset='d061', documents=('AP1',), multi=False, size='100', author='B', sentences=('It sat.', 'It ran.'))]
    """
    for found in _SUM.finditer(text):
        said = {match[1].lower(): next(filter(None, match.groups()[1:]), "") for match in _ATTRIBUTE.finditer(found[1])}
        what = said.get("type", "").upper()
        if what.endswith("-E"):
            continue
        documents = tuple(said.get("docref", "").split())
        multi = what.startswith("MULTI") or (what != "PERDOC" and len(documents) != 1)
        yield Summary(
            said.get("docset", ""), documents, multi, said.get("size", ""), said.get("summarizer", ""),
            tuple(_sentences(found[2], split)),
        )  # fmt: skip


def summary_of_name(name: str, text: str, split: Splitter = ENGLISH) -> Summary | None:
    """Return the summary of a file whose name says of what; None if it does not.

    Parameters
    ----------
    name : str
        SET.TYPE.SIZE.SELECTOR.AUTHOR and perhaps .DOCUMENT, as the evaluations of DUC name them.
    text : str
        A page of SEE, or plain text.

    Examples
    --------
    >>> page = '<html><body><a name="1">[1]</a> <a href="#1" id=1>It sat.</a></body></html>'
    >>> summary_of_name("D061.P.100.J.B.AP880911-0016.html", page).documents
    ('AP880911-0016',)
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    docset, what, size, _, author, document = found.groups()
    pieces = [plain for match in _SEE.finditer(text) if (plain := _plain(match[1]))]
    sentences = tuple(pieces or _sentences(_HEADLINE.sub(" ", text), split))
    return Summary(docset, (document,) if document else (), what.upper() == "M", size, author, sentences)


def _sentences(text: str, split: Splitter) -> list[str]:
    """Return the sentences that are set apart, or those that the splitter finds in each paragraph."""
    pieces = _S.split(text)  # text, attributes, sentence, attributes, sentence, ...
    if len(pieces) > 1:
        texts = [piece for said, piece in zip(pieces[1::2], pieces[2::2], strict=True) if _HEAD not in said.lower()]
        return [plain for piece in texts if (plain := _plain(piece))]
    paragraphs = [plain for piece in _PARAGRAPH.split(text) if (plain := _plain(piece))]
    return [sentence for paragraph in paragraphs for sentence in split(paragraph)]


def _plain(text: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", text)).split())
