"""Turn the kept chunks of a sentence into text: bare, as it is scored, and readable, as it is shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from optsum.chunks.parse import Parse
from optsum.chunks.working import is_punctuation
from optsum.text.analyzer import Analyzer
from optsum.text.tokenizers import Sentence

from .display_marks import ends_pair, kept_marks, opens, sticks_to_left
from .trimming import TrimmableSentence

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
