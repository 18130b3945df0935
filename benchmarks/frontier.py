"""The best value at every length beside separate searches, one process, interleaved, kernels warm.

    python benchmarks/frontier.py DATA_FOLDER [--sets realsumm,gum] [--metrics rouge-1,rouge-2] [--measure recall]
        [--topics N] [--repeats 5] [--budgets 12] [--longest 300]

Of each topic, in turn: its frontier at every length up to LONGEST, its frontier at BUDGETS lengths (up to it, equally
far apart), and as many separate calls of `optsum.solve`. Every value of the second is held against that of the third.
A topic's time is the least CPU time of its repeats. Milliseconds a topic: mean (largest); "ratio" is the sum over all
topics of the second over that of the third.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from shared.compiled import compile_at_once
from shared.instances import topics_of

import optsum


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = process_time()
    found = call()
    return 1e3 * (process_time() - began), found


def measured(topic: optsum.Topic, lengths: range, longest: int, repeats: int, options: dict[str, Any]) -> list[float]:
    """Return the least milliseconds of every length, of some lengths, and of as many searches; and the solves."""
    every, some, apart = [], [], []
    for _ in range(repeats):
        ms, whole = timed(lambda: optsum.frontier(topic, max_length=longest, greedy=False, **options))
        every.append(ms)
        ms, few = timed(lambda: optsum.frontier(topic, lengths=lengths, greedy=False, **options))
        some.append(ms)
        ms, alone = timed(
            lambda: [
                optsum.solve(topic, max_length=length, strategy="branch-and-bound", **options) for length in lengths
            ]
        )
        apart.append(ms)
        for found in (whole, few):
            for length, result in zip(lengths, alone, strict=True):
                (step,) = [step for step in found.frontier.steps if step.first <= length <= step.last]
                if step.objective_exact != result.objective_exact:
                    sys.exit(f"{topic.id} at {length}: {step.objective_exact} and {result.objective_exact}")
    about = whole.frontier
    return [min(every), min(some), min(apart), about.solves, len(about.steps)]


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default="realsumm,gum")
    parser.add_argument("--metrics", default="rouge-1,rouge-2")
    parser.add_argument("--measure", default="recall")
    parser.add_argument("--topics", type=int)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--budgets", type=int, default=12)
    parser.add_argument("--longest", type=int, default=300)
    given = parser.parse_args()
    step = given.longest // given.budgets
    lengths = range(step, step * given.budgets + 1, step)
    print(f"{given.measure}, {given.budgets} lengths up to {lengths[-1]}, load {os.getloadavg()[0]:.1f}\n")
    print("| set | metric | topics | ratio | some lengths, ms | separate, ms | every length, ms | searches | steps |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for name in given.sets.split(","):
        topics = list(topics_of(given.data / name / "topics.jsonl"))[: given.topics]
        for metric in given.metrics.split(","):
            options = {"metric": metric, "measure": given.measure}
            measured(topics[0], lengths, given.longest, 1, options)
            found = np.array([measured(topic, lengths, given.longest, given.repeats, options) for topic in topics])
            every, some, apart, solves, steps = found.T
            shown = " | ".join(f"{times.mean():.1f} ({times.max():.0f})" for times in (some, apart, every))
            print(
                f"| {name} | {metric} | {len(topics)} | {some.sum() / apart.sum():.2f} | {shown} "
                f"| {np.median(solves):.0f} | {np.median(steps):.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
