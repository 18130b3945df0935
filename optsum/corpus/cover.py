"""Check a topic's ``cover`` or read it from a table: sets of source sentences that support each abstract sentence.

Hirao et al. 2004 (TSC3), Table 1: the alternatives A_i1, A_i2, ... of abstract sentence i.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import lcm
from typing import Any, TypeAlias

from optsum.corpus.topic import Topic, as_topic
from optsum.errors import InputError
from optsum.text.analyzer import Sentence

SentenceId: TypeAlias = int | str  # Id of a source sentence in the input: a unit number, or a text.
_SIGNS = {"⊔", "∪", "∨", "|", "or", "OR"}
_HEADING = re.compile(r"^\W*sentence\s+id\b", re.IGNORECASE)
_BARE = re.compile(r"[^\s{,]+(?:\s*,\s*[^\s{,]*)*")
_PIECE = re.compile(rf"\{{([^{{}}]*)\}}|{_BARE.pattern}|\S")
_LATEX = [(r"\\(?:sqcup|cup|vee|lor)\b", "∪"), (r"\\([{}])", r"\1"), (r"_\{(\w+)\}|_(\w)", r"\1\2"), (r"\$", "")]


@dataclass(frozen=True)
class Alternatives:
    """The alternatives of abstract sentences: sets of source sentences, each of which supports the sentence."""

    sentences: tuple[int, ...]  # Numbers of the abstract sentences that have alternatives, from 0.
    # The different alternatives of each of these sentences.
    sets: tuple[tuple[frozenset[SentenceId], ...], ...]
    uncoverable: tuple[int, ...]  # Numbers of the abstract sentences without any alternative.

    @cached_property
    def corresponding(self) -> frozenset[SentenceId]:
        return frozenset().union(*chain.from_iterable(self.sets))


def alternatives_of(topic: Topic, uncoverable: str) -> Alternatives:
    """Return the alternatives of a topic.

    `uncoverable`: "error" refuses abstract sentences without alternatives; "skip" leaves them out, but at least one
    sentence must have alternatives; "miss" also accepts a topic in which no sentence has alternatives.
    """
    if topic.cover is None:
        raise InputError(
            f'Topic {topic.id!r} has no "cover": list, for each sentence of the abstract, the sets of source sentences '
            "that support it, or make them from its texts (optsum align)."
        )
    sets = {number: tuple(dict.fromkeys(map(frozenset, given))) for number, given in enumerate(topic.cover)}
    if empty := [number for number, alternatives in sets.items() if frozenset() in alternatives]:
        empty_set = f"a set of source sentences for abstract sentence {empty[0]} is empty"
        raise InputError(f"In topic {topic.id!r} {empty_set}: put ids of sentences in it, or leave it out.")
    lacking = tuple(number for number, alternatives in sets.items() if not alternatives)
    held = {number: alternatives for number, alternatives in sets.items() if alternatives}
    found = Alternatives(tuple(held), tuple(held.values()), lacking)
    _check_ids(topic, found.corresponding)
    if lacking and uncoverable != "miss" and (uncoverable == "error" or not held):
        each = f"each of the {len(lacking)} abstract sentences" if lacking[1:] else "abstract sentence"
        shown = ", ".join(map(str, lacking[:10])) + ", ..." * (len(lacking) > 10)
        skip = " Leave such sentences out with --uncoverable=skip." if held else ""
        why = "no alternative (of claims: no passage supports it), so nothing covers it"
        raise InputError(f"In topic {topic.id!r} {each} {shown} has {why}.{skip}")
    if not topic.cover:
        raise InputError(f"The cover of topic {topic.id!r} is empty: give the alternatives of each abstract sentence.")
    return found


def claim_names(topic: Topic, numbers: Iterable[int]) -> list[SentenceId]:
    names: Any = topic.meta.get("abstract_ids")
    named = isinstance(names, list | tuple) and topic.cover is not None and len(names) == len(topic.cover)
    return [names[number] if named else number for number in numbers]


def worth_of(topic: Topic) -> list[int]:
    """Return integer weights of abstract sentences: 1, or given weights times their common denominator."""
    if topic.weights is None:
        return [1] * len(topic.cover or ())
    common = lcm(*[weight.denominator for weight in topic.weights])
    return [weight.numerator * (common // weight.denominator) for weight in topic.weights]


def _check_ids(topic: Topic, named: frozenset[SentenceId]) -> None:
    texts = texts_of(topic)
    for unit in in_order(named):
        if isinstance(unit, int) and str(unit) in named:
            fault = f"names the sentence {unit} both as a number and as text"
            raise InputError(f"Topic {topic.id!r} {fault}: write it in one way.")
        if texts and unit not in texts and (isinstance(unit, int) or "sentence_ids" in topic.meta):
            fault = f"names {unit!r}, which is no sentence of its documents ({len(texts)} in all)"
            how = "number sentences from 0 over all documents, or name them in meta.sentence_ids"
            raise InputError(f"The cover of topic {topic.id!r} {fault}: {how}.")


def check_extract(topic: Topic, alternatives: Alternatives, extract: Iterable[SentenceId]) -> None:
    """Refuse an extract that names a sentence otherwise than the cover, or a sentence that the topic lacks.

    Unknown ids are accepted if the topic has no documents; unknown ids that are texts, also if the cover has such ids.
    """
    texts = texts_of(topic)
    known = texts.keys() | alternatives.corresponding
    written = {str(unit): unit for unit in known}
    closed = bool(texts) and alternatives.corresponding <= texts.keys()
    for unit in extract:
        if unit in known:
            continue
        if str(unit) in written:
            fault = f"the sentence {unit!r}, which topic {topic.id!r} calls {written[str(unit)]!r}"
            raise InputError(f"The extract names {fault}: write numbers and texts as the cover does.")
        if closed or (texts and isinstance(unit, int)):
            fault = f"{unit!r}, which topic {topic.id!r} does not have ({len(texts)} sentences in all)"
            how = "use the numbers or ids by which the topic's cover names sentences"
            raise InputError(f"The extract names {fault}: {how}.")


def texts_of(topic: Topic) -> dict[SentenceId, Sentence]:
    """Return all source sentences by their ids in ``meta["sentence_ids"]``; without such ids, by unit number."""
    ids = topic.meta.get("sentence_ids", range(len(topic.sentences)))
    listed = isinstance(ids, Sequence) and not isinstance(ids, str)
    usable = listed and all(isinstance(name, int | str) and not isinstance(name, bool) for name in ids)
    if not usable or len(set(ids)) != len(ids) or len(ids) != len(topic.sentences):
        fault = f"meta.sentence_ids does not name each of the {len(topic.sentences)} sentences once"
        raise InputError(f"In topic {topic.id!r} {fault}: list one number or text for each, in order.")
    return dict(zip(ids, topic.sentences, strict=True))


def sentences_of(topic: Topic, selection: Iterable[SentenceId]) -> list[Sentence]:
    """Return the sentences with these unit numbers, or ids in ``meta["sentence_ids"]``, which take precedence."""
    texts = dict(enumerate(topic.sentences)) | (texts_of(topic) if "sentence_ids" in topic.meta else {})
    found = list(selection)
    if unknown := [unit for unit in found if unit not in texts]:
        held = f"topic {topic.id!r} has {len(topic.sentences)} sentences and none of them is called that"
        how = "number them from 0, or name them in meta.sentence_ids"
        raise InputError(f"the selection names unit {unknown[0]!r}, but {held}; {how}")
    return [texts[unit] for unit in found]


def in_order(units: frozenset[SentenceId]) -> tuple[SentenceId, ...]:
    """Return sentences sorted: numbers first, then names, with digits compared by value ("s3" before "s10")."""

    def natural(unit: str) -> tuple[list[tuple[str, int]], str]:
        return [(text, int(digits or -1)) for text, digits in re.findall(r"(\D*)(\d*)", unit)], unit

    numbers = sorted(unit for unit in units if isinstance(unit, int))
    return (*numbers, *sorted((unit for unit in units if not isinstance(unit, int)), key=natural))


# A line of a table is the id of an abstract sentence and its alternatives, separated by blanks or tabs:
#
#     Sentence ID of Abstract   Set of Corresponding Sentences
#     1                         {s1} ∪ {s10, s11}
#     2                         {s3, s5, s6}
#
# An alternative is in braces, or without them, as in the files of the challenge: "1 s1 s10,s11". Signs of union or
# disjunction (⊔ ∪ ∨ | or), blank lines, lines that begin with "#" and the heading are ignored. A line without
# alternatives is an abstract sentence that nothing covers. The LaTeX source of the paper's table can be read too.


def is_cover_table(sample: bytes) -> bool:
    text = sample.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines or _HEADING.match(lines[0]):
        return bool(lines)
    if len(lines) > 1 and not text.endswith("\n"):
        lines.pop()  # the sample may cut it off
    return all(map(_begins_row, lines)) and any(len(line.split()) > 1 for line in lines)


def _begins_row(line: str) -> bool:
    name, *rest = line.replace("\\", " ").replace("$", " ").split(maxsplit=1) or [""]
    if not name or any(sign in line for sign in '<>="') or "{" in name or "," in name:  # markup
        return False
    words = _BARE.findall(rest[0]) if rest and "{" not in rest[0] else []
    return all(word in _SIGNS or _has_digits(word) for word in words)


def _has_digits(word: str) -> bool:
    return all(any(map(str.isdigit, part)) for part in word.split(","))


def parse_cover_table(text: str, *, topic_id: str, source: str = "table") -> Topic:
    r"""Return a topic made of a table: its cover, with the ids of abstract sentences in ``meta["abstract_ids"]``.

    >>> parse_cover_table("1 {s1} ∪ {s10, s11}\n2 s3,s5,s6", topic_id="t").cover
    ((('s1',), ('s10', 's11')), (('s3', 's5', 's6'),))
    """
    cover: dict[str, list[list[int | str]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#") or (not cover and _HEADING.match(line)):
            continue
        try:
            name, alternatives = _row(line)
        except ValueError as error:
            raise InputError(f"{source}:{number}: {error}.") from None
        if name in cover:
            raise InputError(f"{source}:{number}: abstract sentence {name} has two lines: put all its sets on one.")
        cover[name] = alternatives
    if not cover:
        raise InputError(f"{source}: the table is empty: give a line for each abstract sentence.")
    meta = {"abstract_ids": list(cover)}
    return as_topic({"id": topic_id, "cover": list(cover.values()), "meta": meta}, source=source)


def _row(line: str) -> tuple[str, list[list[int | str]]]:
    for pattern, plain in _LATEX if "\\" in line or "$" in line else ():
        line = re.sub(pattern, plain, line)
    name, *rest = line.strip().split(maxsplit=1)
    if "{" in name or "," in name:
        raise ValueError(f"{name!r} is not the id of an abstract sentence; begin each line with one")
    return name, list(_alternatives(rest[0] if rest else ""))


def _alternatives(text: str) -> Iterator[list[int | str]]:
    for found in _PIECE.finditer(text):
        if found[0] == "{":
            raise ValueError("a brace is not closed; write a set as {s10, s11}")
        if found[0] in _SIGNS:
            continue
        # Between sets in braces a word such as "and" is no set; without braces, ids may have no digit.
        if found[1] is None and not (_has_digits(found[0]) if "{" in text else any(map(str.isalnum, found[0]))):
            fault = "is neither a set nor a sign such as ∪ or |; put ids without a digit in braces"
            raise ValueError(f"{found[0]!r:.40} {fault}")
        piece = found[0] if found[1] is None else found[1]
        names = [name.strip() for name in piece.split(",")]
        if not all(re.fullmatch(r"[^\s{}]+", name) for name in names):
            raise ValueError(f"the set {piece.strip()!r:.60} is not made of ids with commas between them")
        yield [int(name) if re.fullmatch(r"0|[1-9]\d{0,17}", name) else name for name in names]
