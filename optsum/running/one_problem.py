"""One problem of a topic: build it, search it, turn the selection back into text, score the text."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from time import perf_counter
from typing import Any

from optsum.contracts.result import Result, Status, Termination, Timing
from optsum.contracts.run import CERTIFICATE_S
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Key
from optsum.deadline import NEVER, Deadline, TimeOver
from optsum.errors import OptionError
from optsum.metrics.rouge import rouge_all
from optsum.options.options import Options
from optsum.problem.formulation import Task
from optsum.running.best_reference import best_result, each_reference, for_each_reference, shares
from optsum.running.search import exact, search
from optsum.running.way import Way, way_of
from optsum.text.unfit import unfit

__all__ = ["answer", "best_of_references", "build", "count_sentences", "finished", "run_task", "spoilt", "unsolved"]


def build(topic: Topic, options: Options, deadline: Deadline = NEVER) -> Task:
    """Return the problem of a topic, with the units that the strategy must see.

    Raises
    ------
    TimeOver
        If it takes longer than the deadline allows.
    OptsumError
        If the topic cannot be a problem, or the formulation does not serve the options.
    """
    way = way_of(options)
    if way.best_of_references and len(topic.references) > 1:
        raise OptionError('A topic with several references is several problems with references="best": give one.')
    return _task_of(topic, way, deadline)


def spoilt(topic: Topic, options: Options) -> str | None:
    """Return what is to be said of a topic whose text the tokenizer spoils (`optsum.text.unfit`)."""
    return _spoilt(topic, way_of(options))


def _spoilt(topic: Topic, way: Way) -> str | None:
    if not way.formulation.has_metric:
        return None
    texts = chain(topic.sentences, chain.from_iterable(topic.references))
    return unfit(texts, way.spec_for(topic).analyzer.tokenizer)


def _task_of(topic: Topic, way: Way, deadline: Deadline) -> Task:
    task = way.formulation.task(topic, way.spec_for(topic).until(deadline))
    warning = _spoilt(topic, way)
    return task if warning is None else replace(task, notes={**task.notes, "warning": warning})


def answer(topic: Topic, options: Options, *, began: float) -> Result:
    """Search a topic as one problem, or as one for each reference where the best of them is wanted.

    Parameters
    ----------
    began : float
        `time.perf_counter` at which the work on the topic began.
    """
    way = way_of(options)
    found = _of_best_reference(topic, way, began) if way.best_of_references else _built_and_run(topic, way, began)
    return replace(found, sentence_count=count_sentences(topic))


def count_sentences(topic: Topic) -> int | None:
    """Return how many sentences a topic has, if they are called by their numbers."""
    return None if topic.cover is not None and "sentence_ids" in topic.meta else len(topic.sentences)


def _of_best_reference(topic: Topic, way: Way, began: float) -> Result:
    starts = iter([began])  # the time of reading is that of the first reference
    limits = shares(way.limits.time_s, topic)

    def single(part: Topic) -> Result:
        start = next(starts, perf_counter())
        return _built_and_run(part, replace(way, limits=replace(way.limits, time_s=next(limits))), start)

    return best_of_references(topic, way, single)


def best_of_references(topic: Topic, way: Way, single: Callable[[Topic], Result]) -> Result:
    """Return the result of the reference that gives most.

    What was found for one reference may be worth more on another, where the search for that one missed it: every
    selection is held against all references, unless the best is proven.

    Parameters
    ----------
    single : callable
        Searches the topic with one of its references.

    Notes
    -----
    A time limit is shared by the references. Each gets half a second more to be held against all selections; what is
    not built by then stays as it was found.
    """
    results = for_each_reference(topic, single, result_of=lambda result: result)
    best = best_result(results)
    if best.status in {Status.OPTIMAL, Status.INFEASIBLE}:
        return best
    found = [result.selection for _, result in results if result.selection is not None]
    parts = dict(each_reference(topic))
    return best_result([(number, _with_best(parts[number], way, old, found)) for number, old in results])


def _with_best(part: Topic, way: Way, old: Result, found: Iterable[tuple[Any, ...]]) -> Result:
    """Return a result with the best of the selections, as the input numbers them, that were found for any reference."""
    deadline = NEVER if way.limits.time_s is None else Deadline(CERTIFICATE_S)
    try:
        task = way.formulation.task(part, way.spec_for(part).with_all_units().until(deadline))
    except TimeOver:
        return old
    number_of = {name: unit for unit, name in enumerate(task.units)}
    key, better = old.key, None
    for names in dict.fromkeys(found):
        if not number_of.keys() >= set(names):
            continue
        selection = tuple(sorted(number_of[name] for name in names))
        evaluation = task.problem.evaluate(selection)
        if evaluation.feasible and (key is None or task.problem.sense.better(evaluation.key, key)):
            key, better = evaluation.key, (selection, evaluation)
    if better is None:
        return old
    selection, evaluation = better
    held = replace(
        old,
        status=Status.FEASIBLE,
        objective=float(evaluation.value),
        objective_exact=exact(evaluation.key),
        selection=selection,
    )
    now = perf_counter()
    result = _finished(task, way, held, began=now, built=now)
    return replace(result, seconds=old.seconds, timing=old.timing, statistics=old.statistics)


def _built_and_run(topic: Topic, way: Way, began: float) -> Result:
    try:
        task = _task_of(topic, way, Deadline(way.limits.time_s))
    except TimeOver:
        return _unsolved(topic.id, way, Termination.TIME_LIMIT, perf_counter() - began)
    return _run(task, way, began, None)


def unsolved(name: str | None, options: Options, termination: Termination, *, seconds: float = 0.0) -> Result:
    """Return the result of a problem whose search has not begun."""
    return _unsolved(name, way_of(options), termination, seconds)


def _unsolved(name: str | None, way: Way, termination: Termination, seconds: float) -> Result:
    timing = Timing(text_s=seconds, search_s=0.0)
    return replace(way.blank, id=name, termination=termination, seconds=seconds, timing=timing)


def run_task(task: Task, options: Options, *, began: float | None = None, root_bound: Key | None = None) -> Result:
    """Search a task and turn the answer back into text.

    Parameters
    ----------
    began : float, optional
        `time.perf_counter` at which the work on the topic began; now, if not given.
    root_bound : Key, optional
        The problem's, if it is known already.
    """
    return _run(task, way_of(options), perf_counter() if began is None else began, root_bound)


def _run(task: Task, way: Way, began: float, root_bound: Key | None) -> Result:
    # A topic's randomness depends on its id, not on its place in the file or on the worker that gets it.
    seed = way.seed + zlib.crc32(task.id.encode("utf-8", "surrogatepass"))
    built = perf_counter()
    limits = way.limits.after(built - began)
    result = search(task.problem, way.strategy, limits, seed, root_bound=root_bound)
    return _finished(task, way, result, began=began, built=built)


def finished(task: Task, options: Options, result: Result, *, began: float, built: float) -> Result:
    """Return the result of a search with all that the topic adds: the units' names, the text and its scores.

    Parameters
    ----------
    began, built : float
        `time.perf_counter` when the work on the topic began, and when its problem was there.
    """
    return _finished(task, way_of(options), result, began=began, built=built)


def _finished(task: Task, way: Way, result: Result, *, began: float, built: float) -> Result:
    found: dict[str, Any] = {}
    if result.selection is not None:
        found["selection"] = task.name_units(result.selection)
        found["length"] = task.length(result.selection)
        sentences = task.decode(result.selection)
        if sentences is not None:
            shown = task.display(result.selection) or ()
            found["summary"] = tuple(text if isinstance(text, str) else " ".join(text) for text in shown)
        if sentences is not None and task.references:
            scores = rouge_all(sentences, task.references, way.scores, analyzer=task.analyzer)
            found["rouge"] = {
                name: {"recall": score.recall, "precision": score.precision, "f1": score.f1}
                for name, score in scores.items()
            }
        totals = task.problem.totals(result.selection)
        if len(totals) == 2 and way.blank.metric is not None:
            found["numerator"], found["denominator"] = totals
    ended = perf_counter()
    return replace(
        result,
        id=task.id,
        formulation=way.blank.formulation,
        metric=way.blank.metric,
        seed=way.seed,
        seconds=ended - began,
        timing=replace(result.timing, text_s=built - began, search_s=result.seconds),
        statistics={**result.statistics, **task.notes},
        config_hash=way.blank.config_hash,
        extra={
            **result.extra,
            **{name: result.statistics[name] for name in ("feasible",) if name in result.statistics},
        },
        **found,
    )
