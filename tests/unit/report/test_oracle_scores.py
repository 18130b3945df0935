"""Compare scores of extracts against all oracles with the paper's example and with enumeration."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import optsum
from optsum.cli import main
from optsum.options.options import ScoreOptions
from optsum.report.system_scores import OracleScores, SystemScores, score_rows

TIES: dict[str, Any] = {
    "id": "t",
    "documents": [["ash birch", "birch cedar", "ash cedar", "dogwood", "elm"]],
    "references": [["ash birch cedar", "dogwood"]],
}
SYSTEMS: list[dict[str, Any]] = [
    {"topic_id": "t", "system": "two", "selection": [0, 3], "human": {"good": 3}},
    {
        "topic_id": "t",
        "system": "text",
        "summary": ["Birch CEDAR !", "Dogwood.", "nothing of it", "elm"],
        "human": {"good": 2},
    },
    {"topic_id": "t", "system": "none", "summary": ["nothing"], "human": {"good": 1}},
]


def test_the_papers_measure_by_hand() -> None:
    """Test three oracles of 3 words: each is one of the three first sentences, with "dogwood"."""
    scores = optsum.score([TIES], SYSTEMS, metric="rouge-1", oracles=True, max_length=3)
    rows = {row.system: row.oracle["rouge-1"] for row in scores.rows}
    oracles = [{0, 3}, {1, 3}, {2, 3}]
    for name, chosen, size in (("two", {0, 3}, 2), ("text", {1, 3}, 4), ("none", set(), 1)):
        precision = fmean(len(oracle & chosen) / size for oracle in oracles)
        recall = fmean(len(oracle & chosen) / len(oracle) for oracle in oracles)
        f = 2 * precision * recall / (precision + recall) if precision else 0.0
        assert rows[name] == pytest.approx({"precision": precision, "recall": recall, "f1": f})
    shown = str(scores)
    assert "Extracts against all oracles of 3 words at most" in shown
    agreement = {(one.metric, one.measure): one for one in scores.agreements}
    assert agreement["oracle rouge-1", "f1"].system_spearman == pytest.approx(1.0)
    assert agreement["oracle rouge-1", "f1"].summary_spearman == pytest.approx(1.0)


def test_people_are_held_against_scores_of_the_same_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that human scores of topics with unknown oracles are left out of the means, and are not 0."""
    real = OracleScores.of

    def unknown(self: OracleScores, topic: optsum.Topic) -> dict[str, Any]:
        return dict.fromkeys(self.metrics) if topic.id == "late" else real(self, topic)

    monkeypatch.setattr(OracleScores, "of", unknown)
    late = [{**system, "topic_id": "late", "human": {"good": -9 * system["human"]["good"]}} for system in SYSTEMS]
    only = {**SYSTEMS[0], "topic_id": "late", "system": "only", "human": {"good": 9}}
    topics, options = [TIES, {**TIES, "id": "late"}], {"metric": "rouge-1", "oracles": True, "max_length": 3}
    scores = optsum.score(topics, [*SYSTEMS, *late, only], **options)
    alone = optsum.score([TIES], SYSTEMS, **options)
    for one, other in zip(scores.agreements, alone.agreements, strict=True):
        assert one.metric == "rouge-1" or one == other


PAPER: dict[str, Any] = {
    "id": "p",
    "documents": [["s1", "s2", "s3 x", "s4", "y", "x", "none"]],
    "references": [["s1 s2 x y"]],
}
"""Of 4 words the oracles are those with s1, s2, y, and x from its sentence or with s3."""


def test_single_oracles_as_in_section_6_2_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check P, R and F of each oracle; their means are the row's P and R."""
    system = {"topic_id": "p", "system": "S", "selection": [0, 1, 2, 3]}
    for name, row in (("topics", PAPER), ("systems", system)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row), "utf-8")
    output = tmp_path / "rows.jsonl"
    files = [str(tmp_path / name) for name in ("topics.jsonl", "systems.jsonl")]
    flags = ["--metric", "rouge-1", "--each-oracle", "9", "--max-length", "5", "-o", str(output)]
    assert main(["score", *files, *flags]) == 0
    shown = capsys.readouterr().out
    (row,) = map(json.loads, output.read_text("utf-8").splitlines())
    found = row["oracle"]["rouge-1"]
    chosen = {0, 1, 2, 3}
    optima = optsum.enumerate_optima(PAPER, max_length=5)
    assert [tuple(one["oracle"]) for one in found["each"]] == list(optima)
    assert len(found["each"]) == found["count"] > 1
    for one in found["each"]:
        both, size = len(chosen.intersection(one["oracle"])), len(one["oracle"])
        assert (one["precision"], one["recall"]) == (both / 4, both / size)
        assert one["f1"] == pytest.approx(2 * both / (4 + size))
        assert ", ".join(map(str, one["oracle"])) in shown
    assert found["precision"] == pytest.approx(fmean(one["precision"] for one in found["each"]))
    assert "Extracts against single oracles" in shown
    assert "each" not in optsum.score([PAPER], [system], metric="rouge-1", oracles=True, max_length=5).rows[0].oracle


def test_the_f_measure_is_that_of_the_python_call() -> None:
    optima = optsum.enumerate_optima(TIES, max_length=3, metric="rouge-2", keep_unmatched=False)
    scores = optsum.score([TIES], SYSTEMS[:1], metric="rouge-1+rouge-2+rouge-l", oracles=True, max_length=3)
    assert scores.rows[0].oracle["rouge-2"]["f1"] == optima.f_measure({0, 3})
    assert set(scores.rows[0].oracle) == {"rouge-1", "rouge-2", "rouge-l"}


def test_a_preset_says_how_long_oracles_are() -> None:
    scores = optsum.score([TIES], SYSTEMS, preset="hirao-r1", oracles=True)
    assert "100 words at most" in str(scores)
    optima = optsum.enumerate_optima(TIES, preset="hirao-r1")
    assert scores.rows[0].oracle["rouge-1"]["f1"] == optima.f_measure({0, 3})
    with pytest.raises(optsum.OptionError, match="needs a limit"):
        optsum.score([TIES], SYSTEMS, oracles=True)


def test_oracles_not_found_in_time_are_reported() -> None:
    scores = optsum.score([TIES], SYSTEMS, metric="rouge-1", oracles=True, max_length=3, time_limit=0)
    assert scores.rows[0].oracle["rouge-1"] == {"precision": None, "recall": None, "f1": None}
    assert "not all oracles were found in time: 1 (each a topic and a metric)" in str(scores)
    assert scores.failed == 0


def test_rows_have_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics, systems, out = (tmp_path / name for name in ("t.jsonl", "s.jsonl", "o.jsonl"))
    topics.write_text(json.dumps(TIES))
    systems.write_text("\n".join(map(json.dumps, [*SYSTEMS, {"topic_id": "t", "system": "far", "selection": [9]}])))
    flags = ["--metric", "rouge-1", "--oracles", "--max-length", "3"]
    assert main(["score", str(topics), str(systems), *flags, "-o", str(out)]) == 1
    rows = {row["system"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert rows["two"]["oracle"]["rouge-1"]["count"] == 3
    assert rows["far"]["error"]
    assert "rouge-1 P" in capsys.readouterr().out
    # Rows of a search are systems as well.
    solved = tmp_path / "solved.jsonl"
    assert main(["solve", str(topics), "--max-length", "3", "-o", str(solved)]) == 0
    capsys.readouterr()
    assert main(["score", str(topics), str(solved), *flags, "-o", str(tmp_path / "p.jsonl")]) == 0
    (row,) = map(json.loads, (tmp_path / "p.jsonl").read_text().splitlines())
    assert row["rouge"]["rouge-1"]["recall"] == 0.75
    assert row["oracle"]["rouge-1"]["recall"] == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_the_unit_of_the_length_counts_for_oracles() -> None:
    topic = {"id": "t", "documents": [["a b", "b c", "c d e"]], "references": [["a b c d e"]]}
    system = {"topic_id": "t", "system": "s", "selection": [0, 2]}
    given: dict[str, Any] = {"metric": "rouge-1", "oracles": True}
    scores = optsum.score([topic], [system], max_length=2, length_unit="sentences", **given)
    (oracle,) = optsum.enumerate_optima(topic, max_length=2, length_unit="sentences")
    assert oracle == (0, 2)
    assert scores.rows[0].oracle["rouge-1"]["f1"] == 1
    assert "2 sentences at most" in str(scores)
    assert "of any length" in str(optsum.score([topic], [system], preset="google", oracles=True))


def test_options_that_change_nothing_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    topic = {"id": "t", "documents": [["a b"]], "references": [["a b"]]}
    system = {"topic_id": "t", "system": "s", "selection": [0]}
    optsum.score([topic], [system], best_by="f1", max_length=5, uncoverable="skip", metric="rouge-1")
    said = [record.getMessage().split(" changes nothing without ")[0] for record in caplog.records]
    assert said == ["--best-by", "--max-length", "--uncoverable"]
    caplog.clear()
    optsum.score([topic], [system], best_by="f1", references="best", max_length=5, oracles=True, metric="rouge-1")
    assert not caplog.records


def test_a_summary_that_cannot_be_used_keeps_its_names() -> None:
    topic = {"id": "t", "documents": [["a b"]], "references": [["a b"]]}
    scores = SystemScores(ScoreOptions())
    systems = [{"topic_id": name, "system": "s", "selection": [-1]} for name in ("t", 5)]
    rows = [row for rows in score_rows([topic], systems, scores) for row in rows]
    assert [(row["topic_id"], row["system"]) for row in rows] == [("t", "s"), ("5", "s")]
    assert all("selection[0] is -1" in row["error"] for row in rows)
