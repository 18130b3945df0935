"""Check that the suites for tokenizers, stemmers and splitters accept ours, and find the faults of others."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import optsum
from optsum.testing import ConformanceError, check_splitter, check_stemmer, check_tokenizer

CALLS = itertools.count()
LOCK = threading.Lock()
LIST: list[str] = []


def shared(text: str) -> list[str]:
    LIST[:] = text.split()
    return LIST


def by_generator(text: str) -> Iterator[str]:
    yield from text.split()


@pytest.mark.parametrize(
    "name", ["rouge", "rouge-score", "blank", "unicode", "characters", "tokens", "pypi-rouge", "presumm"]
)
def test_our_tokenizers_pass(name: str) -> None:
    check_tokenizer(name)


@pytest.mark.parametrize(
    "name", ["rouge155", "rouge-score", "snowball:german", "snowball:russian", "snowball:dutch_porter"]
)
def test_our_stemmers_pass(name: str) -> None:
    check_stemmer(name, ["häuser", "книгами"])


def test_functions_pass() -> None:
    check_tokenizer(by_generator)
    check_tokenizer(lambda text: text.split(), ["of my own"])
    check_tokenizer(lambda text: text.split() if LOCK else [])  # warns: it cannot be sent
    check_tokenizer(f"{__name__}:by_generator")
    check_stemmer(lambda word: word[:5])
    check_splitter("sentencex", ["Am 3. Mai. Es regnete."], language="de")
    check_splitter(lambda text: text.split("\n\n"))


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (lambda text: [f"{text}{next(CALLS)}"], "and later"),
        (lambda text: text, "must return a list of strings"),
        (lambda text: [1], "must return a list of strings"),
        (lambda text: [text[0]], "failed on the text ''"),
    ],
)
def test_invalid_tokenizers_fail(tokenizer: Any, message: str) -> None:
    with pytest.raises(ConformanceError, match=message):
        check_tokenizer(tokenizer)


def test_a_tokenizer_may_return_the_same_list_again() -> None:
    check_tokenizer(shared)  # a copy is kept


@pytest.mark.parametrize(
    ("stemmer", "message"),
    [
        (lambda word: None, "must return a string"),
        (lambda word: word[0], "failed"),
        (lambda _: str(next(CALLS)), "and later"),
    ],
)
def test_invalid_stemmers_fail(stemmer: Any, message: str) -> None:
    with pytest.raises(ConformanceError, match=message):
        check_stemmer(stemmer)


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (lambda text: text.split(".")[:1], "letters are lost, added or moved"),
        (lambda text: [text, text], "letters are lost, added or moved"),
        (lambda text: text, "it must return a list of strings"),
    ],
)
def test_invalid_splitters_fail(splitter: Any, message: str) -> None:
    with pytest.raises(ConformanceError, match=message):
        check_splitter(splitter)


def test_functions_count_what_they_make() -> None:
    topic = {"id": "t", "documents": [["a-b c", "d"]], "references": [["A-B"]]}
    result = optsum.solve(topic, max_length=2, tokenizer=lambda text: text.lower().split())
    assert (result.numerator, result.denominator, result.selection) == (1, 1, (0,))
    assert "tok:" in str(result.signature)
    stemmed = optsum.solve(topic, max_length=2, tokenizer="blank", stemmer=lambda word: word[:1])
    assert "stem:" in str(stemmed.signature)
    assert stemmed.numerator == 1
    other = optsum.solve(topic, max_length=2, tokenizer=lambda text: text.lower().split("-"))
    assert other.denominator == 2
    assert other.config_hash != result.config_hash


def test_equal_names_of_different_functions_are_not_mixed_up() -> None:
    def made(sign: str) -> Any:
        return lambda text: text.split(sign)

    topic = {"id": "t", "documents": [["a-b+c"]], "references": [["a-b+c"]]}
    found = [optsum.solve(topic, max_length=9, tokenizer=made(sign)).denominator for sign in ("-", "+", "x")]
    assert found == [2, 2, 1]


def test_german_stems() -> None:
    topic = {"id": "t", "documents": [["Die Häuser brannten.", "Es regnete."]], "references": [["Ein Haus brannte."]]}
    by_stems = optsum.solve(topic, max_length=3, tokenizer="unicode", stemmer="snowball:german")
    plain = optsum.solve(topic, max_length=3, tokenizer="unicode")
    assert (plain.numerator, by_stems.numerator) == (0, 2)
    with pytest.raises(optsum.OptsumError, match="no stemmer 'snowball:germann'; did you mean snowball:german"):
        optsum.solve(topic, max_length=3, stemmer="snowball:germann")
    assert optsum.rouge("Häuser", ["Haus"], tokenizer="unicode", stemmer="snowball:german").recall == 1
