"""What a run survives: its driver, workers, dask workers and dask scheduler are killed at random moments.

    python benchmarks/kills.py [--kills 40] [--topics 5000] [--data TOPICS] [--seed 0]

Every kill is followed by ``optsum run --resume``; a run that is complete is compared with an undisturbed one, row by
row, sorted, byte for byte but for times, and a new one begins. After each kill nothing that the driver started may be
alive 5 seconds after its end, and no row that was durable may have been written again. The exit status is 1 if anything
is wrong.
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

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from processes import children_of, living  # noqa: E402 - the folder is on the path only now
from timeless import timeless  # noqa: E402

from optsum.rows.reading import read_rows  # noqa: E402

OPTSUM = [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())"]
MARK = "OPTSUM_KILLS"
KILL, TERM, INT = signal.SIGKILL, signal.SIGTERM, signal.SIGINT

LOCAL = [("driver", KILL), ("driver", TERM), ("driver", INT), ("worker", KILL), ("all", INT), ("worker", TERM)]
DASK = [("driver", KILL), ("dask worker", KILL), ("scheduler", KILL), ("driver", INT), ("dask worker", TERM),
        ("scheduler", TERM), ("driver", TERM)]  # fmt: skip


class Cluster:
    """A scheduler and two workers, by their own commands."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self) -> str:
        """Start what does not run, and return the scheduler's address."""
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
        return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)

    def stop(self) -> None:
        """End all of it."""
        for process in [self.scheduler, *self.workers]:
            if process is not None and process.poll() is None:
                for child in children_of(process.pid) | {process.pid}:
                    _send(child, KILL)
                process.wait()
        self.scheduler, self.workers = None, []


def _send(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def started(mark: str) -> set[int]:
    """Return the living processes that bear a mark: a driver, and all that came of it."""
    found, wanted = set(), f"{MARK}={mark}".encode()
    for process in living():
        try:
            if wanted in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
                found.add(process)
        except OSError:
            continue
    return found


def durable(folder: Path) -> set[tuple[int, int, float]]:
    """Return what a run has, and when it was written."""
    if not (folder / "rows.sqlite").exists():
        return set()
    with sqlite3.connect(folder / "rows.sqlite") as database, suppress(sqlite3.OperationalError):  # no table yet
        return set(database.execute("SELECT topic, cell, at FROM rows WHERE status != 'error'"))
    return set()


class Trial:
    """Kills one after another, and what was wrong."""

    def __init__(self, folder: Path, arguments: argparse.Namespace) -> None:
        self.folder, self.random = folder, random.Random(arguments.seed)
        self.faults: list[str] = []
        self.cluster = Cluster(folder)
        self.topics = self._make(arguments.data, arguments.topics)
        self.total = arguments.topics
        self.experiment = folder / "experiment.toml"
        self.experiment.write_text(
            f'topics = "{self.topics}"\nstrategy = "branch-and-bound"\nmetric = "rouge-2"\nmax-length = 60\n'
        )
        self.runs = 0

    def _make(self, data: Path, count: int) -> Path:
        found = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
        path = self.folder / "topics.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number in range(count):
                topic = found[number % len(found)]
                file.write(json.dumps({**topic, "id": f"{topic['id']}-{number}"}) + "\n")
        return path

    def fault(self, text: str) -> None:
        self.faults.append(text)
        print("WRONG:", text, flush=True)

    @contextmanager
    def driver(self, folder: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
        mark = uuid.uuid4().hex
        process = subprocess.Popen(
            [*OPTSUM, "run", str(self.experiment), str(folder), "--resume", "--workers", "2", "-q", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, MARK: mark},
        )  # fmt: skip
        try:
            yield process, mark
        finally:
            for each in started(mark):
                _send(each, KILL)
            process.wait()

    def undisturbed(self) -> float:
        """Make the run that the others are compared with; return its seconds."""
        began = time.monotonic()
        with self.driver(self.folder / "undisturbed") as (process, _):
            _, err = process.communicate()
            if process.returncode:
                self.fault(f"the undisturbed run ended with {process.returncode}: {err}")
        self.rows = timeless(read_rows(self.folder / "undisturbed"))
        return time.monotonic() - began

    def kill(self, number: int, whom: str, by: signal.Signals, dask: bool, longest: float) -> None:
        """Let the run go on for a random time, kill something, and look at what is left."""
        folder = self.folder / f"run-{self.runs}"
        before = durable(folder)
        flags = ["--executor", "dask", "--scheduler", self.cluster.start()] if dask else []
        with self.driver(folder, *flags) as (process, mark):
            until = time.monotonic() + 90  # getting ready is not what is tried, but at times it is
            early = self.random.random() < 0.2
            while (
                not early
                and process.poll() is None
                and len(durable(folder)) <= len(before)
                and time.monotonic() < until
            ):
                time.sleep(0.05)
            time.sleep(self.random.uniform(0.0, longest))
            ended = process.poll() is not None
            self._send(whom, by, process.pid)
            if whom in {"worker", "dask worker"} and by is KILL:  # the run goes on
                time.sleep(self.random.uniform(0.5, 2.0))
                if not ended and process.poll() not in {None, 0}:
                    self.fault(f"{number}: the run ended with {process.returncode} after {by.name} to a {whom}")
                _send(process.pid, INT)
            elif whom == "dask worker":
                time.sleep(self.random.uniform(0.5, 2.0))
                _send(process.pid, INT)
            try:
                _, err = process.communicate(timeout=90)
            except subprocess.TimeoutExpired:
                self.fault(f"{number}: the run hangs after {by.name} to the {whom}")
                return
            until = time.monotonic() + 5
            while (left := started(mark)) and time.monotonic() < until:
                time.sleep(0.1)
            if left:
                self.fault(f"{number}: {len(left)} processes are left 5 s after {by.name} to the {whom}")
            if "Traceback" in err:
                self.fault(f"{number}: a traceback after {by.name} to the {whom}: {err[-2000:]}")
        after = durable(folder)
        if not before <= after:
            self.fault(f"{number}: {len(before - after)} durable rows were lost or written again")
        moment = "after the end" if ended else f"status {process.returncode}"
        print(f"{number:3} {by.name:8} {whom:12} {'dask' if dask else 'loky'}: {len(after)} of {self.total} rows, "
              f"{moment}{'; ' + err.strip() if err.strip() else ''}", flush=True)  # fmt: skip
        if len(after) >= self.total:
            self.compare(folder)

    def _send(self, whom: str, by: signal.Signals, driver: int) -> None:
        if whom == "driver":
            _send(driver, by)
        elif whom == "all":  # as a terminal does
            with suppress(ProcessLookupError):
                os.killpg(driver, by)
        elif whom == "worker":
            if children := sorted(children_of(driver)):
                _send(self.random.choice(children), by)
        elif whom == "scheduler" and self.cluster.scheduler is not None:
            _send(self.cluster.scheduler.pid, by)
        elif self.cluster.workers:
            nanny = self.random.choice(self.cluster.workers).pid
            _send(self.random.choice([nanny, *sorted(children_of(nanny))]), by)

    def compare(self, folder: Path) -> None:
        """Compare a complete run with the undisturbed one, and begin anew."""
        if timeless(read_rows(folder)) != self.rows:
            self.fault(f"the rows of {folder.name} differ from the undisturbed ones")
        else:
            print(f"    {folder.name}: {len(self.rows)} rows equal the undisturbed ones", flush=True)
            shutil.rmtree(folder)
        self.runs += 1

    def finish(self) -> None:
        """Let the last run go to its end."""
        folder = self.folder / f"run-{self.runs}"
        with self.driver(folder) as (process, _):
            process.communicate()
        self.compare(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--topics", type=int, default=5000)
    parser.add_argument("--data", type=Path, default=ROOT / "examples" / "data" / "news.jsonl")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["loky", "dask"])
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="optsum-kills-") as place:
        trial = Trial(Path(place), arguments)
        seconds = trial.undisturbed()
        print(f"undisturbed: {arguments.topics} topics in {seconds:.1f} s", flush=True)
        local = [(*kind, False) for kind in LOCAL] if arguments.only != "dask" else []
        kinds = cycle(local + ([(*kind, True) for kind in DASK] if arguments.only != "loky" else []))
        try:
            for number, (whom, by, on_dask) in zip(range(1, arguments.kills + 1), kinds, strict=False):
                trial.kill(number, whom, by, on_dask, longest=min(10.0, seconds / 3))
            trial.finish()
        finally:
            trial.cluster.stop()
        print(f"{arguments.kills} kills; {len(trial.faults)} faults")
        return 1 if trial.faults else 0


if __name__ == "__main__":
    sys.exit(main())
