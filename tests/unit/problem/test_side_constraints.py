"""Test side constraints: refusals and small examples; `tests/unit/test_fuzz.py` compares them with brute force."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.coverage.instance import Row
from optsum.problem.formulation import Task, cliques_of, similar_pairs
from optsum.problem.objective import Extract
from optsum.system.clock import NEVER

TOPIC = {"id": "t", "documents": [["a b", "b c"], ["c d", "d e", "a b"]], "references": [["a b c d e"]]}


def test_cliques_hold_every_pair_and_no_other() -> None:
    pairs = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 5)]
    cliques = cliques_of(pairs)
    assert cliques == [(0, 1, 2), (2, 3), (3, 5)]
    assert similar_pairs(["ab", "b", "", "ab", ""], 0.5, NEVER) == [(0, 1), (0, 3), (1, 3)]


def test_each_constraint_restricts_the_optimum() -> None:
    def chosen(**options: Any) -> tuple[int, ...] | None:
        found = optsum.solve(TOPIC, max_length=6, strategy="exhaustive", **options).selection
        return None if found is None else tuple(found)

    assert chosen(require=[3], forbid="0") in {(1, 3, 4), (2, 3, 4)}
    assert chosen(max_sentences=1) in {(0,), (1,), (2,), (3,), (4,)}
    assert chosen(per_document=1, max_characters=6) in {(0, 2), (0, 3), (1, 3)}
    assert chosen(exclusive=1, require="0") in {(0, 1, 3), (0, 2, 3)}
    assert chosen(require="1", forbid="1") is None


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        ({"require": [9]}, "name sentence 9; the topic has 5, numbered from 0"),
        ({"require": 1}, "'require' must be a list"),
        ({"wanted": [1]}, "must be an object with no other keys than require, forbid"),
        ([1], "must be an object with no other keys than require, forbid"),
        ({"groups": [1]}, "must be a list of sentences"),
        ({"exclusive": [[0, 0]]}, "name a sentence twice: 0, 0"),
        ({"rows": [{"sentences": [0], "coefficients": [0.5], "low": 1}]}, "not whole"),
        ({"rows": [{"sentences": [0], "coefficients": [1, 2], "low": 1}]}, "not one coefficient for each"),
        ({"rows": [{"sentences": [-1], "low": 1}]}, "negative"),
        ({"rows": [{"sentences": "ab"}]}, "a list of sentences"),
        ({"rows": [{"sentences": [True], "low": 1}]}, "not whole: A number is True"),
        ({"rows": [{"sentences": [0, 1], "max": 1}]}, "has the key 'max': use sentences, coefficients, low, high"),
        ({"rows": [{"sentences": [0, 1], "high": None}]}, "limits nothing: give low, high or both"),
        ({"rows": [{"sentences": [0], "coefficients": [10**30], "low": 1}]}, "beyond 1000000"),
    ],
)
def test_a_topic_with_wrong_constraints_is_an_error(constraints: Any, sentence: str) -> None:
    topic = {**TOPIC, "meta": {"constraints": constraints}}
    with pytest.raises(optsum.InputError, match=sentence):
        optsum.solve(topic, max_length=6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"require": "0,x"}, "numbers of sentences, such as 0,3"),
        ({"forbid": [-1]}, "numbers of sentences, such as 0,3"),
        ({"exclusive": 0}, "above 0 and at most 1"),
        ({"exclusive": "nan"}, "above 0 and at most 1"),
        ({"exclusive": "missing.jsonl"}, "cannot be read: No such file"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(optsum.OptionError, match=sentence):
        optsum.solve(TOPIC, max_length=6, **options)


TWICE = '{"id": "t", "exclusive": [[0, 1]], "exclusive": [[1, 2]]}'


def test_a_file_of_exclusive_sentences(tmp_path: Path) -> None:
    path = tmp_path / "exclusive.jsonl"
    path.write_text('{"id": "t", "exclusive": [[0, 1, 2, 3, 4]]}\n\n{"id": "u", "exclusive": []}\n')
    result = optsum.solve(TOPIC, max_length=6, exclusive=str(path))
    assert result.selection is not None
    assert len(result.selection) == 1
    for number, text in enumerate(("[1]", '{"id": "t"}', '{"id": "t", "exclusive": 3}', "{", "{}\n{}", TWICE)):
        other = tmp_path / f"{number}.jsonl"
        other.write_text(text)
        with pytest.raises(optsum.OptionError, match=r":1: exclusive sentences are an object such as"):
            optsum.solve(TOPIC, max_length=6, exclusive=str(other))


@pytest.mark.parametrize("values", [((0, 0), (1, 1)), ((0,), (1, 2)), ((0,), (0,)), ((0,), (0.5,)), ((0,), (1,), 0.5)])
def test_invalid_rows_are_refused(values: tuple[Any, ...]) -> None:
    with pytest.raises(optsum.InputError, match=r"[Rr]ow '"):
        Row(*values)


def test_a_limit_on_sentences_is_limit_enough() -> None:
    assert optsum.solve(TOPIC, max_sentences=2).length == 4


def test_covers_keep_side_constraints() -> None:
    topic = {"id": "c", "documents": [["a", "b", "c"]], "references": [["x", "y"]], "cover": [[[0], [1]], [[0], [2]]]}
    for strategy in ("milp", "exhaustive", "greedy"):
        result = optsum.solve(topic, formulation="cover", strategy=strategy, forbid="0")
        assert result.selection == (1, 2)
    with pytest.raises(optsum.UnsupportedError, match="no side constraints"):
        optsum.solve(topic, formulation="cover", strategy="branch-and-bound", forbid="0")


@pytest.mark.parametrize("least", ["0.14", ".28", "0.56", "0.07", "0.29", "0.57", "0.58", "0.1", "0.7", "1e-2", "3/7"])
def test_sentences_exactly_as_alike_as_is_said_exclude_each_other(least: str) -> None:
    common, union = Fraction(least).as_integer_ratio()
    rest = [f"x{number}" for number in range(union - common)]
    words = [f"w{number}" for number in range(common)]
    sentences = [" ".join([*words, *rest[::2]]), " ".join([*words, *rest[1::2]])]
    topic = {"id": "t", "documents": [sentences], "references": [sentences]}
    larger = str(Fraction(least) + Fraction(1, 10**9))
    for given, number in ((least, 1), (larger, 2)):
        assert len(optsum.solve(topic, max_length=1000, exclusive=given).selection or ()) == number
    if "/" not in least:
        assert len(optsum.solve(topic, max_length=1000, exclusive=float(least)).selection or ()) == 1


NAMED: dict[str, Any] = {"id": "n", "cover": [[["s1"], ["s2"]], [["s2"]], [["s3", "s1"]]]}
PASSAGES: dict[str, Any] = {"id": "p", "supports": [[0], [1], [2]], "lengths": [3, 4, 2]}
BUDGET: dict[str, Any] = {"formulation": "cover", "length_unit": "given", "max_length": 9}


@pytest.mark.parametrize("strategy", ["auto", "exhaustive", "milp"])
def test_limits_of_sentences_count_units_without_a_text(strategy: str) -> None:
    for most, chosen in ((0, None), (2, None), (3, ("s1", "s2", "s3"))):
        found = optsum.solve(NAMED, formulation="cover", max_sentences=most, strategy=strategy)
        assert (found.status, found.selection) == ("infeasible" if chosen is None else "optimal", chosen)
    for most in range(4):
        found = optsum.solve(PASSAGES, max_sentences=most, strategy=strategy, **BUDGET)
        assert (found.status, found.numerator, len(found.selection or ())) == ("optimal", most, most)
    mixed = {**TOPIC, "cover": [[["s1"], [0, 1]], [["s2"]]]}
    assert optsum.solve(mixed, formulation="cover", max_sentences=1, strategy=strategy).status == "infeasible"


def test_passages_without_a_text_have_the_numbers_of_their_topic() -> None:
    assert optsum.solve(PASSAGES, forbid="1", require=[2], **BUDGET).selection == (0, 2)
    held = {**PASSAGES, "constraints": {"rows": [{"sentences": [0, 1], "high": 1}]}}
    assert optsum.solve(held, **BUDGET).numerator == 2
    with pytest.raises(optsum.InputError, match="name sentence 3; the topic has 3"):
        optsum.solve(PASSAGES, require=[3], **BUDGET)
    with pytest.raises(optsum.InputError, match="name sentence 0; the topic has 0"):
        optsum.solve(NAMED, formulation="cover", require=[0])


@pytest.mark.parametrize("options", [{"per_document": 1}, {"exclusive": 0.5}])
def test_units_without_a_text_have_no_document_and_no_words(options: dict[str, Any]) -> None:
    with pytest.raises(optsum.InputError, match="has a unit without a"):
        optsum.solve(PASSAGES, **BUDGET, **options)


def test_passages_that_only_alternatives_number_are_known_by_them() -> None:
    topic = {"id": "q", "cover": [[[0], [5]], [[7]]]}
    assert optsum.solve(topic, formulation="cover", require=[5]).selection == (5, 7)
    with pytest.raises(optsum.InputError, match="name passage 3; the passages of its alternatives are 0, 5, 7"):
        optsum.solve(topic, formulation="cover", require=[3])


def test_tasks_that_name_no_sentences_refuse_constraints_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extract, "heads", Task.heads)
    for options in ({"max_sentences": 1}, {"require": [0]}, {"per_document": 1}):
        with pytest.raises(optsum.UnsupportedError, match=r"define Task\.heads"):
            optsum.solve(TOPIC, max_length=6, **options)
    assert optsum.solve(TOPIC, max_length=6, max_characters=6).status == "optimal"
