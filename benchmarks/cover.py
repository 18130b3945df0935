"""Minimum covers: every strategy against brute force, and times on real and made-up topics.

    python benchmarks/cover.py DATA_FOLDER [--random 1000] [--synthetic 5]

Real topics: the annotated clusters of ``dbs`` (``alignments.jsonl``), and alignments made from the text of ``dbs``,
``opinosis``, ``gum`` and ``realsumm`` with the defaults of ``optsum align``; without any alternative one is left out.
Times are CPU milliseconds a topic from the built problem to the proven minimum, and to all minimum covers counted; two
methods that disagree end the program. Made-up topics have 1,000 source and 60 abstract sentences, each with 1 to 8
alternatives of 1 to 4 sentences. Random instances have at most 12 sentences, half of them with lengths.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np
from shared.compiled import compile_at_once

import optsum
from optsum.corpus.alignment import align
from optsum.corpus.topic import Topic, as_topic
from optsum.errors import BackendError
from optsum.optima.optima import Optima
from optsum.options.options import resolve
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.problem import Problem
from optsum.registry import STRATEGIES
from optsum.running.one_problem import build, setup_of
from optsum.running.search import search
from optsum.system.clock import Limits

NAMES = ("dbs", "opinosis", "gum", "realsumm")


def clusters(folder: Path) -> Iterator[Topic]:
    """Yield a topic for each annotator of ``dbs``."""
    marked = align(folder / "topics.jsonl", alignments=str(folder / "alignments.jsonl"))
    return (topic for topic in marked if isinstance(topic, Topic))


def problems(topics: Iterator[Topic]) -> Iterator[Problem]:
    """Yield the problems of the topics that anything covers."""
    options = resolve({"formulation": "cover", "uncoverable": "skip"})
    for topic in topics:
        if any(topic.cover or ()):
            yield build(topic, setup_of(options)).problem


def made_up(rng: random.Random, units: int, clauses: int, alternatives: int) -> tuple[Problem, list[list[list[int]]]]:
    """Return a problem through the formulation, and its alternatives."""
    cover = [
        [sorted(rng.sample(range(units), rng.randint(1, min(4, units)))) for _ in range(rng.randint(1, alternatives))]
        for _ in range(clauses)
    ]
    # Every sentence is in the documents, as long as its number says.
    documents = [[" ".join(["w"] * (1 + unit % 5)) for unit in range(units)]]
    topic = as_topic({"id": "made-up", "documents": documents, "cover": cover})
    weights = rng.choice(["one", "length"]) if units < 100 else "one"
    way = setup_of(resolve({"formulation": "cover", "weights": weights, "keep_unmatched": True}))
    return build(topic, way).problem, cover


def every(problem: Problem) -> Optima:
    """Return all minimum covers."""
    return STRATEGIES.create("branch-and-bound", {}).enumerate(problem, Limits())


def timed(given: list[Problem]) -> dict[str, list[float]]:
    """Measure each problem by each method, and hold the methods to each other."""
    times: dict[str, list[float]] = {"milp": [], "branch-and-bound": [], "all": []}
    for problem in given:
        answers = set()
        for name in ("milp", "branch-and-bound"):
            began = process_time()
            result = search(problem, name)
            times[name].append(1e3 * (process_time() - began))
            if result.status.value != "optimal":
                sys.exit(f"{name} has proven nothing: {result.status.value}")
            answers.add(result.objective)
        began = process_time()
        optima = every(problem)
        times["all"].append(1e3 * (process_time() - began))
        if answers != {float(optima.value)} or not optima.complete:
            sys.exit(f"the methods disagree: {answers}, {optima.value}")
    return times


def brute_force(problem: Problem, cover: list[list[list[int]]]) -> tuple[int, int]:
    """Return the minimum and the number of selections that have it, from the alternatives alone."""
    sets = [[set(chosen) for chosen in alternatives] for alternatives in cover]
    lengths = [
        problem.length(chosen)
        for size in range(problem.size + 1)
        for chosen in combinations(range(problem.size), size)
        if all(any(each.issubset(chosen) for each in alternatives) for alternatives in sets)
    ]
    return min(lengths), lengths.count(min(lengths))


def against_brute_force(number: int) -> None:
    """Compare every exact method with brute force: minimum and count."""
    rng = random.Random(2004)
    methods = [(name, {}) for name in ("milp", "branch-and-bound", "exhaustive")]
    methods += [("milp", {"backend": backend}) for backend in ("pyomo:highs", "cp-sat", "rc2")]
    agreed = dict.fromkeys([*(options.get("backend", name) for name, options in methods), "count"], 0)
    missing = set()
    for index in range(number):
        problem, cover = made_up(rng, rng.randint(1, 12), rng.randint(1, 8), 4)
        assert isinstance(problem, CoverageProblem)
        least, count = brute_force(problem, cover)
        for name, options in methods:
            label = options.get("backend", name)
            if label in missing or (options and index % 5):  # solvers in other processes: every fifth
                continue
            try:
                result = search(problem, STRATEGIES.create(name, options))
            except BackendError as error:
                print(f"{label} is left out: {error}")
                missing.add(label)
                continue
            if (result.status.value, result.objective) != ("optimal", least):
                sys.exit(f"{label}: {result.status.value} {result.objective}, brute force {least}")
            agreed[label] += 1
        optima = every(problem)
        if (optima.value, optima.count, len(set(optima))) != (least, count, count):
            sys.exit(f"{optima.count} covers of {optima.value}, brute force {count} of {least}")
        agreed["count"] += 1
    print(f"{number} random instances, agreeing with brute force:", agreed)


def line(name: str, given: list[Problem]) -> None:
    """Print one row."""
    times = timed(given)
    cells = "".join(f"{np.median(values):10.1f} {max(values):8.1f}" for values in times.values())
    print(f"{name:24} {len(given):6}{cells}", flush=True)


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--random", type=int, default=1000, help="random instances against brute force")
    parser.add_argument("--synthetic", type=int, default=5, help="topics of 1,000 and 60 sentences")
    options = parser.parse_args()
    search(made_up(random.Random(0), 10, 5, 3)[0], "milp")  # warm
    print(
        f"{'CPU ms':24} {'topics':>6}"
        + "".join(f"{name + ' median':>10} {'worst':>8}" for name in ("milp", "b&b", "all"))
    )
    line("dbs clusters", list(problems(clusters(options.data / "dbs"))))
    for name in NAMES:
        aligned = align(optsum.read_topics(options.data / name / "topics.jsonl"))
        line(f"{name} aligned", list(problems(topic for topic in aligned if isinstance(topic, Topic))))
    made = [made_up(random.Random(seed), 1000, 60, 8)[0] for seed in range(options.synthetic)]
    line("made up, 1000 and 60", made)
    against_brute_force(options.random)


if __name__ == "__main__":
    main()
