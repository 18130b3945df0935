"""Fields that an enumeration adds to the row of its first selection."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A row's fields on near-optimal selections."""

    near: str  # What was asked for, such as "within 1%".
    # The threshold as people read it: every set counted is worth as much (a cover is no longer); None where the best
    # value is not proven, so that there is none.
    at_least: float | None = None
    at_least_exact: str | None = None  # The same as it is compared, a fraction.
    # The different values, the best first, and how many sets have each; None where the sets are too many to be looked
    # at one and all, or not all there.
    value_counts: Sequence[tuple[float, int]] | None = None
    # Of the sets those that hold each unit, for units that occur; None where not all sets are there.
    unit_shares: Sequence[tuple[Any, float]] | None = None
    # Share of the sets without a unit that could be left out; None where not all sets are there.
    irredundant: float | None = None
    irredundant_error: float | None = None  # Its standard error; 0 where every set was looked at.

    def to_row(self) -> dict[str, Any]:
        """Return the fields of a row."""
        return {
            **{name: getattr(self, name) for name in _OF_NEAR},
            "value_counts": None if self.value_counts is None else [list(pair) for pair in self.value_counts],
            "unit_shares": None
            if self.unit_shares is None
            else [[listed(unit), share] for unit, share in self.unit_shares],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimaFields:
    """A row's fields on all optima."""

    # Selections there are, of any size: optima, or sets that are near. A lower bound if not `complete`, 0 where no
    # value is proven to be the optimum.
    count: int
    complete: bool  # Whether the count is exact.
    units: int | None = None  # Of the problem: the family is one of sets of these.
    minimal_count: int | None = None  # Sets that contain no other, where they were asked for.
    optima: Sequence[Any] | None = None  # Those that are listed.
    # always, never: units in all, and in none of the sets; None where that is not known.
    always: Sequence[Any] | None = None
    never: Sequence[Any] | None = None
    # sample, diverse: sets drawn at random, and sets that differ much, where they were asked for and all are known.
    sample: Sequence[Any] | None = None
    diverse: Sequence[Any] | None = None
    near: Near | None = None  # Where near-optimal sets were asked for.

    def to_row(self) -> dict[str, Any]:
        """Return the fields of a row: all but those that were not asked for."""
        row: dict[str, Any] = {"count": self.count, "complete": self.complete}
        if self.units is None:
            return row
        row["units"] = self.units
        if self.near is not None:
            row |= self.near.to_row()
        if self.minimal_count is not None:
            row["minimal_count"] = self.minimal_count
        for name in ("optima", "sample", "diverse"):
            if (sets := getattr(self, name)) is not None:
                row[name] = [_row_of(names) for names in sets]
        return {**row, "always": _row_of(self.always), "never": _row_of(self.never)}

    @classmethod
    def pop_from(cls, row: dict[str, Any]) -> OptimaFields | None:
        """Take the fields of an enumeration out of a row, if it is one."""
        if row.get("count") is None or row.get("complete") is None:
            return None
        own = {name: row.pop(name) for name in _OF_ALL if name != "near" and name in row}
        near = Near(**{name: row.pop(name) for name in _OF_NEAR if name in row}) if row.get("near") else None
        return cls(**own, near=near)


def _row_of(units: Sequence[Any] | None) -> list[Any] | None:
    return None if units is None else list(map(listed, units))


def listed(unit: Any) -> Any:
    """Return a unit as JSON has it: a part of a sentence, a tuple, as a list."""
    return list(unit) if isinstance(unit, tuple) else unit


_OF_NEAR = [item.name for item in dataclasses.fields(Near)]
_OF_ALL = [item.name for item in dataclasses.fields(OptimaFields)]
