"""Small random instances and brute force in plain Python, independent of every kernel."""

from __future__ import annotations

import random
from itertools import combinations

from optsum.coverage.instance import Coverage


def random_instance(rng: random.Random, *, windows: bool = True, large_gains: bool = False) -> Coverage:
    """Up to 10 units with everything that makes trouble.

    Gain tables of several steps (several references), repeated n-grams, duplicate units, units without gain, units
    of length 0, no room at all, windows, features that no unit has.
    """
    features = rng.randint(1, 8)
    largest = 10**7 if large_gains else 4
    gains = []
    for _ in range(features):
        steps = sorted((rng.randint(0, largest) for _ in range(rng.randint(1, 5))), reverse=True)
        gains.append([max(steps[0], 1), *steps[1:]])
    lengths: list[int] = []
    rows: list[dict[int, int]] = []
    for _ in range(rng.randint(1, 9)):
        if rows and rng.random() < 0.2:
            twin = rng.randrange(len(rows))
            lengths.append(lengths[twin])
            rows.append(dict(rows[twin]))
            continue
        lengths.append(rng.randint(0 if rng.random() < 0.2 else 1, 8))
        held = rng.sample(range(features), rng.randint(0, min(features, 4)))
        rows.append({feature: rng.randint(1, 3) for feature in held})
    high = rng.choice([0, rng.randint(1, 25), rng.randint(5, 25)])
    low = rng.randint(0, high) if windows and rng.random() < 0.35 else 0
    return Coverage.of(lengths, rows, gains, constants=(0, 1000), max_length=high, min_length=low)


def value_of(instance: Coverage, chosen: tuple[int, ...]) -> int:
    """Numerator of a set of units, from the definition."""
    copies: dict[int, int] = {}
    for unit in chosen:
        for k in range(instance.unit_start[unit], instance.unit_start[unit + 1]):
            feature = int(instance.unit_feature[k])
            copies[feature] = copies.get(feature, 0) + int(instance.unit_count[k])
    total = int(instance.constants[0]) + sum(int(instance.mass[0, unit]) for unit in chosen)
    for feature, count in copies.items():
        table = instance.level[instance.level_start[feature] : instance.level_start[feature + 1]].tolist()
        total += table[min(count, len(table) - 1)]
    return total


def feasible_sets(instance: Coverage) -> list[tuple[int, ...]]:
    """Every set of units within the length limits, the empty one included where it is."""
    units = range(instance.size)
    return [
        chosen
        for size in range(instance.size + 1)
        for chosen in combinations(units, size)
        if instance.min_length <= sum(int(instance.lengths[u]) for u in chosen) <= instance.max_length
    ]


def brute_force(instance: Coverage) -> tuple[int | None, list[tuple[int, ...]]]:
    """Best value and all sets that have it, sorted; None if no set is feasible."""
    valued = [(value_of(instance, chosen), chosen) for chosen in feasible_sets(instance)]
    if not valued:
        return None, []
    best = max(value for value, _ in valued)
    return best, sorted(chosen for value, chosen in valued if value == best)
