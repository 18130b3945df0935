"""Look at the processes of this machine, for tests of signals, and run the programs of this folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["answers_of", "children_of", "living", "parents", "printed_by", "wait_for", "wait_for_work"]


def wait_for(condition: Callable[[], object], seconds: float = 90) -> None:
    """Wait until a condition holds, and fail if it does not within the given seconds."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


def parents() -> dict[int, int]:
    """Return the parent of each process that is not a zombie."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                found[int(folder.name)] = int(parent)
    return found


def living() -> set[int]:
    """Return all processes that are not zombies."""
    return set(parents())


def children_of(process: int) -> set[int]:
    """Return all descendants of a process."""
    started, found = parents(), {process}
    while more := {child for child, parent in started.items() if parent in found} - found:
        found |= more
    return found - {process}


def wait_for_work(process: int, seconds: float) -> None:
    """Wait until a process and its descendants have used so many seconds of processor time, whatever the load is."""
    begun = _worked(process)
    wait_for(lambda: _worked(process) - begun >= seconds, 300)


def _worked(process: int) -> float:
    ticks = 0
    for each in {process} | children_of(process):
        with suppress(OSError):  # the process may have ended
            user, system = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:13]
            ticks += int(user) + int(system)
    return ticks / os.sysconf("SC_CLK_TCK")


_ONE_BY_ONE = """
import json, os, sys
from optsum.cli import main
out = os.dup(1)
for arguments in json.loads(sys.argv[1]):
    status = main(arguments)
    os.dup2(out, 1)  # which an unusable file closes
    for stream in (sys.stdout, sys.stderr):
        print(f"\\0{status}", end="\\0", file=stream, flush=True)
"""


def answers_of(commands: list[list[str]], **how: Any) -> list[subprocess.CompletedProcess[str]]:
    """Run commands of optsum one after the other in a single new process; return the status and output of each."""
    done = subprocess.run(
        [sys.executable, "-c", _ONE_BY_ONE, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        **how,
    )
    assert done.returncode == 0, done.stderr
    (*out, _), (*err, _) = done.stdout.split("\0"), done.stderr.split("\0")
    assert len(out) == len(err) == 2 * len(commands)
    found = zip(commands, out[1::2], out[::2], err[::2], strict=True)
    return [subprocess.CompletedProcess(args, int(status), *said) for args, status, *said in found]


def printed_by(script: str, *arguments: str, **environment: str) -> Any:
    """Return the JSON that a program in this folder prints."""
    folder = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, str(folder / script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        # PYTHONSAFEPATH keeps a script's own folder from the import path.
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
