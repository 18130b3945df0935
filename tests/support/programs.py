"""Compute by definition the values of sets of units in a program of the exact engine, and which sets are feasible."""

from __future__ import annotations

from optsum.solvers.engine.core import Program
from trying import every_set


def value_of(program: Program, chosen: tuple[int, ...]) -> int:
    """Return the value of a set of units, by definition."""
    copies: dict[int, int] = {}
    total = program.base + sum(int(program.mass[unit]) for unit in chosen)
    for unit in chosen:
        for k in range(program.unit_start[unit], program.unit_start[unit + 1]):
            feature = int(program.unit_feature[k])
            copies[feature] = copies.get(feature, 0) + int(program.unit_count[k])
    for joint in program.joints:
        if set(joint.needs) <= set(chosen) and not set(joint.vetoes) & set(chosen):
            copies[joint.feature] = copies.get(joint.feature, 0) + joint.count
    for feature, count in copies.items():
        table = program.table[program.table_start[feature] : program.table_start[feature + 1]].tolist()
        total += table[min(count, len(table) - 1)]
    return total


def values_of(program: Program) -> dict[tuple[int, ...], int]:
    """Return the value of every set of units that is closed under parents and within the length limits."""
    return {
        chosen: value_of(program, chosen)
        for chosen in every_set(program.size)
        if program.min_length <= sum(int(program.lengths[unit]) for unit in chosen) <= program.max_length
        and all(program.parents[unit] in {-1, *chosen} for unit in chosen)
    }
