"""What all studies have in common: processes, errors that cost one topic, Ctrl-C; estimates that are said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.cli import main
from optsum.corpus.topic import BadTopic
from optsum.deadline import Deadline
from optsum.errors import UnsupportedError
from optsum.optima.optima import Optima
from optsum.studies import topics as loop
from optsum.studies.hirao import study_hirao
from optsum.studies.lin_hovy import study_lin_hovy

FREE = {
    "id": "free",
    "documents": [["cats dogs", "dogs birds", "cats birds", "birds cats", "dogs cats"]],
    "references": [["cats dogs birds"], ["birds cats"]],
}
"""Any two sentences are an oracle of 4 words, if they have all three words."""
WINDOW = {"id": "w", "documents": [[f"a{n} " * 20 for n in range(6)]], "references": [["a0 a1"], ["a1 a2"]]}


def slim(study: Any) -> list[dict[str, Any]]:
    """Rows without times."""
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in study.to_rows()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hirao", {"max_length": 4}),
        ("lin-hovy", {}),
        ("tsc3", {}),
        ("akhmetov", {"exact": "exhaustive"}),
    ],
)
def test_processes_change_nothing(name: str, options: dict[str, Any]) -> None:
    given: list[Any] = [FREE, {"id": "none"}, WINDOW, BadTopic("bad", "x:3", "no JSON")]
    given += [{"id": f"c{n}", "cover": [[["a"], ["b", "c"]]]} for n in range(3)]
    one = optsum.study(name, given, **options)
    two = optsum.study(name, given, workers=2, **options)
    assert slim(one) == slim(two) != []
    assert list(one.errors) == list(two.errors) != []
    assert "x:3: no JSON" in one.errors


@pytest.mark.parametrize("name", ["hirao", "lin-hovy", "tsc3", "akhmetov", "compressive"])
def test_ctrl_c_leaves_what_was_done(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    outcome = loop._outcome

    def second_is_interrupted(part: optsum.Topic, work: Callable[..., Any], setup: Any) -> Any:
        def interrupted(topic: optsum.Topic) -> Any:
            if done:
                raise KeyboardInterrupt
            done.append(topic.id)
            return work(topic)

        return outcome(part, interrupted, setup)

    monkeypatch.setattr(loop, "_outcome", second_is_interrupted)
    lines = ["1 cats cat X _ _ 0 root _ _", "2 purr purr X _ _ 1 dep _ _"]
    parse = "\n".join("\t".join(line.split()) for line in lines)
    topic = {"documents": [["cats purr"]], "references": [["cats purr"]], "parses": [parse], "cover": [[[0]]]}
    options = {} if name in {"tsc3", "akhmetov", "lin-hovy"} else {"max_length": 4}
    study = optsum.study(name, [{**topic, "id": "t0"}, {**topic, "id": "t1"}, {**topic, "id": "t2"}], **options)
    assert study.interrupted
    assert done == ["t0"]
    assert not study.errors
    assert "Interrupted" in str(study)
    assert {row["id"] for row in study.to_rows() if "id" in row} <= {"t0", "t0#0"}
    assert study.to_rows()


def test_an_interrupted_study_ends_as_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("optsum.studies.hirao._compared", interrupted)
    path = tmp_path / "topics.jsonl"
    path.write_text(json.dumps(FREE))
    assert main(["study", "hirao", str(path)]) == 130


def test_oracles_that_are_too_many_are_estimated_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = study_hirao([FREE], max_length=4)
    assert "standard error" not in str(exact)
    assert all(row["jaccard_among_oracles_se"] in {None, 0.0} for row in exact.to_rows())

    def too_many(self: Optima, deadline: Deadline) -> None:
        raise UnsupportedError("too many")

    monkeypatch.setattr(Optima, "jaccard", too_many)
    study = study_hirao([FREE], max_length=4)
    for row, other in zip(study.to_rows(), exact.to_rows(), strict=True):
        if other["count"] > 1:
            error = row["jaccard_among_oracles_se"]
            assert abs(row["jaccard_among_oracles"] - other["jaccard_among_oracles"]) <= 5 * error
    several = sum(row["count"] > 1 for row in exact.to_rows())
    assert several > 1
    table = study.overlaps().text()
    assert "from 1,000 pairs each; the standard error that this gives the mean is " in table
    cells = [line.split()[-2:] for line in table.splitlines() if line.startswith("rouge-")]
    assert sum(int(problems) for problems, _ in cells) == sum(int(estimated) for _, estimated in cells) == several


def test_every_table_says_how_many_problems_are_left_out() -> None:
    study = study_hirao([FREE], max_length=4, time_limit=0)
    assert not study.compared
    assert study.unproven == 6
    assert all("6 of 6 problems left out" in table.text() for table in study.tables())


def test_windows_that_are_not_proven_are_said() -> None:
    study = study_lin_hovy([WINDOW], strategy="branch-and-bound", time_limit=0)
    assert study.documents[0].unproven == ("E100", "E150")
    assert "E100 lacks 1 document: not proven within the time limit." in str(study)
