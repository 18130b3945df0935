"""Amounts of memory, as people write them."""

from __future__ import annotations

import re
from typing import Final

LEAST_MEMORY: Final = 500_000_000
"""Bytes without which a process is not ready for any topic: kernels and a solver are loaded."""

_UNITS: Final = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?i?)b?", re.ASCII | re.IGNORECASE)


def parse_size(text: str) -> int:
    """Return a number of bytes.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1.5 GiB")
    (2000000000, 1610612736)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError("give a number and a unit, such as 2GB or 512MB")
    return int(float(match[1]) * _UNITS[match[2].lower()])
