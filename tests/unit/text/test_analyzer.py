"""Test the analyzer: tokens, stop words, stems, words, and cutting."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.errors import InputError, OptionError, UnknownNameError
from optsum.text import analyzer as text_module
from optsum.text.analyzer import (
    TOKENIZERS,
    Analyzer,
    character_count,
    cut_sentences,
    joined,
    load_stopwords,
    smart_stopwords,
    word_count,
)

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


def test_rouge_tokens_are_runs_of_ascii_letters_and_digits() -> None:
    tokens = Analyzer().tokens("The U.S. co-op's naïve 1,000€ Straße, İstanbul_x")
    assert tokens == [
        *("the", "u", "s", "co", "op", "s", "na", "ve", "1", "000", "stra", "e", "stanbul", "x"),
    ]


@given(ANY_TEXT)
def test_rouge_tokens_equal_a_plain_reading_of_the_rule(sentence: str) -> None:
    ascii_lower = "".join(char.lower() if char.isascii() else " " for char in sentence)
    assert Analyzer().tokens(sentence) == re.findall("[a-z0-9]+", ascii_lower)


@given(ANY_TEXT, st.sampled_from(sorted(TOKENIZERS)), st.booleans(), st.sampled_from(["keep", "drop"]))
def test_no_text_is_an_error(sentence: str, tokenizer: str, stem: bool, stopwords: str) -> None:
    analyzer = Analyzer(tokenizer, stem, stopwords)
    for token in analyzer.tokens(sentence) + analyzer.tokens(tuple(sentence.split())):
        assert isinstance(token, str)


def test_blank_tokens_are_lower_cased_pieces() -> None:
    assert Analyzer("blank").tokens(" Don't\u00a0stop,\tÜber ") == ["don't", "stop,", "über"]


def test_unicode_tokens_keep_words_of_any_script_whole() -> None:
    analyzer = Analyzer("unicode")
    assert analyzer.tokens("Größe, ПРИВЕТ (हिन्दी में) 12,5 don't") == [
        *("größe", "привет", "हिन्दी", "में", "12,5", "don't"),
    ]
    assert analyzer.tokens("Cafe\u0301 e\u0301te\u0301") == ["café", "été"]


def test_token_lists_are_used_as_they_are() -> None:
    sentence = ("Der", "Hund", ",", "", "犬 2")
    assert Analyzer("tokens").tokens(sentence) == list(sentence)
    assert Analyzer("tokens").tokens("Der  Hund .") == ["Der", "Hund", "."]


def test_other_tokenizers_join_token_lists_by_blanks() -> None:
    sentence = ("Ca", "n't", "U.S.")
    for tokenizer in set(TOKENIZERS.builtin) - {"tokens"}:
        assert Analyzer(tokenizer).tokens(sentence) == Analyzer(tokenizer).tokens("Ca n't U.S.")


def test_pypi_rouge_tokens_split_at_full_stops_only() -> None:
    analyzer = Analyzer("pypi-rouge")
    assert analyzer.tokens("e.g. We  show,  that. ") == ["e", "g", "We", "show,", "that", ""]
    assert analyzer.tokens("...") == []


def test_stop_words_are_dropped_before_stemming() -> None:
    # "does" has the stem "doe" and "during" the stem "dure": a list applied after stemming would miss both.
    sentence = "He does it during meetings"
    assert Analyzer(stopwords="drop").tokens(sentence) == ["meetings"]
    assert Analyzer(stem=True, stopwords="drop").tokens(sentence) == ["meet"]
    assert Analyzer(stem=True).tokens(sentence) == ["he", "doe", "it", "dure", "meet"]
    assert Analyzer(stem=True, stopwords=frozenset({"meetings"})).tokens(sentence) == [
        *("he", "doe", "it", "dure"),
    ]
    assert Analyzer(stopwords=frozenset({"dure", "meet"})).tokens(sentence) == sentence.lower().split()


def test_stop_list_is_the_original_one() -> None:
    assert len(smart_stopwords()) == 596
    assert {"reuters", "the", "would", "a's"} <= smart_stopwords()
    assert "market" not in smart_stopwords()


def test_empty_tokens_survive_stop_words_and_stemming() -> None:
    assert Analyzer("tokens", stem=True, stopwords="drop").tokens(("", "the", "cats")) == ["", "cat"]


def test_tokens_of_a_function_have_the_first_position_in_any_case() -> None:
    found = Analyzer(lambda text: text.lower().split()).spans("The cat saw the Cat")
    assert found == [("the", 0), ("cat", 4), ("saw", 8), ("the", 12), ("cat", 16)]


def test_unknown_tokenizer_lists_near_names() -> None:
    with pytest.raises(UnknownNameError, match=r"no tokenizer 'Roge'; did you mean rouge\? Known: .*tokens"):
        Analyzer("Roge")


def test_stopwords_of_another_kind_are_refused() -> None:
    with pytest.raises(OptionError, match="load_stopwords"):
        Analyzer(stopwords="words.txt")


def test_analyzers_are_values() -> None:
    analyzer = Analyzer("blank", stem=True, stopwords=frozenset({"a"}))
    assert analyzer == Analyzer("blank", True, {"a"})  # type: ignore[arg-type]
    assert len({analyzer, Analyzer("blank", True, frozenset({"a"})), Analyzer()}) == 2
    copy = pickle.loads(pickle.dumps(analyzer))  # noqa: S301
    assert copy == analyzer
    assert copy.tokens("a running dog") == analyzer.tokens("a running dog") == ["run", "dog"]


def test_word_table_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_WORDS_KEPT", 10)
    stopwords = frozenset({"w3"})
    words = [f"w{number}" for number in range(25)]
    tokens = Analyzer(stopwords=stopwords).tokens(" ".join([*words, "x" * 100, *words]))
    assert tokens == [word for word in words if word != "w3"] + ["x" * 100] + [w for w in words if w != "w3"]
    table = text_module._word_table(None, stopwords)
    assert 0 < len(table) <= 10
    assert "x" * 100 not in table


def test_lengths() -> None:
    assert word_count("  Don't stop , now.") == 4
    assert word_count(("Do", "n't stop")) == 2
    assert word_count("") == word_count(()) == 0
    assert character_count("né a") == 4
    assert character_count(("ab", "c")) == 4


def test_joined_text() -> None:
    assert joined(["a b", "c"]) == "a b c"
    assert joined([("a", "b"), ("c d",)]) == ("a", "b", "c d")
    assert joined([("a", "b"), "c"]) == "a b c"
    assert joined([]) == ""


def test_joined_tokens_are_those_of_the_sentences() -> None:
    assert Analyzer().joined_tokens(["A b.", ("C-d",)]) == ["a", "b", "c", "d"]


def test_words_are_cut_before_punctuation_is_split() -> None:
    assert cut_sentences(["one two-three  four, five"], 3) == ["one two-three  four,"]
    assert cut_sentences([("a", "b c", "d")], 2) == [("a", "b c")]
    assert cut_sentences(["a b"], 0) == [""]
    assert cut_sentences(["a b "], 2) == ["a b "]
    with pytest.raises(OptionError, match="-1"):
        cut_sentences(["a"], -1)


def test_a_no_break_space_ends_no_word_when_cutting() -> None:
    assert cut_sentences(["a\u00a0b c d"], 2) == ["a\u00a0b c"]


@given(st.lists(ANY_TEXT | st.lists(ANY_TEXT).map(tuple)), st.integers(0, 30))
def test_cutting_sentences_is_cutting_the_text(sentences: list[str | tuple[str, ...]], max_words: int) -> None:
    cut = cut_sentences(sentences, max_words)
    assert len(cut) == len(sentences)
    for before, after in zip(sentences, cut, strict=True):
        assert before[: len(after)] == after
    if all(isinstance(sentence, str) for sentence in sentences):
        words = re.findall(r"\S+", str(joined(sentences)), re.ASCII)
        assert re.findall(r"\S+", str(joined(cut)), re.ASCII) == words[:max_words]
    # Words as the script sees them: a no-break space or control character alone is one, unlike in `word_count`.
    given_words = [re.findall(r"\S+", each, re.ASCII) if isinstance(each, str) else each for each in sentences]
    if sum(map(len, given_words)) <= max_words:
        assert cut == sentences


def test_load_stopwords(tmp_path: Path) -> None:
    path = tmp_path / "stop.txt"
    path.write_bytes("\ufeffder\r\n\n  die \nfür".encode())
    assert load_stopwords(path) == load_stopwords(str(path)) == {"der", "die", "für"}

    path.write_text("der\nund so\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"stop\.txt:2: 'und so' is more than one word"):
        load_stopwords(path)
    path.write_bytes(b"f\xfcr\n")
    with pytest.raises(InputError, match="not UTF-8"):
        load_stopwords(path)
    for unreadable in (tmp_path / "none.txt", tmp_path, "a\0b"):
        with pytest.raises(InputError, match="cannot be read"):
            load_stopwords(unreadable)


@pytest.mark.parametrize("make", [list, iter, np.array, lambda words: (word for word in words), set])
def test_stop_words_may_be_any_collection(make: Any) -> None:
    analyzer = Analyzer(stopwords=make(["a", "the"]), stem=np.True_)  # type: ignore[arg-type]
    assert (analyzer.stopwords, analyzer.stem) == (frozenset({"a", "the"}), True)
    assert analyzer.tokens("a cat sat") == ["cat", "sat"]
