"""Make topics from records: ids, documents, references and covers; columns of data sets; vectors in npz files."""

from __future__ import annotations

import csv
import hashlib
import json
import logging
import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self, TypeAlias, get_args
from zipfile import BadZipFile, ZipFile

from optsum.corpus.formats import NOTE, Cells, topic_of_nuggets, unpacked
from optsum.corpus.sentences import (
    ENGLISH,
    Splitter,
    as_sentences,
    between_marks,
    documents_between_marks,
    is_well_formed,
    json_type,
    lines_of,
    splitter_of,
    well_formed,
    with_breaks,
)
from optsum.errors import InputError, OptionError, spoken, unknown_name
from optsum.system.files import NPZ_ERRORS, is_deep, stamp
from optsum.text.analyzer import Sentence, word_count
from optsum.whole import flag, whole

if TYPE_CHECKING:
    from optsum.metrics.similarity import Vectors


Text: TypeAlias = tuple[Sentence, ...]  # A document, a reference or a summary.
# Meaning of the strings of a flat list: sentences of one text, raw texts, or tokens of a sentence.
Flat: TypeAlias = Literal["sentences", "texts", "tokens"]
# The alternatives of each abstract sentence; an alternative is a set of unit numbers or sentence ids.
Cover: TypeAlias = tuple[tuple[tuple[int | str, ...], ...], ...]

# A record with all keys of `_LEAST` and none besides `_PLAIN` is in optsum's own form; no other form is tried.
_LEAST: Final = frozenset({"id", "documents"})
_PLAIN: Final = _LEAST | {"references", "meta"}
ColumnPath: TypeAlias = tuple[str, ...]  # Field names; after a list, "[]" makes a topic of each item, "[*]" takes all.
_TEXTS: Final = ("documents", "references")
_KEYS: Final = ("id", *_TEXTS, "cover", "supports", "weights", "lengths", "parses", "meta")
OWN: Final = frozenset({"documents", "cover", "supports"})  # Any of these marks optsum's own form.
_KNOWN: Final = {
    *("documents", "references", "cover", "parses", "meta"),  # of topics
    *("topic_id", "system", "summary", "selection", "human"),  # of systems
    *("status", "termination"),  # of rows
}
# Names of columns in public data sets, by what the columns contain.
_COLUMNS: Final[dict[str, list[Any]]] = {
    kind: held["columns"]
    for kind, held in json.loads(Path(__file__).with_name("data_sets.json").read_text(encoding="utf-8")).items()
}
WELL_KNOWN: Final = tuple((documents, references) for documents, references, _ in _COLUMNS["data_sets"])
IDS: Final = tuple(_COLUMNS["ids"])
_ENDINGS: Final = frozenset(".!?\u3002\uff01\uff1f\u2026\u061f\u0964\u06d4")
_MOST: Final = 10**9  # Largest length or weight.
_COVER: Final = "cover is a list, per abstract sentence, of alternatives, each a list of units"


@dataclass(eq=False)
class Notes:
    """The reporter of doubts about an input, each kind once; a pickled copy only collects doubts, for `repeat`."""

    _name: str = ""
    _tell: Callable[[str], None] | None = None
    # By kind: the sentence, and whether it is information rather than a warning.
    said: dict[str, tuple[str, bool]] = field(default_factory=dict, init=False)

    def __call__(self, kind: str, sentence: str, *, news: bool = False) -> None:
        """Report a sentence unless one of its kind was reported before; `news`: it is information, not a warning."""
        if kind in self.said:
            return
        self.said[kind] = sentence, news
        sentence = spoken(f"{self._name}: {sentence}" if self._name else sentence)
        if self._tell is not None:
            self._tell(sentence)
        else:
            logging.getLogger("optsum").log(logging.INFO if news else logging.WARNING, "%s", sentence)

    def repeat(self, said: Mapping[str, tuple[str, bool]]) -> None:
        for kind, (sentence, news) in said.items():
            self(kind, sentence, news=news)

    def __reduce__(self) -> tuple[Any, ...]:
        return Notes, (self._name, len)  # `len` is a callable that reports nothing


@lru_cache(maxsize=32)
def notes_of(name: str) -> Notes:
    """Return the reporter of doubts about an input, the same for each call, so that a doubt is reported once."""
    return Notes(name)


class Reading(NamedTuple):
    """Options for converting input texts to sentences."""

    split: Splitter = ENGLISH  # Splits raw text into sentences.
    flat: Flat | None = None  # Meaning of a flat list of strings.
    # Whether each line of raw text is a sentence; None: only in columns that are known for it.
    lines: bool | None = None
    # If `lines` is None: whether lines of a raw reference are sentences, if there are several, or always (rougeLsum).
    summary_lines: Literal["broken", "always"] | None = None
    source_words: int | None = None  # Read the sentences within this many words of the documents.
    # Columns of records by their meaning (``--map``); None: recognise the columns of well-known data sets.
    columns: Columns | None = None
    notes: Notes = Notes()  # Reports doubts about the input.

    def of_input(
        self, name: str, columns: str | Mapping[str, str] | None, tell: Callable[[str], None] | None = None
    ) -> Reading:
        return self._replace(columns=None if columns is None else parse_columns(columns), notes=Notes(name, tell))

    def documents(self, text: str, where: str = "documents") -> tuple[Text, ...]:
        """Return the documents in a raw text: one, or the parts between marks that separate documents."""
        return _raw_texts(text, "documents", where, self)

    def summary(self, value: object, where: str = "references") -> Text:
        """Return the sentences of a reference or of a system's summary, given as raw text or as a list of sentences."""
        value = unpacked(without_arrays(value), where)
        if isinstance(value, str):
            return _sentences_of(value, "references", where, self)
        return as_sentences(value, where, self.split)


AS_IS: Final = Reading()


def reading_of(
    *,
    language: str = "en",
    splitter: str | Callable[..., Any] = "sentencex",
    flat: Flat | None = None,
    lines: bool | None = None,
    source_words: int | None = None,
    columns: str | Mapping[str, str] | None = None,
    notes: Notes | None = None,
) -> Reading:
    mapped = None if columns is None else parse_columns(columns)
    for what, value in (("language", language), ("splitter", splitter)):
        if not isinstance(value, str) and (what == "language" or not callable(value)):
            raise OptionError(f"The {what} is {value!r:.60}: give a name{' or a function' * (what == 'splitter')}.")
    if flat is not None and flat not in get_args(Flat):
        raise unknown_name("value of flat", flat, get_args(Flat))
    if lines is not None:
        lines = flag(lines, "lines")
    if source_words is not None:
        source_words = whole(source_words, "--source-words", least=1, most=10**400, error=OptionError)
    return Reading(splitter_of(language, splitter), flat, lines, None, source_words, mapped, notes or Notes())


@dataclass(frozen=True, slots=True, repr=False)
class Topic:
    """One topic, as made by `as_topic` and the readers; the constructor does not check.

    Attributes
    ----------
    id : str
        Not blank, without control characters.
    documents : tuple of tuple of sentences
        Blank sentences are kept, so that units have the same numbers as in the input.
    references : tuple of tuple of sentences
        Empty only for a cover topic.
    meta : mapping
        Other fields of the input about the topic, such as ``conllu``.
    cover : tuple or None
        For each sentence of the abstract its alternatives, each a tuple of unit numbers or sentence ids.
    parses : tuple of str or None
        CoNLL-U text of each sentence.
    source : str
        Where it was read, ``file:line``; empty for a topic of the Python API.
    vectors : Vectors or None
        Vectors of its sentences and references, for metrics of similarity.
    problem : Problem or mapping, optional
        A problem to solve instead of a text, or the JSON form of an instance in the normal form. The labels of its
        units then stand in `documents` as sentences.
    lengths : tuple of int or None
        Length of each sentence, if lengths are given (``--length-unit given``).
    start : tuple, optional
        A starting selection for searches, in the numbering of the input.
    weights : tuple of Fraction or None
        Weight of each abstract sentence, if a cover has a budget.
    sentences : tuple of sentences
        Sentences of all documents, in order: sentence u is unit u.
    """

    id: str
    documents: tuple[Text, ...] = ()
    references: tuple[Text, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)
    cover: Cover | None = None
    parses: tuple[str, ...] | None = None
    source: str = ""
    vectors: Vectors | None = field(default=None, repr=False, compare=False)
    problem: Any = field(default=None, repr=False, compare=False)
    lengths: tuple[int, ...] | None = field(default=None, repr=False)
    start: tuple[Any, ...] | None = field(default=None, repr=False, compare=False)
    weights: tuple[Fraction, ...] | None = field(default=None, repr=False)
    sentences: Text = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", tuple(chain.from_iterable(self.documents)))

    def __repr__(self) -> str:
        counts = {noun: len(getattr(self, noun)) for noun in ("documents", "sentences", "references")}
        said = [f"{count} {noun if count > 1 else noun[:-1]}" for noun, count in counts.items() if count]
        return f"<Topic {self.id!r}: {', '.join(said) or 'no text'}>"

    @property
    def reference_sentences(self) -> int | None:
        """Average number of sentences of a reference, rounded; None without references."""
        return round(sum(map(len, self.references)) / len(self.references)) if self.references else None

    def with_references(self, numbers: Sequence[int]) -> Self:
        """Return the topic with only some of its references, and their vectors."""
        if len(numbers) == len(self.references) and tuple(numbers) == tuple(range(len(numbers))):
            return self
        return replace(
            self,
            references=tuple(self.references[number] for number in numbers),
            vectors=None if self.vectors is None else self.vectors.of_references(numbers),
        )


@dataclass(frozen=True, slots=True)
class BadTopic:
    """A topic that cannot be used; it becomes an error row, and the other topics are processed."""

    id: str | None  # None if the id could not be read.
    source: str  # ``file:line``.
    error: str  # What is wrong, without the source.


def as_topic(
    obj: object,
    *,
    language: str = "en",
    splitter: str | Callable[..., Any] = "sentencex",
    source: str = "",
    flat: Flat | None = None,
    lines: bool | None = None,
    source_words: int | None = None,
    columns: str | Mapping[str, str] | None = None,
) -> Topic:
    """Return a topic from its JSON form, checked.

    Parameters
    ----------
    obj : mapping or Topic
        With ``id``, ``documents`` and ``references`` (lists of sentence lists or of raw texts, or one raw text), and
        perhaps ``meta``, ``constraints``, ``cover`` or ``supports``, ``weights``, ``parses``, ``lengths`` and
        ``vectors`` (docs/topics.md). With a cover, documents and references may be absent. Other keys are ignored. A
        record may also have the columns of a well-known data set, or `columns`. A `Topic` is returned unchanged.
    language : str
        Language whose rules split raw texts.
    splitter : str or callable
        Splitter of raw text: its name, ``module:function``, or a function from a text to its sentences.
    source : str
        Origin of the topic, ``file:line``.
    flat : {"sentences", "texts", "tokens"}, optional
        Meaning of a flat list of strings: one text, sentence by sentence, several raw texts, or the tokens of one
        sentence. By default, strings of several sentences each are raw texts; an ambiguous list is refused.
    lines : bool, optional
        Whether each line of a raw text is a sentence; by default, lines of dialogues and highlights are.
    source_words : int, optional
        Read only the sentences within the first N words of the documents.
    columns : str or mapping, optional
        The columns of a data set by their meaning, as for ``--map``: ``{"documents": "article", "references":
        "highlights"}``.

    Raises
    ------
    InputError
        If a key is missing or a value has the wrong type; if there is no document or no reference at all; if a flat
        list could be one text or several; if the numbers of parses and sentences differ; if `columns` make several
        topics from one record.
    OptionError
        If the language code or the splitter is unknown, or `columns` are malformed or incomplete.

    Examples
    --------
    >>> topic = as_topic({"id": 7, "documents": [["A cat ."], "It ran. It sat."], "references": [["Cats ."]]})
    >>> topic.id, topic.sentences
    ('7', ('A cat .', 'It ran.', 'It sat.'))
    """
    reading = reading_of(
        language=language, splitter=splitter, flat=flat, lines=lines, source_words=source_words, columns=columns
    )
    return topic_of(obj, reading, source)


def topic_of(obj: object, reading: Reading, source: str = "") -> Topic:
    if isinstance(obj, Topic):
        return obj
    found = list(topics_of_record(obj, None, reading, source))
    if len(found) != 1:
        raise InputError(f"the columns make {len(found)} topics from this record; give the record in a list")
    return found[0]


def topics_of_record(value: object, number: int | None, reading: Reading, source: str) -> Iterable[Topic]:
    """Return the topics of a record or a problem; a topic without an id is named by `number` (0 if None)."""
    if isinstance(value, Topic):
        return [value]
    if type(value) is dict and reading.columns is None and value.keys() >= _LEAST and value.keys() <= _PLAIN:
        return [_topic(value, None, reading, source)]  # no other form need be tried
    value = value.record() if isinstance(value, Cells) else value
    if (posed := getattr(value, "as_topic", None)) is not None:  # `value` is a problem
        if isinstance(value, type):
            raise InputError(f"this is the class {value.__name__}, not a problem: call it to make one")
        return [posed()]
    if isinstance(value, Mapping) and "format" in value and "lengths" in value and "documents" not in value:
        named = {} if number is None or "id" in value else {"id": str(number)}
        return [_instance({**named, **value}, source)]
    columns = reading.columns
    if columns is None and isinstance(value, Mapping) and "nuggets" in value and OWN.isdisjoint(value):
        value = topic_of_nuggets(value)
    if isinstance(value, Mapping) and NOTE in value and "supports" in value:
        reading.notes(NOTE, value[NOTE], news=True)
    if columns is None and isinstance(value, Mapping) and (columns := recognised(value)) is not None:
        parts = [f"{key} are {path[0]}" for key, path in columns.paths.items() if key != "id"]
        name = "the row's number" if columns.paths["id"][0] not in value else columns.paths["id"][0]
        # Columns that are called like texts of another data set; later names may also mean publishers, or tokens.
        known = {name for pair in WELL_KNOWN[:7] for name in pair}
        left = [name for name in value if str(name).lower() in known and name not in columns.names]
        beside = f", and {' and '.join(left)} {'is' if len(left) == 1 else 'are'} not used" if left else ""
        reading.notes(
            f"columns {parts}", f"{', '.join(parts)}, id is {name}{beside}; choose others with --map", news=not left
        )
    if columns is not None:
        if not (records := list(columns.topics(value, number or 0))):
            reading.notes("none", f"the list of topics in {source or 'a record'} is empty")
        return (_topic(record, columns, reading, source) for record in records)
    if not isinstance(value, Mapping):
        of_models = {
            "component_data_objects": ("a Pyomo model", "PyomoProblem(model, units=model.x)"),
            "facility": ("an instance of the normal form", "CoverageProblem.of(instance)"),
        }
        if said := [each for mark, each in of_models.items() if hasattr(value, mark)]:
            raise InputError(f"this is {said[0][0]}: optsum.{said[0][1]} makes a problem from it")
        raise InputError(f'a topic is an object with "documents" and "references", not {json_type(value)}')
    if "id" not in value and not OWN.isdisjoint(value):
        value = {"id": str(number or 0), **value}
    return [_topic(value, None, reading, source)]


def _topic(obj: Mapping[Any, Any], columns: Columns | None, reading: Reading, source: str) -> Topic:
    if obj.get("id") is None:
        if OWN.isdisjoint(obj):
            raise InputError(f'the topic has neither "documents" nor "references"; {_keys(obj)}{advice_for(obj)}')
        raise InputError('the "id" of the topic is null; give a string or a whole number, or leave it out')
    name = as_id(obj["id"], "the id of a topic")
    try:
        return _checked(name, obj, columns, reading, source)
    except InputError as error:
        raise InputError(f"topic {name!r}: {error}") from None


def _checked(name: str, obj: Mapping[Any, Any], columns: Columns | None, reading: Reading, source: str) -> Topic:
    given = {key: value for key, value in obj.items() if value is not None}
    cover = _cover(given["cover"]) if "cover" in given else None
    meta: Any = given.get("meta", {})
    if not isinstance(meta, Mapping):
        raise InputError(f'"meta" is {json_type(meta)}; give an object')
    if (meta := dict(meta)) and is_deep(meta):
        raise InputError('"meta" is nested too deeply; give less deeply nested values')
    supports = _supports(given["supports"], cover) if "supports" in given else None
    if "constraints" in given:
        if "constraints" in meta:
            raise InputError('the topic has "constraints", and others in "meta"; give all of them in one place')
        meta["constraints"] = given["constraints"]
    covered = cover is not None or supports is not None
    documents = _texts(obj, "documents", columns, reading, optional=covered)
    references = _texts(obj, "references", columns, reading, optional=covered)
    units = sum(map(len, documents))
    weights = None
    if "weights" in given:
        numbers = _list(given["weights"], '"weights"', "weights are a list of numbers, one for each claim")
        weights = tuple(_weight(number, f"weights[{place}]") for place, number in enumerate(numbers))
    if supports is not None:
        passages = meta.get("sentence_ids", range(units)) if documents else range(len(supports))
        names = _claims(supports, references, meta, weights)
        cover = _supported(supports, passages, names)
        if not isinstance(names, range):
            meta["abstract_ids"] = list(names)
    if weights is not None and len(weights) != len(cover or ()):
        counts = f"{len(weights)} weights, but {len(cover or ())} claims"
        raise InputError(f"there are {counts}; give one weight for each claim")
    parses = lengths = vectors = None
    if "parses" in given:
        parses = tuple(_for_each(given["parses"], "parses", units, "give a list, the CoNLL-U text of each sentence"))
        if wrong := [(number, text) for number, text in enumerate(parses) if not isinstance(text, str)]:
            raise InputError(f"parses[{wrong[0][0]}] is {json_type(wrong[0][1])}; give CoNLL-U text")
    if "lengths" in given:
        # Without documents `supports` has a list for each passage, and a cover allows any number of passages.
        counted = units if documents or not covered else None if supports is None else len(supports)
        numbers = _for_each(given["lengths"], "lengths", counted, "give a list, one whole number for each sentence")
        checked = partial(whole, least=0, most=_MOST, error=InputError)
        lengths = tuple(checked(length, f"lengths[{place}]") for place, length in enumerate(numbers))
    if reading.source_words is not None:
        if covered or "vectors" in obj:
            raise InputError("the cover or vectors of the topic refer to all sentences; leave out --source-words")
        documents = _first_words(documents, reading.source_words)
        units = sum(map(len, documents))
        parses = None if parses is None else parses[:units]
        lengths = None if lengths is None else lengths[:units]
    if "vectors" in given:
        if not isinstance(arrays := given["vectors"], Mapping):
            raise InputError(f'"vectors" is {json_type(arrays)}; give an object of arrays, such as "sentences"')
        from optsum.metrics.similarity import vectors_of

        vectors = vectors_of(arrays, units, references)
    return Topic(name, documents, references, meta, cover, parses, source, vectors, lengths=lengths, weights=weights)


def _instance(obj: Mapping[str, Any], source: str) -> Topic:
    name, lengths, units = as_id(obj.get("id", "problem"), "the id of a problem"), obj["lengths"], obj.get("units")
    if not isinstance(lengths, list | tuple):
        raise InputError(f'problem {name!r}: "lengths" is {json_type(lengths)}; give a list, the length of each unit')
    named = units if isinstance(units, list | tuple) and len(units) == len(lengths) else range(len(lengths))
    labels = tuple(" ".join(map(str, unit)) if isinstance(unit, list | tuple) else str(unit) for unit in named)
    return Topic(name, (labels,), source=source, problem=obj)


def _first_words(documents: tuple[Text, ...], words: int) -> tuple[Text, ...]:
    kept: list[Text] = []
    for document in documents:
        sentences: list[Sentence] = []
        for sentence in document:
            words -= word_count(sentence)
            if words < 0:
                return (*kept, tuple(sentences)) if sentences or not kept else tuple(kept)
            sentences.append(sentence)
        kept.append(tuple(sentences))
    return tuple(kept)


def as_id(value: object, what: str) -> str:
    if isinstance(value, str):
        if not value.strip():
            raise InputError(f"{what} is blank; give it a name")
        for character in "" if value.isascii() and value.isprintable() else value:
            if unicodedata.category(character) in {"Cc", "Cs"}:
                raise InputError(f"{what}, {value!a:.80}, contains U+{ord(character):04X}; use printable characters")
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > 256:
            raise InputError(f"{what} has more than 256 bits; give a string")
        return str(int(value))
    if isinstance(value, float) and value.is_integer():  # a column of numbers in which some are missing
        if abs(value) > 2**53:  # whole numbers up to this one are exact in floating point
            raise InputError(f"{what} is {value!r}, which floating point may have rounded; give it as a string")
        return str(int(value))
    if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "size", 1) == 1:  # a number of numpy
        return as_id(value.item(), what)
    raise InputError(f"{what} is {json_type(value)}; give a string or a whole number")


def without_arrays(value: Any, depth: int = 6) -> Any:
    """Return a value of a data frame or a formatted dataset, with lists in place of arrays, also of nested ones."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple) or not value or isinstance(value[0], str) or not depth:
        return value
    return [without_arrays(item, depth - 1) for item in value]


def _keys(obj: Mapping[Any, Any]) -> str:
    keys = [str(key)[:30] for key in list(obj)[:8]]
    return f"its keys are: {', '.join(keys)}" if keys else "it is an empty object"


def parse_path(text: str) -> ColumnPath:
    """Return the steps of a path to a field of a record.

    >>> parse_path("questions[].responses[*].text")
    ('questions', '[]', 'responses', '[*]', 'text')
    """
    steps: list[str] = []
    for piece in text.split("."):
        found = re.fullmatch(r"([^.\[\]]+)((?:\[\*?\])*)", piece.strip())
        if found is None:
            how = "after the name of a list, [] makes a topic of each item, and [*] takes all items"
            raise OptionError(f"{text!r} is not a path to a field: join names with dots; {how}")
        steps += [found[1], *re.findall(r"\[\*?\]", found[2])]
    if steps.count("[]") > 1:
        raise OptionError(f"{text!r} makes topics from the items of two lists: use [] once, and [*] for the other")
    return tuple(steps)


def split_at(path: ColumnPath) -> tuple[ColumnPath, ColumnPath] | None:
    """Return the path of the list whose items are topics, and the rest of the path; None without such a list."""
    return (path[: path.index("[]")], path[path.index("[]") + 1 :]) if "[]" in path else None


def dotted(path: ColumnPath) -> str:
    return ".".join(path).replace(".[", "[")


def items_of(value: Any, path: ColumnPath, names: Collection[str] = ()) -> list[Any] | tuple[Any, ...]:
    """Return the items of a list, or of an object of equally long lists (`names`, or all), the form of `datasets`."""
    where = dotted(path) or "the record"
    if isinstance(value, Mapping):
        lists = {name: value.get(name) for name in names or value}
        sizes = {len(each) for each in lists.values() if isinstance(each, list | tuple)}
        if len(sizes) == 1 and all(isinstance(each, list | tuple) for each in lists.values()):
            return [dict(zip(lists, each, strict=True)) for each in zip(*lists.values(), strict=True)]
        if len(sizes) > 1:
            raise InputError(f"the lists {', '.join(map(str, lists))} of {where} differ in length; make them equal")
    if not isinstance(value, list | tuple):
        raise InputError(f"{where} is {json_type(value)}, not a list: leave out the [] after it in the column")
    return value


def value_at(record: Any, path: ColumnPath) -> Any:
    if len(path) > 1 and isinstance(record, Mapping) and (name := dotted(path)) in record:
        return record[name]  # a column named as pandas.json_normalize does
    value = record
    for place, step in enumerate(path):
        if value is None:
            return None
        if step == "[*]":
            if not isinstance(value, list | tuple | Mapping):
                raise InputError(f"{'.'.join(path[:place])} is {json_type(value)}, but [*] needs a list")
            rest = path[place + 1 :]
            found = [value_at(item, rest) for item in items_of(value, path[:place])]
            return list(chain.from_iterable(found)) if "[*]" in rest else found
        if not isinstance(value, Mapping):
            hint = "; [*] after it takes all its items" if isinstance(value, list | tuple) else ""
            raise InputError(f"{'.'.join(path[:place])} is {json_type(value)}, and has no field {step!r}{hint}")
        value = value.get(step)
    return value


def advice_for(names: Collection[Any], lacking: str | None = None) -> str:
    """Return advice on ``--map`` for a record or names of columns; "" if no column looks like the key `lacking`.

    >>> advice_for(["Text", "Summary"])
    '; --map documents=Text,references=Summary tells which is which'
    >>> advice_for({"articles": [{"text": "A cat."}], "summary": "A cat."})
    '; --map documents=articles[*].text,references=summary tells which is which'
    """
    record = names if isinstance(names, Mapping) else {}
    if not (found := likely_columns(names)):
        for name, value in record.items():  # topics may be the items of a list in the record
            inner = value[0] if isinstance(name, str) and isinstance(value, list | tuple) and value else None
            of_items = likely_columns(inner) if isinstance(inner, Mapping) else {}
            if len(of_items) == len(_TEXTS):
                found, record = {key: f"{name}[].{path}" for key, path in of_items.items()}, {}
                break
    pairs = {key: found.get(key, "COLUMN") for key in _TEXTS}
    said = ",".join(f"{key}={_text_of(record, name)}" for key, name in pairs.items())
    return f"; --map {said} tells which is which" if lacking is None or pairs[lacking] != "COLUMN" else ""


def likely_columns(names: Collection[Any]) -> dict[str, str]:
    """Return the names that look like documents and like references, by key; the same name is never both."""
    plain = {name.lower(): name for name in reversed(list(names)) if isinstance(name, str)}
    likely = {"documents": _COLUMNS["documents"], "references": [*_COLUMNS["references"]]}
    likely["references"] += (name for name in reversed(plain) if "summary" in name)
    found: dict[str, str] = {}
    for key, known in likely.items():
        if rest := [plain[name] for name in known if name in plain and plain[name] not in found.values()]:
            found[key] = rest[0]
    return found


def _text_of(record: Mapping[Any, Any], name: str) -> str:
    """Return the path to the texts of a column: its name, or in objects the field that looks like a text."""
    value = record.get(name)
    item = value[0] if isinstance(value, list | tuple) and value else value
    plain = {each.lower(): each for each in item if isinstance(each, str)} if isinstance(item, Mapping) else {}
    field = next((plain[each] for each in _COLUMNS["texts_of_objects"] if each in plain), None)
    return name if field is None else f"{name}.{field}" if isinstance(value, Mapping) else f"{name}[*].{field}"


def field_advice(key: str, name: str, value: Any) -> str:
    path = _text_of({name: value}, name)
    return "" if path == name else f"; --map {key}={path} tells which of its fields is the text"


@dataclass(frozen=True, slots=True)
class Columns:
    """The paths by which the values of a topic's keys are found in a record."""

    paths: Mapping[str, ColumnPath]  # By key of a topic; the key ``meta.NAME`` puts a value into its meta.

    @property
    def names(self) -> frozenset[str]:
        """Names of columns that may hold the values in a table: first steps and dotted paths, without those of id."""
        return frozenset(name for key, path in self.paths.items() if key != "id" for name in (path[0], dotted(path)))

    def topics(self, record: Any, number: int) -> Iterator[dict[str, Any]]:
        """Yield the topics of a record in their JSON form: one, or one for each item of the list before ``[]``.

        A record without an id is named by its `number`, from 0. An item of the list without an id is named after its
        record: ``id.0``, ``id.1``, ...
        """
        if not isinstance(record, Mapping):
            wanted = sorted({path[0] for key, path in self.paths.items() if key != "id"})
            raise InputError(f"a record is an object with the columns {', '.join(wanted)}, not {json_type(record)}")
        path = self.paths.get("id", ("id",))
        name = None if "[]" in path else value_at(record, path)
        name = str(number) if name is None or (isinstance(name, str) and not name) else name
        halved = [halves for path in self.paths.values() if (halves := split_at(path)) is not None]
        if not halved:
            yield self._topic(record, None, name)
            return
        place, names = halved[0][0], {rest[0] for _, rest in halved if rest}
        for position, item in enumerate(items_of(value_at(record, place), place, names)):
            yield self._topic(record, item, f"{name}.{position}")

    def _topic(self, record: Any, item: Any, name: object) -> dict[str, Any]:
        topic: dict[str, Any] = {"id": name}
        meta: dict[str, Any] = {}
        for key, path in self.paths.items():
            halves = split_at(path)
            value = value_at(record, path) if halves is None else value_at(item, halves[1])
            if value is None or (key == "id" and halves is None):  # `name` is already the id of the record
                continue
            if key.startswith("meta."):
                meta[key.removeprefix("meta.")] = value
            elif key in _TEXTS or not isinstance(value, str) or value:
                topic[key] = value
        return {**topic, "meta": {**topic.get("meta", {}), **meta}} if meta else topic


def parse_columns(given: str | Mapping[str, str]) -> Columns:
    """Return the columns in ``--map documents=article,references=highlights,id=id``.

    >>> parse_columns("documents=article,references=highlights").paths
    {'id': ('id',), 'documents': ('article',), 'references': ('highlights',)}
    """
    if not isinstance(given, str | Mapping):
        raise OptionError(
            f"The columns are {given!r:.60}: give a text such as documents=a,references=b, or a dictionary."
        )
    pairs = [tuple(part.partition("=")[::2]) for part in given.split(",")] if isinstance(given, str) else given.items()
    turned = [(path, key) for key, path in pairs if key not in _KEYS and path in _KEYS]
    if turned:
        right = [pair if pair in turned else pair[::-1] for pair in ((path, key) for key, path in pairs)]
        how = f"write --map {','.join(map('='.join, right))}"
        raise OptionError(f"--map names a key of optsum first and your column second: {how}.")
    paths: dict[str, ColumnPath] = {}
    for key, path in ((str(key).strip(), str(path).strip()) for key, path in pairs):
        if not path:
            how = "give documents=COLUMN,references=COLUMN"
            raise OptionError(f"--map has {key!r} where KEY=COLUMN was expected: {how}")
        if key not in _KEYS and not key.startswith("meta."):
            raise unknown_name("key of a topic", key, [*_KEYS, "meta.NAME"])
        if key in paths:
            raise OptionError(f"--map has {key!r} twice: give it once.")
        paths[key] = parse_path(path)
    if paths.keys().isdisjoint({"cover", "supports"}) and (lacking := [key for key in _TEXTS if key not in paths]):
        raise OptionError(f"--map does not say where the {lacking[0]} are: give {lacking[0]}=COLUMN too.")
    if "documents" in paths and paths["documents"] == paths.get("references"):
        raise OptionError("--map names one column for documents and references: give one for each, if need be a copy.")
    halved = [halves for path in paths.values() if (halves := split_at(path)) is not None]
    if len({place for place, _ in halved}) > 1:
        parents = {place[:-1] for place, _ in halved}
        if len(parents) > 1 or any(rest or place[-1] == "[*]" for place, rest in halved):
            how = "use [] after one list, and [*] for the others"
            raise OptionError(f"--map makes topics from the items of two lists: {how}.")
        for key, place in list(paths.items()):  # lists side by side in one object are read as one list of items
            if "[]" in place:
                paths[key] = (*place[:-2], "[]", place[-2])
    return Columns({"id": ("id",), **paths})


def recognised(names: Collection[str]) -> Columns | None:
    """Return the columns of the well-known data set that has these names; None for optsum's own form and others."""
    if not OWN.isdisjoint(names) or "references" in names:
        return None
    for documents, references in WELL_KNOWN:
        if documents in names and references in names:
            own = next((name for name in IDS if name in names), "id")
            return Columns({"id": (own,), "documents": (documents,), "references": (references,)})
    return None


def heading_of(line: bytes, *, closed: bool, columns: Collection[str], likely: bool) -> tuple[str, list[str]] | None:
    """Return the delimiter and the names of a heading line; None if no name is known.

    `closed`: whether some name must be known; otherwise any names are accepted. `columns`: further known names.
    `likely`: also accept names that look like documents and references.
    """
    text = line.decode("utf-8-sig", "surrogateescape").rstrip("\r\n")
    for delimiter in ",\t;":
        try:
            names = [name.strip() for name in next(csv.reader([text], delimiter=delimiter), [])]
        except csv.Error:
            continue
        known = _KNOWN.union(columns).intersection(names) or recognised(names) is not None
        if not closed or known or (likely and len(likely_columns(names)) > 1):
            return delimiter, names
    return None


def _texts(
    obj: Mapping[Any, Any], key: str, columns: Columns | None, reading: Reading, *, optional: bool
) -> tuple[Text, ...]:
    """Return the documents or the references of a topic: the one place that decides what strings and lists mean.

    A string is one raw text (or several documents between marks). A list of strings is one text, sentence by sentence,
    or several texts (`_flat`). Each list in a list is a text, given by its sentences.
    """
    path = () if columns is None else columns.paths.get(key, ())
    if not path and reading.flat != "tokens" and (nested := _nested(obj.get(key))) is not None:
        return nested
    where = dotted(path) or key
    value: Any = unpacked(without_arrays(obj.get(key)), where)
    if value is None:
        if optional and not path:
            return ()
        why = f": the column {where} is missing or null"
        if not path or where == key:
            why = f"; {_keys(obj)}{advice_for(obj, None if OWN.isdisjoint(obj) else key)}"
        raise InputError(f'there is no "{key}"{why}')
    if isinstance(value, str):
        if not any(found := _raw_texts(value, key, where, reading)):
            raise InputError(f"{where} is empty; give it a text, or leave the topic out")
        return found
    if not isinstance(value, list | tuple):
        what = where if path else f'"{where}"'
        said = f"{json_type(value)}; give a text, a list of sentences, or a list of texts"
        raise InputError(f"{what} is {said}{field_advice(key, where, value)}")
    if "[*]" in path:
        value = [text for text in value if text is not None]
        full = [text for text in value if not isinstance(text, str) or text.strip()]
        if key == "references" and 0 < len(full) < len(value):
            value = full
            reading.notes("empty", f"empty items of {where} are left out, like null")
    if not value and not optional:
        raise InputError(f'"{where}" is an empty list; give at least one')
    if value and all(isinstance(text, str) for text in value):
        return _flat(value, key, path, where, reading)
    if reading.flat == "tokens" or (path and _says_tokens(value, path, where, reading)):
        return (as_sentences(value, where, reading.split),)
    _check_strings(value, key)
    texts: list[Text] = []
    for number, text in enumerate(value):
        if isinstance(text, str):
            texts += _raw_texts(text, key, where, reading)
        elif isinstance(text, Mapping):
            raise InputError(f"{where}[{number}] is an object; give a text{field_advice(key, where, value)}")
        else:
            texts.append(as_sentences(_leaves(text) if path else text, f"{where}[{number}]", reading.split))
    return tuple(texts)


def _check_strings(value: Sequence[Any], key: str) -> None:
    """Refuse an empty string among references that have text, because it would count in means and lengths."""
    empty = [number for number, text in enumerate(value) if isinstance(text, str) and not text.strip()]
    if key == "references" and empty and any(text and number not in empty for number, text in enumerate(value)):
        raise InputError(f"reference {empty[0]} of {len(value)} is empty; give it a text, or leave it out")


def _nested(value: object) -> tuple[Text, ...] | None:
    """Return texts given as lists of sentences, the usual form, quickly; None for other forms."""
    if type(value) is not list or set(map(type, value)) != {list}:
        return None
    sentences = list(chain.from_iterable(value))
    if set(map(type, sentences)) != {str} or not ((text := "".join(sentences)).isascii() or is_well_formed(text)):
        return None
    return tuple(map(tuple, value))


def _flat(value: Sequence[str], key: str, path: Sequence[str], where: str, reading: Reading) -> tuple[Text, ...]:
    """Return the texts in a list of strings, by the option ``--flat``.

    Without the option, each string is a text if ``[*]`` has collected them, if the column is known to have several
    summaries, or if each string has several sentences. Otherwise the strings are the tokens of one sentence if they
    look like tokens, or the sentences of one text. Ambiguous lists are refused or reported.
    """
    name, flat = _name_of(path), reading.flat
    if flat is None and path:
        if "[*]" in path or (name in _COLUMNS["several"] and key == "references"):
            flat = "texts"
        elif name in (*_COLUMNS["sentences"], *_COLUMNS["lines"]) and len(value) > 1:
            flat = "sentences"
        elif len(value) > 2 and _says_tokens([value], path, where, reading):  # two may be sentences of one word
            flat = "tokens"
    if flat == "tokens":
        return (as_sentences([value], where, reading.split),)
    if flat == "sentences":
        return (_listed_sentences(value, path, where, reading),)
    texts = [_raw_texts(text, key, where, reading) for text in value]
    if path and not any(map(any, texts)):
        raise InputError(f"{where} is empty; give it a text, or leave the topic out")
    single = next((number for number, text in enumerate(texts) if sum(map(len, text)) == 1), None)
    if flat == "texts" or single is None or (len(value) == 1 and not path):
        _check_strings(value, key)
        return tuple(chain.from_iterable(texts))
    several = sum(sum(map(len, text)) > 1 for text in texts)
    if len(value) > 1 and (not path or 2 * several >= len(value)):
        raise InputError(
            f'"{where}" is a flat list of {len(value)} strings, and {where}[{single}] is a single sentence: write '
            '[["...", "..."]] for the sentences of one text, [["..."], ["..."]] for separate texts, or choose '
            "with --flat=sentences or --flat=texts"
        )
    if several or (key == "references" and len(value) > 1 and name not in _COLUMNS["one_summary"]):
        how = "--flat=texts makes each a separate text, --flat=sentences confirms this"
        reading.notes(f"flat {key}", f"the strings of {where} are taken for the sentences of one {key[:-1]}; {how}")
    return (_listed_sentences(value, path, where, reading),)


def _name_of(path: Sequence[str]) -> str:
    return next((step for step in reversed(path) if not step.startswith("[")), "")


def _listed_sentences(value: Sequence[str], path: Sequence[str], where: str, reading: Reading) -> Text:
    marked = [piece for item in value for piece in (between_marks(item) or [item])] if path else value
    return as_sentences(marked, where, reading.split)


def _raw_texts(text: str, key: str, where: str, reading: Reading) -> tuple[Text, ...]:
    texts = documents_between_marks(text) if key == "documents" else [text]
    return tuple([_sentences_of(each, key, where, reading) for each in texts])


def _sentences_of(text: str, key: str, where: str, reading: Reading) -> Text:
    if len(text) < 8 and text.strip() in {"NaN", "nan", "None", "null", "NULL", "N/A", "n/a", "<NA>"}:
        reading.notes("missing", f"{where} is {text.strip()} in a topic, and is read as a text; leave such topics out")
    text = with_breaks(text)
    if (marked := between_marks(text)) is not None:
        return tuple(map(well_formed, marked))
    lines = reading.lines
    if key == "references" and lines is None and reading.summary_lines == "always":
        return tuple([well_formed(line.strip()) for line in text.split("\n") if line.strip()])
    name = where.rpartition(".")[2]
    if lines is None and (name in _COLUMNS["lines"] or (key == "references" and reading.summary_lines)):
        lines = len(lines_of(text)) > 1
    if lines:
        return tuple(map(well_formed, lines_of(text)))
    sentences = tuple(reading.split(text))
    if "\\n" in text and key == "documents" and "\n" not in text and re.search(r"\\n(?![a-z])", text):  # not \nabla
        reading.notes("breaks", f"{where} has a backslash and the letter n in place of line breaks; write line breaks")
    if reading.lines is None and key == "documents" and any(len(one.splitlines()) > 1 for one in sentences):
        how = "--lines makes each line a sentence, --no-lines confirms this"
        reading.notes("lines", f"sentences of {where} continue over line breaks; {how}")
    return sentences


def _says_tokens(value: Sequence[Any], path: Sequence[str], where: str, reading: Reading) -> bool:
    """Return whether lists of strings are tokenized sentences, by the name of their column and by the strings."""
    words = [word for item in value if isinstance(item, list | tuple) for word in item]
    if not words or not all(isinstance(word, str) and not any(map(str.isspace, word)) for word in words):
        return False
    if 2 * sum(len(word) > 1 and word[-1] in _ENDINGS for word in words) >= len(words):  # each string is a sentence
        return False
    name = _name_of(path)
    if name in _COLUMNS["tokens"] or "token" in name or "word" in name:
        return True
    if reading.flat is None:
        how = "--flat=tokens takes each list for a sentence and its strings for tokens, --flat=sentences confirms this"
        reading.notes("tokens", f"the lists of {where} are taken for texts, each string a sentence; {how}")
    return False


def _leaves(text: Any) -> Any:
    """Return the sentences of a text whose sections and paragraphs are nested lists."""
    if not isinstance(text, list | tuple) or not any(isinstance(item, list | tuple) for item in text):
        return text
    strings: list[Any] = []
    pending = [*reversed(text)]
    while pending:
        if isinstance(item := pending.pop(), list | tuple):
            pending += reversed(item)
        else:
            strings.append(item)
    spaced = sum(isinstance(item, str) and len(item.split()) > 1 for item in strings)
    return strings if 2 * spaced > len(strings) else text  # otherwise lists are sentences, and strings tokens


def _for_each(value: object, name: str, sentences: int | None, about: str) -> list[Any] | tuple[Any, ...]:
    items = _list(value, f'"{name}"', about)
    if sentences is not None and len(items) != sentences:
        counts = f"the number of {name} is {len(items)}, but that of sentences is {sentences}"
        raise InputError(f"{counts}; give one for each sentence")
    return items


def _cover(value: object) -> Cover:
    return tuple(
        tuple(
            tuple(_unit(unit, f"cover[{i}][{j}][{k}]") for k, unit in enumerate(_list(chosen, f"cover[{i}][{j}]")))
            for j, chosen in enumerate(_list(alternatives, f"cover[{i}]"))
        )
        for i, alternatives in enumerate(_list(value, '"cover"'))
    )


def _supports(value: object, cover: Cover | None) -> list[list[int | str]]:
    if cover is not None:
        raise InputError('the topic has both "cover" and "supports"; give only one of them')
    found, about = [], "supports is a list, per passage, of the claims that it supports"
    for place, claims in enumerate(_list(value, '"supports"', about)):
        named = enumerate(_list(claims, f"supports[{place}]", about))
        found.append(list(dict.fromkeys(_unit(one, f"supports[{place}][{k}]", "claim") for k, one in named)))
    return found


def _supported(
    supports: Sequence[Sequence[int | str]], passages: Sequence[int | str], names: Sequence[int | str]
) -> Cover:
    if len(passages) != len(supports):
        counts = f"supports has {len(supports)} lists, but the documents have {len(passages)} passages"
        how = 'give one list for each passage, and passages as strings: [["...", "..."]]'
        raise InputError(f"{counts}; {how}")
    places = {name: number for number, name in enumerate(names)}
    found: list[list[tuple[int | str, ...]]] = [[] for _ in names]
    for passage, claims in zip(passages, supports, strict=True):
        for claim in claims:
            if claim not in places:
                called = "numbered from 0" if isinstance(names, range) else "listed in meta.abstract_ids"
                raise InputError(f"supports names the claim {claim!r:.40}, but there are {len(names)}, {called}")
            found[places[claim]].append((passage,))
    return tuple(map(tuple, found))


def _claims(
    supports: Sequence[Sequence[int | str]],
    references: tuple[Text, ...],
    meta: Mapping[str, Any],
    weights: Sequence[Fraction] | None,
) -> Sequence[int | str]:
    named = list(dict.fromkeys(chain.from_iterable(supports)))
    names = meta.get("abstract_ids")
    if names is not None:
        if not isinstance(names, list | tuple) or len(set(map(str, names))) != len(names):
            raise InputError("meta.abstract_ids must be a list of different names; name each claim once")
        return names
    if named and all(isinstance(claim, str) for claim in named):
        if weights is not None or len(references) == 1:
            raise InputError("supports names claims by text; list them all, in order, in meta.abstract_ids")
        return named
    if weights is not None:
        return range(len(weights))
    last = max([claim for claim in named if isinstance(claim, int)], default=-1)
    if len(references) != 1:
        if last >= 1_000_000:
            how = "claims are numbered from 0: list their names in meta.abstract_ids"
            raise InputError(f"supports names the claim {last!s:.40}, but {how}")
        return range(last + 1)
    if last >= (sentences := len(references[0])):
        how = "give weights, one for each claim, if claims are not sentences"
        raise InputError(f"supports names the claim {last}, but the reference has {sentences} sentences; {how}")
    return range(sentences)


def _weight(number: object, where: str) -> Fraction:
    if not isinstance(number, int | float | Fraction) or isinstance(number, bool) or not 0 <= number <= _MOST:
        raise InputError(f"{where} is {number!r:.40}; give a number from 0 to {_MOST}")
    return Fraction(str(number))


def _list(value: object, where: str, about: str = _COVER) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f"{where} is {json_type(value)}; {about}")
    return value


def _unit(value: object, where: str, what: str = "sentence") -> int | str:
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:  # as in ids
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        shown = f"{value!r}" if isinstance(value, float) else json_type(value)
        raise InputError(f"{where} is {shown}; give the whole number or the id of a {what}")
    return value


def topic_to_json(topic: Topic) -> dict[str, Any]:
    """Return the JSON form of a topic with text; `as_topic` makes it a topic again, without source, start and vectors.

    >>> topic_to_json(Topic("t", (("A cat .",),), (), cover=(((0,), ("s1", "s2")),)))
    {'id': 't', 'documents': [['A cat .']], 'references': [], 'cover': [[[0], ['s1', 's2']]]}
    """
    weights = topic.weights and [int(one) if one.denominator == 1 else float(one) for one in topic.weights]
    names = ("id", "documents", "references", "cover", "weights", "parses", "lengths", "meta")
    held = {name: getattr(topic, name) for name in names} | {"weights": weights, "meta": dict(topic.meta) or None}
    return {name: _listed(value) for name, value in held.items() if value is not None}


def _listed(value: Any) -> Any:
    return list(map(_listed, value)) if isinstance(value, tuple) else value


def read_vectors(topic: Topic, path: str) -> Topic:
    """Return a topic with vectors from `path`: a folder with ``ID.npz``, or an npz file with ``ID/sentences``, ..."""
    from numpy.lib.format import read_array

    from optsum.metrics.similarity import vectors_of  # loads numpy

    place = Path(path)
    if place.is_dir():
        if "/" in topic.id or "\\" in topic.id:
            how = f"with arrays called {topic.id}/sentences and {topic.id}/references"
            only = f"give a single npz file with --vectors, {how}"
            raise InputError(f"the id {topic.id!r} cannot be the name of a file: {only}")
        file, prefix = place / f"{topic.id}.npz", ""
        # Names are compared here, because some file systems open A.npz when asked for a.npz.
        there = file.name in _names_in(str(place), place.stat().st_mtime_ns)
    else:
        file, prefix = place, f"{topic.id}/"
        there = file.is_file()
    if not there:
        why = "is no npz file" if os.path.exists(file) else "does not exist"  # noqa: PTH110 - the name may be too long
        raise InputError(f"there are no vectors of topic {topic.id!r}: {file} {why}")
    try:
        (held, arrays), found = _opened(str(file), stamp(file)), {}
        for name in arrays.get(prefix, ()):  # also others, which `vectors_of` refuses
            with held.open(f"{prefix}{name}.npy") as stream:
                found[name] = read_array(stream, allow_pickle=False)
    except NPZ_ERRORS as error:
        raise InputError(f"{file} cannot be read as numpy.savez writes it: {error}") from None
    if not found:
        how = f"name them {prefix}sentences, {prefix}references"
        raise InputError(f"{file} has no vectors of topic {topic.id!r}; {how}")
    try:
        return replace(topic, vectors=vectors_of(found, len(topic.sentences), topic.references))
    except InputError as error:
        raise InputError(f"the vectors of topic {topic.id!r}, {file}: {error}") from None


@lru_cache(maxsize=2)
def _names_in(folder: str, _: int) -> frozenset[str]:
    return frozenset(os.listdir(folder))  # noqa: PTH208 - names


@lru_cache(maxsize=2)
def _opened(path: str, _: object) -> tuple[ZipFile, dict[str, list[str]]]:
    """Return an npz file, and the names of its arrays by what precedes them: `ID/` in a file for several topics."""
    held, names = ZipFile(path), defaultdict[str, list[str]](list)
    for name in held.namelist():
        if name.endswith(".npy"):
            before, slash, last = name.removesuffix(".npy").rpartition("/")
            names[before + slash].append(last)
    return held, names


def digest_of_vectors(path: str) -> str:
    """Return a digest of a file or folder of vectors, made from the checksums in npz files."""
    place = Path(path)
    found = hashlib.sha256()
    for file in sorted(place.glob("*.npz")) if place.is_dir() else [place]:
        try:
            if not file.is_file():  # reading a pipe would block
                raise FileNotFoundError
            with ZipFile(file) as held:
                for item in held.infolist():
                    found.update(f"{file.name} {item.filename} {item.CRC} {item.file_size}\n".encode())
        except (OSError, BadZipFile):
            found.update(file.name.encode())
    return found.hexdigest()
