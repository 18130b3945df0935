"""Which sentences are too alike to be chosen together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from optsum.system.deadline import Deadline


def similar_pairs(tokens: Sequence[Iterable[str]], least: float, deadline: Deadline) -> list[tuple[int, int]]:
    """Return the pairs whose sets of tokens have at least this Jaccard similarity; nothing is like an empty sentence.

    Parameters
    ----------
    tokens : tokens of each sentence
    least : float
        Above 0.
    """
    sets = [frozenset(words) for words in tokens]
    # A pair is no more alike than its sizes are.
    order = sorted((number for number, words in enumerate(sets) if words), key=lambda number: len(sets[number]))
    pairs = []
    for place, one in enumerate(deadline.watching(order)):
        for other in order[place + 1 :]:
            if len(sets[one]) < least * len(sets[other]):
                break
            common = len(sets[one] & sets[other])
            if common >= least * (len(sets[one]) + len(sets[other]) - common):
                pairs.append((min(one, other), max(one, other)))
    return sorted(pairs)


def cliques_of(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return cliques that hold every pair together: fewer rows than pairs, and stronger ones.

    Each pair that is in none yet grows into a clique, by what is a neighbour of all its members, the smallest first.

    Examples
    --------
    >>> cliques_of([(0, 1), (0, 2), (1, 2), (2, 3)])
    [(0, 1, 2), (2, 3)]
    """
    pairs = sorted(pairs)
    beside: dict[int, set[int]] = {}
    for one, other in pairs:
        beside.setdefault(one, set()).add(other)
        beside.setdefault(other, set()).add(one)
    done: set[tuple[int, int]] = set()
    found = []
    for one, other in pairs:
        if (one, other) in done:
            continue
        clique, common = [one, other], beside[one] & beside[other]
        while common:
            member = min(common)
            clique.append(member)
            common &= beside[member]
        clique.sort()
        done.update(combinations(clique, 2))
        found.append(tuple(clique))
    return found
