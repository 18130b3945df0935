"""Test native code in a thread: its exceptions, interrupts, and threads that do not react."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from threading import Event, Timer

import pytest

from optsum.system.processes.children import environment, run_in_thread


def test_an_exception_in_the_thread_is_raised_by_the_caller() -> None:
    def work() -> None:
        raise ValueError("of the solver")

    with pytest.raises(ValueError, match="of the solver"):
        run_in_thread(work, lambda: pytest.fail("it has ended"), hears_s=1.0)


def test_a_deadline_interrupts() -> None:
    stop = Event()
    assert run_in_thread(stop.wait, stop.set, hears_s=60.0, passed=lambda: True)


def test_a_thread_that_does_not_react_is_abandoned() -> None:
    go, asked = Event(), Event()
    assert not run_in_thread(go.wait, asked.set, hears_s=0.1, passed=lambda: True)
    assert asked.is_set()
    go.set()


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process alone")
@pytest.mark.parametrize("keeps", [True, False])
def test_ctrl_c_interrupts(keeps: bool) -> None:
    stop = Event()
    timer = Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    if keeps:
        told: list[bool] = []
        assert run_in_thread(stop.wait, stop.set, hears_s=60.0, heard=lambda: told.append(True))
        assert told
    else:
        with pytest.raises(KeyboardInterrupt):
            run_in_thread(stop.wait, stop.set, hears_s=60.0)
    assert stop.is_set()
    timer.join()


@pytest.mark.parametrize("hears", [True, False])
def test_the_process_waits_for_a_thread_that_does_not_react(hears: bool) -> None:
    code = (
        "import time\n"
        "from threading import Event\n"
        "from optsum.system.processes.children import run_in_thread\n"
        "stop = Event()\n"
        "def work():\n"
        f"    stop.wait(); time.sleep({0.0 if hears else 2.0}); print('ended', flush=True)\n"
        "print(run_in_thread(work, stop.set, hears_s=0.5, passed=lambda: True), flush=True)\n"
    )
    began = time.monotonic()
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.split() == (["ended", "True"] if hears else ["False", "ended"])
    assert hears or time.monotonic() - began > 2.0


@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGTERM])
@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process alone")
def test_a_command_ends_despite_a_thread_that_does_not_react(number: signal.Signals | None) -> None:
    """Check this because the rows are written, and users would not know what the command waits for."""
    code = (
        "import atexit, os, signal, sys, time\n"
        "from threading import Event\n"
        "from optsum.cli import app\n"
        "from optsum.cli.signals import INTERRUPTED\n"
        "from optsum.system.processes import children as in_thread\n"
        "in_thread._LEAVES_S = 600.0\n"
        "atexit.register(print, 'at the end')\n"
        "def command(_):\n"
        f"    number = {None if number is None else int(number)}\n"
        "    try:\n"
        "        if number:\n"
        "            os.kill(os.getpid(), number)\n"
        "    except KeyboardInterrupt:\n"
        "        pass\n"
        "    print(in_thread.run_in_thread(lambda: time.sleep(600), lambda: None, hears_s=0.1, passed=lambda: True))\n"
        "    return INTERRUPTED if number else 0\n"
        "app._run = command\n"
        "sys.exit(app.main())\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (found.stdout, found.stderr) == ("False\nat the end\n", "")
    assert found.returncode == (0 if number is None else 128 + number)


@pytest.mark.skipif(os.name == "nt", reason="Windows starts processes another way")
@pytest.mark.parametrize(
    "child",
    [
        "made = multiprocessing.get_context('fork').Process(target=time.sleep, args=(600,)); made.start(); made.pid",
        "from optsum.running.executors import Local; crew = Local(1); crew.submit(os.getpid).result()",
    ],
    ids=["a process", "a worker of a pool"],
)
def test_a_command_ends_at_once_with_its_child_processes(child: str) -> None:
    """Check that processes waiting for work are not waited for, while exit handlers run."""
    before, _, made = child.rpartition("; ")
    code = (
        "import atexit, multiprocessing, os, sys, time\n"
        "from optsum.system.processes.children import leave\n"
        "atexit.register(print, 'at the end')\n"
        f"{before}; child = {made}\n"
        "class Taken:\n"
        "    def __del__(self):\n"
        "        print('taken down')\n"
        "taken = Taken()\n"
        "sys.stdout.write(f'{child} ')\n"
        "leave(3)\n"
    )
    began = time.monotonic()
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    pid, rest = found.stdout.split(" ", 1)
    assert (rest, found.stderr, found.returncode) == ("at the end\n", "", 3)
    assert time.monotonic() - began < 60
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_a_profiled_command_prints_the_profile() -> None:
    command = [sys.executable, "-P", "-m", "cProfile", "-m", "optsum", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "Usage" in done.stdout
    assert "function calls" in done.stdout


def test_environments_that_overlap_end_as_they_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test two threads, of which the first to enter may be the first to leave."""
    monkeypatch.setenv("OPTSUM_A", "0")
    one, other = environment({"OPTSUM_A": "1", "OPTSUM_B": "1"}), environment({"OPTSUM_A": "2", "OPTSUM_B": "2"})
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert (os.environ["OPTSUM_A"], os.environ["OPTSUM_B"]) == ("2", "2")
    other.__exit__(None, None, None)
    assert (os.environ["OPTSUM_A"], os.environ.get("OPTSUM_B")) == ("0", None)
