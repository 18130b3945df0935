"""The result of a search: its status, the best selection and bound, and its conversion from and to JSON.

`Status` describes the answer, `Termination` why the search stopped. The termination is a limit if and only if a limit
stopped the search; the status is `optimal` only with a proof.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from functools import partial
from itertools import islice
from math import fsum, inf, isfinite
from operator import attrgetter
from sys import float_info
from typing import Any, Final, Self

from optsum.errors import InputError, UnsupportedError, visible
from optsum.system.clock import Termination
from optsum.system.notebook import Words, facts, kept_words, marked_text
from optsum.whole import unchecked

_FRACTION = re.compile(r"-?\d{1,4000}(/0*[1-9]\d{0,3999})?", re.ASCII)  # Python refuses integers of over 4,300 digits.
_IN_ROWS: Final = {"first": "from", "last": "to"}
_NUMBERS: Final = ("first", "last", "objective", "bound", "length", "gain", "count")
_GOOD_ENOUGH = {Termination.TARGET_REACHED, Termination.GAP_REACHED}
_SHOWN_UNITS: Final = 20  # Number of units of a selection that the representation shows.
_PLACE: Final = re.compile(r"^.*?:\d+: ")
# Attributes of a result that are no field of a row under the same name.
_NO_COLUMN = {"timing", "enumeration", "extra", "source"}
# Fields that a row of a problem without a text lacks.
_OF_TEXTS = {"metric", "numerator", "denominator", "rouge", "sentence_count"}
_FIRST = (
    "id", "formulation", "strategy", "backend", "metric", "status", "termination", "objective", "bound", "gap",
    "numerator", "denominator", "selection", "length", "summary", "rouge", "seconds", "seed", "evaluations", "nodes",
    "version", "config_hash", "signature", "error",
)  # fmt: skip


def _whole(value: Any, least: float = -inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(value: Any, least: float = -inf) -> bool:
    if isinstance(value, float):
        return isfinite(value) and value >= least
    return _whole(value, least) and value.bit_length() < 1024  # can be converted to a finite float


def _count(value: Any) -> bool:
    return _amount(value) or (isinstance(value, str) and bool(re.fullmatch(r"\d+", value, re.ASCII)))


def _ratio(value: Any) -> bool:
    return isinstance(value, str) and bool(_FRACTION.fullmatch(value))


def _unit(value: Any) -> bool:
    return _whole(value) or isinstance(value, str) or _fits([_unit], value)


def _fits(kind: Any, value: Any) -> bool:
    """Return whether a value is of a kind: a class, a predicate, ``[kind]``, ``(kind, kind)`` or ``{str: kind}``."""
    if isinstance(kind, type):
        return isinstance(value, kind)
    if isinstance(kind, dict):
        return isinstance(value, Mapping) and _fits([str], [*value]) and _fits([kind[str]], [*value.values()])
    if isinstance(kind, list):
        return isinstance(value, list | tuple) and all(_fits(kind[0], each) for each in value)
    if isinstance(kind, tuple):
        return isinstance(value, list | tuple) and len(value) == len(kind) and all(map(_fits, kind, value))
    return bool(kind(value))


_amount, _positive = partial(_whole, least=0), partial(_number, least=0)
_TESTS: Final[dict[str, tuple[Any, str]]] = {
    name: (kind, words)
    for kind, words, names in (
        (str, "text", "id formulation strategy backend metric status termination detail version config_hash signature"),
        (str, "text", "error near"),
        (_number, "a finite number", "objective bound at_least irredundant irredundant_error"),
        (_positive, "a finite number from 0", "gap seconds"),
        (_ratio, 'a fraction such as "3/7"', "objective_exact bound_exact at_least_exact"),
        (_whole, "a whole number", "numerator denominator seed"),
        (_amount, "a whole number from 0", "length evaluations nodes sentence_count units"),
        ([_unit], "a list of units", "selection always never"),
        ([[_unit]], "a list of lists of units", "optima sample diverse"),
        ([(_number, _count)], "a list of [objective, count]", "value_counts"),
        ([(_unit, _number)], "a list of [unit, share]", "unit_shares"),
        ([str], "a list of sentences", "summary"),
        ({str: {str: _number}}, "an object of metrics, each with numbers by name", "rouge"),
        ([(_number, _amount, _number)], "a list of [seconds, evaluations, objective]", "trace"),
        ({str: object}, "an object", "statistics"),
        (_count, "a whole number from 0", "count minimal_count"),
        (bool, "true or false", "complete"),
    )
    for name in names.split()
}


def check_row(row: object, times: tuple[str, ...]) -> None:
    """Raise `InputError` if a row has a form that optsum never writes; `times`: names of statistics in seconds."""
    if not isinstance(row, Mapping):
        raise InputError(f"this is not a result row of optsum but {type(row).__name__}; give an object")
    for name in ("strategy", "status", "termination"):
        if row.get(name) is None:
            raise InputError(f"this is not a result row of optsum: it has no {name}")
    for name, (kind, words) in _TESTS.items():
        value = row.get(name)
        if value is None:
            continue
        try:
            fits = _fits(kind, value)
        except RecursionError:
            fits = False
        if not fits:
            raise InputError(f"this is not a result row of optsum: {name} is {_shown(value)}, not {words}")
    for name in times:
        value = (row.get("statistics") or {}).get(name)
        if value is not None and not _positive(value):
            raise InputError(f"this is not a result row of optsum: statistics.{name} is {_shown(value)}, not seconds")


def _shown(value: Any) -> str:
    if _whole(value) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"
    return f"{value!a:.60}" if isinstance(value, str | int | float) else f"of type {type(value).__name__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimaFields:
    """The fields of a row about all optimal, or all near-optimal, selections, which are called sets (of units) here."""

    # Number of sets. A lower bound if not `complete`; 0 if the best value is not proven.
    count: int
    complete: bool  # Whether the count is exact.
    units: int | None = None  # Number of units of the problem.
    minimal_count: int | None = None  # Number of sets that contain no other counted set, if requested.
    optima: Sequence[Any] | None = None  # The listed sets, if requested.
    # Units that are in all sets, and in no set; None if not all sets are known.
    always: Sequence[Any] | None = None
    never: Sequence[Any] | None = None
    # Sets drawn at random, and sets that differ much from one another, if requested and all sets are known.
    sample: Sequence[Any] | None = None
    diverse: Sequence[Any] | None = None
    near: str | None = None  # The requested threshold of near-optimal sets, such as "within 1%".
    # The value that every counted set reaches (the length that no cover exceeds); None if the best value is not proven.
    at_least: float | None = None
    at_least_exact: str | None = None  # The threshold as an exact fraction, by which values are compared.
    # The different values, the best first, with the number of sets that have each; None if not all sets are known, or
    # there are too many to evaluate.
    value_counts: Sequence[tuple[float, int]] | None = None
    # The share of sets that contain each unit, for units that occur; None if not all sets are known.
    unit_shares: Sequence[tuple[Any, float]] | None = None
    # The share of irredundant sets, which need every unit (`optsum.optima.tally`); None if not all sets are known.
    irredundant: float | None = None
    irredundant_error: float | None = None  # Its standard error; 0 if every set was tested.

    def to_row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"count": self.count, "complete": self.complete}
        if self.units is None:
            return row
        row["units"] = self.units
        if self.near is not None:
            row |= {name: getattr(self, name) for name in _OF_NEAR}
            for name in ("value_counts", "unit_shares"):
                row[name] = None if row[name] is None else [[listed(first), second] for first, second in row[name]]
        if self.minimal_count is not None:
            row["minimal_count"] = self.minimal_count
        for name in ("optima", "sample", "diverse"):
            if (sets := getattr(self, name)) is not None:
                row[name] = [_row_of(names) for names in sets]
        return {**row, "always": _row_of(self.always), "never": _row_of(self.never)}

    @classmethod
    def pop_from(cls, row: dict[str, Any]) -> OptimaFields | None:
        if row.get("count") is None or row.get("complete") is None:
            return None
        others = () if row.get("near") else _OF_NEAR
        found = {name: row.pop(name) for name in _OF_ALL if name in row and name not in others}
        for name in ("optima", "sample", "diverse"):
            if found.get(name) is not None:
                found[name] = list(map(_units_of, found[name]))
        for name in ("always", "never"):
            if found.get(name) is not None:
                found[name] = _units_of(found[name])
        if found.get("unit_shares") is not None:
            units, shares = zip(*found["unit_shares"], strict=True) if found["unit_shares"] else ((), ())
            found["unit_shares"] = list(zip(_units_of(units), shares, strict=True))
        return cls(**found)


def _row_of(units: Sequence[Any] | None) -> list[Any] | None:
    return None if units is None else list(map(listed, units))


def _units_of(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tuple(unit) if isinstance(unit, list) else unit for unit in row)


def _names(kind: Any) -> list[str]:
    return [item.name for item in fields(kind)]


def listed(unit: Any) -> Any:
    """Return the name of a unit for JSON: a tuple, which names a part of a sentence, becomes a list."""
    return list(unit) if isinstance(unit, tuple) else unit


_OF_ALL = _names(OptimaFields)
_OF_NEAR = _OF_ALL[_OF_ALL.index("near") :]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The objective reached at the maximum lengths from `first` to `last`, which rows call ``from`` and ``to``."""

    first: int
    last: int
    objective: float | None = None

    def to_row(self) -> dict[str, Any]:
        row = {_IN_ROWS.get(name, name): getattr(self, name) for name in _names(self)}
        if "selection" in row:
            row["selection"] = _row_of(row["selection"])
        without = {"count", "complete"} if row.get("complete") is None else ()
        return {name: value for name, value in row.items() if name not in without}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        given = {name: row[key] for name in _names(cls) if (key := _IN_ROWS.get(name, name)) in row}
        if not all(isinstance(given.get(name), int | float | None) for name in _NUMBERS):
            raise TypeError("no number")
        if given.get("selection") is not None:
            given["selection"] = _units_of(given["selection"])
        return cls(**given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Reached):
    """The best selection at the maximum lengths from `first` to `last`.

    `objective` and `bound` are equal if the selection is proven optimal, and None if no selection fits.
    """

    bound: float | None = None
    # Objective and bound as fractions.
    objective_exact: str | None = None
    bound_exact: str | None = None
    selection: tuple[Any, ...] | None = None
    length: int | None = None  # The length of the selection.
    gain: float | None = None  # Increase of the objective from the step before, divided by the additional length.
    count: int | None = None  # Number of optima at the length `first`; a lower bound if not `complete`.
    complete: bool | None = None  # Whether `count` is exact; None if optima were not requested.


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """The best value at each of several maximum lengths."""

    lengths: str  # The requested lengths, such as "25:300:25".
    complete: bool  # Whether every step is proven optimal.
    termination: str  # The limit that was reached first, or "completed".
    solves: int  # Number of exact searches.
    steps: tuple[Step, ...]  # In ascending order of lengths.
    greedy: tuple[Reached, ...] | None = None  # The objectives of greedy search, ascending; None if not requested.

    def to_row(self) -> dict[str, Any]:
        row = {name: value for name in _names(self) if (value := getattr(self, name)) is not None}
        return row | {name: [one.to_row() for one in row[name]] for name in ("steps", "greedy") if name in row}

    @classmethod
    def from_row(cls, row: object) -> Frontier | None:
        """Rebuild a frontier that `to_row` wrote; return None for any other value, such as one that a user added."""
        try:
            given = {name: row[name] for name in _names(cls) if name in row}  # type: ignore[index,operator]
            given["steps"] = tuple(map(Step.from_row, given["steps"]))
            if given.get("greedy") is not None:
                given["greedy"] = tuple(map(Reached.from_row, given["greedy"]))
            return cls(**given)
        except (KeyError, TypeError, ValueError):
            return None


class Status(StrEnum):
    """The state of the answer at the end of a search: proven, found, impossible or unknown."""

    OPTIMAL = "optimal"
    """The selection is proven to be a best one."""
    FEASIBLE = "feasible"
    """The selection satisfies all limits; better ones may exist."""
    INFEASIBLE = "infeasible"
    """It is proven that no selection satisfies all limits."""
    NO_SOLUTION = "no_solution"
    """No selection was found, and it is not proven that none exists."""
    ERROR = "error"
    """The topic could not be searched; `Result.error` says why."""


@dataclass(frozen=True, slots=True)
class TracePoint:
    """An improvement of the incumbent."""

    seconds: float  # Since the search started.
    evaluations: int  # Selections evaluated so far.
    objective: float  # The new best objective.


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds for each part of the work on a result, None if not measured; a row has them in ``statistics``."""

    text_s: float | None = None  # Building the problem from the text.
    search_s: float | None = None  # The search, including `bound_s`.
    bound_s: float | None = None  # Computing a bound after a search that proves nothing.
    # Loading and compiling before the first search of a process; not included in `Result.seconds`.
    warm_up_s: float | None = None

    @property
    def answer_s(self) -> float:
        """Seconds for building the problem and searching, without `bound_s`."""
        return (self.text_s or 0.0) + (self.search_s or 0.0) - (self.bound_s or 0.0)

    @staticmethod
    def total(timings: Iterable[Timing]) -> Timing:
        columns = zip(*((one.text_s, one.search_s, one.bound_s, one.warm_up_s) for one in timings), strict=True)
        return Timing(*(fsum(given) if (given := [s for s in column if s is not None]) else None for column in columns))


def unit_text(unit: Any) -> str:
    """Return the name of a unit for display: "3", or "3.1" for a part of a sentence."""
    return ".".join(map(str, unit)) if isinstance(unit, tuple) else str(unit)


def relative_gap(objective: float | None, bound: float | None) -> float | None:
    """Return ``|bound - objective| / max(1e-10, |objective|)`` as a finite number; None if either is None."""
    if objective is None or bound is None:
        return None
    return min(abs(bound - objective) / max(1e-10, abs(objective)), float_info.max)


def is_posed(formulation: str | None) -> bool:
    """Return whether a formulation's name says that the problem was given without a text ("problem", "problem:...")."""
    return formulation is not None and formulation.partition(":")[0] == "problem"


def labels_of(selection: Collection[Any], sentence_count: int | None) -> tuple[int, ...]:
    """Return 1 for each sentence that is selected, and 0 for each that is not.

    >>> labels_of((0, 3), 5)
    (1, 0, 0, 1, 0)
    """
    if not sentence_count:
        raise UnsupportedError(
            "There are no numbered sentences to label: the topic has no documents, or names its sentences."
        )
    labels = [0] * sentence_count
    for unit in selection:
        if unit not in range(sentence_count):
            raise UnsupportedError(
                f"Labels are for whole, numbered sentences, which {unit!r} is not: select sentences by "
                "number, as the formulation extractive does."
            )
        labels[int(unit)] = 1
    return tuple(labels)


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """The result of one search on one problem.

    Attributes
    ----------
    id : str or None
        The topic's id; ``id#r`` if reference r is a problem by itself.
    formulation, metric : str or None
    strategy, backend : str
        The strategy that searched, and its solver; the latter is None if it used none.
    status : Status
    termination : Termination
    detail : str or None
        More about the termination, such as a message of the solver.
    objective, bound : float or None
        Value of the selection, and a proven limit of all values; None without a selection, or without a bound.
    objective_exact, bound_exact : str or None
        Objective and bound as exact fractions ``"p/q"``, by which results are compared.
    numerator, denominator : int or None
        The unreduced ratio, if the objective is a single ratio.
    selection : tuple or None
        Chosen units in the numbering of the input, in document order.
    sentence_count : int or None
        Number of sentences of the searched topic if `selection` numbers them; for a problem, its number of units,
        called ``units`` in a row.
    length : int or None
        Length of the selection, in the unit of the length limits.
    summary : tuple of str or None
        Text of each selected sentence.
    rouge : mapping of metric name to recall, precision and f1, or None
        Official ROUGE scores of the text of the summary.
    seconds : float
        Wall time from text to result.
    evaluations, nodes : int
        Numbers of evaluated selections, and of nodes of the search tree.
    timing : Timing
    statistics : mapping
        Other counts of the strategy, by name.
    trace : tuple of TracePoint
    seed : int or None
    version, config_hash : str or None
        Version of optsum, and `Options.config_hash`.
    signature : str or None
        A short text of the settings that comparable results must share; None if no problem was built.
    error : str or None
        Why the topic could not be searched, if the status is ERROR.
    enumeration : OptimaFields or None
        All optima, if they were requested; the selection is the first of them.
    extra : mapping
        Further fields of the row.
    source : tuple of documents or None
        The sentences of each document of the topic, for display; not part of a row.
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
        status, termination = self.status, self.termination
        holds = status is Status.OPTIMAL or status is Status.FEASIBLE
        fails, ends_well = status is Status.ERROR, termination in _GOOD_ENOUGH
        wrong = {
            "the status must say whether there is a selection": holds != (self.selection is not None),
            "a selection has an objective": holds != (self.objective is not None),
            "an error needs a reason, and other results have none": fails != (self.error is not None),
            "only a failed search is an error": fails != (termination is Termination.FAILED),
            # An enumeration may prove the optimum, and then reach a limit before it has found all optima.
            "a proven result was not stopped by a limit": (status is Status.OPTIMAL or status is Status.INFEASIBLE)
            and not (termination is Termination.COMPLETED or ends_well)
            and self.enumeration is None,
            "a target or gap that was reached needs a selection": ends_well and not holds,
            "the bound of an optimum must equal it": status is Status.OPTIMAL and bool(self.gap),
            "a ratio has a numerator and a denominator": (self.numerator is None) != (self.denominator is None),
        }
        if any(wrong.values()):
            reason = next(reason for reason, contradicts in wrong.items() if contradicts)
            raise InputError(f"This result contradicts itself: {reason} ({status}, {termination}).")

    def changed(self, **values: Any) -> Self:
        """Return a copy with other values of some fields, and check it; faster than `dataclasses.replace`.

        Raises
        ------
        TypeError
            For a name that is not a field.
        InputError
            If the new values contradict one another.
        """
        made = unchecked(type(self), vars(self), values)
        if len(vars(made)) != len(vars(self)):
            raise TypeError(f"A result has no field {next(name for name in values if name not in vars(self))!r}.")
        made.__post_init__()
        return made

    @property
    def gap(self) -> float | None:
        """``|bound - objective| / max(1e-10, |objective|)``; None without a bound or a selection."""
        if self.objective_exact is not None and self.objective_exact == self.bound_exact:
            return 0.0
        return relative_gap(self.objective, self.bound)

    @property
    def key(self) -> Fraction | float | None:
        """The objective for comparisons, exact if the problem has exact values; None without a selection."""
        return Fraction(self.objective_exact) if self.objective_exact is not None else self.objective

    @property
    def bound_key(self) -> Fraction | float | None:
        """The bound for comparisons, exact if the problem has exact values; None without a bound."""
        return Fraction(self.bound_exact) if self.bound_exact is not None else self.bound

    @property
    def frontier(self) -> Frontier | None:
        """The best value at every length in a result of `optsum.frontier`, otherwise None."""
        return Frontier.from_row(self.extra.get("frontier"))

    @property
    def missed(self) -> list[Any] | None:
        """The sentences of the abstract that the selection does not support, for a cover with a maximum length."""
        return self.extra.get("missed")

    @property
    def greedy(self) -> Mapping[str, Any] | None:
        """Objective, numerator, length and selection of greedy search, in a result of `optsum.context`."""
        return self.extra.get("greedy")

    @property
    def reference(self) -> int | None:
        """With ``references="best"``, the number (from 0) of the best reference; None without a selection."""
        return self.extra.get("reference")

    @property
    def feasible(self) -> int | None:
        """Number of feasible selections if the strategy visited all of them, otherwise None."""
        return self.extra.get("feasible")

    @property
    def estimate_s(self) -> float | None:
        """Estimated seconds for visiting all selections; None if the strategy made no estimate."""
        return self.statistics.get("estimate_s")

    @property
    def solver_failed(self) -> bool:
        """Whether the solver failed (see `detail`), so that the selection was found by another search."""
        return bool(self.statistics.get("solver_failed"))

    @property
    def warning(self) -> str | None:
        """A sentence that says why the result is in doubt, such as that the tokenizer drops letters; else None."""
        return self.statistics.get("warning")

    def __repr__(self) -> str:
        name = "of a problem" if self.id is None else visible(repr(self.id))
        said = [f"{name}: {self.status.value}", *(f"{what} {value}" for what, value in self._facts())]
        return f"<Result {', '.join(said)}>"

    def _repr_html_(self) -> str:
        above = facts(f"{self.id or 'Result'}: {self.status.value.replace('_', ' ')}", self._facts())
        if self.selection is None:
            return above
        found = dict.fromkeys(unit[0] if isinstance(unit, tuple) else unit for unit in self.selection)
        numbers = list(found) if self.sentence_count and all(type(number) is int for number in found) else None
        source = self.shown_source()
        if source is None or numbers is None:
            return above + (marked_text([self.summary], {}) if self.summary else "")
        summary, kept = self.summary or (), None
        if any(isinstance(unit, tuple) for unit in self.selection) and len(summary) == len(numbers):
            sentences = [sentence for document in source for sentence in document]
            kept = {number: kept_words(sentences[number], text) for number, text in zip(numbers, summary, strict=True)}
        return above + marked_text(source, dict.fromkeys(numbers, 1.0), kept)

    def shown_source(self) -> Sequence[Sequence[Words]] | None:
        """Return the sentences of each document of the topic, for display; None if the result does not have them."""
        if self.source is not None:
            return self.source
        documents = self.extra.get("details", {}).get("documents")
        return documents if isinstance(documents, list) else None

    def _facts(self) -> list[tuple[str, str]]:
        found = [("by", f"{self.strategy}{f' on {self.backend}' if self.backend else ''}")]
        if self.error is not None:
            return [*found, ("because", visible(self.error))]
        if self.objective is not None:
            ratio = f" ({self.numerator}/{self.denominator})" if self.numerator is not None else ""
            found.append((self.metric or "objective", f"{self.objective:.4g}{ratio}"))
        if self.status != "optimal" and self.bound is not None:
            gap = "" if self.gap is None else f" (gap {self.gap:.1%})"
            found.append(("bound", f"{self.bound:.4g}{gap}"))
        if self.selection is not None:
            more = len(self.selection) - _SHOWN_UNITS
            units = " ".join(map(unit_text, self.selection[:_SHOWN_UNITS])) or "none"
            found.append(("units", visible(units + (f" and {more} more" if more > 0 else ""))))
        if self.length is not None:
            found.append(("length", str(self.length)))
        if self.termination != "completed":
            found.append(("ended by", self.termination.value.replace("_", " ")))
        return [*found, ("in", f"{self.seconds:.3g} s")]

    def labels(self) -> tuple[int, ...] | None:
        """Return 1 for each selected sentence of the topic and 0 for each other, in document order.

        The result is None without a selection.

        Raises
        ------
        UnsupportedError
            If the selected units are not whole sentences of the topic's documents, but parts of sentences or names.
        """
        return None if self.selection is None else labels_of(self.selection, self.sentence_count)

    def to_row(self) -> dict[str, Any]:
        """Return the result as the JSON object of one output row."""
        row: dict[str, Any] = dict(zip(_ROW_ORDER, _row_values(self), strict=True))
        row["status"], row["termination"] = self.status.value, self.termination.value
        row["selection"] = _row_of(self.selection)
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
            If the row lacks a field, has one of another form, or contradicts itself.
        """
        check_row(row, _TIMES)
        values = {name: value for name, value in row.items() if name in _FIELDS and value is not None}
        try:
            values["status"], values["termination"] = Status(row["status"]), Termination(row["termination"])
        except ValueError as error:
            raise InputError(f"this is not a result row of optsum: {error}") from error
        if "selection" in values:
            values["selection"] = _units_of(row["selection"])
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


@dataclass(slots=True)
class ResultCounts:
    """Counts and sums over many results, from which a summary is written."""

    statuses: Counter[str] = field(default_factory=Counter)  # Number of results by status.
    ended: Counter[str] = field(default_factory=Counter)  # Results by limit, "failure of the solver", "interruption".
    reasons: Counter[str] = field(default_factory=Counter)  # Number of errors by their text (`reason_of`).
    warned: Counter[str | None] = field(default_factory=Counter)  # Number of topics by their warning, or None.
    details: set[str | None] = field(default_factory=set)  # At most two different values of `Result.detail`.
    objective: float = 0.0  # Sum of the objectives.
    chosen: int = 0  # Sum of the numbers of selected units.
    first_error: str | None = None
    signature: str | None = None  # The first signature.

    def add(self, result: Result) -> None:
        self.statuses[result.status.value] += 1
        if result.termination.endswith("_limit"):
            self.ended[result.termination.replace("_", " ")] += 1
        if result.solver_failed:
            self.ended["failure of the solver"] += 1
        if result.termination is Termination.INTERRUPTED:
            self.ended["interruption"] += 1
        if len(self.details) < 2:
            self.details.add(result.detail)
        self.objective += result.objective or 0.0
        self.chosen += len(result.selection or ())
        self.signature = self.signature or result.signature
        if result.error is not None:
            self.reasons[reason_of(result)] += 1
            self.first_error = self.first_error or result.error

    def merge(self, other: ResultCounts) -> None:
        for name in ("statuses", "ended", "reasons", "warned"):
            getattr(self, name).update(getattr(other, name))
        self.details = {*islice(self.details | other.details, 2)}
        self.objective += other.objective
        self.chosen += other.chosen
        self.signature = self.signature or other.signature
        self.first_error = self.first_error or other.first_error


def reason_of(result: Result) -> str:
    """Return the error without the place in a file and the topic's name, so that equal faults have equal texts."""
    reason, own = _PLACE.sub("", result.error or ""), result.id or ""
    for name in (own, own.rpartition("#")[0]):
        reason = reason.removeprefix(f"topic {name!r}: ").replace(f"topic {name!r}", "the topic")
    return reason


_FIELDS = [name for name in _names(Result) if name not in _NO_COLUMN]
_TIMES = tuple(_names(Timing))
_ROW_ORDER = (*_FIRST, *(name for name in _FIELDS if name not in _FIRST))
_row_values = attrgetter(*_ROW_ORDER)
