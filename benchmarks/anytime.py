"""Measure how good heuristics are after 10, 100 and 1000 ms, compared with the proven optimum; print Markdown.

    python benchmarks/anytime.py DATA_FOLDER [--set NAME ...] [--metric rouge-1] [--topics N] [--seed 0]
    python benchmarks/anytime.py DATA_FOLDER --metric rouge-2 --option boundaries=joined

For each data set at its usual length, each strategy and each of these times, the table has the median over topics of
value / optimum, and the share of topics whose optimum is found. A strategy that ends earlier keeps its last value.
Times are CPU times, so other work on the machine does not count; kernels are compiled and problems are built before.
The first row has the median time in which branch and bound proves the optimum.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time

from shared.answer import topics_of
from shared.compiled import compile_at_once
from shared.instances import instances_of

from optsum.contracts import strategy as run_module
from optsum.contracts.result import Result, Status
from optsum.contracts.strategy import Run
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Limits

LENGTHS = {"realsumm": 75, "gum": 50, "squality": 250}
STRATEGIES = "greedy,greedy+ls,vns,vns+greedy,genetic,genetic+greedy"
MOMENTS = (0.01, 0.1, 1.0)


def curve(problem: CoverageProblem, strategy: str, seed: int) -> Result:
    """Search until the last of the times; the trace has CPU times (see `main`)."""

    def in_time(run: Run) -> bool:
        return run.elapsed < MOMENTS[-1]

    return search(problem, strategy, Limits(), seed, on_progress=in_time)


def reached(result: Result, seconds: float) -> float:
    """Return the best value found within a time."""
    return max((point.objective for point in result.trace if point.seconds <= seconds), default=0.0)


def row(name: str, results: Sequence[Result], optima: Sequence[float]) -> str:
    """Return a line of the table."""
    cells = []
    for moment in MOMENTS:
        held = [reached(result, moment) for result in results]
        ratios = [value / best if best else 1.0 for value, best in zip(held, optima, strict=True)]
        found = sum(value == best for value, best in zip(held, optima, strict=True)) / len(held)
        cells.append(f"{median(ratios):.4f} ({found:.0%})")
    return f"| `{name}` | {' | '.join(cells)} |"


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", nargs="*", default=list(LENGTHS), choices=list(LENGTHS))
    parser.add_argument("--strategies", default=STRATEGIES, help="comma-separated")
    parser.add_argument("--metric", default="rouge-1")
    parser.add_argument("--option", nargs="*", default=[], help="NAME=VALUE, such as boundaries=joined")
    parser.add_argument("--topics", type=int, help="only the first so many of each set")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    run_module.clock = process_time  # so that traces have CPU times
    for data in arguments.set:
        options = {"metric": arguments.metric, "max_length": LENGTHS[data]}
        options |= dict(each.split("=", 1) for each in arguments.option)
        problems = [
            CoverageProblem.of(instance, reference_units=topic.reference_sentences)
            for topic in islice(topics_of(arguments.data / data / "topics.jsonl"), arguments.topics)
            for instance in instances_of(topic, options)
        ]
        search(problems[0], "branch-and-bound")  # kernels are compiled
        proven, seconds = [], []
        for problem in problems:
            began = process_time()
            proven.append(search(problem, "branch-and-bound"))
            seconds.append(process_time() - began)
        assert all(result.status is Status.OPTIMAL for result in proven)
        optima = [result.objective or 0.0 for result in proven]
        print(f"\n{data}, {arguments.metric} recall, {LENGTHS[data]} words, {len(problems)} topics; ", end="")
        print(f"proof: {1e3 * median(seconds):.1f} ms (median)\n")
        print("| | " + " | ".join(f"{1e3 * moment:.0f} ms" for moment in MOMENTS) + " |")
        print("|---" * (1 + len(MOMENTS)) + "|")
        for name in arguments.strategies.split(","):
            search(problems[0], name, Limits(evaluations=100))  # kernels are compiled
            print(row(name, [curve(problem, name, arguments.seed) for problem in problems], optima), flush=True)


if __name__ == "__main__":
    main()
