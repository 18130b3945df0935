"""Records of other people's data sets: which of their fields is what (``--map``), and what is known of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from optsum.corpus.sentences import json_type
from optsum.errors import InputError, OptionError, unknown_name

Path = tuple[str, ...]  # Names, and ``"[]"`` for "a topic of each item", ``"[*]"`` for "all items".

_STEP = re.compile(r"([^.\[\]]+)((?:\[\*?\])*)")


def parse_path(text: str) -> Path:
    """Return the steps of a path such as ``questions[].responses[*].text``.

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


def dotted(path: Path) -> str:
    """Return a path as it is written."""
    return ".".join(path).replace(".[", "[")


def items_of(value: Any, path: Path, names: Collection[str] = ()) -> list[Any] | tuple[Any, ...]:
    """Return the items of a list; an object of lists (`datasets` has these for lists of objects) is turned into one.

    `names`: the lists of an object that are wanted; all, if none is named.
    """
    where = dotted(path) or "the record"
    if isinstance(value, Mapping):
        lists = {name: value.get(name) for name in names or value}
        sizes = {len(each) for each in lists.values() if isinstance(each, list | tuple)}
        if len(sizes) == 1 and all(isinstance(each, list | tuple) for each in lists.values()):
            return [dict(zip(lists, each, strict=True)) for each in zip(*lists.values(), strict=True)]
        if len(sizes) > 1:
            raise InputError(f"the lists {', '.join(map(str, lists))} of {where} differ in length, so no item has both")
    if not isinstance(value, list | tuple):
        raise InputError(f"{where} is {json_type(value)}, and [] asks for a list")
    return value


def value_at(record: Any, path: Path) -> Any:
    """Return what stands at a path without ``[]``; None where a name is missing."""
    if len(path) > 1 and isinstance(record, Mapping) and (name := dotted(path)) in record:
        return record[name]  # as pandas.json_normalize names columns
    value = record
    for place, step in enumerate(path):
        if value is None:
            return None
        if step == "[*]":
            if not isinstance(value, list | tuple | Mapping):
                raise InputError(f"{'.'.join(path[:place])} is {json_type(value)}, and [*] asks for a list")
            found = [value_at(item, path[place + 1 :]) for item in items_of(value, path[:place])]
            return [item for each in found for item in each] if "[*]" in path[place + 1 :] else found
        if not isinstance(value, Mapping):
            hint = "; [*] behind it takes all its items" if isinstance(value, list | tuple) else ""
            raise InputError(f"{'.'.join(path[:place])} is {json_type(value)}, and has no field {step!r}{hint}")
        value = value.get(step)
    return value


_TEXTS: Final = ("documents", "references")
_KEYS: Final = ("id", *_TEXTS, "cover", "supports", "weights", "lengths", "parses", "meta")

OWN: Final = frozenset({"documents", "cover", "supports"})  # Keys by which a topic of optsum's own is known.

WELL_KNOWN: Final[tuple[tuple[str, str], ...]] = (
    ("article", "highlights"),  # CNN / Daily Mail
    ("document", "summary"),  # XSum, Multi-News, Gigaword
    ("dialogue", "summary"),  # SAMSum, DialogSum
    ("text", "summary"),  # BillSum, MatchSum
    ("article_text", "abstract_text"),  # arXiv and PubMed
    ("article", "abstract"),  # the same, as scientific_papers
    ("report", "summary"),  # GovReport
    ("src_txt", "tgt_txt"),  # PreSumm
    ("src", "tgt"),  # BertSum, and files made of two
    ("source", "target"),  # SciTLDR, and files made of two
)
"""Columns of documents and references in public data sets."""

IDS: Final = ("id", "article_id", "guid", "docid", "paper_id", "gem_id", "fname")
"""Columns of ids in public data sets; the first that is there is taken."""

SENTENCES: Final = frozenset({"article_text", "abstract_text", "src_txt", "tgt_txt", "source"})
"""Columns whose list of strings is one text, sentence by sentence, whatever the splitter finds in a string."""

SEVERAL: Final = frozenset({"target", "targets", "references", "summaries", "tldrs", "human_summaries"})
"""Columns whose list of strings is several summaries (SciTLDR, Opinosis, SummEval)."""

LINES: Final = frozenset({"dialogue", "dialog", "conversation", "highlights"})
"""Columns whose lines, where there are several, are the sentences (SAMSum, DialogSum, CNN / Daily Mail)."""

TOKENS: Final = frozenset({"src", "tgt"})
"""Columns whose lists of strings are sentences of tokens (BertSum), beside those that say so by their name."""

_MAY_BE: Final = {
    "documents": (
        *("documents", "document", "article", "text", "dialogue", "source", "report", "transcript", "content", "body"),
        *("maintext", "articles", "review_sents", "meeting", "meeting_transcripts", "story", "paper", "src", "input"),
        *("email_body", "chapter", "utt", "turns", "news", "ctext", "full_text", "inputs", "reviews", "selftext"),
        *("description", "abstract"),
    ),
    "references": (
        *("references", "reference", "summary", "highlights", "tldr", "target", "summaries", "abstract", "headline"),
        *("tgt", "short_summary", "description", "output", "title", "headlines", "subject_line", "targets", "summs"),
    ),
}
"""Columns that look like documents or references, in lower case, the likeliest first; a column is not both."""

_TEXTS_OF_OBJECTS: Final = ("text", "content", "document", "sentence", "sentences", "utterance", "utt", "body", "value")
"""Fields of objects in a list that look like their text, in the same way."""


def advice_for(names: Collection[Any], lacking: str | None = None) -> str:
    """Return what to write for a record whose columns are not known, as the end of a message.

    Where only one key is `lacking`, there is nothing to be said unless a column looks like it.

    `names`: those of the columns; or the record itself, whose values tell where the texts of objects stand.

    Examples
    --------
    >>> advice_for(["Text", "Summary"])
    '; --map documents=Text,references=Summary says which is what'
    >>> advice_for({"articles": [{"text": "A cat."}], "summary": "A cat."})
    '; --map documents=articles[*].text,references=summary says which is what'
    """
    record = names if isinstance(names, Mapping) else {}
    if not (found := likely_columns(names)):
        for name, value in record.items():  # the records are the items of a list
            inner = value[0] if isinstance(value, list | tuple) and value else None
            if (
                isinstance(name, str)
                and isinstance(inner, Mapping)
                and len(of_items := likely_columns(inner)) == len(_MAY_BE)
            ):
                found, record = {key: f"{name}[].{path}" for key, path in of_items.items()}, {}
                break
    pairs = {key: found.get(key, "COLUMN") for key in _MAY_BE}
    said = ",".join(f"{key}={_text_of(record, name)}" for key, name in pairs.items())
    return f"; --map {said} says which is what" if lacking is None or pairs[lacking] != "COLUMN" else ""


def likely_columns(names: Collection[Any]) -> dict[str, str]:
    """Return which names look like documents and references; the same name is not both."""
    plain = {name.lower(): name for name in reversed(list(names)) if isinstance(name, str)}
    summaries = [name for name in reversed(plain) if "summary" in name]
    found: dict[str, str] = {}
    for key, likely in _MAY_BE.items():
        names = (*likely, *summaries) if key == "references" else likely
        name = next((name for name in names if name in plain and plain[name] not in found.values()), None)
        found |= {} if name is None else {key: plain[name]}
    return found


def _text_of(record: Mapping[Any, Any], name: str) -> str:
    """Return the path to the texts of a column; where it holds objects, to that field of them which looks like one."""
    value = record.get(name)
    item = value[0] if isinstance(value, list | tuple) and value else value
    if not isinstance(item, Mapping):
        return name
    plain = {each.lower(): each for each in item if isinstance(each, str)}
    field = next((plain[each] for each in _TEXTS_OF_OBJECTS if each in plain), None)
    return name if field is None else f"{name}.{field}" if isinstance(value, Mapping) else f"{name}[*].{field}"


def field_advice(key: str, name: str, value: Any) -> str:
    """Return what to write for a column of objects with a field that looks like their text, as the end of a message."""
    path = _text_of({name: value}, name)
    return "" if path == name else f"; --map {key}={path} says which of its fields"


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the keys of a topic stand in a record."""

    paths: Mapping[str, Path]  # Keys are those of a topic; ``meta.NAME`` puts a value into its meta.

    @property
    def names(self) -> frozenset[str]:
        """The columns that the paths begin with, but for the id, which need not be there."""
        return frozenset(name for key, path in self.paths.items() if key != "id" for name in (path[0], dotted(path)))

    def topics(self, record: Any, number: int) -> Iterator[dict[str, Any]]:
        """Yield the topics of a record: one, or one for each item of the list that ``[]`` stands behind.

        `number`: from 0; the id where there is none. Topics of a list are called ``id.0``, ``id.1``, ... if none of
        their items has an id.
        """
        if not isinstance(record, Mapping):
            wanted = sorted({path[0] for key, path in self.paths.items() if key != "id"})
            raise InputError(f"a record is an object with the columns {', '.join(wanted)}, not {json_type(record)}")
        path = self.paths.get("id", ("id",))
        name = None if "[]" in path else value_at(record, path)
        name = str(number) if name is None or (isinstance(name, str) and not name) else name
        lists = {halves[0]: halves[1] for path in self.paths.values() if (halves := split_at(path)) is not None}
        if not lists:
            yield self._topic(record, None, name)
            return
        (place,) = lists
        names = {path[len(place) + 1] for path in self.paths.values() if "[]" in path and len(path) > len(place) + 1}
        for position, item in enumerate(items_of(value_at(record, place), place, names)):
            yield self._topic(record, item, f"{name}.{position}")

    def _topic(self, record: Any, item: Any, name: object) -> dict[str, Any]:
        topic: dict[str, Any] = {"id": name}
        meta: dict[str, Any] = {}
        for key, path in self.paths.items():
            halves = split_at(path)
            value = value_at(record, path) if halves is None else value_at(item, halves[1])
            if value is None or (key == "id" and halves is None):  # the name is that of the record
                continue
            if key.startswith("meta."):
                meta[key.removeprefix("meta.")] = value
            elif key in _TEXTS or not isinstance(value, str) or value:
                topic[key] = value
        return {**topic, "meta": {**topic.get("meta", {}), **meta}} if meta else topic


def parse_columns(given: str | Mapping[str, str]) -> Columns:
    """Return the columns that ``--map documents=article,references=highlights,id=id`` names.

    Examples
    --------
    >>> parse_columns("documents=article,references=highlights").paths
    {'id': ('id',), 'documents': ('article',), 'references': ('highlights',)}
    """
    pairs = [tuple(part.partition("=")[::2]) for part in given.split(",")] if isinstance(given, str) else given.items()
    turned = [(path, key) for key, path in pairs if key not in _KEYS and path in _KEYS]
    if turned:
        right = [pair if pair in turned else pair[::-1] for pair in ((path, key) for key, path in pairs)]
        raise OptionError(
            f"--map names a key of optsum first and your column second: write --map {','.join(map('='.join, right))}."
        )
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
    if paths.keys().isdisjoint({"cover", "supports"}) and (lacking := [key for key in _TEXTS if key not in paths]):
        raise OptionError(f"--map does not say where the {lacking[0]} are: give {lacking[0]}=COLUMN too.")
    halved = [halves for path in paths.values() if (halves := split_at(path)) is not None]
    if len({place for place, _ in halved}) > 1:
        parents = {place[:-1] for place, _ in halved}
        if len(parents) > 1 or any(rest or place[-1] == "[*]" for place, rest in halved):
            raise OptionError(
                "--map makes topics of the items of two lists: use [] behind one list, and [*] for the others."
            )
        for key, place in list(paths.items()):  # lists side by side: those of one object, item by item
            if "[]" in place:
                paths[key] = (*place[:-2], "[]", place[-2])
    return Columns({"id": ("id",), **paths})


def recognised(names: Collection[str]) -> Columns | None:
    """Return the columns of a well-known data set; None for optsum's own, and for those that are not known.

    Examples
    --------
    >>> recognised(["article", "highlights", "id"]).paths
    {'id': ('id',), 'documents': ('article',), 'references': ('highlights',)}
    """
    if not OWN.isdisjoint(names) or "references" in names:
        return None
    for documents, references in WELL_KNOWN:
        if documents in names and references in names:
            own = next((name for name in IDS if name in names), "id")
            return Columns({"id": (own,), "documents": (documents,), "references": (references,)})
    return None


def columns_beside(names: Collection[object], taken: Columns) -> list[str]:
    """Return the columns of a record that other data sets have their documents or references in.

    Examples
    --------
    >>> record = ["article", "highlights", "document", "summary"]
    >>> columns_beside(record, recognised(record))
    ['document', 'summary']
    """
    known = {name for pair in WELL_KNOWN[:7] for name in pair}  # those below also name publishers, or tokens
    return [name for name in names if str(name).lower() in known and name not in taken.names]
