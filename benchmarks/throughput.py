"""Topics per second, from text to proven optimum, and where the time goes.

    python benchmarks/throughput.py DATA_FOLDER [--repeats 5] [--metric rouge-2] [--max-length 60]

DATA_FOLDER holds one folder a data set, each with a topics.jsonl. All strategies run side by side, interleaved, in one
process on one core, warm; printed are medians over the repeats, and ratios to the first row. Times are CPU time, so
that a busy machine disturbs them less.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from shared.compiled import compile_at_once
from shared.side_by_side import side_by_side

import optsum
from optsum.corpus.topic import Topic
from optsum.metrics.names import parse_metric
from optsum.options.options import Options, resolve
from optsum.running.one_problem import build, setup_of

PHASES = ("text_s", "build_s", "hand_over_s", "solve_s", "search_s")


def count_all(topics: list[Topic], options: Options) -> None:
    """Text to n-gram counts alone: every sentence, every reference."""
    analyzer, metric = options.analyzer(), parse_metric(options.metric)
    for topic in topics:
        for sentence in topic.sentences:
            metric.count(analyzer.tokens(sentence))
        for reference in topic.references:
            metric.count(analyzer.joined_tokens(reference))


def build_all(topics: list[Topic], options: Options) -> None:
    """Text to the normal form."""
    for topic in topics:
        build(topic, setup_of(options))


def solve_all(topics: list[Topic], options: Options) -> None:
    """Text to result."""
    for result in optsum.solve_all(topics, **options.model_dump(exclude_defaults=True)):
        assert result.error is None, result.error


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", default="realsumm")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--metric", default="rouge-2")
    parser.add_argument("--max-length", type=int, default=60)
    parser.add_argument("--strategies", default="milp,greedy,lead")
    arguments = parser.parse_args()

    topics = [t for t in optsum.read_topics(arguments.data / arguments.set / "topics.jsonl") if isinstance(t, Topic)]
    given = {"metric": arguments.metric, "max_length": arguments.max_length}
    jobs: dict[str, Callable[[], None]] = {
        "text -> n-gram counts": lambda: count_all(topics, resolve(given)),
        "text -> normal form": lambda: build_all(topics, resolve(given)),
    }
    for strategy in arguments.strategies.split(","):
        options = resolve({**given, "strategy": strategy})
        jobs[f"text -> result, {strategy}"] = lambda options=options: solve_all(topics, options)  # type: ignore[misc]
    pyomo = resolve({**given, "strategy": "milp", "backend": "pyomo:highs"})
    jobs["text -> result, milp by pyomo:highs"] = lambda: solve_all(topics, pyomo)

    side_by_side(
        f"{arguments.set}: {len(topics)} topics, {arguments.metric}, {arguments.max_length} words",
        jobs,
        len(topics),
        arguments.repeats,
    )

    phases = Table(title="where the wall time of milp goes, ms a topic (search_s holds the three before it)")
    results = list(optsum.solve_all(topics, **given, strategy="milp"))
    for phase in (*PHASES, "seconds"):
        phases.add_column(phase, justify="right")
    means = [statistics.mean(result.to_row()["statistics"][phase] for result in results) for phase in PHASES]
    means.append(statistics.mean(result.seconds for result in results))
    phases.add_row(*(f"{1000 * mean:.2f}" for mean in means))
    Console().print(phases)


if __name__ == "__main__":
    main()
