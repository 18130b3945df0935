"""Kill the driver, workers, dask workers and dask scheduler of runs at random times, and check the rows.

    python benchmarks/kills.py [--kills 40] [--topics 5000] [--data TOPICS] [--seed 0] [--only loky|dask]

Every kill is followed by ``optsum run --resume``. A complete run is compared with an undisturbed one: sorted rows must
be equal byte for byte, except for times. Then a new run begins. A worker is a process that has searched topics of this
run; every search writes a line in a log. 5 seconds after the end of the driver, no process that it started may be
alive. No committed row may be lost or written again, and no topic may be searched again once its row is committed.
Kills after the end of a run do not count. The table is Markdown; the exit status is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SUPPORT = ROOT / "tests" / "support"
sys.path.insert(0, str(SUPPORT))

from processes import children_of, living  # noqa: E402 - the folder is on the path only now
from searched import LOG, searches  # noqa: E402
from timeless import timeless  # noqa: E402

from optsum.corpus.row_files import read_rows  # noqa: E402
from optsum.experiments import environment  # noqa: E402

OPTSUM = [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())"]
MARK = "OPTSUM_KILLS"
KILL, TERM, INT = signal.SIGKILL, signal.SIGTERM, signal.SIGINT

LOCAL = [("driver", KILL), ("worker", KILL), ("all", INT), ("worker", TERM), ("driver", TERM), ("driver", INT)]
DASK = [("driver", KILL), ("worker", KILL), ("scheduler", KILL), ("driver", INT), ("worker", TERM), ("nanny", KILL),
        ("scheduler", TERM), ("driver", TERM)]  # fmt: skip
GOES_ON = {("worker", KILL), ("worker", TERM), ("nanny", KILL)}
"""Kills after which the run may continue, so that Ctrl-C ends it. (With loky, TERM to a worker ends the run.)"""


class Kill(NamedTuple):
    """A kind of process to kill, and the signal."""

    whom: str
    by: signal.Signals
    dask: bool

    def __str__(self) -> str:
        return f"{self.by.name} to {'the' if self.whom != 'all' else ''} {self.whom}".replace("  ", " ")


class Outcome(NamedTuple):
    """Result of a kill: rows before and after, the driver's exit status, seconds to its end, remaining processes."""

    kill: Kill
    before: int
    after: int
    status: int | None
    ended_s: float
    gone_s: float
    faults: int


class Cluster:
    """A dask scheduler and two workers, started by dask's commands."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._folder, self._log = folder, log
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self) -> str:
        """Start the processes that do not run, and return the scheduler's address."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.stop()
            named = self._folder / f"scheduler-{uuid.uuid4().hex}.json"
            self.scheduler = self._begin("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                                         "--scheduler-file", str(named))  # fmt: skip
            until = time.monotonic() + 60
            while not (named.exists() and named.read_text().strip().endswith("}")):
                assert time.monotonic() < until, "no scheduler"
                time.sleep(0.1)
            self.address = json.loads(named.read_text())["address"]
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            self.workers.append(
                self._begin("worker", self.address, "--nthreads", "1", "--no-dashboard", "--death-timeout", "20",
                            "--local-directory", str(self._folder))
            )  # fmt: skip
        return str(self.address)

    def _begin(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", what, *arguments]
        quiet = subprocess.DEVNULL
        own = {**os.environ, LOG: str(self._log), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
        return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True, env=own)

    def stop(self) -> None:
        """End all processes of the cluster."""
        for process in [self.scheduler, *self.workers]:
            if process is not None:
                for child in children_of(process.pid) | {process.pid}:
                    _send(child, KILL)
                process.wait()
        self.scheduler, self.workers = None, []


def _send(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def started(mark: str) -> set[int]:
    """Return the living processes with a mark in their environment: a driver, and all that it started."""
    found, wanted = set(), f"{MARK}={mark}".encode()
    for process in living():
        try:
            if wanted in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
                found.add(process)
        except OSError:
            continue
    return found


def durable(folder: Path) -> set[tuple[int, int, float]]:
    """Return the committed rows of a run, and when they were written."""
    if not (folder / "rows.sqlite").exists():
        return set()
    with sqlite3.connect(folder / "rows.sqlite") as database, suppress(sqlite3.OperationalError):  # no table yet
        return set(database.execute("SELECT topic, cell, at FROM rows WHERE status != 'error'"))
    return set()


class Trial:
    """A series of kills, and the faults that they showed."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        self.folder, self.random = folder, random.Random(arguments.seed)
        self.faults: list[str] = []
        self.outcomes: list[Outcome] = []
        self.compared = 0
        self.log = folder / "searched.txt"
        self.cluster = Cluster(folder, self.log)
        self.topics = self._make(arguments.data, arguments.topics)
        self.total = arguments.topics
        self.experiment = folder / "experiment.toml"
        self.experiment.write_text(
            f'topics = "{self.topics}"\nformulation = "{SUPPORT / "searched.py"}:Searched"\n'
            'strategy = "branch-and-bound"\nmetric = "rouge-2"\nmax-length = 60\n'
        )
        self.runs = 0

    def _make(self, data: Path, count: int) -> Path:
        """Write topics whose ids are their numbers."""
        found = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
        path = self.folder / "topics.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number in range(count):
                file.write(json.dumps({**found[number % len(found)], "id": str(number)}) + "\n")
        return path

    @property
    def run(self) -> Path:
        """The folder of the current run."""
        return self.folder / f"run-{self.runs}"

    def fault(self, text: str) -> None:
        self.faults.append(text)
        print("WRONG:", text, file=sys.stderr, flush=True)

    @contextmanager
    def driver(self, folder: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
        mark = uuid.uuid4().hex
        process = subprocess.Popen(
            [*OPTSUM, "run", str(self.experiment), str(folder), "--resume", "--workers", "2", "-q", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, MARK: mark, LOG: str(self.log)},
        )  # fmt: skip
        try:
            yield process, mark
        finally:
            for each in started(mark):
                _send(each, KILL)
            process.wait()

    def undisturbed(self) -> float:
        """Make the undisturbed run for comparison, and return the seconds from its first row to the last."""
        with self.driver(self.folder / "undisturbed") as (process, _):
            _, err = process.communicate()
            if process.returncode:
                self.fault(f"the undisturbed run ended with {process.returncode}: {err}")
        self.rows = timeless(read_rows(self.folder / "undisturbed"))
        self.log.unlink()
        moments = [at for _, _, at in durable(self.folder / "undisturbed")]
        return max(moments) - min(moments)

    def kill(self, kill: Kill, longest: float) -> bool:
        """Continue the run for a random time, kill a process, and check the rest; return whether the kill came in time.

        Parameters
        ----------
        longest : float
            Maximum seconds before the kill, once there are rows.
        """
        faults, before, said = len(self.faults), durable(self.run), len(self.outcomes) + 1
        flags = ["--executor", "dask", "--scheduler", self.cluster.start()] if kill.dask else []
        with self.driver(self.run, *flags) as (process, mark):
            victim = self._victim(kill, process, before, longest)
            if victim is not None:
                (os.killpg if kill.whom == "all" else _send)(victim, kill.by)
            sent = time.monotonic()
            if victim is not None and (kill.whom, kill.by) in GOES_ON:
                time.sleep(self.random.uniform(0.5, 2.0))
                if process.poll() is not None and kill.by is KILL and process.returncode:
                    self.fault(f"{said}: the run ended with {process.returncode} after {kill}")
                sent = time.monotonic()
                _send(process.pid, INT)
            try:
                _, err = process.communicate(timeout=90)
            except subprocess.TimeoutExpired:
                self.fault(f"{said}: the run hangs after {kill}")
                return True
            ended = time.monotonic()
            while (left := started(mark)) and time.monotonic() < ended + 5:
                time.sleep(0.05)
            gone = time.monotonic()
            if left:
                self.fault(f"{said}: {len(left)} processes are left 5 s after {kill}")
            if "Traceback" in err:
                self.fault(f"{said}: a traceback after {kill}: {err[-2000:]}")
        after = durable(self.run)
        self._check(said, before, after)
        found = len(self.faults) - faults
        outcome = Outcome(kill, len(before), len(after), process.returncode, ended - sent, gone - ended, found)
        late = "too late" if victim is None else ""
        print(f"{said:3} {kill}, {'dask' if kill.dask else 'loky'}: {late} {outcome[1:]} "
              f"{err.strip()}", file=sys.stderr, flush=True)  # fmt: skip
        if victim is not None:
            self.outcomes.append(outcome)
        if len(after) >= self.total:
            self.compare()
        return victim is not None

    def _victim(
        self, kill: Kill, process: subprocess.Popen[str], before: set[tuple[int, int, float]], longest: float
    ) -> int | None:
        """Return the process to kill when the time has come, or None if the run ended before."""
        until = time.monotonic() + 90
        early = self.random.random() < 0.2  # one kill in five may come during the start
        while not early and process.poll() is None and time.monotonic() < until:
            early = len(durable(self.run)) > len(before)
            time.sleep(0.02)
        time.sleep(self.random.uniform(0.0, longest))
        while process.poll() is None and time.monotonic() < until:
            if kill.whom in {"driver", "all"}:
                return process.pid
            if kill.whom == "scheduler":
                return self.cluster.scheduler.pid if self.cluster.scheduler is not None else None
            if kill.whom == "nanny":
                return self.random.choice(self.cluster.workers).pid
            above = [worker.pid for worker in self.cluster.workers] if kill.dask else [process.pid]
            below = {child for each in above for child in children_of(each)}
            if workers := sorted(below & {worker for _, worker, _ in searches(str(self.log))}):
                return self.random.choice(workers)
            time.sleep(0.02)  # no worker has begun
        return None

    def _check(self, said: int, before: set[tuple[int, int, float]], after: set[tuple[int, int, float]]) -> None:
        """Check that committed rows are still there and unchanged."""
        if not before <= after:
            self.fault(f"{said}: {len(before - after)} durable rows were lost or written again")
        since = {str(topic): at for topic, _, at in after}
        again = {name for moment, _, name in searches(str(self.log)) if moment > since.get(name, moment)}
        if again:
            self.fault(f"{said}: {len(again)} topics were searched again when their rows were durable")

    def compare(self) -> None:
        """Compare a complete run with the undisturbed one, and begin a new run."""
        if timeless(read_rows(self.run)) != self.rows:
            self.fault(f"the rows of {self.run.name} differ from the undisturbed ones")
        shutil.rmtree(self.run)
        self.log.unlink()
        self.compared += 1
        self.runs += 1

    def finish(self) -> None:
        """Complete the last run."""
        before = durable(self.run)
        with self.driver(self.run) as (process, _):
            process.communicate()
        self._check(len(self.outcomes), before, durable(self.run))
        self.compare()

    def table(self) -> str:
        """Return the table of results, in Markdown."""
        names = ["", "killed", "executor", "durable before", "after", "exit status", "s to its end", "s until all went",
                 "faults"]  # fmt: skip
        lines = [f"| {' | '.join(names)} |", "|---:|---|---|---:|---:|---:|---:|---:|---:|"]
        for number, (kill, before, after, status, ended, gone, faults) in enumerate(self.outcomes, 1):
            lines.append(f"| {number} | {kill} | {'dask' if kill.dask else 'loky'} | {before} | {after} | {status} | "
                         f"{ended:.1f} | {gone:.1f} | {faults} |")  # fmt: skip
        return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--topics", type=int, default=5000)
    parser.add_argument("--data", type=Path, default=ROOT / "examples" / "data" / "news.jsonl")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["loky", "dask"])
    arguments = parser.parse_args()
    local = [Kill(*kind, dask=False) for kind in LOCAL] if arguments.only != "dask" else []
    kinds = cycle(local + ([Kill(*kind, dask=True) for kind in DASK] if arguments.only != "loky" else []))
    with TemporaryDirectory(prefix="optsum-kills-") as place:
        trial = Trial(Path(place), arguments)
        seconds = trial.undisturbed()
        try:
            for _ in range(arguments.kills):
                kill, tries = next(kinds), 0
                while not trial.kill(kill, longest=min(10.0, seconds / 2)) and tries < 5:
                    tries += 1
            trial.finish()
        finally:
            trial.cluster.stop()
    machine = environment([])["machine"]
    print(trial.table())
    took = f"{arguments.topics} topics, undisturbed {seconds:.1f} s from the first row to the last"
    print(f"\n{machine['cores']} x {machine['processor']}; load at the end {os.getloadavg()[0]:.1f}; {took}")
    print(f"{len(trial.outcomes)} kills; {trial.compared} complete runs, compared; {len(trial.faults)} faults")
    for fault in trial.faults:
        print("WRONG:", fault)
    return 1 if trial.faults else 0


if __name__ == "__main__":
    sys.exit(main())
