"""Instances without a limit of the length whose units fall into parts: each part is searched by itself.

No feature and no row has units of two parts, so an optimum is one of each part, all optima are all their combinations,
and bounds add up. Branch and bound by itself would search one part again for each selection of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any, Final

import numpy as np

from optsum.contracts.run import Limits
from optsum.coverage.instance import Coverage
from optsum.optima.diagram import EMPTY_SET, Diagram
from optsum.optima.optima import Optima
from optsum.system.clock import Deadline

from .recall import solve_recall

_LEAST: Final = 8  # Units of a part; smaller ones are searched together.


def solve_by_parts(
    coverage: Coverage,
    limits: Limits,
    deadline: Deadline,
    *,
    every: bool,
    at_most: Fraction | None = None,
    start: tuple[int, ...] | None = None,
) -> Optima:
    """Do what `solve_recall` does, part by part where there are several."""
    parts = parts_of(coverage) if limits.nodes is None and limits.gap is None and limits.target is None else []
    if len(parts) < 2:
        return solve_recall(coverage, limits, deadline, every=every, at_most=at_most, start=start)
    found: list[Optima] = []
    for number, units in enumerate(parts):
        time = deadline.within(deadline.left_s / (len(parts) - number))
        own = None if start is None else tuple(place for place, unit in enumerate(units) if unit in start)
        part = solve_recall(_part(coverage, units, first=not number), limits, time, every=every, start=own)
        found.append(part)
        if part.complete and not part:  # no selection keeps its rows
            return part
    value = sum(part.value for part in found) if all(found) else 0
    diagram = Diagram.of_sets([()])
    for units, part in zip(parts, found, strict=True):
        diagram = _times(part.diagram, units, diagram)
    bound = sum(part.bound or 0 for part in found)
    if not all(found):  # a bound must not look like the proof that there is nothing
        bound = max(bound, 1)
    if value != bound:  # then only one set is known to be good
        diagram = Diagram.of_sets(islice(diagram, 1))
    ended = next((part for part in found if not part.complete), found[0])
    statistics = _summed([part.statistics for part in found])
    return Optima(
        Diagram.of_nodes(diagram.nodes, diagram.root),
        value,
        bound,
        complete=ended.complete,
        termination=ended.termination,
        statistics={**statistics, "parts": len(parts)},
    )


def parts_of(coverage: Coverage) -> list[list[int]]:
    """Return the units of each part, sorted; none where a limit of the length may link them, or what is rare does.

    Examples
    --------
    >>> parts_of(Coverage.of([1] * 16, [{unit // 8: 1} for unit in range(16)], [[1], [1]]))
    [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]
    """
    limited = coverage.min_length > 0 or coverage.max_length < int(coverage.lengths.sum())
    linked = (coverage.parents >= 0).any() or coverage.joints or not all(row.units for row in coverage.rows)
    if limited or linked or coverage.ceilings or (coverage.mass < 0).any() or coverage.size < 2 * _LEAST:
        return []
    import networkx as nx

    size = coverage.size
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    holders = np.repeat(np.arange(size), np.diff(coverage.unit_start))
    graph.add_edges_from(zip(holders.tolist(), (coverage.unit_feature + size).tolist(), strict=True))
    for row in coverage.rows:
        nx.add_path(graph, row.units)
    found: list[list[int]] = []
    for part in sorted(nx.connected_components(graph), key=lambda part: (len(part), min(part))):
        units = [node for node in part if node < size]
        if found and len(found[-1]) < _LEAST:
            found[-1] += units
        else:
            found.append(units)
    return list(map(sorted, found))


def _part(coverage: Coverage, units: Sequence[int], *, first: bool) -> Coverage:
    """Return the instance of some units; what every selection is worth is counted in the first."""
    place = {unit: number for number, unit in enumerate(units)}
    held = [range(coverage.unit_start[unit], coverage.unit_start[unit + 1]) for unit in units]
    features = sorted({int(coverage.unit_feature[entry]) for entries in held for entry in entries})
    number = {feature: at for at, feature in enumerate(features)}
    return Coverage.of(
        coverage.lengths[list(units)].tolist(),
        [
            {number[int(coverage.unit_feature[entry])]: int(coverage.unit_count[entry]) for entry in entries}
            for entries in held
        ],
        [np.diff(coverage.level[coverage.level_start[f] : coverage.level_start[f + 1]]).tolist() for f in features],
        slots=coverage.slot[features].tolist(),
        constants=[int(coverage.constants[0]) if first else 0, *coverage.constants[1:].tolist()],
        mass=coverage.mass[:, list(units)].tolist(),
        weights=coverage.weights,
        combination=coverage.combination,
        rows=tuple(
            replace(row, units=tuple(place[unit] for unit in row.units))
            for row in coverage.rows
            if row.units[0] in place
        ),
    )


def _times(one: Diagram, units: Sequence[int], other: Diagram) -> Diagram:
    """Return all unions of a set of one diagram, whose units are numbered anew, and a set of another."""
    moved = one.nodes[2:].copy()
    shift = len(other.nodes) - 2
    moved[:, 0] = np.array(units, np.int32)[moved[:, 0]]
    moved[:, 1:] = np.where(moved[:, 1:] > EMPTY_SET, moved[:, 1:] + shift, moved[:, 1:] * other.root)
    root = one.root + shift if one.root > EMPTY_SET else one.root * other.root
    return Diagram(np.concatenate([other.nodes, moved]), root)


def _summed(statistics: Sequence[Any]) -> dict[str, Any]:
    """Add up numbers by name, also of tables in tables."""
    found: dict[str, Any] = {}
    for name, value in statistics[0].items():
        values = [one[name] for one in statistics if name in one]
        if isinstance(value, dict):
            found[name] = _summed(values)
        else:
            found[name] = sum(values) if isinstance(value, int | float) else value
    return found
