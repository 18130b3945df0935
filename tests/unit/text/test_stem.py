"""Compare the stemmer with answers of the original script."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optsum.text.analyzer as stem_module
from optsum.text.analyzer import _step_4_nltk as published_step_4
from optsum.text.analyzer import stem, wordnet_exceptions

# Word and stem by the Porter part of the original script, for words outside the exception lists.
ANSWERS = [
    ("agreement", "agreem"),
    ("management", "manag"),
    ("apartment", "apart"),
    ("sentiment", "sentim"),
    ("statements", "statem"),
    ("element", "elem"),
    ("excitement", "excit"),
    ("adoption", "adopt"),
    ("decision", "decis"),
    ("conditionally", "condit"),
    ("commissioner", "commiss"),
    ("basement", "basem"),
    ("ration", "ration"),
    ("conformably", "conform"),
    ("radically", "radic"),
    ("archaeology", "archaeolog"),
    ("geology", "geologi"),
    ("possibly", "possibl"),
    ("happy", "happi"),
    ("enjoy", "enjoi"),
    ("today", "todai"),
    ("flies", "fli"),
    ("hissing", "hiss"),
    ("falling", "fall"),
    ("filing", "file"),
    ("agreed", "agre"),
    ("plastered", "plaster"),
    ("yelling", "yell"),
    ("rolling", "roll"),
    ("revival", "reviv"),
    ("generalizations", "gener"),
    ("oscillators", "oscil"),
    ("gyroscopic", "gyroscop"),
    ("adjustable", "adjust"),
    ("defensible", "defens"),
    ("communism", "commun"),
    ("homologous", "homolog"),
    ("bowdlerize", "bowdler"),
    ("cease", "ceas"),
    ("rate", "rate"),
    ("probate", "probat"),
    ("1990s", "1990"),
    ("20th", "20th"),
    ("covid19", "covid19"),
    ("iced", "ic"),
    ("soulfully", "soulfulli"),
    ("environmentally", "environ"),
    ("documents", "docum"),
    ("cyyed", "cyi"),
    ("u1ygyying", "u1ygyi"),
    ("yyyed", "yyi"),
]


@pytest.mark.parametrize(("word", "answer"), ANSWERS)
def test_porter_part_equals_the_original_script(word: str, answer: str) -> None:
    assert word not in wordnet_exceptions()
    assert stem(word) == answer


def test_step_four_departs_from_the_published_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {word: stem(word) for word in ("agreement", "conditionally", "management")}
    monkeypatch.setattr(stem_module, "_step_4", published_step_4)
    assert here == {"agreement": "agreem", "conditionally": "condit", "management": stem("management")}
    assert (stem("agreement"), stem("conditionally")) == ("agreement", "condition")


# The examples of Porter (1980).
PAPER = {
    "caresses": "caress", "ponies": "poni", "caress": "caress", "feed": "feed", "agreed": "agre", "bled": "bled",
    "motoring": "motor", "sing": "sing", "conflated": "conflat", "troubled": "troubl", "sized": "size",
    "hopping": "hop", "tanned": "tan", "fizzed": "fizz", "failing": "fail", "relational": "relat", "rational": "ration",
    "valenci": "valenc", "hesitanci": "hesit", "digitizer": "digit", "conformabli": "conform", "differentli": "differ",
    "analogousli": "analog", "vietnamization": "vietnam", "predication": "predic", "operator": "oper",
    "feudalism": "feudal", "decisiveness": "decis", "hopefulness": "hope", "callousness": "callous",
    "sensitiviti": "sensit", "triplicate": "triplic", "formative": "form", "electriciti": "electr", "goodness": "good",
    "allowance": "allow", "airliner": "airlin", "irritant": "irrit", "replacement": "replac", "adjustment": "adjust",
    "dependent": "depend", "activate": "activ", "angulariti": "angular", "controll": "control", "syzygy": "syzygi",
}  # fmt: skip


def test_the_examples_of_the_paper() -> None:
    assert {word: stem_module._porter(word) for word in PAPER} == PAPER


def test_words_of_three_characters_stay() -> None:
    # "dug" is in the exception lists ("dig"), and "ads" would lose its s.
    assert wordnet_exceptions()["dug"] == "dig"
    assert [stem(word) for word in ("dug", "ads", "a", "")] == ["dug", "ads", "a", ""]


def test_exception_lists_come_before_porter() -> None:
    assert [stem(word) for word in ("mice", "running", "went", "children")] == ["mouse", "run", "go", "child"]


def test_later_exception_lists_win() -> None:
    exceptions = wordnet_exceptions()
    assert len(exceptions) == 5930
    assert exceptions["better"] == "well"  # adjectives: good, then adverbs: well
    assert exceptions["testes"] == "testes"  # nouns: testis, then verbs: testes
    assert exceptions["offer"] == "offer"  # twice among the adjectives: off, offer


@given(st.text())
def test_any_token_has_a_stem_of_its_own_case(word: str) -> None:
    result = stem(word)
    assert isinstance(result, str)
    assert result or not word
    if word not in wordnet_exceptions():
        assert len(result) <= len(word) + 1


def test_a_long_word_takes_no_time() -> None:
    for word in ("y" * 100_000, "ba" * 50_000, "b" * 100_000 + "ing", "aing" * 25_000):
        assert len(stem(word)) >= len(word) - 4


def test_stemming_does_not_load_scipy() -> None:
    code = "import sys; from optsum.text.analyzer import stem; stem('running'); sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
