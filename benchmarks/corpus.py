"""Runs over corpora: topics a second with one process, two, and dask; the driver's memory; what a million would take.

    python benchmarks/corpus.py DATA_FOLDER [--short 20000] [--long 2000] [--memory 1000,100000]

DATA_FOLDER holds realsumm/topics.jsonl (articles of 600 words) and squality/topics.jsonl (stories of 5,000), which are
repeated under new ids. Each line is one ``optsum run`` in a process of its own. Rates are counted in the store, from
the first row to the last, so that starting processes is no part of them; of CPU seconds the driver's and those of all
processes below it are told apart, because they say what a machine that does nothing else would do. The load is
printed, too.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from processes import children_of  # noqa: E402 - the folder is on the path only now

OPTSUM = [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())"]
TICK = os.sysconf("SC_CLK_TCK")
WAYS = {
    "1 process": ["--workers", "1"],
    "2 processes": ["--workers", "2"],
    "dask, 2 processes": ["--executor", "dask", "--workers", "2"],
}


def repeated(source: Path, count: int, folder: Path) -> Path:
    """Write so many topics, under ids of their own."""
    lines = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    path = folder / f"{source.parent.name}-{count}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            topic = lines[number % len(lines)]
            file.write(json.dumps({**topic, "meta": {}, "id": f"{topic['id']}-{number}"}) + "\n")
    return path


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a process by now."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICK


def peak_of(process: int) -> float:
    """Return the MB that a process held at most."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM")), 0.0)


class Measured:
    """One run, watched."""

    def __init__(self, topics: Path, options: str, flags: list[str], folder: Path) -> None:
        experiment = folder / "experiment.toml"
        experiment.write_text(f'topics = "{topics}"\n{options}')
        place = folder / f"run-{time.monotonic_ns()}"
        process = subprocess.Popen(
            [*OPTSUM, "run", str(experiment), str(place), "-q", *flags], stdout=subprocess.DEVNULL
        )
        below: dict[int, float] = {}
        self.driver_cpu = self.peak_mb = 0.0
        while process.poll() is None:
            self.driver_cpu = max(self.driver_cpu, cpu_of(process.pid))
            self.peak_mb = max(self.peak_mb, peak_of(process.pid))
            for child in children_of(process.pid):
                below[child] = max(below.get(child, 0.0), cpu_of(child))
            time.sleep(0.5)
        assert process.returncode == 0, process.returncode
        self.workers_cpu = sum(below.values())
        with sqlite3.connect(place / "rows.sqlite") as database:
            first, last, self.topics = database.execute("SELECT min(at), max(at), count(*) FROM rows").fetchone()
            (early,) = database.execute("SELECT count(*) FROM rows WHERE at = ?", (first,)).fetchone()
            (size,) = database.execute("SELECT sum(length(row)) FROM rows").fetchone()
        self.row_bytes = size / self.topics
        self.per_second = (self.topics - early) / max(last - first, 1e-9)
        self.cpu_ms = 1000 * (self.driver_cpu + self.workers_cpu) / self.topics
        self.driver_ms = 1000 * self.driver_cpu / self.topics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--short", type=int, default=20_000)
    parser.add_argument("--long", type=int, default=2_000)
    parser.add_argument("--memory", default="1000,100000")
    arguments = parser.parse_args()
    exact = 'strategy = "branch-and-bound"\nmetric = "rouge-2"\nmax-length = '
    sets = [("realsumm", arguments.short, f"{exact}60\n"), ("squality", arguments.long, f"{exact}250\n")]
    console = Console()
    with TemporaryDirectory(prefix="optsum-corpus-") as place:
        folder = Path(place)
        table = Table(title="topics a second; CPU ms a topic: all, and of the driver alone")
        for name in ("topics", "number", "by", "a second", "of 1 process", "CPU", "driver", "driver MB", "load"):
            table.add_column(name)
        for name, count, options in sets:
            if not count:
                continue
            topics = repeated(arguments.data / name / "topics.jsonl", count, folder)
            alone = None
            for by, flags in WAYS.items():
                found = Measured(topics, options, flags, folder)
                alone = alone or found
                load, share = os.getloadavg()[0], found.per_second / alone.per_second
                table.add_row(
                    *(name, str(count), by, f"{found.per_second:.1f}", f"{share:.2f}", f"{found.cpu_ms:.2f}"),
                    *(f"{found.driver_ms:.2f}", f"{found.peak_mb:.0f}", f"{load:.1f}"),
                )
                console.print(f"{name}, {by}: {found.per_second:.1f} a second")
            assert alone is not None
            console.print(
                f"{name}: 1,000,000 topics take {1000 * alone.cpu_ms / 3600:.1f} hours of one core, "
                f"{1000 * alone.driver_ms / 3600:.1f} of it the driver's, and {alone.row_bytes / 1000:.1f} GB of rows; "
                f"one driver feeds at most {alone.cpu_ms / alone.driver_ms:.0f} processes"
            )
        console.print(table)
        for number in map(int, filter(None, arguments.memory.split(","))):
            topics = repeated(arguments.data / "realsumm" / "topics.jsonl", number, folder)
            found = Measured(topics, 'strategy = "lead"\nmax-length = 60\n', WAYS["2 processes"], folder)
            console.print(
                f"{number} topics: the driver held at most {found.peak_mb:.0f} MB; {found.per_second:.0f} a second"
            )
            topics.unlink()


if __name__ == "__main__":
    main()
