"""One problem of a topic: build it, search it, and let the result speak of the topic."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

from optsum.contracts.result import Result, Termination
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Key
from optsum.errors import OptionError
from optsum.problem.formulation import Task
from optsum.running.best_reference import best_of_references
from optsum.running.results import count_sentences, finished, unsolved
from optsum.running.search import searched
from optsum.running.setup import Setup
from optsum.system.clock import clock
from optsum.system.deadline import NEVER, Deadline, TimeOver
from optsum.system.processes.signal_guard import postponing


@postponing()
def build(topic: Topic, setup: Setup, deadline: Deadline = NEVER, *, keep_unmatched: bool = False) -> Task:
    """Return the problem of a topic, with the units that the strategy must see.

    `keep_unmatched`: whether there are units that have nothing of the references, whatever the options say.
    """
    return _built(topic, setup, deadline, keep_unmatched=keep_unmatched)


def _built(topic: Topic, setup: Setup, deadline: Deadline, *, keep_unmatched: bool = False) -> Task:
    if setup.best_of_references and len(topic.references) > 1:
        raise OptionError('A topic with several references is several problems with references="best": give one.')
    setup.refuse_lost(topic)
    spec, warning = setup.spec_for(topic), setup.warning_of(topic)
    spec = replace(spec, keep_unmatched=True) if keep_unmatched else spec
    task = setup.formulation.task(topic, spec.until(deadline))
    task = task if warning is None else replace(task, notes={**task.notes, "warning": warning})
    return task if topic.start is None else replace(task, start=topic.start)


@postponing()
def answer(topic: Topic, setup: Setup, *, began: float) -> Result:
    """Search a topic as one problem, or as one for each reference where the best of them is wanted.

    `began`: `optsum.system.clock.clock` at which the work on the topic began.
    """
    if setup.best_of_references:
        starts = iter([began])  # the time of reading is that of the first reference

        def single(number: int, part: Topic, setup: Setup, root_bound: Key | None) -> Result:
            del number
            return _built_and_run(part, setup, next(starts, clock()), root_bound)

        return best_of_references(topic, setup, single).changed(sentence_count=count_sentences(topic))
    return _built_and_run(topic, setup, began)


def _built_and_run(topic: Topic, setup: Setup, began: float, root_bound: Key | None = None) -> Result:
    try:
        task = _built(topic, setup, setup.limits.building())
    except TimeOver:
        late = unsolved(topic.id, setup, Termination.TIME_LIMIT, seconds=clock() - began)
        return late.changed(sentence_count=count_sentences(topic))
    return run_task(task, setup, began=began, root_bound=root_bound, sentence_count=count_sentences(topic))


def run_task(
    task: Task,
    setup: Setup,
    *,
    began: float | None = None,
    root_bound: Key | None = None,
    sentence_count: int | None = None,
) -> Result:
    """Search a task and turn the answer back into text; whoever calls it postpones Ctrl-C where it must be.

    `began`: `optsum.system.clock.clock` at which the work on the topic began; now, if not given.
    """
    # A topic's randomness depends on its id, not on its place in the file or on the worker that gets it.
    seed = setup.options.seed + zlib.crc32(task.id.encode("utf-8", "surrogatepass"))
    built = clock()
    began = built if began is None else began
    limits = setup.limits.after(built - began)
    bound = "none" if setup.options.bound == "none" else "root"
    start = None if task.start is None else task.selection_of(task.start)
    known: dict[str, Any] = {"root_bound": root_bound, "bound": bound, "start": start}
    result = searched(task.problem, setup.strategy, limits, seed, ready=setup.kinds, **known)
    return finished(task, setup, result, began=began, built=built, sentence_count=sentence_count)
