"""A topic's ``cover``, checked: the sets of source sentences that support each abstract sentence or claim.

Hirao et al. 2004 (TSC3), Table 1: the alternatives A_i1, A_i2, ... of abstract sentence i.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import lcm
from typing import TYPE_CHECKING, Any, TypeAlias

from optsum.corpus.topic import Topic
from optsum.errors import InputError
from optsum.text.tokenizers import Sentence

if TYPE_CHECKING:
    from optsum.corpus.systems import System

SentenceId: TypeAlias = int | str  # What the input calls a source sentence: a unit number, or a name of any kind.


@dataclass(frozen=True)
class Alternatives:
    """The alternatives of the abstract sentences that have any."""

    sentences: tuple[int, ...]  # Numbers of these abstract sentences, from 0.
    # For each of them its alternatives, each a set of source sentences, none twice.
    sets: tuple[tuple[frozenset[SentenceId], ...], ...]
    uncoverable: tuple[int, ...]  # Numbers of the abstract sentences without any alternative.

    @cached_property
    def corresponding(self) -> frozenset[SentenceId]:
        """All source sentences in an alternative."""
        return frozenset().union(*chain.from_iterable(self.sets))


def alternatives_of(topic: Topic, uncoverable: str = "error") -> Alternatives:
    """Return the alternatives of a topic.

    `uncoverable`: treatment of abstract sentences without an alternative: "error"; "skip" leaves them out and names
    them; "miss" names them, and allows that no sentence has any.
    """
    if topic.cover is None:
        raise InputError(
            f'Topic {topic.id!r} has no "cover": give it the alternatives of each abstract sentence, or make them from '
            "its texts (optsum align)."
        )
    sets = {number: tuple(dict.fromkeys(map(frozenset, given))) for number, given in enumerate(topic.cover)}
    if empty := [number for number, alternatives in sets.items() if frozenset() in alternatives]:
        raise InputError(
            f"In topic {topic.id!r} an alternative of abstract sentence {empty[0]} is empty: name its sentences, or "
            "leave it out."
        )
    lacking = tuple(number for number, alternatives in sets.items() if not alternatives)
    held = {number: alternatives for number, alternatives in sets.items() if alternatives}
    found = Alternatives(tuple(held), tuple(held.values()), lacking)
    _check_ids(topic, found.corresponding)
    if lacking and uncoverable != "miss" and (uncoverable == "error" or not held):
        skip = "" if not held else " Leave such sentences out with --uncoverable skip."
        raise InputError(f"In topic {topic.id!r} {_named(lacking)} no alternative, so nothing covers it.{skip}")
    if not topic.cover:
        raise InputError(f"The cover of topic {topic.id!r} is empty: give the alternatives of each abstract sentence.")
    return found


def claim_names(topic: Topic, numbers: Iterable[int]) -> list[SentenceId]:
    """Return the input's names of the abstract sentences (``meta.abstract_ids``), or their numbers."""
    names: Any = topic.meta.get("abstract_ids")
    named = isinstance(names, list | tuple) and topic.cover is not None and len(names) == len(topic.cover)
    return [names[number] if named else number for number in numbers]


def worth_of(topic: Topic) -> list[int]:
    """Return the weight of each abstract sentence: 1, or the topic's ``weights`` times their common denominator."""
    if topic.weights is None:
        return [1] * len(topic.cover or ())
    common = lcm(*[weight.denominator for weight in topic.weights])
    return [weight.numerator * (common // weight.denominator) for weight in topic.weights]


def _named(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"abstract sentence {numbers[0]} has"
    shown = ", ".join(map(str, numbers[:10])) + (", ..." if len(numbers) > 10 else "")
    return f"each of the {len(numbers)} abstract sentences {shown} has"


def _check_ids(topic: Topic, named: frozenset[SentenceId]) -> None:
    texts = texts_of(topic)
    for unit in in_order(named):
        if isinstance(unit, int) and str(unit) in named:
            raise InputError(
                f"Topic {topic.id!r} names the sentence {unit} both as a number and as text: write it in one way."
            )
        if texts and unit not in texts and (isinstance(unit, int) or "sentence_ids" in topic.meta):
            raise InputError(
                f"The cover of topic {topic.id!r} names {unit!r}, which is not a sentence of its documents (they have "
                f"{len(texts)}): number sentences from 0 over all documents, or name them in meta.sentence_ids."
            )


def check_extract(topic: Topic, alternatives: Alternatives, extract: Iterable[SentenceId]) -> None:
    """Refuse an extract with a sentence that the topic does not have.

    Without documents, or if the cover names sentences that are in none, any other name may be a sentence.
    """
    texts = texts_of(topic)
    known = texts.keys() | alternatives.corresponding
    written = {str(unit): unit for unit in known}
    closed = bool(texts) and alternatives.corresponding <= texts.keys()
    for unit in extract:
        if unit in known:
            continue
        if str(unit) in written:
            raise InputError(
                f"The extract names the sentence {unit!r}, which topic {topic.id!r} calls {written[str(unit)]!r}: "
                "write numbers and texts as the cover does."
            )
        if closed or (texts and isinstance(unit, int)):
            raise InputError(
                f"The extract names {unit!r}, which is not a sentence of topic {topic.id!r} (its documents have "
                f"{len(texts)}): name sentences as the cover does."
            )


def texts_of(topic: Topic) -> dict[SentenceId, Sentence]:
    """Return the texts of all source sentences by unit number, or by their ids in ``meta["sentence_ids"]``."""
    ids = topic.meta.get("sentence_ids", range(len(topic.sentences)))
    usable = (
        isinstance(ids, Sequence)
        and not isinstance(ids, str)
        and not any(isinstance(name, bool) or not isinstance(name, int | str) for name in ids)
    )
    if not usable or len(set(ids)) != len(ids) or len(ids) != len(topic.sentences):
        raise InputError(
            f"In topic {topic.id!r} meta.sentence_ids does not name each of the {len(topic.sentences)} sentences once: "
            "list one number or text for each, in order."
        )
    return dict(zip(ids, topic.sentences, strict=True))


def sentences_of(topic: Topic, selection: Iterable[SentenceId]) -> list[Sentence]:
    """Return the text of an extract: unit numbers, or ids of ``meta["sentence_ids"]``, which take precedence."""
    named = texts_of(topic) if "sentence_ids" in topic.meta else {}
    numbered = dict(enumerate(topic.sentences))
    found = []
    for unit in selection:
        text = named.get(unit, numbered.get(unit) if isinstance(unit, int) else None)
        if text is None:
            raise InputError(
                f"the selection names unit {unit!r}, but topic {topic.id!r} has {len(topic.sentences)} sentences and "
                "none of them is called that; number them from 0, or name them in meta.sentence_ids"
            )
        found.append(text)
    return found


def text_of(topic: Topic, system: System) -> Sequence[Sentence] | None:
    """Return the sentences of a summary; None if only human scores are known."""
    if system.summary is not None:
        return system.summary
    return None if system.selection is None else sentences_of(topic, system.selection)


def in_order(units: frozenset[SentenceId]) -> tuple[SentenceId, ...]:
    """Return sentences sorted: numbers first, then names, with digits compared by value ("s3" before "s10")."""
    return tuple(sorted(units, key=_natural))


def _natural(unit: SentenceId) -> tuple[bool, int, list[tuple[str, int]], str]:
    if isinstance(unit, int):
        return False, unit, [], ""
    pieces = re.findall(r"(\D*)(\d*)", unit)
    return True, 0, [(text, int(digits or -1)) for text, digits in pieces], unit
