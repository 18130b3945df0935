"""All selections that are nearly as good as the best: how long the search takes, and how many there are.

    python benchmarks/near.py DATA_FOLDER [--rows realsumm/rouge-1/100/5%,...] [--topics N] [--repeats 3] [--limit 20]

A row is a data set, a metric, a length in words and what may be lost. Times are CPU milliseconds a topic, kernels warm,
the least of the repeats: "search" from the instance to the family (as it says itself, wall time), "whole" from the text
to it, CPU time.
"open" is how many topics a limit stopped.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from statistics import median
from time import process_time

from shared.compiled import compile_at_once
from shared.instances import topics_of

import optsum

ROWS = (
    "realsumm/rouge-1/100/0%,realsumm/rouge-1/100/5%,realsumm/rouge-1/100/10%,realsumm/rouge-1/100/20%,"
    "realsumm/rouge-2/100/5%,realsumm/rouge-2/100/20%,squality/rouge-2/250/0.5%,squality/rouge-2/250/1%"
)


def measured(topic: optsum.Topic, repeats: int, within: str, **options: object) -> tuple[float, float, int, bool]:
    """Return the milliseconds of the search and of the whole, the count, and whether it is complete."""
    search, whole = [], []
    for _ in range(repeats):
        began = process_time()
        found = optsum.enumerate_optima(topic, within=within, **options)  # type: ignore[arg-type]
        whole.append(1e3 * (process_time() - began))
        seconds = found.statistics["seconds"]
        search.append(1e3 * (seconds["relaxation"] + seconds["search"]))
    return min(search), min(whole), found.count, found.complete


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--topics", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds a topic")
    given = parser.parse_args()
    print(f"Median (largest); load {os.getloadavg()[0]:.1f}\n")
    print("| topics | within | topics | search, ms | whole, ms | count | open |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for row in given.rows.split(","):
        name, metric, length, within = row.split("/")
        topics = list(topics_of(given.data / name / "topics.jsonl"))[: given.topics]
        options = {"metric": metric, "max_length": int(length), "time_limit": given.limit}
        measured(topics[0], 1, within, **options)
        found = [measured(topic, given.repeats, within, **options) for topic in topics]
        search, whole, counts, complete = zip(*found, strict=True)
        shown = " | ".join(f"{median(some):.1f} ({max(some):.0f})" for some in (search, whole))
        print(
            f"| {name}, {metric}, {length} words | {within} | {len(topics)} | {shown} "
            f"| {median(counts):.0f} ({max(counts):.1e}) | {len(topics) - sum(complete)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
