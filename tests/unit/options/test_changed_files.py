"""Check that files named by options are read again after a change, in one process and in several."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsum

TOPIC = {"id": "t", "documents": [["the cat sat", "a dog ran", "the bird flew far"]], "references": [["the cat flew"]]}
DOORS: dict[str, Callable[..., Any]] = {
    "solve": lambda **given: optsum.solve(TOPIC, **given),
    "solve_all": lambda **given: next(iter(optsum.solve_all([TOPIC], **given))),
    "two processes": lambda **given: next(iter(optsum.solve_all([TOPIC] * 2, workers=2, **given))),
    "enumerate": lambda **given: optsum.enumerate_optima(TOPIC, **given).result,
    "frontier": lambda **given: optsum.frontier(TOPIC, **given),
}


_SIZES = (("sentences", 3), ("references", 1))


def write_vectors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    np.savez("v.npz", **{f"{topic}/{name}": rng.random((rows, 3)) for topic in "ab" for name, rows in _SIZES})


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("door", DOORS)
def test_a_changed_file_is_read_again(door: str) -> None:
    found = []
    for words in ("the", "the\ncat", "the\nflew"):
        Path("stop.txt").write_text(words)
        result = DOORS[door](max_length=6, stopwords="stop.txt")
        found.append((result.denominator, result.config_hash))
    assert [denominator for denominator, _ in found[:2]] == [2, 1]
    assert len({config_hash for _, config_hash in found}) == 3


def test_the_same_name_in_another_folder_is_another_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("there").mkdir()
    Path("stop.txt").write_text("the")
    Path("there/stop.txt").write_text("the\ncat")
    assert optsum.solve(TOPIC, max_length=6, stopwords="stop.txt").denominator == 2
    monkeypatch.chdir("there")
    assert optsum.solve(TOPIC, max_length=6, stopwords="stop.txt").denominator == 1


def test_a_run_is_not_gone_on_with_when_vectors_have_changed() -> None:
    Path("t.jsonl").write_text("".join(json.dumps({**TOPIC, "id": name}) + "\n" for name in "ab"))
    given = {"topics": "t.jsonl", "metric": "similarity", "vectors": "v.npz", "max_length": 6, "strategy": "greedy"}
    write_vectors(1)
    optsum.run(given, "run", limit=1, progress=False)
    write_vectors(2)
    with pytest.raises(optsum.OptionError, match="a file that an option names has changed"):
        optsum.run(given, "run", resume=True, progress=False)


@pytest.mark.parametrize("workers", [1, 2])
def test_files_that_change_during_a_run_are_reported(workers: int, caplog: pytest.LogCaptureFixture) -> None:
    Path("stop.txt").write_text("the")
    topics = [{**TOPIC, "id": f"t{number}"} for number in range(4)]
    with caplog.at_level(logging.WARNING, "optsum"):
        for number, result in enumerate(optsum.solve_all(topics, max_length=6, stopwords="stop.txt", workers=workers)):
            if not number:
                Path("stop.txt").write_text("the\ncat")
            assert result.denominator == 2 or "was changed during this run" in str(result.error)
    assert "stop.txt was changed while it was used" in caplog.text


@pytest.mark.parametrize(
    "ask",
    [
        optsum.solve,
        optsum.enumerate_optima,
        lambda topic, **given: list(optsum.solve_all([topic], **given)),
        lambda topic, **given: list(optsum.labels([topic], **given)),
    ],
    ids=["solve", "enumerate", "solve_all", "labels"],
)
def test_a_doubt_about_a_text_is_reported_at_each_call_with_the_same_options(
    ask: Callable[..., object], caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        ask({"id": "t", "documents": "NaN", "references": [["a NaN"]]}, max_length=3)
    assert len(caplog.messages) == 3
    assert set(caplog.messages) == {caplog.messages[0]}


@pytest.mark.parametrize("first", [1, True, 1.0, "1"])
def test_resolved_options_are_not_those_of_an_equal_value_of_another_type(first: Any) -> None:
    topic = {"id": "t", "documents": [["a b", "c"]], "references": [["c"]]}
    with suppress(optsum.OptionError):
        optsum.solve(topic, max_length=first)
    assert optsum.solve(topic, max_length=1).selection == (1,)
    with pytest.raises(optsum.OptionError, match="True"):
        optsum.solve(topic, max_length=True)
