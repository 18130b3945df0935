"""Check that summaries as long as the reference equal those of that length given as a number."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optsum
from optsum import InputError, OptionError
from optsum.cli import main
from optsum.corpus.row_files import read_rows

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1, max_size=4).map(" ".join)
TEXT = st.lists(WORDS, min_size=1, max_size=5)
LENGTH = {"words": lambda text: len(text.split()), "sentences": lambda _: 1, "characters": len}


def topic(document: list[str], *references: list[str], name: str = "t") -> dict[str, Any]:
    return {"id": name, "documents": [document], "references": list(references)}


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3), st.sampled_from(sorted(LENGTH)))
def test_it_is_the_mean_length_of_the_references(document: list[str], references: list[list[str]], unit: str) -> None:
    length = LENGTH[unit]
    most = round(sum(length(sentence) for text in references for sentence in text) / len(references))
    found = optsum.solve(topic(document, *references), max_length="reference", length_unit=unit)
    same = optsum.solve(topic(document, *references), max_length=most, length_unit=unit)
    assert (found.objective_exact, found.selection) == (same.objective_exact, same.selection)
    fitting = [
        chosen
        for size in range(len(document) + 1)
        for chosen in combinations(range(len(document)), size)
        if sum(length(document[unit]) for unit in chosen) <= most
    ]
    assert found.selection in fitting


TOPIC = topic(["a b c", "b c", "d", "e f g h"], ["a b", "e"], ["d e f g", "h"])


@pytest.mark.parametrize(("references", "longest"), [("first", 3), ("mean", 4), ("pooled", 4)])
def test_each_mode_of_references_has_its_length(references: Any, longest: int) -> None:
    found = optsum.solve(TOPIC, max_length="reference", references=references)
    assert found.objective_exact == optsum.solve(TOPIC, max_length=longest, references=references).objective_exact
    assert "len:0-reference words" in str(found.signature)


def test_each_reference_has_its_own_length() -> None:
    first, second = optsum.solve_all([TOPIC], max_length="reference", references="each")
    for found, number, longest in ((first, 0, 3), (second, 1, 5)):
        alone = {**TOPIC, "references": [TOPIC["references"][number]]}
        assert found.objective_exact == optsum.solve(alone, max_length=longest).objective_exact
    best = optsum.solve(TOPIC, max_length="reference", references="best")
    assert best.objective == max(first.objective or 0, second.objective or 0)


@pytest.mark.parametrize("strategy", ["auto", "branch-and-bound", "milp", "exhaustive", "greedy", "vns", "lead"])
def test_every_strategy_takes_the_length_of_the_reference(strategy: str) -> None:
    found = optsum.solve(TOPIC, max_length="reference", strategy=strategy)
    assert found.objective_exact == optsum.solve(TOPIC, max_length=4, strategy=strategy).objective_exact


def test_every_function_takes_the_length_of_the_reference() -> None:
    (row,) = optsum.labels([TOPIC], max_length="reference")
    (same,) = optsum.labels([TOPIC], max_length=4)
    assert row["labels"] == same["labels"]
    assert (
        optsum.enumerate_optima(TOPIC, max_length="reference").count
        == optsum.enumerate_optima(TOPIC, max_length=4).count
    )
    compared = optsum.compare([TOPIC], strategies=["greedy"], exact="milp", max_length="reference")
    assert "at most as many words as the reference" in str(compared)


def test_impossible_uses_of_the_reference_length_are_refused() -> None:
    with pytest.raises(OptionError, match="lengths are given of sentences"):
        optsum.solve({**TOPIC, "lengths": [1, 1, 1, 1]}, max_length="reference", length_unit="given")
    with pytest.raises(OptionError, match="did you mean reference"):
        optsum.solve(TOPIC, max_length="refrence")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="give lengths"):
        optsum.frontier(TOPIC, max_length="reference")
    with pytest.raises(InputError, match="maximum length of 4 words, which is below min_length 5"):
        optsum.solve(TOPIC, max_length="reference", min_length=5)
    instance = optsum.Coverage.of([3, 2], [{0: 1}, {0: 1}], [[1]], max_length=3)
    with pytest.raises(OptionError, match="a problem has no reference"):
        optsum.solve(optsum.CoverageProblem.of(instance), max_length="reference")


def test_commands_and_run_files_take_the_length_of_the_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topics, out = tmp_path / "t.jsonl", tmp_path / "o.jsonl"
    topics.write_text('{"id": "t", "documents": [["a b c", "b c"]], "references": [["a b"]]}\n')
    assert main(["solve", str(topics), "--max-length", "reference", "-o", str(out), "-q"]) == 0
    assert [row["selection"] for row in read_rows(out)] == [[1]]
    (tmp_path / "c.toml").write_text('max-length = "reference"\n')
    assert main(["solve", str(topics), "--config", str(tmp_path / "c.toml"), "-o", str(out), "--overwrite", "-q"]) == 0
    assert [row["selection"] for row in read_rows(out)] == [[1]]
    (tmp_path / "e.toml").write_text(f'topics = "{topics}"\n[grid]\nmax_length = ["reference", 3]\n')
    assert main(["run", str(tmp_path / "e.toml"), str(tmp_path / "run"), "-q"]) == 0
    capsys.readouterr()
    assert main(["solve", str(topics), "--max-length", "refrence"]) == 2
    assert (
        "--max-length cannot be 'refrence': give a whole number of at least 0 or reference; did you mean reference?"
        in capsys.readouterr().err
    )
