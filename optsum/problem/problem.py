"""The interface of problems, with capabilities that strategies may need, and problems in the normal form.

A user's own problem implements only `Problem.evaluate`, and can then be searched by greedy, VNS, genetic and exhaustive
search. Further abilities are declared as a set of `Capability`; a strategy that needs a missing one is refused before
the search starts, with a message that names it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from itertools import filterfalse
from math import ceil, floor, isfinite, isnan, lcm
from numbers import Rational, Real
from os import PathLike
from sys import float_info
from typing import Any, Final, Self, TypeAlias

import numpy as np

from optsum.corpus.topic import Topic, as_id
from optsum.coverage.instance import NO_LIMIT, Coverage, IntArray, Key, Sense, key_of, score, sums_ratios, value_of
from optsum.errors import InputError, UnsupportedError
from optsum.optima.counting import fit
from optsum.program.model import LinearModel, affordable, model_bound, model_of, near_best
from optsum.system.clock import NEVER, Deadline
from optsum.whole import LARGEST_DENOMINATOR, is_list, whole, whole_numbers

Selection: TypeAlias = tuple[int, ...]  # Chosen units, sorted, each once.

Move: TypeAlias = tuple[int, ...]  # Units whose decisions are flipped together.


class Capability(Enum):
    """An ability that only some problems have."""

    __hash__ = object.__hash__  # an Enum's own is a Python function, too slow for the many lookups of searches

    COVERAGE = "a normal form (optsum.Coverage)"
    """`Problem.coverage` is the instance in the normal form, for incremental kernels."""
    LINEAR = "a linear model"
    """`Problem.linear_model` is an integer linear program with the same optimum."""
    RATIO = "one ratio of linear functions"
    """`optsum.program.model.coverage_model` gives an integer program for each value of the ratio (precision, F1)."""
    RATIOS = "a sum of ratios of linear functions"
    """`optsum.program.surrogate` gives integer programs that contain all selections above a value."""
    BOUND = "a bound"
    """`Problem.root_bound` is a proven limit of all values."""
    COMPLETIONS = "a bound of completions"
    """`Problem.bound` limits the values of all completions of a partial selection."""
    COMBINATORIAL_BOUND = "a combinatorial bound"
    """The knapsack and Lagrangian bounds of branch and bound are valid (recall, with occurrences of single units)."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The exact value and the feasibility of a selection.

    Attributes
    ----------
    key : Key
        The objective for comparisons.
    violation : int
        0 if the selection is feasible, otherwise a measure of infeasibility (length over the maximum or under the
        minimum, units without their parent, unreached features).
    value : float
        The objective for display.
    """

    key: Key
    violation: int
    value: float

    @property
    def feasible(self) -> bool:
        """Whether all limits are kept."""
        return self.violation == 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem(ABC):
    """The interface of all problems: choose units, each of which is one 0/1 decision.

    To define a problem, derive a class and define `evaluate`; everything else has a default.

    Attributes
    ----------
    lengths : tuple of int
        Length of each unit.
    min_length, max_length : int
        Limits of the summed length; `optsum.coverage.instance.NO_LIMIT` for no maximum.
    sense : Sense
    reference_units : int or None
        Average number of units in the references, if known; some heuristics start with that number of units.
    name : str
        The id of the problem in results; by default its number in the list of problems.
    labels : tuple of str
        A readable name of each unit; by default its number.
    """

    lengths: tuple[int, ...]
    min_length: int = 0
    max_length: int = NO_LIMIT
    sense: Sense = field(default=Sense.MAXIMIZE)
    reference_units: int | None = None
    name: str = ""
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.sense, Sense):
            raise InputError(f"The sense of this problem is {self.sense!r:.40}: give Sense.MAXIMIZE or Sense.MINIMIZE.")
        lengths = whole_numbers(self.lengths, "The length of unit {}", least=0)
        if (total := sum(lengths)) >= NO_LIMIT:
            raise InputError(
                f"The summed length of the units is {total}, and from 2^40 on a length means that there is no limit: "
                "divide all lengths and their limits by a common factor."
            )
        most = whole(self.max_length, "The maximum length", least=0, most=10**400)
        least = whole(self.min_length, "The minimum length", least=0)
        for name, value in (("lengths", lengths), ("min_length", least), ("max_length", min(most, NO_LIMIT))):
            object.__setattr__(self, name, value)
        self._check_names()

    def _check_names(self) -> None:
        if not is_list(self.labels):
            raise InputError(f"The labels are {self.labels!r:.40}: give a list with a name for each unit.")
        object.__setattr__(self, "labels", tuple(self.labels))
        if self.labels and len(self.labels) != self.size:
            raise InputError(f"There are {len(self.labels)} labels for {self.size} units: give one each, or none.")
        if self.reference_units is not None:
            units = whole(self.reference_units, "The number of units of a reference", least=0)
            object.__setattr__(self, "reference_units", units)

    @staticmethod
    def from_mps(path: str | PathLike[str], *, units: Iterable[str] | None = None, name: str = "") -> Problem:
        """Read an integer linear program with HiGHS from a file in MPS or LP format, according to its name.

        Parameters
        ----------
        path : path
        units : iterable of str, optional
            Names of the 0/1 columns to choose from; by default all 0/1 columns. Other columns are integral and bounded,
            and take their best values.
        name : str
            Name of the problem; by default that of the file.

        Raises
        ------
        InputError
            If the file cannot be read, or is not a linear program in bounded whole numbers.
        """
        found: Problem = import_module("optsum.problem.linear_problem").problem_of_file(path, units, name)
        return found  # imported late, because that module imports this one

    @abstractmethod
    def evaluate(self, selection: Selection) -> Evaluation:
        """Return the value of a selection, computed afresh."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """All capabilities; by default the two of bounds if the class defines the method `bound`, otherwise none."""
        if type(self).bound is Problem.bound or not callable(type(self).bound):  # a field may have this name
            return frozenset()
        return frozenset({Capability.COMPLETIONS, Capability.BOUND})

    def can(self, capability: Capability) -> bool:
        """Return whether a capability is one of `capabilities`."""
        return capability in self.capabilities

    @property
    def size(self) -> int:
        """Number of 0/1 decisions."""
        return len(self.lengths)

    def length(self, selection: Iterable[int]) -> int:
        """Return the summed length of a selection."""
        return sum(map(self.lengths.__getitem__, selection))

    def excess(self, selection: Iterable[int]) -> int:
        """Return how far the summed length is outside its limits; 0 within them."""
        length = self.length(selection)
        return max(0, length - self.max_length, self.min_length - length)

    def within(self, max_length: int) -> Self:
        """Return the same problem with another maximum length."""
        most = whole(max_length, "The maximum length", least=0, most=10**400)
        return self._but(max_length=min(most, NO_LIMIT))

    def _but(self, **changed: Any) -> Self:
        found = self.fresh()
        for name, value in changed.items():
            object.__setattr__(found, name, value)
        return found

    def fresh(self) -> Self:
        """Return the same problem without results cached by earlier searches, for any subclass."""
        return copy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields for pickling, without cached results, which may be large or contain a solver."""
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(type(self), name, None), cached_property)
        }

    def as_topic(self) -> Topic:
        """Return a topic that carries this problem, and whose sentences are the labels of its units."""
        labels = tuple(map(str, self.labels or range(self.size)))
        return Topic(self.name and as_id(self.name, "the name of a problem"), (labels,), problem=self)

    def without(self, units: Collection[int]) -> Self:
        """Return the same problem with some units made too long to be chosen; the other units are unchanged."""
        units = whole_numbers(units, "Unit {} to be left out", ordered=False)
        others = [0 if unit in units else length for unit, length in enumerate(self.lengths)]
        most = max(self.min_length, min(self.max_length, sum(others)))
        lengths = tuple(most + 1 if unit in units else length for unit, length in enumerate(others))
        return self._but(lengths=lengths, max_length=most)

    @property
    def lighter(self) -> Problem:
        """An equivalent problem without the capabilities that heuristics do not need."""
        return self

    def fits(self, selection: Collection[int]) -> bool:
        """Return whether the length is within its maximum, and so are other sums that added units cannot reduce."""
        return self.length(selection) <= self.max_length

    def prepare(self) -> None:  # noqa: B027 - most have nothing to do
        """Compile or load all that evaluations and bounds need, before time is measured; repeated calls are quick."""

    @property
    def prepared_as(self) -> Hashable:
        """A key, equal for problems that share one preparation (by `prepare` of the problem and of the strategy).

        None, the default, means that each problem is prepared separately.
        """
        return None

    def totals(self, selection: Selection) -> tuple[int, ...]:
        """Return numerator and denominator of each ratio of the objective, alternately; empty if it has no ratios."""
        del selection
        return ()

    def additions(self, selection: Selection) -> tuple[IntArray, IntArray, IntArray] | None:
        """Return the units that may be added, and for each of them the violation after its addition and the gain.

        Gains are integers, which may have a common denominator. With None, the default, each addition is evaluated.
        """
        del selection
        return None

    def moves(self, selection: Selection) -> Iterator[Move]:
        """Yield the moves from a selection; by default, each unit is added or dropped."""
        del selection
        for unit in range(self.size):
            yield (unit,)

    def entries(self) -> Iterator[Move]:
        """Yield the moves that baselines try one by one, in document order; by default those from no chosen units."""
        return self.moves(())

    def repair(self, selection: Selection, rng: np.random.Generator) -> Selection:
        """Return a feasible selection near the given one; by default by dropping or adding random units.

        If the length is still outside its limits, dynamic programming (`optsum.optima.counting.fit`) finds a selection
        within them. If there is none, the given selection is returned. Subclasses repair other constraints.
        """
        kept = list(selection)
        rng.shuffle(kept)
        outside = sorted(set(range(self.size)).difference(kept))
        rng.shuffle(outside)
        fitting = list(kept)
        while fitting and self.length(fitting) > self.max_length:
            fitting.pop()
        for unit in outside:
            if self.length(fitting) >= self.min_length:
                break
            if self.length(fitting) + self.lengths[unit] <= self.max_length:
                fitting.append(unit)
        if self.excess(fitting):
            fitting = fit(self.lengths, kept, outside, self.min_length, self.max_length) or []
        return selection if self.excess(fitting) else tuple(sorted(fitting))

    # --- methods that a problem defines if `capabilities` names their capability ------------------------------------

    @cached_property
    def coverage(self) -> Coverage:
        """The instance in the normal form (`Capability.COVERAGE`)."""
        raise self._lacks(Capability.COVERAGE)

    @cached_property
    def linear_model(self) -> LinearModel:
        """An integer program; its first `size` columns are the units (`Capability.LINEAR`)."""
        raise self._lacks(Capability.LINEAR)

    def root_bound(self, deadline: Deadline = NEVER) -> Key | None:
        """Return a bound of all values, proven without floating point (`Capability.BOUND`).

        At the deadline, the bound proven by then is returned; None if there is none.
        """
        del deadline
        if not self.can(Capability.COMPLETIONS):
            raise self._lacks(Capability.BOUND)
        bound = checked_bound(self.bound((), tuple(range(self.size))))
        return None if bound is None or not (isinstance(bound, Rational) or isfinite(bound)) else Fraction(bound)

    def bound(self, chosen: Selection, open: Selection) -> Key | None:  # noqa: A002 - the word for it
        """Return a bound of the values of all completions of a partial selection (`Capability.COMPLETIONS`).

        With this method, branch and bound can search the problem, prove optima and enumerate them.

        Parameters
        ----------
        chosen, open : tuple of int
            Chosen units, and undecided units; all other units are excluded.

        Returns
        -------
        Key or None
            Bound of the value of every feasible selection of all of `chosen` and any of `open`; it may be infinite.
            None if there is no such selection.
        """
        del chosen, open
        raise self._lacks(Capability.COMPLETIONS)

    def value_of(self, key: Key) -> float:
        """Return the objective as a number for display: the key itself, unless the objective is a root of it."""
        return float(key)

    def explain(self, missing: frozenset[Capability]) -> str:
        """Return a reason why capabilities are missing and advice, for a message; an empty string if there is none."""
        if Capability.LINEAR not in missing:
            return ""
        return (
            f"{type(self).__name__} only evaluates selections, but solvers need an integer linear program, like "
            f"optsum.PyomoProblem; use auto, vns or genetic."
        )

    def _lacks(self, capability: Capability) -> UnsupportedError:
        return UnsupportedError(f"{type(self).__name__} does not have {capability.value}.")


def checked_bound(
    bound: Any, what: str = "The bound of this problem", advice: str = "let it return a number, or None"
) -> Any:
    """Return a user's bound, such as a result of `Problem.bound`, after checking that it is a number or None."""
    if bound is not None and not isinstance(bound, Real | Decimal):
        raise InputError(f"{what} is {bound!r:.40}: {advice}.")
    if bound is None or isinstance(bound, Rational):
        return bound
    if isnan(bound):
        raise InputError(f"{what} is NaN: {advice}.")
    return bound if isinstance(bound, Decimal) else float(bound)  # also numpy's floats


_ROUNDED: Final = 1e-9  # Relative error that is tolerated in a user's bound in floating point.


def exceeds(sense: Sense, key: Any, bound: Any) -> bool:
    """Return whether a value is better than a bound, by more than rounding errors if one of them is a float."""
    if not sense.better(key, bound):
        return False
    exact = isinstance(key, Rational) and isinstance(bound, Rational)
    return exact or abs(bound) > float_info.max or abs(float(key) - float(bound)) > _ROUNDED * max(1.0, abs(float(key)))


def hold_bound(
    problem: Problem, bound: Any, chosen: Selection, rest: Selection, held: Selection, seen: Evaluation
) -> None:
    """Refuse a user's bound for `chosen`, with `rest` undecided, if the completion `held` (`seen`) exceeds it."""
    if not seen.feasible or not (bound is None or exceeds(problem.sense, seen.key, bound)):
        return
    said = "None (no completion is feasible)" if bound is None else f"{bound}"
    raise InputError(
        f"The bound of this problem is wrong: with the units {list(chosen)} chosen and {list(rest)} undecided it is "
        f"{said}, but the selection {list(held)} is worth {seen.key}."
    )


def worth(problem: Problem, key: Key) -> int | Fraction:
    """Convert a key (value for comparisons) or a bound to the form of `Optima.value`: numerator, length or fraction."""
    if problem.can(Capability.COVERAGE):
        if problem.sense is Sense.MINIMIZE:
            return ceil(key)
        if problem.coverage.constant_denominator:
            return floor(Fraction(key) * int(problem.coverage.constants[1]))
    return Fraction(key)


def require(problem: Problem, needed: frozenset[Capability], who: str) -> None:
    """Raise `UnsupportedError` if a problem lacks capabilities that `who`, such as a strategy, needs."""
    missing = frozenset(filterfalse(problem.can, needed))
    if missing and (why := problem.explain(missing)):
        raise UnsupportedError(f"{who} cannot search this problem: {why}")
    if missing:
        names = " and ".join(sorted(capability.value for capability in missing))
        raise UnsupportedError(
            f"{who} needs a problem with {names}, which this one ({type(problem).__name__}) does not offer: "
            "choose another strategy (optsum list strategies)."
        )


_ALIKE: Final = {Capability.COVERAGE: True, Capability.BOUND: True, Capability.COMPLETIONS: False}
"""Capabilities that all instances in the normal form have (True) or lack (False)."""

_REPAIR_S: Final = 0.5  # Seconds that an integer program may take to repair a selection.


@dataclass(frozen=True, eq=False, kw_only=True)
class CoverageProblem(Problem):
    """A problem given as a `Coverage` instance.

    Build it with `CoverageProblem.of`. Its capabilities depend on the instance; for example, there is no linear model
    for a varying denominator.

    Attributes
    ----------
    instance : Coverage
    reference_model : callable or None
        Builds the readable Pyomo model of the paper's equations, with one binary variable ``x[u]`` for each unit.
    """

    instance: Coverage
    reference_model: Callable[[], Any] | None = None
    _last: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check only names, because the instance has checked lengths and limits."""
        self._check_names()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {repr(self.instance).partition(': ')[2]}"

    @classmethod
    def of(
        cls,
        instance: Coverage,
        reference_model: Callable[[], Any] | None = None,
        reference_units: int | None = None,
        *,
        name: str = "",
        labels: Sequence[str] = (),
    ) -> CoverageProblem:
        """Wrap an instance; `name` and `labels` are those of `Problem`."""
        if not isinstance(instance, Coverage):
            raise InputError(f"A CoverageProblem is made of an optsum.Coverage, not of {instance!r:.40}.")
        return cls(
            instance=instance,
            reference_model=reference_model,
            reference_units=reference_units,
            lengths=tuple(instance.lengths.tolist()),
            min_length=instance.min_length,
            max_length=instance.max_length,
            sense=instance.goal,
            name=name,
            labels=labels,  # type: ignore[arg-type]  # made a tuple
        )

    def within(self, max_length: int) -> Self:
        return replace(self, instance=self.instance.at_most(max_length), max_length=max_length)

    def without(self, units: Collection[int]) -> Self:
        kept = super().without(units)
        instance = self.instance.resized(kept.lengths, kept.max_length)
        return replace(kept, instance=instance, reference_model=None)

    def fresh(self) -> Self:
        return replace(self)

    @cached_property
    def coverage(self) -> Coverage:
        """The instance."""
        return self.instance

    @property
    def lighter(self) -> CoverageProblem:
        """The problem for heuristics: its `coverage` may be smaller than `instance`, which evaluates selections."""
        light = self.instance.lighter
        if light is self.instance:
            return self
        found = replace(self)
        found.__dict__["coverage"] = light
        return found

    @cached_property
    def capabilities(self) -> frozenset[Capability]:
        """Capabilities that follow from the instance."""
        found = {Capability.COVERAGE, Capability.BOUND}
        if self.instance.goal is Sense.MINIMIZE or self.instance.constant_denominator:
            found.add(Capability.LINEAR)
            if self.instance.goal is Sense.MAXIMIZE and self.instance.singletons and not self.instance.rows:
                found.add(Capability.COMBINATORIAL_BOUND)
        elif self.instance.single_ratio:
            found.add(Capability.RATIO)
        elif sums_ratios(self.instance):
            found.add(Capability.RATIOS)
        return frozenset(found)

    def can(self, capability: Capability) -> bool:
        # A derived class may declare other capabilities.
        alike = _ALIKE.get(capability) if type(self).capabilities is CoverageProblem.capabilities else None
        return capability in self.capabilities if alike is None else alike

    def explain(self, missing: frozenset[Capability]) -> str:
        bottoms = [int(bottom) for bottom in self.instance.constants[1::2] if bottom > 0]
        large = self.instance.combination.adds and lcm(*bottoms) * self.instance.ratios > LARGEST_DENOMINATOR
        constant = large and not self.instance.mass[1::2].any() and not (self.instance.slot % 2 == 1).any()
        if constant and missing & {Capability.LINEAR, Capability.COMBINATORIAL_BOUND}:
            instead = "branch-and-bound, greedy or exhaustive" if Capability.LINEAR in missing else "--bound=lagrangian"
            return (
                f"the common denominator of its {self.instance.ratios} ratios is beyond 2^50; "
                f"use {instead}, or --references=pooled."
            )
        if Capability.LINEAR in missing:
            said = self.instance.combination.said(self.instance.ratios)
            return f"its value is {said}, which integer programs cannot express; use branch-and-bound or exhaustive."
        if missing == {Capability.COMBINATORIAL_BOUND}:
            what = "without side constraints" if self.instance.rows else "for recall within sentences"
            return f"it is valid only {what}; use --bound=lagrangian."
        return ""

    def evaluate(self, selection: Selection) -> Evaluation:
        totals, length, violation = self._scored(selection)
        key = key_of(self.instance, totals, length)
        return Evaluation(key, violation, value_of(self.instance, key))

    def prepare(self) -> None:
        """Compile the greedy climb, with which bounds of ratios start."""
        if not self.can(Capability.LINEAR):
            from optsum.coverage.greedy import prepare_climb

            prepare_climb()

    @property
    def prepared_as(self) -> Hashable:
        """A key, equal for problems that need the same kernels; None for covers and subclasses with own `prepare`."""
        instance = self.instance
        if instance.goal is Sense.MINIMIZE or type(self).prepare is not CoverageProblem.prepare:
            return None
        return type(self), type(instance), instance.combination, instance.constant_denominator, instance.singletons

    def totals(self, selection: Selection) -> tuple[int, ...]:
        return self._scored(selection)[0]

    def _scored(self, selection: Selection) -> tuple[tuple[int, ...], int, int]:
        if self._last.get("selection") != selection:
            self._last.update(selection=selection, scored=score(self.instance, selection))
        found: tuple[tuple[int, ...], int, int] = self._last["scored"]
        return found

    def moves(self, selection: Selection) -> Iterator[Move]:
        """Yield moves that respect parents: a unit is added with missing ancestors, or dropped with descendants."""
        chosen = set(selection)
        for unit in range(self.size):
            if unit not in chosen:
                yield tuple(member for member in self.instance.closure((unit,)) if member not in chosen)
            else:
                yield tuple(member for member in selection if unit in self.instance.closure((member,)))

    def fits(self, selection: Collection[int]) -> bool:
        return super().fits(selection) and all(
            row.high is None or row.least < 0 or row.held(selection) <= row.high for row in self.instance.rows
        )

    def repair(self, selection: Selection, rng: np.random.Generator) -> Selection:
        """Return a feasible selection near the given one, by adding missing parents and random moves (`moves`).

        If these fail, an integer program may find one; otherwise the given selection is returned.
        """
        repaired = self._by_moves(selection, rng)
        if self.evaluate(repaired).feasible:
            return repaired
        tied = bool(self.instance.rows) or (self.instance.parents >= 0).any()
        return (self._nearest(selection) if tied else None) or selection

    def _by_moves(self, selection: Selection, rng: np.random.Generator) -> Selection:
        if self.instance.rows:
            return self._keep_rows(selection, rng)
        if self.instance.goal is Sense.MINIMIZE:
            return self._complete(selection, rng)
        if not (self.instance.parents >= 0).any():
            return super().repair(selection, rng)
        chosen = set(self.instance.closure(selection))
        for wanted in (False, True):  # first drop units down to the maximum, then add units up to the minimum
            for unit in rng.permutation(self.size).tolist():
                length = self.length(chosen)
                if (length <= self.max_length) if not wanted else (length >= self.min_length):
                    break
                if wanted and unit not in chosen:
                    added = chosen.union(self.instance.closure((unit,)))
                    chosen = added if self.length(added) <= self.max_length else chosen
                elif not wanted and unit in chosen:
                    chosen = {member for member in chosen if unit not in self.instance.closure((member,))}
        return tuple(sorted(chosen))

    def _nearest(self, selection: Selection) -> Selection | None:
        """Return a feasible selection with nearly the fewest changes, by an integer program; None if none is found."""
        if self._last.get("infeasible"):
            return None
        instance = self.instance
        if instance.goal is Sense.MAXIMIZE:  # without gains, which feasibility does not depend on
            instance = Coverage.of(
                instance.lengths.tolist(),
                [{}] * self.size,
                [],
                parents=instance.parents.tolist(),
                rows=instance.rows,
                min_length=instance.min_length,
                max_length=instance.max_length,
            )
        try:
            model = model_of(instance)
        except InputError:  # some numbers are too large for floating point
            return None
        kept = np.zeros(model.columns, np.int64)
        kept[: self.size] = -1
        kept[list(selection)] = 1
        model = replace(model, sense=Sense.MAXIMIZE, objective=kept)
        found = near_best(model, Deadline(_REPAIR_S))
        units = () if found is None else tuple(np.flatnonzero(found[: self.size] > 0.5).tolist())
        self._last["infeasible"] = found is None or not self.evaluate(units).feasible
        return None if self._last["infeasible"] else units

    def _keep_rows(self, selection: Selection, rng: np.random.Generator) -> Selection:
        """Drop random units until all maxima are kept; then add, and at last drop, units that reduce the violation.

        Additions stay within all maxima, so some selections that could be repaired are returned unchanged.
        """
        instance = self.instance
        chosen = set(instance.closure(selection))
        for unit in rng.permutation(self.size).tolist():
            if self.fits(chosen):
                break
            over = [row for row in instance.rows if row.high is not None and row.held(chosen) > row.high]
            if unit in chosen and (self.length(chosen) > self.max_length or any(unit in row.units for row in over)):
                chosen = {member for member in chosen if unit not in instance.closure((member,))}
        violation = self.evaluate(tuple(sorted(chosen))).violation
        for adds in (True, False):  # dropping a unit that requires others may help too
            for unit in rng.permutation(self.size).tolist() if adds or violation else ():
                if not violation:
                    break
                if adds:
                    changed = chosen.union(instance.closure((unit,)))
                else:
                    changed = {member for member in chosen if unit not in instance.closure((member,))}
                if changed != chosen and (not adds or self.fits(changed)):
                    left = self.evaluate(tuple(sorted(changed))).violation
                    if left < violation:
                        chosen, violation = changed, left
        return selection if violation else tuple(sorted(chosen))

    def _complete(self, selection: Selection, rng: np.random.Generator) -> Selection:
        order = rng.permutation(self.size).tolist()

        def chosen(count: int) -> Selection:
            return tuple(sorted(self.instance.closure((*selection, *order[:count]))))

        def reached(count: int) -> bool:
            return self.evaluate(chosen(count)).feasible

        counts = range(self.size + 1)
        if any(joint.vetoes for joint in self.instance.joints):  # then more units may cover less
            count = next(filter(reached, counts), len(counts))
        else:
            count = bisect_left(counts, True, key=reached)
        return chosen(count) if count in counts else selection

    @cached_property
    def linear_model(self) -> LinearModel:
        """The integer program of the instance (`optsum.program.model.model_of`)."""
        return model_of(self.instance)

    def value_of(self, key: Key) -> float:
        return value_of(self.instance, Fraction(key))

    def root_bound(self, deadline: Deadline = NEVER) -> Key | None:
        """Return the bound of the root relaxation, proven in integers (`optsum.program.model.dual_bound`).

        With a varying denominator or several ratios it is `optsum.program.ratio_bound.value_bound`. If the relaxation
        is infeasible, or the deadline is reached first, the result is the bound proven by then. If the program cannot
        be built in time, the result is `quick_bound`, or None when minimizing.
        """
        maximizes = self.instance.goal is Sense.MAXIMIZE
        if not affordable(self.instance, deadline):
            from optsum.program.ratio_bound import quick_bound  # imported late, because it loads numba

            return quick_bound(self.instance) if maximizes else None
        if maximizes and not self.instance.constant_denominator:
            from optsum.program.ratio_bound import value_bound

            return value_bound(self.instance.relaxed.merged, deadline)

        relaxed = self.instance.relaxed
        light = relaxed is self.instance and not relaxed.ceilings
        model = self.linear_model if light else model_of(relaxed, relaxed=True)
        return model.value(model_bound(model, deadline))
