"""Run every study on every suitable data set: measure seconds and memory, and show what its tables leave out.

    python benchmarks/studies.py DATA_FOLDER [--only hirao:opinosis,akhmetov] [--timeout 900] [--topics 5]

Each line of the table is one ``optsum study`` command in a separate process, with systems if the data set has them. CPU
seconds include child processes; divided by the number of processes, they are close to the wall-clock time on an idle
machine. Memory is the sum of the resident memory of the process and its child processes, sampled ten times a second; it
counts shared pages several times, so it is an upper bound. The last table's caption has the settings and exclusions.
The load at the start is printed, because times of a busy machine are unreliable. A study is ended after ``--timeout``
seconds.

The covers of tsc3 are human alignments if there are any (all marked sentences are needed), and otherwise those that
``optsum align`` makes from the texts.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from corpus import OPTSUM, children_of, cpu_of

STUDIES = ("hirao", "lin-hovy", "akhmetov", "compressive", "tsc3", "gap")
PARSED = "gum"
"""The data set whose sentences have parses, which compressions need."""
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Measured:
    """Measurements of a study."""

    topics: int
    seconds: float
    cpu: float
    megabytes: float
    status: str
    settings: str
    left_out: str


def resident(process: int) -> int:
    """Return the resident memory of a process in bytes, or 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def measured(study: str, topics: Path, systems: Path, workers: int, timeout: float) -> Measured:
    """Run a study and measure it."""
    command = [*OPTSUM, "study", study, str(topics), "--workers", str(workers), "-q", "-o", str(topics) + ".rows.jsonl"]
    if systems.exists():
        command += ["--systems", str(systems)]
    if study == "tsc3":
        command += ["--uncoverable", "skip"]
    began, peak, status = time.monotonic(), 0, ""
    spent: dict[int, float] = {}
    with (topics.parent / "out").open("w+") as out, (topics.parent / "err").open("w+") as err:
        process = subprocess.Popen([*command, "--overwrite"], stdout=out, stderr=err, text=True)
        while process.poll() is None:
            tree = [process.pid, *children_of(process.pid)]
            peak = max(peak, sum(map(resident, tree)))
            spent |= {one: max(spent.get(one, 0.0), cpu_of(one)) for one in tree}
            if time.monotonic() - began > timeout and not status:
                status = f"ended after {timeout:g} s"
                process.terminate()
            time.sleep(0.1)
        seconds = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        shown, complaint = out.read(), err.read()
    status = status or " ".join([str(process.returncode), *complaint.split()[:25]])
    count = sum(1 for line in topics.open(encoding="utf-8"))
    said = [_last(shown, pattern) for pattern in (r"^[\d,]+ topics?; (.*)$", r"^Left out: (.*)\.$")]
    return Measured(count, seconds, sum(spent.values()), peak / 1e6, status, *said)


def _last(shown: str, pattern: str) -> str:
    return next(reversed(re.findall(pattern, shown, re.MULTILINE)), "")


def covered(data: Path, name: str, into: Path) -> None:
    """Write topics with covers."""
    marked = data / name / "alignments.jsonl"
    given = ["--alignments", str(marked)] if marked.exists() else []
    command = [*OPTSUM, "align", str(data / name / "topics.jsonl"), *given, "-q", "-o", str(into)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def cases(data: Path, only: list[str]) -> Iterator[tuple[str, str]]:
    """Yield studies and the data sets that suit them."""
    names = sorted(path.parent.name for path in data.glob("*/topics.jsonl"))
    for study in STUDIES:
        for name in names if study != "compressive" else [PARSED]:
            if not only or f"{study}:{name}" in only or study in only or f":{name}" in only:
                yield study, name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default="", help="STUDY, STUDY:SET or :SET, joined by commas")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--topics", type=int, default=0, help="topics of each set; 0 for all")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, {arguments.workers} processes, load {os.getloadavg()[0]:.1f}\n")
    print("| study | data | topics | seconds | CPU s | MB | status | settings | left out |")
    print("|---|---|---|---|---|---|---|---|---|")
    with TemporaryDirectory(prefix="optsum-studies-") as place:
        for study, name in cases(arguments.data, list(filter(None, arguments.only.split(",")))):
            topics = Path(place) / f"{study}-{name}.jsonl"
            source = arguments.data / name
            if study == "tsc3":
                covered(arguments.data, name, topics)
            else:
                topics.write_bytes((source / "topics.jsonl").read_bytes())
            if (source / "conllu").exists() and not (Path(place) / "conllu").exists():
                (Path(place) / "conllu").symlink_to(source / "conllu")
            if arguments.topics:
                topics.write_bytes(b"".join(topics.read_bytes().splitlines(keepends=True)[: arguments.topics]))
            found = measured(study, topics, source / "systems.jsonl", arguments.workers, arguments.timeout)
            cells = [
                study,
                name,
                found.topics,
                f"{found.seconds:.0f}",
                f"{found.cpu:.0f}",
                f"{found.megabytes:.0f}",
                found.status,
            ]
            print("|", " | ".join(map(str, [*cells, found.settings, found.left_out])), "|", flush=True)


if __name__ == "__main__":
    main()
