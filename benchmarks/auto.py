"""The strategy auto beside those that it chooses from: CPU time of the search, topic by topic.

    python benchmarks/auto.py DATA_FOLDER [--sets realsumm,squality] [--objectives recall,f1] [--topics 8] [--limit 4]

DATA_FOLDER holds one folder a data set, each with a topics.jsonl. Each search runs at least twice, those of some
milliseconds up to ten times, and the quickest counts: the first may load kernels. Printed are means a topic in
milliseconds, and what auto takes for each that the best single
strategy takes. A search that reaches the limit counts as the limit; exhaustive is left out where it would.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from itertools import islice
from pathlib import Path
from time import process_time, sleep
from typing import Any

from optsum.solvers.exhaustive.strategy import seconds_of
from rich.console import Console
from rich.table import Table
from shared.compiled import compile_at_once
from shared.instances import instances_of, topics_of

from optsum.errors import OptsumError
from optsum.problem.coverage_problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Limits

STRATEGIES = ("exhaustive", "branch-and-bound", "milp", "auto")
OBJECTIVES: dict[str, dict[str, Any]] = {
    "recall": {"metric": "rouge-1", "max_length": 100},
    "bigrams": {"metric": "rouge-2", "max_length": 100},
    "both": {"metric": "rouge-1+rouge-2", "max_length": 100},
    "f1": {"metric": "rouge-2", "measure": "f1", "max_length": 100},
    "f1 of any length": {"metric": "rouge-2", "measure": "f1"},
    "presumm": {"preset": "presumm"},
    "window": {"metric": "rouge-1", "min_length": 95, "max_length": 105},
}
ENOUGH_S = 0.1


def settle() -> None:
    """Wait for threads of a solver that was told to end: what they still do is nobody else's time."""
    before = -1.0
    while process_time() - before > 0.01:
        before = process_time()
        sleep(0.05)


def seconds(problem: CoverageProblem, strategy: str, limit: float) -> float:
    """Return what a search takes, at most the limit."""
    if strategy == "exhaustive" and seconds_of(problem, limit) > limit:
        return limit
    settle()
    best, spent = limit, 0.0
    for turn in range(10):
        began = process_time()
        try:
            search(CoverageProblem.of(problem.instance), strategy, Limits(time_s=limit))
        except OptsumError:
            return limit
        took = process_time() - began
        best, spent = min(best, took), spent + took
        if best > limit / 4 or (turn and spent > ENOUGH_S):
            break
    return best


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets")
    parser.add_argument("--objectives", default=",".join(OBJECTIVES))
    parser.add_argument("--topics", type=int, default=8)
    parser.add_argument("--limit", type=float, default=4.0)
    arguments = parser.parse_args()
    every = sorted(path.parent.name for path in arguments.data.glob("*/topics.jsonl"))
    sets = arguments.sets.split(",") if arguments.sets else every
    table = Table(title="CPU time of the search, ms a topic")
    for column in ("objective", "set", *STRATEGIES, "auto / best"):
        table.add_column(column, justify="left" if column in {"objective", "set"} else "right")
    for objective in arguments.objectives.split(","):
        for name in sets:
            took: dict[str, float] = defaultdict(float)
            number = 0
            for topic in islice(topics_of(arguments.data / name / "topics.jsonl"), arguments.topics):
                for instance in instances_of(topic, OBJECTIVES[objective]):
                    number += 1
                    for strategy in STRATEGIES:
                        took[strategy] += seconds(CoverageProblem.of(instance), strategy, arguments.limit)
            if number:
                best = min(took[strategy] for strategy in STRATEGIES[:-1])
                means = (f"{1000 * took[strategy] / number:.2f}" for strategy in STRATEGIES)
                table.add_row(objective, name, *means, f"{took['auto'] / best:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
