"""Which punctuation marks stay when words of a sentence go: for display only, no score sees it."""

from __future__ import annotations

from collections.abc import Sequence

from optsum.chunks.parse import Parse
from optsum.chunks.working import is_punctuation

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
