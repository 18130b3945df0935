"""What every set of a diagram is worth: totals of millions of sets, one flip after another."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.coverage.state import Arrays, empty_state, flip
from optsum.optima.diagram import Diagram


@njit(cache=True)
def _walk(arrays, state, nodes, root, longest, found):
    """Visit the sets in the order of `Diagram.__iter__`, and write down the totals of each."""
    way = np.empty(longest + 1, np.int64)
    stage = np.zeros(longest + 1, np.int8)
    depth = 0
    way[0] = root
    row = 0
    while depth >= 0:
        x = way[depth]
        if x <= 1:
            if x == 1:
                found[row] = state.totals
                row += 1
            depth -= 1
        elif stage[depth] == 0:
            flip(arrays, state, nodes[x, 0])
            stage[depth] = 1
            depth += 1
            way[depth] = nodes[x, 2]
            stage[depth] = 0
        elif stage[depth] == 1:
            flip(arrays, state, nodes[x, 0])
            stage[depth] = 2
            depth += 1
            way[depth] = nodes[x, 1]
            stage[depth] = 0
        else:
            depth -= 1
    return row


def totals_of_sets(arrays: Arrays, diagram: Diagram) -> IntArray:
    """Return the totals of every set, (sets, totals), in the diagram's order."""
    found = np.empty((diagram.count, len(arrays.constants)), np.int64)
    _walk(arrays, empty_state(arrays), diagram.nodes, diagram.root, len(diagram.nodes), found)
    return found


def chosen_sets(diagram: Diagram, wanted: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return those sets of a diagram that are marked, in its order."""
    return [units for units, marked in zip(diagram, wanted.tolist(), strict=True) if marked]
