"""Measure how far heuristics fall short of the proven optimum, and their CPU times.

    python benchmarks/heuristics.py DATA_FOLDER [--strategies NAME,NAME] [--set NAME ...] [--time-limit 1] [--seed 0]
    python benchmarks/heuristics.py DATA_FOLDER --evaluations 5000 --measure f1 --set realsumm gum squality

For each data set at its usual length and ROUGE-1 and ROUGE-2 recall (F1 and precision: at any length), the table has
the mean and minimum ratio to the optimum of branch and bound, the number of topics that reach it, the number that are
worse than greedy search or no better where that misses the optimum, the median CPU time without the bound, and the
moves evaluated per second of CPU time. With --time-limit, seconds are CPU times, so that other work on the machine
does not count. With --evaluations, every search ends after this number of evaluated moves or selections, and the
searches of Akhmetov et al. 2022 are included: vns-paper continues until the limit, and genetic-paper, which ends by
itself, is repeated with other seeds. A kernel completes its current move, so it may slightly exceed the limit. All
searches use only sentences that share an n-gram with the reference, which helps the random ones.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any

from shared.answer import topics_of
from shared.compiled import compile_at_once
from shared.instances import instances_of

from optsum.contracts.result import Result, Status
from optsum.contracts.strategy import Run
from optsum.coverage.instance import Coverage
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Limits

SETS = {"squality": 250, "opinosis": 40, "gum": 50, "dbs": 250}
LENGTHS = {**SETS, "realsumm": 75}
STRATEGIES = "greedy,greedy+ls,vns,genetic,vns+greedy,genetic+greedy"
PAPER = ",greedy-rows,vns-paper,vns-paper+greedy,genetic-paper,genetic-paper+greedy"
ENDLESS: dict[str, dict[str, Any]] = {
    "vns": {"no_improvement": 10**9},
    "vns-paper": {"seconds": 1e9, "iterations": 10**9, "no_improvement": 10**9},
    "genetic": {"no_improvement": 10**9},
}
"""Options of a strategy, and of the same from greedy search, that leave its end to the limit."""


def timed(
    part: tuple[Coverage, int | None], strategy: str, seconds: float | None, evaluations: int | None, seed: int
) -> tuple[Result, float]:
    """Search, and return the result and the CPU seconds without those for the bound."""
    instance, sentences = part
    problem = CoverageProblem.of(instance, reference_units=sentences)
    options = ENDLESS.get(strategy.removesuffix("+greedy"), {}) if evaluations is not None else {}
    began = process_time()

    def in_time(_: Run) -> bool:
        return seconds is None or process_time() - began < seconds

    best = search(problem, strategy, Limits(evaluations=evaluations), seed, on_progress=in_time, **options)
    while (
        evaluations is not None
        and best.evaluations < evaluations
        and strategy.startswith("genetic-paper")
        and best.evaluations > 0
    ):
        seed += 1
        limits = Limits(evaluations=evaluations - best.evaluations)
        found = search(problem, strategy, limits, seed, on_progress=in_time)
        better = found if (found.key or 0) > (best.key or 0) else best
        best = replace(better, evaluations=best.evaluations + found.evaluations)
    return best, process_time() - began


def ratio(result: Result, optimum: Fraction) -> Fraction:
    return Fraction(result.key or 0) / optimum if optimum else Fraction(1)


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--strategies", help="comma-separated")
    parser.add_argument("--set", nargs="*", default=list(SETS))
    parser.add_argument("--metric", nargs="*", default=["rouge-1", "rouge-2"])
    parser.add_argument("--measure", default="recall", choices=["recall", "precision", "f1"])
    parser.add_argument("--topics", type=int, help="only the first so many of each set")
    parser.add_argument("--time-limit", type=float, help="CPU seconds a topic; the strategies' own end by default")
    parser.add_argument("--evaluations", type=int, help="the same number of evaluations for all, the paper's too")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    equal = arguments.evaluations is not None
    names = (arguments.strategies or STRATEGIES + PAPER * equal).split(",")
    exact = "branch-and-bound" if arguments.measure == "recall" else "milp"
    print(f"{'':34}{'mean':>9}{'min':>9}{'optimal':>9}{'worse':>7}{'stuck':>7}{'ms':>9}{'M/s':>8}")
    for metric in arguments.metric:
        for data in arguments.set:
            options = {"metric": metric, "measure": arguments.measure}
            if arguments.measure == "recall":
                options["max_length"] = LENGTHS[data]
            parts = [
                (instance, topic.reference_sentences)
                for topic in islice(topics_of(arguments.data / data / "topics.jsonl"), arguments.topics)
                for instance in instances_of(topic, options)
            ]
            instances = [instance for instance, _ in parts]
            proven = [search(CoverageProblem.of(instance), exact) for instance in instances]
            assert all(result.status is Status.OPTIMAL for result in proven)
            optima = [Fraction(result.key or 0) for result in proven]
            greedy = [search(CoverageProblem.of(instance), "greedy").key or 0 for instance in instances]
            for name in names:
                timed(parts[0], name, 0.1, 100, 0)  # kernels are compiled
                runs = [
                    timed(part, name, arguments.time_limit, arguments.evaluations, arguments.seed) for part in parts
                ]
                ratios = [ratio(result, best) for (result, _), best in zip(runs, optima, strict=True)]
                keys = [result.key or 0 for result, _ in runs]
                worse = sum(key < held for key, held in zip(keys, greedy, strict=True))
                stuck = sum(
                    key == held < best for key, held, best in zip(keys, greedy, optima, strict=True)
                )  # no better than greedy search, which is not optimal
                seconds = [spent for _, spent in runs]
                evaluations = sum(result.evaluations for result, _ in runs)
                print(
                    f"{metric} {data:10}{name:>21}  {float(fmean(ratios)):8.5f} {float(min(ratios)):8.4f} "
                    f"{sum(each == 1 for each in ratios):4}/{len(ratios):<3} {worse:6} {stuck:6} "
                    f"{1e3 * median(seconds):8.1f} {evaluations / sum(seconds) / 1e6:7.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
