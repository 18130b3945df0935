"""From a topic to a result: build the problem, search it, turn the selection back into text, score the text."""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from optsum.contracts.result import Result
from optsum.corpus.topic import Topic, as_topic
from optsum.coverage.instance import Key
from optsum.errors import OptionError
from optsum.metrics.names import parse_metric
from optsum.metrics.rouge import rouge_all
from optsum.options.options import Options, resolve
from optsum.problem.formulation import Task
from optsum.running.best_reference import best_result, for_each_reference
from optsum.running.each_topic import AnyTopic, attempt, each_topic, problems
from optsum.running.search import search
from optsum.running.warm import take_seconds, warm_up

__all__ = ["answer", "build", "count_sentences", "finished", "run_task", "solve", "solve_all", "solve_topics"]

_REPORTED = ("rouge-1", "rouge-2", "rouge-l")


def build(topic: Topic, options: Options) -> Task:
    """Return the problem of a topic, with the units that the strategy must see.

    Raises
    ------
    OptsumError
        If the topic cannot be a problem, or the formulation does not serve the options.
    """
    if options.references == "best" and len(topic.references) > 1:
        raise OptionError('A topic with several references is several problems with references="best": give one.')
    spec = options.spec(pretokenized=_pretokenized(topic))
    if options.searcher().all_units:
        spec = spec.with_all_units()
    return options.formulated().task(topic, spec)


def _pretokenized(topic: Topic) -> bool:
    return bool(topic.sentences) and all(isinstance(sentence, tuple) for sentence in topic.sentences)


def answer(topic: Topic, options: Options, *, began: float) -> Result:
    """Search a topic as one problem, or as one for each reference where the best of them is wanted.

    Parameters
    ----------
    began : float
        `time.perf_counter` at which the work on the topic began.
    """
    return replace(_answer(topic, options, began), sentence_count=count_sentences(topic))


def count_sentences(topic: Topic) -> int | None:
    """Return how many sentences a topic has, if they are called by their numbers."""
    return None if topic.cover is not None and "sentence_ids" in topic.meta else len(topic.sentences)


def _answer(topic: Topic, options: Options, began: float) -> Result:
    if options.references != "best":
        return run_task(build(topic, options), options, began=began)
    starts = iter([began])  # the time of reading is that of the first reference

    def single(part: Topic) -> Result:
        start = next(starts, perf_counter())
        return run_task(build(part, options), options, began=start)

    return best_result(for_each_reference(topic, single, result_of=lambda result: result))


def run_task(task: Task, options: Options, *, began: float | None = None, root_bound: Key | None = None) -> Result:
    """Search a task and turn the answer back into text.

    Parameters
    ----------
    began : float, optional
        `time.perf_counter` at which the work on the topic began; now, if not given.
    root_bound : Key, optional
        The problem's, if it is known already.
    """
    began = perf_counter() if began is None else began
    # A topic's randomness depends on its id, not on its place in the file or on the worker that gets it.
    seed = options.seed + zlib.crc32(task.id.encode("utf-8", "surrogatepass"))
    built = perf_counter()
    limits = options.limits().after(built - began)
    result = search(task.problem, options.searcher(), limits, seed, root_bound=root_bound)
    return finished(task, options, result, began=began, built=built)


def finished(task: Task, options: Options, result: Result, *, began: float, built: float) -> Result:
    """Return the result of a search with all that the topic adds: the units' names, the text and its scores.

    Parameters
    ----------
    began, built : float
        `time.perf_counter` when the work on the topic began, and when its problem was there.
    """
    found: dict[str, Any] = {}
    if result.selection is not None:
        found["selection"] = task.name_units(result.selection)
        found["length"] = task.length(result.selection)
        sentences = task.decode(result.selection)
        if sentences is not None:
            shown = task.display(result.selection) or ()
            found["summary"] = tuple(text if isinstance(text, str) else " ".join(text) for text in shown)
        if sentences is not None and task.references:
            scores = rouge_all(
                sentences,
                task.references,
                dict.fromkeys([*(part.name for part in parse_metric(options.metric).components), *_REPORTED]),
                analyzer=task.analyzer,
            )
            found["rouge"] = {
                name: {"recall": score.recall, "precision": score.precision, "f1": score.f1}
                for name, score in scores.items()
            }
        totals = task.problem.totals(result.selection)
        if len(totals) == 2 and options.reported_metric is not None:
            found["numerator"], found["denominator"] = totals
    ended = perf_counter()
    return replace(
        result,
        id=task.id,
        formulation=options.formulation,
        metric=options.reported_metric,
        seed=options.seed,
        seconds=ended - began,
        statistics={
            **result.statistics,
            **task.notes,
            "text_s": built - began,
            "search_s": result.seconds,
            **({"warm_up_s": warm} if (warm := take_seconds()) else {}),
        },
        config_hash=options.config_hash,
        extra={
            **result.extra,
            **{name: result.statistics[name] for name in ("feasible",) if name in result.statistics},
        },
        **found,
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
    resolved = resolve(options, config=config)
    warm_up(resolved)
    began = perf_counter()
    parts = list(problems(as_topic(topic), resolved))
    if len(parts) != 1:
        raise OptionError(
            'A topic with several references is several problems with references="each": use solve_all for them.'
        )
    return answer(parts[0], resolved, began=began)


def solve_all(
    topics: Iterable[AnyTopic],
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
        nothing. After Ctrl-C comes what was done by then, and then KeyboardInterrupt.

    Raises
    ------
    OptsumError
        At once, if the options cannot be used, or the solver is missing.
    """
    batches = solve_topics(topics, resolve(options, config=config))
    return (result for batch in batches for result in batch)


def solve_topics(topics: Iterable[AnyTopic], options: Options) -> Generator[list[Result], None, None]:
    """Solve topics as `solve_all` does, but yield the results of each topic together."""
    return each_topic(topics, [options], partial(_solve_part, options=options))


def _solve_part(part: Topic, options: Options) -> list[Result]:
    began = perf_counter()
    return [attempt(part, options, lambda: answer(part, options, began=began))]
