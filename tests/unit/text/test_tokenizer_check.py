"""Check that unsuitable tokenizers and stemmers are noticed or refused, and suitable ones pass silently."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optsum
from optsum.cli import main
from optsum.text.analyzer import TOKENIZERS, Analyzer, nothing_left, surely_fits, tokenizer_check, tokenizer_of

CHINESE = ["大雨使港口关闭。", "渡轮停在港内。"]
PARTED = ["大雨 使 港口 关闭 。", "渡轮 停 在 港 内 。"]
JAPANESE = ["大雨で港が閉鎖された。", "フェリーは港に停泊している。"]
THAI = ["ฝนตกหนักทำให้ท่าเรือปิด", "เรือข้ามฟากจอดอยู่ในท่าเรือ"]
RUSSIAN = ["Паром стоит в порту.", "Дождь идёт второй день."]
GERMAN = ["Die Fähren müssen für zwei Tage im Hafen bleiben.", "Größere Schäden gibt es nicht, sagt der Bürgermeister."]
ENGLISH = [
    "The café opened – “at last”, said Zoë.",
    "It serves tea, cakes and a soup of the day to all who come, at any hour.",
]


@pytest.mark.parametrize(
    ("texts", "tokenizer", "message"),
    [
        (CHINESE, "rouge", "rouge drops letters: 100% of the text .*becomes nothing.*--tokenizer characters"),
        (CHINESE, "rouge-score", "--tokenizer characters"),
        (CHINESE, "presumm", "presumm drops letters"),
        (CHINESE, "blank", r"\d\d% of the text is in a script without them.*--tokenizer characters"),
        (CHINESE, "unicode", None),
        (CHINESE, "characters", None),
        (CHINESE, "tokens", "--tokenizer characters"),
        (JAPANESE, "blank", "--tokenizer characters"),
        (JAPANESE, "unicode", None),
        (THAI, "rouge", "lists of tokens, or a --tokenizer module:function"),
        (THAI, "blank", "lists of tokens"),
        (["大 桥 已 关 闭 。", "大 桥 关 闭"], "blank", None),
        (PARTED, "blank", None),
        (PARTED, "tokens", None),
        (RUSSIAN, "rouge", "--tokenizer unicode"),
        (RUSSIAN, "blank", None),
        (GERMAN, "rouge", "Fähren becomes f hren.*--tokenizer unicode"),
        (GERMAN, "unicode", None),
        (GERMAN, "blank", None),
        (ENGLISH, "rouge", None),
        (["a b c", "d"], "rouge", None),
        ([], "rouge", None),
        ([("大雨", "使")], "tokens", None),
        (["u\u0308ber gro\u0308\u00dfer"], "unicode", None),  # normalization joins the marks to letters
    ],
)
def test_spoilt_texts_are_reported(texts: list[str], tokenizer: str, message: str | None) -> None:
    found = tokenizer_check(texts, Analyzer(tokenizer))
    found = found and found.replace("=", " ")  # the message has flags or keywords, depending on the caller
    assert (found is None) == (message is None)
    assert message is None or re.search(message, str(found))


@pytest.mark.parametrize("tokenizer", list(TOKENIZERS))
def test_plain_english_suits_every_tokenizer(tokenizer: str) -> None:
    assert tokenizer_check(ENGLISH[1:], Analyzer(tokenizer, stem=True), in_words=True) is None
    assert nothing_left((ENGLISH, ENGLISH), tokenizer) is None


@settings(max_examples=300, deadline=None)
@given(
    st.text(st.sampled_from("ab1. éİK漢ж")), st.sampled_from(["blank", "presumm", "pypi-rouge", "rouge", "rouge-score"])
)
def test_texts_that_lose_nine_tenths_of_their_letters_are_refused(text: str, tokenizer: str) -> None:
    letters = sum(map(str.isalpha, text))
    lost = letters - sum(map(str.isalpha, "".join(tokenizer_of(tokenizer).split(text))))
    assert (nothing_left(([text], []), tokenizer) is not None) == (letters > 0 and 10 * lost >= 9 * letters)


@pytest.mark.parametrize(
    ("texts", "analyzer", "language", "message"),
    [
        (
            ["Die Katze schlief."],
            Analyzer(stem=True),
            "de",
            "rouge155 is for English, and the language is de.*snowball:",
        ),
        (["Die Katze schlief."], Analyzer(stem=True, stemmer="snowball:german"), "de", None),
        (["Die Katze schlief."], Analyzer(), "de", None),
        (["The cat slept."], Analyzer(stem=True), "en-GB", None),
        (RUSSIAN, Analyzer("unicode", stem=True), "en", "9.% of the text is words in other scripts"),
        (RUSSIAN, Analyzer("unicode", stem=True, stemmer="snowball:russian"), "en", None),
        (ENGLISH, Analyzer("unicode", stem=True), "en", None),
    ],
)
def test_a_stemmer_of_english_is_for_english(
    texts: list[str], analyzer: Analyzer, language: str, message: str | None
) -> None:
    found = tokenizer_check(texts, analyzer, language)
    found = found and found.replace("=", " ")
    assert (found is None) == (message is None)
    assert message is None or re.search(message, str(found))


def test_words_between_blanks_are_no_length_of_chinese() -> None:
    assert "--length-unit=characters" in str(tokenizer_check(CHINESE, Analyzer("characters"), in_words=True))
    assert tokenizer_check(PARTED, Analyzer("characters"), in_words=True) is None


def topic(documents: list[str], references: list[str]) -> dict[str, Any]:
    return {"id": "t", "documents": [documents], "references": [references]}


@pytest.mark.parametrize(
    ("documents", "references", "tokenizer", "advice"),
    [
        (CHINESE, CHINESE[:1], "rouge", "characters"),
        ([*CHINESE, "2024年3月4日"], ["2024年大雨使港口关闭，渡轮停在港内。"], "rouge", "characters"),
        (JAPANESE, JAPANESE[:1], "rouge-score", "characters"),
        (RUSSIAN, RUSSIAN[:1], "rouge", "unicode"),
        (RUSSIAN, RUSSIAN[:1], "presumm", "unicode"),
        (ENGLISH, RUSSIAN[:1], "rouge", "unicode"),  # only the references are unsuitable
        (RUSSIAN, ENGLISH, "rouge", "unicode"),  # only the documents are unsuitable
        (THAI, THAI[:1], "rouge", "module:function"),
    ],
)
def test_a_topic_of_which_nothing_is_left_is_refused_with_what_would_serve(
    documents: list[str], references: list[str], tokenizer: str, advice: str
) -> None:
    with pytest.raises(optsum.InputError, match=f"drops .* of the letters .*{advice}"):
        optsum.solve(topic(documents, references), max_length=9, tokenizer=tokenizer)
    result = next(iter(optsum.solve_all([topic(documents, references), topic(["A b."], ["A b."]) | {"id": "u"}],
                                        max_length=9, tokenizer=tokenizer)))  # fmt: skip
    assert result.status.value == "error"
    if advice != "module:function":
        served = optsum.solve(topic(documents, documents[:1]), max_length=99, tokenizer=advice)
        assert served.objective == 1


def test_scores_of_texts_without_tokens_are_refused() -> None:
    scores = optsum.score([topic(CHINESE, CHINESE)], [{"topic_id": "t", "system": "s", "summary": CHINESE}])
    assert scores.failed
    served = optsum.score(
        [topic(CHINESE, CHINESE)], [{"topic_id": "t", "system": "s", "summary": CHINESE}], tokenizer="characters"
    )
    assert served.rows[0].rouge["rouge-1"]["f1"] == 1


def test_a_run_warns_once_of_all_its_topics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "topics.jsonl", tmp_path / "rows.jsonl"
    good = {"id": "good", "documents": [["a b c"]], "references": [["a b"], ["b c"]]}
    bad = [{"id": f"bad{n}", "documents": [GERMAN], "references": [GERMAN[:1], GERMAN[1:]]} for n in range(2)]
    path.write_text("".join(json.dumps(each) + "\n" for each in [bad[0], good, bad[1]]))
    options = ("--max-length", "9", "--references", "best", "--strategy", "greedy", "-o", str(out))
    assert main(["solve", str(path), *options]) == 0
    said = capsys.readouterr().err
    assert said.count("drops letters") == 1
    assert "2 of 3 topics: the tokenizer rouge" in said
    first, fine, second = map(json.loads, out.read_text().splitlines())
    assert "Fähren becomes f hren" in first["statistics"]["warning"]
    assert first["statistics"]["warning"] == second["statistics"]["warning"]
    assert "warning" not in fine["statistics"]


def test_a_library_only_logs_and_names_keywords(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPTSUM_SPEAKS", raising=False)
    with caplog.at_level(logging.WARNING, logger="optsum"):
        found = optsum.solve_all([topic(GERMAN, GERMAN[:1])], max_length=9, strategy="greedy")
        result = next(found)
        assert "drops letters" not in caplog.text  # only at the end
        list(found)
    assert 'tokenizer="unicode" keeps them' in result.statistics["warning"]
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="optsum"):
        results = list(optsum.solve_all([topic(GERMAN, GERMAN[:1])], max_length=9, strategy="greedy"))
        optsum.solve(topic(GERMAN, GERMAN[:1]), max_length=9)
    assert len(results) == 1
    assert "1 of 1 topics: the tokenizer rouge drops letters" in caplog.text
    assert "topic 't': the tokenizer rouge drops letters" in caplog.text
    assert "--tokenizer" not in caplog.text
    assert capsys.readouterr().out == ""


@given(
    st.lists(
        st.text(st.sampled_from(f"{'e' * 30}{' ' * 6}b.9é“中กя\u212aİ\x1f\u2003"), max_size=80), min_size=2, max_size=5
    ),
    st.sampled_from(["rouge", "presumm", "blank", "pypi-rouge", "rouge-score", "tokens"]),
    st.booleans(),
    st.sampled_from(["en", "de"]),
)
def test_suitable_tokenizers_pass_silently(sentences: list[str], tokenizer: str, stem: bool, language: str) -> None:
    pieces = [piece for sentence in sentences for piece in sentence.split() if not piece.isascii()]
    analyzer, foreign = Analyzer(tokenizer, stem=stem), sum(len(piece.encode()) for piece in pieces)
    if surely_fits("\0".join(sentences), len(sentences[0]) + 1, foreign, analyzer, language):
        assert tokenizer_check(sentences, analyzer, language, in_words=True) is None
        assert nothing_left((sentences[1:], sentences[:1]), tokenizer) is None


@pytest.mark.parametrize("several", [{"references": "each"}, {"strategies": ["greedy", "lead", "random"]}])
def test_a_topic_with_several_results_is_counted_once(
    several: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    topics = [
        {"id": "de", "documents": [["Über größere Häuser", "Straße"]], "references": [["größere Häuser"], ["Straße"]]},
        {"id": "en", "documents": [["the cat sat", "a dog ran"]], "references": [["the cat ran"], ["a dog"]]},
    ]
    ask = optsum.compare if "strategies" in several else lambda *given, **named: list(optsum.solve_all(*given, **named))
    ask(topics, max_length=5, **several)
    assert [message[:15] for message in caplog.messages if "drops letters" in message] == ["1 of 2 topics: "]


@pytest.mark.parametrize("references", [None, 3, "a text"])
def test_references_that_are_no_sequence_are_refused(references: Any) -> None:
    with pytest.raises(optsum.InputError, match="references must be a sequence of texts"):
        optsum.rouge("a text", references)
