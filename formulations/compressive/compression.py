"""Compressions as a task: names of selected chunks, and their text as it is scored and as it is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from optsum.chunks.parse import Parse
from optsum.chunks.working import is_punctuation
from optsum.corpus.topic import Topic
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.formulation import Task
from optsum.problem.problem import Move, Selection
from optsum.problem.spec import Spec
from optsum.text.analyzer import Analyzer
from optsum.text.tokenizers import Sentence

from .trimming import LENGTHS, TrimmableSentence

_CLOSER_OF = dict(zip("([{“‘«", ")]}”’»", strict=True)) | {"``": "''", "-LRB-": "-RRB-", "-LSB-": "-RSB-"}
_OPENS = frozenset(_CLOSER_OF)
_CLOSES = frozenset(_CLOSER_OF.values())
_SAME_BOTH_WAYS = frozenset({'"', "'"})
_STRENGTH = {",": 1, "-": 2, "–": 2, "—": 2, "--": 2, ":": 3, ";": 3}
_ENDS = frozenset({".", "?", "!", "…", "..."})


def _pairs(parse: Parse) -> dict[int, int]:
    """Return the partner of each bracket and quotation mark that has one."""
    partner: dict[int, int] = {}
    waiting: list[tuple[str, int]] = []
    for place, word in enumerate(parse.tokens):
        if not is_punctuation(word):
            continue
        form = word.form
        closes = form in _CLOSES or form in _SAME_BOTH_WAYS
        match = next((index for index in reversed(range(len(waiting))) if waiting[index][0] == form), None)
        if closes and match is not None:
            partner[place] = waiting[match][1]
            partner[waiting[match][1]] = place
            del waiting[match:]
        elif form in _OPENS or form in _SAME_BOTH_WAYS:
            waiting.append((_CLOSER_OF.get(form, form), place))
    return partner


def opens(parse: Parse, place: int) -> bool:
    """Whether what follows a mark stands close to it."""
    word = parse.tokens[place]
    return is_punctuation(word) and (word.form in _OPENS or _pairs(parse).get(place, -1) > place)


def sticks_to_left(parse: Parse, place: int) -> bool:
    """Whether a word stands close to what precedes it: a comma, a final mark, *'s*, *n't*."""
    word = parse.tokens[place]
    if not is_punctuation(word):
        return word.upos in {"PART", "AUX"} and (word.form[:1] in {"'", "’"} or word.form.lower() in {"n't", "n’t"})
    if (other := _pairs(parse).get(place)) is not None:
        return other < place
    return word.form not in _OPENS and word.form not in {"-", "–", "—", "--", "#", "*", "•"}


def kept_marks(parse: Parse, held: Sequence[bool]) -> list[bool]:
    """Add the marks to the words that are kept.

    Parameters
    ----------
    held : one truth value a word
        Whether it is kept; marks are not.

    Returns
    -------
    list of bool
        Whether a word or mark is shown.
    """
    words = parse.tokens
    last = max((place for place, word in enumerate(words) if not is_punctuation(word)), default=-1)
    first = next((place for place, word in enumerate(words) if not is_punctuation(word)), len(words))
    partner = _pairs(parse)
    shown = list(held)
    for place, word in enumerate(words):
        if not is_punctuation(word):
            continue
        if (other := partner.get(place)) is not None:
            shown[place] = any(held[min(place, other) : max(place, other)])
        elif place > last or place < first:  # the final mark, or a bullet
            shown[place] = True
        elif _joins(parse, place):
            shown[place] = held[place - 1] and held[place + 1]
        else:
            beside = any(held[other] or is_punctuation(words[other]) for other in (place - 1, place + 1))
            introduces = word.form in {":", ";"} and held[place - 1]
            belongs = held[_governor(parse, place)] or introduces
            shown[place] = beside and belongs and not _parts_clause(parse, held, place)
    _tidy(parse, shown, first, last)
    return shown


def _joins(parse: Parse, place: int) -> bool:
    """Whether a mark has no blank on either side, as a hyphen."""
    before, mark, after = parse.tokens[place - 1 : place + 2]
    return before.end == mark.start and mark.end == after.start


def _governor(parse: Parse, place: int) -> int:
    """Return the word that a mark belongs to in the tree."""
    while is_punctuation(parse.tokens[place]) and parse.tokens[place].head >= 0:
        place = parse.tokens[place].head
    return place


def _parts_clause(parse: Parse, held: Sequence[bool], place: int) -> bool:
    """Whether a mark is all that is left between a verb and its subject or its *that*, for what it set off is gone."""
    words = parse.tokens
    before = next((left for left in reversed(range(place)) if held[left]), None)
    after = next((right for right in range(place + 1, len(words)) if held[right]), None)
    if (
        before is None
        or after is None
        or all(held[each] or is_punctuation(words[each]) for each in range(before, after))
    ):
        return False
    if words[after].form.lower() == "that" and words[after].deprel == "mark":
        clause = words[words[after].head]
        return clause.deprel.startswith("ccomp") and clause.head == before
    above = set()
    while after >= 0:
        above.add(after)
        after = words[after].head
    while before >= 0 and before not in above:
        if words[before].head in above:
            return words[before].deprel.startswith(("nsubj", "csubj"))
        before = words[before].head
    return False


def _tidy(parse: Parse, shown: list[bool], first: int, last: int) -> None:
    """Drop separators that have nothing to separate any more, the weaker of two, and those before a final mark."""
    words = parse.tokens
    before: int | None = None  # what is shown last so far
    for place in range(len(words)):
        if not shown[place]:
            continue
        form = words[place].form
        separates = is_punctuation(words[place]) and form in _STRENGTH and first <= place <= last
        if separates and (before is None or is_punctuation(words[before])):
            strength = _STRENGTH.get(words[before].form, 0) if before is not None else 0
            adjoins = before is not None and before == place - 1
            if not adjoins and not (before is not None and ends_pair(parse, before)):
                if before is not None and 0 < strength < _STRENGTH[form]:
                    shown[before] = False
                else:
                    shown[place] = False
                    continue
        elif is_punctuation(words[place]) and before is not None and (form in _ENDS or ends_pair(parse, place)):
            inner = is_punctuation(words[before]) and words[before].form in _STRENGTH and before <= last
            if inner and before != place - 1:
                shown[before] = False
        before = place


def ends_pair(parse: Parse, place: int) -> bool:
    """Whether a mark closes a bracket or a quotation."""
    return is_punctuation(parse.tokens[place]) and (
        parse.tokens[place].form in _CLOSES or _pairs(parse).get(place, place) < place
    )


_SAID_WITH_A_VOWEL = ("a", "e", "i", "o", "heir", "honest", "honor", "honour", "hour", "8", "11", "18", "80")
_YET_NOT = ("eu", "one", "once", "ouija")
_U_AS_IN_USE = ("ubi", "uk", "uni", "ura", "ure", "uri", "us", "ut")
_LETTERS_WITH_A_VOWEL = "AEFHILMNORSX"


def bare_text(sentence: TrimmableSentence, groups: Collection[int], tokenizer: str) -> Sentence:
    """Return the kept part of a sentence with exactly the tokens that were counted, and nothing repaired.

    A character that is in no token goes with the token before it.

    Parameters
    ----------
    groups : collection of int
        Those that are kept.
    tokenizer : str
        A name in `optsum.text.tokenizers.TOKENIZERS`.
    """
    if len(groups) == len(sentence.chunks):
        return sentence.sentence
    spans = Analyzer(tokenizer).spans(sentence.sentence)
    kept = [sentence.owner(start) in groups for _, start in spans]
    if tokenizer == "tokens" and not isinstance(sentence.sentence, str):
        return tuple(token for (token, _), here in zip(spans, kept, strict=True) if here)
    text = sentence.sentence if isinstance(sentence.sentence, str) else " ".join(sentence.sentence)
    starts = [start for _, start in spans]
    pieces: list[str] = []
    joins = False
    for start, end, here in zip(starts, [*starts[1:], len(text)], kept, strict=True):
        if here and joins:
            pieces[-1] += text[start:end]
        elif here:
            pieces.append(text[start:end])
        joins = here
    return " ".join(piece.strip() for piece in pieces)


def readable_text(sentence: TrimmableSentence, groups: Collection[int]) -> str:
    """Return the kept part of a sentence as one would write it.

    Brackets and quotation marks come in pairs or not at all, the final mark stays, commas go with what they set off,
    *a* and *an* fit the word that follows, and the first word has a capital if the sentence began with one. Marks that
    stand by themselves, as in text that was cut into tokens, stay so.
    """
    parse = sentence.parse
    if len(groups) == len(sentence.chunks):
        return parse.text
    words = parse.tokens
    marks = [is_punctuation(word) for word in words]
    held = [group in groups and not mark for group, mark in zip(sentence.group_of_word, marks, strict=True)]
    shown = [
        place for place, here in enumerate(kept_marks(parse, held)) if here and words[place].end > words[place].start
    ]
    pieces: list[str] = []
    first = next((place for place in range(len(words)) if not marks[place]), 0)
    begun = False
    for index, place in enumerate(shown):
        form = parse.text[words[place].start : words[place].end]
        if index:
            before = shown[index - 1]
            if place == before + 1:
                pieces.append(parse.text[words[before].end : words[place].start])
            elif not _close(parse, before, place):
                pieces.append(" ")
        if words[place].xpos == "DT" and form.lower() in {"a", "an"} and index + 1 < len(shown):
            after = shown[index + 1]
            if after != place + 1:
                form = _article(form, parse.text[words[after].start : words[after].end])
        if not marks[place] and not begun:
            begun = True
            if place != first and _begins_with_capital(parse.text) and form.islower():
                form = form[0].upper() + form[1:]
        pieces.append(form)
    text = "".join(pieces).strip()
    return _ended(text, parse, shown) if shown else text


def _close(parse: Parse, before: int, place: int) -> bool:
    """Whether a word stands close to one that it did not follow, as it or that one did to its neighbour."""
    after_it, before_it = parse.text[parse.tokens[before].end :][:1], parse.text[: parse.tokens[place].start][-1:]
    return (opens(parse, before) and not after_it.isspace()) or (
        sticks_to_left(parse, place) and not before_it.isspace()
    )


def _ended(text: str, parse: Parse, shown: Sequence[int]) -> str:
    """Give a text the final mark of its sentence, where that went with a quotation or an abbreviation."""
    words = parse.tokens
    end = words[shown[-1]]
    gone = range(shown[-1] + 1, len(words))
    if end.form in {"?", "!"} and any(ends_pair(parse, place) for place in gone):
        return text[:-1] + "."  # the question was the quotation's
    last = words[-1]
    if gone and not is_punctuation(last) and last.form[-1:] in {".", "?", "!"} and text[-1:].isalnum():
        return text + last.form[-1]
    return text


def _begins_with_capital(text: str) -> bool:
    return next((letter.isupper() for letter in text if letter.isalpha()), False)


def _article(form: str, following: str) -> str:
    """Return *a* or *an* as the following word asks for it."""
    word = following.lstrip("\"'“‘([")
    small = word.lower()
    if len(word) == 1 or (word.isupper() and word.isalpha()):
        vowel = word[:1].upper() in _LETTERS_WITH_A_VOWEL
    elif small.startswith("u"):
        vowel = not small.startswith(_U_AS_IN_USE)
    else:
        vowel = small.startswith(_SAID_WITH_A_VOWEL) and not small.startswith(_YET_NOT)
    article = "an" if vowel else "a"
    return article.capitalize() if form[0].isupper() else article


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Compression(Task):
    """A compressive task.

    Attributes
    ----------
    units : tuple of (sentence, chunk)
        The topmost chunk of each unit; chunks are numbered from 1.
    sentences : tuple of TrimmableSentence
    places : tuple of (sentence, group)
        What each unit is.
    """

    sentences: tuple[TrimmableSentence, ...] = field(repr=False)
    places: tuple[tuple[int, int], ...] = field(repr=False)

    def name_units(self, selection: Selection) -> tuple[Any, ...]:
        """Return all chunks of a selection, as pairs of sentence and chunk."""
        return tuple(
            (sentence.number, chunk)
            for sentence, groups in self._kept(selection)
            for chunk in sorted(chunk for group in groups for chunk in sentence.chunks[group])
        )

    def heads(self) -> Mapping[int, int]:
        """Return the main chunk of each sentence, without which nothing of it is kept."""
        return {
            sentence: unit
            for unit, (sentence, group) in enumerate(self.places)
            if self.sentences[sentence].parents[group] < 0
        }

    def unit_lengths(self, length_unit: str) -> Sequence[int]:
        """Return the length of each unit."""
        lengths = [LENGTHS[length_unit](sentence) for sentence in self.sentences]
        return [lengths[sentence][group] for sentence, group in self.places]

    def decode(self, selection: Selection) -> tuple[Sentence, ...]:
        """Return what is kept of each sentence, nothing repaired: its tokens are those that the objective counts."""
        tokenizer = self.analyzer.tokenizer
        return tuple(bare_text(sentence, groups, tokenizer) for sentence, groups in self._kept(selection))

    def display(self, selection: Selection) -> tuple[Sentence, ...]:
        """Return what is kept of each sentence, with punctuation, articles and capitals in order, for people."""
        return tuple(readable_text(sentence, groups) for sentence, groups in self._kept(selection))

    def parts(self) -> list[list[tuple[int, int]]]:
        """Return where the chunks of each sentence begin; those that live and die together go by the topmost."""
        return [[(start, sentence.top[group]) for start, group in sentence.pieces()] for sentence in self.sentences]

    def _kept(self, selection: Selection) -> list[tuple[TrimmableSentence, set[int]]]:
        kept: dict[int, set[int]] = {}
        for unit in selection:
            sentence, group = self.places[unit]
            kept.setdefault(sentence, set()).add(group)
        return [(self.sentences[sentence], kept[sentence]) for sentence in sorted(kept)]


@dataclass(frozen=True, eq=False, kw_only=True)
class CompressiveProblem(CoverageProblem):
    """A coverage problem whose units are parts of sentences: the trees of the forest."""

    def entries(self) -> Iterator[Move]:
        """Yield whole sentences in document order."""
        heads = (self.instance.parents < 0).nonzero()[0].tolist()
        for first, end in pairwise([*heads, self.size]):
            yield tuple(range(first, end))


def named(
    topic: Topic,
    spec: Spec,
    problem: CoverageProblem,
    sentences: tuple[TrimmableSentence, ...],
    places: tuple[tuple[int, int], ...],
) -> dict[str, Any]:
    """Return the attributes of a task whose units are groups of chunks, at these places."""
    names = tuple((sentence, sentences[sentence].top[group]) for sentence, group in places)
    return {
        "id": topic.id,
        "problem": problem,
        "units": names,
        "references": topic.references,
        "analyzer": spec.analyzer,
        "members": {
            name: tuple((s, chunk) for chunk in sentences[s].chunks[group])
            for name, (s, group) in zip(names, places, strict=True)
        },
        "parents": {
            name: names[parent]
            for name, parent in zip(names, problem.instance.parents.tolist(), strict=True)
            if parent >= 0
        },
        "sentences": sentences,
        "places": places,
    }
