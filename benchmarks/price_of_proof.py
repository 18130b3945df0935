"""The proven optimum for the price of the greedy guess: topics per second, from text.

    python benchmarks/price_of_proof.py DATA_FOLDER [--set realsumm] [--max-length 60] [--repeats 7]

Side by side, interleaved, one core, warm, medians of CPU time over the repeats:

* branch and bound, text to proven optimum: ROUGE-N recall under a word limit (n-gram counts, normal form, search,
  re-scoring), without and with the official scores of the finished text that a result row holds;
* greedy selection in the manner of PreSumm, text to selection: add the sentence that raises the sum of the set-based
  ROUGE-1 and ROUGE-2 F1 most, stop when none does, at most 3. Written from that description, on sets, as it is used.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from shared.compiled import compile_at_once
from shared.side_by_side import side_by_side

import optsum
from optsum.corpus.topic import Topic
from optsum.options.options import resolve
from optsum.running.one_problem import build, run_task, setup_of
from optsum.running.search import search
from optsum.text.analyzer import Analyzer

Grams = set[str] | set[tuple[str, str]]


def f1(summary: Grams, reference: Grams) -> float:
    if not summary or not reference:
        return 0.0
    hits = len(summary & reference)  # type: ignore[operator]
    precision, recall = hits / len(summary), hits / len(reference)
    return 2 * precision * recall / (precision + recall + 1e-8)


def greedy_selection(topic: Topic, analyzer: Analyzer, most: int = 3) -> list[int]:
    """Sentences in the order chosen."""
    words = analyzer.joined_tokens([sentence for reference in topic.references for sentence in reference])
    return greedy_choice(words, [analyzer.tokens(sentence) for sentence in topic.sentences], most)


def greedy_choice(words: list[str], tokens: list[list[str]], most: int = 3) -> list[int]:
    """The same, of the tokens of a reference and of each sentence."""
    reference_1, reference_2 = set(words), set(pairwise(words))
    sets_1 = [set(sentence) for sentence in tokens]
    sets_2 = [set(pairwise(sentence)) for sentence in tokens]
    chosen: list[int] = []
    best = 0.0
    for _ in range(most):
        following = -1
        for number in range(len(tokens)):
            if number in chosen:
                continue
            candidate = [*chosen, number]
            ones: set[str] = set().union(*(sets_1[each] for each in candidate))
            twos: set[tuple[str, str]] = set().union(*(sets_2[each] for each in candidate))
            value = f1(ones, reference_1) + f1(twos, reference_2)
            if value > best:
                best, following = value, number
        if following < 0:
            break
        chosen.append(following)
    return chosen


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", default="realsumm")
    parser.add_argument("--max-length", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    topics = [t for t in optsum.read_topics(arguments.data / arguments.set / "topics.jsonl") if isinstance(t, Topic)]
    analyzer = Analyzer()

    def proven(metric: str, *, scored: bool) -> None:
        options = resolve({"metric": metric, "max_length": arguments.max_length, "strategy": "branch-and-bound"})
        for topic in topics:
            task = build(topic, setup_of(options))
            result = run_task(task, setup_of(options)) if scored else search(task.problem, options.searcher())
            assert result.status is optsum.Status.OPTIMAL

    jobs: dict[str, Callable[[], object]] = {
        "greedy in the manner of PreSumm": lambda: [greedy_selection(topic, analyzer) for topic in topics]
    }
    for metric in ("rouge-2", "rouge-1"):
        jobs[f"proven optimum, {metric} recall"] = lambda metric=metric: proven(metric, scored=False)  # type: ignore[misc]
        jobs[f"the same as a result row, {metric}"] = lambda metric=metric: proven(metric, scored=True)  # type: ignore[misc]
    side_by_side(
        f"{arguments.set}: {len(topics)} topics, {arguments.max_length} words", jobs, len(topics), arguments.repeats
    )


if __name__ == "__main__":
    main()
