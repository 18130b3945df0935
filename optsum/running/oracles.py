"""All optima of a topic, in the input's own numbering."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from optsum.contracts.result import Enumeration, Result, Termination
from optsum.corpus.given import AnyTopics
from optsum.corpus.topic import Topic
from optsum.deadline import Deadline, TimeOver
from optsum.errors import UnsupportedError, visible
from optsum.notebook import facts, marked_text
from optsum.optima.counting import count_feasible, count_feasible_forest
from optsum.optima.optima import Names, Optima
from optsum.options.options import Options, resolve
from optsum.problem.formulation import Task
from optsum.registry import STRATEGIES
from optsum.running.best_reference import best_result, for_each_reference, reaches, shares, union_of
from optsum.running.each_topic import attempt, charged, each_topic, single_problem
from optsum.running.one_problem import build
from optsum.running.results import count_sentences, finished, unsolved
from optsum.running.search import result_of_sets
from optsum.running.setup import Setup, setup_of
from optsum.running.warm import warm_up

__all__ = ["Oracles", "enumerate_optima", "enumerate_topics", "oracles_of", "resolve_enumeration"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Oracles(Optima):
    """The selections of a topic that no other beats, of what the input calls the units.

    Iteration yields sorted tuples, in a fixed order, each once; lazily, for there may be 1e10 of them.

    Attributes
    ----------
    result : Result
        The first of them as one result: objective, bound, status, text.
    names : Names
        What the input calls the units.
    lengths, length_limits : tuple of int
        Of those units, and the least and largest sum of a selection's.
    parents : mapping
        The unit without which a unit cannot be chosen, where there is one.
    tasks : tuple of Task
        What makes text of them; several where references were searched one by one.
    """

    result: Result
    names: Names
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
        source, shares = self.result.shown_source(), self.share()
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

    @property
    def id(self) -> str | None:
        """The topic."""
        return self.result.id

    @property
    def units(self) -> tuple[Any, ...]:
        """What the input calls the units of the problem."""
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

    def to_result(self, *, max_solutions: int = 100, minimal: bool = False) -> Result:
        """Return the row of an enumeration.

        Parameters
        ----------
        max_solutions : int
            How many of the optima are listed; 0 for none. Has nothing to do with `count`.
        minimal : bool
            List only optima that contain no other, and count them as ``minimal_count``.

        Notes
        -----
        If a limit was reached, ``count`` is a lower bound (0 where the value is not proven to be the optimum), and
        what all or none of the optima hold is not known: ``always`` and ``never`` are None.
        """
        listed = self.minimal() if minimal else self
        proven = self.proven  # otherwise the sets held are good ones, and may be no optima
        found = Enumeration(
            count=self.count if proven else 0,
            complete=self.complete,
            units=len(self.units),
            minimal_count=(listed.count if proven else 0) if minimal else None,
            optima=list(islice(listed, max_solutions if proven else 0)) if max_solutions else None,
            always=self.always if self.complete else None,
            never=self.never if self.complete else None,
        )
        return replace(self.result, enumeration=found)


def resolve_enumeration(given: Mapping[str, Any], *, config: str | Path | None = None) -> Options:
    """Return the options of an enumeration: as `optsum.options.options.resolve`, with branch and bound by default.

    Raises
    ------
    UnsupportedError
        If the strategy finds one optimum only.
    """
    options = resolve(given, config=config, strategy="branch-and-bound")
    if not options.searcher().enumerates:
        able = " or ".join(name for name in STRATEGIES if STRATEGIES.load(name).enumerates)
        raise UnsupportedError(f"The strategy {options.strategy} does not enumerate optima: use {able}.")
    return options


def enumerate_optima(topic: Topic | Mapping[str, Any], *, config: str | Path | None = None, **options: Any) -> Oracles:
    """Return all optima of one topic.

    Parameters
    ----------
    topic, config, **options
        As in `optsum.solve`; the strategy is branch-and-bound unless another is asked for.

    Returns
    -------
    Oracles
        At a limit, what is known by then: see ``complete`` and ``result``.

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
    """
    setup = setup_of(resolve_enumeration(options, config=config))
    ready, began = warm_up(setup), perf_counter()
    problem = single_problem(topic, setup)
    found = oracles_of(problem, setup, began=began)
    return replace(found, result=replace(charged(found.result, ready), source=problem.documents))


def enumerate_topics(
    topics: AnyTopics, options: Options, *, max_solutions: int = 100, minimal: bool = False
) -> Generator[list[Result], None, None]:
    """Enumerate the optima of topics one after another; yields the rows of each topic together."""
    setup = setup_of(options)
    shape = partial(Oracles.to_result, max_solutions=max_solutions, minimal=minimal)
    return each_topic(topics, [setup], partial(_enumerate_part, setup=setup, shape=shape))


def _enumerate_part(part: Topic, setup: Setup, shape: Callable[[Oracles], Result]) -> list[Result]:
    began = perf_counter()
    return [attempt(part, setup, lambda: shape(oracles_of(part, setup, began=began)))]


def oracles_of(part: Topic, setup: Setup, *, began: float) -> Oracles:
    """Return all optima of a topic that is one problem; `began` as in `optsum.running.one_problem.answer`."""
    oracles = _oracles(part, setup, began)
    return replace(oracles, result=replace(oracles.result, sentence_count=count_sentences(part)))


def _oracles(part: Topic, setup: Setup, began: float) -> Oracles:
    if not setup.best_of_references:
        return _enumerate(part, setup, began)
    starts, setups = iter([began]), shares(setup, part)
    return _best(
        for_each_reference(
            part,
            lambda one: _enumerate(one, next(setups), next(starts, perf_counter())),
            result_of=lambda oracles: oracles.result,
        )
    )


def _best(found: Sequence[tuple[int, Oracles]]) -> Oracles:
    """Return the optima of the references that give most: each set once."""
    result = best_result([(number, oracles.result) for number, oracles in found])
    reaching = [oracles for _, oracles in found if oracles.result.key == result.key]
    proven = result.key is not None and all(reaches(result.key, oracles.result) for _, oracles in found)
    diagram, units = union_of([(oracles.diagram, oracles.units) for oracles in reaching])
    lengths = {name: size for oracles in reaching for name, size in zip(oracles.units, oracles.lengths, strict=True)}
    complete = proven and all(oracles.complete for oracles in reaching)
    first = reaching[0]
    return replace(
        first,
        result=replace(result, enumeration=Enumeration(count=diagram.count, complete=complete)),
        diagram=diagram,
        bound=first.value if proven else max(first.bound, first.value + 1),
        complete=complete,
        termination="completed" if complete else result.termination.value,
        names=Names(units, {name: members for oracles in reaching for name, members in oracles.names.members.items()}),
        lengths=tuple(lengths[name] for name in units),
        length_limits=(first.length_limits[0], max(oracles.length_limits[1] for oracles in reaching)),
        parents={name: parent for oracles in reaching for name, parent in oracles.parents.items()},
        tasks=tuple(task for oracles in reaching for task in oracles.tasks),
    )


def _enumerate(topic: Topic, setup: Setup, began: float) -> Oracles:
    try:
        task = build(topic, setup, Deadline(setup.limits.time_s))
    except TimeOver:
        nothing = Optima.of_sets([], 0, 1, complete=False, termination="time_limit")
        late = unsolved(topic.id, setup, Termination.TIME_LIMIT, seconds=perf_counter() - began)
        late = replace(late, enumeration=Enumeration(count=0, complete=False))
        return _with_names(nothing, result=late, names=Names(()))
    built = perf_counter()
    strategy = setup.strategy
    task.problem.prepare()
    strategy.prepare(task.problem)
    optima = strategy.enumerate(task.problem, setup.limits.after(perf_counter() - began))
    result = result_of_sets(task.problem, strategy, optima, perf_counter() - built)
    return _with_names(
        optima,
        result=finished(task, setup, result, began=began, built=built),
        names=Names(task.units, task.members),
        lengths=task.problem.lengths,
        length_limits=(task.problem.min_length, min(task.problem.max_length, sum(task.problem.lengths))),
        parents=task.parents,
        tasks=(task,),
    )


def _with_names(optima: Optima, **known: Any) -> Oracles:
    """Return optima of a problem as those of its topic."""
    held = {item.name: getattr(optima, item.name) for item in fields(Optima)}
    return Oracles(**{**held, **known})
