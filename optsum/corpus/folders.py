"""Make topics of folders and pairs of files: CoNLL-U, DUC and TAC, stories, raw documents and references.

A document of DUC has ``<DOC>``, ``<DOCNO>`` (or ``<DOC id="...">``) and ``<TEXT>``, with its sentences in ``<s ...>``
if they were marked (as in Figure 1 of Lin & Hovy 2003). A summary is ``<SUM DOCSET= TYPE= SIZE= DOCREF= ...>``, or a
page for the evaluation environment SEE, whose name has the same fields: ``D061.P.100.J.B.AP880911-0016.html``. The
files are not XML: tags are not closed, ampersands are not escaped, case varies.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Final
from unicodedata import normalize

from optsum.corpus.cover import is_cover_table
from optsum.corpus.formats import BY_RETURNS, Line, bad_topic, broken_off, ends_by_returns, topic_line, utf8_text
from optsum.corpus.sentences import lines_of, well_formed
from optsum.corpus.topic import AS_IS, Reading, Text, as_id, heading_of
from optsum.errors import InputError, counted
from optsum.system.files import READ_ERRORS, PathLike, begin_of, describe_os_error, is_meant, open_bytes, read_text

_SAMPLE = 4096
# Letter in the name of a set for the person who chose its documents; summaries leave it out: d061j, d0801a-a.
_CHOOSER = r"(?<=\d)[a-z](?=-[a-z]$|$)"
# Each pattern ends at the next tag of its kind at the latest, so that damaged files take no longer than others.
_DOC = r"(?is)(<doc(?=[\s>])[^<>]*>.*?)(?=</doc>|<doc(?=[\s>])|\Z)"
_DOCNO = r"(?i)<docno>([^<]*)|<doc(?=[\s>])[^<>]*?\bid\s*=\s*[\"']?([^\"'\s<>]+)"
_TEXT = r"(?is)<text\b[^<>]*>(.*?)(?=</text>|<text\b|\Z)"
_HEADLINE = r"(?is)<(headline|hl|head|title)\b[^<>]*>.*?(?=</\1>|<\1\b|\Z)"
_S = r"(?i)<s\b([^<>]*)>"
_TAG = r"</?[a-zA-Z!][^<>]*>"
_SUM = r"(?is)<sum\b([^<>]*)>(.*?)(?=</sum>|<sum\b|\Z)"
_ATTRIBUTE = r"([\w-]{1,40})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))"
_SEE = r"(?is)<a\b[^<>]{0,200}\bid\s*=\s*\"?\d+\"?[^<>]{0,200}>(.*?)(?=</a>|<a\b|\Z)"
_NAME = r"(?i)(d\d+(?:-[a-z])?)\.([mp])\.(\d+)\.(\w+)\.(\w+)(?:\.([\w-]+?))??(?:\.html?|\.txt)?"
_BEGIN = rb"(?i)\s*(?:<\?xml[^>]*>\s*|<!doctype[^>]*>\s*)*<(?:doc|sum)(?=[\s>])"
_DOCUMENTS: Final = (
    *("documents", "document", "articles", "article"),
    *("source", "sources", "src", "texts", "text", "docs", "news articles"),
)
_REFERENCES: Final = (
    *("references", "reference", "summaries", "summary", "highlights"),
    *("target", "targets", "tgt", "abstract", "abstracts", "models"),
)
COMPRESSED: Final = r"(?:\.(?:gz|zst|bz2|xz))?"
_STORY: Final = re.compile(rf"\.story{COMPRESSED}$", re.IGNORECASE)
_CONLLU: Final = re.compile(rf"\.conllu{COMPRESSED}$", re.IGNORECASE)
# Words in the names of two files that belong together.
_COUNTERPARTS: Final = {
    "source": ("target",),
    "src": ("tgt",),
    "article": ("highlights", "abstract", "summary", "title"),
    "articles": ("highlights", "abstracts", "summaries", "titles"),
    "document": ("summary", "reference"),
    "documents": ("summaries", "references"),
    "text": ("summary",),
}
_TABLE: Final = re.compile(r"\.[ct]sv\b", re.IGNORECASE)
_NO_TEXT: Final = re.compile(rb"\{\s*[\"}]|\[\s*[\"{\[]|PAR1|<(?:DOC|SUM)[\s>]")


def topics_in(path: Path, reading: Reading) -> Iterator[Line] | None:
    """Return the topics of texts or parses in a file or folder, recognised by names and contents; None for others."""
    if (pair := line_pair(path)) is not None:
        if path == pair[0]:
            reading.notes("pair", f"the references are the lines of {pair[1]}", news=True)
        return pair_topics(pair, reading)
    if path.is_file():
        if _STORY.search(path.name):
            return story_topics([path], reading)
        return duc_topics([path], reading) if is_duc_file(path) else None
    if not path.is_dir():
        return None
    try:
        if treebank := files_called(path, _CONLLU, reading):
            return conllu_topics(treebank, reading)
        if stories := stories_in(path, reading):
            return story_topics(stories, reading)
        files = files_below(path)
        first = list(islice(files, 100))  # by these files a folder of DUC is recognised
        if any(map(is_duc_file, first)):  # before raw text, because its folders may have the same names
            return duc_topics([*first, *files], reading)
        if (folders := parallel_folders(path)) is not None:
            return parallel_topics(folders, reading)
    except OSError as error:
        raise InputError(f"the folder {path} cannot be read: {describe_os_error(error)}") from error
    if any(path.glob("*.txt")) or any(path.glob("*/*.txt")):
        how = f"put each text into {path}/documents/, and its reference under the same name into {path}/references/"
        raise InputError(f"{path} has texts, but no folders documents/ and references/: {how}")
    raise InputError(
        f"{path} cannot be read: it is a folder; give a file, or a folder of files named *.conllu or *.story, of a "
        "saved dataset, of the parts of one file (*.jsonl, *.csv, *.parquet), of JSON files with a topic each, of "
        "documents and summaries in SGML, or with folders documents/ and references/"
    )


def files_below(folder: Path, pattern: str = "**/*", name: str | re.Pattern[str] = "") -> Iterator[Path]:
    """Yield the files, in order, that match a pattern of paths, have such a name and were made on purpose."""
    for file in sorted(folder.glob(pattern)):
        if re.search(name, file.name) and all(map(is_meant, file.relative_to(folder).parts)) and file.is_file():
            yield file


def files_called(folder: Path, name: re.Pattern[str], reading: Reading) -> list[Path]:
    """Return the files of a folder with such a name, and report those that are only in its subfolders."""
    files = list(files_below(folder, "*", name))
    if files and (deeper := list(files_below(folder, "*/**/*", name))):
        number = counted(len(deeper), "file")
        reading.notes("deeper", f"left out: {number} in subfolders, such as {deeper[0]}; give its folder separately")
    return files


def is_duc_file(path: Path) -> bool:
    return is_sgml(begin_of(path, _SAMPLE) or b"")


def duc_topics(files: Sequence[Path], reading: Reading = AS_IS) -> Iterator[Line]:
    """Yield a topic for each document with summaries of its own, and for each set with summaries of the set.

    A topic is named after its document or set: ``d061``, or ``d061-200`` if the set has summaries of several sizes. The
    folder of a set's documents has the set's name; summaries may omit its last letter (who chose the documents).
    """
    none = Line(well_formed(str(files[0])), None, "there is no complete <DOC> or <SUM> here")
    lines = _topics(files, reading)
    yield next(lines, none)
    yield from lines


def _topics(files: Sequence[Path], reading: Reading) -> Iterator[Line]:
    documents: dict[str, Document] = {}
    sets: defaultdict[str, dict[str, None]] = defaultdict(dict)  # by folder: names of its documents
    origin: dict[str, str] = {}
    summaries: list[Summary] = []
    peers: list[Summary] = []
    for file in files:
        source = well_formed(str(file))
        try:
            text = read_text(file, "")
        except InputError as error:
            yield Line(source, None, str(error))
            continue
        summary = summary_of_name(file.name, text, reading)
        if summary is not None and summary.multi and summary.documents:
            named = f"the name has {summary.documents[0]!r} after the author"
            yield Line(source, None, f"{named}; leave the file out, or give it no such ending if it is a reference")
            continue
        for each in parse_summaries(text, reading) if summary is None else [summary]:
            (peers if each.author.isdecimal() else summaries).append(each)
        for document in parse_documents(text, reading):
            if not document.name:
                yield Line(source, None, "a document has no number; give <DOCNO>")
                continue
            if documents.setdefault(document.name, document) != document:
                yield Line(source, None, f"document {document.name!r} occurs twice with different contents")
            origin.setdefault(document.name, source)
            sets[file.parent.name.casefold()].setdefault(document.name)
    if not summaries:  # then authors may be numbers
        summaries = peers
    elif peers:
        out = f"{len(peers)}, such as {peers[0].author} of {peers[0].docset}"
        why = "because DUC and TAC name systems so; name the authors of references by letters"
        reading.notes("peers", f"summaries are left out whose authors are numbers ({out}), {why}")
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
            yield _duc_line(name, origin[name], [document], own)
        elif not any(summary.multi for summary in summaries):
            missing = "there is no summary of the document; put files with <SUM DOCREF=...>, or pages of SEE, beside it"
            yield bad_topic(origin[name], name, missing)


def _of_sets(
    documents: dict[str, Document], sets: dict[str, dict[str, None]], summaries: Sequence[Summary], reading: Reading
) -> Iterator[Line]:
    def documents_of(summary: Summary) -> Collection[str]:
        """Return the names in a summary if all documents exist, otherwise those in the folder of its set."""
        if summary.documents and all(name in documents for name in summary.documents):
            return summary.documents
        docset = summary.docset.casefold()
        named = (names for folder, names in sets.items() if docset in {folder, re.sub(_CHOOSER, "", folder)})
        return next(named, ())

    by_set: defaultdict[str, defaultdict[str, list[Summary]]] = defaultdict(lambda: defaultdict(list))
    used: set[str] = set()
    for summary in summaries:
        used.update(summary.documents)
        if summary.multi:
            by_set[summary.docset.casefold()][summary.size].append(summary)
            used.update(documents_of(summary))
            if absent := [name for name in summary.documents if name not in documents]:
                number = f"{len(absent)} documents that are" if len(absent) > 1 else "1 document that is"
                one = f"a summary of {summary.docset} names {number} not here, such as {absent[0]}"
                reading.notes("absent", f"{one}; its topic gets all documents of its folder")
    if by_set and (left := [folder for folder, names in sets.items() if used.isdisjoint(names)]):
        number = f"{counted(len(left), 'folder')} of documents without a summary, such as {left[0]}"
        out = f"{'are' if len(left) > 1 else 'is'} left out"
        reading.notes("left", f"{number}, {out}; put <SUM DOCREF=...> files, or pages of SEE, beside the documents")
    for docset, sizes in by_set.items():
        for size, own in sizes.items():
            name = own[0].docset if len(sizes) == 1 else f"{own[0].docset}-{size}"
            error = f"there are summaries of the document set {docset!r}, but no folder of that name with documents"
            chosen = [documents[each] for each in documents_of(own[0])]
            yield _duc_line(name, docset, chosen, own) if chosen else bad_topic(docset, name, error)


def _duc_line(name: str, source: str, documents: Sequence[Document], summaries: Sequence[Summary]) -> Line:
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


@dataclass(frozen=True, slots=True)
class Document:
    """A document and its sentences, without the headline."""

    name: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that a person or a system wrote."""

    docset: str  # The set of documents, such as ``d061``.
    documents: tuple[str, ...]  # Names of the summarized documents, as far as known.
    multi: bool  # Whether it summarizes a whole set.
    size: str  # Required number of words, as written.
    author: str
    sentences: tuple[str, ...]


def is_sgml(sample: bytes) -> bool:
    return re.match(_BEGIN, sample.removeprefix(b"\xef\xbb\xbf")) is not None


def parse_documents(text: str, reading: Reading = AS_IS) -> Iterator[Document]:
    r"""Yield the documents in the SGML of a file.

    >>> text = "<DOC><DOCNO> AP1 </DOCNO><TEXT><s num=1>A seriously\nill cat.</s>\n<s num=2>AT&amp;T.</s></TEXT></DOC>"
    >>> list(parse_documents(text))
    [Document(name='AP1', sentences=('A seriously ill cat.', 'AT&T.'))]
    """
    for found in re.finditer(_DOC, text):
        numbers = re.finditer(_DOCNO, found[1])
        number = min(numbers, key=lambda match: match[1] is None, default=None)  # <DOCNO> precedes the attribute
        body = [match[1] for match in re.finditer(_TEXT, found[1])]
        if not any(_plain(part) for part in body):  # some conversions leave <TEXT> empty
            begin = number.end() if number and number[1] else found[1].index(">") + 1
            # These also close <s> at the end of its first line; text before the first <s> is date and author.
            rest = re.sub("(?i)</s>", " ", re.sub(_HEADLINE, " ", found[1][begin:]))
            marked = re.search(_S, rest)
            body = [rest if marked is None else rest[marked.start() :]]
        sentences = [sentence for part in body for sentence in _sentences(part, reading)]
        yield Document((number[1] or number[2] or "").strip() if number else "", tuple(sentences))


def parse_summaries(text: str, reading: Reading = AS_IS) -> Iterator[Summary]:
    """Yield the abstracts among the summaries ``<SUM ...>`` of a file; extracts (of type ``...-E``) are skipped.

    >>> text = '<SUM DOCSET="d061" TYPE="PERDOC" SIZE="100" DOCREF="AP1" SUMMARIZER="B">It sat. It ran.</SUM>'
    >>> list(parse_summaries(text))
    [Summary(docset='d061', documents=('AP1',), multi=False, size='100', author='B', sentences=('It sat.', 'It ran.'))]
    """
    for found in re.finditer(_SUM, text):
        attributes = re.findall(_ATTRIBUTE, found[1])  # of each its name, and its value in one of three groups
        said = {name.lower(): "".join(values) for name, *values in attributes}
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
    """Return the summary in a page of SEE or a plain text whose `name` has the form of DUC; None for other names.

    Names of DUC are SET.TYPE.SIZE.SELECTOR.AUTHOR, or SET.TYPE.SIZE.SELECTOR.AUTHOR.DOCUMENT.

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
    pieces = re.split(_S, text)  # text, attributes, sentence, attributes, sentence, ...
    if len(pieces) > 1:
        found = _sentences(pieces[0], reading)
        for said, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            marked, _, unmarked = re.sub("(?i)</s>", "</s>", piece).partition("</s>")
            found += [plain] if (plain := _plain(marked)) and "hsntno" not in said.lower() else []  # no headline
            found += _sentences(unmarked, reading)
        return found
    parts = re.split(r"(?i)</?p\b[^<>]*>|<br\b[^<>]*>|\n\s*\n", text)  # paragraphs
    if reading.lines:
        return [plain for part in parts for line in lines_of(part) if (plain := _plain(line))]
    return [sentence for part in parts if (plain := _plain(part)) for sentence in reading.split(plain)]


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(_TAG, " ", text)).split())


def stories_in(folder: Path, reading: Reading) -> list[Path]:
    return files_called(folder, _STORY, reading)


def story_topics(files: list[Path], reading: Reading = AS_IS) -> Iterator[Line]:
    """Yield a topic for each file, as in CNN / Daily Mail: raw text, and its reference below ``@highlight`` lines."""

    def topic(file: Path) -> dict[str, Any]:
        document, *highlights = re.split(r"(?m)^[^\S\r\n]*@highlight[^\S\r\n]*\r?$", _text(file))
        if not highlights:
            raise InputError("there is no reference; write one below a line @highlight")
        reference = [" ".join(highlight.split()) for highlight in highlights if highlight.strip()]
        return _record(_name(file), reading.documents(document, "the story"), [tuple(reference)])

    return (topic_line(file, _name(file), partial(topic, file)) for file in files)


def conllu_topics(files: list[Path], reading: Reading) -> Iterator[Line]:
    """Iterate over topics with parses, one for each CoNLL-U file; documents begin at comments ``# newdoc``.

    References are comments ``# summary1 = ...``, ``# reference = ...`` (or ``# meta::summary1 = ...``, as in the
    treebank GUM) with raw text, which may begin with its author in parentheses; those of authors other than
    "human" are skipped. One file is in memory at a time.
    """
    for file in files:
        name = normalize("NFC", _CONLLU.sub("", file.name))
        try:
            yield topic_line(file, as_id(name, "the name of the file"), partial(_conllu_topic, name, file, reading))
        except InputError as error:
            yield Line(well_formed(str(file)), None, str(error))


def _conllu_topic(name: str, file: Path, reading: Reading) -> dict[str, Any]:
    from optsum.chunks.parse import conllu_blocks  # loads all of optsum.chunks

    text = read_text(file, "")
    # A blank line below comments does not part them from their words.
    blocks = conllu_blocks(re.sub(r"(?m)^(#.*\n)(?:[^\S\n]*\n)+", r"\1", text), "")
    documents: list[list[str]] = []
    for block in blocks:
        if not documents or any(line.startswith(("# newdoc", "#newdoc")) for line in block.text.split("\n")):
            documents.append([])
        documents[-1].append(block.parse().text)
    references: list[Any] = []
    for line in re.split(r"[\r\n]+", text):  # not the dict of a block, because a key may stand twice
        key, _, value = map(str.strip, line.removeprefix("#").partition("="))
        if line.startswith("#") and re.fullmatch(r"(?:meta::)?(?:summary|reference)_?\d*", key):
            author = re.match(r"\(([^()]*)\)\s*", value)
            if author is None or "human" in author[1]:
                references.append(reading.summary(value if author is None else value[author.end() :]))
    if not references:
        raise InputError("there is no reference; give it as a comment, # summary1 = text")
    parses = [block.text for block in blocks]
    return {"id": name, "documents": documents, "references": references, "parses": parses}


def parallel_folders(folder: Path) -> tuple[Path, Path] | None:
    inside = {each.name.lower(): each for each in folder.iterdir() if each.is_dir()}
    found = [[inside[name] for name in names if name in inside] for names in (_DOCUMENTS, _REFERENCES)]
    return (found[0][0], found[1][0]) if all(found) else None


def parallel_topics(folders: tuple[Path, Path], reading: Reading = AS_IS) -> Iterator[Line]:
    """Yield a topic for each document, or folder of documents, named after the file or folder without the ending.

    Its references are the files of the same name, with or without a suffix: ``a.1.txt``, ``a.B.txt``, or all files of a
    folder ``a``. If documents and references have folders ``a`` with the same names of files, each pair of files is a
    topic, ``a/1``, ``a/2`` (BBC News Summary).
    """
    documents, references = folders
    for beside in sorted(documents.parent.iterdir()):
        if beside.is_dir() and beside not in folders and beside.name.lower() in {*_DOCUMENTS, *_REFERENCES}:
            used = f"documents are read from {documents.name}, references from {references.name}"
            reading.notes("beside", f"{used}, and {beside} is left out")
    inner = (each for side in folders for entry in _entries(side) if entry.is_dir() for each in _entries(entry))
    if (deeper := next((each for each in inner if each.is_dir()), None)) is not None:
        reading.notes("deeper", f"the files in {deeper} are left out; put them into {deeper.parent}")
    entries = _entries(documents)
    names = set(map(_name, entries))
    by_name: defaultdict[str, list[Path]] = defaultdict(list)
    left = []
    # Of several references a.txt is the first, before a.1.txt, and a.2.txt precedes a.10.txt.
    for entry in sorted(_entries(references), key=lambda entry: (len(_name(entry)), _name(entry))):
        name = _name(entry)
        owners = (name, "" if entry.is_dir() else name.rpartition(".")[0])  # for a.b.txt "a.b", otherwise "a"
        if (owner := next((each for each in owners if each and each in names), None)) is not None:
            by_name[owner] += _files(entry)
        else:
            left.append(entry)
    if left:
        out = f"{len(left)} of the references in {references}, such as {left[0].name}"
        how = "name references after their documents, or NAME.1.txt and NAME.2.txt if several belong to one"
        reading.notes("left", f"left out: {out}, because {documents} has no document of that name; {how}")

    def topic(name: str, sources: list[Path], summaries: list[Path]) -> dict[str, Any]:
        texts = [text for file in sources for text in reading.documents(_text(file), "the documents")]
        found = [reading.summary(_text(file)) for file in summaries]
        if not found:
            raise InputError(f"there is no reference in {references} named {name}")
        return _record(name, texts, found)

    for entry in entries:
        beside = references / entry.name
        if entry.is_dir() and beside.is_dir():
            files = [{_name(file): file for file in _files(each)} for each in (entry, beside)]
            shared = files[0].keys() & files[1].keys()
            if shared and files[0].keys() == files[1].keys():
                pairs = f"each pair is a topic, such as {entry.name}/{min(shared)}"
                how = "to make the folder one topic, give the references other names"
                reading.notes("folders", f"{entry} and {beside} have files of the same names, so {pairs}; {how}")
                for name, file in files[0].items():
                    each = f"{entry.name}/{name}"
                    yield topic_line(file, each, partial(topic, each, [file], [files[1][name]]))
                continue
            if shared:
                though = f"{beside} holds files of some of its names, such as {min(shared)}"
                how = "to make each file a topic, give all files the same names in both"
                reading.notes("folders", f"{entry} is one topic, though {though}; {how}")
        made = partial(topic, name := _name(entry), _files(entry), by_name.get(name, []))
        yield topic_line(entry, name, made)


def _entries(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if is_meant(entry.name))


def _name(entry: Path) -> str:
    """Return the name without the ending, normalized to NFC, because macOS may store accents as characters."""
    return normalize("NFC", entry.name if entry.is_dir() else Path(re.sub(rf"(?i){COMPRESSED}$", "", entry.name)).stem)


def _files(entry: Path) -> list[Path]:
    return sorted(file for file in _entries(entry) if file.is_file()) if entry.is_dir() else [entry]


def _text(file: Path) -> str:
    text = read_text(file, "")
    if re.match(r"(?i)\s*(?:<!doctype html|<html)\b", text):
        raise InputError(f"{well_formed(str(file))} is an HTML page; give its text")
    return text


def _record(name: str, documents: Sequence[Text], references: Sequence[Text]) -> dict[str, Any]:
    for what, texts in (("document", documents), ("reference", references)):
        if not any(texts) or (what == "reference" and not all(texts)):  # an empty one would count in means
            out = "the topic" if len(texts) == 1 else "it"
            raise InputError(f"the {what} is empty; give it a text, or leave {out} out")
    return {"id": name, "documents": list(map(list, documents)), "references": list(map(list, references))}


def line_pair(path: PathLike) -> tuple[Path, Path] | None:
    """Return the two files of ``SOURCES,SUMMARIES``, or a file and its counterpart (``a.src``, ``a.tgt``), or None."""
    name = str(path)
    if not Path(name).exists() and name.count(",") == 1:
        source, target = map(Path, name.split(","))
        return (source, target) if source.is_file() and target.is_file() else None
    if name == "-" or not Path(name).is_file():
        return None
    words = re.split(r"([^A-Za-z]+)", Path(name).name)
    named = (
        Path(name).with_name("".join([*words[:place], other, *words[place + 1 :]]))
        for place, word in enumerate(words)
        for other in _COUNTERPARTS.get(word.lower(), ())
    )
    found = [beside for beside in named if beside.is_file()]
    found = [beside for beside in found if _is_text(beside)] if found and _is_text(Path(name)) else []
    if len(found) > 1:
        others = f"{found[0].name} or of {found[1].name}; give both files, as in {name},{found[0]}"
        raise InputError(f"the lines of {name} could belong to those of {others}")
    return (Path(name), found[0]) if found else None


def _is_text(path: Path) -> bool:
    """Return whether a file has a text on each line: no records, table, judgments or markup."""
    if (begin := begin_of(path, _SAMPLE)) is None:
        return False
    begin = begin.lstrip(b"\xef\xbb\xbf \t\r\n")
    if _NO_TEXT.match(begin) or _TABLE.search(path.name) or is_cover_table(begin):
        return False
    heading = heading_of(begin.partition(b"\n")[0], closed=True, columns=(), likely=True)
    return heading is None or len(heading[1]) < 2 or max(len(name.split()) for name in heading[1]) > 3


def pair_topics(pair: tuple[Path, Path], reading: Reading = AS_IS) -> Iterator[Line]:
    """Yield a topic for each pair of lines of two files, named by its number from 0; marks may separate sentences."""
    stack = ExitStack()
    streams = []
    for path in pair:
        try:
            streams.append(open_bytes(path, stack))
        except READ_ERRORS as error:
            stack.close()
            raise InputError(f"the file {path} cannot be opened: {describe_os_error(error)}") from error

    def text_in(raw: bytes, number: int) -> str:
        if number == 0 and ends_by_returns(raw):
            raise InputError(BY_RETURNS)
        if not (text := utf8_text(raw).strip()):
            raise InputError("the line is empty; give it a text, or leave it out of both files")
        return text

    def topic(number: int, *raws: bytes | None) -> Line:
        texts = []
        for path, other, raw in zip(pair, pair[::-1], raws, strict=True):
            if raw is None:
                fault = f"there is no line {number + 1} here, but there is one in {other}; make both files equally long"
                return bad_topic(f"{path}:{number + 1}", str(number), fault)
            try:
                texts.append(text_in(raw, number))
            except InputError as error:
                return bad_topic(f"{path}:{number + 1}", str(number), str(error))
        documents = [list(document) for document in reading.documents(texts[0], str(pair[0]))]
        references = [list(reading.summary(texts[1]))]
        return Line(f"{pair[0]}:{number + 1}", {"id": str(number), "documents": documents, "references": references})

    def topics() -> Iterator[Line]:
        number = 0
        with stack:
            try:
                for number, lines in enumerate(zip_longest(*streams)):
                    yield topic(number, *lines)
            except READ_ERRORS as error:
                yield broken_off(error, str(pair[0]), number + 1)

    return topics()
