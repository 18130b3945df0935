"""Check that caches between calls depend on equal options only, and that notes on the input are repeated."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pytest

import optsum
from optsum.coverage.instance import Coverage
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem

TOPIC: dict[str, Any] = {"id": "t", "documents": [["a b", "b c", "c d"]], "references": [["a b c d"]]}
INSTANCE = Coverage.of([1, 1], [{0: 1}, {1: 1}], [[2], [1]], constants=(0, 3), max_length=1)


@dataclass
class Pairs(optsum.Metric):
    """A metric of pairs of adjacent words that cannot be hashed, because it is mutable and compares by value."""

    form: ClassVar[str] = "pairs"

    def keys(self, tokens: Sequence[str]) -> Iterator[Hashable]:
        """Yield the pairs of adjacent tokens."""
        return itertools.pairwise(tokens)


@dataclass(frozen=True)
class Deep(optsum.Formulation):
    """A formulation with an option."""

    name: ClassVar[str] = "deep"
    about: ClassVar[str] = "nothing"
    depth: int = 1

    def build(self, topic: optsum.Topic, spec: optsum.Spec) -> optsum.Task:
        """Fail, because nothing is built in this test."""
        raise AssertionError(topic, spec)


class Mine(CoverageProblem):
    """A problem that computes its instance itself."""

    @cached_property
    def coverage(self) -> Coverage:
        """Return the instance with a maximum length."""
        return INSTANCE.changed(max_length=2)


@pytest.mark.parametrize("word", ["cafe", "café"])
@pytest.mark.parametrize("references", ["first", "best"])
def test_the_length_of_other_references_is_not_asked_for(word: str, references: str) -> None:
    topic = {**TOPIC, "documents": [[f"a b c d {word}", "c d"]], "references": [["a b c d e f"], ["a e"]]}
    result = optsum.solve(topic, max_length="reference", min_length=5, references=references, tokenizer="unicode")
    assert result.selection == (0,)


def test_a_metric_that_cannot_be_hashed_is_accepted() -> None:
    assert optsum.rouge("a b c", ["a b d"], Pairs()).recall == 0.5


def test_a_class_that_is_defined_anew_is_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def solved(count: int) -> str | None:
        keys = {"keys": lambda _, tokens: iter(tokens[:count])}
        again = type("Again", (optsum.Metric,), {"form": "again", "__module__": __name__, **keys})
        monkeypatch.setitem(globals(), "Again", again)
        return optsum.solve(TOPIC, metric=again, max_length=2).objective_exact

    assert [solved(1), solved(4), solved(1)] == ["1", "1/2", "1"]


def test_options_of_a_formulation_that_are_equal_are_checked_all_the_same() -> None:
    own = {"formulation": f"{__file__}:Deep", "max_length": 3}
    assert vars(resolve({**own, "formulation_options": {"depth": 1}}).formulated()) == {"depth": 1}
    for wrong in (True, 1.5):
        with pytest.raises(optsum.OptionError, match="whole number"):
            resolve({**own, "formulation_options": {"depth": wrong}})


def test_a_problem_with_a_coverage_of_its_own_keeps_it() -> None:
    assert Mine(instance=INSTANCE, lengths=(1, 1), max_length=1).coverage.max_length == 2


def test_notes_on_the_input_are_repeated_in_every_call(caplog: pytest.LogCaptureFixture) -> None:
    record = {"article": "A b. C d.", "highlights": "b c", "abstract": "foo", "summary": "bar"}
    said = []
    for _ in range(2):
        with caplog.at_level(logging.INFO, "optsum"):
            list(optsum.solve_all([record], max_length=3, strategy="greedy"))
        said.append([line for line in caplog.messages if "are not used" in line])
        caplog.clear()
    assert said[0] == said[1] != []


def test_a_stemmer_of_another_language_is_said_in_every_call(caplog: pytest.LogCaptureFixture) -> None:
    topics = [{**TOPIC, "id": f"t{number}"} for number in range(3)]
    for _ in range(2):
        with caplog.at_level(logging.WARNING, "optsum"):
            list(optsum.solve_all(topics, max_length=3, language="de", stem=True))
        assert any("the stemmer" in line and line.startswith("3 of 3") for line in caplog.messages)
        caplog.clear()


def test_groups_of_sentences_are_read_anew_when_their_file_has_changed(tmp_path: Path) -> None:
    groups, found = tmp_path / "groups.jsonl", []
    for apart in ([[0, 1]], [[0, 2]]):
        groups.write_text(json.dumps({"id": "t", "exclusive": apart}))
        found.append(optsum.solve(TOPIC, max_length=4, exclusive=str(groups)).selection)
    assert found == [(0, 2), (0, 1)]
    groups.unlink()
    with pytest.raises(optsum.OptionError, match="cannot be read"):
        optsum.solve(TOPIC, max_length=4, exclusive=str(groups))


def test_stop_words_are_read_again_after_a_change(tmp_path: Path) -> None:
    words, found = tmp_path / "words.txt", []
    for dropped in ("a\n", "a\nb\n"):
        words.write_text(dropped)
        found.append(optsum.solve(TOPIC, max_length=2, stopwords=str(words)).objective_exact)
    assert found == ["2/3", "1"]
    words.unlink()
    with pytest.raises(optsum.InputError, match="cannot be read"):
        optsum.solve(TOPIC, max_length=2, stopwords=str(words))


def test_objects_that_are_no_problems_are_refused() -> None:
    with pytest.raises(optsum.OptionError, match="takes a Problem, not 'dict'"):
        optsum.search(TOPIC, "greedy")  # type: ignore[arg-type]
