"""The stemmer of ROUGE-1.5.5 (its option ``-m``).

Tokens of at most three characters stay as they are. Longer ones are looked up in WordNet's exception lists;
what is not there goes through Porter's algorithm with two departures of the original script from its usual
form:

* step 4 tries the longest of most suffixes, then ``ment``, then ``ent``, one after the other, and ``ion``
  only where the word does not end in ``ent``: "agreement" becomes "agreem", where the published algorithm
  gives "agreement";
* in step 1b a double ``y`` does not count as a double consonant.

Compared with the original script on 62,690 words and numbers of real text and 162,210 made-up strings of
vowels, consonants, digits and suffixes: the same stem for every one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from optsum.text.resources import wordnet_exceptions

_LONGEST_UNSTEMMED = 3

# Step 4, first round: the longest that ends the word counts, so the longest come first.
# fmt: off
_SUFFIXES = (
    "ement",
    "ance", "ence", "able", "ible",
    "ant", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
)
# fmt: on


def stem(word: str) -> str:
    """Stem one token as ROUGE-1.5.5 does with ``-m``.

    Parameters
    ----------
    word : str
        A lower-case token. The case is never changed, and letters outside a-z count as consonants.

    Returns
    -------
    str
        The stem; the word itself where it has at most three characters.

    Examples
    --------
    >>> [stem(word) for word in ("was", "running", "mice", "agreement")]
    ['was', 'run', 'mouse', 'agreem']
    """
    if len(word) <= _LONGEST_UNSTEMMED:
        return word
    base = wordnet_exceptions().get(word)
    return _porter()(word) if base is None else base


@cache
def _porter() -> Callable[[str], str]:
    """Make the stemmer when the first word needs it: importing nltk takes most of a second."""
    from nltk.stem.porter import PorterStemmer

    class Porter(PorterStemmer):  # type: ignore[misc]  # nltk ships no types
        """NLTK's stemmer with the step 4 and the double consonants of ROUGE-1.5.5."""

        def _step4(self, word: str) -> str:
            suffix = next((suffix for suffix in _SUFFIXES if word.endswith(suffix)), None)
            if suffix is not None:
                word = self._without(word, suffix)
            if word.endswith("ment"):
                word = self._without(word, "ment")
            if word.endswith("ent"):
                word = self._without(word, "ent")
            elif word.endswith(("sion", "tion")):
                word = self._without(word, "ion")
            return word

        def _without(self, word: str, suffix: str) -> str:
            rest = word.removesuffix(suffix)
            return rest if self._measure(rest) > 1 else word

        def _ends_double_consonant(self, word: str) -> bool:
            return not word.endswith("y") and bool(super()._ends_double_consonant(word))

    porter = Porter(mode=PorterStemmer.MARTIN_EXTENSIONS)

    def stem_one(word: str) -> str:
        return str(porter.stem(word, to_lowercase=False))

    return stem_one
