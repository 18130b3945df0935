"""`CoverageProblem`: all capabilities on the normal form, for every formulation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, Final, Self

import numpy as np

from optsum.coverage.evaluate import key_of, score, value_of
from optsum.coverage.instance import Coverage, Key, Sense
from optsum.errors import InputError
from optsum.problem.problem import Capability, Evaluation, Move, Problem, Selection
from optsum.program import highs
from optsum.program.cover import model_of
from optsum.program.highs import model_bound
from optsum.program.model import LinearModel, affordable
from optsum.program.surrogate import sums_ratios
from optsum.system.clock import NEVER, Deadline
from optsum.whole import whole

_ALIKE: Final = {Capability.COVERAGE: True, Capability.BOUND: True, Capability.COMPLETIONS: False}
"""Which capabilities every instance has, and which none."""

_REPAIR_S: Final = 0.5  # Seconds that an integer program may take to find a selection that keeps all limits.


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
        """Skip checks, because the instance has checked its numbers."""
        if type(self).coverage is CoverageProblem.coverage:
            vars(self)["coverage"] = self.instance  # every search asks for it

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
        names = tuple(labels)
        if names and len(names) != instance.size:
            raise InputError(f"There are {len(names)} labels for {instance.size} units: give one each, or none.")
        if reference_units is not None and (type(reference_units) is not int or reference_units < 0):
            reference_units = whole(reference_units, "The number of units of a reference", least=0)
        return cls(
            instance=instance,
            reference_model=reference_model,
            reference_units=reference_units,
            lengths=tuple(instance.lengths.tolist()),
            min_length=instance.min_length,
            max_length=instance.max_length,
            sense=instance.goal,
            name=name,
            labels=names,
        )

    def within(self, max_length: int) -> Self:
        """Return the same problem with another maximum length."""
        return replace(self, instance=self.instance.at_most(max_length), max_length=max_length)

    def without(self, units: Collection[int]) -> Self:
        """Return the problem with some units forbidden; all other units keep their numbers."""
        kept = super().without(units)
        instance = self.instance.resized(kept.lengths, kept.max_length)
        return replace(kept, instance=instance, reference_model=None)

    def fresh(self) -> Self:
        """Return the same problem without results cached by earlier searches."""
        return replace(self)

    @cached_property
    def coverage(self) -> Coverage:
        """The instance."""
        return self.instance

    @property
    def lighter(self) -> CoverageProblem:
        """Return the problem for heuristics: its `coverage` may be smaller than the evaluating `instance`."""
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
        """Whether the instance allows it; capabilities of every instance are answered quickly."""
        # A class that derives from this one may declare others.
        alike = _ALIKE.get(capability) if type(self).capabilities is CoverageProblem.capabilities else None
        return capability in self.capabilities if alike is None else alike

    def explain(self, missing: frozenset[Capability]) -> str:
        """Return why capabilities are missing, and which strategy to use instead."""
        bottoms = [int(bottom) for bottom in self.instance.constants[1::2] if bottom > 0]
        constant = not self.instance.mass[1::2].any() and not (self.instance.slot % 2 == 1).any()
        if (
            missing & {Capability.LINEAR, Capability.COMBINATORIAL_BOUND}
            and constant
            and lcm(*bottoms) * self.instance.ratios > 2**50
        ):
            instead = "branch-and-bound, greedy or exhaustive" if Capability.LINEAR in missing else "--bound lagrangian"
            return (
                f"the common denominator of its {self.instance.ratios} ratios is beyond 2^50; "
                f"use {instead}, or --references pooled."
            )
        if Capability.LINEAR in missing:
            said = self.instance.combination.said(self.instance.ratios)
            return f"its value is {said}, which integer programs cannot express; use branch-and-bound or exhaustive."
        if missing == {Capability.COMBINATORIAL_BOUND}:
            what = "without side constraints" if self.instance.rows else "for recall within sentences"
            return f"it is valid only {what}; use --bound lagrangian."
        return ""

    def evaluate(self, selection: Selection) -> Evaluation:
        """Score a selection with the independent scorer."""
        totals, length, violation = self._scored(selection)
        key = key_of(self.instance, totals, length)
        return Evaluation(key, violation, value_of(self.instance, key))

    def prepare(self) -> None:
        """Compile the kernel that bounds of ratios start with."""
        if not self.can(Capability.LINEAR):
            from optsum.coverage import climb

            climb.prepare()

    @property
    def prepared_as(self) -> Hashable:
        """The kind of objective, equal for problems that need the same kernels; None if nothing must be prepared."""
        instance = self.instance
        if instance.goal is Sense.MINIMIZE or type(self).prepare is not CoverageProblem.prepare:
            return None
        return type(self), type(instance), instance.combination, instance.constant_denominator, instance.singletons

    def totals(self, selection: Selection) -> tuple[int, ...]:
        """Return numerator and denominator of each ratio, alternately."""
        return self._scored(selection)[0]

    def _scored(self, selection: Selection) -> tuple[tuple[int, ...], int, int]:
        last = self._last
        if last.get("selection") != selection:
            last.update(selection=selection, scored=score(self.instance, selection))
        found: tuple[tuple[int, ...], int, int] = last["scored"]
        return found

    def moves(self, selection: Selection) -> Iterator[Move]:
        """Yield moves that keep parents: a unit added with missing ancestors, or dropped with chosen descendants."""
        chosen = set(selection)
        for unit in range(self.size):
            if unit not in chosen:
                yield tuple(member for member in self.instance.closure((unit,)) if member not in chosen)
            else:
                yield tuple(member for member in selection if unit in self.instance.closure((member,)))

    def fits(self, selection: Collection[int]) -> bool:
        """Whether length and rows are within their maxima."""
        return super().fits(selection) and all(
            row.high is None or row.least < 0 or row.held(selection) <= row.high for row in self.instance.rows
        )

    def repair(self, selection: Selection, rng: np.random.Generator) -> Selection:
        """Restore missing parents, then drop and add units with their relatives at random until all limits are kept.

        If that fails, an integer program finds a feasible selection near the given one.
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
        for wanted in (False, True):  # first drop what is too long, then fill up to the minimum
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
        """Return a feasible selection with about the fewest changes; None if none is found.

        If there is none, that is remembered.
        """
        if self._last.get("infeasible"):
            return None
        instance = self.instance
        if instance.goal is Sense.MAXIMIZE:  # what units are worth does not matter
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
        except InputError:  # numbers that floating point does not hold
            return None
        kept = np.zeros(model.columns, np.int64)
        kept[: self.size] = -1
        kept[list(selection)] = 1
        model = replace(model, sense=Sense.MAXIMIZE, objective=kept)
        found = highs.near_best(model, Deadline(_REPAIR_S))
        units = () if found is None else tuple(np.flatnonzero(found[: self.size] > 0.5).tolist())
        self._last["infeasible"] = found is None or not self.evaluate(units).feasible
        return None if self._last["infeasible"] else units

    def _keep_rows(self, selection: Selection, rng: np.random.Generator) -> Selection:
        """Drop random units until all maxima are kept, then add random units that help the minima.

        Additions stay within all maxima, so that not every repairable selection is repaired.
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
        for adds in (True, False):  # what others are required by may go
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
        if any(joint.vetoes for joint in self.instance.joints):  # more units may then reach less
            count = next(filter(reached, counts), len(counts))
        else:
            count = bisect_left(counts, True, key=reached)
        return chosen(count) if count in counts else selection

    @cached_property
    def linear_model(self) -> LinearModel:
        """The merged integer program."""
        return model_of(self.instance)

    def value_of(self, key: Key) -> float:
        """Return the value of a `key` for display."""
        return value_of(self.instance, Fraction(key))

    def root_bound(self, deadline: Deadline = NEVER) -> Key | None:
        """Return the bound of the root relaxation, proven in integers (`optsum.program.highs.dual_bound`).

        For sums and products of ratios it bounds the programs of `optsum.program.surrogate`. If the relaxation has no
        optimum (nothing is feasible), or the deadline is reached first, the result is the bound proven by then; None if
        not even the program can be built in time.
        """
        if not affordable(self.instance, deadline):
            return None
        if self.instance.goal is Sense.MAXIMIZE and not self.instance.constant_denominator:
            from optsum.program.ratio_bound import value_bound  # loads the kernels' compiler

            return value_bound(self.instance.relaxed.merged, deadline)

        relaxed = self.instance.relaxed
        light = relaxed is self.instance and not relaxed.ceilings
        model = self.linear_model if light else model_of(relaxed, relaxed=True)
        return Fraction(model_bound(model, deadline) + model.offset, model.denominator)
