"""ROUGE-L oracles: how long they take, and whether objectives are the scores of rouge-score.

    python benchmarks/rouge_l.py DATA_FOLDER [--rows realsumm,squality] [--topics 20]
    python benchmarks/rouge_l.py DATA_FOLDER --official 10000
    python benchmarks/rouge_l.py DATA_FOLDER --perl FOLDER/ROUGE-1.5.5.pl

Times are CPU milliseconds a topic, from the topic to the result, kernels compiled, beside those that are asked; a row
says how many are proven within its limit, and two lines how many selections exhaustive search visits. With
``--official N`` the package rouge-score, which must be installed, scores the optima of all sets of the folder, and of N
random texts, as fractions: the number of differences should be 0. With ``--perl SCRIPT`` ROUGE-1.5.5 itself, its data
beside it, scores optima with and without ``-m``: to the five digits that it prints there should be no difference
either. It needs Perl with DB_File, but no XML.
"""

from __future__ import annotations

import argparse
import logging
import math
import random
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from shared.compiled import compile_at_once

import optsum

FIRST: dict[str, Any] = {"references": "first", "max_length": 250}
# Of each row what is asked of median and worst topic, in CPU milliseconds; None where nothing is.
ROWS: dict[str, list[tuple[dict[str, Any], int | None, int | None]]] = {
    "realsumm": [
        ({"metric": "rouge-l", "measure": "f1", "max_length": 100}, 10, 200),
        ({"metric": "rouge-l", "measure": "recall", "max_length": 100}, None, None),
        ({"preset": "matchsum"}, 2, 50),
        ({"metric": "rouge-1+rouge-2+rouge-l", "measure": "f1", "max_length": 100}, 30, 1000),
        ({"metric": "rougeL", "measure": "f1", "max_length": 100}, 5, None),
        (
            {"metric": "rouge-1+rouge-2+rougeL", "measure": "f1", "max_length": 3, "length_unit": "sentences"},
            None,
            None,
        ),
    ],
    "squality": [
        ({"metric": "rouge-l", "measure": "recall", **FIRST, "time_limit": 60.0}, 500, None),
        ({"metric": "rouge-l", "measure": "f1", **FIRST, "time_limit": 60.0}, 10_000, None),
        ({"metric": "rouge-l", "measure": "f1", **FIRST, "time_limit": 1.0}, None, 2000),
        ({"metric": "rougeL", "measure": "f1", **FIRST, "time_limit": 60.0}, None, None),
    ],
}
VISITED: dict[str, Any] = {"measure": "f1", "max_length": 80, "strategy": "exhaustive", "time_limit": 3.0}
LEVELS = {"rouge-l": "rougeLsum", "rougeL": "rougeL"}


def measured(topics: list[optsum.Topic], options: dict[str, Any], median: int | None, worst: int | None) -> str:
    """Return a line on the times of a row: what is asked, and what is reached."""
    for topic in topics[:2]:
        optsum.solve(topic, **options)
    cpu, wall, proven = [], [], 0
    for topic in topics:
        began, clock = time.process_time(), time.perf_counter()
        proven += optsum.solve(topic, **options).status == "optimal"
        cpu.append(1e3 * (time.process_time() - began))
        wall.append(time.perf_counter() - clock)
    reached = f"{statistics.median(cpu):8.1f} {max(cpu):8.1f} {max(wall):7.2f} {proven:4d}/{len(topics)}"
    return f"{median or '-':>8} {worst or '-':>8} {reached}"


def visited(topics: list[optsum.Topic], metric: str) -> str:
    """Return a line on how many selections a second exhaustive search visits, building included."""
    optsum.solve(topics[0], metric=metric, **VISITED)
    began, number = time.process_time(), 0
    for topic in topics:
        number += optsum.solve(topic, metric=metric, **VISITED).evaluations
    return f"{number / (time.process_time() - began):.3g} selections a second, asked 1e6"


def random_topics(number: int) -> Iterator[dict[str, Any]]:
    """Yield small topics of few words, in which subsequences tie."""
    chance = random.Random(1)
    for name in range(number):
        words = "abcdefgh"[: chance.randint(2, 8)]
        texts = [
            [" ".join(chance.choices(words, k=chance.randint(1, 8))) for _ in range(chance.randint(1, 6))]
            for _ in range(2)
        ]
        yield {"id": f"random {name}", "documents": texts[:1], "references": texts[1:]}


def differences(topics: list[Any], max_length: int) -> tuple[int, int]:
    """Return for how many optima rouge-score says something else than the objective, exactly, and of how many.

    Its precision and recall are quotients of small whole numbers, which their floats determine.
    """
    from rouge_score.rouge_scorer import RougeScorer

    found = compared = 0
    for metric, theirs in LEVELS.items():
        for stemmed in (False, True):
            scorer = RougeScorer([theirs], use_stemmer=stemmed)
            options: dict[str, Any] = {"tokenizer": "rouge-score", "max_length": max_length, "time_limit": 2.0}
            if stemmed:
                options["stemmer"] = "rouge-score"
            for topic in map(optsum.as_topic, topics):
                result = optsum.solve(topic, metric=metric, measure="f1", references="best", **options)
                if result.objective_exact is None:
                    continue
                summary = "\n".join(result.summary or ())
                scores = [scorer.score("\n".join(each), summary)[theirs] for each in topic.references]
                compared += 1
                found += Fraction(result.objective_exact) != max(map(exact_f1, scores))
    return found, compared


def exact_f1(score: Any) -> Fraction:
    """Return F1 as a fraction."""
    precision, recall = (Fraction(each).limit_denominator(1_000_000) for each in (score.precision, score.recall))
    return 2 * precision * recall / (precision + recall) if precision else Fraction(0)


def of_printed(scores: dict[str, float]) -> float:
    """Return F1 as ROUGE-1.5.5 has it: of recall and precision with five digits."""
    recall, precision = (round(scores[name], 5) for name in ("recall", "precision"))
    return 2 * recall * precision / (recall + precision) if recall else 0.0


def perl_differences(topics: list[Any], script: Path, stemmed: bool) -> tuple[int, int]:
    """Return for how many optima ROUGE-1.5.5 prints something else than the objective, and of how many."""
    options: dict[str, Any] = {"stem": stemmed, "max_length": 60, "time_limit": 2.0}
    found = compared = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "NoXML.pm").write_text("$INC{'XML/DOM.pm'} = 1; package XML::DOM::Parser; sub new { bless {} } 1;")
        for measure, column in (("recall", "R"), ("precision", "P"), ("f1", "F")):
            objectives, lines = [], []
            for number, topic in enumerate(map(optsum.as_topic, topics)):
                result = optsum.solve(topic, metric="rouge-l", measure=measure, references="pooled", **options)
                if result.summary is None:
                    continue
                files = []
                for place, text in enumerate([result.summary, *topic.references]):
                    files.append(folder / f"{number}.{place}")
                    files[-1].write_text("".join(f"{' '.join(each.split())}\n" for each in text), encoding="utf-8")
                lines.append(" ".join(map(str, files)))
                found += not math.isclose(result.objective or 0.0, result.rouge["rouge-l"][measure], abs_tol=1e-12)
                objectives.append(result.objective if measure != "f1" else of_printed(result.rouge["rouge-l"]))
            (folder / "list").write_text("\n".join(lines) + "\n")
            command = [
                "perl",
                f"-I{folder}",
                "-MNoXML",
                str(script),
                "-e",
                str(script.parent / "data"),
                "-a",
                "-d",
                "-n",
                "1",
            ]
            command += ["-f", "A", *(["-m"] if stemmed else []), "-z", "SPL", str(folder / "list")]
            said = subprocess.run(command, capture_output=True, check=True, text=True).stdout
            scores = re.findall(rf"ROUGE-L Eval \S+ .*\b{column}:([0-9.]+)", said)
            for objective, score in zip(objectives, scores, strict=True):
                compared += 1
                found += f"{objective:.5f}" != score
    return found, compared


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", default="realsumm,squality")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--official", type=int, default=None)
    parser.add_argument("--perl", type=Path, default=None, metavar="SCRIPT")
    given = parser.parse_args()
    compile_at_once()
    logging.getLogger("optsum").setLevel(logging.ERROR)
    sets = {path.parent.name: list(optsum.read_topics(path)) for path in sorted(given.data.glob("*/topics.jsonl"))}
    if given.perl is not None:
        for name, topics in sets.items():
            for stemmed in (False, True):
                found, compared = perl_differences(topics[: given.topics], given.perl, stemmed)
                print(f"{name}{' -m' if stemmed else ''}: {found} differences of {compared}", flush=True)
        return
    if given.official is not None:
        for name, topics in (sets | {"random": list(random_topics(given.official))}).items():
            found, compared = differences(topics, 12 if name == "random" else 60)
            print(f"{name}: {found} differences of {compared}", flush=True)
        return
    print(f"{'':60} {'median':>8} {'worst':>8} {'median':>8} {'worst':>8}    wall  proven")
    print(f"{'':60} {'asked':>8} {'asked':>8} {'ms':>8} {'ms':>8}       s")
    for name in given.rows.split(","):
        topics = list(optsum.read_topics(given.data / name / "topics.jsonl"))[: given.topics]
        for options, median, worst in ROWS[name]:
            said = " ".join(map(str, options.values()))
            print(f"{name:9} {said:50} {measured(topics, options, median, worst)}", flush=True)
    for metric in LEVELS if "realsumm" in given.rows else ():
        topics = list(optsum.read_topics(given.data / "realsumm" / "topics.jsonl"))[: given.topics]
        print(f"realsumm  exhaustive {metric:40} {visited(topics, metric)}", flush=True)


if __name__ == "__main__":
    main()
