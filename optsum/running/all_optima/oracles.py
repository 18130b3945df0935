"""All optima of a topic, in the input's own numbering."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final, Unpack

from optsum.contracts.enumeration import OptimaFields
from optsum.contracts.result import Result, Status, Termination
from optsum.corpus.given import AnyColumns, AnyTopics, topic_given
from optsum.corpus.topic import Topic, topic_to_json
from optsum.coverage.instance import Sense
from optsum.errors import OptsumError, UnsupportedError
from optsum.optima.diagram import Diagram
from optsum.optima.nearness import Nearness
from optsum.optima.optima import Optima, UnitNames
from optsum.options.keywords import Keywords
from optsum.options.options import OF_WORKERS, Options, check_solver_is_used, resolve
from optsum.problem.formulation import Task
from optsum.problem.problem import Problem
from optsum.registry import STRATEGIES
from optsum.running.all_optima import families
from optsum.running.all_optima.oracle_sets import Oracles
from optsum.running.best_reference import best_result, each_reference, for_each_reference, reaches, shares, union_of
from optsum.running.each_topic import attempt, charged, each_topic, single_problem
from optsum.running.one_problem import build
from optsum.running.posed import posed, prover_of
from optsum.running.results import count_sentences, finished, unsolved
from optsum.running.search import result_of_sets
from optsum.running.setup import Setup, setup_of
from optsum.running.warm import warm_up
from optsum.system.clock import clock
from optsum.system.deadline import TimeOver
from optsum.system.notebook import Words
from optsum.system.processes.signal_guard import postponing

NEAR_S: Final = 10.0  # Seconds a topic for what is near the optimum, where none are given.
_NEAR_BYTES: Final = 400_000_000  # Memory for it: a million nodes of a diagram.

_NO_MATTER: Final = {"preset", "seed", *OF_WORKERS}


def carrying(result: Result, details: Mapping[str, Any]) -> Result:
    """Return a result whose row has these details."""
    return result.changed(extra={**result.extra, "details": details})


def details_of(part: Topic, setup: Setup, optima: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the details of a problem, as a row has them.

    `part`: as it was searched: with the references that count. The result: ``options`` that are not the defaults;
    ``documents``, ``references`` and perhaps ``cover``, ``weights``, ``lengths`` as in a topic, with names of sentences
    and claims; ``parts``, for sentences that are not chosen as a whole: where each part begins, and which it is;
    ``optima`` as they are given.
    """
    options = setup.options.model_dump(mode="json", exclude_defaults=True, exclude=_NO_MATTER)
    text = topic_to_json(part)
    found: dict[str, Any] = {"options": options}
    named = ("documents", "references", "cover", "weights", "lengths")
    found |= {name: text[name] for name in named if name in text}
    found |= {name: part.meta[name] for name in ("sentence_ids", "abstract_ids") if part.meta.get(name) is not None}
    parts = _parts(part, setup)
    if parts is not None:
        found["parts"] = parts
    if optima is not None:
        found["optima"] = dict(optima)
    return found


def _parts(part: Topic, setup: Setup) -> list[list[tuple[int, int]]] | None:
    if setup.formulation.whole_sentences:
        return None
    try:
        return build(part, setup).parts()
    except OptsumError:  # its row says why
        return None


def resolve_enumeration(
    given: Mapping[str, Any], nearness: Nearness | None = None, *, config: str | Path | None = None
) -> Options:
    """Return the options of an enumeration: as `optsum.options.options.resolve`, with branch and bound by default.

    Near-optimal sets can be any number, so that looking for them ends after 10 seconds a topic unless it is said.
    """
    check_solver_is_used(given, enumerates=True)
    options = resolve(given, config=config, strategy=prover_of(given))
    if not options.searcher().enumerates:
        able = " or ".join(name for name in STRATEGIES if STRATEGIES.load(name).enumerates)
        raise UnsupportedError(f"The strategy {options.strategy} does not enumerate optima: use {able}.")
    if nearness is None:
        return options
    if options.references == "best" and nearness.steps is not None:
        raise UnsupportedError(
            "The best of several references has no steps in common: use --within, --at-least or --best, or "
            "--references pooled."
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
    """Return all optima of one topic, or all selections that are nearly as good.

    Parameters
    ----------
    topic, summary, columns, config, **options
        As in `optsum.solve`; the strategy is branch-and-bound unless another is asked for. Near-optimal sets are looked
        for during 10 seconds, unless a time limit is given.
    within : number or text, optional
        All selections that lose at most this share of the best value: ``0.01`` or ``"1%"``.
    at_least : number or text, optional
        All selections whose objective is at least that (a cover: that are no longer).
    within_steps : int, optional
        All selections at most N integer steps below the best: recall against one reference has a step for each
        n-gram.
    best : int, optional
        All selections that have one of the N best different values.

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
    >>> near = enumerate_optima(topic, max_length=4, within_steps=1)
    >>> near.count, near.value_counts()
    (6, [(1.0, 3), (0.6666666666666666, 3)])
    """
    nearness = Nearness.given(within, at_least, within_steps, best)
    topic, named = posed(topic, options, config)
    setup = setup_of(resolve_enumeration(named, nearness, config=config))
    ready = warm_up(setup)
    _get_ready(setup, nearness)
    began = clock()
    problem = single_problem(topic_given(topic, summary, setup.options.reading, columns), setup)
    found = oracles_of(problem, setup, nearness, began=began)
    return replace(found, result=charged(found.result, ready).changed(source=problem.documents))


def enumerate_topics(
    topics: AnyTopics, options: Options, nearness: Nearness | None = None, *, details: bool = False, **shape: Any
) -> Generator[list[Result], None, None]:
    """Enumerate the optima of topics one after another; yields the rows of each topic together.

    `shape` is what `Oracles.to_result` takes; with `details` rows carry the text (`optsum.running.all_optima.oracles`).
    """
    setup = setup_of(options)
    shaped = partial(Oracles.to_result, seed=options.seed, **shape)
    work = partial(_enumerate_part, setup=setup, nearness=nearness, shape=shaped)
    return each_topic(topics, [setup], partial(_with_text, setup=setup, work=work) if details else work)


def _with_text(part: Topic, setup: Setup, work: Callable[[Topic], list[Result]]) -> list[Result]:
    return [carrying(result, details_of(part, setup)) for result in work(part)]


def _enumerate_part(
    part: Topic, setup: Setup, nearness: Nearness | None, shape: Callable[[Oracles], Result]
) -> list[Result]:
    _get_ready(setup, nearness)
    began = clock()
    return [attempt(part, setup, lambda: shape(oracles_of(part, setup, nearness, began=began)))]


def _get_ready(setup: Setup, nearness: Nearness | None) -> None:
    """Compile or load the kernels of an enumeration, which a warm-up of searches leaves out."""
    if nearness is None:
        return
    families.prepare()
    if setup.formulation.sense is Sense.MINIMIZE:  # what is no longer than so much is searched as extracts are
        setup.strategy.prepare()


def oracles_of(part: Topic, setup: Setup, nearness: Nearness | None = None, *, began: float) -> Oracles:
    """Return all optima of a topic that is one problem, or all nearly optimal selections.

    `began` as in `optsum.running.one_problem.answer`.
    """
    oracles = _oracles(part, setup, nearness, began)
    return replace(oracles, result=oracles.result.changed(sentence_count=count_sentences(part)), nearness=nearness)


def _oracles(part: Topic, setup: Setup, nearness: Nearness | None, began: float) -> Oracles:
    if not setup.best_of_references:
        return _enumerate(part, setup, nearness, began)
    starts, setups = iter([began]), shares(setup, part)
    found = for_each_reference(
        part,
        lambda _, one: _enumerate(one, next(setups), nearness, next(starts, clock())),
        unsearched=lambda one: _nothing(one, setup, Termination.INTERRUPTED, 0.0),
        result_of=lambda oracles: oracles.result,
    )
    best = _best(found)
    if nearness is None or not best.proven or best.result.key is None:
        return best
    return _NearBest(part, setup, found, best, began).oracles(nearness)


def _best(found: Sequence[tuple[int, Oracles]]) -> Oracles:
    """Return the optima of the references that give most, each set once."""
    result = best_result([(number, oracles.result) for number, oracles in found])
    key = result.key
    best = [oracles for _, oracles in found if oracles.result.key == key]
    feasible = [oracles.result for _, oracles in found if oracles.result.status is not Status.INFEASIBLE]
    if key is None:
        proven = not feasible
    else:  # greedy search may have raised a result above the sets of an enumeration that a limit ended
        proven = all(reaches(key, one) for one in feasible) and all(oracles.proven for oracles in best)
    complete = proven and all(oracles.complete for oracles in best)
    return _united(best, result, complete=complete, proven=proven)


def _united(
    families: Sequence[Oracles],
    result: Result,
    *,
    complete: bool,
    proven: bool,
    units: Sequence[Any] | None = None,
) -> Oracles:
    """Return the families of several references as one, over `units` (by default all of theirs)."""
    first = next((oracles for oracles in families if oracles.result.key == result.key), families[0])
    diagram, called = union_of([(oracles.diagram, oracles.units) for oracles in families], units)
    lengths = {name: size for oracles in families for name, size in zip(oracles.units, oracles.lengths, strict=True)}
    return replace(
        first,
        result=result.changed(enumeration=OptimaFields(count=diagram.count, complete=complete)),
        diagram=diagram,
        bound=first.value if proven else None,
        complete=complete,
        termination="completed" if complete else result.termination.value,
        names=UnitNames(
            called, {name: members for oracles in families for name, members in oracles.names.members.items()}
        ),
        lengths=tuple(lengths[name] for name in called),
        length_limits=(first.length_limits[0], max(oracles.length_limits[1] for oracles in families)),
        parents={name: parent for oracles in families for name, parent in oracles.parents.items()},
        tasks=tuple(task for oracles in families for task in oracles.tasks),
        best=None,
    )


class _NearBest:
    """Selections whose best value against any reference is near the best there is.

    They are of one set of units, whichever reference gives a selection its value: those that have something of any
    reference.
    """

    def __init__(
        self, part: Topic, setup: Setup, found: Sequence[tuple[int, Oracles]], best: Oracles, began: float
    ) -> None:
        self._setup, self._found, self._best, self._began = setup, found, best, began
        self._units = sorted({name for _, oracles in found for name in oracles.units})
        self._parts = dict(each_reference(part))
        self._tasks: dict[int, Task] = {}
        self._stopped = "completed"
        self._nodes = best.result.nodes

    def oracles(self, nearness: Nearness) -> Oracles:
        """Return them, or what is known of them when a limit comes."""
        if nearness.values is not None:
            return self._best_values(nearness.values)
        threshold = max(oracles.least for _, oracles in self._found if oracles.least is not None)
        known = {
            number: oracles
            for number, oracles in self._found
            if oracles.least == threshold and [*oracles.units] == self._units
        }
        exactly = Nearness(key=threshold)
        return self._united(
            [known[number] if number in known else self._near(number, exactly) for number, _ in self._found], threshold
        )

    def _best_values(self, wanted: int) -> Oracles:
        """Return the selections of the k best values, asking each reference for more values as needed."""
        asked, before = wanted, None
        while True:
            tops = [self._near(number, Nearness(values=asked)) for number, _ in self._found]
            if self._stopped != "completed":
                return self._united([], None)
            problems = [oracles.tasks[0].problem for oracles in tops]
            found = [families.value_counts([one], each.diagram) for one, each in zip(problems, tops, strict=True)]
            keys = sorted({key for counts in found for key, _ in counts}, reverse=True)
            all_known = keys == before  # of each reference
            threshold = keys[-1] if all_known else keys[min(asked, len(keys)) - 1]
            while True:
                near = [self._near(number, Nearness(key=threshold)) for number, _ in self._found]
                if self._stopped != "completed":
                    return self._united(near, threshold)
                sets, _ = union_of([(oracles.diagram, range(len(oracles.units))) for oracles in near])
                reached = families.value_counts(problems, sets)
                if len(reached) <= wanted:
                    break
                threshold = reached[wanted - 1][0]
            if len(reached) == wanted or all_known:
                return self._united(near, threshold)
            asked, before = 2 * asked, keys

    def _near(self, number: int, nearness: Nearness) -> Oracles:
        """Return what is near against one reference, of the units of all; nothing more after Ctrl-C."""
        began = clock()
        setup = replace(self._setup, limits=self._setup.limits.after(began - self._began))
        found, reason = None, Termination.INTERRUPTED
        if self._stopped != "interrupted":
            try:
                if number not in self._tasks:
                    self._tasks[number] = self._task(self._parts[number], setup)
                found = _enumerated(self._tasks[number], setup, nearness, began)
            except TimeOver:
                reason = Termination.TIME_LIMIT
        if found is None:
            found = _nothing(self._parts[number], setup, reason, clock() - began)
        self._nodes += found.result.nodes
        if not found.complete:
            self._stopped = found.termination
        return found

    def _task(self, part: Topic, setup: Setup) -> Task:
        task = build(part, setup, setup.limits.building(), keep_unmatched=True)
        kept = set(self._units)
        others = [unit for unit, name in enumerate(task.units) if name not in kept]
        return replace(task, problem=task.problem.without(others)) if others else task

    def _united(self, near: Sequence[Oracles], threshold: Fraction | None) -> Oracles:
        """Return what is near against any reference; nothing but the best where the threshold is not known."""
        best, units = next(
            (next(iter(oracles.diagram)) if oracles.best is None else oracles.best, oracles.units)
            for _, oracles in self._found
            if oracles.result.key == self._best.result.key
        )
        place = {name: unit for unit, name in enumerate(self._units)}
        first = tuple(sorted(place[units[unit]] for unit in best))
        complete = self._stopped == "completed"
        known = [oracles for oracles in near if oracles.tasks]
        every = [*known, *(oracles for _, oracles in self._found)]
        whole = _united(every, self._best.result, complete=complete, proven=True, units=self._units)
        sets = [(oracles.diagram, oracles.units) for oracles in known]
        diagram = union_of(sets, self._units)[0] if threshold is not None else Diagram.of_sets([first])
        result = self._best.result.changed(
            enumeration=OptimaFields(count=diagram.count, complete=complete),
            termination=Termination(self._stopped),
            seconds=clock() - self._began,
            nodes=self._nodes,
        )
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


def _nothing(topic: Topic, setup: Setup, termination: Termination, seconds: float) -> Oracles:
    optima = Optima(Diagram.of_sets([]), 0, None, complete=False, termination=termination.value)
    result = unsolved(topic.id, setup, termination, seconds=seconds)
    result = result.changed(enumeration=OptimaFields(count=0, complete=False))
    return _with_names(optima, result=result, names=UnitNames(()))


@postponing()
def _enumerate(topic: Topic, setup: Setup, nearness: Nearness | None, began: float) -> Oracles:
    try:
        task = build(topic, setup, setup.limits.building())
    except TimeOver:
        return _nothing(topic, setup, Termination.TIME_LIMIT, clock() - began)
    return _enumerated(task, setup, nearness, began)


@postponing()
def _enumerated(task: Task, setup: Setup, nearness: Nearness | None, began: float) -> Oracles:
    built = clock()
    strategy = setup.strategy
    task.problem.prepare()
    strategy.prepare(task.problem)
    limits = setup.limits.after(clock() - began)
    if nearness is None:
        optima = strategy.enumerate(task.problem, limits)
    else:
        optima = strategy.near(task.problem, nearness, replace(limits, memory=min(limits.memory, _NEAR_BYTES)))
    result = result_of_sets(task.problem, strategy, optima, clock() - built, limits)
    if nearness is None and not optima.proven and result.status is Status.OPTIMAL:
        # The bound of the relaxation proves what the enumeration, which was stopped, could not.
        first = next(iter(optima), None)
        if first is not None and task.problem.evaluate(first).key == result.key:
            optima = replace(optima, bound=optima.value)
    return _with_names(
        optima,
        result=finished(task, setup, result, began=began, built=built),
        names=UnitNames(task.units, task.members),
        lengths=task.problem.lengths,
        length_limits=(task.problem.min_length, min(task.problem.max_length, sum(task.problem.lengths))),
        parents=task.parents,
        tasks=(task,),
    )


def _with_names(optima: Optima, **known: Any) -> Oracles:
    held = {item.name: getattr(optima, item.name) for item in fields(Optima)}
    return Oracles(**{**held, **known})
