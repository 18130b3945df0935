"""A frontier's result for every length: `Result.frontier`, and the field of that name in a row."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from optsum.contracts.enumeration import listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The best selection at the maximum lengths `first` to `last`, which rows call ``from`` and ``to``."""

    first: int
    last: int
    objective: float | None = None

    def to_row(self) -> dict[str, Any]:
        """Return the object of a row."""
        return {_IN_ROWS.get(item.name, item.name): getattr(self, item.name) for item in dataclasses.fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Reached):
    """The result that holds for the maximum lengths `first` to `last`.

    `objective`, `bound`: equal where it is proven; None where nothing fits.
    """

    bound: float | None = None
    # objective_exact, bound_exact: the same as fractions.
    objective_exact: str | None = None
    bound_exact: str | None = None
    selection: tuple[Any, ...] | None = None
    length: int | None = None  # Of the selection.
    gain: float | None = None  # By how much the objective is above the step before, for each unit of length more.
    count: int | None = None  # Optima at `first`; a lower bound if not `complete`.
    complete: bool | None = None  # None where optima were not asked for.

    def to_row(self) -> dict[str, Any]:
        """Return the object of a row."""
        row = Reached.to_row(self)
        if self.selection is not None:
            row["selection"] = list(map(listed, self.selection))
        if self.complete is None:
            del row["count"], row["complete"]
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """The best value at every length."""

    lengths: str  # Those that were asked for, such as "25:300:25".
    complete: bool  # Whether every step is proven.
    termination: str  # The limit that came first, or "completed".
    solves: int  # How many exact searches it took.
    steps: tuple[Step, ...]  # Ascending.
    greedy: tuple[Reached, ...] | None = None  # What greedy search reaches, ascending; None where it was not asked for.

    def to_row(self) -> dict[str, Any]:
        """Return the object of a row."""
        row = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        row["steps"] = [step.to_row() for step in self.steps]
        row["greedy"] = None if self.greedy is None else [one.to_row() for one in self.greedy]
        return {name: value for name, value in row.items() if value is not None}

    @classmethod
    def from_row(cls, row: object) -> Frontier | None:
        """Rebuild a frontier, the inverse of `to_row`; None for what is none: a row may hold anything by that name."""
        try:
            given = {item.name: row[item.name] for item in dataclasses.fields(cls) if item.name in row}  # type: ignore[index,operator]
            given["steps"] = tuple(_step(Step, one) for one in given["steps"])
            if given.get("greedy") is not None:
                given["greedy"] = tuple(_step(Reached, one) for one in given["greedy"])
            return cls(**given)
        except (KeyError, TypeError, ValueError):
            return None


def _step(kind: type[Any], row: Mapping[str, Any]) -> Any:
    names = {item.name: _IN_ROWS.get(item.name, item.name) for item in dataclasses.fields(kind)}
    given = {name: row[key] for name, key in names.items() if key in row}
    if not all(isinstance(given.get(name), int | float | None) for name in ("first", "last", *_VALUES)):
        raise TypeError("no number")
    if given.get("selection") is not None:
        given["selection"] = tuple(tuple(unit) if isinstance(unit, list) else unit for unit in given["selection"])
    return kind(**given)


_IN_ROWS: Final = {"first": "from", "last": "to"}
_VALUES: Final = ("objective", "bound", "length", "gain", "count")
