"""Test the compressive formulation against brute force and against the paper's own model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compressive_instances import Draw, draw, text_value
from optsum.formulations import compressive

from optsum import enumerate_optima, solve
from optsum.contracts.result import Status
from optsum.errors import InputError, UnsupportedError
from optsum.options.options import resolve
from optsum.running.one_problem import build, setup_of
from optsum.testing import check_problem
from optsum.text.analyzer import character_count, word_count

METRICS: list[dict[str, Any]] = [
    {"metric": "rouge-1", "stopwords": "drop"},
    {"metric": "rouge-1", "stem": True},
    {"metric": "rouge-2"},
    {"metric": "rouge-2", "stopwords": "drop", "stem": True},
    {"metric": "rouge-su0"},
    {"metric": "rouge-3"},
    {"metric": "rouge-1+rouge-2"},
    {"metric": "rouge-2", "references": "mean"},
    {"metric": "rouge-su0", "counts": "set"},
    {"metric": "rouge-1", "measure": "f1"},
    {"metric": "rouge-1", "measure": "precision", "counts": "set"},
    {"metric": "rouge-2", "measure": "f1"},
    {"metric": "rouge-su0", "measure": "precision"},
]


def patch(monkeypatch: pytest.MonkeyPatch, drawn: Draw) -> None:
    """Make the formulation use the trees that were drawn."""
    trees = dict(zip(map(id, drawn.parses), drawn.trees, strict=True))
    monkeypatch.setattr(compressive, "parses_of", lambda topic: drawn.parses)
    monkeypatch.setattr(compressive, "chunk_tree", lambda parse, profile, rules: trees[id(parse)])


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "paper"])
@pytest.mark.parametrize("options", METRICS[:6], ids=str)
def test_the_paper_s_model_has_the_same_optimum(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], strict: bool
) -> None:
    """Compare equations 3-12 over chunks, unreduced, with the arrays over groups of chunks."""
    for seed in range(100, 106):
        rng = np.random.default_rng(seed)
        drawn = draw(rng, strict=strict)
        patch(monkeypatch, drawn)
        way = {**options, "formulation": "compressive", "max_length": int(rng.integers(1, 12))}
        try:
            arrays = solve(drawn.topic, **way)
        except InputError:
            continue
        model = solve(drawn.topic, **way, backend="pyomo:highs")
        assert model.key == arrays.key, f"seed {seed}, {way}"
        assert model.status is Status.OPTIMAL


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "paper"])
@pytest.mark.parametrize("options", [*METRICS[2:8], METRICS[-2]], ids=str)
def test_compressive_problems_keep_the_contract(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], strict: bool
) -> None:
    for seed in range(200, 206):
        rng = np.random.default_rng(seed)
        drawn = draw(rng, strict=strict)
        patch(monkeypatch, drawn)
        limits = {"max_length": int(rng.integers(1, 16)), "min_length": int(rng.integers(0, 2))}
        try:
            task = build(drawn.topic, setup_of(resolve({**options, **limits, "formulation": "compressive"})))
        except InputError:
            continue
        check_problem(task.problem)


@pytest.mark.parametrize("unit", ["words", "characters", "sentences"])
def test_a_whole_sentence_is_as_long_as_an_extract(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    lengths = {"words": word_count, "characters": character_count, "sentences": lambda _: 1}
    for seed in range(40):
        drawn = draw(np.random.default_rng(seed), strict=seed % 2 == 0)
        patch(monkeypatch, drawn)
        options = resolve(
            {"formulation": "compressive", "max_length": 10**6, "length_unit": unit, "keep_unmatched": True}
        )
        task = build(drawn.topic, setup_of(options))
        entries = list(task.problem.entries())
        assert [task.problem.length(entry) for entry in entries] == [
            lengths[unit](sentence) for sentence in drawn.topic.sentences
        ]
        assert [task.decode(entry) for entry in entries] == [(sentence,) for sentence in drawn.topic.sentences]


def test_windows_of_length_have_the_same_optimum_by_all_strategies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that sentences that match nothing are kept to reach a minimum length."""
    for seed in range(300, 330):
        drawn = draw(np.random.default_rng(seed), strict=seed % 2 == 0)
        patch(monkeypatch, drawn)
        total = sum(word_count(sentence) for sentence in drawn.topic.sentences)
        options: dict[str, Any] = {"formulation": "compressive", "max_length": total, "min_length": max(1, total - 3)}
        results = [solve(drawn.topic, **options, strategy=strategy) for strategy in ("exhaustive", "milp")]
        assert results[0].key == results[1].key
        assert results[0].status is results[1].status
        assert {result.length for result in results} <= {None, *range(max(1, total - 3), total + 1)}


TOPIC: dict[str, Any] = {
    "id": "t",
    "documents": [["Cats often sleep", "Dogs bark"]],
    "references": [["cats sleep"]],
    "parses": [
        """1 Cats cat NOUN NNS _ 3 nsubj _ _
2 often often ADV RB _ 3 advmod _ _
3 sleep sleep VERB VBP _ 0 root _ _""".replace(" ", "\t"),
        """1 Dogs dog NOUN NNS _ 2 nsubj _ _
2 bark bark VERB VBP _ 0 root _ _""".replace(" ", "\t"),
    ],
}


def test_a_topic_by_hand() -> None:
    result = solve(TOPIC, formulation="compressive", metric="rouge-2", max_length=2)
    assert (result.selection, result.summary, result.length) == (((0, 1), (0, 3)), ("Cats sleep",), 2)
    assert (result.numerator, result.denominator) == (1, 1)
    assert solve(TOPIC, metric="rouge-2", max_length=9).objective == 0.0, "no extract has the bigram"
    lead = solve(TOPIC, formulation="compressive", metric="rouge-2", max_length=4, strategy="lead")
    assert (lead.selection, lead.summary) == (((0, 1), (0, 2), (0, 3)), ("Cats often sleep",)), "whole sentences"
    paper = solve(TOPIC, formulation="compressive", max_length=1, chunk_profile="paper")
    assert (paper.summary, paper.objective) == (("Sleep",), 0.5)


def test_rules_from_a_file(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('extends = "ud"\n[[rule]]\nrelation = ["advmod"]\naction = "MERGE"\n', encoding="utf-8")
    options: dict[str, Any] = {"formulation": "compressive", "metric": "rouge-2", "max_length": 9}
    assert solve(TOPIC, **options).objective == 1.0
    assert solve(TOPIC, **options, chunk_rules=str(rules)).objective == 0.0
    with pytest.raises(InputError, match=r"nowhere\.toml"):
        solve(TOPIC, **options, chunk_rules=str(tmp_path / "nowhere.toml"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "rouge-su4"}, "rouge-N, rouge-su0 and similarity, not rouge-su4"),
        ({"metric": "rouge-l"}, "rouge-N, rouge-su0 and similarity, not rouge-l"),
        ({"boundaries": "joined"}, 'give boundaries="sentence"'),
        ({"metric": "rouge-3", "measure": "f1"}, 'use measure="recall"'),
        ({"metric": "rouge-2", "measure": "precision", "counts": "set"}, "only of rouge-1"),
        ({"tokenizer": "pypi-rouge"}, "choose another with tokenizer"),
    ],
)
def test_unsupported_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        solve(TOPIC, formulation="compressive", max_length=5, **options)


def test_topics_that_cannot_be_compressed_are_refused() -> None:
    without = {name: value for name, value in TOPIC.items() if name != "parses"}
    with pytest.raises(InputError, match="parses"):
        solve(without, formulation="compressive", max_length=5)
    with pytest.raises(InputError, match="no rouge-2 n-gram to count"):
        solve({**TOPIC, "references": [["cats"]]}, formulation="compressive", max_length=5, metric="rouge-2")
    parse = TOPIC["parses"][0].replace("3\tsleep\tsleep", "3\t—\t—")
    with pytest.raises(InputError, match=r"main chunk of sentence 0 .* use measure=.recall"):
        solve(
            {
                **TOPIC,
                "documents": [["Cats often —", "Dogs bark"]],
                "parses": [parse, TOPIC["parses"][1]],
                "references": [["cats often"]],
            },
            formulation="compressive",
            metric="rouge-2",
            measure="f1",
            chunk_profile="paper",
        )


def test_all_optima_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that sets name all chunks, as a selection does, and that extracts are counted over whole trees."""
    several = 0
    for seed in range(400, 440):
        drawn = draw(np.random.default_rng(seed), strict=seed % 2 == 0)
        patch(monkeypatch, drawn)
        options: dict[str, Any] = {"formulation": "compressive", "metric": "rouge-1", "max_length": 4}
        try:
            optima = enumerate_optima(drawn.topic, **options, strategy="exhaustive")
        except InputError:  # nothing to count
            continue
        found = list(optima)
        several += len(found) > 1
        assert optima.result.selection in found
        assert optima.feasible() == optima.result.extra["feasible"]
        for names in found:
            chunks = [tuple(c for s, c in names if s == number) for number in range(len(drawn.parses))]
            assert all(kept in list(drawn.compressions(number)) for number, kept in enumerate(chunks))
            summary = [drawn.text(number, kept) for number, kept in enumerate(chunks) if kept]
            assert text_value(summary, drawn.topic, options) == optima.result.key
            assert optima.f_measure(names) > 0
        assert set(optima.always) == set.intersection(*map(set, found))
    assert several > 5


ELEPHANT = """1 It it PRON PRP _ 5 nsubj _ _
2 was be AUX VBD _ 5 cop _ _
3 a a DET DT _ 5 det _ _
4 big big ADJ JJ _ 5 amod _ _
5 elephant elephant NOUN NN _ 0 root _ _
6 . . PUNCT . _ 5 punct _ _""".replace(" ", "\t")


def test_scores_are_of_what_was_kept_not_of_what_is_shown() -> None:
    topic = {
        "id": "t",
        "documents": [["It was a big elephant ."]],
        "references": [["it was a elephant"]],
        "parses": [ELEPHANT],
    }
    result = solve(topic, formulation="compressive", metric="rouge-2", max_length=5)
    assert result.summary == ("It was an elephant .",)
    assert (result.numerator, result.denominator, result.length) == (3, 3, 5), "the full stop is a word by its blanks"
    assert result.rouge is not None
    assert result.rouge["rouge-2"]["recall"] == 1.0, "'a elephant' was kept"


@pytest.mark.parametrize("tokenizer", [None, "rouge", "unicode"])
def test_a_pretokenized_topic(tokenizer: str | None) -> None:
    topic = {
        "id": "t",
        "documents": [[["It", "was", "a", "big", "elephant", "."]]],
        "references": [[["It", "was", "a", "elephant"]]],
        "parses": [ELEPHANT],
    }
    result = solve(topic, formulation="compressive", metric="rouge-2", max_length=5, tokenizer=tokenizer)
    assert (result.numerator, result.denominator, result.length) == (3, 3, 5)
    assert result.summary == ("It was an elephant .",)
    whole = solve(
        topic, formulation="compressive", metric="rouge-2", max_length=9, tokenizer=tokenizer, strategy="lead"
    )
    assert (whole.summary, whole.numerator) == (("It was a big elephant .",), 2)
