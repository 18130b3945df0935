"""The result of a search: two status axes, the incumbent, the best bound, and JSON both ways.

`Status` says what is held, `Termination` why the search stopped. A limit is named exactly when the search stopped
early; `optimal` is said only when proven.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from math import fsum
from operator import attrgetter
from sys import float_info
from typing import Any, Self

from optsum.contracts.enumeration import OptimaFields, listed
from optsum.contracts.frontier import Frontier
from optsum.contracts.row_values import check_row
from optsum.contracts.shown import Shown
from optsum.errors import InputError, UnsupportedError


class Status(StrEnum):
    """The state of a search at its end."""

    OPTIMAL = "optimal"
    """A selection that is proven to be best."""
    FEASIBLE = "feasible"
    """A selection within the limits; better ones may exist."""
    INFEASIBLE = "infeasible"
    """It is proven that no selection is within the limits."""
    NO_SOLUTION = "no_solution"
    """None was found, and it is not proven that none exists."""
    ERROR = "error"
    """The topic could not be searched; `Result.error` says why."""


class Termination(StrEnum):
    """Why the search stopped."""

    COMPLETED = "completed"
    """By itself: proven, or nothing left to try."""
    TIME_LIMIT = "time_limit"
    """`Limits.time_s` ran out."""
    MEMORY_LIMIT = "memory_limit"
    """There is no room for more; what was found by then is kept."""
    NODE_LIMIT = "node_limit"
    """`Limits.nodes` was reached."""
    EVALUATION_LIMIT = "evaluation_limit"
    """`Limits.evaluations` was reached."""
    GAP_REACHED = "gap_reached"
    """The gap is at most `Limits.gap`."""
    TARGET_REACHED = "target_reached"
    """The objective is at least as good as `Limits.target`."""
    INTERRUPTED = "interrupted"
    """Ctrl-C, or a callback that asked to stop."""
    FAILED = "failed"
    """An error; nothing is claimed."""


_GOOD_ENOUGH = {Termination.TARGET_REACHED, Termination.GAP_REACHED}


@dataclass(frozen=True, slots=True)
class TracePoint:
    """One improvement of the incumbent."""

    seconds: float
    evaluations: int
    objective: float


@dataclass(frozen=True, slots=True)
class Timing:
    """Where the time of a result went, in seconds; None for what was not measured. Part of ``statistics`` in a row."""

    text_s: float | None = None  # from the text to the problem
    search_s: float | None = None  # of the search, its bound included
    bound_s: float | None = None  # of a bound that is only a certificate
    # of what was loaded and compiled before, once a process; no part of ``Result.seconds``
    warm_up_s: float | None = None

    @property
    def answer_s(self) -> float:
        """From the text to the answer, without a bound that is only a certificate."""
        return (self.text_s or 0.0) + (self.search_s or 0.0) - (self.bound_s or 0.0)

    @staticmethod
    def total(timings: Iterable[Timing]) -> Timing:
        """Return the times of several searches together."""
        columns = zip(*map(dataclasses.astuple, timings), strict=True)
        return Timing(*(fsum(given) if (given := [s for s in column if s is not None]) else None for column in columns))


def relative_gap(objective: float | None, bound: float | None) -> float | None:
    """Return ``|bound - objective| / max(1e-10, |objective|)``, a finite number; None where either is missing."""
    if objective is None or bound is None:
        return None
    return min(abs(bound - objective) / max(1e-10, abs(objective)), float_info.max)


def is_posed(formulation: str | None) -> bool:
    """Return whether results of a formulation are of problems that were given as they are, without a text."""
    return formulation is not None and formulation.partition(":")[0] == "problem"


def labels_of(selection: Collection[Any], sentence_count: int | None) -> tuple[int, ...]:
    """Return 1 for each sentence that is selected, and 0 for each other.

    Examples
    --------
    >>> labels_of((0, 3), 5)
    (1, 0, 0, 1, 0)
    """
    if not sentence_count:
        raise UnsupportedError(
            "There are no numbered sentences to label: the topic has no documents, or calls its sentences by names."
        )
    labels = [0] * sentence_count
    for unit in selection:
        if unit not in range(sentence_count):
            raise UnsupportedError(
                f"Labels are given to whole sentences, which are numbered, and {unit!r} is none: select sentences by "
                "number, as the formulation extractive does."
            )
        labels[int(unit)] = 1
    return tuple(labels)


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Shown):
    """One search on one problem.

    Attributes
    ----------
    id : str or None
        Topic, ``topic#r`` where each reference is a problem of its own.
    formulation, metric : str or None
    strategy, backend : str
    status : Status
    termination : Termination
    detail : str or None
        More about the termination, such as the backend's own words.
    objective, bound : float or None
        Of the selection, and the best value proven to be possible; None where there is no selection, or where the
        problem offers no bound.
    objective_exact, bound_exact : str or None
        The same as exact fractions ``"p/q"``, by which results are compared.
    numerator, denominator : int or None
        Unreduced, where the objective is one ratio.
    selection : tuple or None
        Chosen units in the numbering of the input, in document order.
    sentence_count : int or None
        Sentences of the topic as it was searched, where `selection` numbers them; of a problem its units, which its row
        calls ``units``.
    length : int or None
        Summed length, in the unit of the problem's limits.
    summary : tuple of str or None
    rouge : mapping of metric name to recall, precision and f1, or None
        Official scores of the finished text.
    seconds : float
        Wall time from text to result.
    evaluations, nodes : int
    timing : Timing
    statistics : mapping
        Other counts of the strategy.
    trace : tuple of TracePoint
    seed : int or None
    version, config_hash : str or None
    signature : str or None
        The settings that two comparable results share, for a paper; None where no problem was built.
    error : str or None
    enumeration : OptimaFields or None
        Where all optima were asked for, of which this is the first.
    extra : mapping
        Further fields of the row.
    source : tuple of documents or None
        The sentences that were chosen from, for showing; no part of a row.
    """

    strategy: str
    status: Status
    termination: Termination
    id: str | None = None
    formulation: str | None = None
    backend: str | None = None
    metric: str | None = None
    detail: str | None = None
    objective: float | None = None
    bound: float | None = None
    objective_exact: str | None = None
    bound_exact: str | None = None
    numerator: int | None = None
    denominator: int | None = None
    selection: tuple[Any, ...] | None = None
    sentence_count: int | None = None
    length: int | None = None
    summary: tuple[str, ...] | None = None
    rouge: Mapping[str, Mapping[str, float]] | None = None
    seconds: float = 0.0
    seed: int | None = None
    evaluations: int = 0
    nodes: int = 0
    timing: Timing = Timing()
    statistics: Mapping[str, Any] = field(default_factory=dict)
    trace: tuple[TracePoint, ...] = ()
    version: str | None = None
    config_hash: str | None = None
    signature: str | None = None
    error: str | None = None
    enumeration: OptimaFields | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: Sequence[Sequence[str | Sequence[str]]] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse contradictions, so that no row ever claims two things."""
        status, termination = self.status, self.termination
        holds = status is Status.OPTIMAL or status is Status.FEASIBLE
        fails, ends_well = status is Status.ERROR, termination in _GOOD_ENOUGH
        wrong = {
            "a status that holds a selection goes with one, and no other does": holds != (self.selection is not None),
            "a selection has an objective": holds != (self.objective is not None),
            "an error says why, and nothing else does": fails != (self.error is not None),
            "an error and a failed search are the same": fails != (termination is Termination.FAILED),
            # An enumeration may know the optimum and still run out of time for all sets that reach it.
            "what is proven needs no more time": (status is Status.OPTIMAL or status is Status.INFEASIBLE)
            and not (termination is Termination.COMPLETED or ends_well)
            and self.enumeration is None,
            "what is good enough is held": ends_well and not holds,
            "an optimum is its own bound": status is Status.OPTIMAL and bool(self.gap),
            "a ratio has a numerator and a denominator": (self.numerator is None) != (self.denominator is None),
        }
        if any(wrong.values()):
            reason = next(reason for reason, contradicts in wrong.items() if contradicts)
            raise InputError(f"This result contradicts itself: {reason} ({status}, {termination}).")

    def changed(self, **values: Any) -> Self:
        """Return the result with other values, checked: `dataclasses.replace`, in a third of its time.

        Raises
        ------
        TypeError
            For a name that is no field.
        """
        made = object.__new__(type(self))
        held = vars(made)
        held.update(vars(self), **values)
        if len(held) != len(vars(self)):
            raise TypeError(f"A result has no field {next(name for name in values if name not in vars(self))!r}.")
        made.__post_init__()
        return made

    @property
    def gap(self) -> float | None:
        """``|bound - objective| / max(1e-10, |objective|)``; None where there is no bound or no selection."""
        if self.objective_exact is not None and self.objective_exact == self.bound_exact:
            return 0.0
        return relative_gap(self.objective, self.bound)

    @property
    def key(self) -> Fraction | float | None:
        """The objective as it is compared: exact where the problem is."""
        return Fraction(self.objective_exact) if self.objective_exact is not None else self.objective

    @property
    def bound_key(self) -> Fraction | float | None:
        """The bound as it is compared."""
        return Fraction(self.bound_exact) if self.bound_exact is not None else self.bound

    @property
    def frontier(self) -> Frontier | None:
        """The best value at every length, for a result of `optsum.frontier`."""
        return Frontier.from_row(self.extra.get("frontier"))

    @property
    def missed(self) -> list[Any] | None:
        """The claims that the selection does not support, for a cover with a budget."""
        return self.extra.get("missed")

    @property
    def greedy(self) -> Mapping[str, Any] | None:
        """Objective, numerator, length and selection of greedy search, for a result of `optsum.context`."""
        return self.extra.get("greedy")

    @property
    def reference(self) -> int | None:
        """The number of the best reference, where the best of several was wanted and a selection is held."""
        return self.extra.get("reference")

    @property
    def feasible(self) -> int | None:
        """Number of selections within the limits, if the strategy visited all of them."""
        return self.extra.get("feasible")

    @property
    def estimate_s(self) -> float | None:
        """How many seconds a visit of all selections takes, where the strategy has estimated that."""
        return self.statistics.get("estimate_s")

    @property
    def warning(self) -> str | None:
        """One sentence about the topic that puts its result in doubt, such as letters that the tokenizer drops."""
        return self.statistics.get("warning")

    def labels(self) -> tuple[int, ...] | None:
        """Return 1 for each sentence of the topic that is selected and 0 for each that is not, in document order.

        None where no selection is held.

        Raises
        ------
        UnsupportedError
            If what was selected is not whole sentences of the topic's documents: parts of sentences, or names.
        """
        return None if self.selection is None else labels_of(self.selection, self.sentence_count)

    def to_row(self) -> dict[str, Any]:
        """Return the result as the JSON object of one output row."""
        row: dict[str, Any] = dict(zip(_ROW_ORDER, _row_values(self), strict=True))
        row["status"] = self.status.value
        row["termination"] = self.termination.value
        row["selection"] = None if self.selection is None else list(map(listed, self.selection))
        row["summary"] = None if self.summary is None else list(self.summary)
        row["rouge"] = None if self.rouge is None else {name: dict(values) for name, values in self.rouge.items()}
        times = {name: seconds for name in _TIMES if (seconds := getattr(self.timing, name)) is not None}
        row["statistics"] = {**self.statistics, **times}
        row["trace"] = [[point.seconds, point.evaluations, point.objective] for point in self.trace]
        if is_posed(self.formulation):
            row["units"] = row["sentence_count"]
            row = {name: value for name, value in row.items() if name not in _OF_TEXTS}
        return {**row, **({} if self.enumeration is None else self.enumeration.to_row()), **self.extra}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Result:
        """Rebuild a result from its row; the inverse of `to_row`.

        Raises
        ------
        InputError
            If the row lacks a field, has one of another kind, or contradicts itself.
        """
        check_row(row, _TIMES)
        values = {name: value for name, value in row.items() if name in _FIELDS and value is not None}
        try:
            values["status"], values["termination"] = Status(row["status"]), Termination(row["termination"])
        except ValueError as error:
            raise InputError(f"this is no result row of optsum: {error}") from error
        if "selection" in values:
            values["selection"] = tuple(tuple(unit) if isinstance(unit, list) else unit for unit in row["selection"])
        if "summary" in values:
            values["summary"] = tuple(row["summary"])
        values["trace"] = tuple(TracePoint(*point) for point in values.get("trace", ()))
        others = {name: value for name, value in row.items() if name not in {*_FIELDS, "gap"}}
        if is_posed(row.get("formulation")) and (units := row.get("units")) is not None:
            values["sentence_count"] = units
        values["enumeration"] = OptimaFields.pop_from(others)
        if values["enumeration"] is None and "sentence_count" in values:
            others.pop("units", None)
        statistics = dict(values.get("statistics", {}))
        values["timing"] = Timing(**{name: statistics.pop(name) for name in _TIMES if name in statistics})
        values["statistics"], values["extra"] = statistics, others
        return cls(**values)


_NO_COLUMN = {"timing", "enumeration", "extra", "source"}
"""Fields that a row holds as statistics, as fields of their own, or not at all."""
_OF_TEXTS = {"metric", "numerator", "denominator", "rouge", "sentence_count"}
"""Fields that a row of a problem without a text does not have."""
_FIELDS = [item.name for item in dataclasses.fields(Result) if item.name not in _NO_COLUMN]
_TIMES = tuple(item.name for item in dataclasses.fields(Timing))
_FIRST = (
    "id", "formulation", "strategy", "backend", "metric", "status", "termination", "objective", "bound", "gap",
    "numerator", "denominator", "selection", "length", "summary", "rouge", "seconds", "seed", "evaluations", "nodes",
    "version", "config_hash", "signature", "error",
)  # fmt: skip
_ROW_ORDER = (*_FIRST, *(name for name in _FIELDS if name not in _FIRST))
_row_values = attrgetter(*_ROW_ORDER)
