"""Align sentences of a reference with the source sentences that together support them, by text or from a file.

Hirao et al. 2004 (TSC3), Table 1, lists the sets of source sentences that correspond to a sentence of an abstract,
found by annotators. Without annotators, a set corresponds if its sentences together contain enough n-grams of the
reference sentence, and no subset does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from itertools import accumulate, chain
from math import ceil
from numbers import Rational, Real
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, TypeAlias

import numpy as np
from pydantic import AliasChoices, BaseModel, Field, ValidationError, model_validator

from optsum.corpus.cover import SentenceId, texts_of
from optsum.corpus.formats import Line, decoded
from optsum.corpus.topic import BadTopic, Cover, Flat, Text, Topic, as_id, reading_of
from optsum.corpus.topics import AnyTopics, checked_texts, open_records, unique_topics
from optsum.errors import InputError, OptionError, UnsupportedError
from optsum.metrics.rouge import Counts, parse_metric
from optsum.text.analyzer import Analyzer, load_stopwords
from optsum.whole import is_list, whole

if TYPE_CHECKING:
    from optsum.coverage.instance import IntArray

UNREAD: Final = "there are alignments for this topic, but it is not among the topics"
_Unit: TypeAlias = SentenceId | tuple[int, int]


def align(
    topics: AnyTopics,
    *,
    metric: Annotated[str, Field(description="n-grams to count: rouge-N or rouge-suK")] = "rouge-1",
    threshold: Annotated[float, Field(description="share of a sentence's n-grams that a set must contain")] = 0.5,
    max_sentences: Annotated[int, Field(description="largest number of sentences in a set")] = 3,
    max_sets: Annotated[
        int, Field(description="largest number of sets for an abstract sentence; the smallest are kept")
    ] = 100,
    tokenizer: Annotated[
        str | Callable[..., Any] | None,
        Field(
            description="rouge (default), unicode, characters, blank, another name or module:function, or tokens "
            "(default for pre-tokenized topics)"
        ),
    ] = None,
    stem: Annotated[bool, Field(description="Porter stemming like ROUGE-1.5.5 -m [on]")] = True,
    stopwords: Annotated[
        str | frozenset[str], Field(description="keep, drop (SMART list), or a file with one word a line")
    ] = "drop",
    language: str = "en",
    splitter: str | Callable[..., Any] = "sentencex",
    flat: Flat | None = None,
    lines: Annotated[
        bool | None, Field(description="each line of raw text is a sentence [of dialogues and references]")
    ] = None,
    source_words: int | None = None,
    alignments: Annotated[
        str | Sequence[Mapping[str, Any]] | None,
        Field(description="a file in which people marked the source sentences of each part of a reference"),
    ] = None,
    needed: Annotated[
        Literal["all", "any"],
        Field(description="whether a sentence needs all sentences that are marked as relevant, or any one of them"),
    ] = "all",
) -> Iterator[Topic | BadTopic]:
    """Add a cover to topics: for each reference sentence the minimal sets of source sentences that contain it.

    A set contains a sentence of a reference if

        sum over n-grams of min(count in the sentence, count in the set) >= threshold * n-grams of the sentence,

    or if annotators marked it (`alignments`).

    Parameters
    ----------
    topics : iterable
        Topics, their JSON form, or what `optsum.read_topics` yields; or the path of a file of them, or a data frame.
    metric : str
        "rouge-N" or "rouge-suK": the n-grams to count.
    threshold : float
        In (0, 1]: the share of a sentence's n-grams that a set must contain.
    max_sentences : int
        Largest number of sentences in a set.
    max_sets : int
        Largest number of sets kept for a sentence; n source sentences can have about n ** `max_sentences` minimal sets.
        The smallest sets are kept; among sets of equal size, the first ones found, which have most n-grams in one
        sentence.
    language, splitter, flat, lines, source_words
        How texts become sentences, and how much is read (`optsum.as_topic`). By default, each line of a reference of
        several lines is a sentence.
    tokenizer, stem, stopwords
        How sentences become tokens (`optsum.text.analyzer.Analyzer`); the defaults count English content words. Stop
        words may also be a file (`optsum.text.analyzer.load_stopwords`). With ``tokenizer=None``, pre-tokenized topics
        are used unchanged, and others are tokenized by "rouge".
    alignments
        Objects, or a file of them, one for each sentence or other part of a reference: ``topic_id``, perhaps
        ``reference_index``, the ``text`` or ``answer`` that is aligned, and one of ``alternatives`` (sets of
        sentences), ``relevant`` (sentences) and ``relevant_ranges`` (of unit numbers, ``[first, end]`` without the
        end). A sentence is a unit number, a name, or ``[document, sentence]``. Topics that no object names become a
        `BadTopic`; without ``reference_index``, the aligned texts are the reference.
    needed
        Whether all sentences of ``relevant`` and ``relevant_ranges`` are needed, or any one; alternatives need no such
        choice.

    Yields
    ------
    Topic or BadTopic
        One for each reference: the topic with that reference alone and its cover (in the ids of
        ``meta["sentence_ids"]``, if there are any), named ``id#r`` if there are several. ``meta["align"]`` records how
        it was made, and under ``"cut"`` which sentences have more sets than were kept. Sentences that no set contains
        have no alternative (see ``--uncoverable``). An unusable topic becomes a `BadTopic`, and so does a second one of
        the same name.

    Raises
    ------
    OptionError
        At once, for an impossible value.
    UnsupportedError
        At once, for a metric that does not count n-grams.
    InputError
        At once, for alignments that cannot be used.

    Examples
    --------
    >>> topic = {"id": "t", "documents": [["red cats", "cats sleep", "dogs"]], "references": [["Red cats sleep."]]}
    >>> next(align([topic], threshold=0.9)).cover
    (((0, 1),),)
    >>> next(align([topic], alignments=[{"topic_id": "t", "relevant_ranges": [[0, 2]]}], needed="any")).cover
    (((0,), (1,)),)
    """
    if alignments is None and needed != "all":
        raise OptionError("Whether all marked sentences are needed matters only with alignments: give alignments too.")
    counted = {
        "metric": metric, "threshold": threshold, "max_sentences": max_sentences, "max_sets": max_sets,
        "tokenizer": tokenizer, "stem": stem, "stopwords": stopwords,
    }  # fmt: skip
    defaults = signature(align).parameters
    if alignments is not None and (idle := [name for name in counted if counted[name] != defaults[name].default]):
        raise OptionError(f"Given alignments do not use n-grams: leave out {', '.join(idle)}.")
    parsed = parse_metric(metric)
    if parsed.parts or not parsed.countable:
        raise UnsupportedError(f"Alignments count n-grams, but {parsed} does not: use rouge-N or rouge-suK.")
    share = _share(threshold)
    max_sentences = whole(max_sentences, "--max-sentences", least=1, most=10**400, error=OptionError)
    max_sets = whole(max_sets, "--max-sets", least=1, most=10**400, error=OptionError)
    made = {"metric": parsed.name, "threshold": threshold, "max_sentences": max_sentences, "stem": stem}
    if isinstance(stopwords, str) and stopwords not in {"keep", "drop"}:
        stopwords = load_stopwords(stopwords)
    raw = Analyzer(tokenizer or "rouge", stem, stopwords)
    ready = raw if tokenizer is not None else Analyzer("tokens", stem, stopwords)
    reading = reading_of(language=language, splitter=splitter, flat=flat, lines=lines, source_words=source_words)
    reading = reading._replace(summary_lines="broken")
    known = checked_texts(topics, "align", reading)

    def aligned(topic: Topic | BadTopic) -> Iterator[Topic | BadTopic]:
        if isinstance(topic, BadTopic):
            yield topic
            return
        if not topic.sentences or not topic.references:
            yield BadTopic(topic.id, topic.source, "there is no document or no reference to align; give both")
            return
        try:
            names = list(texts_of(topic))
        except InputError as error:
            yield BadTopic(topic.id, topic.source, str(error))
            return
        analyzer = ready if all(isinstance(sentence, tuple) for sentence in topic.sentences) else raw
        source = [parsed.count(analyzer.tokens(sentence)) for sentence in topic.sentences]
        for number, reference in enumerate(topic.references):
            wanted = [parsed.count(analyzer.tokens(sentence)) for sentence in reference]
            cover = [corresponding_sets(counts, source, share, max_sentences, max_sets) for counts in wanted]
            cut = [sentence for sentence, (_, complete) in enumerate(cover) if not complete]
            sets = tuple(tuple(tuple(names[unit] for unit in units) for units in sets) for sets, _ in cover)
            how = {**made, "reference": number} | ({"cut": cut} if cut else {})
            yield _of_reference(topic, number, (reference,), sets, how)

    if alignments is not None:
        each = _marked(known, _read_marks(alignments), needed)
    else:
        each = chain.from_iterable(map(aligned, known))
    # A topic may already have the id t#0, which is made for the first of several references of t.
    return unique_topics(each, "a second topic would be named {!r}; give each its own id")


def _of_reference(
    topic: Topic, number: int | None, references: tuple[Text, ...], cover: Cover, made: Mapping[str, Any]
) -> Topic:
    name = f"{topic.id}#{number}" if number is not None and len(topic.references) > 1 else topic.id
    return replace(topic, id=name, references=references, cover=cover, meta={**topic.meta, "align": made})


class _Marks(BaseModel):
    """A checked record: a part of a reference, with the source sentences that annotators marked for it."""

    topic_id: str | int
    reference_index: int | None = Field(None, ge=0)
    text: str | list[str] | None = Field(None, validation_alias=AliasChoices("text", "answer"))  # or its sentences
    alternatives: list[list[_Unit]] | None = None
    relevant: list[_Unit] | None = None
    relevant_ranges: list[tuple[int, int]] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if sum(each is not None for each in (self.alternatives, self.relevant, self.relevant_ranges)) != 1:
            raise ValueError("give one of alternatives, relevant and relevant_ranges")
        return self

    def sets(self, needed: str) -> list[list[_Unit]]:
        if self.alternatives is not None:
            return self.alternatives
        ranges = chain.from_iterable(range(*one) for one in self.relevant_ranges or ())
        units: list[_Unit] = list(dict.fromkeys(ranges if self.relevant is None else self.relevant))
        return [units] if needed == "all" and units else [[unit] for unit in units]


def _read_marks(alignments: str | os.PathLike[str] | Iterable[object]) -> dict[str, dict[int | None, list[_Marks]]]:
    if not isinstance(alignments, str | os.PathLike) and not is_list(alignments):
        raise InputError(f"The alignments are {alignments!r:.60}: give a list of them, or the path of their file.")
    lines: Iterable[Line]
    if isinstance(alignments, str | os.PathLike):
        lines = decoded(open_records(alignments, what="alignment"))
    else:
        lines = (Line(f"alignment {number}", value) for number, value in enumerate(alignments, 1))
    found: dict[str, dict[int | None, list[_Marks]]] = {}
    for line in lines:
        if line.error is not None:
            raise InputError(f"{line.source}: {line.error}")
        try:
            marks = _Marks.model_validate(line.value)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "it"
            raise InputError(f"{line.source} is not an alignment: {place} cannot be used ({first['msg']})") from None
        name = as_id(marks.topic_id, f"the topic_id of {line.source}")
        found.setdefault(name, {}).setdefault(marks.reference_index, []).append(marks)
    return found


def _marked(
    topics: Iterable[Topic | BadTopic], marks: dict[str, dict[int | None, list[_Marks]]], needed: str
) -> Iterator[Topic | BadTopic]:
    left = dict(marks)
    for topic in topics:
        if isinstance(topic, BadTopic):
            left.pop(topic.id or "", None)
            yield topic
            continue
        if topic.id not in left:
            yield BadTopic(topic.id, topic.source, "no alignment names this topic; give one, or leave the topic out")
            continue
        for number, parts in left.pop(topic.id).items():
            try:
                yield _with_marks(topic, number, parts, needed)
            except InputError as error:
                yield BadTopic(topic.id, topic.source, str(error))
    for name in left:
        yield BadTopic(name, "", UNREAD)


def _with_marks(topic: Topic, number: int | None, parts: Sequence[_Marks], needed: str) -> Topic:
    names = list(texts_of(topic))
    first = [0, *accumulate(map(len, topic.documents))]

    def named(unit: _Unit) -> SentenceId:
        if isinstance(unit, str):
            return unit
        if isinstance(unit, tuple):
            document, sentence = unit
            if not (0 <= document < len(topic.documents) and 0 <= sentence < len(topic.documents[document])):
                raise InputError(f"an alignment names sentence {sentence} of document {document}, which does not exist")
            unit = first[document] + sentence
        if not 0 <= unit < len(names):
            raise InputError(f"an alignment names sentence {unit}; the topic's sentences are 0 to {len(names) - 1}")
        return names[unit]

    if number is not None:
        if number >= len(topic.references):
            held = f"there are {len(topic.references)}, numbered from 0"
            raise InputError(f"an alignment names reference {number}; {held}")
        references: tuple[Text, ...] = (topic.references[number],)
    else:
        texts = tuple(
            chain.from_iterable([part.text] if isinstance(part.text, str) else part.text or () for part in parts)
        )
        references = (texts,) if texts else topic.references
    cover = tuple(tuple(tuple(map(named, units)) for units in part.sets(needed)) for part in parts)
    return _of_reference(topic, number, references, cover, {"needed": needed, "reference": number})


def _share(given: Any) -> Fraction:
    number = isinstance(given, Real | Decimal) and not isinstance(given, bool | np.timedelta64)
    if not number or given != given or not 0 < given <= 1:
        raise OptionError(f"The threshold is a share of n-grams, above 0 and at most 1, not {given!s:.40}.")
    return Fraction(given) if isinstance(given, Rational) else Fraction(Decimal(str(given)))


def corresponding_sets(
    wanted: Counts, source: Sequence[Counts], threshold: Fraction, max_sentences: int, max_sets: int
) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """Return the minimal sets of source sentences with enough of the wanted n-grams, and whether no set is missing.

    Sets have at most `max_sentences` sentences, the smallest sets come first, and at most `max_sets` are returned.
    """
    need = ceil(threshold * wanted.total())
    if not need:
        return (), True
    limits = np.array(list(wanted.values()), np.int64)
    numbers = [unit for unit, counts in enumerate(source) if not counts.keys().isdisjoint(wanted)]
    counted = [[source[unit].get(key, 0) for key in wanted] for unit in numbers]
    candidates = np.array(numbers, np.int64), np.array(counted, np.int64).reshape(-1, len(wanted))
    found: list[tuple[int, ...]] = []

    def extend(chosen: list[tuple[int, IntArray]], units: IntArray, hits: IntArray, slots: int) -> None:
        """Find the minimal sets made of `chosen` and up to `slots` of `units`; stop beyond the largest number."""
        held = np.minimum(sum((row for _, row in chosen), np.zeros(len(limits), np.int64)), limits)
        missing = need - int(held.sum())
        gains = np.minimum(hits, limits - held).sum(axis=1)
        order = np.argsort(-gains, kind="stable")
        units, hits, gains = units[order], hits[order], gains[order]
        useful, complete = np.count_nonzero(gains > 0), np.count_nonzero(gains >= missing)
        minimal = np.ones(complete, np.bool_)
        for place in range(len(chosen)):
            others = sum((row for other, (_, row) in enumerate(chosen) if other != place), np.zeros_like(limits))
            minimal &= np.minimum(hits[:complete] + others, limits).sum(axis=1) < need
        already = [unit for unit, _ in chosen]
        found.extend(tuple(sorted([*already, unit])) for unit in units[:complete][minimal].tolist())
        if slots > 1:
            # Gains never grow as units are added, so the first unit must gain at least an equal share of what lacks.
            for place in range(complete, np.count_nonzero((gains > 0) & (gains * slots >= missing))):
                if len(found) > max_sets:
                    return
                one = (int(units[place]), hits[place])
                extend([*chosen, one], units[place + 1 : useful], hits[place + 1 : useful], slots - 1)

    # One size after the other, so that all smaller sets are known when the largest number is reached.
    for size in range(1, max_sentences + 1):
        smaller, found = found, []
        extend([], *candidates, size)
        if len(found) > max_sets:
            found = [*smaller, *(chosen for chosen in found if len(chosen) == size)]
            break
    return tuple(sorted(found[:max_sets], key=lambda units: (len(units), units))), len(found) <= max_sets
