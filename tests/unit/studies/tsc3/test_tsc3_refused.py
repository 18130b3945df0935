"""Test what the measures of TSC3 and their study refuse, and that everything else is scored."""

from __future__ import annotations

from typing import Any

import pytest
from cover_topics import AIBO, mean

from optsum.corpus.topic import BadTopic, as_topic
from optsum.corpus.topics import System
from optsum.errors import InputError, OptionError, UnknownNameError
from optsum.studies.tsc3 import BEST, LEAD, Tsc3Study, score_extract
from optsum.studies.tsc3 import systems as names_of


def study_tsc3(topics: Any, systems: Any = (), **options: Any) -> Tsc3Study:
    return Tsc3Study(**options).reads(systems).run(topics)


@pytest.mark.parametrize(
    ("topic", "selection", "reason"),
    [
        (AIBO, [99], "names 99, which topic"),
        (AIBO, ["s1"], "names 's1', which topic"),
        (AIBO, ["0"], "names the sentence '0', which topic 'aibo' calls 0"),
        ({"id": "t", "cover": [[["1"]]]}, [1], "names the sentence 1, which topic 't' calls '1'"),
    ],
)
def test_a_sentence_that_the_topic_does_not_have_is_refused(topic: Any, selection: list[Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        score_extract(as_topic(topic), selection, 2)
    # The other systems are scored.
    name = topic["id"]
    systems = [
        System(name, "bad", selection=tuple(selection), source="s.jsonl:4"),
        System(name, "good", selection=tuple(topic["cover"][0][0])),
    ]
    study = study_tsc3([as_topic(topic)], systems)
    assert names_of(study)[0] == "good"
    assert len(study.errors) == 1
    assert study.errors[0].startswith(f"s.jsonl:4: system 'bad': The extract {reason}")


def test_any_name_may_be_a_sentence_where_the_documents_do_not_say() -> None:
    bare = as_topic({"id": "t", "cover": [[["a"]]]})
    assert score_extract(bare, ["a", "x", 7], 1).size == 3
    named = as_topic({"id": "t", "documents": [["One.", "Two."]], "cover": [[["a"]], [[0]]]})
    assert score_extract(named, ["a", "x", 1], 2).correct == 1
    with pytest.raises(InputError, match="names 2, which topic"):
        score_extract(named, ["a", 2], 2)


@pytest.mark.parametrize("name", [LEAD, BEST])
def test_no_system_takes_the_name_of_a_baseline(name: str) -> None:
    systems = [System("aibo", name, selection=(3,), source="s.jsonl:1")]
    study = study_tsc3([AIBO], systems)
    assert study.errors == [
        f"s.jsonl:1: system {name!r}: No system can be called {name!r}, because the tables use this name: rename it."
    ]
    assert mean(study, BEST, "long", "coverage") == 1
    assert [row["system"] for row in study.of("score")] == [LEAD, BEST]


def test_a_strategy_that_proves_nothing_is_refused_before_anything_is_read() -> None:
    def never() -> Any:
        pytest.fail("a topic was read")
        yield

    with pytest.raises(OptionError, match=r"'greedy' cannot do: use one of .*milp"):
        study_tsc3(never(), strategy="greedy")
    with pytest.raises(UnknownNameError, match="did you mean milp"):
        study_tsc3(never(), strategy="mlip")


def test_errors_say_where() -> None:
    topic = as_topic({"id": "t", "cover": [[["a"]], []]}, source="topics.jsonl:3")
    study = study_tsc3([topic], [System("t", "one", selection=("a",))])
    assert len(study.errors) == 1  # the topic exists, so its systems are not reported as without a topic
    assert study.errors[0].startswith("topics.jsonl:3: In topic 't' abstract sentence 1 has no alternative")
    assert "no topic could be scored" in str(study)
    assert "no such columns" not in str(study)
    bad = BadTopic("t", "topics.jsonl:3", "not usable")
    assert study_tsc3([bad], [System("t", "one", selection=("a",))]).errors == ["topics.jsonl:3: not usable"]


def test_unusable_questions_are_reported_once() -> None:
    topic = {**AIBO, "meta": {"questions": [{"question": "Who?"}]}}
    study = study_tsc3([topic], [System("aibo", name, selection=(0,)) for name in "abc"])
    assert len(study.errors) == 1
    assert "question 0 of meta.questions has no answer" in study.errors[0]
    assert not study.rows
