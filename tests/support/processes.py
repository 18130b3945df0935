"""Looking at the processes of this machine, as tests about signals do, and starting programs that support tests."""

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

__all__ = ["children_of", "living", "parents", "printed_by", "wait_for", "wait_for_work"]


def wait_for(condition: Callable[[], object], seconds: float = 90) -> None:
    """Return as soon as a condition holds; fail if that does not happen in time."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


def parents() -> dict[int, int]:
    """Return all processes that are no zombies, with the process that each was started by."""
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
    """Return all processes that are no zombies."""
    return set(parents())


def children_of(process: int) -> set[int]:
    """Return the processes below one, at any depth."""
    started, found = parents(), {process}
    while more := {child for child, parent in started.items() if parent in found} - found:
        found |= more
    return found - {process}


def wait_for_work(process: int, seconds: float) -> None:
    """Return when a process and those below it have worked for so long: a busy machine takes longer for as much."""
    begun = _worked(process)
    wait_for(lambda: _worked(process) - begun >= seconds, 300)


def _worked(process: int) -> float:
    ticks = 0
    for each in {process} | children_of(process):
        with suppress(OSError):  # it has ended
            user, system = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:13]
            ticks += int(user) + int(system)
    return ticks / os.sysconf("SC_CLK_TCK")


def printed_by(script: str, *arguments: str, **environment: str) -> Any:
    """Return the JSON that a program in this folder prints."""
    folder = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, str(folder / script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        # Under PYTHONSAFEPATH a script does not find its neighbours.
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
