"""Test the splitting of raw text into sentences."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optsum
from optsum.cli import main
from optsum.corpus import sentences
from optsum.corpus.sentences import Splitter, split_sentences
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
    # The compiled code of the splitter fails on this text.
    assert split_sentences("Von A\u00a0. Nach B.") == ["Von A\u00a0. Nach B."]


@pytest.mark.parametrize("language", ["", "e", "en de", "../en", "1"])
def test_an_invalid_language_code_is_refused(language: str) -> None:
    with pytest.raises(OptionError, match="is not a language code"):
        optsum.as_topic({"id": "t", "documents": ["A."], "references": ["A."]}, language=language)


def test_unknown_language_uses_general_rules() -> None:
    assert split_sentences("It ran. It sat.", "tlh") == ["It ran.", "It sat."]
    assert Splitter("EN-us")("It ran. It sat.") == ["It ran.", "It sat."]


def by_bars(text: str) -> list[str]:
    return text.split("|")


def by_language(text: str, language: str) -> Iterator[str]:
    yield from text.split(language)


RAW = {"id": "t", "documents": ["A b|C d. E"], "references": ["C d"]}


@pytest.mark.parametrize(
    "splitter", [by_bars, f"{__name__}:by_bars", lambda text: text.split("|"), f"{__file__}:by_bars"]
)
def test_a_custom_splitter_is_used(splitter: Any) -> None:
    assert optsum.as_topic(RAW, splitter=splitter).sentences == ("A b", "C d. E")
    assert optsum.solve(RAW, max_length=3, splitter=splitter).summary == ("C d. E",)
    (result,) = optsum.solve_all([RAW], max_length=3, splitter=splitter)
    assert result.summary == ("C d. E",)
    assert "|split:" in str(result.signature)


def test_a_splitter_may_ask_for_the_language() -> None:
    assert optsum.as_topic({**RAW, "documents": ["a de b"]}, splitter=by_language, language="de").sentences == (
        "a",
        "b",
    )


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        ("sentencey", "no splitter 'sentencey'; did you mean sentencex"),
        (f"{__name__}:nothing", "cannot be imported"),
        (f"{__name__}:RAW", "it is not a function"),
    ],
)
def test_an_unusable_splitter_is_refused(splitter: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        optsum.solve(RAW, max_length=3, splitter=splitter)


@pytest.mark.parametrize("splitter", [lambda _: "one", lambda _: [1], lambda _: 7, lambda text: text.nothing])
def test_a_splitter_that_fails_costs_one_topic_and_names_it(splitter: Any) -> None:
    ready = {"id": "u", "documents": [["A b."]], "references": [["A b."]]}
    bad, good = optsum.solve_all([RAW, ready], max_length=3, splitter=splitter)
    assert "the splitter <lambda>" in str(bad.error)
    assert good.objective == 1


def test_a_language_splits_wherever_raw_text_is_read(tmp_path: Path) -> None:
    text, summary = "Die Brücke wurde am 3. Mai gesperrt. Es regnete.", "Am 3. Mai gesperrt."
    record = {"id": "de", "text": text, "summary": summary}
    lines, table = tmp_path / "t.jsonl", tmp_path / "t.csv"
    lines.write_text(json.dumps(record))
    table.write_text(f"id,text,summary\nde,{text},{summary}\n")
    story = tmp_path / "de.story"
    story.write_text(f"{text}\n\n@highlight\n\n{summary}\n")
    for path in (lines, table, story):
        for found in (next(optsum.read_topics(path, language="de")), next(optsum.read_topics(path, splitter=by_bars))):
            assert isinstance(found, optsum.Topic)
            assert len(found.sentences) == (2 if found.sentences[0].endswith("gesperrt.") else 1)
        assert main(["labels", str(path), "--language", "de", "--measure", "f1", "--tokenizer", "unicode",
                     "-o", str(tmp_path / "out.jsonl"), "--overwrite"]) == 0  # fmt: skip
        assert len(json.loads((tmp_path / "out.jsonl").read_text())["sentences"]) == 2
    (result,) = optsum.solve_all(
        [{"id": "de", "documents": [text], "references": [summary]}], max_length=9, language="de"
    )
    assert result.summary is not None
    assert "lang:de" in str(result.signature)


def test_functions_go_to_other_processes_or_are_refused() -> None:
    bar, lock = "|", threading.Lock()
    results = optsum.solve_all(
        [RAW, {**RAW, "id": "u"}], max_length=3, workers=2, splitter=lambda text: text.split(bar)
    )
    assert [result.summary for result in results] == [("C d. E",)] * 2
    with pytest.raises(OptionError, match=r"cannot be sent to other processes.*workers=1"):
        list(optsum.solve_all([RAW], max_length=3, workers=2, splitter=lambda text: [lock and text]))


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
def test_no_character_is_lost(text: str, language: str) -> None:
    pieces = split_sentences(text, language)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(piece and piece == piece.strip() for piece in pieces)


@given(
    st.lists(st.sampled_from(["Mr. X ran. ", "“Yes. ", "no” ", "\n\n", "(see p. 3) ", "So! ", "word " * 9, "a" * 70]))
)
def test_no_character_is_lost_at_the_edges_of_windows(parts: list[str]) -> None:
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "_WINDOW", 64)
        patch.setattr(sentences, "_AHEAD", 16)
        pieces = split_sentences(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_windows_do_not_change_the_sentences(shared_data: Path) -> None:
    # Sentences end where they do with a window over the whole text.
    texts = []
    with (shared_data / "squality" / "topics.jsonl").open(encoding="utf-8") as file:
        for line in file:
            texts += [" ".join(document) for document in json.loads(line)["documents"]]
    found = [split_sentences(text) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "_WINDOW", 10**9)
        assert found == [split_sentences(text) for text in texts]


def test_agrees_with_other_splitters(shared_data: Path) -> None:
    # Another splitter made the sentences of this set. Without regard for quotation marks the F-measure would be 0.70.
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
    assert time.perf_counter() - start < 20  # seconds; it takes 1 s, and would take minutes without the window
    assert sum(len("".join(piece.split())) for piece in pieces) == len("".join(unit.split())) * count


def test_a_very_long_sentence_stays_one() -> None:
    assert len(split_sentences("and so on " * 100_000 + ". Then. " + "x" * 100_000)) == 3
