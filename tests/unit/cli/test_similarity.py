"""Test vectors in files with every command that searches, in one process and in several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from similar_topics import best_by_trying, random_topic

from optsum.cli import main
from optsum.options.options import resolve

_OPTIONS = ["--metric", "similarity", "--max-length", "7"]


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """Return a folder with topics, vectors in one file, and vectors in a folder."""
    topics = [random_topic(seed) for seed in range(7)]
    (tmp_path / "vectors").mkdir()
    arrays: dict[str, Any] = {}
    with (tmp_path / "topics.jsonl").open("w") as lines:
        for topic in topics:
            vectors = topic.pop("vectors")
            arrays |= {f"{topic['id']}/{name}": array for name, array in vectors.items()}
            np.savez(tmp_path / "vectors" / f"{topic['id']}.npz", **vectors)
            lines.write(json.dumps(topic) + "\n")
    np.savez(tmp_path / "vectors.npz", **arrays)
    return tmp_path


def _ran(*arguments: object, status: int = 0) -> None:
    assert main(list(map(str, arguments))) == status


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(("vectors", "workers"), [("vectors", 2), ("vectors.npz", 1)])
def test_solve_reads_vectors_of_every_topic(given: Path, vectors: str, workers: int) -> None:
    out = given / "out.jsonl"
    _ran("solve", given / "topics.jsonl", *_OPTIONS, "--vectors", given / vectors, "-o", out, "--workers", workers)
    rows = _rows(out)
    assert len(rows) == 7
    for seed, row in enumerate(rows):
        best, _ = best_by_trying(seed, 7, unit=10_000)
        assert row["status"] == "optimal"
        assert row["objective"] == pytest.approx(best, abs=1e-12)


def test_every_command_that_searches_takes_vectors(given: Path) -> None:
    topics, vectors = given / "topics.jsonl", ["--vectors", given / "vectors.npz"]
    rows = given / "rows.jsonl"
    _ran("enumerate", topics, *_OPTIONS, *vectors, "--within", "5%", "-o", rows)
    assert all(row["complete"] for row in _rows(rows))
    compared = given / "compared.jsonl"
    strategies = "greedy,greedy+ls,vns,genetic,lead,random,exhaustive,milp,auto"
    _ran(
        *("compare", topics, *_OPTIONS, *vectors, "--strategies", strategies, "--exact", "branch-and-bound"),
        *("--details", "-o", compared),
    )
    found = _rows(compared)
    assert len(found) == 70
    assert {row["status"] for row in found} == {"optimal", "feasible"}
    _ran("labels", topics, *_OPTIONS, *vectors, "--soft", "-o", given / "labels.jsonl")
    assert all(row["shares"] is not None for row in _rows(given / "labels.jsonl"))
    _ran("frontier", topics, *_OPTIONS, *vectors, "-o", given / "frontier.jsonl")
    _ran("export", topics, *_OPTIONS, *vectors, "-o", given / "lp")
    _ran("export", topics, *_OPTIONS, *vectors, "--format", "json", "-o", given / "json")
    assert len(list((given / "lp").glob("*.lp"))) == len(list((given / "json").glob("*.json"))) == 7
    _ran("report", compared, "-o", given / "page.html")
    assert "similarity" in (given / "page.html").read_text()
    _ran("solve", topics, *_OPTIONS, *vectors, "--max-sentences", 1, "-o", given / "sided.jsonl")
    for seed, row in enumerate(_rows(given / "sided.jsonl")):
        best, _ = best_by_trying(seed, 7, unit=10_000)
        assert len(row["selection"]) <= 1
        assert row["objective"] <= best + 1e-12


def test_the_frontier_has_the_best_of_every_length(given: Path) -> None:
    _ran("frontier", given / "topics.jsonl", *_OPTIONS, "--vectors", given / "vectors", "-o", given / "f.jsonl")
    for seed, row in enumerate(_rows(given / "f.jsonl")):
        for step in row["frontier"]["steps"]:
            best, _ = best_by_trying(seed, step["from"], unit=10_000)
            assert step["objective"] == step["bound"] == pytest.approx(best, abs=1e-12)


def test_rows_differ_where_vectors_do(given: Path) -> None:
    def hashed(path: Path) -> str:
        return resolve({"metric": "similarity", "max_length": 7, "vectors": str(path)}).config_hash

    for copy in ("other", "changed"):
        (given / copy).mkdir()
        for file in (given / "vectors").iterdir():
            (given / copy / file.name).write_bytes(file.read_bytes())
    with np.load(given / "vectors" / "t0.npz") as held:
        np.savez(given / "changed" / "t0.npz", **{name: held[name] / 2 for name in held.files})
    assert hashed(given / "other") == hashed(given / "vectors")
    assert hashed(given / "changed") != hashed(given / "vectors") != hashed(given / "vectors.npz")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing", None, "does not exist"),
        ("text.npz", b"no arrays", "cannot be read as numpy.savez"),
        ("cut.npz", b"PK\x03\x04", "cannot be read as numpy.savez"),
    ],
)
def test_a_file_that_holds_no_vectors_is_an_error_of_the_topic(
    given: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (given / name).write_bytes(content)
    out = given / "o.jsonl"
    _ran("solve", given / "topics.jsonl", *_OPTIONS, "--vectors", given / name, "-o", out, status=1)
    rows = _rows(given / "o.jsonl")
    assert {row["status"] for row in rows} == {"error"}
    assert all(said in row["error"] for row in rows)


def test_a_topic_that_is_missing_costs_the_others_nothing(given: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (given / "vectors" / "t3.npz").unlink()
    np.save(given / "single.npy", np.ones(3))
    np.savez(given / "vectors" / "t4.npz", other=np.ones(3))
    np.savez(given / "vectors" / "t5.npz", sentences=np.array([{}, {}], dtype=object), references=np.ones((1, 1)))
    out = given / "o.jsonl"
    _ran("solve", given / "topics.jsonl", *_OPTIONS, "--vectors", given / "vectors", "-o", out, status=1)
    rows = {row["id"]: row for row in _rows(out)}
    assert [name for name, row in rows.items() if row["status"] == "error"] == ["t3", "t4", "t5"]
    assert "there are no vectors named 'other'" in rows["t4"]["error"]
    assert "t5.npz" in rows["t5"]["error"]
    capsys.readouterr()
    single = given / "single.npy"
    _ran("solve", given / "topics.jsonl", *_OPTIONS, "--vectors", single, "--limit", 1, "-o", "-", status=1)
    assert "not a zip file" in capsys.readouterr().err
