"""Bits of words: how many are set, and which of them copies of a feature set."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types
from numba.extending import intrinsic

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit
from optsum.system.plain import stands_for

_LOW, _FIRST, _WIDTH, _BITS = 1, 2, 3, 4
_ALL = 2**64 - 1
_ONES_OF_16: Final = np.array([number.bit_count() for number in range(1 << 16)], np.uint8)


@intrinsic
def ones(typing_context: Any, word: Any) -> Any:
    """Return how many bits are set."""
    del typing_context, word

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@stands_for(ones)
def _ones(word: int) -> int:
    return (int(word) & _ALL).bit_count()


def many_ones(words: IntArray) -> IntArray:
    """Return how many bits are set in each word."""
    if hasattr(np, "bitwise_count"):  # since numpy 2.0; of signed integers it would count those of their magnitude
        return np.asarray(np.bitwise_count(words.view(np.uint64)), np.int64)
    return np.asarray(_ONES_OF_16[words.view(np.uint16)].reshape(-1, 4).sum(axis=1), np.int64)


@njit(cache=True)
def field_bits(field: Any, number: int, held: int, highest: int) -> Any:
    """Return the bits that so many copies set in a field: see `optsum.solvers.exhaustive.two_halves.halves.Halves`."""
    width, first = field[number, _WIDTH], field[number, _FIRST]
    shown = held - (field[number, _BITS] - (first + width - 1)) if highest else held - first + 1
    shown = min(max(shown, 0), width)
    bits = ((np.int64(1) << shown) - 1) << field[number, _LOW]
    return bits << (width - shown) if highest else bits
