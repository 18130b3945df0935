"""Texts that a tokenizer spoils are noticed, others are not."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest

import optsum
from optsum.cli import main
from optsum.text.tokenizers import TOKENIZERS
from optsum.text.unfit import unfit

CHINESE = ["大雨使港口关闭。", "渡轮停在港内。"]
GERMAN = ["Die Fähren müssen für zwei Tage im Hafen bleiben.", "Größere Schäden gibt es nicht, sagt der Bürgermeister."]
ENGLISH = [
    "The café opened – “at last”, said Zoë.",
    "It serves tea, cakes and a soup of the day to all who come, at any hour.",
]


@pytest.mark.parametrize(
    ("texts", "tokenizer", "message"),
    [
        (CHINESE, "rouge", "rouge throws letters away: 100% of the text .*becomes nothing"),
        (CHINESE, "presumm", "presumm throws letters away"),
        (CHINESE, "unicode", "100% of the text is of a script without them"),
        (CHINESE, "tokens", None),
        (GERMAN, "rouge", "Fähren becomes f hren.*--tokenizer unicode"),
        (GERMAN, "unicode", None),
        (GERMAN, "blank", None),
        (ENGLISH, "rouge", None),
        (["a b c", "d"], "rouge", None),
        ([], "rouge", None),
        ([("大雨", "使")], "tokens", None),
        (["u\u0308ber gro\u0308\u00dfer"], "unicode", None),  # marks that normalization joins are not lost
    ],
)
def test_what_is_spoilt_is_said(texts: list[str], tokenizer: str, message: str | None) -> None:
    found = unfit(texts, tokenizer)
    assert (found is None) == (message is None)
    assert message is None or re.search(message, str(found))


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_plain_english_suits_every_tokenizer(tokenizer: str) -> None:
    assert unfit(ENGLISH[1:], tokenizer) is None


def test_a_topic_is_warned_of_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "topics.jsonl", tmp_path / "rows.jsonl"
    good = {"id": "good", "documents": [["a b c"]], "references": [["a b"], ["b c"]]}
    topics = [{"id": "bad", "documents": [GERMAN], "references": [GERMAN[:1], GERMAN[1:]]}, good]
    path.write_text("".join(json.dumps(topic) + "\n" for topic in topics))
    options = ("--max-length", "9", "--references", "best", "--strategy", "greedy", "-o", str(out))
    assert main(["solve", str(path), *options]) == 0
    assert capsys.readouterr().err.count("throws letters away") == 1
    bad, fine = map(json.loads, out.read_text().splitlines())
    assert "Fähren becomes f hren" in bad["statistics"]["warning"]
    assert "warning" not in fine["statistics"]


def test_a_library_only_logs(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    topic = {"id": "t", "documents": [CHINESE], "references": [CHINESE[:1]]}
    with caplog.at_level(logging.WARNING, logger="optsum"):
        result = next(optsum.solve_all([topic], max_length=1, strategy="greedy"))
    assert "topic 't': the tokenizer rouge throws letters away" in caplog.text
    assert "no n-gram" in str(result.error) or "n-gram to count" in str(result.error)
    assert capsys.readouterr().out == ""
