"""Fields of a result beside the search: the topic's names for the units, the text, its scores, what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from optsum.contracts.result import Result, Termination, Timing
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Sense
from optsum.metrics.rouge import Score
from optsum.metrics.similarity import GreedyMatching
from optsum.options.signature import signature
from optsum.problem.formulation import Task
from optsum.running.setup import Setup
from optsum.system.clock import clock


def unsolved(name: str | None, setup: Setup, termination: Termination, *, seconds: float = 0.0) -> Result:
    """Return the result of a problem whose search has not begun."""
    timing = Timing(text_s=seconds, search_s=0.0)
    own: dict[str, Any] = {"statistics": {}, "extra": {}}  # none that another result has too
    return setup.blank.changed(id=name, termination=termination, seconds=seconds, timing=timing, **own)


def finished(
    task: Task, setup: Setup, result: Result, *, began: float, built: float, sentence_count: int | None = None
) -> Result:
    """Return the result of a search with all that the topic adds: the units' names, the text and its scores.

    `began`, `built`: `optsum.system.clock.clock` when the work on the topic began, and when its problem was there.
    """
    found: dict[str, Any] = {} if sentence_count is None else {"sentence_count": sentence_count}
    more: Mapping[str, Any] = {}
    if result.selection is not None:
        found["selection"] = task.name_units(result.selection)
        found["length"] = task.length(result.selection)
        if (text := task.text(result.selection)) is not None:
            found["summary"] = text
        if (scores := task.scores(result.selection, setup.scores)) is not None:
            found["rouge"] = {name: shown(score) for name, score in scores.items()}
        totals = task.problem.totals(result.selection)
        if len(totals) == 2 and setup.formulation.sense is Sense.MAXIMIZE and setup.formulation.reads_topics:
            found["numerator"], found["denominator"] = totals
        more = task.found(result.selection)
    statistics, ended = result.statistics, clock()
    return result.changed(
        id=task.id,
        formulation=setup.blank.formulation,
        metric=setup.blank.metric,
        seed=setup.options.seed,
        seconds=ended - began,
        timing=Timing(text_s=built - began, search_s=result.seconds, bound_s=result.timing.bound_s),
        statistics={**statistics, **task.notes} if task.notes else statistics,
        config_hash=setup.blank.config_hash,
        signature=signature_of(setup, task.analyzer.tokenizer),
        extra={
            **result.extra,
            **more,
            **{name: statistics[name] for name in ("ran", "feasible") if name in statistics},
        },
        **found,
    )


def shown(score: Score | GreedyMatching) -> dict[str, float]:
    """Return a score as results have it."""
    return {"recall": score.recall, "precision": score.precision, "f1": score.f1}


@lru_cache(maxsize=64)
def signature_of(setup: Setup, tokenizer: str) -> str:
    """Return `Result.signature`, the same for all topics."""
    return signature(setup.options, tokenizer)


def count_sentences(topic: Topic) -> int | None:
    """Return how many sentences a topic has, if they are called by their numbers."""
    return None if topic.cover is not None and "sentence_ids" in topic.meta else len(topic.sentences)
