"""Test lengths in tokens of a tokenizer, and lengths given with the topic, wherever lengths are used."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optsum
from optsum.cli import main

WORDS = "abcdefg"
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=6)


def letters(text: str) -> int:
    """Return a length as a tokenizer might: two tokens a word, and one more for each a."""
    return 2 * len(text.split()) + text.count("a")


def best(sentences: list[str], reference: str, lengths: list[int], most: int, least: int = 0) -> int | None:
    """Return the most words of the reference that a selection of feasible length has, or None if there is none."""
    wanted = Counter(reference.split())
    every = chain.from_iterable(combinations(range(len(sentences)), size) for size in range(len(sentences) + 1))
    found = [
        (Counter(" ".join(sentences[unit] for unit in chosen).split()) & wanted).total()
        for chosen in every
        if least <= sum(lengths[unit] for unit in chosen) <= most
    ]
    return max(found, default=None)


@pytest.mark.parametrize("strategy", ["auto", "branch-and-bound", "milp", "exhaustive"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_optima_are_those_of_the_lengths(strategy: str, data: st.DataObject) -> None:
    sentences = data.draw(SENTENCES)
    reference = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join))
    own = data.draw(st.lists(st.integers(0, 9), min_size=len(sentences), max_size=len(sentences)))
    most = data.draw(st.integers(0, 20))
    least = data.draw(st.integers(0, most))
    topic = {"id": "t", "documents": [sentences], "references": [[reference]], "lengths": own}
    for lengths, options in (
        (own, {"length_unit": "given"}),
        (list(map(letters, sentences)), {"length_tokenizer": letters}),
    ):
        result = optsum.solve(topic, strategy=strategy, max_length=most, min_length=least, **options)
        expected = best(sentences, reference, lengths, most, least)
        assert result.numerator == expected
        if result.selection is not None:
            assert result.length == sum(lengths[unit] for unit in result.selection)


def test_a_frontier_and_greedy_count_them_too() -> None:
    topic = {"id": "t", "documents": [["a b c", "a b", "c d"]], "references": [["a b c d"]], "lengths": [100, 7, 8]}
    # By words greedy takes all of "a b c" first; by the given lengths the other two are denser, and fit.
    result = optsum.solve(topic, strategy="greedy", length_unit="given", max_length=100)
    assert (result.selection, result.length, result.numerator) == ((1, 2), 15, 4)
    steps = optsum.frontier(topic, lengths="1:20:1", length_unit="given").frontier.steps
    assert [(step.first, step.length) for step in steps if step.objective] == [(7, 7), (15, 15)]
    assert optsum.enumerate_optima(topic, length_unit="given", max_length=8).count == 2


TOPIC = {"id": "t", "documents": [["a b c", "d"]], "references": [["a d"]]}


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([1], "the number of lengths is 1, but that of sentences is 2"),
        ([1, -1], r"lengths\[1\] is -1"),
        ([1, 2.5], r"lengths\[1\] is 2\.5; give a whole number"),
        ([1, True], r"lengths\[1\]"),
        ("12", "is a string; give a list"),
    ],
)
def test_invalid_lengths_are_refused(lengths: Any, message: str) -> None:
    with pytest.raises(optsum.InputError, match=message):
        optsum.solve({**TOPIC, "lengths": lengths}, max_length=3, length_unit="given")


def test_missing_requirements_of_lengths_are_reported() -> None:
    with pytest.raises(optsum.InputError, match='has no "lengths": give a whole number for each sentence'):
        optsum.solve(TOPIC, max_length=3, length_unit="given")
    with pytest.raises(optsum.OptionError, match='length_unit="tokens" and length_tokenizer="NAME" go together'):
        optsum.solve(TOPIC, max_length=3, length_unit="tokens")
    with pytest.raises(optsum.OptionError, match="only one of them was given"):
        optsum.solve(TOPIC, max_length=3, length_unit="words", length_tokenizer=letters)
    with pytest.raises(optsum.OptionError, match=r"no length tokenizer 'gpt'.*tiktoken:NAME, hf:NAME"):
        optsum.solve(TOPIC, max_length=3, length_tokenizer="gpt")
    with pytest.raises(optsum.UnsupportedError, match="Chunks have lengths in words"):
        optsum.solve(TOPIC, max_length=3, length_tokenizer=letters, formulation="compressive")


@pytest.mark.parametrize("tokenizer", [lambda _: None, lambda _: -1, lambda _: True, lambda text: text.nothing])
def test_a_tokenizer_that_fails_costs_one_topic_and_names_it(tokenizer: Any) -> None:
    (result,) = optsum.solve_all([TOPIC], max_length=3, length_tokenizer=tokenizer)
    assert "the length tokenizer" in str(result.error)


@pytest.mark.parametrize(
    "tokenizer",
    [letters, str.split, lambda text: {"input_ids": text.split()}, f"{__name__}:letters", f"{__file__}:letters"],
)
def test_a_tokenizer_returns_tokens_or_their_number(tokenizer: Any) -> None:
    result = optsum.solve(TOPIC, max_length=99, length_tokenizer=tokenizer)
    assert result.length == (9 if "letters" in str(result.signature) else 4)
    assert "tokens of " in str(result.signature)


def test_a_tokenizer_of_hugging_face(tmp_path: Path) -> None:
    package = pytest.importorskip("tokenizers")
    made = package.Tokenizer(package.models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))  # noqa: S106
    made.pre_tokenizer = package.pre_tokenizers.Split("", "isolated")
    made.save(str(tmp_path / "tokenizer.json"))
    result = optsum.solve(TOPIC, max_length=99, length_tokenizer=f"hf:{tmp_path / 'tokenizer.json'}")
    assert result.length == len("a b c") + len("d")
    (tmp_path / "none.json").write_text("{}")
    with pytest.raises(optsum.OptionError, match="cannot be loaded"):
        optsum.solve(TOPIC, max_length=9, length_tokenizer=f"hf:{tmp_path / 'none.json'}")


def test_an_encoding_that_tiktoken_does_not_know() -> None:
    pytest.importorskip("tiktoken")
    with pytest.raises(optsum.OptionError, match=r"has no encoding or model 'cl100k_bas'; encodings: .*cl100k_base"):
        optsum.solve(TOPIC, max_length=9, length_tokenizer="tiktoken:cl100k_bas")


def test_flags_labels_and_the_page(tmp_path: Path) -> None:
    topics, rows, labels, page = (tmp_path / name for name in ("t.jsonl", "r.jsonl", "l.jsonl", "p.html"))
    topics.write_text(json.dumps({**TOPIC, "lengths": [5, 1]}))
    assert (
        main(["solve", str(topics), "--max-length", "5", "--length-unit", "given", "--details", "-o", str(rows)]) == 0
    )
    row = json.loads(rows.read_text())
    assert (row["length"], row["numerator"]) in {(5, 1), (1, 1)}
    assert main(["report", str(rows), "-o", str(page)]) == 0
    in_tokens = ("--max-length", "6", "--length-tokenizer", f"{__file__}:letters")
    assert main(["labels", str(topics), *in_tokens, "-o", str(labels)]) == 0
    assert json.loads(labels.read_text())["labels"] == [0, 1]
    assert main(["solve", str(topics), *in_tokens, "--details", "--overwrite", "-o", str(rows)]) == 0
    assert main(["report", str(rows), "-o", str(page), "--overwrite"]) == 0


def test_covers_are_as_short_as_their_lengths_say() -> None:
    topic = {"id": "c", "documents": [["a b", "a", "b"]], "references": [["a b"]], "cover": [[[0], [1, 2]]]}
    by_given = optsum.solve({**topic, "lengths": [9, 2, 3]}, formulation="cover", weights="length", length_unit="given")
    assert (by_given.selection, by_given.length) == ((1, 2), 5)
    by_tokens = optsum.solve(topic, formulation="cover", weights="length", length_tokenizer=lambda text: len(text) ** 2)
    assert (by_tokens.selection, by_tokens.length) == ((1, 2), 2)
