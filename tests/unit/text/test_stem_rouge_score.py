"""Compare the stemmer of rouge-score with answers of NLTK 3.10.4 and of rouge-score 0.1.2."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optsum
from optsum.errors import UnknownNameError
from optsum.options.options import resolve, resolve_score
from optsum.text.analyzer import Analyzer, stem, stem_rouge_score
from optsum.text.interned import interned

# The results of PorterStemmer().stem.
ANSWERS = {
    "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "inning": "inning",
    "innings": "inning", "outing": "outing", "cannings": "canning", "howe": "howe", "proceed": "proceed",
    "exceed": "exceed", "succeed": "succeed", "dies": "die", "ties": "tie", "flies": "fli", "ponies": "poni",
    "died": "die", "tied": "tie", "spied": "spi", "studied": "studi", "carried": "carri", "agreement":
    "agreement", "management": "manag", "apartment": "apart", "statements": "statement", "element": "element",
    "basement": "basement", "happy": "happi", "enjoy": "enjoy", "today": "today", "spying": "spi", "tries":
    "tri", "cry1": "cry1", "enjoyment": "enjoy", "sayyed": "sayi", "xayyying": "xayi", "ayyy1": "ayyy1",
    "fooyyy": "fooyyy", "radically": "radic", "rationally": "ration", "environmentally": "environment",
    "soulfully": "soul", "hopefully": "hope", "geology": "geolog", "archaeology": "archaeolog", "theology":
    "theolog", "possibly": "possibl", "conditionally": "condit", "owed": "owe", "eyed": "eye", "axes": "axe",
    "axed": "axe", "used": "use", "iced": "ice", "aged": "age", "easing": "eas", "agreed": "agre", "feed":
    "feed", "falling": "fall", "hissing": "hiss", "filing": "file", "hopping": "hop", "fizzed": "fizz",
    "conflated": "conflat", "troubled": "troubl", "sized": "size", "adoption": "adopt", "decision": "decis",
    "rationion": "rationion", "dominion": "dominion", "revival": "reviv", "mice": "mice", "running": "run",
    "children": "children", "better": "better", "generalizations": "gener", "oscillators": "oscil",
    "gyroscopic": "gyroscop", "bowdlerize": "bowdler", "cease": "ceas", "rate": "rate", "probate": "probat",
    "roll": "roll", "controll": "control", "1990s": "1990", "20th": "20th", "covid19": "covid19", "ying":
    "ying", "yyyed": "yy", "xyyed": "xy", "cyyed": "cy", "bees": "bee", "trees": "tree", "u1ygyying": "u1ygi",
}  # fmt: skip


def test_stems_equal_those_of_the_package() -> None:
    assert {word: stem_rouge_score(word) for word in ANSWERS} == ANSWERS


def test_words_of_three_characters_stay() -> None:
    assert [stem_rouge_score(word) for word in ("ads", "sky", "ied", "a", "")] == ["ads", "sky", "ied", "a", ""]


@given(st.text() | st.text("aeioybdlsz1", max_size=9).map(lambda word: f"{word}ing"))
def test_any_token_has_a_stem(word: str) -> None:
    result = stem_rouge_score(word)
    assert result or not word
    assert len(result) <= len(word) + 1


def test_a_long_word_takes_no_time() -> None:
    for word in ("y" * 100_000, "ba" * 50_000, "ay" * 50_000, "y" * 100_000 + "ing", "aing" * 25_000):
        assert len(stem_rouge_score(word)) >= len(word) - 4


def test_a_search_counts_stems() -> None:
    topic: dict[str, Any] = {
        "id": "t", "documents": [["Mice agreed.", "Dying under skies"]], "references": [["A mouse dies under a sky"]],
    }  # fmt: skip
    result = optsum.solve(topic, preset="google-stemmed")
    assert (result.selection, result.objective_exact) == ((1,), "2/3")  # hits die, under, sky of 3 + 6 tokens
    assert result.signature is not None
    assert "|stem:rouge-score|" in result.signature
    assert result.objective == optsum.rouge(["Dying under skies"], topic["references"], stemmer="rouge-score").f1
    assert optsum.solve(topic, preset="google", stem=True).objective_exact == "2/9"  # the hit "under"


def test_tokens_as_numbers_are_stemmed_by_it() -> None:
    analyzer = Analyzer(stem=True, stemmer="rouge-score")
    text = "dying mice die; mouse skies, sky"
    assert analyzer.tokens(text) == ["die", "mice", "die", "mous", "sky", "sky"]
    assert [token for token, _ in analyzer.spans(text)] == analyzer.tokens(text)
    assert interned(analyzer, [text]).ids.tolist() == [0, 1, 0, 2, 3, 3]
    assert Analyzer(stem=True).tokens("skies") == [stem("skies")] == ["ski"]
    with pytest.raises(UnknownNameError, match="no stemmer 'lancaster'"):
        Analyzer(stem=True, stemmer="lancaster")


def test_naming_a_stemmer_switches_stemming_on(tmp_path: Any) -> None:
    for found in (resolve, resolve_score):
        assert found({"preset": "google", "stemmer": "rouge-score"}).stem
        assert not found({"preset": "google-stemmed", "stem": False}).stem
        assert found({"preset": "google-stemmed", "stem": True}).stemmer == "rouge-score"
    assert (resolve({"max_length": 3, "stem": True}).stemmer, resolve({"max_length": 3}).stem) == ("rouge155", False)
    file = tmp_path / "optsum.toml"
    file.write_text('max-length = 3\nstemmer = "rouge-score"\n')
    assert resolve(config=file).stem
    assert not resolve({"stem": False}, config=file).stem
    file.write_text("max-length = 3\nstem = false\n")
    assert resolve({"stemmer": "rouge155"}, config=file).stem
