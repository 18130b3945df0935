"""Which word a mark of punctuation goes with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from optsum.chunks.parse import Parse

_OPENERS = {"(", "[", "{", "“", "‘", "„", "‚", "«", "‹", "¿", "¡", "``", "`", "-LRB-", "-LSB-", "-LCB-"}
_EITHER = {'"', "'"}
"""Marks that open and close."""


def owners(parse: Parse, words: Sequence[int]) -> list[int]:
    """Return for each token the word it goes with.

    A word goes with itself, an opening mark with the next word, any other mark with the one before.

    Parameters
    ----------
    parse : Parse
    words : sequence of int
        The tokens that are words, in order; at least one.
    """
    is_word = [False] * len(parse.tokens)
    for word in words:
        is_word[word] = True
    seen: Counter[str] = Counter()
    found: list[int] = []
    waiting: list[int] = []  # tokens of the next word
    before = -1
    for number in range(len(parse.tokens)):
        if is_word[number]:
            before = number
            for each in waiting:
                found[each] = number
            waiting.clear()
        elif before == -1 or waiting or _opens(parse, number, seen):  # marks behind an opening one go on with it
            waiting.append(number)
        found.append(before)
        seen[parse.tokens[number].form] += 1
    for each in waiting:
        found[each] = before if before != -1 else words[0]
    return found


def _opens(parse: Parse, number: int, seen: Counter[str]) -> bool:
    token = parse.tokens[number]
    if token.form in _OPENERS:
        return True
    if token.form not in _EITHER:
        return False
    if token.xpos in {"``", "''"}:
        return token.xpos == "``"
    blank_before = token.start == 0 or parse.text[token.start - 1].isspace()
    blank_behind = parse.text[token.end : token.end + 1].strip() == ""
    if blank_before != blank_behind:
        return blank_before
    return seen[token.form] % 2 == 0  # blanks do not tell: they open and close by turns
