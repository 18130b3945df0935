"""Test the places of the counted tokens in the text of a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.text.analyzer import TOKENIZERS, Analyzer, Sentence, word_count, word_starts

ANALYZERS = [
    *(Analyzer(name) for name in TOKENIZERS),
    Analyzer(stem=True),
    Analyzer(stopwords="drop"),
    Analyzer("unicode", stem=True, stopwords="drop"),
]
AWKWARD = st.text(
    alphabet="aAzİΣς9 .-'\t\u00a0\u2000e\u0301\u0327\u1100\u1161\u11a8ßﬁ\u212b\u0958한中\ud800", max_size=20
)


def check(analyzer: Analyzer, sentence: Sentence) -> None:
    found = analyzer.spans(sentence)
    assert [token for token, _ in found] == analyzer.tokens(sentence)
    starts = [start for _, start in found]
    assert starts == sorted(starts)
    raw = sentence if isinstance(sentence, str) else " ".join(sentence)
    for start in starts:
        assert 0 <= start <= len(raw)
    if not analyzer.stem and analyzer.tokenizer in {"rouge", "blank"}:
        for token, start in found:
            assert raw[start : start + len(token)].lower().startswith(token[:1])


@given(st.one_of(st.text(max_size=40), AWKWARD))
def test_the_tokens_of_any_text_are_found(sentence: str) -> None:
    for analyzer in ANALYZERS:
        check(analyzer, sentence)
    assert len(word_starts(sentence)) == word_count(sentence)
    assert not any(sentence[start].isspace() for start in word_starts(sentence))


@given(st.lists(st.one_of(st.sampled_from(["don't", "well-known", "a b", "", "Ç"]), AWKWARD), max_size=6))
def test_the_tokens_of_any_pretokenized_sentence_are_found(words: list[str]) -> None:
    for analyzer in ANALYZERS:
        check(analyzer, tuple(words))
    assert len(word_starts(tuple(words))) == len(words)


@pytest.mark.parametrize(
    ("tokenizer", "sentence", "expected"),
    [
        ("rouge", "It didn't: ÜBER-x2", [("it", 0), ("didn", 3), ("t", 8), ("ber", 12), ("x2", 16)]),
        ("unicode", "e\u0301a\u0301 C\u0327a", [("éá", 0), ("ça", 5)]),
        ("unicode", "İİ x", [("i̇i̇", 0), ("x", 3)]),
        ("blank", " A, b", [("a,", 1), ("b", 4)]),
        ("pypi-rouge", "a. .b", [("a", 0), ("", 2), ("b", 4)]),
    ],
)
def test_the_places_of_tokens(tokenizer: str, sentence: str, expected: list[tuple[str, int]]) -> None:
    assert Analyzer(tokenizer).spans(sentence) == expected


def test_every_sentence_of_real_topics(shared_data: Path) -> None:
    for line in (shared_data / "gum" / "topics.jsonl").read_text(encoding="utf-8").splitlines():
        for sentence in json.loads(line)["documents"][0]:
            for analyzer in ANALYZERS:
                check(analyzer, sentence)
