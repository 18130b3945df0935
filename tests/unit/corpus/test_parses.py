"""Test how the parses of a topic are found: in the topic, in a file it names, or in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.chunks import chunk_tree, format_conllu, read_conllu
from optsum.chunks.tree import bracketed
from optsum.corpus.parses import parses_of
from optsum.corpus.topic import Topic, as_topic
from optsum.corpus.topics import read_topics
from optsum.errors import InputError

DATA = Path(__file__).parents[3] / "examples" / "data"
PARSED = list(read_conllu(DATA / "parsed.conllu"))
TEXTS = [parse.text for parse in PARSED]


def topic(**changes: Any) -> Topic:
    """Return the example's first two sentences as a topic with its parses."""
    obj = {
        "id": "t",
        "documents": [TEXTS[:1], TEXTS[1:2]],
        "references": [["A ferry ."]],
        "parses": list(map(format_conllu, PARSED[:2])),
    }
    return as_topic({key: value for key, value in {**obj, **changes}.items() if value is not None})


def write(folder: Path, **changes: Any) -> Topic:
    """Write a topic into a file of the folder, and read it."""
    obj = {"id": "t", "documents": [TEXTS], "references": [["A ferry ."]], "meta": {"conllu": "f.conllu"}}
    (folder / "topics.jsonl").write_text(json.dumps({**obj, **changes}))
    (read,) = read_topics(folder / "topics.jsonl", bad="keep")
    assert isinstance(read, Topic)
    return read


def test_parses_in_the_topic() -> None:
    parses = parses_of(topic())
    assert [(parse.tokens, parse.text) for parse in parses] == [(parse.tokens, parse.text) for parse in PARSED[:2]]
    assert [parse.source for parse in parses] == ["parses[0]: sentence 1", "parses[1]: sentence 1"]


def test_the_example_names_a_file_beside_it() -> None:
    (example,) = read_topics(DATA / "parsed.jsonl", bad="keep")
    parses = parses_of(example)  # type: ignore[arg-type]
    assert [(parse.tokens, parse.text) for parse in parses] == [(parse.tokens, parse.text) for parse in PARSED]


@pytest.mark.parametrize("place", ["f.conllu", "conllu/f.conllu"])
def test_a_file_beside_the_topics_or_in_the_folder_conllu(place: str, tmp_path: Path) -> None:
    read = write(tmp_path)
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_bytes((DATA / "parsed.conllu").read_bytes())
    assert [parse.text for parse in parses_of(read)] == TEXTS


def test_several_files_follow_one_another(tmp_path: Path) -> None:
    read = write(tmp_path, meta={"conllu": ["a.conllu", "b.conllu"]})
    blocks = (DATA / "parsed.conllu").read_text().strip().split("\n\n")
    (tmp_path / "a.conllu").write_text("\n\n".join(blocks[:3]))
    (tmp_path / "b.conllu").write_text("\n\n".join(blocks[3:]))
    assert [parse.text for parse in parses_of(read)] == TEXTS


def test_a_topic_of_the_python_api_looks_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.conllu").write_bytes((DATA / "parsed.conllu").read_bytes())
    monkeypatch.chdir(tmp_path)
    given = as_topic({"id": "t", "documents": [TEXTS], "references": [["a"]], "meta": {"conllu": "f.conllu"}})
    assert [parse.text for parse in parses_of(given)] == TEXTS


def test_parses_in_the_topic_come_before_a_file() -> None:
    assert len(parses_of(topic(meta={"conllu": "nowhere"}))) == 2


@pytest.mark.parametrize(
    "written",
    [
        TEXTS[3].replace(" ", "\u00a0"),
        f"  {TEXTS[3]}\n",
        TEXTS[3].replace("didn't", "did n't").replace(",", " ,"),
        TEXTS[3].replace("two deckhands", "twodeckhands"),
        TEXTS[3].split(),
        [*TEXTS[3].replace("didn't", "did n't").split()],
    ],
)
def test_white_space_may_differ_and_spans_lie_in_the_sentence(written: str | list[str]) -> None:
    (parse,) = parses_of(topic(documents=[[written]], parses=[format_conllu(PARSED[3])]))
    assert parse.text == (written if isinstance(written, str) else " ".join(written))
    spelled = ["".join(parse.text[token.start : token.end].split()) for token in parse.tokens]
    assert spelled == [token.form for token in PARSED[3].tokens]
    assert bracketed(parse, chunk_tree(parse)) == bracketed(PARSED[3], chunk_tree(PARSED[3]))


def test_words_without_characters_stay_without() -> None:
    text = (
        "1\tgeht\tgehen\tVERB\t_\t_\t0\troot\n2-3\tzum\n2\tzu\tzu\tADP\t_\t_\t4\tcase\n3\tdem\tder\tDET\t_\t_\t4\tdet\n"
    )
    parses = [
        text + "4\tSee\tSee\tNOUN\t_\t_\t1\tobl",
        "# text = zum\n1-2\tzum\n1\tzu\t_\t_\t_\t_\t0\troot\n2\tdem\t_\t_\t_\t_\t1\tdet",
    ]
    first, second = parses_of(topic(documents=[["geht  zum See", " zum "]], parses=parses))
    assert [(token.start, token.end) for token in first.tokens] == [(0, 4), (6, 9), (9, 9), (10, 13)]
    assert [first.text[token.start : token.end] for token in first.tokens] == ["geht", "zum", "", "See"]
    assert [second.text[token.start : token.end] for token in second.tokens] == ["zum", ""]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"parses": None}, 'there are no parses; give "parses"'),
        ({"parses": None, "meta": {"conllu": 3}}, "meta.conllu is 3"),
        ({"parses": None, "meta": {"conllu": []}}, "meta.conllu is []"),
        ({"parses": None, "meta": {"conllu": ["a", ""]}}, "meta.conllu is ['a', '']"),
        ({"parses": None, "meta": {"conllu": "no.conllu"}}, "neither no.conllu nor conllu/no.conllu exists"),
        ({"parses": ["", ""]}, "parses[0] should hold one sentence, but holds 0"),
        ({"parses": [format_conllu(PARSED[0])] * 2}, f"the parse is of {TEXTS[0]!r}, but the topic's text there is"),
        ({"parses": ["1\ta\t_\t_\t_\t_\t1\tdep"] * 2}, "parses[0]: sentence 1: no word is the root"),
        (
            {"documents": [["a"], []], "parses": ["1\ta\t_\t_\t_\t_\t0\troot\n\n1\ta\t_\t_\t_\t_\t0\troot"]},
            "should hold one sentence, but holds 2",
        ),
    ],
)
def test_parses_that_do_not_fit_the_sentences_are_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError) as caught:
        parses_of(topic(**changes))
    message = str(caught.value)
    assert message.startswith("topic 't': ")
    assert reason in message
    assert "\n" not in message


def test_a_file_with_too_few_sentences_is_refused(tmp_path: Path) -> None:
    read = write(tmp_path)
    (tmp_path / "f.conllu").write_text(format_conllu(PARSED[0]))
    with pytest.raises(InputError, match="the number of parses is 1, but that of sentences is 8"):
        parses_of(read)


def test_a_blank_sentence_needs_no_parse(tmp_path: Path) -> None:
    blank = ["  ", TEXTS[0], "", TEXTS[1]]
    given = topic(documents=[blank], parses=["", format_conllu(PARSED[0]), "# nothing", format_conllu(PARSED[1])])
    read = write(tmp_path, documents=[blank])
    (tmp_path / "f.conllu").write_text("\n\n".join(map(format_conllu, PARSED[:2])))
    for parses in parses_of(given), parses_of(read):
        assert [parse.text for parse in parses] == blank
        assert [bracketed(parse, chunk_tree(parse)) for parse in parses[::2]] == ["[]1", "[]1"]
        assert parses[1].tokens == PARSED[0].tokens
    for formulation in ("extractive", "compressive"):
        for unit in ("words", "characters", "sentences"):
            result = optsum.solve(given, formulation=formulation, length_unit=unit, keep_unmatched=True, max_length=400)
            assert result.error is None
    whole = optsum.solve(given, formulation="compressive", length_unit="characters", strategy="lead", max_length=400)
    assert whole.length == optsum.solve(given, length_unit="characters", strategy="lead", max_length=400).length


def test_a_blank_sentence_with_a_parse_is_refused() -> None:
    with pytest.raises(InputError, match="the parse is of"):
        parses_of(topic(documents=[[TEXTS[0]], [" "]]))


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    read = write(tmp_path)
    (tmp_path / "f.conllu").write_text(
        "# sent_id = x\n1\ta\t_\t_\t_\t_\t3\tdep\n\n" + "\n\n".join(map(format_conllu, PARSED[1:]))
    )
    with pytest.raises(InputError, match=r"topic 't': .*f\.conllu: sentence x: the head of word 1"):
        parses_of(read)
