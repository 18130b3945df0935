"""Compressive oracles beside extractive ones, and how long their integer programs take.

    python benchmarks/compressive.py DATA_FOLDER [--lengths 50,100] [--joined 6] [--topics N]

First every topic of gum by itself, then several joined until they have the size of a topic of DUC-2004 (220 sentences,
four references of about 90 words, 100 words to fill). Times are CPU milliseconds, HiGHS on one thread, everything
loaded: build is from text to problem (parses are read and chunks made), solve from problem to proven optimum.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table
from shared.compiled import compile_at_once
from shared.instances import topics_of

from optsum.chunks.parse import conllu_blocks, read_text
from optsum.contracts.result import Result, Status
from optsum.corpus.topic import Topic, as_topic
from optsum.options.options import Options, resolve
from optsum.problem.coverage_problem import CoverageProblem
from optsum.running.one_problem import build, run_task, setup_of

METRICS: dict[str, dict[str, Any]] = {
    "R1": {"metric": "rouge-1", "stopwords": "drop"},
    "R2": {"metric": "rouge-2"},
    "SU0": {"metric": "rouge-su0"},
}
WAYS: dict[str, dict[str, Any]] = {
    "extractive": {"formulation": "extractive"},
    "strict": {"formulation": "compressive", "chunk_profile": "strict"},
    "paper": {"formulation": "compressive", "chunk_profile": "paper"},
}
SENTENCES = 220
REFERENCES = 4


def with_parses(topic: Topic, folder: Path) -> Topic:
    """Return a topic that carries its parses, so that it can be joined with others."""
    text = read_text(folder / "conllu" / Path(str(topic.meta["conllu"])).name, "")
    return as_topic(
        {
            "id": topic.id,
            "documents": [list(document) for document in topic.documents],
            "references": [list(reference) for reference in topic.references],
            "parses": [block.text for block in conllu_blocks(text)],
        }
    )


def joined(topics: Sequence[Topic], number: int) -> Iterator[Topic]:
    """Yield topics of `SENTENCES` sentences, from another first topic each; a reference joins two summaries."""
    for start in range(number):
        order = [topics[(start * 5 + step) % len(topics)] for step in range(len(topics))]
        taken: list[Topic] = []
        while sum(len(topic.sentences) for topic in taken) < SENTENCES:
            taken.append(order[len(taken)])
        references = []
        for k in range(REFERENCES):
            pair = taken[k % len(taken)], taken[(k + 1) % len(taken)]
            references.append([sentence for topic in pair for sentence in topic.references[k % len(topic.references)]])
        yield as_topic(
            {
                "id": f"joined-{start}",
                "documents": [list(document) for topic in taken for document in topic.documents],
                "references": references,
                "parses": [parse for topic in taken for parse in topic.parses or ()],
            }
        )


def measured(topic: Topic, options: Options) -> tuple[Result, CoverageProblem, float, float]:
    """Return the result and the problem, and milliseconds to build and to solve."""
    began = process_time()
    task = build(topic, setup_of(options))
    built = process_time()
    result = run_task(task, setup_of(options))
    if result.status is not Status.OPTIMAL or not isinstance(task.problem, CoverageProblem):
        sys.exit(f"{topic.id}: {result.status}")
    return result, task.problem, 1e3 * (built - began), 1e3 * (process_time() - built)


def report(title: str, topics: Sequence[Topic], lengths: Sequence[int]) -> None:
    """Measure and print one table."""
    table = Table(title=title)
    headings = "", "mean recall", "gain", "wins", "units", "joints", "build", "solve", "worst", "sentences", "filled"
    for heading in headings:
        table.add_column(heading, justify="left" if not heading else "right")
    for length in lengths:
        for name, metric in METRICS.items():
            before: list[Result] = []
            for way, formulation in WAYS.items():
                options = resolve({**metric, **formulation, "max_length": length})
                measured(topics[0], options)
                found = [measured(topic, options) for topic in topics]
                results = [result for result, *_ in found]
                for old, new in zip(before, results, strict=False):
                    if old.key is None or new.key is None or new.key < old.key:
                        sys.exit(f"{new.id}: {way} has {new.objective}, less than the row before, {old.objective}")
                values = [result.objective or 0.0 for result in results]
                gains = [
                    (result.objective or 0.0) - (old.objective or 0.0)
                    for result, old in zip(results, before, strict=False)
                ]
                solves = [solve for *_, solve in found]
                table.add_row(
                    f"{length} words {name} {way}",
                    f"{fmean(values):.4f}",
                    f"{fmean(gains):+.4f}" if gains else "",
                    f"{sum(gain > 0 for gain in gains)}/{len(gains)}" if gains else "",
                    f"{fmean(problem.size for _, problem, _, _ in found):.0f}",
                    f"{fmean(len(problem.instance.joints) for _, problem, _, _ in found):.0f}",
                    f"{median(spent for _, _, spent, _ in found):.1f}",
                    f"{median(solves):.1f}",
                    f"{max(solves):.1f}",
                    f"{fmean(len(result.summary or ()) for result in results):.2f}",
                    f"{fmean(result.length or 0 for result in results):.1f}",
                )
                before = results
    table.caption = "gain, wins: over the row above. build, solve, worst: CPU ms a topic (medians; slowest solve)."
    Console(width=150).print(table)


def main() -> None:
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--lengths", default="50,100")
    parser.add_argument("--joined", type=int, default=6, help="how many joined topics")
    parser.add_argument("--topics", type=int, default=None, help="of gum")
    arguments = parser.parse_args()
    folder = arguments.data / "gum"
    topics = [with_parses(topic, folder) for topic in topics_of(folder / "topics.jsonl")][: arguments.topics]
    report(f"gum: {len(topics)} topics", topics, [int(length) for length in arguments.lengths.split(",")])
    large = list(joined(topics, arguments.joined))
    report(f"DUC-2004 scale: {len(large)} topics of {SENTENCES} sentences and {REFERENCES} references", large, [100])


if __name__ == "__main__":
    main()
