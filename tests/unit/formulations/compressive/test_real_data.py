"""Test compressions of real sentences with real parses."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compressive_instances import text_value

import optsum
from optsum.contracts.result import Status
from optsum.corpus.topic import Topic
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem
from optsum.running.one_problem import build, run_task, setup_of

METRICS: list[dict[str, Any]] = [
    {"metric": "rouge-1", "stopwords": "drop"},
    {"metric": "rouge-2"},
    {"metric": "rouge-su0"},
]
ANALYSES: list[dict[str, Any]] = [
    {},
    {"stem": True},
    {"stopwords": "drop"},
    {"stem": True, "stopwords": "drop"},
    {"tokenizer": "unicode"},
    {"tokenizer": "blank"},
    {"tokenizer": "tokens"},
]


@pytest.fixture(scope="module")
def topics(shared_data: Path) -> list[Topic]:
    found = [topic for topic in optsum.read_topics(shared_data / "gum" / "topics.jsonl") if isinstance(topic, Topic)]
    assert len(found) == 32
    return found


@pytest.mark.parametrize("analysis", ANALYSES, ids=str)
@pytest.mark.parametrize("metric", ["rouge-1", "rouge-2", "rouge-su0"])
def test_a_whole_sentence_is_an_extract(topics: list[Topic], analysis: dict[str, Any], metric: str) -> None:
    """Compare lengths and n-grams, of multi-word tokens too; each topic is tried with one of the analyses."""
    for topic in topics[ANALYSES.index(analysis) :: len(ANALYSES)][:2]:
        options = {**analysis, "metric": metric, "max_length": 10**6, "keep_unmatched": True}
        extract = build(topic, setup_of(resolve(options))).problem
        task = build(topic, setup_of(resolve({**options, "formulation": "compressive"})))
        problem = task.problem
        entries = list(problem.entries())
        assert len(entries) == extract.size == len(topic.sentences)
        for unit, entry in enumerate(entries):
            assert problem.length(entry) == extract.lengths[unit]
            assert problem.totals(entry) == extract.totals((unit,)), topic.sentences[unit]
            assert task.decode(entry) == task.display(entry) == (topic.sentences[unit],)


@pytest.mark.slow
@pytest.mark.parametrize("max_length", [50, 100])
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_more_freedom_to_compress_is_never_worse(topics: list[Topic], metric: dict[str, Any], max_length: int) -> None:
    """Check extractive <= strict <= paper, and that each value is that of its text."""
    ways: list[dict[str, Any]] = [
        {"formulation": "extractive"},
        {"formulation": "compressive"},
        {"formulation": "compressive", "chunk_profile": "paper"},
    ]
    gains = 0
    some = topics[::12] if max_length == 50 else topics[1::24]
    for topic in some:
        found = []
        for way in ways:
            options = resolve({**metric, **way, "max_length": max_length})
            task = build(topic, setup_of(options))
            result = run_task(task, setup_of(options))
            assert result.status is Status.OPTIMAL
            found.append(result.key or 0)
            if way["formulation"] == "compressive":
                chosen = set(result.selection or ())
                units = tuple(unit for unit, name in enumerate(task.units) if name in chosen)
                assert task.name_units(units) == result.selection
                assert text_value(task.decode(units), topic, metric) == result.key
                assert isinstance(task.problem, CoverageProblem)
        assert all(less <= more for less, more in pairwise(found)), topic.id
        gains += found[0] < found[1]
    assert gains >= len(some) - 1


def test_random_compressions_read_well(topics: list[Topic]) -> None:
    """Check for paired brackets and quotation marks, a final mark at the end, and no stray commas or blanks."""
    rng = np.random.default_rng(0)
    checked = 0
    way = setup_of(resolve({"formulation": "compressive", "max_length": 10**6, "keep_unmatched": True}))
    for topic in topics[::4]:
        task = build(topic, way)
        for entry, sentence in zip(task.problem.entries(), topic.sentences, strict=True):
            assert isinstance(sentence, str)
            for _ in range(4):
                kept = [unit for unit in entry if rng.random() < 0.6]
                problem = task.problem
                assert isinstance(problem, CoverageProblem)
                selection = tuple(unit for unit in kept if set(problem.instance.ancestors(unit)) <= set(kept))
                if not selection or selection == entry:
                    continue
                (shown,) = task.display(selection) or ()
                checked += 1
                assert isinstance(shown, str)
                assert shown == shown.strip()
                for left, right in ("()", "[]", "“”"):
                    if sentence.count(left) == sentence.count(right):
                        assert shown.count(left) == shown.count(right), (sentence, shown)
                if sentence.count('"') % 2 == 0:
                    assert shown.count('"') % 2 == 0, (sentence, shown)
                for stray in (" ,", ",,", "( ", " )", ",."):
                    assert stray not in shown or stray in sentence, (sentence, shown)
                if sentence[-1] in ".?!" and sentence[-2].isalnum():
                    assert shown[-1] in ".?!:", (sentence, shown)
                assert not shown.startswith((",", ";", ")")), (sentence, shown)
    assert checked > 300
