"""Similarity of meaning: how fast its best value is proven, what making the levels takes, and what greedy loses.

    python benchmarks/similarity.py DATA_FOLDER [--sets realsumm,squality] [--kinds types,context] [--limit 60]
        [--measure f1] [--topics N] [--all] [--milp]

No model is needed: a word's vector is a row of the truncated SVD (64 dimensions) of positive pointwise mutual
information (words within 5 of one another, in the documents and references of the set). "types": a token has the vector
of its word; "context": mixed with the mean of its 7 neighbours, so that every token has its own. Tokens are those of
ROUGE; the summary has 100 words (squality: 250).

Milliseconds a topic, kernels warm: the vectors' similarities and levels ("build"), the search of branch and bound, its
rounds; with --all, of all optima; with --milp, of HiGHS.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import svds
from shared.compiled import compile_at_once
from shared.instances import topics_of

import optsum
from optsum.options.options import resolve
from optsum.running.one_problem import build, setup_of
from optsum.text.analyzer import Analyzer

_AWAY, _SIZE, _NEIGHBOURS = 5, 64, 7


def words_of(text: Any, analyzer: Analyzer) -> list[list[str]]:
    return [analyzer.tokens(sentence) for sentence in text]


def embeddings(texts: list[list[list[str]]]) -> tuple[dict[str, int], Any]:
    """Return the number of each word, and a vector for each."""
    numbers: dict[str, int] = {}
    pairs: Counter[tuple[int, int]] = Counter()
    for text in texts:
        ids = [numbers.setdefault(word, len(numbers)) for sentence in text for word in sentence]
        for place, word in enumerate(ids):
            for other in ids[place + 1 : place + 1 + _AWAY]:
                pairs[word, other] += 1
                pairs[other, word] += 1
    rows, columns = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    counts = np.fromiter(pairs.values(), float, len(pairs))
    sums = np.bincount(rows, counts, len(numbers))
    information = np.log(counts * counts.sum() / (sums[rows] * sums[columns]))
    table = coo_matrix((np.maximum(information, 0), (rows, columns)), (len(numbers), len(numbers))).tocsr()
    left, values, _ = svds(table, k=_SIZE, random_state=0)
    return numbers, left * np.sqrt(values)


def in_context(vectors: Any) -> Any:
    """Return vectors of tokens mixed with the mean of their neighbours."""
    padded = np.pad(vectors, ((_NEIGHBOURS // 2, _NEIGHBOURS // 2), (0, 0)))
    around = sum(padded[shift : shift + len(vectors)] for shift in range(_NEIGHBOURS)) / _NEIGHBOURS
    return (vectors + around) / 2


def with_vectors(topics: list[optsum.Topic], kind: str) -> list[optsum.Topic]:
    analyzer = Analyzer()
    texts = {topic.id: [words_of(part, analyzer) for part in (topic.sentences, *topic.references)] for topic in topics}
    numbers, table = embeddings([text for parts in texts.values() for text in parts])

    def of_text(text: list[list[str]]) -> Any:
        found = table[[numbers[word] for sentence in text for word in sentence]]
        return in_context(found) if kind == "context" else found

    made = []
    for topic in topics:
        source, *models = texts[topic.id]
        arrays = {
            "sentences": of_text(source),
            "sentence_of": np.repeat(np.arange(len(source)), list(map(len, source))),
            "references": np.vstack([of_text(model) for model in models]),
            "reference_of": np.repeat(np.arange(len(models)), [sum(map(len, model)) for model in models]),
        }
        made.append(
            optsum.as_topic(
                {"id": topic.id, "documents": topic.documents, "references": topic.references, "vectors": arrays}
            )
        )
    return made


def measured(topics: list[optsum.Topic], options: dict[str, Any], *, every: bool, milp: bool) -> str:
    setup = setup_of(resolve({**options, "strategy": "branch-and-bound"}))
    exact = optsum.STRATEGIES.create("branch-and-bound", {})
    times: dict[str, list[float]] = {}
    rounds, losses, unproven, counts = [], [], 0, []

    def timed(what: str, call: Any) -> Any:
        began = process_time()
        found = call()
        times.setdefault(what, []).append(1e3 * (process_time() - began))
        return found

    list(optsum.solve_all(topics[:1], **options))
    for topic in topics:
        task = timed("build", lambda topic=topic: build(topic, setup))
        best = timed("search", lambda task=task: optsum.search(task.problem, exact, setup.limits))
        rounds.append(best.statistics["rounds"])
        unproven += best.status is not optsum.Status.OPTIMAL
        greedy = timed("greedy", lambda task=task: optsum.search(task.problem, "greedy", bound="none"))
        losses.append(1 - float(greedy.key / best.key))
        if every:
            found = timed("all", lambda task=task: exact.enumerate(task.problem, setup.limits))
            counts.append(found.count)
        if milp:
            timed("milp", lambda task=task: optsum.search(task.problem, "milp", setup.limits))
    shown = " | ".join(f"{what} {np.median(ms):8.1f} {max(ms):9.1f}" for what, ms in times.items())
    found = f", optima <= {max(counts)}" if counts else ""
    return (
        f"{shown} | rounds <= {max(rounds)}, {unproven} unproven, greedy loses {np.mean(losses):.2%}, "
        f"at most {max(losses):.2%}{found}"
    )


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default="realsumm,squality")
    parser.add_argument("--kinds", default="types,context")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a topic")
    parser.add_argument("--measure", default="recall")
    parser.add_argument("--topics", type=int)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--milp", action="store_true")
    given = parser.parse_args()
    print(f"median and largest milliseconds of a topic; load {os.getloadavg()[0]:.1f}")
    for name in given.sets.split(","):
        topics = list(topics_of(given.data / name / "topics.jsonl"))[: given.topics]
        for kind in given.kinds.split(","):
            options = {
                "metric": "similarity",
                "measure": given.measure,
                "max_length": 250 if name == "squality" else 100,
                "time_limit": given.limit,
            }
            print(f"{name:9} {kind:8}", measured(with_vectors(topics, kind), options, every=given.all, milp=given.milp))


if __name__ == "__main__":
    main()
