"""Records of other people's data sets as topics: which of their fields is what (``--map``), marks in their texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from optsum.corpus.sentences import ENGLISH, Splitter, as_sentences, json_type
from optsum.errors import InputError, OptionError, unknown_name

__all__ = ["WELL_KNOWN", "Columns", "parse_columns", "recognised"]

_TAG = re.compile(r"(</?[sStT]>)")
_BETWEEN = re.compile(r"<q>|##SENT##|\[CLS\] \[SEP\]|\[SEP\] \[CLS\]")
_DOCUMENTS = re.compile(r"\|\|\|\|\||story_separator_special_tag")


def between_marks(text: str) -> list[str] | None:
    """Return the sentences of a text that has marks for them, without the marks; None for one that has none.

    Marks are ``<S> ... </S>`` (the arXiv and PubMed set; also in lower case), ``<t> ... </t>`` (CNN / Daily Mail as
    pointer networks read it), and between two sentences ``<q>`` (PreSumm), ``##SENT##`` and ``[CLS] [SEP]``.

    Examples
    --------
    >>> between_marks("<S> we study cats . </S> <S> they sleep . </S>"), between_marks("a b<q>c d")
    (['we study cats .', 'they sleep .'], ['a b', 'c d'])
    >>> between_marks("a < b")
    """
    pieces = _TAG.split(text)  # text, tag, text, tag, ..., text
    if len(pieces) > 1 and not any(outside.strip() for outside in pieces[::4]):
        tags = [tag.lower() for tag in pieces[1::2]]
        opened, closed = tags[::2], tags[1::2]
        if all("/" not in tag for tag in opened) and closed == [f"</{tag[1:]}" for tag in opened]:
            return [sentence for inner in pieces[2::4] if (sentence := inner.strip())]
    pieces = _BETWEEN.split(text)
    if len(pieces) > 1:
        return [sentence for piece in pieces if (sentence := piece.strip())]
    return None


def documents_between_marks(text: str) -> list[str]:
    """Return the documents of a text: ``|||||`` or ``story_separator_special_tag`` stands between two (Multi-News).

    Examples
    --------
    >>> documents_between_marks("one ||||| two |||||"), documents_between_marks("one")
    (['one', 'two'], ['one'])
    """
    return [document for piece in _DOCUMENTS.split(text) if (document := piece.strip())] or [text]


Path = tuple[str, ...]
"""Names, and ``"[]"`` for "a topic of each item", ``"[*]"`` for "all items"."""

_STEP = re.compile(r"([^.\[\]]+)((?:\[\*?\])*)")


def parse_path(text: str) -> Path:
    """Return the steps of a path such as ``questions[].responses[*].text``.

    Raises
    ------
    OptionError
        If it is none.

    Examples
    --------
    >>> parse_path("questions[].responses[*].text")
    ('questions', '[]', 'responses', '[*]', 'text')
    """
    steps: list[str] = []
    for piece in text.split("."):
        found = _STEP.fullmatch(piece.strip())
        if found is None:
            raise OptionError(
                f"{text!r} is no path to a field: join names by dots; behind the name of a list [] makes a topic of "
                "each item, and [*] takes all items"
            )
        steps += [found[1], *re.findall(r"\[\*?\]", found[2])]
    if steps.count("[]") > 1:
        raise OptionError(f"{text!r} makes topics of the items of two lists: use [] once, and [*] for the other")
    return tuple(steps)


def split_at(path: Path) -> tuple[Path, Path] | None:
    """Return what stands before and behind ``[]``; None for a path without."""
    if "[]" not in path:
        return None
    at = path.index("[]")
    return path[:at], path[at + 1 :]


def value_at(record: Any, path: Path) -> Any:
    """Return what stands at a path without ``[]``; None where a name is missing.

    Raises
    ------
    InputError
        If a step leads through something else than an object or a list.
    """
    value = record
    for place, step in enumerate(path):
        if value is None:
            return None
        if step == "[*]":
            if not isinstance(value, list | tuple):
                raise InputError(f"{'.'.join(path[:place])} is {json_type(value)}, and [*] asks for a list")
            found = [value_at(item, path[place + 1 :]) for item in value]
            return [item for each in found for item in each] if "[*]" in path[place + 1 :] else found
        if not isinstance(value, Mapping):
            raise InputError(f"{'.'.join(path[:place])} is {json_type(value)}, and has no field {step!r}")
        value = value.get(step)
    return value


_TEXTS: Final = ("documents", "references")
_KEYS: Final = ("id", *_TEXTS, "cover", "parses", "meta")

WELL_KNOWN: Final[tuple[tuple[str, str], ...]] = (
    ("article", "highlights"),  # CNN / Daily Mail
    ("document", "summary"),  # XSum, Multi-News
    ("dialogue", "summary"),  # SAMSum, DialogSum
    ("text", "summary"),  # BillSum, Reddit TIFU, MatchSum
    ("article_text", "abstract_text"),  # arXiv and PubMed
    ("article", "abstract"),  # the same, as scientific_papers
    ("report", "summary"),  # GovReport
    ("src_txt", "tgt_txt"),  # PreSumm
    ("src", "tgt"),  # BertSum, and files made of two
    ("source", "target"),
)
"""Columns of documents and references in public data sets."""

_IDS: Final = ("article_id", "guid", "docid", "id")


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the keys of a topic stand in a record.

    Attributes
    ----------
    paths : mapping of key to path
        Keys are those of a topic; ``meta.NAME`` puts a value into its meta.
    """

    paths: Mapping[str, Path]

    @property
    def names(self) -> frozenset[str]:
        """The columns that the paths begin with."""
        return frozenset(path[0] for path in self.paths.values())

    def topics(self, record: Any, number: int, split: Splitter = ENGLISH) -> Iterator[dict[str, Any]]:
        """Yield the topics of a record: one, or one for each item of the list that ``[]`` stands behind.

        Parameters
        ----------
        number : int
            From 0; the id where there is none. Topics of a list are called ``id.0``, ``id.1``, ... if none of their
            items has an id.
        split : Splitter
            By whose rules raw texts are split.

        Raises
        ------
        InputError
            If the record is no object, or something stands in the way of a path.
        """
        if not isinstance(record, Mapping):
            raise InputError(
                f"a record is an object with the columns {', '.join(sorted(self.names))}, not {json_type(record)}"
            )
        path = self.paths.get("id")
        name = None if path is None or "[]" in path else value_at(record, path)
        name = str(number) if name is None else name
        lists = {halves[0] for path in self.paths.values() if (halves := split_at(path)) is not None}
        if not lists:
            yield self._topic(record, None, name, split)
            return
        (place,) = lists
        items = value_at(record, place)
        if not isinstance(items, list | tuple):
            raise InputError(f"{'.'.join(place)} is {json_type(items)}, and [] asks for a list")
        for position, item in enumerate(items):
            yield self._topic(record, item, f"{name}.{position}", split)

    def _topic(self, record: Any, item: Any, name: object, split: Splitter) -> dict[str, Any]:
        topic: dict[str, Any] = {"id": name}
        meta: dict[str, Any] = {}
        for key, path in self.paths.items():
            halves = split_at(path)
            value = value_at(record, path) if halves is None else value_at(item, halves[1])
            if value is None and key in _TEXTS:
                raise InputError(f'there is no "{key}": {".".join(path)} is not there, or null')
            if value is None or (key == "id" and halves is None):  # the name is that of the record
                continue
            if key in _TEXTS:
                topic[key] = _texts(value, path, split, several=key == "documents")
            elif key.startswith("meta."):
                meta[key.removeprefix("meta.")] = value
            else:
                topic[key] = value
        return {**topic, "meta": {**topic.get("meta", {}), **meta}} if meta else topic


def parse_columns(given: str | Mapping[str, str]) -> Columns:
    """Return the columns that ``--map documents=article,references=highlights,id=id`` names.

    Raises
    ------
    OptionError
        If it is no list of KEY=PATH, names no key of a topic, or no documents and references.

    Examples
    --------
    >>> parse_columns("documents=article,references=highlights").paths
    {'documents': ('article',), 'references': ('highlights',)}
    """
    pairs = [tuple(part.partition("=")[::2]) for part in given.split(",")] if isinstance(given, str) else given.items()
    paths: dict[str, Path] = {}
    for key, path in ((str(key).strip(), str(path).strip()) for key, path in pairs):
        if not path:
            raise OptionError(
                f"--map has {key!r} where KEY=COLUMN was expected: give documents=COLUMN,references=COLUMN"
            )
        if key not in _KEYS and not key.startswith("meta."):
            raise unknown_name("key of a topic", key, [*_KEYS, "meta.NAME"])
        if key in paths:
            raise OptionError(f"--map says twice where {key!r} is: say it once.")
        paths[key] = parse_path(path)
    if "cover" not in paths and (lacking := [key for key in _TEXTS if key not in paths]):
        raise OptionError(f"--map does not say where the {lacking[0]} are: give {lacking[0]}=COLUMN too.")
    if len({halves[0] for path in paths.values() if (halves := split_at(path)) is not None}) > 1:
        raise OptionError(
            "--map makes topics of the items of two lists: use [] behind one list, and [*] for the others."
        )
    return Columns(paths)


def recognised(names: Collection[str]) -> Columns | None:
    """Return the columns of a well-known data set; None for optsum's own, and for those that are not known.

    Examples
    --------
    >>> recognised(["article", "highlights", "id"]).paths
    {'documents': ('article',), 'references': ('highlights',), 'id': ('id',)}
    """
    if {*_TEXTS, "cover"} & set(names):
        return None
    for documents, references in WELL_KNOWN:
        if documents in names and references in names:
            paths: dict[str, Path] = {"documents": (documents,), "references": (references,)}
            if own := next((name for name in _IDS if name in names), None):
                paths["id"] = (own,)
            return Columns(paths)
    return None


# Texts.


def _texts(value: object, path: Path, split: Splitter, *, several: bool) -> list[Any]:
    """Return documents or references, each a list of sentences.

    A string is one raw text (or several, where marks say so). A list of strings is one text, sentence by sentence, as
    every public data set means it; one that ``[*]`` has gathered is of texts. Lists of lists of words are sentences.
    """
    where = ".".join(path)
    if isinstance(value, str):
        texts: list[Any] = documents_between_marks(value) if several else [value]
    elif not isinstance(value, list | tuple):
        raise InputError(f"{where} is {json_type(value)}; give a string, a list of sentences, or a list of texts")
    elif "[*]" in path:
        texts = [text for text in value if text is not None]
    elif all(isinstance(item, str) for item in value) or _is_tokens(value):
        texts = [[piece for item in value for piece in _pieces(item)]]
    else:
        texts = list(value)
    return [list(as_sentences(_marked(text), f"{where}[{number}]", split)) for number, text in enumerate(texts)]


def _pieces(item: Any) -> list[Any]:
    """Return a sentence, or those that marks make of it."""
    return ([item] if (found := between_marks(item)) is None else found) if isinstance(item, str) else [item]


def _marked(text: Any) -> Any:
    return found if isinstance(text, str) and (found := between_marks(text)) is not None else text


def _is_tokens(value: Collection[Any]) -> bool:
    """Whether lists of lists are sentences of words, and not texts of sentences: no string in them has a blank."""
    lists = [item for item in value if isinstance(item, list | tuple)]
    words = [word for item in lists for word in item]
    return (
        bool(words)
        and len(lists) == len(value)
        and all(isinstance(w, str) and not set(w) & set(" \t\n") for w in words)
    )
