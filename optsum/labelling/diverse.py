"""A few optima that differ much from one another."""

from __future__ import annotations

from itertools import islice
from typing import Any

from optsum.running.oracles import Oracles

_CANDIDATES = 512
"""Optima among which those that differ are sought; all of them, where there are no more."""


def diverse(oracles: Oracles, k: int, seed: int) -> list[tuple[Any, ...]]:
    """Return up to `k` optima: the first, then always the one that is farthest from the nearest of those before.

    Far means that many units are in one and not in the other. Where there are more optima than can be compared, they
    are chosen from a uniform sample: Gonzalez 1985 proves that the least distance is at least half of the largest
    possible one among those compared.

    Parameters
    ----------
    oracles : Oracles
    k : int
    seed : int
        Of the sample.
    """
    if oracles.count <= _CANDIDATES:
        candidates = list(oracles)
    else:
        candidates = list(dict.fromkeys([*islice(oracles, 1), *oracles.sample(_CANDIDATES, seed)]))
    sets = [frozenset(each) for each in candidates]
    distances = [len(sets[0]) + len(each) for each in sets] if sets else []  # larger than any, and the first is first
    chosen: list[tuple[Any, ...]] = []
    place = 0
    while len(chosen) < min(k, len(sets)):
        chosen.append(candidates[place])
        distances = [min(old, len(each ^ sets[place])) for old, each in zip(distances, sets, strict=True)]
        place = max(range(len(sets)), key=distances.__getitem__)
    return chosen
