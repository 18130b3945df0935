"""One optimum and all optima by the exact engine, beside one optimum by HiGHS: compressions and joined extracts.

    python benchmarks/general.py DATA_FOLDER [--rows gum-r1-50,joined-realsumm-r2] [--limit 30] [--no-highs]

Times are CPU milliseconds a topic from the coverage instance to the answer, kernels warm: median and worst. HiGHS gets
the merged integer program (`optsum.program.model`), as the strategy milp gives it.

Rows ``gum-...`` are compressions of GUM documents with the hand-made trees; ``gum4-...`` join documents to topics of at
least 220 sentences with four references, the k-th of them made of the documents' k-th references.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from optsum.solvers.branch_and_bound import BranchAndBound
from optsum.solvers.engine.core import program_of
from optsum.solvers.engine.driver import Driver
from shared.compiled import compile_at_once
from shared.instances import topics_of

from optsum.corpus.topic import as_topic
from optsum.coverage.instance import Coverage
from optsum.options.options import resolve
from optsum.program.highs import new_highs, pass_model
from optsum.program.model import coverage_model
from optsum.running.one_problem import build, setup_of
from optsum.system.clock import Limits, Stopped

LENGTHS = {"opinosis": 100, "gum": 50, "realsumm": 60, "squality": 250}
ROWS = [
    *(f"{name}-r{n}-{words}" for name in ("gum", "gum4") for n in (1, 2) for words in (50, 100)),
    *(f"joined-{name}-r{n}" for name in ("realsumm", "gum", "opinosis", "squality") for n in (1, 2)),
]
SENTENCES = 220


def joined_documents(data: Path, least: int) -> Iterator[Any]:
    """Yield GUM topics, put together until they have at least so many sentences."""
    folder = data / "gum"
    group: list[dict[str, Any]] = []
    rows = [json.loads(line) for line in (folder / "topics.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows if least == 1 else sorted(rows, key=lambda row: row["id"]):
        group.append(row)
        if sum(len(document) for one in group for document in one["documents"]) < least:
            continue
        references = group[0]["references"]
        if least > 1:
            references = [
                [sentence for one in group for sentence in one["references"][k % len(one["references"])]]
                for k in range(4)
            ]
        yield as_topic(
            {
                "id": group[0]["id"],
                "documents": [document for one in group for document in one["documents"]],
                "references": references,
                "meta": {"conllu": [str((folder / "conllu" / one["meta"]["conllu"]).resolve()) for one in group]},
            }
        )
        group = []


def instances(data: Path, row: str) -> Iterator[Coverage]:
    """Yield the instances of a row."""
    kind, *rest = row.split("-")
    if kind == "joined":
        options = {"metric": f"rouge-{rest[1][1]}", "boundaries": "joined", "max_length": LENGTHS[rest[0]]}
        topics: Iterator[Any] = topics_of(data / rest[0] / "topics.jsonl")
    else:
        options = {"metric": f"rouge-{rest[0][1]}", "formulation": "compressive", "max_length": int(rest[1])}
        topics = joined_documents(data, SENTENCES if kind == "gum4" else 1)
    resolved = resolve(options)
    for topic in topics:
        yield build(topic, setup_of(resolved)).problem.coverage


def measure(instance: Coverage, limit: float) -> tuple[int | None, float, float | None, int, int]:
    """Return the optimum (None at the limit), milliseconds for one and for all, the number of optima, nodes."""
    began = time.process_time()
    program = program_of(instance, (1, 0))
    engine = Driver(program, Limits(time_s=limit))
    try:
        while engine.one_of(engine.upper) is None:
            engine.upper -= 1
    except Stopped:
        return None, 1e3 * (time.process_time() - began), None, 0, engine.statistics.nodes
    one = 1e3 * (time.process_time() - began)
    began = time.process_time()
    node, reason = engine.all_of(engine.upper)
    every = 1e3 * (time.process_time() - began)
    count = engine.store.diagram(node).count
    value = engine.upper * engine.divisor + program.base
    return value, one, every if reason is None else None, count, engine.statistics.nodes


def by_highs(instance: Coverage, limit: float) -> tuple[int, float]:
    """Return the optimum and milliseconds."""
    began = time.process_time()
    model = coverage_model(instance)
    highs = new_highs()
    for name, value in (("mip_rel_gap", 0.0), ("mip_abs_gap", 0.999), ("time_limit", limit)):
        highs.setOptionValue(name, value)
    pass_model(highs, model)
    highs.run()
    return round(highs.getInfo().objective_function_value) + model.offset, 1e3 * (time.process_time() - began)


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--limit", type=float, default=30.0, help="seconds a topic")
    parser.add_argument("--no-highs", action="store_true")
    given = parser.parse_args()
    BranchAndBound().prepare()
    print(
        f"{'row':22} topics units joints| {'one: median, worst':>19} | {'all':>19} | {'HiGHS':>19} | open   most optima"
    )
    for row in given.rows.split(","):
        found = list(instances(given.data, row))
        answers = [measure(instance, given.limit) for instance in found]
        highs = [] if given.no_highs else [by_highs(instance, given.limit) for instance in found]
        for (value, *_), (other, _) in zip(answers, highs, strict=not given.no_highs):
            if value is not None and value != other:
                sys.exit(f"{row}: the engine found {value}, HiGHS {other}")
        columns = (
            [one for _, one, *_ in answers],
            [every for _, _, every, *_ in answers if every is not None],
            [ms for _, ms in highs],
        )
        times = " | ".join(f"{np.median(ms):8.1f} {max(ms):10.1f}" if ms else f"{'':19}" for ms in columns)
        unfinished = sum(every is None for _, _, every, *_ in answers)
        units = int(np.median([instance.size for instance in found]))
        joints = int(np.median([len(instance.joints) for instance in found]))
        most = float(max(count for *_, count, _ in answers))
        print(f"{row:22} {len(found):6} {units:5} {joints:6} | {times} | {unfinished:4} {most:11.1e}", flush=True)


if __name__ == "__main__":
    main()
