"""Compare the proven most claims within a budget with greedy packing and a knapsack that ignores overlap.

    python benchmarks/context.py DATA_FOLDER [--instances 200] [--budgets 2500,3000,3500,4000]

Synthetic questions have 500 passages of 40 to 600 tokens. Two in five support one to four of 50 claims, some claims
more often than others. Real questions are the content units of ``dbs``, one question for each annotator; the queries
of ``qmsum``, supported by the passages of eight sentences that contain their relevant ranges; and the aspects of
``aclsum``, supported by each sentence that was highlighted for them. Lengths are given. Times are wall-clock and CPU
times of `optsum.solve` with compiled kernels and topics in memory.

"Greedy" takes the passage with most new claims per token that still fits. The knapsack takes passages by dynamic
programming on the number of claims that each supports, as if these were all different. The loss of each is the
missing share of the claims that the optimum supports.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import fmean, median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from shared.answer import topics_of
from shared.compiled import compile_at_once

import optsum
from optsum.report.tables import Column, Table, number, share

Question = dict[str, Any]


def made_up(seed: int, passages: int = 500, claims: int = 50) -> Question:
    """Return a synthetic question in which claims with higher numbers are rarer."""
    rng = random.Random(seed)
    often = [1 / (claim + 1) ** 0.5 for claim in range(claims)]
    supports = []
    for _ in range(passages):
        count = rng.choices([0, 1, 2, 3, 4], [0.6, 0.2, 0.1, 0.06, 0.04])[0]
        supports.append(sorted(set(rng.choices(range(claims), often, k=count))))
    lengths = [min(600, max(40, round(rng.lognormvariate(5.3, 0.5)))) for _ in range(passages)]
    return {"id": str(seed), "supports": supports, "lengths": lengths, "weights": [1] * claims}


def of_dbs(folder: Path) -> Iterator[Question]:
    """Yield a question for each annotator: the content units of a summary, each supported by single sentences."""
    topics = {topic.id: topic for topic in topics_of(folder / "topics.jsonl")}
    found: dict[tuple[str, int], list[list[int]]] = {}
    for unit in _lines(folder):
        first = [0, *accumulate(len(document) for document in topics[unit["topic_id"]].documents)]
        held = [first[document] + sentence for chosen in unit["alternatives"] for document, sentence in chosen]
        found.setdefault((unit["topic_id"], unit["reference_index"]), []).append(held)
    for (name, reference), claims in found.items():
        yield _question(f"{name}#{reference}", [_words(text) for text in topics[name].sentences], claims)


def of_qmsum(folder: Path, size: int = 8) -> Iterator[Question]:
    """Yield a question for each meeting: its queries, each supported by the passages in its relevant ranges."""
    topics = {topic.id: topic for topic in topics_of(folder / "topics.jsonl")}
    found: dict[str, list[list[int]]] = {}
    for query in _lines(folder):
        ranges = [range(first, last) for first, last in query["relevant_ranges"]]
        held = sorted({sentence // size for one in ranges for sentence in one})
        found.setdefault(query["topic_id"], []).append(held)
    for name, claims in found.items():
        lengths = [_words(text) for text in topics[name].sentences]
        yield _question(name, [sum(lengths[at : at + size]) for at in range(0, len(lengths), size)], claims)


def of_aclsum(folder: Path) -> Iterator[Question]:
    """Yield a question for each paper: the aspects of its summary, each supported by the highlighted sentences."""
    topics = {topic.id: topic for topic in topics_of(folder / "topics.jsonl")}
    found: dict[str, list[list[int]]] = {}
    for aspect in _lines(folder):
        topic = topics[aspect["topic_id"]]
        first = [0, *accumulate(len(document) for document in topic.documents)]
        held = [first[document] + sentence for document, sentence in aspect["relevant"]]
        found.setdefault(topic.id, []).append(held)
    for name, claims in found.items():
        yield _question(name, [_words(text) for text in topics[name].sentences], claims)


def _lines(folder: Path) -> Iterator[Any]:
    return map(json.loads, (folder / "alignments.jsonl").read_text(encoding="utf-8").splitlines())


def _words(text: str | Sequence[str]) -> int:
    return len(text.split()) if isinstance(text, str) else len(text)


def _question(name: str, lengths: list[int], claims: list[list[int]]) -> Question:
    supports: list[list[int]] = [[] for _ in lengths]
    for claim, passages in enumerate(claims):
        for passage in sorted(set(passages)):
            supports[passage].append(claim)
    return {"id": name, "supports": supports, "lengths": lengths, "weights": [1] * len(claims)}


def greedy(question: Question, budget: int) -> int:
    """Return the number of claims that greedy packing by new claims per token supports."""
    held: set[int] = set()
    left, used = set(range(len(question["lengths"]))), 0
    while True:
        gains = {
            passage: len(set(question["supports"][passage]) - held) / max(1, question["lengths"][passage])
            for passage in left
            if used + question["lengths"][passage] <= budget
        }
        best = max(gains, key=lambda passage: gains[passage], default=None)
        if best is None or not gains[best]:
            return len(held)
        left.remove(best)
        used += question["lengths"][best]
        held |= set(question["supports"][best])


def knapsack(question: Question, budget: int) -> int:
    """Return the number of claims that the best knapsack, which ignores overlap, supports."""
    best = np.zeros(budget + 1, np.int64)
    taken = np.zeros((len(question["lengths"]), budget + 1), np.bool_)
    for passage, (length, claims) in enumerate(zip(question["lengths"], question["supports"], strict=True)):
        if length <= budget and claims:
            other = best[: budget + 1 - length] + len(claims)
            taken[passage, length:] = other > best[length:]
            best[length:] = np.maximum(best[length:], other)
    held: set[int] = set()
    room = budget
    for passage in range(len(question["lengths"]) - 1, -1, -1):
        if taken[passage, room]:
            held |= set(question["supports"][passage])
            room -= question["lengths"][passage]
    return len(held)


def measured(name: str, questions: list[Question], budget: int) -> list[Any]:
    """Return a line of the table."""
    options: dict[str, Any] = {"formulation": "cover", "length_unit": "given", "max_length": budget}
    walls, processors, proven, supported = [], [], 0, []
    lost: dict[str, list[float]] = {"greedy": [], "knapsack": []}
    for question in questions:
        topic = optsum.as_topic(question)
        wall, processor = perf_counter(), process_time()
        found = optsum.solve(topic, **options)
        walls.append(1000 * (perf_counter() - wall))
        processors.append(1000 * (process_time() - processor))
        proven += found.status is optsum.Status.OPTIMAL
        supported.append(found.objective or 0.0)
        if found.numerator:
            for method, claims in (("greedy", greedy(question, budget)), ("knapsack", knapsack(question, budget))):
                lost[method].append(1 - claims / found.numerator)
    walls.sort()
    processors.sort()
    last = max(0, -(-99 * len(walls) // 100) - 1)
    cells = [number(value, 1) for times in (walls, processors) for value in (median(times), times[last])]
    losses = [share(value, 1) for one in lost.values() for value in (fmean(one or [0.0]), max(one, default=0.0))]
    return [name, str(budget), f"{proven}/{len(questions)}", share(fmean(supported), 1), *cells, *losses]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--instances", type=int, default=200)
    parser.add_argument("--budgets", default="2500,3000,3500,4000")
    given = parser.parse_args()
    compile_at_once()
    for seed in range(10):  # to compile every kernel that may be needed
        for budget in (2000, 3000, 4000):
            options: dict[str, Any] = {"formulation": "cover", "length_unit": "given", "max_length": budget}
            optsum.solve(made_up(10_000 + seed), **options)
    names = ["budget", "proven", "claims", "ms", "p99", "CPU ms", "CPU p99", "greedy", "worst", "knapsack", "worst "]
    table = Table([Column("questions"), *(Column(name, True) for name in names)])
    generated = [made_up(seed) for seed in range(given.instances)]
    for budget in map(int, given.budgets.split(",")):
        table.rows.append(measured("made up", generated, budget))
    for name, made, budgets in (
        ("dbs", of_dbs, (100, 300)),
        ("qmsum", of_qmsum, (500, 1000)),
        ("aclsum", of_aclsum, (50, 100)),
    ):
        if (given.data / name / "alignments.jsonl").is_file():
            questions = list(made(given.data / name))
            for budget in budgets:
                table.rows.append(measured(f"{name} ({len(questions)})", questions, budget))
    table.caption = [
        "ms, p99: median and 99th percentile of a question; greedy, knapsack: share of the claims lost, mean and worst"
    ]
    table.show()


if __name__ == "__main__":
    main()
