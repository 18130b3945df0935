"""Test labels in every format: loading as docs/labels.md shows, resuming, and refused formats."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from optsum.cli import main

ROOT = Path(__file__).parents[3]
NEWS = ROOT / "examples" / "data" / "news.jsonl"
PAGE = ROOT / "docs" / "labels.md"

Run = Callable[..., tuple[int, str]]


def needs(*packages: str) -> pytest.MarkDecorator:
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not here")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    topics = NEWS.read_text(encoding="utf-8") + json.dumps({"id": "bad", "documents": 3, "references": [["x"]]}) + "\n"
    (tmp_path / "topics.jsonl").write_text(topics, encoding="utf-8")

    def run(*arguments: object) -> tuple[int, str]:
        limit = [] if "--max-length" in arguments else ["--max-length", "30"]
        search = [] if "--soft" in arguments else ["--strategy", "greedy"]
        status = main(["labels", "topics.jsonl", *limit, *search, *map(str, arguments)])
        return status, capsys.readouterr().err

    return run


def rows_of(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def said(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without null values, because a table has every column in every row."""
    return {name: value for name, value in row.items() if value is not None}


@pytest.fixture
def expected(run: Run) -> list[dict[str, Any]]:
    assert run("-o", "expected.jsonl")[0] == 1
    return rows_of("expected.jsonl")


@needs("pyarrow")
@pytest.mark.parametrize("name", ["labels.parquet", "labels.csv", "labels.csv.gz", "labels.jsonl.gz"])
def test_tables_hold_the_same_rows(name: str, run: Run, expected: list[dict[str, Any]]) -> None:
    from optsum.corpus.row_files import read_rows

    assert run("-o", name)[0] == 1
    assert [said(row) for row in read_rows(name)] == [said(row) for row in expected]


@needs("datasets")
def test_a_folder_of_datasets_holds_the_same_rows(run: Run, expected: list[dict[str, Any]]) -> None:
    import datasets

    assert run("-o", "labels/")[0] == 1
    table = datasets.load_from_disk("labels")
    assert list(map(said, table)) == list(map(said, expected))
    assert table.features["labels"].feature.dtype == "int64"
    assert sorted(path.name for path in Path().iterdir()) == ["expected.jsonl", "labels", "topics.jsonl"]


def test_the_json_of_bertsum(run: Run, expected: list[dict[str, Any]]) -> None:
    assert run("-o", "x.train.0.json", "--format", "bertsum")[0] == 1
    records = json.loads(Path("x.train.0.json").read_text(encoding="utf-8"))
    topics = rows_of("topics.jsonl")
    good = [row for row in expected if row["labels"] is not None]
    assert [record["labels"] for record in records] == [row["labels"] for row in good]
    assert [record["src"] for record in records] == [[text.split() for text in row["sentences"]] for row in good]
    assert [len(record["tgt"]) for record in records] == [len(topic["references"][0]) for topic in topics[:-1]]


def test_the_summary_of_bertsum_is_the_reference_that_was_searched(run: Run, tmp_path: Path) -> None:
    topic = {"id": "t", "documents": [["a b", "c d"]], "references": [["x"], ["c d"]]}
    (tmp_path / "topics.jsonl").write_text(json.dumps(topic))
    assert run("-o", "a.json", "--format", "bertsum", "--references", "best", "--max-length", "2")[0] == 0
    (record,) = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert (record["tgt"], record["labels"]) == ([["c", "d"]], [0, 1])


def blocks() -> dict[str, str]:
    page = PAGE.read_text(encoding="utf-8")
    return dict(re.findall(r'^```python title="([^"]+)"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("name", list(blocks()))
def test_the_documented_code_loads_the_labels(name: str, run: Run, expected: list[dict[str, Any]]) -> None:
    for package in ("datasets", "pandas"):
        if f"import {package}" in blocks()[name]:
            pytest.importorskip(package)
    assert run("-o", name, *(["--format", "bertsum"] if name.endswith(".json") else []))[0] == 1
    found: dict[str, Any] = {}
    exec(blocks()[name], found)  # noqa: S102 - our own documentation
    wanted = [row for row in expected if row["labels"] is not None]
    if name == "labels/":
        assert [row["labels"] for row in found["table"]] == [row["labels"] for row in wanted]
        assert len(found["split"]["train"]) + len(found["split"]["test"]) == len(wanted)
    elif name == "labels.parquet":
        assert list(found["sentences"].labels) == [label for row in wanted for label in row["labels"]]
    elif name == "labels.jsonl":
        assert len(found["pairs"]) == sum(len(row["labels"]) for row in wanted)
    else:
        assert found["sent_labels"] == [unit for unit, label in enumerate(wanted[-1]["labels"]) if label]


def test_the_page_shows_how_to_load_every_format() -> None:
    assert list(blocks()) == ["labels/", "labels.parquet", "labels.jsonl", "mine.train.0.json"]
    assert all(len(block.strip().splitlines()) <= 6 for block in blocks().values())


@pytest.mark.parametrize("name", ["labels.jsonl", "labels.parquet", "labels/"])
def test_an_interrupted_run_is_resumed(name: str, run: Run, tmp_path: Path) -> None:
    if not name.endswith("jsonl"):
        pytest.importorskip("datasets")
    topics = (tmp_path / "topics.jsonl").read_text(encoding="utf-8")
    flags = ("-o", name, "--soft", "--all", 2)
    (tmp_path / "topics.jsonl").write_text("".join(topics.splitlines(keepends=True)[:3]))
    assert run(*flags)[0] == 0
    (tmp_path / "topics.jsonl").write_text(topics)
    status, err = run(*flags)
    assert (status, "exists already" in err) == (2, True)
    for other in (["-o", name], ["-o", name, "--soft"], ["-o", name, "--soft", "--all", 1]):
        status, err = run(*other, "--resume")
        assert (status, "made with other options (--" in err) == (2, True)
    assert run(*flags, "--resume")[0] == 1
    assert run("-o", "fresh.jsonl", "--soft", "--all", 2)[0] == 1
    from optsum.corpus.row_files import read_rows

    found = {row["id"]: said(row) for row in read_rows(name)}
    assert found == {row["id"]: said(row) for row in rows_of("fresh.jsonl")}
    assert run(*flags, "--resume")[0] == 1  # again, with an error among the rows
    assert run(*flags, "--overwrite")[0] == 1


def test_lists_of_other_optima_are_not_resumed(run: Run) -> None:
    several = {"documents": [["a b", "b a", "a b b", "b a a", "c"]], "references": [["a b"]]}
    only = {"documents": [["a b", "c"]], "references": [["a b"]]}
    flags = ("-o", "lists.jsonl", "--max-length", 3, "--strategy", "auto")
    for name, topic in (("several", several), ("only", only)):
        Path("topics.jsonl").write_text(json.dumps({"id": name, **topic}) + "\n")
        for made in (["--all", 2], ["--all", 2, "--diverse"], ["--all", 9]):
            for now in (["--all", 2], ["--all", 2, "--diverse"], ["--all", 3], ["--all", 9], ["--all", 10]):
                assert run(*flags, *made, "--overwrite")[0] == 0
                before = Path("lists.jsonl").read_text()
                status, err = run(*flags, *now, "--resume")
                alike = made == now or name == "only" or made[1] > 3 < now[1]
                assert (status, "made with other options" in err) == ((0, False) if alike else (2, True)), (made, now)
                assert Path("lists.jsonl").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-o", "labels.txt"], "format that optsum"),
        (["--format", "bertsum"], "standard output"),
        (["-o", "x", "--format", "bertsumm"], "did you mean bertsum"),
        (["-o", "held/"], "not a folder saved by datasets"),
        (["-o", "held", "--format", "bertsum"], "it is a folder"),
        (["-o", "new/", "--format", "bertsum"], "it is a folder, but the format bertsum is one file"),
        (["-o", "x.json", "--format", "bertsum", "--soft"], "leave out --soft and --all"),
    ],
)
def test_an_impossible_output_is_refused(arguments: list[str], reason: str, run: Run) -> None:
    Path("held").mkdir()
    Path("held/precious").write_text("x")
    status, err = run(*arguments, "--overwrite")
    assert (status, reason in err, err.count("\n")) == (2, True, 1), err
    assert Path("held/precious").read_text() == "x"


def test_a_complete_file_of_bertsum_is_not_resumed(run: Run) -> None:
    assert run("-o", "a.json", "--format", "bertsum")[0] == 1
    before = Path("a.json").read_bytes()
    status, err = run("-o", "a.json", "--format", "bertsum", "--resume")
    assert (status, "--overwrite" in err, Path("a.json").read_bytes() == before) == (2, True, True)
    assert sorted(path.name for path in Path().iterdir()) == ["a.json", "topics.jsonl"]


def test_without_the_package_the_extra_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr("optsum.corpus.row_files.find_spec", lambda name: None if name == "datasets" else found(name))
    status, err = run("-o", "labels/")
    assert (status, "pip install 'optsum[hf]'" in err) == (2, True)


def test_a_card_says_how_the_labels_were_made(run: Run) -> None:
    assert run("-o", "labels.jsonl", "--card", "card.md", "--metric", "rouge-2")[0] == 1
    rows, card = rows_of("labels.jsonl"), Path("card.md").read_text(encoding="utf-8")
    assert rows[0]["signature"] in card
    assert rows[0]["config_hash"] in card
    assert "| topics | 8 feasible, 1 error;" in card
    assert f"| sentences labelled 1 | {sum(sum(row['labels'] or []) for row in rows)} |" in card
    Path("labels.toml").write_text(card.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    assert main(["labels", "topics.jsonl", "--config", "labels.toml", "-o", "again.jsonl"]) == 1
    assert [row["config_hash"] for row in rows_of("again.jsonl")] == [row["config_hash"] for row in rows]
    flags = ("--soft", "--all", "2", "--within-steps", "0")
    assert run("-o", "soft.jsonl", "--card", "soft.md", *flags)[0] == 1
    card = Path("soft.md").read_text(encoding="utf-8")
    assert f"--config labels.toml {' '.join(flags)} -o soft.jsonl`" in card
    assert "`all_labels` of up to 2 selections (within 0 steps), `objective`" in card
    assert "`--soft`" not in card
    err = run("-o", "other.jsonl", "--card", "card.md")[1]
    assert err.endswith("optsum: the output card.md exists already: --overwrite replaces it\n")
    assert not Path("other.jsonl").exists()
