"""The optima of a topic, or what is near them, in the input's own numbering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from optsum.contracts.enumeration import OptimaFields
from optsum.contracts.result import Result
from optsum.errors import UnsupportedError, visible
from optsum.optima.counting import count_feasible, count_feasible_forest
from optsum.optima.irredundant import Share
from optsum.optima.nearness import Nearness
from optsum.optima.optima import Optima, UnitNames
from optsum.problem.formulation import Task
from optsum.problem.problem import Problem
from optsum.running.all_optima import families
from optsum.system.notebook import facts, marked_text


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Oracles(Optima):
    """The selections of a topic that no other beats, or that none beats by much, of what the input calls the units.

    Iteration yields sorted tuples, in a fixed order, each once; lazily, for there may be 1e10 of them.

    Attributes
    ----------
    result : Result
        The first of them as one result: objective, bound, status, text.
    names : UnitNames
        The input's names of the units.
    lengths, length_limits : tuple of int
        Of those units, and the least and largest sum of a selection's.
    parents : mapping
        The unit without which a unit cannot be chosen, where there is one.
    tasks : tuple of Task
        The tasks that turn them into text; several where references were searched one by one.
    nearness : Nearness or None
        The requested threshold, for near-optimal selections.
    """

    result: Result
    names: UnitNames
    lengths: tuple[int, ...] = ()
    length_limits: tuple[int, int] = (0, 0)
    parents: Mapping[Any, Any] = field(default_factory=dict)
    tasks: tuple[Task, ...] = ()

    def __repr__(self) -> str:
        return f"<Oracles {visible(repr(self.id))}: {self._said()}>"

    def _repr_html_(self) -> str:
        objective = self.result.objective
        best = [(self.result.metric or "objective", f"{objective:.4g}")] if objective is not None else []
        above = facts(f"{self.id}: {self._said()}", best)
        source, shares = self.result.shown_source(), self.share() if self.complete and self else {}
        if source is None or not all(type(name) is int for name in shares):
            return above + self.result._repr_html_()
        return above + marked_text(source, {name: float(held) for name, held in shares.items()}, say=True)

    def summaries(self) -> Iterator[tuple[str, ...]]:
        """Yield the text of each optimum, as `Result.summary` has it, in the order of iteration; lazily.

        Raises
        ------
        UnsupportedError
            If the topic has no texts, such as a cover of sentence ids.

        Examples
        --------
        >>> from optsum import enumerate_optima
        >>> topic = {"id": "t", "documents": [["a b", "b c", "a c"]], "references": [["a b c"]]}
        >>> for summary in enumerate_optima(topic, max_length=4).summaries():
        ...     print(summary)
        ('a b', 'b c')
        ('a b', 'a c')
        ('b c', 'a c')
        """
        numbers = [task.numbers() for task in self.tasks]
        for optimum in self:
            names = set(optimum)
            task, number = next(pair for pair in zip(self.tasks, numbers, strict=True) if pair[1].keys() >= names)
            text = task.text(tuple(sorted({number[name] for name in names})))
            if text is None:
                raise UnsupportedError("There are no texts of these optima: the topic has none for its sentences.")
            yield text

    nearness: Nearness | None = None

    @property
    def id(self) -> str | None:
        """The topic."""
        return self.result.id

    @property
    def units(self) -> tuple[Any, ...]:
        """The input's names for the units of the problem."""
        return self.names.units

    @property
    def never(self) -> tuple[Any, ...]:
        """Units of the problem in no optimum."""
        return self.missing(range(len(self.units)))

    def feasible(self) -> int:
        """Return how many selections there were to choose from: exact, of any size, the empty one excluded.

        The left column of Table 7 of Hirao et al. 2017; of the units that remain after removal.
        """
        if self.parents:
            number = {name: unit for unit, name in enumerate(self.units)}
            above = [number[self.parents[name]] if name in self.parents else -1 for name in self.units]
            return count_feasible_forest(self.lengths, above, *self.length_limits)
        return count_feasible(self.lengths, *self.length_limits)

    def value_counts(self) -> list[tuple[float, int]]:
        """Return the different values, the best first, and how many sets have each.

        Every set is evaluated: about a microsecond each, and 100 bytes.

        Raises
        ------
        InputError
            If the sets are incomplete.
        """
        self._need_all("counted by value", sets=False)
        problem = self._one_problem()
        return [(problem.value_of(key), count) for key, count in families.value_counts([problem], self.diagram)]

    def weighted_share(self, seed: int = 0) -> dict[Any, float]:
        """Return as `share` the share of the sets that hold each unit, each set counted by its objective.

        Exact up to two million sets; beyond, of 20,000 drawn at random.

        Raises
        ------
        InputError
            If there is no set, or the sets are incomplete.
        """
        self._need_all("shared out")
        found = families.weighted_shares(self._one_problem(), self.diagram, seed)
        return {self.units[unit]: share for unit, share in found.items()}

    def irredundant(self, seed: int = 0) -> Share:
        """Return the share of the sets from which no unit could be left out without losing value.

        Exact up to 100,000 sets; beyond, of 1,000 drawn at random (see its ``standard_error``).

        Raises
        ------
        InputError
            If there is no set, or the sets are incomplete.
        """
        self._need_all("looked at")
        return families.irredundant(self._one_problem(), self.diagram, seed)

    def _one_problem(self) -> Problem:
        if len(self.tasks) != 1:
            raise UnsupportedError("These are the sets of several problems: give one reference, to evaluate them.")
        return self.tasks[0].problem

    def to_result(
        self, *, max_solutions: int = 100, minimal: bool = False, sample: int = 0, diverse: int = 0, seed: int = 0
    ) -> Result:
        """Return the row of an enumeration.

        Parameters
        ----------
        max_solutions : int
            How many of the sets are listed; 0 for none. Has nothing to do with `count`.
        minimal : bool
            List only sets that contain no other, and count them as ``minimal_count``.
        sample, diverse : int
            How many are drawn at random, all with the same probability, and how many that differ much are listed.
        seed : int
            Of what is drawn.

        Notes
        -----
        If a limit was reached, ``count`` is a lower bound (0 where the value is not proven to be the optimum), and
        what all or none of the sets hold is not known: ``always`` and ``never`` are None, and so is whatever else
        speaks of all of them.
        """
        listed = self.minimal() if minimal else self
        known = self.proven if self.nearness is None else self.least is not None  # otherwise the sets may be no optima
        near = None
        if self.nearness is not None:
            shares = list(self.share().items()) if self.complete and self.count else [] if self.complete else None
            problems = [task.problem for task in self.tasks]
            near = families.near_of(self.nearness, problems, self.diagram, self.least, shares, seed)
        drawn = self.complete and bool(listed)
        found = OptimaFields(
            count=self.count if known else 0,
            complete=self.complete,
            units=len(self.units),
            minimal_count=(listed.count if known else 0) if minimal else None,
            optima=list(islice(listed, max_solutions if known else 0)) if max_solutions else None,
            always=self.always if self.complete else None,
            never=self.never if self.complete else None,
            sample=listed.sample(sample, seed) if drawn and sample else [] if self.complete and sample else None,
            diverse=listed.diverse(diverse) if drawn and diverse else [] if self.complete and diverse else None,
            near=near,
        )
        return self.result.changed(enumeration=found)
