"""What stemmers after Porter (1980), "An algorithm for suffix stripping", share: measures of words, and rules."""

from __future__ import annotations

import re
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
