"""Attach the summaries of systems to the topics of a study."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any, Self, TypeAlias, TypeVar

from pydantic import Field

from optsum.corpus.alternatives import text_of
from optsum.corpus.given import checked_systems
from optsum.corpus.systems import BadSystem, System
from optsum.corpus.topic import AS_IS, Reading, Text, Topic
from optsum.errors import InputError
from optsum.metrics.rouge import Score, rouge_all
from optsum.running.setup import Setup
from optsum.text.lengths import cut_sentences, joined, word_count
from optsum.text.tokenizers import Sentence, raw_text

MaxWords: TypeAlias = Annotated[
    int | None,
    Field(ge=0, description="words of a system's summary that count, as ROUGE's -l; 0 for all [as many as oracles]"),
]
MaxBytes: TypeAlias = Annotated[
    int | None, Field(ge=1, description="bytes of a system's summary that count, as ROUGE's -b, instead of words")
]

Summary = TypeVar("Summary")


@dataclass(frozen=True, slots=True)
class Submitted(Topic):
    """A topic with what systems made of it.

    Attributes
    ----------
    systems : tuple of System
        One for each system, in the order of the input.
    """

    systems: tuple[System, ...] = ()

    @classmethod
    def of(cls, topic: Topic, systems: Sequence[System] = ()) -> Self:
        """Return a topic with systems."""
        given = {each.name: getattr(topic, each.name) for each in fields(Topic) if each.init}
        return cls(**given, systems=tuple(systems))


@dataclass(frozen=True)
class Submissions:
    """All that systems made, by topic and system.

    Attributes
    ----------
    topics : mapping
        For each topic its systems by name.
    """

    topics: Mapping[str, Mapping[str, System]] = field(default_factory=dict)

    @classmethod
    def of(cls, systems: Any, failures: list[str], reading: Reading = AS_IS) -> Self:
        """Return the summaries that can be used; the others are a sentence each in `failures`."""
        topics: defaultdict[str, dict[str, System]] = defaultdict(dict)
        for system in checked_systems(systems, reading):
            if isinstance(system, BadSystem):
                failures.append(f"{system.source}: {system.error}")
            elif system.system in topics[system.topic_id]:
                failures.append(
                    f"The system {system.system!r} has two summaries of topic {system.topic_id!r}: the second is left "
                    "out."
                )
            else:
                topics[system.topic_id][system.system] = system
        return cls(dict(topics))

    @property
    def digest(self) -> str:
        """A number that differs when a summary does."""
        digest = hashlib.sha256()
        for topic in self.topics.values():
            for system in topic.values():
                given = asdict(system)
                del given["source"]
                digest.update(json.dumps(given, sort_keys=True).encode())
        return digest.hexdigest()

    def name_of(self, topic: Topic) -> str:
        """Return what systems call a topic: what they have for ``t`` serves all of ``t#0``, ``t#1``, ... of `align`."""
        if topic.id not in self.topics and "align" in topic.meta:
            return topic.id.rpartition("#")[0] or topic.id
        return topic.id

    def with_systems(self, topic: Topic) -> Submitted:
        """Return a topic with what systems made of it."""
        return Submitted.of(topic, list(self.topics.get(self.name_of(topic), {}).values()))


@dataclass(frozen=True, slots=True)
class Cut:
    """The part of a system's summary that counts: its first words, its first bytes, or all of it.

    Attributes
    ----------
    words : int
        0 for all.
    bytes : int or None
        In UTF-8, of the sentences with a blank between them; words do not count then.
    """

    words: int
    bytes: int | None = None

    @classmethod
    def of(cls, max_words: int | None, max_bytes: int | None, longest: int) -> Self:
        """Return what the options of a study say, whose oracles have `longest` words at most."""
        return cls(longest if max_words is None else max_words, max_bytes)

    def __str__(self) -> str:
        """Return it in some words, for a caption."""
        if self.bytes is not None:
            return f"systems cut after {self.bytes} bytes"
        return f"systems cut after {self.words} words" if self.words else "systems as they are"

    def text(self, summary: Sequence[Sentence]) -> list[Sentence]:
        """Return the sentences that count; the last may be cut."""
        if self.bytes is None:
            kept = cut_sentences(summary, self.words) if self.words else list(summary)
            return kept[: _last(list(map(word_count, kept)))]
        kept, left = [], self.bytes
        for sentence in summary:
            text = raw_text(joined([sentence]))
            part = text.encode()[: max(0, left)].decode(errors="ignore")
            kept.append(sentence if part == text else part if isinstance(sentence, str) else tuple(part.split()))
            left -= len(text.encode()) + 1
        return kept[: _last(list(map(len, kept)))]

    def system(self, system: System, text: Sequence[Sentence]) -> System:
        """Return a system with the sentences that count at least in part, each as a whole: an extract stays one."""
        count = len(self.text(text))
        selection = system.selection
        if selection is not None and len(selection) == len(text):
            selection = selection[:count]
        return replace(system, summary=tuple(text[:count]), selection=selection)


def _last(lengths: Sequence[int]) -> int:
    return max((place for place, length in enumerate(lengths, start=1) if length), default=0)


def refused(system: System, error: object) -> dict[str, Any]:
    """Return the row that says why a summary could not be used, and where it was read."""
    where = f"{system.source}: " if system.source else ""
    return {"kind": "refused", "system": system.system, "error": f"{where}system {system.system!r}: {error}"}


def summaries_of(
    topic: Submitted, rows: list[dict[str, Any]], read: Callable[[Topic, System], Summary]
) -> Iterator[tuple[System, Summary]]:
    """Yield the systems of a topic with their summaries; the row that says why one cannot be used goes to `rows`."""
    for system in topic.systems:
        try:
            text = read(topic, system)
        except InputError as error:
            rows.append(refused(system, error))
        else:
            yield system, text


def summary_of(topic: Topic, system: System) -> Sequence[Sentence]:
    """Return the sentences of a summary; as `text_of`, where human scores alone do not do.

    Raises
    ------
    InputError
        If the topic has no such sentences, or there is no summary.
    """
    text = text_of(topic, system)
    if text is None:
        raise InputError("it has no summary; give one")
    return text


def score_of(summary: Sequence[Sentence], references: Sequence[Text], setup: Setup, metric: str) -> Score:
    """Return the pooled score of a summary, by the text analysis and the sentence ends of a search."""
    tokens = all(isinstance(sentence, tuple) for text in (summary, *references) for sentence in text)
    spec = setup.spec_of_tokens if tokens else setup.spec
    scores = rouge_all(
        tuple(summary),
        references,
        [metric],
        analyzer=spec.analyzer,
        counts=setup.options.counts,
        boundaries=setup.options.boundaries,
        last_unigram=True,
        model_units=setup.options.model_units,
    )
    return scores[metric]
