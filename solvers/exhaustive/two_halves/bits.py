"""Bits of words: how many are set, and which of them copies of a feature set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from optsum.system.compiled import njit
from optsum.system.plain import stands_for

_LOW, _FIRST, _WIDTH, _BITS = 1, 2, 3, 4
_ALL = 2**64 - 1


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


@njit(cache=True)
def field_bits(field: Any, number: int, held: int, highest: int) -> Any:
    """Return the bits that so many copies set in a field: see `optsum.solvers.exhaustive.two_halves.halves.Halves`."""
    width, first = field[number, _WIDTH], field[number, _FIRST]
    shown = held - (field[number, _BITS] - (first + width - 1)) if highest else held - first + 1
    shown = min(max(shown, 0), width)
    bits = ((np.int64(1) << shown) - 1) << field[number, _LOW]
    return bits << (width - shown) if highest else bits
