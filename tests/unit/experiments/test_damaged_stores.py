"""Check that damaged rows of a run are reported and searched again, and that all others are kept."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from damage import STORES, damaged_stores

import optsum
from optsum.cli import main
from optsum.corpus.row_files import CellRows, RowStore, read_rows

SOME = (
    *("empty", "garbage", "cut at 0.60", "bit at 0.80", "page 1 zeros", "page -2 ones", "page 5 cut", "row no JSON"),
    *("row no JSON, without checksum", "row with another digit", "facts changed", "log of another", "old journal"),
    *("log is a pipe", "rows a view", "fact inputs lost", "fact topics lost", "row from the end of time"),
    "damaged before",
)


def test_a_cell_with_an_error_is_not_finished_until_its_rows_are_replaced(tmp_path: Path) -> None:
    with RowStore(tmp_path / "rows.sqlite", write=True) as store:
        store.add(
            [(0, 0, (("error", "{}"),)), (0, 1, (("optimal", "{}"), ("error", "{}"))), (0, 2, (("optimal", "{}"),))]
        )
        assert store.finished(0) == {2}
        store.add([(0, 0, (("optimal", "{}"),)), (0, 2, (("error", "{}"),))])
        assert store.finished(0) == {0, 2}
        assert store.counts() == {"optimal": 3, "error": 1}


def test_damaged_rows_are_reported_and_searched_again() -> None:
    assert list(damaged_stores(list(SOME))) == [(name, "") for name in SOME]


@pytest.mark.slow
def test_the_store_recovers_from_every_kind_of_damage() -> None:
    assert [each for each in damaged_stores([name for name in STORES if name not in SOME]) if each[1]] == []


TOPIC = {"documents": [["a b", "b c", "a c d", "d"]], "references": [["a b c"], ["c d"]]}


HERE = ThreadPoolExecutor(1)
"""What searches: processes would be started anew for each folder."""


def run(folder: Path | str, *, resume: bool = False, max_length: int = 4) -> optsum.RunStatus:
    given = {"topics": "t.jsonl", "strategy": "lead", "max_length": max_length}
    return optsum.run(given, folder, resume=resume, executor=HERE, progress=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.jsonl").write_text("".join(json.dumps({"id": f"t{n}", **TOPIC}) + "\n" for n in range(20)))
    run("run")
    return tmp_path / "run"


def change(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "rows.sqlite")) as database, database:
        for statement in statements:
            database.execute(statement)


def test_stores_of_older_versions_have_no_checksums_and_are_read(folder: Path) -> None:
    before = list(read_rows(folder))
    change(folder, "ALTER TABLE rows DROP COLUMN sum", "ALTER TABLE facts DROP COLUMN sum")
    assert optsum.status(folder).doubts == ()
    assert list(read_rows(folder)) == before
    change(folder, "DELETE FROM rows WHERE topic = 3")
    done = run(folder, resume=True)
    assert (done.done, done.doubts) == (20, ())
    with closing(sqlite3.connect(folder / "rows.sqlite")) as database:
        assert database.execute("SELECT count(sum) FROM rows").fetchone() == (1,)


def test_every_command_reports_the_damage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder, "UPDATE rows SET row = '{' WHERE topic = 3")
    for arguments, status in (
        (["status", "run"], 0),
        (["report", "run", "-o", "page.html"], 0),
        (["merge", "run", "-o", "all.csv"], 1),
        (["merge", "run", "-o", "all"], 1),
    ):
        assert main(arguments) == status
        said = capsys.readouterr()
        assert "rows.sqlite is damaged" in said.out + said.err, arguments
        assert "19 of its rows could be read" in said.out + said.err
    assert len(list(read_rows("all.csv"))) == 19
    experiment = 'topics = "t.jsonl"\nstrategy = "lead"\nmax-length = 4\n'
    Path("e.toml").write_text(experiment)
    assert main(["run", "e.toml", "run", "--resume"]) == 0
    assert "kept as rows.sqlite.damaged" in capsys.readouterr().err
    assert optsum.status(folder).doubts == ()
    assert len(list(read_rows(folder))) == 20


@pytest.mark.parametrize(
    ("name", "held"),
    [
        *(("environment.json", held) for held in (b'{"sessions": 3, "inputs": [1]}', b"[" * 10**5)),
        *((name, "a pipe") for name in ("environment.json", "config.toml", "lock")),
        ("config.toml", b"\xff\xfe"),
    ],
)
def test_no_row_depends_on_what_is_beside_the_store(
    name: str, held: bytes | str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).unlink()
    if isinstance(held, bytes):
        (folder / name).write_bytes(held)
    else:
        os.mkfifo(folder / name)
    change(folder, "UPDATE rows SET row = '{' WHERE topic = 3")
    assert optsum.status(folder).done == 19
    assert main(["merge", "run", "-o", "all.jsonl"]) == 1
    assert len(list(read_rows("all.jsonl"))) == 19
    if isinstance(held, bytes):
        Path("e.toml").write_text('topics = "t.jsonl"\nstrategy = "lead"\nmax-length = 4\n')
        assert main(["run", "e.toml", "run", "--resume"]) == 0
        assert len(list(read_rows(folder))) == 20
    assert "fault of optsum" not in capsys.readouterr().err


def test_rows_of_other_options_are_not_resumed_if_the_run_is_unknown(folder: Path) -> None:
    change(folder, "UPDATE facts SET sum = 'x'")
    with pytest.raises(optsum.OptionError, match="rows of other options"):
        run(folder, resume=True, max_length=3)
    Path("t.jsonl").write_text(json.dumps({"id": "other", **TOPIC}))
    with pytest.raises(optsum.OptionError, match="have changed"):
        run(folder, resume=True)


def test_topics_rewritten_during_a_run_are_reported_at_its_end_and_by_merge(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, lines = RowStore.add, Path("t.jsonl").read_text()

    def rewriting(store: RowStore, answers: list[CellRows]) -> None:
        Path("t.jsonl").write_text(lines.replace("a b c", "d d d"))
        real(store, answers)

    monkeypatch.setattr(RowStore, "add", rewriting)
    with caplog.at_level(logging.WARNING, "optsum"):
        done = run("two")
    assert "have changed" in caplog.text
    assert "while they were searched" in done.doubts[0]
    assert "two versions" in optsum.merge(["two"], "all").doubts[0]


def test_topics_changed_after_a_killed_run_are_reported_by_merge(folder: Path) -> None:
    assert optsum.merge([folder], "all").doubts == ()
    Path("t.jsonl").write_text(json.dumps({"id": "other", **TOPIC}))
    assert "have changed" in optsum.merge([folder], "other").doubts[0]
