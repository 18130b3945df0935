"""The stemmer, against answers of the original script."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.text.resources import wordnet_exceptions
from optsum.text.stem import stem

# Word and stem, as the Porter part of the original script gives them (words of the exception lists left out).
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


def test_step_four_departs_from_the_published_algorithm() -> None:
    from nltk.stem.porter import PorterStemmer

    published = PorterStemmer(PorterStemmer.MARTIN_EXTENSIONS)
    assert published.stem("agreement") == "agreement"
    assert published.stem("conditionally") == "condition"
    assert published.stem("management") == stem("management")


def test_words_of_three_characters_stay() -> None:
    # "dug" is in the exception lists ("dig"), "ads" would lose its s.
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


def test_importing_the_library_does_not_import_nltk() -> None:
    code = "import sys, optsum.metrics.rouge, optsum.text.analyzer; sys.exit('nltk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
