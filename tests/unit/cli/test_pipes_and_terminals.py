"""Test a command in a process of its own: broken pipes, terminals, full disks, and compiling."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import optsum
from optsum.system.compiled import Kernel

OPTSUM = [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())"]
NEWS = str(Path(__file__).parents[3] / "examples" / "data" / "news.jsonl")

SMALL = {"documents": [["a b", "b c"]], "references": [["a b c"]]}
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and terminals as POSIX has them")


def write(path: Path, topics: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps({"id": f"t{number}", **topic}) + "\n" for number, topic in enumerate(topics)))
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    for held in (path, Path(f"{path}.part")):  # where rows are during a run, and after it was killed
        with suppress(FileNotFoundError):
            return [json.loads(line) for line in held.read_text().splitlines()]
    return []


@pytest.mark.parametrize("command", ["solve", "compare"])
def test_a_closed_pipe_is_no_error(tmp_path: Path, command: str) -> None:
    topics = write(tmp_path / "topics.jsonl", [SMALL] * 300)
    strategy = ["--strategy" if command == "solve" else "--strategies", "lead"]
    process = subprocess.Popen(
        [*OPTSUM, command, str(topics), "--max-length", "3", *strategy],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    if command == "solve":
        assert json.loads(process.stdout.readline())["id"] == "t0"
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["list", "metrics"], ["solve", NEWS, "--max-length", "30"]], ids=["list", "solve"]
)
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*OPTSUM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


def on_terminal(arguments: list[str], streams: str, **environment: str) -> tuple[int, str, str]:
    """Run optsum with a terminal for some streams ("out", "err"); return its status, output and terminal output."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [*OPTSUM, *arguments],
        stdout=end if "out" in streams else subprocess.PIPE,
        stderr=end if "err" in streams else subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm", "NO_COLOR": "1", **environment},
        text=True,
    )
    os.close(end)
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:  # raised on Linux when the other end is closed
        pass
    finally:
        os.close(terminal)
    out, _ = process.communicate(timeout=60)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode().replace("\r", "\n"))
    return process.returncode, out or "", text


def test_a_terminal_shows_a_table_and_a_summary(tmp_path: Path) -> None:
    status, _, shown = on_terminal(["solve", NEWS, "--max-length", "50", "-o", str(tmp_path / "rows.jsonl")], "out")
    lines = [line.rstrip() for line in shown.split("\n") if line.strip()]
    assert status == 0
    assert lines[0] == "rouge-1 recall, at most 50 words"
    assert lines[1].split() == ["id", "objective", "bound", "gap", "status", "length", "units", "time"]
    rows = rows_of(tmp_path / "rows.jsonl")
    for line, row in zip(lines[3:], rows, strict=False):
        cells = line.split()
        assert cells[:5] == [row["id"], f"{row['objective']:.4f}", f"{row['bound']:.4f}", "0.0%", "optimal"]
        assert cells[5 : 6 + len(row["selection"])] == [str(row["length"]), *map(str, row["selection"])]
    assert lines[-1].startswith("8 problems: 8 optimal; mean objective 0.4")


def test_a_long_table_is_cut(tmp_path: Path) -> None:
    topics = write(tmp_path / "topics.jsonl", [SMALL] * 60)
    _, _, shown = on_terminal(["solve", str(topics), "--max-length", "3"], "out")
    assert len(re.findall(r"^t\d+ ", shown, re.MULTILINE)) == 50
    assert "... and 10 more: -o FILE writes all" in shown


def test_progress_is_for_terminals() -> None:
    status, out, shown = on_terminal(["solve", NEWS, "--max-length", "50"], "err")
    assert status == 0
    assert len(out.splitlines()) == 8
    assert "8/8 topics" in shown.replace("\n", " ")


def test_errors_are_shown_beside_the_table(tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps({"id": "[red]x", **SMALL}) + "\nnot JSON\n")
    status, _, shown = on_terminal(["solve", str(topics), "--max-length", "3"], "out err")
    assert status == 1
    assert "[red]x" in shown
    assert "2 problems: 1 optimal, 1 error" in shown
    assert "optsum: 1 of 2 rows is an error;" in shown


@pytest.mark.slow
def test_compiling_is_announced_kept_and_no_part_of_the_first_time(tmp_path: Path) -> None:
    topics = write(tmp_path / "topics.jsonl", [{"documents": [["a b", "b c"]], "cover": [[[0], [1]]]}] * 3)
    command = ["solve", str(topics), "--formulation", "cover", "--strategy", "milp"]  # milp has few kernels
    for announced in (1, 0):
        cold = {"NUMBA_CACHE_DIR": str(tmp_path), "OPTSUM_PATIENCE": "0"}
        status, out, shown = on_terminal(command, "err", **cold)
        rows = [json.loads(line) for line in out.splitlines()]
        assert (status, shown.count("Compiling kernels")) == (0, announced)
        if announced:
            assert rows[0]["statistics"]["warm_up_s"] > max(row["seconds"] for row in rows)


@pytest.mark.slow
@pytest.mark.skipif("OPTSUM_WHEEL" not in os.environ, reason="what was compiled here may be of any day")
def test_no_kernel_is_compiled_twice() -> None:
    """Check the kept kernels; one compiled twice got an array or a literal of another type (see benchmarks)."""
    kept = {
        f"{module.__name__}.{kernel.__name__}": len(kernel.dispatcher._cache._cache_file._load_index())
        for each in walk_packages(optsum.__path__, "optsum.")
        if not each.name.endswith("__main__")
        for module in [import_module(each.name)]
        for kernel in vars(module).values()
        if isinstance(kernel, Kernel) and kernel.__module__ == each.name and kernel.is_kept
    }
    assert len(kept) > 100
    in_floats_and_integers = {"optsum.program.sum_bound._profits"}  # floats in searches, integers in proofs
    assert {name for name, times in kept.items() if times > 1} <= in_floats_and_integers
