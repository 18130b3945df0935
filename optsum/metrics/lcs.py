"""Hits of ROUGE-L: the union of longest common subsequences, sentence by sentence (Lin 2004, section 3.2).

The union depends on the choice among several longest subsequences. ROUGE-1.5.5 traces back from both ends: on a match
it takes both tokens, otherwise it drops the reference's token if that does not shorten the subsequence, else the
summary's.

The table of lengths is kept as one bit vector per reference token, the bits of a Python integer being the summary's
tokens (Hyyro 2004, "Bit-parallel LCS-length computation revisited"); the traceback gets lengths by counting bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, TypeVar

from optsum.errors import UnsupportedError
from optsum.metrics.metric import LONGEST, Gram, Metric, Tally, Texts, Totals

Token = TypeVar("Token", bound=Hashable)


@dataclass(frozen=True)
class LongestSubsequence(Metric):
    """rouge-l: longest common subsequences, sentence by sentence."""

    form: ClassVar[str] = "rouge-l"
    about: ClassVar[str] = "longest common subsequences, sentence by sentence (ROUGE-1.5.5's; rougeLsum of rouge-score)"
    countable: ClassVar[bool] = False
    _code = LONGEST, 0

    def keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        """Raise an error: common subsequences cannot be counted in a single sentence."""
        del tokens
        raise UnsupportedError(f"{self} does not count n-grams, so it has no counts; use rouge-N or rouge-suK")

    def totals(self, summary: Texts, references: Sequence[Texts], tally: Tally) -> list[Totals]:
        """Compare a summary with each of its references; counts are clipped, and sentences are always separate."""
        if tally.distinct:
            raise UnsupportedError(f"{self} has clipped counts only; leave out {self} or counts='set'")
        if tally.apart:
            raise UnsupportedError(f"{self} does not split references; leave out {self} or model_units")
        mass = sum(map(len, summary))
        return [Totals(self._hits(one, summary), sum(map(len, one)), mass) for one in references]

    def _hits(self, reference: Texts, summary: Texts) -> int:
        return union_lcs_hits(reference, summary)


@dataclass(frozen=True)
class WholeSubsequence(LongestSubsequence):
    """rougeL: the longest common subsequence of whole texts."""

    form: ClassVar[str] = "rougeL"
    about: ClassVar[str] = "longest common subsequence of the whole texts (rougeL of rouge-score)"
    _code = LONGEST, 1

    def _hits(self, reference: Texts, summary: Texts) -> int:
        return lcs_length(list(chain.from_iterable(reference)), list(chain.from_iterable(summary)))


def union_lcs_hits(reference: Iterable[Sequence[str]], summary: Sequence[Sequence[str]]) -> int:
    """Count the reference tokens on common subsequences with the summary's sentences, clipped by the summary."""
    reference = list(reference)
    in_reference = Counter(token for sentence in reference for token in sentence)
    in_summary = Counter(token for sentence in summary for token in sentence)
    masks = [(_positions(sentence), len(sentence)) for sentence in summary]
    hits = 0
    for sentence in reference:
        covered: set[int] = set()
        for places, width in masks:
            covered.update(_trace(sentence, places, width))
        for position in sorted(covered):
            token = sentence[position]
            if in_reference[token] > 0 and in_summary[token] > 0:
                in_reference[token] -= 1
                in_summary[token] -= 1
                hits += 1
    return hits


def lcs_length(reference: Sequence[Hashable], summary: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence.

    >>> lcs_length("the cat sat".split(), "on the mat sat a cat".split())
    2
    """
    places = _positions(reference)
    full = (1 << len(reference)) - 1
    flat = full
    for token in summary:
        both = flat & places.get(token, 0)
        flat = ((flat + both) | (flat - both)) & full
    return len(reference) - flat.bit_count()


def _positions(tokens: Sequence[Token]) -> dict[Token, int]:
    places: dict[Token, int] = {}
    for position, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << position
    return places


def _trace(reference: Sequence[str], places: Mapping[str, int], width: int) -> list[int]:
    """Return the traced positions in `reference`, descending; `places`: positions of the summary's `width` tokens."""
    # A reference token without a match has the same lengths as the one before it: it is always dropped for free.
    rows = [(position, places[token]) for position, token in enumerate(reference) if token in places]
    # Bit j is 0 where the length grows from the summary's first j tokens to its first j + 1.
    full = (1 << width) - 1
    flat = full
    history = [flat]
    for _, matches in rows:
        both = flat & matches
        flat = ((flat + both) | (flat - both)) & full
        history.append(flat)

    path: list[int] = []
    row, below = len(rows), full  # `below`: the summary's tokens still before us
    while row and below:
        position, matches = rows[row - 1]
        if matches & (below ^ (below >> 1)):
            path.append(position)
            row -= 1
            below >>= 1
            continue
        here = history[row] & below
        if here == below:
            break  # length 0: nothing is left to find
        if here.bit_count() == (history[row - 1] & below).bit_count():
            row -= 1
        else:
            below >>= 1
    return path
