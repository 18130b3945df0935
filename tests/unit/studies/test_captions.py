"""Check that every table and figure of a study states its topics, settings and omissions below it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.corpus.topic import BadTopic
from optsum.report.figures import Figure
from optsum.studies import STUDIES, Study

PARSE = "\n".join("\t".join(line.split()) for line in ("1 cats cat X _ _ 0 root _ _", "2 purr purr X _ _ 1 dep _ _"))
TOPIC = {
    "documents": [["cats purr"], ["dogs bark"]],
    "references": [["cats purr"], ["cats bark"]],
    "parses": [PARSE, PARSE.replace("cats", "dogs").replace("purr", "bark")],
    "cover": [[[0]], [[1]]],
    "meta": {"condition": "short", "questions": [{"question": "What do cats do?", "answer": "purr"}]},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "akhmetov": {"counts": "set", "seed": 7, "paper_filter": False},
    "hirao": {"max_length": 47, "seed": 7},
    "compressive": {"max_length": 47, "chunk_profile": "strict", "stem": False},
    "gap": {"max_length": 47, "stopwords": "drop", "stem": True, "strategies": "greedy"},
    "lin-hovy": {"max_sentences": 47},
    "tsc3": {"strategy": "milp", "time_limit": 47},
}
"""Options, other than the usual ones, that a reader of a table must know."""
SAID: dict[str, tuple[str, ...]] = {
    "akhmetov": ("whole texts, F1", "set counts", "seed 7"),
    "hirao": ("47 words", "seed 7", "Porter stems"),
    "compressive": ("47 words", "profile strict", "no stems"),
    "gap": ("47 words", "stop words: drop", "Porter stems"),
    "lin-hovy": ("unigrams", "no stems"),
    "tsc3": ("by milp", "47 s a search"),
}


def captions(study: Study) -> list[tuple[str, list[str]]]:
    """Return the titles and captions of all tables and figures."""
    return [(each.title, each.caption) for each in (*study.tables(), *study.figures())]


def systems(topics: int) -> list[dict[str, Any]]:
    """Return three systems with extracts, human scores and answers, so that all tables are made."""
    human = {"content": 0.5, "q00": 1, "quality": 2.0}
    return [
        {"topic_id": f"t{topic}", "system": f"s{unit}", "selection": [unit % 2], "human": {**human, "quality": unit}}
        for topic in range(topics)
        for unit in range(3)
    ]


@pytest.mark.parametrize("name", STUDIES)
def test_every_caption_names_settings_topics_and_what_was_left_out(name: str) -> None:
    topics = [{**TOPIC, "id": f"t{number}"} for number in range(2)]
    study = optsum.study(name, topics, systems(2), **SETTINGS[name])
    assert not study.errors
    assert len(captions(study)) > 0
    for title, caption in captions(study):
        assert caption[0].startswith("2 topics; "), title
        for said in SAID[name]:
            assert said in caption[0], (title, said)
        assert re.search(r"\d s a search\.$", caption[0]), title
        assert caption[1] == "Left out: nothing.", title
        assert title
    more = optsum.study(name, [*topics, BadTopic("", "x:3", "no JSON")], systems(3), **SETTINGS[name])
    for title, caption in captions(more):
        said = "1 part of the input that could not be used; systems' summaries of 1 topic not read."
        assert caption[1].endswith(said), title


@pytest.mark.parametrize("name", ["compressive", "gap", "hirao", "lin-hovy"])
def test_results_ended_by_time_are_in_every_caption(name: str) -> None:
    long = {"id": "t", "documents": [[f"w{n} " * 20 for n in range(6)]], "references": [["w0 w1"], ["w1 w2"]]}
    topic = {**long, "parses": [PARSE] * 6} if name == "compressive" else long
    if name == "compressive":
        topic |= {"documents": [["cats purr"] * 6], "references": [["cats purr"]]}
    study = optsum.study(name, [topic], time_limit=0)
    assert study.topics == 1
    for title, caption in captions(study):
        assert caption[0].endswith(", 0 s a search."), title
        assert " in time" in caption[1], title


def test_abstract_sentences_without_an_alternative_are_in_every_caption() -> None:
    topic = {**TOPIC, "id": "t", "cover": [[[0]], [], []]}
    study = optsum.study("tsc3", [topic], uncoverable="skip")
    for title, caption in captions(study):
        assert caption[1] == "Left out: 2 abstract sentences without any alternative.", title


def test_an_interrupted_study_says_so_in_every_form() -> None:
    study = optsum.study("tsc3", [{**TOPIC, "id": "t"}])
    study.interrupted = True
    for shown in (study.to_markdown(), study.to_latex(), study.text()):
        assert shown.count("not done when the study was interrupted") == len(study.tables())


def test_limits_are_the_same_unless_said_otherwise() -> None:
    assert {optsum.study(name, []).caption()[0].split(", ")[-1] for name in STUDIES} == {"5 s a search."}


def test_captions_are_in_the_metadata_of_drawings(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    caption = ["2 topics; " + "very long settings, " * 20, "Left out: 1 of <them> & $others$."]
    drawing, page, _, _ = Figure("f", "title", caption=caption).save(tmp_path)
    text = drawing.read_text(encoding="utf-8")
    (described,) = re.findall(r"<dc:description>(.*?)</dc:description>", text, re.DOTALL)
    assert described.count("very long settings,") == 20
    assert described.endswith("Left out: 1 of &lt;them&gt; &amp; $others$.")
    assert "very long" not in "".join(re.findall(r">([^<>]*)</text>", text))
    assert page.read_bytes().startswith(b"%PDF")
