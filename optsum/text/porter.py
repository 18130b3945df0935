"""What stemmers after Porter (1980), "An algorithm for suffix stripping", share: measures of words, and rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

# A word is [C](VC)^m[V], C and V runs of consonants and of vowels; y is a vowel after a consonant. No run gives a
# letter back, so that what is matched is the word's only reading.
_C: Final = "[^aeiou][^aeiouy]*+"
_V: Final = "[aeiouy][aeiou]*+"
SOME: Final = re.compile(f"(?:{_C})?+{_V}[^aeiou]", re.DOTALL).match
"""Whether m > 0."""
SEVERAL: Final = re.compile(f"(?:{_C})?+{_V}{_C}{_V}[^aeiou]", re.DOTALL).match
"""Whether m > 1."""
VOWEL: Final = re.compile(f"(?:{_C})?+[aeiouy]", re.DOTALL).match
"""Whether there is a vowel."""
SHORT: Final = re.compile(f"{_C}[aeiouy][^aeiouwxy]", re.DOTALL).fullmatch
"""Whether m = 1, and the word ends in consonant, vowel, consonant, of which the last is not w, x or y."""

STEP_2: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
STEP_3: Final = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip


def exchange(word: str, suffixes: dict[str, str]) -> str:
    """Exchange the longest suffix, if something is before it (steps 2 and 3)."""
    for size in range(7, 1, -1):
        if (new := suffixes.get(word[-size:])) is not None:
            rest = word[:-size]
            return rest + new if SOME(rest) else word
    return word


def without(word: str, size: int) -> str:
    """Take off an ending of so many letters, if m > 1 for what is before it."""
    rest = word[:-size]
    return rest if SEVERAL(rest) else word


def without_past(word: str, doubled: Callable[[str], object], short: Callable[[str], object]) -> str:
    """Take -eed, -ed and -ing off (step 1b).

    Parameters
    ----------
    word : str
    doubled : callable
        Whether a word ends in a double consonant of which one goes.
    short : callable
        Whether a word is so short that it gets its e back.
    """
    if word.endswith("eed"):
        return word[:-1] if SOME(word[:-3]) else word
    rest = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    if not VOWEL(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    if doubled(rest):
        return rest[:-1]
    return f"{rest}e" if short(rest) else rest


def without_end(word: str, short: Callable[[str], object]) -> str:
    """Take the e at the end off, and one l of two (step 5); `short` says which words keep their e."""
    if word.endswith("e"):
        rest = word[:-1]
        if SEVERAL(rest) or (SOME(rest) and not short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and SEVERAL(word[:-1]) else word
