"""Splitting raw text into sentences."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.corpus import sentences
from optsum.corpus.sentences import split_sentences
from optsum.errors import InputError, OptionError


def test_abbreviations_and_paragraphs() -> None:
    text = " Dr. Smith of the U.S. Army left, e.g. at 3.15 p.m. on Monday.\nHe ran!  Why?\n\nA heading\n\n \n\nThe end"
    assert split_sentences(text) == [
        "Dr. Smith of the U.S. Army left, e.g. at 3.15 p.m. on Monday.",
        "He ran!",
        "Why?",
        "A heading",
        "The end",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said, "I ran. I sat." She left.', ['He said, "I ran.', 'I sat."', "She left."]),
        ("“One.” “Two.” Three", ["“One.”", "“Two.”", "Three"]),
        ("Er rief: „Halt.“ Dann ging er.", ["Er rief: „Halt.“", "Dann ging er."]),
        ("他说：“你好。”我走了。", ["他说：“你好。”", "我走了。"]),
        ('He left . " Then he came', ["He left .", '" Then he came']),
        ('""', ['""']),
        ("Open “one. And two. And three", ["Open “one.", "And two.", "And three"]),
    ],
)
def test_quotation_marks(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


def test_unclosed_quotation_swallows_nothing() -> None:
    text = 'He said, "I will go. ' + "It is late. It rains. " * 3000 + 'The "end" came.'
    assert len(split_sentences(text)) == 2 + 2 * 3000


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\u3000\u00a0\t"])
def test_blank_text_has_no_sentence(text: str) -> None:
    assert split_sentences(text) == []


def test_no_break_space_before_a_full_stop() -> None:
    # The splitter's compiled code breaks down on this.
    assert split_sentences("Von A\u00a0. Nach B.") == ["Von A\u00a0. Nach B."]


@pytest.mark.parametrize("language", ["", "e", "en de", "../en", "1"])
def test_no_language_code(language: str) -> None:
    with pytest.raises(OptionError, match="is no language code"):
        split_sentences("A.", language)


def test_unknown_language_uses_general_rules() -> None:
    assert split_sentences("It ran. It sat.", "tlh") == ["It ran.", "It sat."]
    assert split_sentences("It ran. It sat.", "EN-us") == ["It ran.", "It sat."]


def test_failing_splitter_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def fail(error: type[BaseException]) -> SimpleNamespace:
        def segment(language: str, text: str) -> list[str]:
            raise error

        return SimpleNamespace(segment=segment)

    monkeypatch.setitem(sys.modules, "sentencex", fail(PanicException))
    with pytest.raises(InputError, match="begins 'Some text'; give a list of sentences"):
        split_sentences("Some text")
    monkeypatch.setitem(sys.modules, "sentencex", fail(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        split_sentences("Some text")


@given(
    st.text(alphabet=st.sampled_from(" \n\u00a0.!?。\"'“”()AbM1é-")) | st.text(), st.sampled_from(["en", "de", "zh"])
)
def test_nothing_is_lost(text: str, language: str) -> None:
    pieces = split_sentences(text, language)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(piece and piece == piece.strip() for piece in pieces)


@given(
    st.lists(st.sampled_from(["Mr. X ran. ", "“Yes. ", "no” ", "\n\n", "(see p. 3) ", "So! ", "word " * 9, "a" * 70]))
)
def test_window_loses_nothing(parts: list[str]) -> None:
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "_WINDOW", 64)
        patch.setattr(sentences, "_AHEAD", 16)
        pieces = split_sentences(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_window_does_not_show(shared_data: Path) -> None:
    # Ends of sentences are found where a window over the whole text finds them.
    texts = []
    with (shared_data / "squality" / "topics.jsonl").open(encoding="utf-8") as file:
        for line in file:
            texts += [" ".join(document) for document in json.loads(line)["documents"]]
    found = [split_sentences(text) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "_WINDOW", 10**9)
        assert found == [split_sentences(text) for text in texts]


def test_agrees_with_other_splitters(shared_data: Path) -> None:
    # Sentences of this set were found by another splitter; with quotation marks in sight the F-measure is 0.70.
    common = ours = theirs = 0
    with (shared_data / "squality" / "topics.jsonl").open(encoding="utf-8") as file:
        for line in file:
            for document in json.loads(line)["documents"]:
                pieces = split_sentences(" ".join(document))
                common += len(set(pieces) & set(document))
                ours += len(pieces)
                theirs += len(document)
    assert 2 * common / (ours + theirs) > 0.93


@pytest.mark.parametrize(
    ("unit", "count"),
    [
        ("He said “oh no. Not me.” It was e.g. Mr. Fox (the second). ", 50_000),
        ("a", 3_000_000),
        ("“", 3_000_000),
        ("(", 3_000_000),
        (" ", 3_000_000),
        ("a b c.\n", 430_000),
        ("这是一个很好的例子我们可以看到，什么都没有。", 136_000),
    ],
)
def test_long_texts_do_not_hang(unit: str, count: int) -> None:
    start = time.perf_counter()
    pieces = split_sentences(unit * count)
    assert time.perf_counter() - start < 20  # seconds; it takes 1, and minutes without the window
    assert sum(len("".join(piece.split())) for piece in pieces) == len("".join(unit.split())) * count


def test_endless_sentence_is_one() -> None:
    assert len(split_sentences("and so on " * 100_000 + ". Then. " + "x" * 100_000)) == 3
