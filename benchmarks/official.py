"""Check that the objectives of ROUGE-L oracles equal the scores of the official programs.

    python benchmarks/official.py DATA_FOLDER [--random 10000]
    python benchmarks/official.py DATA_FOLDER --perl FOLDER/ROUGE-1.5.5.pl [--topics 20]

The package rouge-score, which must be installed, scores the optima of all data sets of the folder and of random texts;
the number of different fractions should be 0. With ``--perl SCRIPT``, ROUGE-1.5.5 itself, with its data in the same
folder, scores optima with and without ``-m``; the five digits that it prints should be equal, too. It needs Perl with
DB_File, but no XML.
"""

from __future__ import annotations

import argparse
import logging
import math
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from shared.compiled import compile_at_once

import optsum

LEVELS = {"rouge-l": "rougeLsum", "rougeL": "rougeL"}


def random_topics(number: int) -> Iterator[dict[str, Any]]:
    """Yield small topics with few different words, so that subsequences tie."""
    chance = random.Random(1)
    for name in range(number):
        words = "abcdefgh"[: chance.randint(2, 8)]
        texts = [
            [" ".join(chance.choices(words, k=chance.randint(1, 8))) for _ in range(chance.randint(1, 6))]
            for _ in range(2)
        ]
        yield {"id": f"random {name}", "documents": texts[:1], "references": texts[1:]}


def differences(topics: list[Any], max_length: int) -> tuple[int, int]:
    """Return the number of optima whose rouge-score differs from the objective, and the number of optima.

    The comparison is exact, because floats of quotients of small whole numbers determine the fractions.
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
    """Return F1 as ROUGE-1.5.5 computes it, from recall and precision with five digits."""
    recall, precision = (round(scores[name], 5) for name in ("recall", "precision"))
    return 2 * recall * precision / (recall + precision) if recall else 0.0


def perl_differences(topics: list[Any], script: Path, stemmed: bool) -> tuple[int, int]:
    """Return the number of optima for which ROUGE-1.5.5 prints another value, and the number of optima."""
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
    """Print the requested comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--random", type=int, default=1000, help="how many random texts")
    parser.add_argument("--topics", type=int, default=20, help="of each set, for --perl")
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
    for name, topics in (sets | {"random": list(random_topics(given.random))}).items():
        found, compared = differences(topics, 12 if name == "random" else 60)
        print(f"{name}: {found} differences of {compared}", flush=True)


if __name__ == "__main__":
    main()
