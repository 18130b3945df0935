"""Test worker processes that are forked: only where that is safe, and without locks or files of the parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from processes import children_of, wait_for

import optsum
from optsum.options.options import resolve
from optsum.running.one_problem import setup_of
from optsum.system.processes.children import ONE_THREAD

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")

START = (
    "import os, sys, threading\n"
    "from concurrent.futures import BrokenExecutor\n"
    "from optsum.running.executors import Local\n"
    "from optsum.system.files import lock\n"
    "sys.loaded_here = True\n"
    'COPIED = \'hasattr(__import__("sys"), "loaded_here")\'\n'
)


def said(code: str, *arguments: str) -> str:
    """Return the output of a program that runs in one thread."""
    done = subprocess.run(
        [sys.executable, "-c", START + code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **ONE_THREAD},
    )
    assert done.stderr == ""
    return done.stdout


def test_processes_have_what_this_one_has_loaded_and_others_take_the_place_of_one_that_dies() -> None:
    code = (
        "crew = Local(2, copied=True)\n"
        "print(crew.submit(eval, COPIED).result())\n"
        "try:\n"
        "    crew.submit(os._exit, 3).result()\n"
        "except BrokenExecutor:\n"
        "    print('died')\n"
        "print(crew.submit(abs, -3).result())\n"
        "crew.end([])\n"
    )
    assert said(code) == "True\ndied\n3\n"


def test_another_process_is_started_beside_copies_while_results_are_read() -> None:
    """Test this because loky starts a process when the memory of another has grown."""
    code = (
        "import time\n"
        "crew = Local(2, copied=True)\n"
        "print(crew.submit(eval, COPIED).result())\n"
        "executor = crew._executor\n"
        "first = set(executor._processes)\n"
        "with executor._processes_management_lock:\n"
        "    executor._max_workers += 1\n"
        "    executor._adjust_process_count()\n"
        "(added,), seen = set(executor._processes) - first, set()\n"
        "until = time.monotonic() + 60\n"
        "while added not in seen and time.monotonic() < until:\n"
        "    work = [executor.submit(os.getpid) for _ in range(50)]\n"
        "    seen |= {future.result() for future in work}\n"
        "print(added in seen)\n"
        "crew.end([])\n"
    )
    assert said(code) == "True\nTrue\n"


@pytest.mark.parametrize(
    ("before", "made"),
    [
        ("pass", "Local(1)"),
        ("pass", "Local(1, 1 << 32, copied=True)"),
        ("threading.Thread(target=threading.Event().wait, daemon=True).start()", "Local(1, copied=True)"),
    ],
    ids=["not allowed", "memory is limited", "another thread may hold a lock"],
)
def test_processes_are_started_anew_where_a_fork_is_unsafe(before: str, made: str) -> None:
    assert said(f"{before}\ncrew = {made}\nprint(crew.submit(eval, COPIED).result())\ncrew.end([])\n") == "False\n"


def test_a_file_that_is_closed_here_is_not_kept_locked(tmp_path: Path) -> None:
    code = (
        "with open(sys.argv[1], 'ab') as file:\n"
        "    print(lock(file.fileno(), sys.argv[1]))\n"
        "    crew = Local(2, copied=True)\n"
        "    print(crew.submit(eval, COPIED).result())\n"
        "    with open(sys.argv[1], 'ab') as second:\n"
        "        print(lock(second.fileno(), sys.argv[1]))\n"
        "with open(sys.argv[1], 'ab') as file:\n"
        "    print(lock(file.fileno(), sys.argv[1]))\n"
        "crew.end([])\n"
    )
    assert said(code, str(tmp_path / "rows")) == "True\nTrue\nFalse\nTrue\n"


class Own(optsum.Strategy):
    name = "own"
    about = "of a third party"

    def search(self, run: Any) -> None:
        run.prove()


@pytest.mark.parametrize(
    ("options", "may"),
    [
        ({"metric": "rouge-2"}, True),
        ({"strategy": "milp"}, True),
        ({"strategy": "milp", "backend": "cbc"}, False),
        ({"backend": "pyomo:appsi_highs"}, False),
    ],
)
def test_nothing_is_copied_that_others_may_have_opened(options: dict[str, Any], may: bool) -> None:
    setup = setup_of(resolve({"max_length": 9, **options}))
    assert setup.may_be_copied is may
    assert not replace(setup, strategy=Own()).may_be_copied


HUGE = {
    "documents": [[f"w{number} w{number + 1}" for number in range(44)]],
    "references": [[f"w{number}" for number in range(44)]],
}


def test_a_command_forks_its_workers(tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text("".join(json.dumps({"id": str(number), **HUGE}) + "\n" for number in range(9)))
    command = [sys.executable, "-m", "optsum", "solve", str(topics), "--strategy", "exhaustive", "--max-length", "60"]
    with subprocess.Popen(
        [*command, "--workers", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            mine = Path(f"/proc/{process.pid}/cmdline")
            wait_for(lambda: sum(_said_by(child) == mine.read_bytes() for child in children_of(process.pid)) == 2)
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def _said_by(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
