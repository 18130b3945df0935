"""Test words by UAX 29, characters, and the tokens of rouge-score."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from against_rouge_score import near_ascii
from hypothesis import given
from hypothesis import strategies as st

from optsum import Analyzer

OFFICIAL = Path("/usr/share/unicode/auxiliary/WordBreakTest.txt")
"""The test file of UAX 29, where Debian's package unicode-data puts it."""

DEPARTS = {"a\u200d\u2701"}
"""Lines that come out otherwise: a joiner between a letter and a pictogram, which the package regex parts there, as its
newer version of Unicode counts fewer characters among the pictograms."""

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


def words(segments: list[str]) -> list[str]:
    return [segment for segment in segments if any(map(str.isalnum, segment))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ශ්\u200dරී ලංකා", ["ශ්\u200dරී", "ලංකා"]),  # a joiner in Sinhala
        ("او می\u200cرود", ["او", "می\u200cرود"]),  # a non-joiner in Persian
        ("Brü\u00adcke wort\u2060teil", ["brü\u00adcke", "wort\u2060teil"]),
        ("can't stop 3,5 or 1.000 e.g. U.S.A. x_y _", ["can't", "stop", "3,5", "or", "1.000", "e.g", "u.s.a", "x_y"]),
        ('צה"ל "כן"', ['צה"ל', "כן"]),
        ("大桥已关闭。", list("大桥已关闭")),
        ("カタカナとひらがな", ["カタカナ", "と", "ひ", "ら", "が", "な"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("\U0001f469\u200d\U0001f680 \U0001f1eb\U0001f1f7 ok!", ["ok"]),
        ("re\u0301sume\u0301 RÉSUMÉ", ["résumé", "résumé"]),
        ("İzmir", ["i\u0307zmir"]),
        ("", []),
    ],
)
def test_words_end_where_unicode_says(text: str, expected: list[str]) -> None:
    assert Analyzer("unicode").tokens(text) == expected
    assert [token for token, _ in Analyzer("unicode").spans(text)] == expected


@pytest.mark.skipif(not OFFICIAL.exists(), reason="the test file of UAX 29 is not here (Debian's unicode-data has it)")
def test_the_official_test_file_of_unicode_passes() -> None:
    lines = [line.partition("#")[0].strip() for line in OFFICIAL.read_text(encoding="utf-8").splitlines()]
    found = 0
    for line in filter(None, lines):
        parts = [part for part in line.split("÷") if part.strip()]
        segments = ["".join(chr(int(code, 16)) for code in part.replace("×", " ").split()) for part in parts]
        text = "".join(segments)
        if text not in DEPARTS:
            expected = [unicodedata.normalize("NFC", segment).lower() for segment in words(segments)]
            assert Analyzer("unicode").tokens(text) == expected, line
        found += 1
    assert found > 1000


@given(ANY_TEXT)
def test_words_hold_all_letters_and_nothing_is_said_twice(text: str) -> None:
    plain = unicodedata.normalize("NFC", text).lower()
    for tokenizer in ("unicode", "characters"):
        tokens, spans = Analyzer(tokenizer).tokens(text), Analyzer(tokenizer).spans(text)
        assert [token for token, _ in spans] == tokens
        assert [c for token in tokens for c in token if c.isalnum()] == [c for c in plain if c.isalnum()]
        starts = [start for _, start in spans]
        assert starts == sorted(starts)
        assert all(0 <= start < len(text) for start in starts)


def test_a_long_run_of_marks_takes_linear_time() -> None:
    long = "a" + "\u0301\u200d" * 100_000
    assert len(Analyzer("unicode").tokens(long)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("大桥已关闭。", list("大桥已关闭")),
        ("コンピューターで学ぶ", [*"コンピューター", "で", "学", "ぶ"]),
        ("ﾃﾞｰﾀ", ["ﾃ", "ﾞ", "ｰ", "ﾀ"]),
        ("GDP增长3.5%，iPhone 15", ["gdp", "增", "长", "3.5", "iphone", "15"]),
        ("カ\u3099ス", ["ガ", "ス"]),
    ],
)
def test_each_character_is_a_token_of_the_tokenizer_characters(text: str, expected: list[str]) -> None:
    assert Analyzer("characters").tokens(text) == expected
    assert [token for token, _ in Analyzer("characters").spans(text)] == expected


def test_rouge_score_puts_text_into_lower_case_first() -> None:
    sentence = "İzmir İZBAN 5\u212a Straße"
    assert Analyzer("rouge-score").tokens(sentence) == ["i", "zmir", "i", "zban", "5k", "stra", "e"]
    assert Analyzer("rouge").tokens(sentence) == ["zmir", "zban", "5", "stra", "e"]
    assert Analyzer("rouge-score").spans(sentence)[:3] == [("i", 0), ("zmir", 1), ("i", 6)]


@given(st.text(st.sampled_from([*"aZ9 ", "İ", "\u212a", "ß", "Å", "ſ"])) | ANY_TEXT)
def test_rouge_score_tokens_equal_a_plain_reading_of_its_rule(text: str) -> None:
    assert Analyzer("rouge-score").tokens(text) == re.findall("[a-z0-9]+", text.lower())
    assert [token for token, _ in Analyzer("rouge-score").spans(text)] == Analyzer("rouge-score").tokens(text)


def test_two_letters_alone_become_ascii() -> None:
    assert [char for char in near_ascii() if re.search("[a-z0-9]", char.lower())] == ["İ", "\u212a"]
