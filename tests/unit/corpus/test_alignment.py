"""Test alignments: the sets of sentences that support each abstract sentence, from text or from annotations."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.corpus.alignment import align, corresponding_sets
from optsum.corpus.topic import BadTopic, Topic
from optsum.errors import InputError, OptionError, UnknownNameError, UnsupportedError

TOPIC: dict[str, Any] = {
    "id": "t",
    "documents": [["The cat sleeps on the red mat.", "A dog barks."], ["Cats sleep.", "The mat is red.", ""]],
    "references": [["A cat slept on a red mat.", "Dogs barked loudly at night."], ["It was so."]],
    "meta": {"source": "test"},
}


def one(**options: Any) -> Topic:
    topic = next(align([TOPIC], **options))
    assert isinstance(topic, Topic)
    return topic


def naive(wanted: Counter[str], source: list[Counter[str]], threshold: Fraction, largest: int) -> list[tuple[int, ...]]:
    def holds(chosen: tuple[int, ...]) -> bool:
        joint = sum((source[unit] for unit in chosen), Counter())
        return sum((wanted & joint).values()) >= threshold * wanted.total()

    return [
        chosen
        for size in range(1, largest + 1)
        for chosen in combinations(range(len(source)), size)
        if wanted and holds(chosen) and not any(holds(part) for part in combinations(chosen, size - 1) if part)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_sets_are_all_minimal_ones(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    for number in range(200):
        wanted = Counter(rng.choices("abcde", k=rng.randint(0, 6)))
        source = [Counter(rng.choices("abcdexy", k=rng.randint(0, 4))) for _ in range(rng.randint(0, 7))]
        threshold, largest = Fraction(rng.randint(1, 10), 10), rng.randint(1, 4)
        found, complete = corresponding_sets(wanted, source, threshold, largest, 10**9)
        expected = naive(wanted, source, threshold, largest)
        assert (list(found), complete) == (expected, True), (seed, number)
        most = rng.randint(1, 6)
        few, complete = corresponding_sets(wanted, source, threshold, largest, most)
        assert complete == (len(expected) <= most), (seed, number)
        assert len(few) == min(most, len(expected))
        assert set(few) <= set(expected)
        assert list(map(len, few)) == list(map(len, expected[: len(few)])), "the smallest are kept"


def test_content_words_decide_which_sets_support_a_sentence() -> None:
    # Content words: "cat", "sleep", "red", "mat". Stemming maps "slept" to "sleep"; "a" and "on" are stop words.
    assert one().cover == (((0,), (2,), (3,)), ((1,),))
    assert one(threshold=0.75).cover == (((0,), (2, 3)), ())
    assert one(threshold=1).cover == (((0,), (2, 3)), ())
    assert one(threshold=1, stem=False).cover == ((), ())


def test_larger_sets_are_looked_for_only_up_to_a_size() -> None:
    assert one(threshold=0.75, max_sentences=1).cover == (((0,),), ())


def test_of_too_many_sets_the_smallest_are_kept_and_this_is_reported() -> None:
    assert one(max_sets=2).cover == (((0,), (2,)), ((1,),))
    assert one(max_sets=2).meta["align"]["cut"] == [0]
    assert "cut" not in one(max_sets=3).meta["align"]


def test_stop_words_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("a\ncat\nslept\non\n")
    assert one(stopwords=str(tmp_path / "stop.txt"), threshold=1).cover == (((0,), (3,)), ())
    with pytest.raises(InputError, match="nosuch"):
        align([TOPIC], stopwords="nosuch")


def test_every_reference_is_a_topic_of_its_own() -> None:
    first, second = align([TOPIC])
    assert isinstance(first, Topic)
    assert isinstance(second, Topic)
    assert (first.id, second.id) == ("t#0", "t#1")
    assert first.references == (tuple(TOPIC["references"][0]),)
    assert first.documents == tuple(map(tuple, TOPIC["documents"]))
    assert first.meta["source"] == "test"
    assert first.meta["align"]["threshold"] == 0.5
    assert second.meta["align"]["reference"] == 1
    # "It was so." has stop words only, so that nothing corresponds to it.
    assert second.cover == ((),)


@pytest.mark.parametrize("ids", [["a", "b", "c", "d", "e"], [4, 3, 2, 1, 0]])
def test_sentences_are_called_as_the_topic_calls_them(ids: list[Any]) -> None:
    documents = TOPIC["documents"]
    named = {**TOPIC, "meta": {"sentence_ids": ids[: sum(map(len, documents))]}}
    plain, found = next(iter(align([TOPIC]))), next(iter(align([named])))
    assert isinstance(plain, Topic)
    assert isinstance(found, Topic)
    assert plain.cover
    assert found.cover == tuple(
        tuple(tuple(ids[unit] for unit in chosen) for chosen in sets)  # type: ignore[index]
        for sets in plain.cover
    )
    expected = optsum.solve(plain, formulation="cover", uncoverable="skip").summary
    assert optsum.solve(found, formulation="cover", uncoverable="skip").summary == expected


@pytest.mark.parametrize("ids", [["a"], [True, *"bcde"], ["a"] * 5, "abcde"])
def test_ids_that_do_not_name_each_sentence_are_refused(ids: Any) -> None:
    sentences = sum(map(len, TOPIC["documents"]))
    given = ids[:sentences] if len(ids) > 1 else ids
    (found,) = align([{**TOPIC, "meta": {"sentence_ids": given}}])
    assert isinstance(found, BadTopic)
    assert "meta.sentence_ids does not name each" in found.error


def test_covers_have_distinct_ids() -> None:
    beside = {**TOPIC, "id": "t#1", "references": TOPIC["references"][:1]}
    first, second, third = align([TOPIC, beside])
    assert [topic.id for topic in (first, second, third)] == ["t#0", "t#1", "t#1"]
    assert isinstance(second, Topic)
    assert isinstance(third, BadTopic)
    assert "a second topic would be named 't#1'" in third.error


def test_one_reference_keeps_the_id() -> None:
    (topic,) = align([{**TOPIC, "references": TOPIC["references"][:1]}])
    assert topic.id == "t"


def test_stop_words_stems_and_metrics_can_be_changed() -> None:
    # "a cat slept on a red mat": sentences 0 and 1 together lack "slept" and one "a"
    assert one(stopwords="keep", stem=False, threshold=0.7).cover == (((0, 1),), ())
    assert one(stopwords="keep", stem=False, threshold=0.71).cover == (((0, 1),), ())
    assert one(stopwords="keep", stem=False, threshold=0.72).cover == ((), ())
    # bigrams: cat sleep, sleep red, red mat
    assert one(metric="rouge-2", threshold=1).cover == (((0,),), ())
    assert one(metric="rouge-2", threshold=0.3).cover == (((0,), (2,)), ((1,),))
    assert one(stopwords=frozenset({"a", "cat", "slept", "on"}), threshold=1).cover == (((0,), (3,)), ())


def test_pre_tokenized_topics_are_used_as_they_are() -> None:
    topic = {"id": "t", "documents": [[["Ä", "ß"], ["2"]]], "references": [[["Ä", "ß", "2", "3"]]]}
    (aligned,) = align([topic], threshold=0.75, stem=False)
    assert isinstance(aligned, Topic)
    assert aligned.cover == (((0, 1),),)
    # ROUGE counts the characters a-z and 0-9 only.
    (aligned,) = align([topic], threshold=0.5, stem=False, tokenizer="rouge")
    assert isinstance(aligned, Topic)
    assert aligned.cover == (((1,),),)


def test_the_share_is_compared_exactly() -> None:
    # In floating point, 0.1 * 30 exceeds 3.
    topic = {"id": "t", "documents": [["a b c"]], "references": [[" ".join("abcdefghijklmnopqrstuvwxyz0123")]]}
    (aligned,) = align([topic], threshold=0.1, stem=False, stopwords="keep")
    assert isinstance(aligned, Topic)
    assert aligned.cover == (((0,),),)
    assert ceil(0.1 * 30 + 1e-12) == 4


def test_bad_topics_pass_through() -> None:
    given = BadTopic("b", "file:3", "broken")
    found = list(align([given, {"id": "no text"}, {"id": "empty", "documents": [[]], "references": [[]]}, TOPIC]))
    assert found[0] is given
    assert [getattr(topic, "error", None) is None for topic in found] == [False, False, False, True, True]
    assert found[1].id == "no text"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"threshold": 0}, OptionError),
        ({"threshold": 1.5}, OptionError),
        ({"max_sentences": 0}, OptionError),
        ({"max_sets": 0}, OptionError),
        ({"metric": "rouge-l"}, UnsupportedError),
        ({"metric": "rouge-1+rouge-2"}, UnsupportedError),
        ({"tokenizer": "none"}, UnknownNameError),
    ],
)
def test_impossible_options_are_refused_at_once(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        align([TOPIC], **options)


def test_a_cover_runs_on_what_was_aligned() -> None:
    results = list(optsum.solve_all(align([TOPIC]), formulation="cover"))
    assert [result.status.value for result in results] == ["optimal", "error"]
    assert results[0].selection == (0, 1)
    assert results[0].summary == ("The cat sleeps on the red mat.", "A dog barks.")


MARKED: dict[str, Any] = {
    "sets": {"text": "A cat slept.", "alternatives": [[0], [[1, 0], 3]]},
    "sentences": {"relevant": [[0, 1], 3, 3]},
    "ranges": {"answer": ["It was so.", "It is."], "relevant_ranges": [[0, 2], [1, 3]]},
    "nothing": {"relevant": []},
}


@pytest.mark.parametrize(
    ("needed", "covers"),
    [
        ("all", [((0,), (2, 3)), ((1, 3),), ((0, 1, 2),), ()]),
        ("any", [((0,), (2, 3)), ((1,), (3,)), ((0,), (1,), (2,)), ()]),
    ],
)
def test_annotations_become_covers(needed: Any, covers: list[Any], tmp_path: Path) -> None:
    rows = [{"topic_id": "t", **row} for row in MARKED.values()]
    (found,) = align([TOPIC], alignments=rows, needed=needed)
    assert isinstance(found, Topic)
    assert (found.id, found.cover) == ("t", tuple(covers))
    assert found.references == (("A cat slept.", "It was so.", "It is."),)
    assert found.meta["align"] == {"needed": needed, "reference": None}
    by_reference = [{**row, "reference_index": number % 2} for number, row in enumerate(rows)]
    (tmp_path / "marks.jsonl").write_text("\n".join(map(json.dumps, by_reference)))
    first, second = align([TOPIC], alignments=str(tmp_path / "marks.jsonl"), needed=needed)
    assert isinstance(first, Topic)
    assert isinstance(second, Topic)
    assert (first.id, first.cover, second.id, second.cover) == ("t#0", tuple(covers[::2]), "t#1", tuple(covers[1::2]))
    assert first.references == (tuple(TOPIC["references"][0]),)


def test_annotations_use_the_ids_of_the_topic() -> None:
    named = {**TOPIC, "meta": {"sentence_ids": [*"abcde"]}}
    (found,) = align([named], alignments=[{"topic_id": "t", "relevant": [[1, 0], "b", 4]}])
    assert isinstance(found, Topic)
    assert found.cover == ((("c", "b", "e"),),)


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"relevant": [[0, 2]]}, "sentence 2 of document 0"),
        ({"relevant": [5]}, "sentences are 0 to 4"),
        ({"relevant_ranges": [[4, 6]]}, "sentences are 0 to 4"),
        ({"relevant": [0], "reference_index": 2}, "names reference 2; there are 2, numbered from 0"),
    ],
)
def test_marks_that_the_topic_does_not_have(row: dict[str, Any], error: str) -> None:
    found = list(
        align([TOPIC, {**TOPIC, "id": "bare"}], alignments=[{"topic_id": "t", **row}, {"topic_id": "u", **row}])
    )
    assert all(isinstance(each, BadTopic) for each in found)
    assert [each.id for each in found] == ["t", "bare", "u"]
    assert error in found[0].error  # type: ignore[union-attr]
    assert "no alignment names this topic" in found[1].error  # type: ignore[union-attr]
    assert "but it is not among the topics" in found[2].error  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"relevant": [0]}, "alignment 1 is not an alignment: topic_id"),
        ({"topic_id": "t"}, "give one of alternatives, relevant and relevant_ranges"),
        ({"topic_id": "t", "relevant": [0], "alternatives": [[0]]}, "give one of alternatives"),
        ({"topic_id": "t", "relevant": [1.5]}, "relevant.0"),
        ("t", "alignment 1 is not an alignment"),
        ({"topic_id": " ", "relevant": [0]}, "is blank"),
    ],
)
def test_rows_that_are_no_alignments(row: Any, error: str) -> None:
    with pytest.raises(InputError, match=error):
        align([TOPIC], alignments=[row])


def test_options_for_text_are_refused_with_annotations() -> None:
    with pytest.raises(OptionError, match="leave out threshold, stem"):
        align([TOPIC], alignments=[], threshold=0.7, stem=False)
    with pytest.raises(OptionError, match="give alignments too"):
        align([TOPIC], needed="any")
