"""The best F1 of extracts of any length: how fast it is proven, and how far greedy selection falls short of it.

    python benchmarks/f1.py DATA_FOLDER [--sets realsumm,gum] [--metrics rouge-1,rouge-2,rouge-1+rouge-2]
        [--max-length N] [--stopwords drop] [--counts set] [--references mean] [--limit 10]

CPU milliseconds a topic, kernels warm, one core: from the text to the row of one optimum, and of the search alone
for one optimum and for all. "short" counts the topics on which greedy selection misses the optimum; the ratios are
greedy's value divided by it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
from shared.compiled import compile_at_once
from shared.instances import instances_of, topics_of

import optsum
from optsum.options.options import resolve
from optsum.problem.coverage_problem import CoverageProblem
from optsum.registry import STRATEGIES
from optsum.system.clock import Limits


def row(data: Path, name: str, given: dict[str, object], limit: float) -> str:
    """Measure one set of topics with one metric."""
    topics = list(topics_of(data / name / "topics.jsonl"))
    given = {**given, "measure": "f1", "strategy": "branch-and-bound", "time_limit": limit}
    resolve(given)
    list(optsum.solve_all(topics[:2], **given))
    began = time.process_time()
    results = list(optsum.solve_all(topics, **given))
    text_ms = 1e3 * (time.process_time() - began) / len(topics)
    one_ms, all_ms, counts, unsolved = [], [], [], 0
    strategy = STRATEGIES.create("branch-and-bound", {})
    for topic in topics:
        for instance in instances_of(topic, {**given, "time_limit": None}):
            problem = CoverageProblem.of(instance)
            began = time.process_time()
            optsum.search(problem, strategy, Limits(time_s=limit))
            one_ms.append(1e3 * (time.process_time() - began))
            began = time.process_time()
            optima = strategy.enumerate(problem, Limits(time_s=limit))
            all_ms.append(1e3 * (time.process_time() - began))
            counts.append(optima.count)
            unsolved += not optima.complete
    greedy = list(optsum.solve_all(topics, **{**given, "strategy": "greedy"}))
    shares = [
        float(other.key / best.key) if best.key else 1.0  # type: ignore[operator]
        for other, best in zip(greedy, results, strict=True)
        if best.status is optsum.Status.OPTIMAL and other.key is not None
    ]
    gaps = [other.gap for other in greedy if other.gap is not None]
    return (
        f"{name:10} {given['metric']!s:16} {len(topics):4} | {text_ms:7.1f} {1e3 / text_ms:6.0f} "
        f"| {np.median(one_ms):7.2f} {max(one_ms):8.1f} | {np.median(all_ms):7.2f} {max(all_ms):8.1f} "
        f"| {max(counts):7} {unsolved:4} | {sum(share < 1 for share in shares):5} {statistics.mean(shares):6.4f} "
        f"{min(shares):6.4f} | {statistics.mean(gaps):6.4f} {max(gaps):6.4f}"
    )


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default="realsumm,gum")
    parser.add_argument("--metrics", default="rouge-1,rouge-2,rouge-1+rouge-2")
    parser.add_argument("--max-length", type=int)
    parser.add_argument("--stopwords", default="keep")
    parser.add_argument("--counts", default="clipped")
    parser.add_argument("--references", default="pooled")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds a topic")
    options = parser.parse_args()
    print(
        f"{'':31}  {'n':>1} | {'text ms':>7} {'topics/s':>6} | {'one':>7} {'worst':>8} | {'all':>7} {'worst':>8} "
        f"| {'optima<=':>7} {'uns.':>4} | {'short':>5} {'mean':>6} {'worst':>6} | greedy's certified gap: mean, worst"
    )
    for name in options.sets.split(","):
        for metric in options.metrics.split(","):
            given = {
                "metric": metric,
                "max_length": options.max_length,
                "stopwords": options.stopwords,
                "counts": options.counts,
                "references": options.references,
            }
            print(row(options.data, name, given, options.limit), flush=True)


if __name__ == "__main__":
    main()
