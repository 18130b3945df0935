"""Test topics from Python values: the accepted ones, and the errors of the others."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum import InputError, OptionError, Topic, as_topic

GOOD: dict[str, Any] = {"id": "t", "documents": [["A b .", "C ."], ["D ."]], "references": [["A ."], ["D .", "C ."]]}


def changed(**values: Any) -> dict[str, Any]:
    return GOOD | values


def test_all_fields() -> None:
    topic = as_topic(changed(meta={"x": [1]}, parses=["1", "2", "3"], cover=[[[0], ["s1", 2]]]), source="f:3")
    assert topic.id == "t"
    assert topic.documents == (("A b .", "C ."), ("D .",))
    assert topic.references == (("A .",), ("D .", "C ."))
    assert topic.sentences == ("A b .", "C .", "D .")
    assert topic.meta == {"x": [1]}
    assert topic.parses == ("1", "2", "3")
    assert topic.cover == (((0,), ("s1", 2)),)
    assert topic.source == "f:3"


def test_topic_passes_through_and_is_a_value() -> None:
    topic = as_topic(GOOD)
    assert as_topic(topic) is topic
    assert pickle.loads(pickle.dumps(topic)) == topic  # noqa: S301
    assert topic == as_topic(dict(GOOD))
    assert hash(topic) == hash(as_topic(changed(meta={"other": 1})))
    assert topic != as_topic(changed(meta={"other": 1}))
    with pytest.raises(FrozenInstanceError):
        topic.id = "u"  # type: ignore[misc]


def test_input_is_not_shared() -> None:
    meta = {"a": 1}
    documents = [["A ."]]
    topic = as_topic(changed(meta=meta, documents=documents))
    meta["a"] = 2
    documents[0].append("B .")
    assert topic.meta == {"a": 1}
    assert topic.sentences == ("A .",)


def test_tokens_are_kept_as_they_are() -> None:
    topic = as_topic(changed(documents=[[["A", "b  c", "", "."], "raw one", []]]))
    assert topic.sentences == (("A", "b  c", "", "."), "raw one", ())


def test_tuples_do_as_lists() -> None:
    assert as_topic(changed(documents=((("A", "b"), "c"),))).sentences == (("A", "b"), "c")


def test_blank_sentences_are_units() -> None:
    assert as_topic(changed(documents=[["", "A .", " \n"], [""], ["\0"]])).sentences == ("", "A .", " \n", "", "\0")


def test_raw_text_is_split() -> None:
    topic = as_topic(changed(documents=["It ran. It sat.", ["Kept. As is."]], references=["One. Two."]))
    assert topic.documents == (("It ran.", "It sat."), ("Kept. As is.",))
    assert topic.references == (("One.", "Two."),)


LONG = ["It ran. It sat.", "One. Two. Three."]
SHORT = ["It ran.", "It sat.", "One."]


def test_a_flat_list_of_texts_of_several_sentences_is_texts() -> None:
    topic = as_topic(changed(documents=LONG, references=LONG))
    assert topic.documents == topic.references == (("It ran.", "It sat."), ("One.", "Two.", "Three."))


@pytest.mark.parametrize("key", ["documents", "references"])
@pytest.mark.parametrize("value", [SHORT, ["It ran. It sat.", "One."], ["", "It ran.", "It sat. One."]])
def test_a_flat_list_that_could_be_one_text_is_refused(key: str, value: list[str]) -> None:
    with pytest.raises(
        InputError, match=rf"topic 't': \"{key}\" is a flat list of \d strings.*flat=\"sentences\" or"
    ) as found:
        as_topic(changed(**{key: value}))
    assert '[["...", "..."]]' in str(found.value)
    assert '[["..."], ["..."]]' in str(found.value)


def test_the_option_flat_says_what_a_flat_list_is() -> None:
    sentences, texts = (
        as_topic(changed(documents=SHORT, references=LONG), flat=flat) for flat in ("sentences", "texts")
    )
    assert sentences.documents == (("It ran.", "It sat.", "One."),)
    assert sentences.references == (("It ran. It sat.", "One. Two. Three."),)
    assert texts.documents == (("It ran.",), ("It sat.",), ("One.",))
    assert len(texts.references) == 2
    nested = changed(documents=[["A. B.", "C."]])
    assert as_topic(nested, flat="sentences") == as_topic(nested, flat="texts") == as_topic(nested)


@pytest.mark.parametrize("value", [["One."], [["One.", "Two."], "Three."], ["", " "]])
def test_unambiguous_lists_need_no_option(value: list[Any]) -> None:
    assert len(as_topic(changed(documents=value)).documents) == len(value)


def test_language_of_raw_text() -> None:
    text = "Das ist z. B. Dr. Müller. Er kam."
    assert as_topic(changed(documents=[text]), language="de").sentences == ("Das ist z. B. Dr. Müller.", "Er kam.")
    with pytest.raises(OptionError, match="'no such' is not a language code"):
        as_topic(changed(documents=[text]), language="no such")


@pytest.mark.parametrize("empty", [[""], [], " ", ["", "  "]])
def test_empty_reference_is_left_to_the_formulation(empty: object) -> None:
    assert len(as_topic(changed(references=[empty])).references) == 1


def test_empty_document_is_a_document() -> None:
    assert as_topic(changed(documents=[[], ""])).documents == ((), ())


def test_lone_surrogates_in_text_are_replaced() -> None:
    topic = as_topic(changed(documents=[["a \ud83d b", "\U0001f600 é", ["\udc00", "é"]], "x \ud83d. Y."]))
    assert topic.sentences == ("a \ufffd b", "\U0001f600 é", ("\ufffd", "é"), "x \ufffd.", "Y.")


@pytest.mark.parametrize(("given_id", "name"), [(7, "7"), (-1, "-1"), ("é\u00a0ü", "é\u00a0ü"), (" a ", " a ")])
def test_ids_become_text(given_id: object, name: str) -> None:
    assert as_topic(changed(id=given_id)).id == name


@pytest.mark.parametrize(
    ("given_id", "message"),
    [
        (None, 'the "id" of the topic is null'),
        ("", "is blank"),
        (" \t", "is blank"),
        (True, "is true"),
        (1.5, "is a number"),
        ([], "is a list"),
        ("a\0b", r"U\+0000"),
        ("a\nb", r"U\+000A"),
        ("\x1b[31m", r"U\+001B"),
        ("a\ud800", r"U\+D800"),
        (10**5000, "256 bits"),
    ],
    ids=itertools.count(),
)
def test_bad_ids_are_refused(given_id: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_topic(changed(id=given_id))


@pytest.mark.parametrize("key", ["documents", "references"])
def test_a_missing_key_is_refused(key: str) -> None:
    topic = {name: value for name, value in GOOD.items() if name != key}
    with pytest.raises(InputError, match=f'no "{key}"; its keys are: '):
        as_topic(topic)
    with pytest.raises(InputError, match=f'no "{key}"'):
        as_topic(changed(**{key: None}))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"documents": []}, '"documents" is an empty list'),
        ({"references": []}, '"references" is an empty list'),
        ({"documents": "  "}, "documents is empty; give it a text"),
        ({"documents": {"a": []}}, '"documents" is an object'),
        ({"references": 3}, '"references" is a number'),
        ({"documents": [["a"], None]}, r"documents\[1\] is null"),
        ({"documents": [["a"], 3.5]}, r"documents\[1\] is a number"),
        ({"documents": [["a", None]]}, r"documents\[0\]\[1\] is null; a sentence is"),
        ({"documents": [["a", {}]]}, r"documents\[0\]\[1\] is an object"),
        ({"references": [["a", ["b", 1]]]}, r"references\[0\]\[1\]\[1\] is a number; a token is a string"),
        ({"documents": [["a", b"b"]]}, r"documents\[0\]\[1\] is of type bytes"),
        ({"meta": [1]}, '"meta" is a list'),
        ({"parses": "1\tA"}, '"parses" is a string'),
        ({"parses": ["", None, ""]}, r"parses\[1\] is null"),
        ({"parses": [""]}, "the number of parses is 1, but that of sentences is 3"),
        ({"cover": {}}, '"cover" is an object'),
        ({"cover": ["s1"]}, r"cover\[0\] is a string"),
        ({"cover": [["s1"]]}, r"cover\[0\]\[0\] is a string; cover is a list"),
        ({"cover": [[["s1", 1.5]]]}, r"cover\[0\]\[0\]\[1\] is 1.5"),
        ({"cover": [[[True]]]}, r"cover\[0\]\[0\]\[0\] is true"),
    ],
)
def test_wrong_values_are_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        as_topic(changed(**values))
    assert str(caught.value).startswith("topic 't': ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [None, 3, "text", [], ["id"], object()])
def test_values_that_are_no_objects_are_refused(value: object) -> None:
    with pytest.raises(InputError, match="a topic is an object"):
        as_topic(value)


def test_an_empty_object_is_refused() -> None:
    with pytest.raises(InputError, match="it is an empty object"):
        as_topic({})


def test_cover_needs_neither_documents_nor_references() -> None:
    topic = as_topic({"id": "t", "cover": [[["s1"], ["s10", "s11"]]]})
    assert topic.documents == ()
    assert topic.references == ()
    assert topic.sentences == ()
    assert topic.cover == ((("s1",), ("s10", "s11")),)
    with pytest.raises(InputError, match=r"documents\[0\] is a number"):
        as_topic({"id": "t", "cover": [], "documents": [1]})


@pytest.mark.parametrize(
    "references",
    [["It ran. It sat.", "", "It ran. It lay."], ["It ran. It sat.", " "], [["a"], ""]],
)
def test_an_empty_reference_among_others_is_refused(references: Any) -> None:
    """It would count in a mean, and shorten --max-length reference."""
    with pytest.raises(InputError, match=r"reference 1 of \d is empty; give it a text, or leave it out"):
        as_topic({"id": "t", "documents": [["a"]], "references": references})


def test_items_of_a_column_without_text_are_left_out_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    record = {"d": "A cat.", "r": ["A cat.", None, "", "cat"]}
    assert as_topic(record, columns="documents=d,references=r[*]").references == (("A cat.",), ("cat",))
    assert "empty items of r[*] are left out, like null" in caplog.text
    with pytest.raises(InputError, match="is empty; give it a text"):
        as_topic({**record, "r": [None, ""]}, columns="documents=d,references=r[*]")


def test_whole_numbers_of_a_cover_may_be_floats() -> None:
    assert as_topic({"id": "t", "cover": [[[0.0, 2]]]}).cover == (((0, 2),),)
    with pytest.raises(InputError, match=r"cover\[0\]\[0\]\[0\] is 0.5; give the whole number or the id"):
        as_topic({"id": "t", "cover": [[[0.5]]]})


sentences = st.text() | st.lists(st.text())
texts = st.lists(st.lists(sentences), min_size=1)


@given(texts, texts)
def test_any_sentences_are_kept_in_order(documents: list[Any], references: list[Any]) -> None:
    topic = as_topic({"id": "t", "documents": documents, "references": references})
    flat = [sentence for document in documents for sentence in document]
    assert [list(s) if isinstance(s, tuple) else s for s in topic.sentences] == flat
    assert [len(document) for document in topic.documents] == [len(document) for document in documents]
    assert [len(reference) for reference in topic.references] == [len(reference) for reference in references]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.builds(lambda: 10**5000),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=12,
)
keys = st.sampled_from(["id", "documents", "references", "meta", "cover", "parses", "other"])


@given(anything | st.dictionaries(keys, anything))
def test_anything_is_a_topic_or_an_input_error(value: object) -> None:
    try:
        topic = as_topic(value)
    except InputError as error:
        assert str(error)  # noqa: PT017 (either outcome is right)
    else:
        assert isinstance(topic, Topic)
        assert topic.sentences == tuple(s for document in topic.documents for s in document)


def test_constraints_in_two_places_are_refused() -> None:
    topic = {"id": "t", "documents": [["a"]], "references": [["a"]], "constraints": {"require": [0]}}
    with pytest.raises(InputError, match='others in "meta"; give all of them in one place'):
        as_topic({**topic, "meta": {"constraints": {"forbid": [0]}}})


def test_one_column_for_documents_and_references_is_refused() -> None:
    with pytest.raises(OptionError, match="one column for documents and references"):
        as_topic({"id": "t", "text": ["a"]}, columns="documents=text,references=text")
