"""Stemmers: ROUGE-1.5.5's (its option ``-m``), the one of Google's package rouge-score, and those of Snowball.

The first two stem English after Porter 1980, "An algorithm for suffix stripping", with the two changes in its author's
program: ``bli`` for ``abli``, and ``logi``. Tokens of at most three characters are not changed.

ROUGE-1.5.5 first looks up longer ones in WordNet's exception lists, and differs from the algorithm twice: step 4 tries
the longest of most suffixes, then ``ment``, then ``ent``, one after the other, and ``ion`` only where the word does not
end in ``ent`` ("agreement" becomes "agreem"); in step 1b a double ``y`` is no double consonant.

rouge-score (``use_stemmer=True``) uses NLTK's extension of the algorithm: a few irregular words have stems of their own
("dying" is "die"); four letters that end in ``ies`` or ``ied`` keep the ``e``, longer words in ``ied`` lose ``ed``;
``y`` becomes ``i`` after a consonant that is not the first letter ("happi", but "enjoy"); step 2 first removes
``alli``, includes ``fulli``, and leaves the ``l`` of ``logi`` to the stem; a vowel and a consonant alone count as a
short word ("owed" is "owe").

Both agree with the original script, and with the stemmer of NLTK 3.10.4, on about 62,000 words of real text and more
than 160,000 random strings of vowels, consonants, digits and suffixes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from optsum.errors import InputError, unknown_name
from optsum.plugins import Registry
from optsum.text.resources import wordnet_exceptions

# A word is [C](VC)^m[V], C and V runs of consonants and of vowels; y is a vowel after a consonant. No run gives a
# letter back, so that what is matched is the word's only reading.
_C: Final = "[^aeiou][^aeiouy]*+"
_V: Final = "[aeiouy][aeiou]*+"
_SOME: Final = re.compile(f"(?:{_C})?+{_V}[^aeiou]", re.DOTALL).match  # Whether m > 0.
_SEVERAL: Final = re.compile(f"(?:{_C})?+{_V}{_C}{_V}[^aeiou]", re.DOTALL).match  # Whether m > 1.
_VOWEL: Final = re.compile(f"(?:{_C})?+[aeiouy]", re.DOTALL).match  # Whether there is a vowel.
_SHORT: Final = re.compile(f"{_C}[aeiouy][^aeiouwxy]", re.DOTALL).fullmatch
"""Whether m = 1 and the word ends in consonant, vowel, consonant, of which the last is not w, x or y."""

_STEP_2: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3: Final = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip


def _exchange(word: str, suffixes: dict[str, str]) -> str:
    """Replace the longest suffix, if something is before it (steps 2 and 3)."""
    for size in range(7, 1, -1):
        if (new := suffixes.get(word[-size:])) is not None:
            rest = word[:-size]
            return rest + new if _SOME(rest) else word
    return word


def _without(word: str, size: int) -> str:
    rest = word[:-size]
    return rest if _SEVERAL(rest) else word


def _without_past(word: str, doubled: Callable[[str], object], short: Callable[[str], object]) -> str:
    """Remove -eed, -ed and -ing (step 1b); `doubled` words lose one more letter, `short` ones regain their e."""
    if word.endswith("eed"):
        return word[:-1] if _SOME(word[:-3]) else word
    rest = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    if not _VOWEL(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    if doubled(rest):
        return rest[:-1]
    return f"{rest}e" if short(rest) else rest


def _without_end(word: str, short: Callable[[str], object]) -> str:
    """Remove a final e, and one l of two (step 5); `short`: whether a word keeps its e."""
    if word.endswith("e"):
        rest = word[:-1]
        if _SEVERAL(rest) or (_SOME(rest) and not short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _SEVERAL(word[:-1]) else word


_LONGEST_UNSTEMMED = 3

_DOUBLE: Final = re.compile(r"([^aeiouylsz])\1\Z", re.DOTALL).search
"""Whether a word ends in a double consonant other than l, s and z."""

_STEP_4: Final = dict.fromkeys(
    ("ement", "ance", "ence", "able", "ible", "ant", "ism", "ate", "iti", "ous", "ive", "ize", "al", "er", "ic", "ou"),
    "",
)


def stem(word: str) -> str:
    """Stem a lower-case token like ROUGE-1.5.5 with ``-m``; letters outside a-z count as consonants.

    >>> [stem(word) for word in ("was", "running", "mice", "agreement")]
    ['was', 'run', 'mouse', 'agreem']
    """
    if len(word) <= _LONGEST_UNSTEMMED:
        return word
    base = wordnet_exceptions().get(word)
    return _porter(word) if base is None else base


def _porter(word: str) -> str:
    if word.endswith("s") and not word.endswith("ss"):  # step 1a
        word = word[:-2] if word.endswith(("sses", "ies")) else word[:-1]
    word = _without_past(word, _DOUBLE, _SHORT)
    if word.endswith("y") and _VOWEL(word[:-1]):  # step 1c
        word = f"{word[:-1]}i"
    word = _exchange(_exchange(word, _STEP_2), _STEP_3)
    return _without_end(_step_4(word), _SHORT)


def _step_4(word: str) -> str:
    for size in range(5, 1, -1):
        if word[-size:] in _STEP_4:
            word = _without(word, size)
            break
    if word.endswith("ment"):
        word = _without(word, 4)
    if word.endswith("ent"):
        return _without(word, 3)
    return _without(word, 3) if word.endswith(("sion", "tion")) else word


_IRREGULAR: Final = {
    "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "inning": "inning",
    "innings": "inning", "outing": "outing", "outings": "outing", "canning": "canning", "cannings": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_STEP_2_NLTK: Final = {**_STEP_2, "fulli": "ful"}
_STEP_4_NLTK: Final = frozenset(
    ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti", "ous",
     "ive", "ize", "sion", "tion")
)  # fmt: skip

_CONSONANT: Final = re.compile(r"(?:(?:\A|[aeiou])y|[^aeiouy])(?:yy)*+\Z", re.DOTALL).search
"""Whether the last letter is a consonant; among several y, every other one is."""
_TWO: Final = re.compile("[aeiou][^aeiou]", re.DOTALL).fullmatch  # Whether it is a vowel and a consonant.


def stem_rouge_score(word: str) -> str:
    """Stem a lower-case token like the package rouge-score; letters outside a-z count as consonants.

    >>> [stem_rouge_score(word) for word in ("was", "running", "mice", "agreement")]
    ['was', 'run', 'mice', 'agreement']
    """
    if len(word) <= _LONGEST_UNSTEMMED:
        return word
    if (stem := _IRREGULAR.get(word)) is not None:
        return stem
    if word.endswith("s") and not word.endswith("ss"):  # step 1a
        off = 2 if word.endswith("sses") or (word.endswith("ies") and len(word) > 4) else 1
        word = word[:-off]
    if word.endswith("ied"):  # step 1b: -ied, -eed, -ed and -ing go
        word = word[:-1] if len(word) == 4 else word[:-2]
    else:
        word = _without_past(word, _doubled_nltk, _short_nltk)
    if word.endswith("y") and len(word) > 2 and _CONSONANT(word[:-1]):  # step 1c
        word = f"{word[:-1]}i"
    word = _exchange(_step_2_nltk(word), _STEP_3)
    return _without_end(_step_4_nltk(word), _short_nltk)


def _doubled_nltk(word: str) -> bool:
    return word[-2:-1] == word[-1] and word[-1] not in "lsz" and bool(_CONSONANT(word))


def _short_nltk(word: str) -> bool:
    return bool(_SHORT(word) or _TWO(word))


def _step_2_nltk(word: str) -> str:
    if word.endswith("alli") and _SOME(word[:-4]):
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _SOME(word[:-3]) else word
    return _exchange(word, _STEP_2_NLTK)


def _step_4_nltk(word: str) -> str:
    size = next((size for size in range(5, 1, -1) if word[-size:] in _STEP_4_NLTK), 0)
    return word if not size else _without(word, 3 if word.endswith("ion") else size)


def snowball(name: str) -> Callable[[str], str]:
    """Return the stemmer of Snowball for a language, in pure Python, because an installed compiled one may differ."""
    import snowballstemmer

    modules = [each.name for each in iter_modules(snowballstemmer.__path__)]
    languages = [each.removesuffix("_stemmer") for each in modules if each.endswith("_stemmer")]
    if name not in languages:
        raise unknown_name("stemmer", f"snowball:{name}", [f"snowball:{each}" for each in languages])
    made: Any = getattr(import_module(f"snowballstemmer.{name}_stemmer"), f"{name.title().replace('_', '')}Stemmer")

    def stem_word(word: str) -> str:
        stemmed: str = made().stemWord(word)  # one keeps the word that it works on, and threads share this function
        return stemmed

    return stem_word


STEMMERS: Final[Registry[Any]] = Registry(
    "stemmer",
    {"rouge155": stem, "rouge-score": stem_rouge_score},
    "optsum.stemmers",
    families={"snowball:": f"{__name__}:snowball"},
)
"""Functions from a token to its stem; the two named ones are English."""


@lru_cache(maxsize=64)
def stemmer_of(name: str) -> Callable[[str], str]:
    """Return the stemmer with a name: ours, ``snowball:LANGUAGE``, another's, ``module:function``, or a caller's."""
    function: Callable[[str], Any] = STEMMERS.load(name)
    if name in STEMMERS.builtin:
        return function

    def checked(word: str) -> str:
        try:
            found = function(word)
        except Exception as error:
            raise InputError(f"the stemmer {name} failed on the word {word[:40]!r}: {error!r:.200}") from error
        if not isinstance(found, str):
            raise InputError(f"the stemmer {name} returned {found!r:.40} for {word[:40]!r}; it must return a string")
        return found

    return checked
