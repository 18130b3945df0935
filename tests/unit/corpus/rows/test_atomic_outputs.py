"""Check that outputs of every format are whole or absent, whatever ends a run, and that nothing else is overwritten."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.cli import main
from optsum.corpus.row_files import RowWriter, read_rows
from optsum.errors import OptionError
from optsum.system.files import replacing

NAMES = ["jsonl", "jsonl.gz", "jsonl.zst", "csv", "csv.gz", "csv.zst", "parquet"]
TOPIC = {"documents": [["a b", "b c", "a c d", "d"]], "references": [["a b c"], ["c d"]]}


def old_and_new(path: Path) -> bytes:
    with RowWriter(path) as rows:
        rows.write({"id": "old"})
    return path.read_bytes()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.jsonl").write_text("".join(json.dumps({"id": f"t{n}", **TOPIC}) + "\n" for n in range(6)))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, OptionError, RuntimeError, GeneratorExit])
@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_fails_leaves_the_old_output(name: str, error: type[BaseException]) -> None:
    path = Path(f"rows.{name}")
    before = old_and_new(path)
    with pytest.raises(error):
        fails(path, error, existing="overwrite")
    assert path.read_bytes() == before
    assert [row["id"] for row in read_rows(Path(f"{path}.part"))] == ["new"]
    fresh = Path(f"fresh.{name}")
    with pytest.raises(error):
        fails(fresh, error)
    interrupted = name == "jsonl" and error is KeyboardInterrupt  # an interrupted run keeps its finished rows
    assert fresh.exists() == interrupted
    fresh.unlink(missing_ok=True)
    with pytest.raises(error):
        fails(fresh, error, existing="overwrite", derived=True)
    assert not [each for each in Path.cwd().iterdir() if each.name.startswith("fresh")]


def fails(path: Path, error: type[BaseException], **how: Any) -> None:
    with RowWriter(path, **how) as rows:
        rows.write({"id": "new"})
        raise error


LIMITED = """
import json, resource, sys
sys.dont_write_bytecode = True  # half a file of it would stay
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from optsum.cli import main
print([main(arguments) for arguments in json.loads(sys.argv[2])])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a limit as POSIX has it")
def test_a_full_disk_leaves_the_old_output_of_merge() -> None:
    optsum.run({"topics": "t.jsonl", "strategy": "lead", "max_length": 4}, "run", progress=False)
    endings = ("jsonl", "csv", "csv.gz", "parquet")
    before = {path: old_and_new(path) for path in (Path(f"all.{ending}") for ending in endings)}
    commands = [["merge", "run", "-o", str(path), "--overwrite"] for path in before]
    commands += [["merge", "run", "-o", f"fresh.{ending}"] for ending in endings]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "1000", json.dumps(commands)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == f"{[2] * 8}\n", done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in before} == before
    assert {each.name for each in Path.cwd().iterdir()} == {*map(str, before), "run", "t.jsonl"}


COMMANDS: dict[str, list[str]] = {
    "solve": ["solve", "t.jsonl", "--strategy", "lead", "--max-length", "4"],
    "compare": ["compare", "t.jsonl", "--strategies", "lead,random", "--exact", "none", "--max-length", "4"],
    "labels": ["labels", "t.jsonl", "--strategy", "lead", "--max-length", "4"],
    "align": ["align", "t.jsonl"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["link", "dangling", "part", "part of pipe", "hard"])
def test_no_link_is_followed(command: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = Path("target")
    if kind != "dangling":
        target.write_text("precious\n")
    place = Path("out.jsonl.part" if "part" in kind or kind == "hard" else "out.jsonl")
    if kind == "part of pipe":
        os.mkfifo(place)
    elif kind == "hard":
        place.hardlink_to(target)
    else:
        place.symlink_to(target)
    assert main([*COMMANDS[command], "-o", "out.jsonl", "--overwrite"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert target.exists() == (kind != "dangling")
    assert kind == "dangling" or target.read_text() == "precious\n"


def test_links_in_the_folder_of_a_run_are_not_followed() -> None:
    given = {"topics": "t.jsonl", "strategy": "lead", "max_length": 4}
    for name in ("config.toml", "environment.json", "rows.sqlite", "rows.sqlite-wal", "rows.sqlite-shm", "lock"):
        folder = Path(f"run-{name}")
        folder.mkdir()
        (folder / name).symlink_to(Path("target").absolute())
        with pytest.raises(OptionError, match=r"symbolic link|holds files that are not of a run"):
            optsum.run(given, folder, resume=True, progress=False)
        assert not Path("target").exists()


def test_pages_and_exports_are_whole() -> None:
    Path("target").write_text("precious\n")
    Path("page.html").symlink_to("target")
    assert main([*COMMANDS["solve"], "-o", "rows.jsonl"]) == 0
    assert main(["report", "rows.jsonl", "-o", "page.html", "--overwrite"]) == 2
    Path("out").mkdir()
    Path("out/t0.lp").symlink_to(Path("target").absolute())
    assert main(["export", "t.jsonl", "-o", "out", "--max-length", "4"]) == 1
    assert Path("target").read_text() == "precious\n"
    assert sorted(each.name for each in Path("out").iterdir()) == [f"t{n}.lp" for n in range(6)]


def test_replacing_leaves_the_old_file_if_anything_fails() -> None:
    path = Path("a.txt")
    path.write_text("old")
    path.chmod(0o604)
    with pytest.raises(TypeError), replacing(path) as new:
        new.write_bytes(b"half", 1)  # type: ignore[call-arg]
    assert path.read_text() == "old"
    with replacing(path) as new:
        new.write_text("new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o604)
    assert sorted(each.name for each in Path.cwd().iterdir()) == ["a.txt", "t.jsonl"]


def test_devices_get_rows_at_once() -> None:
    with RowWriter("/dev/null", existing="overwrite") as rows:
        rows.write({"id": 1})
    done = subprocess.run(
        [sys.executable, "-m", "optsum", *COMMANDS["solve"], "-o", "/dev/stdout"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["id"] for line in done.stdout.splitlines() if line[:1] == "{"] == [
        f"t{n}" for n in range(6)
    ]


@pytest.mark.parametrize(("name", "mode"), [("/dev/stdout", "wb"), ("/dev/fd/1", "ab"), ("/proc/self/fd/1", "wb")])
def test_an_open_file_is_not_overwritten(name: str, mode: str) -> None:
    if not Path(name).parent.is_dir():
        pytest.skip("this system has no such name")
    Path("seen").write_text("before\n")
    rows = [sys.executable, "-m", "optsum", *COMMANDS["solve"], "-o", name]
    page = [sys.executable, "-m", "optsum", "report", "rows.jsonl", "-o", name, "--overwrite"]
    assert main([*COMMANDS["solve"], "-o", "rows.jsonl"]) == 0
    for command in (rows, page):
        with Path("seen").open(mode) as seen:
            seen.write(b"one line\n")
            seen.flush()
            done = subprocess.run(command, stdout=seen, stderr=subprocess.PIPE, text=True, check=False)
            assert done.returncode == 0, done.stderr
            seen.write(b"last line\n")
        lines = Path("seen").read_text().splitlines()
        assert "one line" in lines[: 2 + 9 * (mode == "ab")]
        assert lines[-1] == "last line"
        if command is rows:
            assert [json.loads(line)["id"] for line in lines if line[:1] == "{"] == [f"t{n}" for n in range(6)]
            assert any(line.startswith("6 problems") for line in lines)
        else:
            assert any("<html" in line for line in lines)
            assert any("</html>" in line for line in lines)


# Cells that a spreadsheet would run as formulas.

CELLS = [
    "=1+2",
    "+SUM(A1)",
    "-2+3",
    "@x",
    "\tx",
    "\rx",
    "'=x",
    "''=x",
    "'x",
    "x",
    "-5",
    "+1.5e3",
    "-",
    "a=b",
    "",
    "-3/4",
]


def rows_of(cells: list[str]) -> list[dict[str, Any]]:
    return [{"id": f"r{number}", "text": cell, "n": -5, "list": [cell]} for number, cell in enumerate(cells)]


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize("name", ["csv", "csv.gz"])
def test_cells_are_read_back_as_they_were(name: str, safe: bool) -> None:
    path = Path(f"r.{name}")
    with RowWriter(path, csv_safe=safe) as rows:
        for row in rows_of(CELLS):
            rows.write(row)
    found = [{**row, "text": row.get("text") or ""} for row in read_rows(path)]
    assert [str(row["text"]) for row in found] == CELLS
    assert [row["list"] for row in found] == [[cell] for cell in CELLS]


def test_safe_cells_begin_with_no_sign_of_a_formula() -> None:
    with RowWriter("r.csv", csv_safe=True) as rows:
        for row in rows_of(CELLS):
            rows.write({**row, "=x": 1})
    with Path("r.csv").open(newline="") as held:
        cells = [cell for line in csv.reader(held) for cell in line]
    assert not [cell for cell in cells if cell[:1] in set("=+-@\t\r") and cell not in CELLS]
    assert "'=1+2" in cells
    assert "'=x" in cells


def test_cells_that_a_spreadsheet_runs_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.jsonl").write_text(json.dumps({"id": "=cmd|' /C calc'!A0", **TOPIC}))
    assert main([*COMMANDS["solve"], "-o", "r.csv"]) == 0
    assert "id of row 1" in capsys.readouterr().err
    assert main([*COMMANDS["solve"], "-o", "r.csv", "--overwrite", "--csv-safe"]) == 0
    assert "spreadsheet" not in capsys.readouterr().err
    assert "'=cmd" in Path("r.csv").read_text()
    assert main([*COMMANDS["solve"], "-o", "r.csv", "--resume", "--csv-safe"]) == 0
    assert [row["id"] for row in read_rows("r.csv")] == ["=cmd|' /C calc'!A0"]
