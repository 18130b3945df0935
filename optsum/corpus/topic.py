"""A topic: documents to extract from, references to compare with."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self, TypeAlias

from optsum.corpus.sentences import ENGLISH, Splitter, as_sentences, json_type, splitter_of
from optsum.errors import InputError
from optsum.system.files import is_deep
from optsum.text.tokenizers import Sentence

if TYPE_CHECKING:
    from optsum.corpus.vectors.arrays import Vectors

Text: TypeAlias = tuple[Sentence, ...]
"""A document, a reference or a summary."""

Flat: TypeAlias = Literal["sentences", "texts"]
"""What the strings of a flat list are: the sentences of one text, or a raw text each."""


class Reading(NamedTuple):
    """How what the input gives for a text becomes sentences.

    Attributes
    ----------
    split : Splitter
        Of raw text.
    flat : {"sentences", "texts"} or None
        What a flat list of strings is.
    """

    split: Splitter = ENGLISH
    flat: Flat | None = None


AS_IS: Final = Reading()

Cover: TypeAlias = tuple[tuple[tuple[int | str, ...], ...], ...]
"""For each sentence of an abstract its alternatives, each a set of units or sentence ids."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic, as `as_topic` and the readers make it; the constructor checks nothing.

    Attributes
    ----------
    id : str
        Not blank, without control characters.
    documents : tuple of tuple of sentences
        Blank sentences are units like all others, so that numbers always mean what they mean in the input.
    references : tuple of tuple of sentences
        Empty only for a cover topic.
    meta : mapping
        Whatever else the input says about the topic, such as ``conllu``.
    cover : tuple or None
        For each sentence of the abstract its alternatives, each a tuple of unit numbers or sentence ids.
    parses : tuple of str or None
        CoNLL-U text of each sentence.
    source : str
        Where it was read, ``file:line``; empty for a topic of the Python API.
    vectors : Vectors or None
        Of its sentences and references, for metrics of similarity.
    problem : Problem or mapping, optional
        What is to be solved, where that is given instead of a text: a problem, or an instance in the normal form as
        JSON has it. Its units' labels stand for sentences.
    sentences : tuple of sentences
        Those of all documents, in order: sentence u is unit u.
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
    sentences: Text = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentences", tuple(chain.from_iterable(self.documents)))

    @property
    def reference_sentences(self) -> int | None:
        """Sentences of a reference, on average and rounded; None without references."""
        return round(sum(map(len, self.references)) / len(self.references)) if self.references else None

    def with_references(self, numbers: Sequence[int]) -> Self:
        """Return the topic with some of its references alone, and with what vectors they have."""
        if tuple(numbers) == tuple(range(len(self.references))):
            return self
        return replace(
            self,
            references=tuple(self.references[number] for number in numbers),
            vectors=None if self.vectors is None else self.vectors.of_references(numbers),
        )


@dataclass(frozen=True, slots=True)
class BadTopic:
    """A topic that cannot be used. It becomes an error row, and the others are done."""

    id: str | None
    """None if it could not be read either."""
    source: str
    """``file:line``."""
    error: str
    """What is wrong, without the source."""


def as_topic(
    obj: object,
    *,
    language: str = "en",
    splitter: str | Callable[..., Any] = "sentencex",
    source: str = "",
    flat: Flat | None = None,
) -> Topic:
    """Return a topic from the JSON form of one, checked.

    Parameters
    ----------
    obj : mapping or Topic
        With ``id`` (text or a whole number), ``documents`` and ``references`` (lists of sentence lists or of
        raw texts), and perhaps ``meta``, ``cover``, ``parses`` and ``vectors`` (docs/topics.md). With ``cover``,
        documents and references may be absent. Other keys are passed over. A `Topic` is returned as it is.
    language : str
        By whose rules raw texts are split.
    splitter : str or callable
        What splits them: the name of a splitter, ``module:function``, or a function from a text to its sentences.
    source : str
        Where it comes from, ``file:line``.
    flat : {"sentences", "texts"}, optional
        What a flat list of strings is where documents or references are asked for: one text, sentence by sentence, or
        several raw texts. If it is not said, raw texts whose strings all are several sentences; what could be either
        is refused.

    Returns
    -------
    Topic

    Raises
    ------
    InputError
        If a key is missing or a value has the wrong type; if there is no document or no reference at all (an
        *empty* document or reference is none of the reader's business); if a flat list could be one text or
        several; if there are not as many parses as sentences.
    OptionError
        If `language` is no language code, or there is no such splitter.

    Examples
    --------
    >>> topic = as_topic({"id": 7, "documents": [["A cat ."], "It ran. It sat."], "references": [["Cats ."]]})
    >>> topic.id, topic.sentences
    ('7', ('A cat .', 'It ran.', 'It sat.'))
    """
    return topic_of(obj, Reading(splitter_of(language, splitter), flat), source)


def topic_of(obj: object, reading: Reading, source: str = "") -> Topic:
    """Do what `as_topic` does, by what was resolved before."""
    if isinstance(obj, Topic):
        return obj
    if (posed := getattr(obj, "as_topic", None)) is not None:  # a problem
        made: Topic = posed()
        return made
    if isinstance(obj, Mapping) and "format" in obj and "lengths" in obj:
        return _instance(obj, source)
    if not isinstance(obj, Mapping):
        raise InputError(f'a topic is an object with "id", "documents" and "references", not {json_type(obj)}')
    if obj.get("id") is None:
        raise InputError(f'the topic has no "id"; {_keys(obj)}')
    name = as_id(obj["id"], "the id of a topic")
    try:
        cover = _cover(obj.get("cover"))
        documents = _texts(obj, "documents", reading, optional=cover is not None)
        references = _texts(obj, "references", reading, optional=cover is not None)
        meta = _meta(obj.get("meta"))
        parses = _parses(obj.get("parses"), sum(map(len, documents)))
        vectors = _vectors(obj.get("vectors"), sum(map(len, documents)), references)
    except InputError as error:
        raise InputError(f"topic {name!r}: {error}") from None
    return Topic(name, documents, references, meta, cover, parses, source, vectors)


def _instance(obj: Mapping[str, Any], source: str) -> Topic:
    """Return the topic of an instance in the normal form."""
    name, lengths, units = as_id(obj.get("id", "problem"), "the id of a problem"), obj["lengths"], obj.get("units")
    if not isinstance(lengths, list | tuple):
        raise InputError(f'problem {name!r}: "lengths" is {json_type(lengths)}; give a list, the length of each unit')
    named = units if isinstance(units, list | tuple) and len(units) == len(lengths) else range(len(lengths))
    labels = tuple(" ".join(map(str, unit)) if isinstance(unit, list | tuple) else str(unit) for unit in named)
    return Topic(name, (labels,), source=source, problem=obj)


def as_id(value: object, what: str) -> str:
    """Return an identifier as text; `what` names it in messages.

    Raises
    ------
    InputError
        If it is neither text nor a whole number, is blank, or holds control characters, which would break
        tables and file names, or half surrogate pairs, which no file can hold.
    """
    if isinstance(value, str):
        if not value.strip():
            raise InputError(f"{what} is blank; give it a name")
        if value.isascii() and value.isprintable():
            return str(value)
        for character in value:
            if unicodedata.category(character) in {"Cc", "Cs"}:
                raise InputError(f"{what}, {value!a:.80}, holds U+{ord(character):04X}; use printable characters")
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > 256:
            raise InputError(f"{what} has more than 256 bits; give a string")
        return str(int(value))
    raise InputError(f"{what} is {json_type(value)}; give a string or a whole number")


def _keys(obj: Mapping[Any, Any]) -> str:
    keys = [str(key)[:30] for key in list(obj)[:8]]
    return f"its keys are: {', '.join(keys)}" if keys else "it is an empty object"


def _texts(obj: Mapping[Any, Any], key: str, reading: Reading, *, optional: bool) -> tuple[Text, ...]:
    value = obj.get(key)
    split, flat = reading
    if value is None:
        if optional:
            return ()
        raise InputError(f'there is no "{key}"; {_keys(obj)}')
    if not isinstance(value, list | tuple):
        raise InputError(f'"{key}" is {json_type(value)}; give a list, each entry a list of sentences or one string')
    if not value and not optional:
        raise InputError(f'"{key}" is an empty list; give at least one')
    if flat == "sentences" and value and all(isinstance(text, str) for text in value):
        return (as_sentences(value, key, split),)
    texts = tuple([as_sentences(text, f"{key}[{number}]", split) for number, text in enumerate(value)])
    if flat is None and len(value) > 1 and all(isinstance(text, str) for text in value):
        # A string of several sentences is no sentence; one alone is the same either way.
        single = next((number for number, text in enumerate(texts) if len(text) == 1), None)
        if single is not None:
            raise InputError(
                f'"{key}" is a flat list of {len(value)} strings, and {key}[{single}] is a single sentence: write '
                '[["...", "..."]] for the sentences of one text, [["..."], ["..."]] for texts of their own, or say '
                "which by --flat sentences or --flat texts"
            )
    return texts


def _meta(value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f'"meta" is {json_type(value)}; give an object')
    if is_deep(dict(value)):
        raise InputError('"meta" is nested too deeply; give values, lists and objects that somebody reads')
    return dict(value)


def _parses(value: object, sentences: int) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise InputError(f'"parses" is {json_type(value)}; give a list, the CoNLL-U text of each sentence')
    for number, text in enumerate(value):
        if not isinstance(text, str):
            raise InputError(f"parses[{number}] is {json_type(text)}; give CoNLL-U text")
    if len(value) != sentences:
        raise InputError(f"the number of parses is {len(value)}, but that of sentences {sentences}; give one for each")
    return tuple(value)


def _vectors(value: object, sentences: int, references: tuple[Text, ...]) -> Vectors | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InputError(f'"vectors" is {json_type(value)}; give an object of arrays, such as "sentences"')
    from optsum.corpus.vectors.arrays import vectors_of

    return vectors_of(value, sentences, references)


def _cover(value: object) -> Cover | None:
    if value is None:
        return None
    return tuple(
        tuple(
            tuple(_unit(unit, f"cover[{i}][{j}][{k}]") for k, unit in enumerate(_list(chosen, f"cover[{i}][{j}]")))
            for j, chosen in enumerate(_list(alternatives, f"cover[{i}]"))
        )
        for i, alternatives in enumerate(_list(value, '"cover"'))
    )


def _list(value: object, where: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(
            f"{where} is {json_type(value)}; cover is a list, per abstract sentence, of alternatives, each a list of "
            "units"
        )
    return value


def _unit(value: object, where: str) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InputError(f"{where} is {json_type(value)}; give the number or the id of a sentence")
    return value


# The other direction.


def topic_to_json(topic: Topic) -> dict[str, Any]:
    """Return the JSON form of a topic, one line of a topics file.

    ``as_topic(topic_to_json(topic))`` is the same topic; only `source`, where it was read, and vectors are not written.

    Examples
    --------
    >>> topic_to_json(Topic("t", (("A cat .",),), (), cover=(((0,), ("s1", "s2")),)))
    {'id': 't', 'documents': [['A cat .']], 'references': [], 'cover': [[[0], ['s1', 's2']]]}
    """
    found: dict[str, Any] = {
        "id": topic.id,
        "documents": _listed(topic.documents),
        "references": _listed(topic.references),
    }
    if topic.cover is not None:
        found["cover"] = [[list(chosen) for chosen in alternatives] for alternatives in topic.cover]
    if topic.parses is not None:
        found["parses"] = list(topic.parses)
    if topic.meta:
        found["meta"] = dict(topic.meta)
    return found


def _listed(texts: tuple[Text, ...]) -> list[list[str | list[str]]]:
    return [[text if isinstance(text, str) else list(text) for text in sentences] for sentences in texts]
