"""Check that a run that is interrupted or killed keeps its finished rows and leaves no process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from processes import children_of, living, wait_for, wait_for_work
from spoken import spoken

OPTSUM = [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())"]

SMALL = {"documents": [["a b", "b c"]], "references": [["a b c"]]}
# More selections than can be visited.
HUGE = {
    "documents": [[f"w{number} w{number + 1}" for number in range(44)]],
    "references": [[f"w{number}" for number in range(44)]],
}

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to look for processes in"),
]


def write(path: Path, topics: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps({"id": f"t{number}", **topic}) + "\n" for number, topic in enumerate(topics)))
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    # During a run, and after it was killed, rows are in OUT.part, which is renamed to OUT, maybe between two looks.
    for held in (path, Path(f"{path}.part"), path):
        with suppress(FileNotFoundError):
            return [json.loads(line) for line in held.read_text().splitlines()]
    return []


Start = Callable[[list[Any]], subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts optsum in a process group of its own, which is killed after the test."""
    begun: list[subprocess.Popen[str]] = []

    def start(arguments: list[Any]) -> subprocess.Popen[str]:
        command = [*OPTSUM, *map(str, arguments)]
        pipe = subprocess.PIPE
        begun.append(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True))
        return begun[-1]

    yield start
    for process in begun:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "kill"),
    [(signal.SIGTERM, os.kill), (signal.SIGTERM, os.killpg), (signal.SIGKILL, os.kill)],
    ids=lambda given: given.name if isinstance(given, signal.Signals) else given.__name__,
)
def test_no_process_is_left(tmp_path: Path, number: signal.Signals, kill: Any, start: Start) -> None:
    topics, out = write(tmp_path / "topics.jsonl", [SMALL, SMALL, HUGE, HUGE]), tmp_path / "rows.jsonl"
    process = start(["solve", topics, "--strategy", "exhaustive", "--max-length", "60", "--workers", 2, "-o", out])
    wait_for(lambda: len(rows_of(out)) == 2)
    wait_for_work(process.pid, 1.5)  # the endless searches have begun
    children = children_of(process.pid)
    assert children
    kill(process.pid, number)
    _, err = process.communicate(timeout=30)
    wait_for(lambda: not children & living(), 5)
    assert [row["termination"] for row in rows_of(out)[:2]] == ["completed"] * 2
    if number is signal.SIGTERM:
        assert process.returncode == 143
        cut = len(rows_of(out)) - 2
        assert spoken(err) == f"optsum: interrupted; 2 rows done{f' and {cut} cut short' if cut else ''} in {out}\n"
        assert {row["termination"] for row in rows_of(out)[2:]} <= {"interrupted"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "group"),
    [(1, False), (2, False), (2, True)],
    ids=["one", "the first", "all, as a terminal"],
)
def test_ctrl_c_keeps_finished_rows_and_leaves_no_process(
    tmp_path: Path, workers: int, group: bool, start: Start
) -> None:
    topics = write(tmp_path / "topics.jsonl", [SMALL, SMALL, HUGE, HUGE, HUGE])
    out = tmp_path / "rows.jsonl"
    arguments = ["solve", topics, "--strategy", "exhaustive", "--max-length", "60", "--workers", workers, "-o", out]
    process = start(arguments)
    wait_for(lambda: len(rows_of(out)) == 2)
    wait_for_work(process.pid, 3.0 * workers)  # the endless searches have begun
    children = children_of(process.pid)
    if group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    shown, err = process.communicate(timeout=30)
    rows = rows_of(out)
    assert process.returncode == 130
    assert spoken(err) == f"optsum: interrupted; 2 rows done and {workers} cut short in {out}\n"
    assert "rows in" not in shown  # of a table, they are in OUT.part
    assert [row["termination"] for row in rows] == ["completed"] * 2 + ["interrupted"] * workers
    assert [row["id"] for row in rows] == [f"t{number}" for number in range(2 + workers)]
    # A process that began late may still hold the empty selection.
    assert all(row["selection"] is not None for row in rows)
    assert any(row["selection"] for row in rows[2:])
    assert rows[-1]["status"] == "feasible"
    assert bool(children) == (workers > 1)
    wait_for(lambda: not children & living(), 10)


@pytest.mark.slow
def test_ctrl_c_in_compare_shows_what_was_done(tmp_path: Path, start: Start) -> None:
    topics = write(tmp_path / "topics.jsonl", [SMALL, HUGE])
    out = tmp_path / "rows.jsonl"
    arguments = ["compare", topics, "--strategies", "greedy,exhaustive", "--max-length", "60", "-o", out]
    process = start(arguments)
    wait_for(lambda: len(rows_of(out)) == 2)
    wait_for_work(process.pid, 1.2)  # the endless search, which comes before greedy search, has begun
    process.send_signal(signal.SIGINT)
    shown, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert spoken(err) == f"optsum: interrupted; 2 rows done and 1 cut short in {out}\n"
    assert shown.startswith("1 problem: ")
    assert [(row["strategy"], row["termination"]) for row in rows_of(out)[2:]] == [("exhaustive", "interrupted")]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ortools") is None, reason="ortools is not installed")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_the_process_of_a_worker_ends_too(tmp_path: Path, number: signal.Signals, start: Start) -> None:
    words = " ".join(f"v{number * number % 97}" for number in range(400))
    large = {
        "documents": [[" ".join(f"v{(unit * step + unit) % 97}" for step in range(12)) for unit in range(150)]],
        "references": [[words]],
    }
    topics, out = write(tmp_path / "topics.jsonl", [SMALL, SMALL, large, large]), tmp_path / "rows.jsonl"
    process = start(["solve", topics, "--backend", "cp-sat", "--max-length", "200", "--workers", "2", "-o", out])
    wait_for(lambda: len(rows_of(out)) >= 2)
    time.sleep(0.5)
    children = children_of(process.pid)
    process.send_signal(number)
    process.communicate(timeout=30)
    wait_for(lambda: not children & living(), 5)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyscipopt") is None, reason="pyscipopt is not installed")
@pytest.mark.parametrize(
    ("number", "workers"),
    [(signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGINT, 2)],
    ids=lambda given: getattr(given, "name", str(given)),
)
def test_a_solver_within_a_process_lets_signals_through(
    tmp_path: Path, number: signal.Signals, workers: int, start: Start
) -> None:
    """Check that a signal ends a solver that runs inside a process, in worker processes too."""
    rng, words = np.random.default_rng(0), [f"v{word}" for word in range(500)]
    hard = {  # SCIP takes minutes
        "documents": [
            [" ".join([*rng.choice(words, 14, replace=False), *["x"] * rng.integers(8, 48)]) for _ in range(900)]
        ],
        "references": [[" ".join(word for word in words for _ in range(rng.integers(1, 4)))]],
    }
    topics, out = write(tmp_path / "topics.jsonl", [SMALL, hard, hard]), tmp_path / "rows.jsonl"
    process = start(
        [
            "solve",
            topics,
            "--strategy",
            "milp",
            "--backend",
            "scip",
            "--max-length",
            "900",
            "--workers",
            workers,
            "-o",
            out,
        ]
    )
    wait_for(lambda: len(rows_of(out)) == 1)
    wait_for_work(process.pid, 8.0 * workers)  # the solver runs: loading it alone takes a new process 3 s and more
    process.send_signal(number)
    _, err = process.communicate(timeout=45)
    assert process.returncode == 128 + number
    assert [row["termination"] for row in rows_of(out)] == ["completed", *["interrupted"] * workers]
    assert spoken(err) == f"optsum: interrupted; 1 row done and {workers} cut short in {out}\n"


_ENDINGS: Final = """
import json, os, signal, sys
from pathlib import Path

from optsum.cli import main
from optsum.corpus.row_files import RowWriter

folder, rows, places, workers, *arguments = sys.argv[1:]
assert main([*arguments, "-o", folder + "/first.jsonl"]) == 0  # so that processes find everything imported
written = {RowWriter.write.__code__, RowWriter.write_all.__code__}
for place in json.loads(places):
    sys.argv = ["optsum", *arguments, "--workers", workers, "-o", f"{folder}/rows-{place}.jsonl"]
    left, passed = int(rows), 0

    def look(frame, event, value):
        global left, passed
        passed += left <= 0
        left -= frame.f_code in written
        if passed == place:
            sys.settrace(None)
            Path(f"{folder}/sent-{place}").touch()
            signal.raise_signal(signal.SIGINT)

    if not (child := os.fork()):
        os.dup2(os.open(f"{folder}/said-{place}", os.O_WRONLY | os.O_CREAT), 2)
        sys.settrace(look)
        sys.exit(main())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    Path(f"{folder}/status-{place}").write_text(str(status))
"""


@pytest.mark.parametrize(("workers", "step"), [(1, 5), (2, 40)])
def test_ctrl_c_at_any_call_after_the_last_row_leaves_no_traceback(tmp_path: Path, workers: int, step: int) -> None:
    topics, places = write(tmp_path / "topics.jsonl", [SMALL] * 3), list(range(1, 500, step))
    command = ["solve", topics, "--strategy", "greedy", "--max-length", "3"]
    given = [sys.executable, "-c", _ENDINGS, tmp_path, 3, json.dumps(places), workers, *command]
    subprocess.run(list(map(str, given)), check=True, capture_output=True, timeout=240)
    early = 0
    for place in (each for each in places if (tmp_path / f"sent-{each}").exists()):
        out = tmp_path / f"rows-{place}.jsonl"
        said, status = (tmp_path / f"said-{place}").read_text(), (tmp_path / f"status-{place}").read_text()
        ends = {"", "optsum: interrupted\n", f"optsum: interrupted; 3 rows done in {out}\n"}
        assert spoken(said) in ends, place
        assert status == "130" or (status, said) == ("0", "")
        assert len(rows_of(out)) == 3
        early += status == "130"
    assert early > 2
    assert not (tmp_path / f"sent-{places[-1]}").exists()  # the last places are beyond the end


_CTRL_C: Final = "raise KeyboardInterrupt"


@pytest.mark.parametrize(
    ("module", "comes", "status"),
    [
        ("optsum.cli.flags", _CTRL_C, 130),
        ("optsum.cli.app", _CTRL_C, 130),
        ("optsum.cli.app", "import signal; signal.raise_signal(signal.SIGTERM)", 143),
    ],
)
def test_signals_are_heard_while_the_commands_are_imported(module: str, comes: str, status: int) -> None:
    code = (
        "import sys\n"
        "class Stops:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        f"            exec({comes!r})\n"
        "sys.meta_path.insert(0, Stops())\n"
        "from optsum.cli import main\n"
        "sys.exit(main())\n"
    )
    news = str(Path(__file__).parents[3] / "examples" / "data" / "news.jsonl")
    command = [sys.executable, "-c", code, "solve", news, "--max-length", "50"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "optsum: interrupted\n")
