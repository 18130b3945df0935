"""From a topic to a result: build the problem, search it, turn the selection back into text, score the text."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

from optsum._version import __version__
from optsum.config import Options, resolve
from optsum.corpus.jsonl import BadTopic
from optsum.corpus.topic import Topic, as_topic
from optsum.coverage_problem import CoverageProblem
from optsum.errors import InputError, OptionError, OptsumError
from optsum.formulation import Formulation, Task
from optsum.metrics import parse_metric
from optsum.registry import FORMULATIONS, create_strategy
from optsum.result import Result, Status, Termination
from optsum.rouge_score import rouge_all
from optsum.searching import search
from optsum.strategy import Strategy

__all__ = ["build", "error_result", "problems", "run_task", "solve", "solve_all"]

_REPORTED = ("rouge-1", "rouge-2", "rouge-l")


@lru_cache(maxsize=64)
def _strategy(options: Options) -> Strategy:
    return create_strategy(options.strategy, options.strategy_options())


@lru_cache(maxsize=8)
def _formulation(name: str) -> Formulation:
    return FORMULATIONS.load(name)()


def problems(topic: Topic, options: Options) -> Iterator[Topic]:
    """Yield a topic as the problems it makes: itself, or ``id#r`` for each reference r (``references="each"``)."""
    if options.references == "each" and topic.references:
        for number, reference in enumerate(topic.references):
            yield replace(topic, id=f"{topic.id}#{number}", references=(reference,))
    else:
        yield topic


def build(topic: Topic, options: Options) -> Task:
    """Return the problem of a topic, with the units that the strategy must see.

    Raises
    ------
    OptsumError
        If the topic cannot be a problem, or the formulation does not serve the options.
    """
    spec = options.spec(pretokenized=_pretokenized(topic))
    if _strategy(options).all_units:
        spec = spec.with_all_units()
    return _formulation(options.formulation).build(topic, spec)


def _pretokenized(topic: Topic) -> bool:
    return bool(topic.sentences) and all(isinstance(sentence, tuple) for sentence in topic.sentences)


def run_task(task: Task, options: Options, *, began: float | None = None) -> Result:
    """Search a task and turn the answer back into text.

    Parameters
    ----------
    began : float, optional
        `time.perf_counter` at which the work on the topic began; now, if not given.
    """
    began = perf_counter() if began is None else began
    # A topic's randomness depends on its id, not on its place in the file or on the worker that gets it.
    seed = options.seed + zlib.crc32(task.id.encode("utf-8", "surrogatepass"))
    built = perf_counter()
    result = search(task.problem, _strategy(options), options.limits(), seed)
    finished: dict[str, Any] = {}
    if result.selection is not None:
        sentences = task.decode(result.selection)
        scores = rouge_all(
            sentences,
            task.references,
            dict.fromkeys([*(part.name for part in parse_metric(options.metric).components), *_REPORTED]),
            analyzer=task.analyzer,
        )
        finished["selection"] = task.name_units(result.selection)
        finished["summary"] = tuple(text if isinstance(text, str) else " ".join(text) for text in sentences)
        finished["rouge"] = {
            name: {"recall": score.recall, "precision": score.precision, "f1": score.f1}
            for name, score in scores.items()
        }
        if isinstance(task.problem, CoverageProblem) and task.problem.instance.ratios == 1:
            finished["numerator"], finished["denominator"] = task.problem.totals(result.selection)
    ended = perf_counter()
    return replace(
        result,
        id=task.id,
        formulation=options.formulation,
        metric=options.metric,
        seed=options.seed,
        seconds=ended - began,
        statistics={**result.statistics, "text_s": built - began, "search_s": result.seconds},
        config_hash=options.config_hash,
        **finished,
    )


def error_result(name: str | None, reason: str, options: Options) -> Result:
    """Return the row of a topic that could not be searched."""
    return Result(
        id=name,
        formulation=options.formulation,
        strategy=options.strategy,
        backend=_strategy(options).backend_name,
        metric=options.metric,
        status=Status.ERROR,
        termination=Termination.FAILED,
        seed=options.seed,
        version=__version__,
        config_hash=options.config_hash,
        error=reason,
    )


def solve(topic: Topic | Mapping[str, Any], *, config: str | Path | None = None, **options: Any) -> Result:
    """Solve one topic.

    Parameters
    ----------
    topic : Topic or dict
        ``{"id": ..., "documents": [[sentence, ...], ...], "references": [[sentence, ...], ...]}``
    config : path, optional
        A TOML file of options; keywords win over it.
    **options
        The command line's flags: ``max_length=100``, ``metric="rouge-2"``, ``strategy="milp"``, ...

    Returns
    -------
    Result

    Raises
    ------
    InputError
        If the topic cannot be used.
    OptionError
        If the options cannot be used.

    Examples
    --------
    >>> topic = {"id": "t", "documents": [["a b c", "c d", "e"]], "references": [["b c d"]]}
    >>> result = solve(topic, max_length=3, strategy="greedy")
    >>> result.selection, result.numerator, result.denominator
    ((1,), 2, 3)
    """
    began = perf_counter()
    resolved = resolve(options, config=config)
    parts = list(problems(as_topic(topic), resolved))
    if len(parts) != 1:
        raise OptionError(
            'A topic with several references is several problems with references="each": use solve_all for them.'
        )
    return run_task(build(parts[0], resolved), resolved, began=began)


def solve_all(
    topics: Iterable[Topic | BadTopic | Mapping[str, Any]],
    *,
    config: str | Path | None = None,
    **options: Any,
) -> Iterator[Result]:
    """Solve topics one after another, lazily, in the order of the input.

    Parameters
    ----------
    topics : iterable
        Topics, their JSON form, or what `optsum.read_topics` yields.
    config, **options
        As in `solve`; ``workers=2`` uses two processes.

    Yields
    ------
    Result
        One a problem. A topic that cannot be used is a result too (``status`` "error"), and costs the others
        nothing.

    Raises
    ------
    OptionError
        At once, if the options cannot be used.
    """
    resolved = resolve(options, config=config)
    _strategy(resolved)  # refuses an unknown strategy or solver before any work
    _formulation(resolved.formulation)
    if resolved.workers > 1:
        from optsum.workers import map_ordered

        return (result for batch in map_ordered(_solved, topics, resolved) for result in batch)
    return (result for topic in topics for result in _solved(topic, resolved))


def _solved(topic: Topic | BadTopic | Mapping[str, Any], options: Options) -> list[Result]:
    """Return the results of one topic, errors included."""
    if isinstance(topic, BadTopic):
        return [error_result(topic.id, f"{topic.source}: {topic.error}", options)]
    try:
        parts = list(problems(as_topic(topic), options))
    except InputError as error:
        named = topic.get("id") if isinstance(topic, Mapping) else None
        return [error_result(named if isinstance(named, str) else None, str(error), options)]
    results = []
    for part in parts:
        began = perf_counter()
        try:
            results.append(run_task(build(part, options), options, began=began))
        except OptsumError as error:
            where = f"{part.source}: " if part.source else ""
            results.append(error_result(part.id, f"{where}{error}", options))
        if results[-1].termination is Termination.INTERRUPTED:
            break
    return results
