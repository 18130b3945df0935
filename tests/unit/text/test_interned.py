"""Compare sentences as numbers with the tokens themselves."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optsum
from optsum.corpus.topic import Topic
from optsum.system.compiled import patience
from optsum.text.analyzer import TOKENIZERS, Analyzer, Sentence, word_count
from optsum.text.interned import interned, interned_texts
from optsum.text.word_kernel import number_apart, number_words

# Characters with special treatment in tokenizers: case that depends on context (final sigma), letters whose lower case
# is ASCII (Kelvin), white space of ASCII and beyond, combining marks, lone surrogates, NUL.
HOSTILE = st.text(
    st.sampled_from("abAZ09 .-'’_\t\n\x0b\x1c\x1f\x7f\x85\xa0\u2003\u3000ΣσςİıKÅßẞé\u0301中ก\ud800\udc00\0\U0001f600")
)
SENTENCES = st.lists(HOSTILE | st.text(max_size=12) | st.lists(HOSTILE, max_size=4).map(tuple), max_size=6)
ANALYZERS = st.builds(
    Analyzer, st.sampled_from(sorted(TOKENIZERS)), st.booleans(), st.sampled_from(["keep", "drop", frozenset({"a"})])
)


def assert_same(analyzer: Analyzer, sentences: list[Sentence]) -> None:
    found = interned(analyzer, sentences)
    tokens = [analyzer.tokens(sentence) for sentence in sentences]
    spelled = list(dict.fromkeys(token for sentence in tokens for token in sentence))
    assert found.different == len(spelled)
    assert found.start.tolist() == [sum(map(len, tokens[:number])) for number in range(len(tokens) + 1)]
    assert [spelled[number] for number in found.ids] == [token for sentence in tokens for token in sentence]
    assert found.words.tolist() == list(map(word_count, sentences))


@given(ANALYZERS, SENTENCES)
def test_numbers_stand_for_the_tokens(analyzer: Analyzer, sentences: list[Sentence]) -> None:
    assert_same(analyzer, sentences)


@given(st.sampled_from(["rouge", "presumm", "blank", "tokens", "pypi-rouge"]), st.lists(HOSTILE, max_size=6))
def test_numbers_stand_for_the_tokens_of_raw_texts(tokenizer: str, sentences: list[Sentence]) -> None:
    assert_same(Analyzer(tokenizer), sentences)


@given(ANALYZERS, st.lists(st.lists(HOSTILE | st.text(max_size=12), min_size=1, max_size=6), min_size=1, max_size=4))
def test_several_texts_as_each_by_itself(analyzer: Analyzer, texts: list[list[str]]) -> None:
    joined, sizes = list(map("\0".join, texts)), list(map(len, texts))
    with pytest.MonkeyPatch.context() as patch:
        for kernel in (number_words, number_apart):
            patch.setitem(patience.taken, kernel, 100.0)
        made = interned_texts(analyzer, joined, sizes)
    if made is None:
        return
    (ids, start, words, different, sentences), kept, foreign = made
    strange = "\0\x1f" if analyzer.tokenizer == "pypi-rouge" else "\0"
    assert kept == [number for number, text in enumerate(texts) if not set(strange) & set("".join(text))]
    place = 0
    for number, many, own in zip(kept, sentences.tolist(), different.tolist(), strict=True):
        alone, begin = interned(analyzer, texts[number]), start[place : place + many + 1]
        assert ids[begin[0] : begin[-1]].tolist() == alone.ids.tolist()
        assert (begin - begin[0]).tolist() == alone.start.tolist()
        assert (words[place : place + many].tolist(), own) == (alone.words.tolist(), alone.different)
        pieces = [piece for sentence in texts[number] for piece in sentence.split() if not piece.isascii()]
        least = sum(len(piece.replace("\u212a", "")) for piece in pieces)  # the Kelvin sign becomes a k
        assert least <= foreign.pop(0) or analyzer.tokenizer == "blank"
        place += many


def test_no_white_space_is_forgotten() -> None:
    known = [char for char in map(chr, range(128, sys.maxunicode + 1)) if char.isspace()]
    for tokenizer in ("rouge", "presumm", "blank", "tokens", "pypi-rouge"):
        assert_same(Analyzer(tokenizer), [f"A{char}\u00c4 {char}b" for char in known])


@pytest.mark.parametrize("sentences", [[], [""], ["", " ", ""], ["a\0b"], [("a", "b")], ["a", ("b",)], ["x" * 99_999]])
def test_odd_texts(sentences: list[Sentence]) -> None:
    for tokenizer in TOKENIZERS:
        assert_same(Analyzer(tokenizer), sentences)


def test_a_table_that_is_full_of_words_still_finds_them() -> None:
    assert_same(Analyzer("tokens"), [" ".join(map(chr, range(0x4E00, 0x9000))), "a b c " * 300])


@pytest.mark.parametrize("name", ["realsumm", "klexikon", "gum", "opinosis"])
def test_real_texts(shared_data: Path, name: str) -> None:
    topics = [t for t in optsum.read_topics(shared_data / name / "topics.jsonl") if isinstance(t, Topic)]
    for topic in topics[:6]:
        for tokenizer in TOKENIZERS:
            assert_same(Analyzer(tokenizer, stem=tokenizer == "rouge"), [*topic.references[0], *topic.sentences])


def test_long_words_many_words_and_words_that_end_alike() -> None:
    long = ["a" * size for size in range(14, 20)] + [letter + "b" * 16 for letter in "xyx"] + ["c" * 500, "c" * 501]
    many = [" ".join(f"w{number}" for number in range(each, each + 900)) for each in (0, 500, 9000)]
    assert_same(Analyzer("presumm"), [*many, *long, " ".join(long), *many])
