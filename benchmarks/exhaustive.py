"""Sets a second of exhaustive search on windows of 100 +- 5 words, beside branch and bound: the same optimum, the time.

    python benchmarks/exhaustive.py DATA_FOLDER [--sets realsumm,gum] [--metrics rouge-1,rouge-2] [--sentences 30]

Times are CPU seconds on one core from the coverage instance to the answer, kernels warm, the median of five runs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from shared.compiled import compile_at_once
from shared.instances import instances_of, topics_of

from optsum.contracts.result import Result
from optsum.coverage.instance import Coverage
from optsum.optima.counting import count_feasible
from optsum.problem.coverage_problem import CoverageProblem
from optsum.running.search import search

LOW, HIGH = 95, 105
RUNS = 5


def timed(run: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result, and the median of the CPU seconds of several runs."""
    seconds = []
    for _ in range(RUNS):
        began = time.process_time()
        result = run()
        seconds.append(time.process_time() - began)
    return result, median(seconds)


def measure(instance: Coverage) -> tuple[int, float, float]:
    """Return the number of sets, and the seconds of exhaustive search and of branch and bound."""
    problem = CoverageProblem.of(instance)
    result, seconds = timed(lambda: search(problem, "exhaustive"))
    other, bounded = timed(lambda: search(CoverageProblem.of(instance), "branch-and-bound"))
    number = count_feasible(instance.lengths, LOW, HIGH)
    if result.statistics["feasible"] != number:
        sys.exit(f"{result.statistics['feasible']} sets were visited, there are {number}")
    if result.objective_exact != other.objective_exact:
        sys.exit(f"exhaustive search found {result.objective_exact}, branch and bound {other.objective_exact}")
    return number, seconds, bounded


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default="realsumm,gum")
    parser.add_argument("--metrics", default="rouge-1,rouge-2")
    parser.add_argument("--sentences", type=int, default=30, help="leave longer documents out")
    parser.add_argument("--list", action="store_true", help="a line for each document too")
    options = parser.parse_args()
    print(
        f"{'':9} {'':>5} {'sets':>9} {'sets/s':>8} {'of all':>8} {'of 1e4+':>8} {'worst':>8} {'seconds':>8} {'b&b':>8}"
    )
    for metric in options.metrics.split(","):
        rows = []
        for name in options.sets.split(","):
            for topic in topics_of(options.data / name / "topics.jsonl"):
                if len(topic.sentences) <= options.sentences:
                    for instance in instances_of(topic, {"metric": metric, "min_length": LOW, "max_length": HIGH}):
                        rows.append((topic.id, *measure(instance)))
                        if options.list:
                            _, number, seconds, bounded = rows[-1]
                            print(f"  {topic.id:28} {number:9} {number / seconds:8.1e} {seconds:8.5f} {bounded:8.5f}")
        numbers, seconds, bounded = np.array([row[1:] for row in rows]).T
        rates, many = numbers / seconds, numbers >= 10_000
        print(
            f"{metric:9} {len(rows):5} {int(numbers.sum()):9} {numbers.sum() / seconds.sum():8.1e} "
            f"{np.median(rates):8.1e} {np.median(rates[many]):8.1e} {rates[many].min():8.1e} "
            f"{seconds.sum():8.4f} {bounded.sum():8.4f}"
        )


if __name__ == "__main__":
    main()
