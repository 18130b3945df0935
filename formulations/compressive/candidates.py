r"""Where a sentence holds an n-gram once parts of it are left out.

A candidate is a sequence of token positions :math:`p_1 < \dots < p_n`: its tokens become neighbours if the groups of
the tokens (V) stay and the groups of all tokens between them (U) go. It is valid if no group that must stay, an
ancestor of V or V itself, must go.

Hirao et al. 2017 (Oracle Summaries of Compressive Summarization), the sets V and U of eq. 8-9, read as intended. U is
taken from the tokens between two positions: taken from the numbers of chunks, as printed, it would be wrong where a
chunk is torn apart (*in a ... meeting*). Sets of groups are integers, one bit a group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from optsum.coverage.clauses import members


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to have an n-gram.

    Attributes
    ----------
    gram : tuple of str
    positions : tuple of int
        Of its tokens in the sentence.
    stay, go : int
        The sets V and U.
    """

    gram: tuple[str, ...]
    positions: tuple[int, ...]
    stay: int
    go: int

    def least_needed(self, needs: Sequence[int]) -> tuple[int, ...]:
        """Return the groups of V that are no ancestor of another: these need the others by themselves."""
        return tuple(
            group
            for group in members(self.stay)
            if not any(needs[other] >> group & 1 for other in members(self.stay) if other != group)
        )

    def topmost_gone(self, needs: Sequence[int]) -> tuple[int, ...]:
        """Return the groups of U without an ancestor in U: where these go, the others cannot stay."""
        return tuple(group for group in members(self.go) if not needs[group] & ~(1 << group) & self.go)


@lru_cache(maxsize=16)
def _begun(wanted: frozenset[tuple[str, ...]], size: int) -> frozenset[tuple[str, ...]]:
    """Return what n-grams begin with: the same for all sentences of a topic, so it is made once."""
    return frozenset(gram[:count] for gram in wanted for count in range(1, size + 1))


def candidates(
    tokens: Sequence[tuple[str, int]], needs: Sequence[int], wanted: Collection[tuple[str, ...]], size: int
) -> Iterator[Candidate]:
    """Yield the valid candidates of some n-grams in one sentence.

    From each position the text is read to the right. It ends where a token cannot go, because what was read so far
    needs its group.

    Parameters
    ----------
    tokens : sequence of (token, group)
    needs : one set a group
        The group with all its ancestors.
    wanted : collection of tuples of `size` tokens
    size : int
        At least 1.
    """
    begun = _begun(frozenset(wanted), size)

    def read_on(
        gram: tuple[str, ...], positions: tuple[int, ...], needed: int, stay: int, go: int
    ) -> Iterator[Candidate]:
        if len(gram) == size:
            yield Candidate(gram, positions, stay, go)
            return
        for place in range(positions[-1] + 1, len(tokens)):
            token, group = tokens[place]
            longer = (*gram, token)
            if longer in begun and not needs[group] & go:
                yield from read_on(longer, (*positions, place), needed | needs[group], stay | 1 << group, go)
            if needed >> group & 1:
                return
            go |= 1 << group

    for place, (token, group) in enumerate(tokens):
        if (token,) in begun:
            yield from read_on((token,), (place,), needs[group], 1 << group, 0)
