"""One side constraint of an instance: a linear row over its units."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from optsum.errors import InputError
from optsum.whole import whole, whole_numbers

_NO_MINIMUM: Final = -(2**62)
"""The default of `low`, compared by identity, so that an equal number from a user counts as a number."""


@dataclass(frozen=True, slots=True)
class Row:
    """``low <= sum of the coefficients of the chosen units <= high``.

    Attributes
    ----------
    units : tuple of int
        Distinct units.
    coefficients : tuple of int
        One for each unit, not 0.
    low : int
        By default `least`, which means no minimum.
    high : int or None
        None for no maximum. If `low` is above `high`, no selection satisfies the row.
    name : str
        Meaning in words: "at most 3 sentences".

    Raises
    ------
    InputError
        If units, coefficients or limits are invalid.
    """

    units: tuple[int, ...]
    coefficients: tuple[int, ...]
    low: int = _NO_MINIMUM
    high: int | None = None
    name: str = ""

    def __post_init__(self) -> None:
        """Convert whole numbers exactly, and refuse an invalid row."""
        for name in ("units", "coefficients"):
            object.__setattr__(self, name, whole_numbers(getattr(self, name), f"Of the row {self.name!r}, {name} {{}}"))
        given = self.least if self.low is _NO_MINIMUM else self.low
        object.__setattr__(self, "low", whole(given, f"The minimum of the row {self.name!r}"))
        if self.high is not None:
            object.__setattr__(self, "high", whole(self.high, f"The maximum of the row {self.name!r}"))
        if len(self.units) != len(self.coefficients) or len(set(self.units)) != len(self.units):
            raise InputError(f"The row {self.name!r} needs each unit once, with one coefficient.")
        if 0 in self.coefficients:
            raise InputError(f"The row {self.name!r} has a coefficient of 0: leave the unit out.")

    @property
    def total(self) -> int:
        """The largest possible sum: that of the positive coefficients."""
        return sum([number for number in self.coefficients if number > 0])

    @property
    def least(self) -> int:
        """The smallest possible sum: that of the negative coefficients."""
        return sum([number for number in self.coefficients if number < 0])

    @property
    def binds(self) -> bool:
        """Whether some selection violates it."""
        return self.low > self.least or (self.high is not None and self.total > self.high)

    def held(self, chosen: Collection[int]) -> int:
        """Return the left side of the row for a set of units."""
        return sum(number for unit, number in zip(self.units, self.coefficients, strict=True) if unit in chosen)

    def outside(self, held: int) -> int:
        """Return how far a sum is outside the limits; 0 within."""
        return max(0, self.low - held, 0 if self.high is None else held - self.high)

    def excess(self, chosen: Collection[int]) -> int:
        """Return how far the sum of a set of units is outside the limits."""
        return self.outside(self.held(chosen))
