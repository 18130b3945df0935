"""How far heuristics fall short of the proven optimum, and what they cost.

    python benchmarks/heuristics.py DATA_FOLDER [--strategies NAME,NAME] [--set NAME ...] [--time-limit 1] [--seed 0]

For each data set at its usual length, ROUGE-1 and ROUGE-2 recall: the mean and the smallest ratio to the optimum of
branch and bound, how many topics reach it, how many are worse than greedy search or no better where that falls short,
median CPU time without that for the bound, and moves evaluated per second of CPU time (all evaluations of
the search over all of its time).
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path
from statistics import fmean, median
from time import process_time

from instances import instances_of, topics_of

from optsum.coverage import Coverage
from optsum.coverage_problem import CoverageProblem
from optsum.result import Result, Status
from optsum.run import Limits
from optsum.searching import search

SETS = {"squality": 250, "opinosis": 40, "gum": 50, "dbs": 250}
STRATEGIES = "greedy,greedy+ls,vns,genetic,vns+greedy,genetic+greedy"


def timed(instance: Coverage, strategy: str, limits: Limits, seed: int) -> tuple[Result, float]:
    """Search, and return the result and CPU seconds, without those for the bound, which every result has."""
    problem = CoverageProblem.of(instance)
    problem.root_bound  # noqa: B018 - computed once and kept
    began = process_time()
    result = search(problem, strategy, limits, seed)
    return result, process_time() - began


def ratio(result: Result, optimum: Fraction) -> Fraction:
    return Fraction(result.key or 0) / optimum if optimum else Fraction(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--strategies", default=STRATEGIES)
    parser.add_argument("--set", nargs="*", default=list(SETS))
    parser.add_argument("--metric", nargs="*", default=["rouge-1", "rouge-2"])
    parser.add_argument("--measure", default="recall", choices=["recall", "precision", "f1"])
    parser.add_argument("--time-limit", type=float, help="seconds a topic; the strategies' own end by default")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    limits = Limits(time_s=arguments.time_limit)
    names = arguments.strategies.split(",")
    exact = "branch-and-bound" if arguments.measure == "recall" else "milp"
    print(f"{'':28}{'mean':>9}{'min':>9}{'optimal':>9}{'worse':>7}{'stuck':>7}{'ms':>9}{'M/s':>8}")
    for metric in arguments.metric:
        for data in arguments.set:
            options = {"metric": metric, "measure": arguments.measure, "max_length": SETS[data]}
            instances = [
                instance
                for topic in topics_of(arguments.data / data / "topics.jsonl")
                for instance in instances_of(topic, options)
            ]
            proven = [search(CoverageProblem.of(instance), exact) for instance in instances]
            assert all(result.status is Status.OPTIMAL for result in proven)
            optima = [Fraction(result.key or 0) for result in proven]
            greedy = [search(CoverageProblem.of(instance), "greedy").key or 0 for instance in instances]
            for name in names:
                search(CoverageProblem.of(instances[0]), name)  # kernels are compiled
                runs = [timed(instance, name, limits, arguments.seed) for instance in instances]
                ratios = [ratio(result, best) for (result, _), best in zip(runs, optima, strict=True)]
                keys = [result.key or 0 for result, _ in runs]
                worse = sum(key < held for key, held in zip(keys, greedy, strict=True))
                stuck = sum(
                    key == held < best for key, held, best in zip(keys, greedy, optima, strict=True)
                )  # no better than greedy where that is not optimal
                seconds = [spent for _, spent in runs]
                evaluations = sum(result.evaluations for result, _ in runs)
                print(
                    f"{metric} {data:10}{name:>15}  {float(fmean(ratios)):8.5f} {float(min(ratios)):8.4f} "
                    f"{sum(each == 1 for each in ratios):4}/{len(ratios):<3} {worse:6} {stuck:6} "
                    f"{1e3 * median(seconds):8.1f} {evaluations / sum(seconds) / 1e6:7.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
