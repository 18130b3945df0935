"""Enumerate all optima of a topic, or all near-optimal selections (`enumerate_optima`), in the input's names of units.

The strategies find them (`Strategy.enumerate`). The optima and texts that rows with ``--details`` hold, for the page
of a report, are made here too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import islice
from logging import getLogger
from pathlib import Path
from typing import Any, Final, Unpack

import numpy as np

from optsum.contracts.result import OptimaFields, Result, Status, listed
from optsum.corpus.topic import Topic, topic_to_json
from optsum.corpus.topics import AnyColumns, AnyTopics, topic_given
from optsum.coverage.instance import Coverage, IntArray, Sense
from optsum.errors import OptsumError, UnsupportedError, either, spoken, visible
from optsum.optima.counting import count_feasible, count_feasible_forest
from optsum.optima.diagram import Diagram, union
from optsum.optima.optima import Nearness, Optima, UnitNames
from optsum.optima.tally import Share, drawn, far_apart, irredundant_share, weights_of_units, worth_of_sets
from optsum.options.keywords import Keywords
from optsum.options.options import OF_WORKERS, Options, check_solver_is_used, reading_of, resolve
from optsum.problem.formulation import Task
from optsum.problem.problem import Capability, CoverageProblem, Problem
from optsum.registry import DEFAULT_EXACT, STRATEGIES
from optsum.running.each_topic import each_topic, posed, prover_of, search_part
from optsum.running.one_problem import (
    Setup,
    best_result,
    build,
    charged,
    count_sentences,
    finished,
    for_each_reference,
    part_of,
    reaches,
    refused,
    setup_of,
    single_problem,
    too_late,
    unsolved,
    warm_up,
)
from optsum.running.search import result_of_sets
from optsum.system.clock import Deadline, Stopped, Termination, clock, of_search
from optsum.system.compiled import compiles
from optsum.system.notebook import Words, facts, marked_text
from optsum.system.processes.signal_guard import postponing
from optsum.whole import flag, whole

_EVALUATED: Final = 100_000  # Largest number of sets whose values are counted for a row.
_WEIGHED: Final = 2_000_000
"""Largest number of sets that are all evaluated for weighted shares; of more, a sample of `_DRAWS` is evaluated."""
_DRAWS: Final = 20_000


@compiles
def prepare_families() -> None:
    """Compile, or load, the kernels that describe families of sets, before time is measured."""
    instance = Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1]], max_length=2)
    problem, diagram = CoverageProblem.of(instance), Diagram.of_sets([(0,), (0, 1)])
    value_counts([problem], diagram)
    weights_of_units(diagram, np.full(2, 0.5))
    irredundant_share(instance, diagram)
    far_apart(Diagram.of_sets([(0,), (1,), (0, 1)]), 2)


def value_counts(problems: Sequence[Problem], diagram: Diagram) -> list[tuple[Fraction, int]]:
    """Return different values, best first, and the number of sets with each."""
    return _counted(*_ranked(problems, diagram))


def _counted(keys: Sequence[Fraction], ranks: IntArray) -> list[tuple[Fraction, int]]:
    counts: list[int] = np.bincount(ranks, minlength=len(keys)).tolist()
    return [(key, count) for key, count in zip(keys, counts, strict=True) if count]


def _ranked(problems: Sequence[Problem], diagram: Diagram) -> tuple[list[Fraction], IntArray]:
    """Return different values, best first, and the place of each set's among them: its best value on a problem."""
    better_first = problems[0].sense.better(1, 0)
    if not all(problem.can(Capability.COVERAGE) for problem in problems):
        most = max if better_first else min
        found = [most(Fraction(problem.evaluate(units).key) for problem in problems) for units in diagram]
        keys = sorted(set(found), reverse=better_first)
        place = {key: number for number, key in enumerate(keys)}
        return keys, np.array([place[key] for key in found], np.int64)
    worths = [worth_of_sets(problem.coverage, diagram) for problem in problems]
    keys = sorted({key for worth in worths for key in worth.keys}, reverse=better_first)
    place = {key: number for number, key in enumerate(keys)}
    ranks = [np.array([place[key] for key in worth.keys], np.int64)[worth.which] for worth in worths]
    return keys, np.minimum.reduce(ranks)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Oracles(Optima):
    """The optimal, or nearly optimal, selections of a topic, in the input's names of the units.

    Iteration yields distinct sorted tuples in a fixed order, lazily, because there may be 1e10 of them; near-optimal
    ones come in no order of their values (`best_first`).

    Attributes
    ----------
    result : Result
        The first selection as a result: objective, bound, status, text.
    names : UnitNames
        The input's names of the units.
    lengths, length_limits : tuple of int
        Lengths of the units, and minimum and maximum length of a selection.
    parents : mapping
        Name of a unit -> name of the unit that it requires.
    tasks : tuple of Task
        The tasks that convert sets to text; several if references were searched one by one.
    nearness : Nearness or None
        The requested threshold, for near-optimal selections.
    """

    result: Result
    names: UnitNames
    lengths: tuple[int, ...] = ()
    length_limits: tuple[int, int] = (0, 0)
    parents: Mapping[Any, Any] = field(default_factory=dict)
    tasks: tuple[Task, ...] = ()
    nearness: Nearness | None = None

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
        """Yield the text of each optimum lazily, in the form of `Result.summary`, in the order of iteration.

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
                raise UnsupportedError("These optima have no texts, because the topic has no texts of its sentences.")
            yield text

    @property
    def id(self) -> str | None:
        """The id of the topic."""
        return self.result.id

    @property
    def units(self) -> tuple[Any, ...]:
        """The input's names for the units of the problem."""
        return self.names.units

    @property
    def never(self) -> tuple[Any, ...]:
        """The units of the problem that are in no optimum."""
        return self._absent(range(len(self.units)))

    def feasible(self) -> int:
        """Return the exact number of non-empty selections of the problem's units within the length limits.

        It is the left column of Table 7 of Hirao et al. 2017.
        """
        if self.parents:
            number = {name: unit for unit, name in enumerate(self.units)}
            above = [number[self.parents[name]] if name in self.parents else -1 for name in self.units]
            return count_feasible_forest(self.lengths, above, *self.length_limits)
        return count_feasible(self.lengths, *self.length_limits)

    def value_counts(self) -> list[tuple[float, int]]:
        """Return the different objectives, the best first, and the number of sets with each.

        Every set is evaluated, which takes about a microsecond and 100 bytes each.

        Raises
        ------
        InputError
            If the sets are incomplete.
        """
        self._need_all("counted by value", sets=False)
        problem = self._one_problem()
        return [(problem.value_of(key), count) for key, count in _counted(*self._ranks)]

    @cached_property
    def _ranks(self) -> tuple[list[Fraction], IntArray]:
        return _ranked([self._one_problem()], self.diagram)

    def weighted_share(self, seed: int = 0) -> dict[Any, float]:
        """Return the share of sets that contain each unit, like `share`, but weighted by their objective.

        It is exact up to two million sets; above, it is estimated from 20,000 random sets.

        Raises
        ------
        InputError
            If there is no set, or the sets are incomplete.
        """
        self._need_all("shared out")
        problem, diagram, times = self._one_problem(), self.diagram, np.ones(1)
        seed = whole(seed, "The seed", least=0, most=10**400)
        if not problem.can(Capability.COVERAGE) or problem.sense.better(0, 1):
            raise UnsupportedError(
                "Sets can be weighted only by an objective that a built-in formulation maximizes: leave the weights "
                "out."
            )
        if diagram.count > _WEIGHED:
            found = Counter(tuple(sorted(each)) for each in drawn(diagram, _DRAWS, seed))
            diagram = Diagram.of_sets(found)
            times = np.array([found[each] for each in diagram], np.float64)
        worth = worth_of_sets(problem.coverage, diagram)
        weights = np.array([problem.value_of(key) for key in worth.keys])[worth.which] * times
        weights = weights if weights.any() else np.ones(len(weights)) * times
        return {self.units[unit]: share for unit, share in weights_of_units(diagram, weights / weights.sum()).items()}

    def irredundant(self, seed: int = 0) -> Share:
        """Return the share of sets from which no unit can be left out without losing value.

        It is exact up to 100,000 sets; above, it is estimated from 1,000 random sets (see its ``standard_error``).

        Raises
        ------
        InputError
            If there is no set, or the sets are incomplete.
        """
        self._need_all("looked at")
        problem, seed = self._one_problem(), whole(seed, "The seed", least=0, most=10**400)
        if not problem.can(Capability.COVERAGE):
            raise UnsupportedError("Irredundant sets are counted only for problems in the normal form.")
        return irredundant_share(problem.coverage, self.diagram, seed)

    def best_first(self, k: int) -> list[tuple[Any, ...]]:
        """Return up to `k` sets, the best ones first; all optima are equally good, and in the order of iteration.

        Of more than 100,000 near-optimal sets, or those of several references searched one by one
        (``references="best"``), only the first is known to be an optimum.
        """
        k = whole(k, "The number of sets", least=0)
        if self.least is None or not self:
            return list(islice(self, k))
        is_ranked = len(self.tasks) == 1 and self.count <= _EVALUATED
        sets = list(islice(self.diagram, _EVALUATED if is_ranked else k))
        if is_ranked:
            sets = [sets[place] for place in np.argsort(self._ranks[1], kind="stable")[:k].tolist()]
        best = None if self.best is None else tuple(sorted(self.best))
        if best is not None and self.diagram.holds(best):  # it is also the selection of `result`
            sets = [best, *(units for units in sets if units != best)]
        return [self._named(units) for units in sets[:k]]

    def _one_problem(self) -> Problem:
        if len(self.tasks) != 1:
            raise UnsupportedError("These sets belong to several problems: give one reference to evaluate them.")
        return self.tasks[0].problem

    def to_result(
        self, *, max_solutions: int = 100, minimal: bool = False, sample: int = 0, diverse: int = 0, seed: int = 0
    ) -> Result:
        """Return the row of an enumeration.

        Parameters
        ----------
        max_solutions : int
            Number of sets to list (`best_first`); it does not affect `count`.
        minimal : bool
            List only sets that contain no other, and count them as ``minimal_count``.
        sample, diverse : int
            Number of sets to draw uniformly at random, and of sets to choose that differ much.
        seed : int
            Seed of random sets.

        Notes
        -----
        If a limit was reached, ``count`` is a lower bound (0 if the value is not proven to be the optimum), and fields
        about all sets, such as ``always`` and ``never``, are None. If the sets that contain no other cannot be found
        within the limits, ``minimal_count`` is 0, no set is listed, and ``detail`` says so.
        """
        result, listed, minimal = self.result, self, flag(minimal, "The option minimal")
        if minimal:
            try:
                listed = self.minimal()
            except (UnsupportedError, Stopped):
                listed = replace(self, diagram=Diagram.of_sets([]))
                why = "the sets that contain no other could not be found within the limits"
                result = result.changed(detail=why if result.detail is None else f"{result.detail}; {why}")
        max_solutions, sample, diverse = (
            whole(given, f"The number of sets of {name}", least=0)
            for name, given in (("max_solutions", max_solutions), ("sample", sample), ("diverse", diverse))
        )
        seed = whole(seed, "The seed", most=10**400)
        drawn = self.complete and bool(listed)
        found = OptimaFields(
            count=self.count,
            complete=self.complete,
            units=len(self.units),
            minimal_count=listed.count if minimal else None,
            optima=listed.best_first(max_solutions) if max_solutions else None,
            always=self.always if self.complete else None,
            never=self.never if self.complete else None,
            sample=listed.sample(sample, seed) if drawn and sample else [] if self.complete and sample else None,
            diverse=listed.diverse(diverse) if drawn and diverse else [] if self.complete and diverse else None,
            **({} if self.nearness is None else self._near_fields(seed)),
        )
        return result.changed(enumeration=found)

    def _near_fields(self, seed: int) -> dict[str, Any]:
        found: dict[str, Any] = {"near": str(self.nearness)}
        if not self.tasks or self.least is None:  # nothing was searched, or the best value is not proven
            return found
        problem, one = self.tasks[0].problem, len(self.tasks) == 1
        found |= {"at_least": problem.value_of(self.least), "at_least_exact": str(self.least)}
        if not self.complete:
            return found
        found["unit_shares"] = [(unit, float(held)) for unit, held in self.share().items()] if self else []
        if one and self.count <= _EVALUATED:  # references searched one by one have no common values
            found["value_counts"] = self.value_counts()
        if one and self and problem.can(Capability.COVERAGE):
            share = self.irredundant(seed)
            found |= {"irredundant": share.share, "irredundant_error": share.standard_error}
        return found


_LISTING_S: Final = 0.5  # Time (s) for the minimal sets of a row, even if the enumeration has taken all of the limit.
NEAR_S: Final = 10.0  # Default time limit in seconds for the near-optimal selections of a topic.
_NEAR_BYTES: Final = 400_000_000  # Memory limit for near-optimal selections: a million nodes of a diagram.


def details_of(part: Topic, setup: Setup, optima: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the details of a problem for its row; `part` has the references that count.

    Details are the options that differ from the defaults, the texts (or the names of sentences and claims), and the
    given optima. If units are parts of sentences, `Task.parts` is added.
    """
    no_matter = {"preset", "seed", *OF_WORKERS}
    options = setup.options.model_dump(mode="json", exclude_defaults=True, exclude=no_matter)
    text = topic_to_json(part)
    named = ("documents", "references", "cover", "weights", "lengths")
    found: dict[str, Any] = {"options": options, **{name: text[name] for name in named if name in text}}
    found |= {name: part.meta[name] for name in ("sentence_ids", "abstract_ids") if part.meta.get(name) is not None}
    with suppress(OptsumError, Stopped):  # its row reports the error
        if not setup.formulation.whole_sentences and (parts := build(part, setup).parts()) is not None:
            found["parts"] = parts
    if optima is not None:
        found["optima"] = dict(optima)
    return found


def resolve_enumeration(
    given: Mapping[str, Any], nearness: Nearness | None = None, *, config: str | Path | None = None
) -> Options:
    """Return the options of an enumeration, with an enumerating default strategy.

    Near-optimal selections, whose number has no limit, have a default time limit of 10 seconds per topic.
    """
    check_solver_is_used(given, enumerates=True)
    for name in ("gap", "target"):
        if given.get(name) is not None:
            getLogger("optsum").warning("%s", spoken(f"--{name} changes nothing in an enumeration"))
    options = resolve(given, config=config, strategy=prover_of(given))
    if options.gap is not None or options.target is not None:
        options = options.model_copy(update={"gap": None, "target": None})
    if not options.searcher().enumerates:
        able = either(name for name in STRATEGIES if STRATEGIES.load(name).enumerates)
        raise UnsupportedError(f"The strategy {options.strategy} does not enumerate optima: use {able}.")
    if nearness is None:
        return options
    if options.references == "best" and nearness.steps is not None:
        pooled = ", or --references=pooled" if options.measure == "recall" else ""
        raise UnsupportedError(
            "--within-steps needs steps of one size, which several references do not share: use --within, --at-least "
            f"or --best{pooled}."
        )
    return options if options.time_limit is not None else options.model_copy(update={"time_limit": NEAR_S})


def enumerate_optima(
    topic: Topic | Problem | Mapping[str, Any] | Words,
    summary: Words | None = None,
    *,
    within: float | str | None = None,
    at_least: float | str | None = None,
    within_steps: int | None = None,
    best: int | None = None,
    columns: AnyColumns | None = None,
    config: str | Path | None = None,
    **options: Unpack[Keywords],
) -> Oracles:
    """Return all optima of one topic, or all near-optimal selections.

    Parameters
    ----------
    topic, summary, columns, config, **options
        As in `optsum.solve`; the default strategy is branch-and-bound (auto for a `Problem`). For near-optimal
        selections the default time limit is 10 seconds.
    within : number or text, optional
        All selections that lose at most this share of the best value: ``0.01`` or ``"1%"``.
    at_least : number or text, optional
        All selections whose objective is at least this (for a cover: at most this length).
    within_steps : int, optional
        All selections at most this many integer steps below the best; a step of recall against one reference is one
        n-gram.
    best : int, optional
        All selections with one of this many best different values.

    Returns
    -------
    Oracles
        If a limit was reached, the sets known by then: see ``complete`` and ``result``. There are none if no value is
        proven to be the best.

    Raises
    ------
    InputError, OptionError, UnsupportedError
        If the topic or the options cannot be used, or the strategy does not enumerate.

    Examples
    --------
    >>> topic = {"id": "t", "documents": [["a b", "b c", "a c"]], "references": [["a b c"]]}
    >>> optima = enumerate_optima(topic, max_length=4)
    >>> optima.count, list(optima)
    (3, [(0, 1), (0, 2), (1, 2)])
    >>> near = enumerate_optima(topic, max_length=4, within_steps=1)
    >>> near.count, near.value_counts()
    (6, [(1.0, 3), (0.6666666666666666, 3)])
    """
    nearness = Nearness.given(within, at_least, within_steps, best)
    topic, named = posed(topic, options, config, summary=summary, columns=columns)
    setup = setup_of(resolve_enumeration(named, nearness, config=config))
    given = topic_given(topic, summary, reading_of(setup.options), columns)
    part, ready = single_problem(given, setup), warm_up(setup)
    found = oracles_of(part, setup, nearness)
    return replace(found, result=charged(found.result, ready, source=part.documents))


def enumerate_topics(
    topics: AnyTopics, options: Options, nearness: Nearness | None = None, *, details: bool = False, **shape: Any
) -> Generator[list[Result], None, None]:
    """Enumerate topics, and yield the list of each topic's results; `shape`: arguments of `Oracles.to_result`."""
    setup = setup_of(options)
    search = partial(_enumerated_row, nearness=nearness, seed=options.seed, **shape)
    return each_topic(topics, [setup], partial(with_text if details else search_part, setup=setup, search=search))


def with_text(part: Topic, setup: Setup, search: Callable[[Topic, Setup], Result]) -> list[Result]:
    [result] = search_part(part, setup, search)
    return [result.changed(extra={**result.extra, "details": details_of(part, setup)})]


def _enumerated_row(part: Topic, setup: Setup, nearness: Nearness | None, **shape: Any) -> Result:
    began = clock()
    found = oracles_of(part, setup, nearness)
    left = setup.limits.after(clock() - began).time_s
    before = of_search.set(Deadline(None if left is None else max(left, _LISTING_S)))
    try:
        return found.to_result(**shape)
    finally:
        of_search.reset(before)


def oracles_of(part: Topic, setup: Setup, nearness: Nearness | None = None) -> Oracles:
    if nearness is not None:  # a warm-up of searches does not load these kernels
        prepare_families()
        if setup.formulation.sense is Sense.MINIMIZE:  # covers up to a length are searched like extracts
            setup.strategy.prepare()
    oracles = (_oracles_of_references if setup.best_of_references else _enumerate)(part, setup, nearness)
    if not (oracles.proven if nearness is None else oracles.least is not None):  # its sets may not be optimal
        oracles = replace(oracles, diagram=Diagram.of_sets([]))
    counted = OptimaFields(count=oracles.count, complete=oracles.complete)
    result = oracles.result.changed(sentence_count=count_sentences(part), enumeration=counted)
    return replace(oracles, result=result, nearness=nearness)


def _oracles_of_references(part: Topic, setup: Setup, nearness: Nearness | None) -> Oracles:
    began = clock()
    found = for_each_reference(
        part,
        setup,
        lambda _, one, share: _enumerate(one, share, nearness),
        unsearched=lambda one, why: _nothing(one, setup, why, 0.0),
        result_of=lambda oracles: oracles.result,
        over=too_late(setup),
    )
    best = _best(found)
    if len(found) == 1:  # its own problem, which evaluates its sets
        return replace(found[0][1], result=best.result)
    if nearness is None or best.result.key is None:
        return best
    if not best.proven:  # no threshold is known, and the sets may be worse than the best selection
        return replace(best, diagram=Diagram.of_sets([]), least=None)
    return _NearBest(part, setup, found, best, began).oracles(nearness)


def _best(found: Sequence[tuple[int, Oracles]]) -> Oracles:
    result = best_result([(number, oracles.result) for number, oracles in found])
    key = result.key
    best = [oracles for _, oracles in found if oracles.result.key == key]
    feasible = [oracles.result for _, oracles in found if oracles.result.status is not Status.INFEASIBLE]
    if key is None:
        proven = not feasible
    else:  # after a limit, greedy search may have found better than the enumeration
        proven = all(reaches(key, one) for one in feasible) and all(oracles.proven for oracles in best)
    complete = proven and all(oracles.complete for oracles in best)
    return _united(best, result, complete=complete, proven=proven)


def _united(
    families: Sequence[Oracles], result: Result, *, complete: bool, proven: bool, units: Sequence[Any] | None = None
) -> Oracles:
    """Return the union of the optima of several references; `units`: names of its units, by default all units."""
    first = next((oracles for oracles in families if oracles.result.key == result.key), families[0])
    called = tuple(sorted({name for oracles in families for name in oracles.units}) if units is None else units)
    diagram = union_of([(oracles.diagram, oracles.units) for oracles in families], called)
    lengths = {name: size for oracles in families for name, size in zip(oracles.units, oracles.lengths, strict=True)}
    members = {name: held for oracles in families for name, held in oracles.names.members.items()}
    return replace(
        first,
        result=result,
        diagram=diagram,
        bound=first.value if proven else None,
        complete=complete,
        termination="completed" if complete else _ended(families, result),
        names=UnitNames(called, members),
        lengths=tuple(lengths[name] for name in called),
        length_limits=(first.length_limits[0], max(oracles.length_limits[1] for oracles in families)),
        parents={name: parent for oracles in families for name, parent in oracles.parents.items()},
        tasks=tuple(task for oracles in families for task in oracles.tasks),
        best=None,
    )


def _ended(families: Sequence[Oracles], result: Result) -> str:
    """Return why the first incomplete enumeration ended; if all are complete, why the search of a result did."""
    return next((oracles.termination for oracles in families if not oracles.complete), result.termination.value)


def union_of(families: Sequence[tuple[Diagram, Sequence[Any]]], names: Sequence[Any]) -> Diagram:
    """Return the union of diagrams, each given with the ascending names of its units; `names`: names of all units."""
    number = {name: unit for unit, name in enumerate(names)}
    renamed = []
    for diagram, units in families:
        nodes = diagram.nodes.copy()
        nodes[2:, 0] = [number[units[unit]] for unit in nodes[2:, 0].tolist()]
        renamed.append(Diagram(nodes, diagram.root))
    return union(renamed) if renamed else Diagram.of_sets([])


class _NearBest:
    """The selections whose largest value on any reference is near the largest of all selections.

    They consist of units that share something with some reference, even if another one gives the largest value.
    """

    def __init__(
        self, part: Topic, setup: Setup, found: Sequence[tuple[int, Oracles]], best: Oracles, began: float
    ) -> None:
        self._topic, self._setup, self._found, self._best, self._began = part, setup, found, best, began
        self._units = sorted({name for _, oracles in found for name in oracles.units})
        self._tasks: dict[int, Task] = {}
        self._stopped = "completed"
        self._nodes = best.result.nodes

    def oracles(self, nearness: Nearness) -> Oracles:
        if nearness.values is not None:
            return self._best_values(nearness.values)
        best = [oracles for _, oracles in self._found if oracles.result.key == self._best.result.key]
        threshold = next((oracles.least for oracles in best if oracles.least is not None), None)
        if threshold is None:  # a limit ended the search before its threshold was known
            self._stopped = _ended(best, self._best.result)
            return self._united([], None)
        exactly = Nearness(key=threshold)
        near = [
            oracles
            if oracles.complete and oracles.least == threshold and [*oracles.units] == self._units
            else self._near(number, exactly)
            for number, oracles in self._found
        ]
        return self._united(near, threshold)

    def _best_values(self, wanted: int) -> Oracles:
        """Return the selections with the best `wanted` values, searching more values of each reference as needed."""
        asked, before = wanted, None
        while True:
            tops = [self._near(number, Nearness(values=asked)) for number, _ in self._found]
            if self._stopped != "completed":
                return self._united([], None)
            problems = [oracles.tasks[0].problem for oracles in tops]
            found = [value_counts([one], each.diagram) for one, each in zip(problems, tops, strict=True)]
            keys = sorted({key for counts in found for key, _ in counts}, reverse=True)
            all_known = keys == before  # more values of each reference would change nothing
            threshold = keys[-1] if all_known else keys[min(asked, len(keys)) - 1]
            while True:
                near = [self._near(number, Nearness(key=threshold)) for number, _ in self._found]
                if self._stopped != "completed":
                    return self._united(near, threshold)
                units = range(max(len(oracles.units) for oracles in near))
                sets = union_of([(oracles.diagram, range(len(oracles.units))) for oracles in near], units)
                reached = value_counts(problems, sets)
                if len(reached) <= wanted:
                    break
                threshold = reached[wanted - 1][0]
            if len(reached) == wanted or all_known:
                return self._united(near, threshold)
            asked, before = 2 * asked, keys

    def _near(self, number: int, nearness: Nearness) -> Oracles:
        """Return the near-optimal selections on one reference, of the common units; none after Ctrl-C."""
        began = clock()
        setup = replace(self._setup, limits=self._setup.limits.after(began - self._began))
        found, reason = None, Termination.INTERRUPTED
        if self._stopped != "interrupted":
            try:
                if number not in self._tasks:
                    kept, part = set(self._units), part_of(self._topic, number)
                    task = build(part, setup, setup.limits.building(), keep_unmatched=True)
                    others = [unit for unit, name in enumerate(task.units) if name not in kept]
                    self._tasks[number] = replace(task, problem=task.problem.without(others)) if others else task
                found = _enumerated(self._tasks[number], setup, nearness, began)
            except Stopped:
                reason = Termination.TIME_LIMIT
        if found is None:
            found = _nothing(part_of(self._topic, number), setup, reason, clock() - began)
        self._nodes += found.result.nodes
        if not found.complete:
            self._stopped = found.termination
        return found

    def _united(self, near: Sequence[Oracles], threshold: Fraction | None) -> Oracles:
        """Return the union of near-optimal selections on each reference; none if the threshold is unknown."""
        place = {name: unit for unit, name in enumerate(self._units)}
        first = None
        for oracles in (oracles for _, oracles in self._found if oracles.tasks):
            best = next(iter(oracles.diagram), None) if oracles.best is None else oracles.best
            # After a limit, greedy search may have found better than the sets.
            if best is not None and oracles.tasks[0].problem.evaluate(best).key == self._best.result.key:
                first = tuple(sorted(place[oracles.units[unit]] for unit in best))
                break
        complete = self._stopped == "completed"
        known = [oracles for oracles in near if oracles.tasks]
        every = [*known, *(oracles for _, oracles in self._found)]
        whole = _united(every, self._best.result, complete=complete, proven=True, units=self._units)
        sets = [(oracles.diagram, oracles.units) for oracles in known]
        diagram = union_of(sets, self._units) if threshold is not None else Diagram.of_sets([])
        seconds, why = clock() - self._began, Termination(self._stopped)
        result = self._best.result.changed(termination=why, seconds=seconds, nodes=self._nodes)
        return replace(
            whole,
            result=result,
            diagram=diagram,
            value=self._best.value,
            bound=self._best.value,
            termination=self._stopped,
            least=threshold,
            best=first,
            tasks=tuple(task for oracles in known for task in oracles.tasks) or self._best.tasks,
        )


def _nothing(topic: Topic, setup: Setup, why: Termination | Stopped, seconds: float) -> Oracles:
    result = unsolved(topic.id, setup, why, seconds=seconds)
    ended, names = result.termination.value, UnitNames(())
    return Oracles(Diagram.of_sets([]), 0, None, complete=False, termination=ended, result=result, names=names)


@postponing()
def _enumerate(topic: Topic, setup: Setup, nearness: Nearness | None) -> Oracles:
    began = clock()
    try:
        task = build(topic, setup, setup.limits.building())
    except Stopped as stop:
        return _nothing(topic, setup, stop, clock() - began)
    return _enumerated(task, setup, nearness, began)


@postponing()
def _enumerated(task: Task, setup: Setup, nearness: Nearness | None, began: float) -> Oracles:
    built, strategy = clock(), setup.strategy
    task.problem.prepare()
    strategy.prepare(task.problem)
    limits = setup.limits.after(clock() - began)
    if nearness is None:
        optima = strategy.enumerate(task.problem, limits)
    else:
        optima = strategy.near(task.problem, nearness, replace(limits, memory=min(limits.memory, _NEAR_BYTES)))
    result, optima = result_of_sets(task.problem, strategy, optima, clock() - built, limits)
    of_problem = {
        "result": finished(task, setup, result, began=began, built=built),
        "names": UnitNames(task.units, task.members),
        "lengths": task.problem.lengths,
        "length_limits": (task.problem.min_length, min(task.problem.max_length, sum(task.problem.lengths))),
        "parents": task.parents,
        "tasks": (task,),
    }
    return Oracles(**{**vars(optima), **of_problem})


_LIMIT_S: Final = 10.0  # Default time limit for the optima in details, which are only displayed.
_LISTED: Final = 50  # Number of optima that are listed; shares count all.


def with_details(part: Topic, setups: Sequence[Setup], solve_part: Callable[[Topic], list[Result]]) -> list[Result]:
    """Search a problem, and add details to its first result; if Ctrl-C comes meanwhile, the last is interrupted."""
    results = solve_part(part)
    if results[-1].termination is Termination.INTERRUPTED:
        return results
    failed = all(result.status is Status.ERROR for result in results)
    oracles = None if failed else _details_oracles(part, setups[0].options)
    if oracles is not None and oracles.termination == Termination.INTERRUPTED:
        return [*results[:-1], unsolved(part.id, setups[-1], Termination.INTERRUPTED)]
    found = details_of(part, setups[0], None if oracles is None else _shown(oracles))
    return [results[0].changed(extra={**results[0].extra, "details": found}), *results[1:]]


def _details_oracles(part: Topic, options: Options) -> Oracles | None:
    """Return the optima of a problem; None instead of an error if they cannot be enumerated."""
    wanted = options.model_copy(
        update={
            "strategy": DEFAULT_EXACT,
            "time_limit": _LIMIT_S if options.time_limit is None else options.time_limit,
            **dict.fromkeys(("strategy_options", "backend_options"), ()),
            **dict.fromkeys(("node_limit", "evaluation_limit", "gap", "target")),
        }
    )
    with suppress(OptsumError):
        if not refused(wanted):
            warm_up(setup := setup_of(wanted))
            return oracles_of(part, setup)
    return None


def _shown(oracles: Oracles) -> dict[str, Any] | None:
    """Return number, completeness, first sets and shares of units of optima, in JSON form; None if none is proven."""
    if not oracles or not oracles.proven:
        return None
    members, shares = oracles.names.members, oracles.share() if oracles.complete else {}
    every = [
        [listed(one), round(float(held), 6)] for unit, held in shares.items() for one in members.get(unit, (unit,))
    ]
    return {
        "count": oracles.count,
        "complete": oracles.complete,
        "listed": [list(map(listed, optimum)) for optimum in islice(oracles, _LISTED)],
        "shares": every if oracles.complete else None,
    }
