"""All optima by the exact engine beside one optimum by HiGHS: one table.

    python benchmarks/enumerate.py DATA_FOLDER [--rows realsumm,duc-2004] [--limit 60] [--no-highs] [--knapsack N]

Times are CPU milliseconds a topic from the coverage instance to the answer, kernels warm; every row runs in a process
of its own, whose peak memory is stated. ``--knapsack N`` adds the paper's branch and bound with at most N sets checked.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from optsum.solvers.objectives.paper_knapsack import solve_knapsack
from optsum.solvers.objectives.recall import solve_recall
from shared.compiled import compile_at_once
from shared.instances import instances_of, topics_of
from shared.merged_ilp import solve_merged_ilp
from shared.synthetic import DUC_2004, DUC_2006, synthetic_topics

from optsum.coverage.instance import Coverage
from optsum.system.clock import Limits

LENGTHS = {"opinosis": 40, "gum": 50, "realsumm": 60, "squality": 250}
SHAPES = {"duc-2004": DUC_2004, "duc-2006": DUC_2006}
TOPICS = 50


def instances(data: Path, name: str, metric: str, each: bool) -> Iterator[Coverage]:
    """Yield the instances of a row; metrics: r1, r2, and r1-drop (without stop words). Shapes are stemmed."""
    shape = SHAPES.get(name)
    options = {
        "metric": "rouge-2" if metric == "r2" else "rouge-1",
        "stopwords": "drop" if metric == "r1-drop" else "keep",
        "stem": shape is not None,
        "references": "each" if each else "pooled",
        "max_length": LENGTHS[name] if shape is None else shape.max_length,
    }
    source = topics_of(data / name / "topics.jsonl") if shape is None else synthetic_topics(data, shape, TOPICS)
    for topic in source:
        yield from instances_of(topic, options)


def row(data: Path, name: str, metric: str, each: bool, limit: float, highs: bool, knapsack: int) -> dict[str, object]:
    """Measure one row."""
    found = list(instances(data, name, metric, each))
    solve_recall(found[0], every=False)
    solve_recall(found[-1], Limits(time_s=1.0), every=True)
    all_ms, one_ms, highs_ms, nodes, recall, paper_nodes = [], [], [], [], [], []
    unsolved = 0
    largest = 0
    for instance in found:
        began = time.process_time()
        optima = solve_recall(instance, Limits(time_s=limit), every=True)
        all_ms.append(1e3 * (time.process_time() - began))
        nodes.append(optima.statistics["nodes"])
        unsolved += not optima.complete
        largest = max(largest, optima.count)
        recall.append(float(optima.value))
        began = time.process_time()
        one = solve_recall(instance, Limits(time_s=limit), every=False)
        one_ms.append(1e3 * (time.process_time() - began))
        if one.proven and optima.proven and one.value != optima.value:
            sys.exit(f"one optimum has {one.value}, all have {optima.value}")
        if knapsack:
            paper = solve_knapsack(instance, Limits(nodes=knapsack, memory=1_000_000_000), every=True)
            paper_nodes.append(paper.statistics["nodes"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if highs:
        for instance, share in zip(found, recall, strict=True):
            began = time.process_time()
            value, proven = solve_merged_ilp(instance, limit)
            highs_ms.append(1e3 * (time.process_time() - began))
            if proven and not unsolved and value != round(share * int(instance.constants[1])):
                sys.exit(f"HiGHS found {value}, the engine {share * int(instance.constants[1])}")
    return {
        "row": f"{name} {metric} {'each' if each else 'pooled'}",
        "topics": len(found),
        "recall": float(np.mean(recall)),
        "all": all_ms,
        "one": one_ms,
        "highs": highs_ms,
        "nodes": float(np.median(nodes)),
        "paper": float(np.median(paper_nodes)) if paper_nodes else None,
        "largest": largest,
        "unsolved": unsolved,
        "peak": peak,
    }


def line(found: dict[str, object]) -> str:
    """Format a row."""

    def three(times: object) -> str:
        values = np.array(times, float)
        if not len(values):
            return f"{'':>28}"
        return f"{np.median(values):8.2f} {values.max():9.1f} {values.sum():9.0f}"

    ratio = np.sum(found["highs"]) / np.sum(found["all"]) if found["highs"] else float("nan")
    paper = f"{found['paper']:9.0f}" if found["paper"] is not None else f"{'':>9}"
    return (
        f"{found['row']:28} {found['topics']:4} {found['recall']:6.3f} | {three(found['all'])} | {three(found['one'])} "
        f"| {three(found['highs'])} | {ratio:6.1f} | {found['nodes']:8.0f} {paper} | {float(found['largest']):8.1e} "  # type: ignore[arg-type]
        f"{found['unsolved']:4} {found['peak']:6.0f}"
    )


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", default="opinosis,gum,realsumm,squality,duc-2004,duc-2006")
    parser.add_argument("--references", choices=["pooled", "each", "both"], default="pooled")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a topic")
    parser.add_argument("--no-highs", action="store_true")
    parser.add_argument("--knapsack", type=int, default=0)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        name, metric, each = options.only.split("/")
        found = row(options.data, name, metric, each == "each", options.limit, not options.no_highs, options.knapsack)
        print(json.dumps(found))
        return
    heading = f"{'median':>8} {'worst':>9} {'total':>9}"
    print(f"{'':28} {'':4} {'':6} | {'all optima, engine':^28} | {'one, engine':^28} | {'one, HiGHS':^28} | HiGHS/")
    print(
        f"{'':28} {'n':>4} {'recall':>6} | {heading} | {heading} | {heading} | {'all':>6} | {'nodes':>8} {'paper':>9} "
        f"| {'optima<=':>8} {'uns.':>4} {'MB':>6}"
    )
    for name in options.rows.split(","):
        for metric in ["r1-drop", "r1", "r2"] if name in SHAPES else ["r1", "r2"]:
            for references in ["pooled", "each"] if options.references == "both" else [options.references]:
                command = [sys.executable, __file__, str(options.data), "--only", f"{name}/{metric}/{references}"]
                command += ["--limit", str(options.limit), "--knapsack", str(options.knapsack)]
                command += ["--no-highs"] if options.no_highs else []
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    sys.exit(done.stderr)
                print(line(json.loads(done.stdout)), flush=True)


if __name__ == "__main__":
    main()
