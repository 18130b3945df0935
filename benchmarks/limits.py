"""Check that every strategy keeps time limits for all objectives, on the largest topics and synthetic ones.

    python benchmarks/limits.py DATA_FOLDER [--sets squality,dbs,gum] [--limit 1] [--strategies a,b]
        [--doors solve,near] [--metrics rouge-1,rouge-l] [--synthetic 3000] [--references 2000]
        [--sample 500] [--seed 0] [--worst 20] [--interrupt]

Each search runs in a separate process, which is killed after 20 times the limit; kernels are compiled beforehand. The
program prints the cases that ended latest after their limit, in wall-clock and CPU time (the smaller of both counts, so
that other work on the machine does not matter), and their bounds. With --interrupt there is no time limit: a search
gets SIGINT, as from Ctrl-C, after the time of the limit. With --sample, a random sample of the cases is run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any, NamedTuple

from shared.compiled import compile_at_once

import optsum
from optsum.corpus.topic import Topic, as_topic
from optsum.registry import STRATEGIES

METRICS = ("rouge-1", "rouge-2", "rouge-1+rouge-2")
AXES = (("recall", "f1"), ("pooled", "mean"), ("sentence", "joined"))
DOORS: dict[str, Callable[..., Any]] = {
    "solve": optsum.solve,
    "all": lambda topic, **options: optsum.enumerate_optima(topic, **options).to_result(max_solutions=0),
    "near": lambda topic, **options: optsum.enumerate_optima(topic, within="1%", **options).to_result(max_solutions=0),
    "frontier": optsum.frontier,
}
"""The functions that are called for a topic."""

_GIVEN_UP = 20
_TICKS = os.sysconf("SC_CLK_TCK")


class Case(NamedTuple):
    """One search: its delay in wall-clock and CPU time (None if it was killed), and its result."""

    topic: str
    door: str
    options: dict[str, Any]
    late: float | None
    used: float
    outcome: str

    @property
    def over(self) -> float:
        """Seconds after the limit."""
        return self.used if self.late is None else min(self.late, self.used)


def largest(path: Path) -> Topic:
    """Return the topic of a file with the most sentences."""
    topics = (topic for topic in optsum.read_topics(path) if isinstance(topic, Topic))
    return max(topics, key=lambda topic: len(topic.sentences))


def synthetic(topics: Iterable[Topic], sentences: int, references: int = 4, seed: int = 0) -> Topic:
    """Return a topic with given numbers of sentences and references, of shuffled words of another topic."""
    rng = Random(seed)
    words = [word for topic in topics for sentence in topic.sentences for word in str(sentence).split()]

    def text(count: int) -> list[str]:
        return [" ".join(rng.choices(words, k=rng.randint(8, 25))) for _ in range(count)]

    name = f"synthetic ({sentences} sentences, {references} references)"
    return as_topic({"id": name, "documents": [text(sentences)], "references": [text(12) for _ in range(references)]})


def processor_s(process: int | None) -> float:
    """Return the CPU seconds that a process has used so far."""
    return sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13])) / _TICKS


def searched(topic: Topic, door: str, options: dict[str, Any], limit: float, interrupt: bool) -> Case:
    """Search in a separate process."""
    near, far = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        try:
            result = DOORS[door](topic, **options)
            outcome = ", ".join(str(getattr(result, name, "")) for name in ("status", "termination", "bound"))
        except (optsum.OptsumError, KeyboardInterrupt) as error:
            outcome = f"{type(error).__name__}: {error}"
        far.send((perf_counter(), process_time(), outcome))

    process = multiprocessing.get_context("fork").Process(target=work)
    began = perf_counter()
    process.start()
    came = near.poll(limit)
    before = 0.0 if came else processor_s(process.pid)
    if interrupt and not came and process.pid is not None:
        os.kill(process.pid, signal.SIGINT)
    came_at_all = came or near.poll(_GIVEN_UP * limit)
    ended, used, outcome = near.recv() if came_at_all else (None, processor_s(process.pid), "killed")
    process.kill()
    process.join()
    late = None if ended is None else 0.0 if came else ended - began - limit
    return Case(topic.id, door, options, late, 0.0 if came else used - before, outcome)


@cache
def served(door: str, pairs: tuple[tuple[str, Any], ...]) -> bool:
    """Return whether this search is supported, by trying a small topic, which also compiles the kernels."""
    small = as_topic({"id": "small", "documents": [["a b c", "b c d", "d e"]], "references": [["a b d"], ["b c e"]]})
    try:
        DOORS[door](small, **dict(pairs))
    except optsum.OptsumError:
        return False
    return True


def cases(topics: list[Topic], given: argparse.Namespace) -> Iterator[Case]:
    """Yield every topic with every function (door), strategy and objective, or a sample of these."""
    names = given.doors.split(","), given.strategies.split(","), given.metrics.split(",")
    asked = list(product(topics, *names, *AXES))
    if given.sample:
        Random(given.seed).shuffle(asked)
    tried = 0
    for topic, door, strategy, metric, measure, references, boundaries in asked:
        options: dict[str, Any] = {
            "strategy": strategy, "metric": metric, "measure": measure, "references": references,
            "boundaries": boundaries, "max_length": 250, "time_limit": None if given.interrupt else given.limit,
        }  # fmt: skip
        if not served(door, tuple(options.items())):
            continue
        yield searched(topic, door, options, given.limit, given.interrupt)
        tried += 1
        if tried == given.sample:
            return


def main() -> None:
    """Run all cases and print the worst ones."""
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default="squality,dbs,gum")
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--doors", default="solve", help=f"of {', '.join(DOORS)}")
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--synthetic", type=int, default=3000, help="sentences of the synthetic topic; 0 for none")
    parser.add_argument("--references", type=int, default=0, help="references of a topic of 60 sentences; 0 for none")
    parser.add_argument("--sample", type=int, default=0, help="cases that are drawn at random; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worst", type=int, default=20)
    parser.add_argument("--interrupt", action="store_true", help="Ctrl-C instead of a limit")
    given = parser.parse_args()
    topics = [largest(given.folder / name / "topics.jsonl") for name in given.sets.split(",")]
    several = [synthetic(topics, given.synthetic)] if given.synthetic else []
    several += [synthetic(topics, 60, given.references)] if given.references else []
    done: list[Case] = []
    for case in cases(topics + several, given):
        done.append(case)
        if case.over > given.limit:
            print("late:", *line(case), flush=True)
    late = sum(case.over > given.limit for case in done)
    print(f"{len(done)} searches, {late} of them more than {given.limit:g} s after their limit; the longest:")
    for case in sorted(done, key=lambda one: -one.over)[: given.worst]:
        print(*line(case))


def line(case: Case) -> Iterator[str]:
    """Yield the words of one line."""
    yield ("killed" if case.late is None else f"{case.late:6.2f} s") + f" ({case.used:.2f} s of the processor)"
    yield case.topic
    yield case.door
    yield from (str(case.options[name]) for name in ("strategy", "metric", "measure", "references", "boundaries"))
    yield f"({case.outcome})"


if __name__ == "__main__":
    main()
