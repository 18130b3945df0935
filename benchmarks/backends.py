"""Run every backend on every topic: compare their optima, and measure the overhead of reaching each solver.

    python benchmarks/backends.py DATA_FOLDER [--backends highs,cbc,...] [--limit 30] [--topics N] [--rows gum,...]

Extracts by ROUGE-1 and ROUGE-2 recall of ``gum``, ``opinosis``, ``fewsum_amazon``, ``realsumm`` and ``aclsum``,
covers of ``dbs``, compressions of ``gum``. Times are wall-clock milliseconds, median and maximum, for building the
solver's model, handing it over, and solving. For a backend through Pyomo, "build" makes a Pyomo model, and "hand over"
writes or passes it and reads the answer; for arrays both are close to 0. The program ends with an error if two backends
claim different proven optima; topics that run out of time, or exceed the size of a licence, are counted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from shared.answer import aligned, joined_documents, topics_of
from shared.compiled import compile_at_once

from optsum.contracts.result import Status
from optsum.corpus.topic import Topic, as_topic
from optsum.errors import BackendError, InputError, UnsupportedError
from optsum.options.options import resolve
from optsum.problem.problem import Problem
from optsum.running.one_problem import build, setup_of, warm_up
from optsum.running.search import search
from optsum.system.clock import Limits

LENGTHS = {"gum": 50, "opinosis": 40, "fewsum_amazon": 70, "realsumm": 60, "aclsum": 75}
PARTS = ("build_s", "hand_over_s", "solve_s")


def topics(folder: Path, name: str, most: int | None) -> list[Topic]:
    return list(topics_of(folder / name / "topics.jsonl"))[:most]


def rows(folder: Path, most: int | None) -> Iterator[tuple[str, list[Problem]]]:
    """Yield the name of each line of the table, and its problems."""
    for name, length in LENGTHS.items():
        for metric in ("rouge-1", "rouge-2"):
            options = resolve({"max_length": length, "metric": metric})
            yield f"{name} {metric} {length} words", _problems(topics(folder, name, most), options)
    cover = resolve({"formulation": "cover", "uncoverable": "skip"})
    yield "dbs cover", _problems(list(aligned(folder, "dbs"))[:most], cover)
    parsed = [as_topic(each) for each in joined_documents(folder, 1)][:most]
    compressive = resolve({"formulation": "compressive", "max_length": 50, "metric": "rouge-2"})
    yield "gum compressive rouge-2 50 words", _problems(parsed, compressive)


def _problems(given: list[Topic], options: object) -> list[Problem]:
    made = []
    for topic in given:
        try:
            made.append(build(topic, setup_of(options)).problem)  # type: ignore[arg-type]
        except InputError:  # such as no n-gram in common with any reference
            continue
    return made


def report(about: str, problems: list[Problem], backends: list[str], limit: float) -> None:
    largest = max(problem.linear_model.columns for problem in problems)
    print(f"\n{about}: {len(problems)} problems, up to {largest} columns")
    print("backend       optimal  late  refused     build hand over    solve       worst")
    truth: dict[int, object] = {}
    for backend in backends:
        times: list[list[float]] = []
        late = refused = 0
        for number, problem in enumerate(problems):
            _ = problem.linear_model  # built here, because it is the same for all solvers
            try:
                result = search(problem, "milp", Limits(time_s=limit), backend=backend)
            except (BackendError, UnsupportedError) as error:
                if "licence" not in str(error) and "covers only" not in str(error):
                    sys.exit(f"{backend} on problem {number} of {about}: {error}")
                refused += 1
                continue
            if result.status is not Status.OPTIMAL:
                late += 1
                continue
            if truth.setdefault(number, result.key) != result.key:
                sys.exit(
                    f"CONTRADICTION: {backend} has {result.key} on problem {number} of {about}, not {truth[number]}"
                )
            times.append([1e3 * result.statistics[part] for part in PARTS])
        if not times:
            print(f"{backend:12} {0:>8} {late:>5} {refused:>8}")
            continue
        parts = [median(each) for each in zip(*times, strict=True)]
        worst = max(sum(each) for each in times)
        print(
            f"{backend:12} {len(times):>8} {late:>5} {refused:>8}  "
            f"{parts[0]:>8.1f} {parts[1]:>9.1f} {parts[2]:>8.1f}   {worst:>9.1f}",
            flush=True,
        )


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--backends", default="highs,pyomo:highs,cbc,glpk,scip,cp-sat")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds a problem")
    parser.add_argument("--topics", type=int, default=None, help="of each set")
    parser.add_argument("--rows", default="", help="only lines that begin with one of these")
    arguments = parser.parse_args()
    backends = arguments.backends.split(",")
    for backend in backends:
        form = {"formulation": "cover"} if backend == "rc2" else {"max_length": 100}
        warm_up(setup_of(resolve({"strategy": "milp", "backend": backend, "time_limit": 60.0, **form})))
    wanted = tuple(arguments.rows.split(","))
    for about, problems in rows(arguments.data, arguments.topics):
        if about.startswith(wanted) and problems:
            report(about, problems, backends, arguments.limit)


if __name__ == "__main__":
    main()
