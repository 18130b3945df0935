"""A depth-first search that can be left and taken up again: its memo, its counters, and the way it is on."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.optima.diagram import EMPTY_FAMILY
from optsum.system.compiled import njit

from .reduction import mix
from .store import NodeStore

DONE: Final = 0
PAUSED: Final = 1
FULL: Final = 2
FOUND: Final = 3
WANTED: Final = 4

_SLICE_NODES: Final = 1024
_SMALL_MEMO: Final = 1 << 12


@njit(cache=True, inline="always")
def _place_of(memo_key, memo_node, a, b):
    """Return where a memo has a key, or will, and the node that it has there; -1 where it has none."""
    mask = np.uint64(len(memo_node) - 1)
    at = mix(a ^ b) & mask
    place = np.int64(at)
    for probe in range(8):
        place = np.int64((at + np.uint64(probe)) & mask)
        if memo_node[place] < 0:
            break
        if memo_key[place, 0] == a and memo_key[place, 1] == b:
            return place, np.int64(memo_node[place])
    return place, np.int64(-1)


@njit(cache=True, inline="always")
def recalled(memo_key, memo_node, keys, x, d, filled, opened, gain):
    """Write the memo's key of frame x, which is to decide place d, and return what `_place_of` says of it.

    The key is of the place, of what can be filled and, unless the frame is open, of gain and state.
    """
    a = np.uint64(d) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(filled)
    if opened:
        a = mix(a ^ np.uint64(0x5555555555555555))
        b = mix(a)
    else:
        a = mix(a) + np.uint64(gain)
        b = mix(a ^ np.uint64(0x1234567812345678)) ^ keys[x, 1]
        a = mix(a) ^ keys[x, 0]
    keys[x, 2] = a
    keys[x, 3] = b
    return _place_of(memo_key, memo_node, a, b)


@njit(cache=True)
def _move_memo(old_key, old_node, new_key, new_node, frame, keys, depth):
    """Copy a memo into a larger one and tell the open frames their new places."""
    mask = np.uint64(len(new_node) - 1)
    for x in range(len(old_node)):
        if old_node[x] >= 0:
            place, _ = _place_of(new_key, new_node, old_key[x, 0], old_key[x, 1])
            new_node[place] = old_node[x]
            for part in range(2):  # rows assigned at once would compile all that numba has of slices
                new_key[place, part] = old_key[x, part]
    for d in range(depth):
        frame[d, 5] = np.int64(mix(keys[d, 2] ^ keys[d, 3]) & mask)


def _empty_memo(slots: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    return np.empty((slots, 2), np.uint64), np.full(slots, -1, np.int32)


class Search:
    """What every search has around its kernel.

    Parameters
    ----------
    kernel : callable
        Called with `fixed`, the way, the memo, the store's arrays, the counters and a number of frames.
    fixed : tuple
        What the kernel is always given before these.
    ids : (n,)
        What the diagram calls the unit at each place of the order.
    way : frame, keys, stage, each (at least n + 1, ...)
        The way to the current frame: ``frame[x, 4]`` is the node of the sets without the unit, ``keys[x, 2:]`` and
        ``frame[x, 5]`` the memo's key and place, ``stage[x]`` is 1 while the sets with the unit are searched.
    """

    def __init__(
        self,
        kernel: Any,
        fixed: tuple[Any, ...],
        store: NodeStore,
        ids: IntArray,
        way: tuple[IntArray, NDArray[np.uint64], NDArray[np.int8]],
    ) -> None:
        self._kernel, self._fixed = kernel, fixed
        self._store, self._ids = store, ids
        self._way = self._frame, self._keys, self._stage = way
        self._memo = _empty_memo(_SMALL_MEMO)
        self._counters = np.zeros(7, np.int64)

    @property
    def frames(self) -> int:
        """Frames entered so far."""
        return int(self._counters[2])

    @property
    def hits(self) -> int:
        """Frames that met an equal state."""
        return int(self._counters[4])

    @property
    def fruitful(self) -> int:
        """Frames whose family is not empty."""
        return int(self._counters[5])

    @property
    def root(self) -> int:
        """The node that the finished search returned."""
        return int(self._counters[3])

    def grow_memo(self, slots: int) -> None:
        """Make the memo at least `slots` places large (a power of two)."""
        if slots > len(self._memo[1]):
            larger = _empty_memo(slots)
            _move_memo(*self._memo, *larger, self._frame, self._keys, int(self._counters[1]))
            self._memo = larger

    def run(self, budget: int) -> int:
        """Enter up to `budget` more frames; return the kernel's answer, which is not `FULL`."""
        counters, store = self._counters, self._store
        while True:
            store.reserve(len(self._ids) + _SLICE_NODES)
            before = self.frames
            counters[0] = store.counters[0]
            answer = self._kernel(*self._fixed, self._way, self._memo, (store.nodes, store.slots), counters, budget)
            store.counters[0] = counters[0]
            budget -= self.frames - before
            if answer == FULL:
                store.reserve(len(store.nodes))
            else:
                return int(answer)

    def _unit(self, x: int) -> int:
        """Return the unit that frame x is about."""
        return int(self._ids[x])

    def path(self) -> list[int]:
        """Units taken on the way to the current frame."""
        return [self._unit(x) for x in range(int(self._counters[1])) if self._stage[x] == 1]

    def partial(self) -> int:
        """Node of the sets that an unfinished search has found."""
        node = EMPTY_FAMILY
        # An interrupt may have come before the kernel's nodes were counted.
        self._store.counters[0] = max(self._store.counters[0], self._counters[0])
        for x in range(int(self._counters[1]) - 1, -1, -1):
            if self._stage[x] == 1:
                node = self._store.node(self._unit(x), EMPTY_FAMILY, node)
            else:
                node = self._store.node(self._unit(x), node, int(self._frame[x, 4]))
        return node
