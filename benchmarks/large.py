"""Run every command on large topics, and print seconds, memory and the answer, or the message of refusal.

    python benchmarks/large.py [--kinds sentences,references] [--commands greedy,milp] [--scale 0.1] [--limit 10]
        [--given-up 300]

There is one topic for each kind of largeness (tests/support/large_topics.py), and one process for each command, with a
time limit of --limit seconds; processes are killed after --given-up seconds. Seconds are from the start of the process
to its end, memory is its peak. Kernels are compiled beforehand.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from large_topics import KINDS, write_large  # noqa: E402 - the folder is on the path only now

OPTSUM = [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())"]
COMMANDS = {
    "solve": ["solve"],
    "greedy": ["solve", "--strategy", "greedy"],
    "vns": ["solve", "--strategy", "vns"],
    "genetic": ["solve", "--strategy", "genetic"],
    "branch-and-bound": ["solve", "--strategy", "branch-and-bound"],
    "milp": ["solve", "--strategy", "milp"],
    "labels": ["labels"],
    "enumerate": ["enumerate"],
    "frontier": ["frontier", "--lengths", "50:100:50"],
}


class Outcome(NamedTuple):
    """The outcome of a command."""

    seconds: float
    megabytes: float
    status: int | None
    said: str

    def __str__(self) -> str:
        return (
            f"{self.seconds:.0f} s, {self.megabytes:.0f} MB"
            if self.status == 0
            else f"{self.seconds:.0f} s, {self.megabytes:.0f} MB, status {self.status}"
        )


def tried(command: list[str], topics: Path, folder: Path, limit: float, given_up: float) -> Outcome:
    """Run a command on a topic in a separate process."""
    first, *flags = command
    output = folder / "answer.jsonl"
    asked = [first, str(topics), *flags, "--max-length", "100", "--time-limit", str(limit), "-o", str(output), "-q"]
    output.unlink(missing_ok=True)
    began = perf_counter()
    pid = os.fork()
    if pid == 0:
        said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.setsid()
        os.execv(OPTSUM[0], [*OPTSUM, *asked])
    killer = subprocess.Popen(["sh", "-c", f"sleep {given_up}; kill -9 -{pid}"], start_new_session=True)
    _, status, used = os.wait4(pid, 0)
    seconds = perf_counter() - began
    os.killpg(killer.pid, signal.SIGKILL)
    killer.wait()
    answer = output.read_text(encoding="utf-8")[-100_000_000:] if output.exists() else ""
    said = (folder / "said").read_text(errors="replace") + " | " + summary(answer)
    code = os.waitstatus_to_exitcode(status)
    return Outcome(seconds, used.ru_maxrss * 1024 / 1e6, code, said)


def summary(answer: str) -> str:
    """Return a short description of how a row's search ended."""
    found = []
    for line in answer.splitlines()[:2]:
        row = json.loads(line)
        names = ("status", "termination", "objective", "bound", "seconds", "error", "detail", "count", "complete")
        found.append(", ".join(f"{name} {row[name]}" for name in names if row.get(name) not in (None, "")))
    return " / ".join(found)[:600]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--given-up", type=float, default=300.0)
    given = parser.parse_args()
    subprocess.run([*OPTSUM, "warm-up", "-q"], check=False)
    with TemporaryDirectory(prefix="optsum-large-") as place:
        folder = Path(place)
        for kind in given.kinds.split(","):
            size = int(KINDS[kind][0] * given.scale)
            topics = write_large(folder / "large.jsonl", kind, size)
            print(f"== {size} {kind}: {topics.stat().st_size / 1e6:.1f} MB", flush=True)
            for name in given.commands.split(","):
                outcome = tried(COMMANDS[name], topics, folder, given.limit, given.given_up)
                print(f"{name:18} {outcome}: {outcome.said.strip()[:700]}", flush=True)


if __name__ == "__main__":
    main()
