"""Does every strategy keep a time limit, whatever the objective? The largest topic of each set, and a synthetic one.

    python benchmarks/limits.py DATA_FOLDER [--sets squality,dbs,gum] [--limit 1] [--strategies a,b]
        [--synthetic 3000] [--worst 20] [--interrupt]

Each search has a process of its own, which is killed after 20 limits; kernels are compiled beforehand and do not count.
Prints the cases that took longest, from the topic to the result, and what bound they had. With --interrupt nothing is
limited: a search gets SIGINT, as by Ctrl-C, when it has lasted one limit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

from shared.compiled import compile_at_once

import optsum
from optsum.corpus.topic import Topic, as_topic
from optsum.registry import STRATEGIES

METRICS = ("rouge-1", "rouge-2", "rouge-1+rouge-2")
AXES = (METRICS, ("recall", "f1"), ("pooled", "mean"), ("sentence", "joined"))
_GIVEN_UP = 20


class Case(NamedTuple):
    """One search: how long it took (None: it was killed), and what came of it."""

    topic: str
    options: dict[str, Any]
    seconds: float | None
    outcome: str


def largest(path: Path) -> Topic:
    """Return the topic of a file that has most sentences."""
    topics = (topic for topic in optsum.read_topics(path) if isinstance(topic, Topic))
    return max(topics, key=lambda topic: len(topic.sentences))


def synthetic(topics: Iterable[Topic], sentences: int, seed: int = 0) -> Topic:
    """Return a topic of so many sentences: the words of others, mixed, with four references."""
    rng = Random(seed)
    words = [word for topic in topics for sentence in topic.sentences for word in str(sentence).split()]

    def text(count: int) -> list[str]:
        return [" ".join(rng.choices(words, k=rng.randint(8, 25))) for _ in range(count)]

    return as_topic({"id": "synthetic", "documents": [text(sentences)], "references": [text(12) for _ in range(4)]})


def searched(topic: Topic, options: dict[str, Any], limit: float, interrupt: bool) -> Case:
    """Search in a process of its own."""
    near, far = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        began = perf_counter()
        try:
            result = optsum.solve(topic, **options)
            outcome = f"{result.status.value}, {result.termination.value}, bound {result.bound}"
        except (optsum.OptsumError, KeyboardInterrupt) as error:
            outcome = f"{type(error).__name__}: {error}"
        far.send((perf_counter() - began, outcome))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    came = interrupt and near.poll(limit)
    if interrupt and not came and process.pid is not None:
        os.kill(process.pid, signal.SIGINT)
    came = came or near.poll(_GIVEN_UP * limit)
    seconds, outcome = near.recv() if came else (None, "killed")
    process.kill()
    process.join()
    return Case(topic.id, options, seconds, outcome)


def cases(topics: Iterable[Topic], strategies: Iterable[str], limit: float, interrupt: bool) -> Iterator[Case]:
    """Yield every topic with every strategy and objective."""
    small = {"id": "small", "documents": [["a b c", "b c d", "d e"]], "references": [["a b d"], ["b c e"]]}
    for strategy, (metric, measure, references, boundaries) in product(strategies, product(*AXES)):
        options: dict[str, Any] = {
            "strategy": strategy, "metric": metric, "measure": measure, "references": references,
            "boundaries": boundaries, "max_length": 250, "time_limit": None if interrupt else limit,
        }  # fmt: skip
        try:
            optsum.solve(small, **options)  # compiles what is to be compiled
        except optsum.UnsupportedError:
            continue
        for topic in topics:
            yield searched(topic, options, limit, interrupt)


def main() -> None:
    """Run all cases and print the worst."""
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default="squality,dbs,gum")
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--synthetic", type=int, default=3000, help="sentences of the synthetic topic; 0 for none")
    parser.add_argument("--worst", type=int, default=20)
    parser.add_argument("--interrupt", action="store_true", help="Ctrl-C instead of a limit")
    given = parser.parse_args()
    topics = [largest(given.folder / name / "topics.jsonl") for name in given.sets.split(",")]
    if given.synthetic:
        topics.append(synthetic(topics, given.synthetic))
    done: list[Case] = []
    for case in cases(topics, given.strategies.split(","), given.limit, given.interrupt):
        done.append(case)
        if case.seconds is None or case.seconds > 2 * given.limit:
            print("late:", *line(case), flush=True)
    late = sum(case.seconds is None or case.seconds > 2 * given.limit for case in done)
    print(f"{len(done)} searches, {late} of them later than {2 * given.limit:g} s; the longest:")
    for case in sorted(done, key=lambda one: -(one.seconds or float("inf")))[: given.worst]:
        print(*line(case))


def line(case: Case) -> Iterator[str]:
    """Yield the words of one line."""
    yield "killed" if case.seconds is None else f"{case.seconds:6.2f} s"
    yield case.topic
    yield from (str(case.options[name]) for name in ("strategy", "metric", "measure", "references", "boundaries"))
    yield f"({case.outcome})"


if __name__ == "__main__":
    main()
