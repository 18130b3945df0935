"""Test how columns of other people's records become the fields of a topic."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.corpus.sentences import between_marks, documents_between_marks
from optsum.corpus.topic import (
    Topic,
    as_topic,
    parse_columns,
    parse_path,
    reading_of,
    recognised,
    topics_of_record,
    value_at,
)
from optsum.errors import InputError, OptionError, UnknownNameError


def topics(columns: str, record: Any, number: int = 0) -> list[Topic]:
    return list(topics_of_record(record, number, reading_of(columns=columns), ""))


def listed(texts: Any) -> list[list[Any]]:
    return [list(text) for text in texts]


TWO = "documents=d,references=r"


@pytest.mark.parametrize(
    ("value", "documents"),
    [
        ("One came. Two left.", [["One came.", "Two left."]]),  # raw text
        ("one", [["one"]]),  # one sentence is also a text
        (["One came. Two left.", "", "three", "four"], [["One came. Two left.", "", "three", "four"]]),  # sentences
        (["One came. Two left.", "It sat. It ran."], [["One came.", "Two left."], ["It sat.", "It ran."]]),  # texts
        ([["a b", "c"], ["d e"]], [["a b", "c"], ["d e"]]),  # documents
        ([["a", "b"], ["c"]], [["a", "b"], ["c"]]),  # also documents, because the column does not hold tokens
        ([[["a", "b"]], [["c"]]], [[("a", "b")], [("c",)]]),  # documents of tokens
        ("<S> a b . </S> <S> c d . </S>", [["a b .", "c d ."]]),
        (["<S> a b . </S>", "<S> c . </S>"], [["a b .", "c ."]]),
        ("One. Two. ||||| Three.", [["One.", "Two."], ["Three."]]),
        ([["a b c", ["d e f", "g h i"]], [["j k l"]]], [["a b c", "d e f", "g h i"], ["j k l"]]),  # sections
    ],
)
def test_a_value_becomes_documents(value: Any, documents: list[list[Any]]) -> None:
    (topic,) = topics(TWO, {"d": value, "r": "x"})
    assert (topic.id, listed(topic.documents), listed(topic.references)) == ("0", documents, [["x"]])


def test_a_reference_is_not_cut_into_several() -> None:
    (topic,) = topics(TWO, {"d": "a", "r": ["r one.", "r two."]})
    assert listed(topic.references) == [["r one.", "r two."]]
    (topic,) = topics("documents=d,references=r[*]", {"d": "a", "r": ["R one. And more.", "R two."]})
    assert listed(topic.references) == [["R one.", "And more."], ["R two."]]


SETS = {
    "metadata": {"passage_id": "p7"},
    "document": "It rained. They ran.",
    "questions": [
        {"question_text": "Why?", "responses": [{"text": "Rain."}, {"text": "It rained."}]},
        {"question_text": "Who?", "responses": [{"text": "They."}]},
    ],
}


def test_a_set_of_questions_is_a_topic_each() -> None:
    found = topics(
        "documents=document,references=questions[].responses[*].text,id=metadata.passage_id,"
        "meta.question=questions[].question_text",
        SETS,
    )
    assert [(topic.id, listed(topic.references), topic.meta) for topic in found] == [
        ("p7.0", [["Rain."], ["It rained."]], {"question": "Why?"}),
        ("p7.1", [["They."]], {"question": "Who?"}),
    ]
    assert all(listed(topic.documents) == [["It rained.", "They ran."]] for topic in found)
    own = topics("documents=document,references=questions[].responses[*].text,id=questions[].question_text", SETS)
    assert [topic.id for topic in own] == ["Why?", "Who?"]
    assert [topic.id for topic in topics("documents=document,references=questions[].question_text", SETS, 4)] == [
        "4.0",
        "4.1",
    ]


def test_turns_of_a_meeting_are_texts() -> None:
    record = {"turns": [{"text": "Hello. Hm."}, {"text": "Yes ."}], "queries": [{"answer": "They met."}]}
    (topic,) = topics("documents=turns[*].text,references=queries[].answer", record)
    assert listed(topic.documents) == [["Hello.", "Hm."], ["Yes ."]]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"d": "a"}, '"references"'),
        ({"d": None, "r": "x"}, '"documents"'),
        ({"d": 3, "r": "x"}, "d is a number"),
        ({"d": {"text": "a"}, "r": "x"}, "d is an object"),
        ({"d": ["a", 4], "r": "x"}, r"d\[1\] is a number"),
        ({"d": [["a b", 4]], "r": "x"}, r"d\[0\]\[1\] is a number"),
        ([1], "not a list"),
        (None, "not null"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(record: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        topics(TWO, record)


def test_a_path_through_the_wrong_kind_is_refused() -> None:
    with pytest.raises(InputError, match=r"a\.b is a number"):
        value_at({"a": {"b": 1}}, parse_path("a.b.c"))
    with pytest.raises(InputError, match=r"a is an object, not a list"):
        value_at({"a": {}}, parse_path("a[*].c"))
    with pytest.raises(InputError, match="not a list"):
        topics("documents=d,references=q[].r", {"d": "a", "q": "no list"})
    with pytest.raises(InputError, match=r"differ in length"):
        topics("documents=d[],references=r[]", {"d": ["a", "b"], "r": ["x"]})


def test_an_object_of_lists_is_a_list_of_objects() -> None:
    """Test this because `datasets` returns lists of objects so (github.com/huggingface/datasets/issues/888)."""
    lists = {"url": "u", "article": {"section": ["A", "B"], "document": ["One. Two.", "Three."], "summary": ["x", "y"]}}
    objects = {
        "url": "u",
        "article": [{"document": "One. Two.", "summary": "x"}, {"document": "Three.", "summary": "y"}],
    }
    right = topics("documents=article[].document,references=article[].summary", objects)
    assert [topic.id for topic in right] == ["0.0", "0.1"]
    for columns in (
        "documents=article.document[],references=article.summary[]",
        "documents=article[].document,references=article[].summary",
    ):
        assert topics(columns, lists) == right
    (one,) = topics("documents=article[*].document,references=article[*].summary", lists)
    assert one == topics("documents=article[*].document,references=article[*].summary", objects)[0]


@pytest.mark.parametrize(
    ("given", "kind", "reason"),
    [
        ("documents=a", OptionError, "references"),
        ("references=a", OptionError, "documents"),
        ("documents=a,references", OptionError, "KEY=COLUMN"),
        ("documents=a,references=b,", OptionError, "KEY=COLUMN"),
        ("documents=a,references=b,documents=c", OptionError, "twice"),
        ("document=a,references=b", UnknownNameError, "did you mean documents"),
        ("documents=a[0],references=b", OptionError, "not a path"),
        ("documents=a..b,references=b", OptionError, "not a path"),
        ("documents=a[].b[].c,references=b", OptionError, "two lists"),
        ("documents=a[].b,references=c[].d", OptionError, "two lists"),
        ("", OptionError, "KEY=COLUMN"),
    ],
)
def test_a_map_that_cannot_be_used_is_refused(given: str, kind: type[Exception], reason: str) -> None:
    with pytest.raises(kind, match=reason):
        parse_columns(given)


def test_the_columns_of_well_known_sets_are_recognised() -> None:
    for names, pair in [
        (["article", "highlights", "id"], ("article", "highlights")),
        (["document", "summary"], ("document", "summary")),
        (["dialogue", "summary", "topic"], ("dialogue", "summary")),
        (["article_id", "article_text", "abstract_text", "sections"], ("article_text", "abstract_text")),
        (["src", "tgt"], ("src", "tgt")),
    ]:
        columns = recognised(names)
        assert columns is not None
        assert (columns.paths["documents"], columns.paths["references"]) == ((pair[0],), (pair[1],))
        assert columns.paths["id"] == (("article_id",) if "article_id" in names else ("id",))
    assert recognised(["id", "documents", "references", "article", "highlights"]) is None  # optsum's own format
    assert recognised(["text", "label"]) is None
    assert recognised([]) is None


def test_the_questions_of_squality(shared_data: Path) -> None:
    columns = parse_columns("documents=documents,references=meta.other_questions[].references,id=id")
    with (shared_data / "squality" / "topics.jsonl").open(encoding="utf-8") as lines:
        record = json.loads(next(lines))
    found = list(topics_of_record(record, 0, reading_of()._replace(columns=columns), ""))
    assert [topic.id for topic in found] == [f"{record['id']}.{number}" for number in range(4)]
    for topic, question in zip(found, record["meta"]["other_questions"], strict=True):
        assert listed(topic.documents) == record["documents"]
        assert listed(topic.references) == question["references"]


def test_the_tldrs_of_scitldr_are_references(shared_data: Path) -> None:
    with (shared_data / "scitldr" / "topics.jsonl").open(encoding="utf-8") as lines:
        topic = next(topic for topic in map(json.loads, lines) if len(topic["references"]) > 1)
    published = {
        "paper_id": topic["id"],
        "source": topic["documents"][0],
        "target": [" ".join(sentences) for sentences in topic["references"]],
    }
    (found,) = topics("documents=source,references=target[*],id=paper_id", published)
    assert (found.id, listed(found.documents)) == (topic["id"], topic["documents"])
    assert len(found.references) == len(topic["references"])
    assert as_topic(published) == found  # recognised columns need no option


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("<s>a</s><s>b</s>", ["a", "b"]),
        ("<t> a </t> <t> b </t>", ["a", "b"]),
        ("<s>a</s> b", None),
        ("<s>a<s>b</s></s>", None),
        ("<s>a</t>", None),
        ("a <q> b<q>", ["a", "b"]),
        ("a ##SENT## b", ["a", "b"]),
        ("a < s > b", None),
        ("", None),
    ],
)
def test_marks_between_sentences_are_found(text: str, sentences: list[str] | None) -> None:
    assert between_marks(text) == sentences


@pytest.mark.parametrize("text", ["<s>a</s>" * 200_000 + "x", "<s>" * 300_000, " " * 5_000_000 + "x", "|" * 2_000_000])
def test_marks_are_found_in_time(text: str) -> None:
    between_marks(text)
    documents_between_marks(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("drabq"), inner, max_size=3),
    max_leaves=12,
)


@given(
    JSON,
    st.sampled_from(
        [
            TWO,
            "documents=d[*],references=r",
            "documents=d[].a,references=d[].b[*]",
            "documents=d.a,references=r.b[*].q,id=r",
        ]
    ),
)
def test_any_record_becomes_topics_or_an_error(record: Any, columns: str) -> None:
    with suppress(InputError):
        assert all(isinstance(topic, Topic) for topic in topics(columns, record))
