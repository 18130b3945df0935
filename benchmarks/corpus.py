"""Measure runs over corpora: topics per second with one process, two, and dask, and the driver's memory.

    python benchmarks/corpus.py DATA_FOLDER [--topics 20000] [--long 2000] [--memory 1000,10000,100000] [--quick]

DATA_FOLDER contains realsumm/topics.jsonl (articles of 600 words) and squality/topics.jsonl (stories of 5,000), which
are repeated with new ids. Each line is one ``optsum run`` in a separate process. The time to start is reported
separately: rates and CPU seconds, of the driver and of all its child processes, count from the first rows. Times for a
million topics are extrapolated. The driver's memory is measured for the given numbers of tiny topics with the strategy
lead, in a run, and through a pipe (``optsum solve - -o FILE``). Tables are Markdown, with the load of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from processes import children_of  # noqa: E402 - the folder is on the path only now

from optsum.experiments import environment  # noqa: E402

OPTSUM = [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())"]
TICK = os.sysconf("SC_CLK_TCK")
ONE, TWO, DASK = ["--workers", "1"], ["--workers", "2"], ["--executor", "dask", "--workers", "2"]
WAYS = {"1 process": ONE, "2 processes": TWO, "dask, 2 processes": DASK}
LOOKS_S = 0.2
"""Seconds between two snapshots of a run."""


def repeated(source: Path, count: int, folder: Path) -> Path:
    """Write a number of topics, repeated with new ids."""
    lines = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    path = folder / f"{source.parent.name}-{count}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            topic = lines[number % len(lines)]
            file.write(json.dumps({**topic, "meta": {}, "id": f"{topic['id']}-{number}"}) + "\n")
    return path


def tiny(count: int) -> Iterator[bytes]:
    """Yield lines of topics of three sentences."""
    for number in range(count):
        topic = {
            "id": f"tiny-{number}",
            "documents": [["One two three.", "Four five.", "Six."]],
            "references": [["Two."]],
        }
        yield json.dumps(topic).encode() + b"\n"


def cpu_of(process: int) -> float:
    """Return the CPU seconds that a process has used."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICK


def peak_of(process: int) -> float:
    """Return the peak memory of a process in MB."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM")), 0.0)


class Look(NamedTuple):
    """Snapshot of a run: rows, and CPU seconds of the driver and of its child processes."""

    at: float
    rows: int
    driver_s: float
    below_s: float


class Watched:
    """A process that is watched until it ends."""

    def __init__(self, command: list[str], stdin: Iterator[bytes] | None = None, store: Path | None = None) -> None:
        pipe = None if stdin is None else subprocess.PIPE
        self._process = subprocess.Popen([*OPTSUM, *command], stdout=subprocess.DEVNULL, stdin=pipe)
        self._store, self._below = store, dict[int, float]()
        self._driver_s = self.peak_mb = 0.0
        self.looks: list[Look] = []
        if stdin is not None and self._process.stdin is not None:
            with self._process.stdin as file:
                for number, line in enumerate(stdin):
                    file.write(line)
                    if number % 1000 == 0:
                        self._look()
        while self._process.poll() is None:
            self._look()
            time.sleep(LOOKS_S)
        assert self._process.returncode == 0, self._process.returncode

    def _look(self) -> None:
        process = self._process.pid
        self.peak_mb = max(self.peak_mb, peak_of(process))
        self._driver_s = max(self._driver_s, cpu_of(process))
        for child in children_of(process):
            self._below[child] = max(self._below.get(child, 0.0), cpu_of(child))
        rows = self._rows()
        if rows and not (self.looks and rows == self.looks[-1].rows):
            self.looks.append(Look(time.monotonic(), rows, self._driver_s, sum(self._below.values())))

    def _rows(self) -> int:
        """Return the approximate number of rows, because counting them would take time."""
        if self._store is not None and self._store.exists():
            with suppress(sqlite3.Error), closing(sqlite3.connect(f"{self._store.as_uri()}?mode=ro", uri=True)) as held:
                return int(held.execute("SELECT max(rowid) FROM rows").fetchone()[0] or 0)
        return 0


class Rate(NamedTuple):
    """Rate and resources of a run after its start."""

    per_second: float
    driver_ms: float
    workers_ms: float
    start_s: float
    peak_mb: float
    row_bytes: float
    load: float

    @property
    def cpu_ms(self) -> float:
        return self.driver_ms + self.workers_ms


def rate(topics: Path, options: str, flags: list[str], folder: Path) -> Rate:
    """Run an experiment and return its rate."""
    experiment, place = folder / "experiment.toml", folder / f"run-{time.monotonic_ns()}"
    experiment.write_text(f'topics = "{topics}"\n{options}')
    store = place / "rows.sqlite"
    found = Watched(["run", str(experiment), str(place), "-q", *flags], store=store)
    first, last = found.looks[0], found.looks[-1]
    assert last.rows > first.rows, "too few topics: none was done between two looks"
    with closing(sqlite3.connect(store)) as database:
        (size,) = database.execute("SELECT avg(length(row)) FROM rows").fetchone()
    done = last.rows - first.rows
    return Rate(
        done / (last.at - first.at),
        1000 * (last.driver_s - first.driver_s) / done,
        1000 * (last.below_s - first.below_s) / done,
        first.driver_s + first.below_s,
        found.peak_mb,
        size,
        os.getloadavg()[0],
    )


def rates(name: str, topics: Path, options: str, folder: Path) -> Iterator[str]:
    """Yield the lines of a table of all executors, and the extrapolation to a million topics."""
    names = [name, "a second", "x 1 process", "CPU ms a topic", "of the driver", "beside 2 processes", "CPU s to start",
             "driver MB", "load"]  # fmt: skip
    yield f"| {' | '.join(names)} |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    found: dict[str, Rate] = {}
    for by, flags in WAYS.items():
        got = found[by] = rate(topics, options, flags, folder)
        beside = f"{got.cpu_ms / found['2 processes'].cpu_ms - 1:+.1%}" if "2 processes" in found else ""
        yield (f"| {by} | {got.per_second:.1f} | {got.per_second / found['1 process'].per_second:.2f} | "
               f"{got.cpu_ms:.3f} | {got.driver_ms:.3f} | {beside} | {got.start_s:.1f} | {got.peak_mb:.0f} | "
               f"{got.load:.1f} |")  # fmt: skip
    two = found["2 processes"]
    hours = 1e6 / two.per_second / 3600, 1000 * two.cpu_ms / 3600, 1000 * two.driver_ms / 3600
    yield (f"\n1,000,000 topics like these: {hours[0]:.1f} hours by 2 processes here; {hours[1]:.1f} hours of one "
           f"core, of them {hours[2]:.2f} the driver's, and {two.row_bytes / 1000:.1f} GB of rows; one driver feeds "
           f"{two.workers_ms / two.driver_ms:.0f} processes\n")  # fmt: skip


def memory(counts: list[int], folder: Path) -> Iterator[str]:
    """Yield the lines of a table of the driver's peak memory."""
    yield "| tiny topics, lead | driver MB in a run | through a pipe |"
    yield "|---:|---:|---:|"
    for count in counts:
        path, experiment = folder / f"tiny-{count}.jsonl", folder / "tiny.toml"
        with path.open("wb") as file:
            file.writelines(tiny(count))
        experiment.write_text(f'topics = "{path}"\nstrategy = "lead"\nmax-length = 5\n')
        run = Watched(["run", str(experiment), str(folder / f"tiny-{count}"), "-q", *TWO])
        output = str(folder / f"tiny-{count}.rows.jsonl")
        options = ["--strategy", "lead", "--max-length", "5", "-q", *TWO]
        piped = Watched(["solve", "-", "-o", output, *options], stdin=tiny(count))
        yield f"| {count} | {run.peak_mb:.0f} | {piped.peak_mb:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--topics", type=int, default=20_000, help="of realsumm [20000]")
    parser.add_argument("--long", type=int, default=2_000, help="of squality [2000]")
    parser.add_argument("--memory", default="1000,10000,100000", help="numbers of tiny topics; empty for none")
    parser.add_argument("--quick", action="store_true", help="a tenth of each")
    arguments = parser.parse_args()
    share = 10 if arguments.quick else 1
    exact = 'strategy = "branch-and-bound"\nmetric = "rouge-2"\nmax-length = '
    sets = [
        ("realsumm", arguments.topics // share, f"{exact}60\n"),
        ("squality", arguments.long // share, f"{exact}250\n"),
    ]
    machine = environment([])["machine"]
    print(f"{machine['cores']} x {machine['processor']}, {machine['memory_bytes'] / 1e9:.0f} GB, {machine['system']}\n")
    with TemporaryDirectory(prefix="optsum-corpus-") as place:
        folder = Path(place)
        for name, count, options in sets:
            if count:
                topics = repeated(arguments.data / name / "topics.jsonl", count, folder)
                for line in rates(f"{count} x {name}", topics, options, folder):
                    print(line, flush=True)
                topics.unlink()
        for line in memory([int(each) // share for each in arguments.memory.split(",") if each], folder):
            print(line, flush=True)


if __name__ == "__main__":
    main()
