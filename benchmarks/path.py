"""From text to proof: CPU time a topic, from the file to the finished row, before and now.

    python benchmarks/path.py DATA_FOLDER [--against PYTHON] [--repeats 5] [--presets] [--cold] [--workers]

Each line is a process that has done the work once and does it again whenever it is asked; the two versions take turns,
so that a busy machine disturbs both. Without ``--against``, an interpreter that has another version of optsum, "before"
is what was written down when the work on this path began (2 cores of an AMD EPYC, otherwise idle).

``--presets`` adds the other presets, ``--cold`` the first answer of a fresh cache of kernels, ``--workers`` 10,000 and
30,000 topics by one and by two processes in turn, of which the quickest count: whoever else needs a processor disturbs
two more than one.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from io import StringIO
from math import inf
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from optsum.solvers.few_units import search_extracts

import optsum
from optsum.options.presets import PRESETS
from optsum.system.compiled import patience
from optsum.text.word_kernel import number_apart, number_words


class Job(NamedTuple):
    """A line of the table: a data set, options, milliseconds a topic before, and what was to be reached."""

    data: str
    options: dict[str, Any]
    before: float | None = None
    goal: float | None = None
    labels: bool = False  # Whether the command line writes labels into a file.


R2 = {"metric": "rouge-2", "max_length": 100}
JOBS = {
    "realsumm, ROUGE-2 recall, 100 words, branch-and-bound": Job(
        "realsumm", {**R2, "strategy": "branch-and-bound"}, 2.0, 0.7
    ),
    "realsumm, preset presumm, proven": Job("realsumm", {"preset": "presumm"}, 4.1, 0.6),
    "realsumm, preset presumm, labels into a file": Job("realsumm", {"preset": "presumm"}, 0.74, 0.06, labels=True),
    "realsumm, preset presumm, by greedy": Job("realsumm", {"preset": "presumm", "strategy": "greedy"}, 270, 3),
    "realsumm, ROUGE-2 recall, 100 words, default": Job("realsumm", R2, 8.1, 1.4),
    "squality, ROUGE-2 recall, 250 words, branch-and-bound": Job(
        "squality", {"metric": "rouge-2", "max_length": 250, "strategy": "branch-and-bound"}, 24, 4
    ),
}
OF_PRESETS = {f"realsumm, preset {name}": Job("realsumm", {"preset": name}) for name in PRESETS if name != "presumm"}
COLD = {"milp": 1.0, "greedy": 4.0, "exhaustive": 12.0, "branch-and-bound": 22.0, "vns": 39.0, "genetic": 39.0}
"""CPU seconds of the first answer with a fresh cache, before."""


def rows(data: Path, job: Job) -> int:
    """Do a job on all topics of its file, and return how many there were."""
    done = 0
    for result in optsum.solve_all(data / job.data / "topics.jsonl", **job.options):
        assert result.error is None, result.error
        result.to_row()
        done += 1
    return done


def of_labels(data: Path, job: Job, topics: int) -> float:
    """Return the milliseconds of CPU in which the command line labels so many topics."""
    from optsum.cli import main

    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        given = many_topics(data / job.data, topics, folder)
        began = process_time()
        assert main(["labels", str(given), "--preset", job.options["preset"], "-o", f"{folder}/rows.jsonl"]) == 0
        return 1000 * (process_time() - began)


def serve(data: Path, job: Job) -> None:
    """Do a job once, and again for each line of the standard input; answer with milliseconds of CPU a topic."""
    for kernel in (
        search_extracts,
        number_words,
        number_apart,
    ):  # as if so many topics had gone without them that they are compiled
        patience.taken[kernel] = inf
    rows(data, job)
    print("ready", flush=True)
    for _ in sys.stdin:
        if job.labels:
            print((of_labels(data, job, 4000) - of_labels(data, job, 1000)) / 3000, flush=True)
            continue
        began = process_time()
        done = rows(data, job)
        print(1000 * (process_time() - began) / done, flush=True)


def presumm_greedy(data: Path) -> float:
    """Return milliseconds a topic of greedy selection, tokens given, no proof (Liu & Lapata 2019)."""
    from price_of_proof import greedy_choice

    from optsum.corpus.topic import Topic
    from optsum.text.analyzer import Analyzer

    analyzer = Analyzer("presumm")
    topics = [t for t in optsum.read_topics(data / "realsumm" / "topics.jsonl") if isinstance(t, Topic)]
    given = [(analyzer.joined_tokens(t.references[0]), list(map(analyzer.tokens, t.sentences))) for t in topics]
    times = []
    for _ in range(6):
        began = process_time()
        for reference, sentences in given:
            greedy_choice(reference, sentences)
        times.append(1000 * (process_time() - began) / len(given))
    return statistics.median(times[1:])


@contextmanager
def server(python: str, data: Path, name: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that serves a job."""
    command = [python, __file__, str(data), "--serve", name]
    environment = {**os.environ, "OPTSUM_PATIENCE": "0"}  # kernels are compiled before anything is measured
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", f"{python} cannot do this: {name}"
        yield process
        assert process.stdin is not None
        process.stdin.close()


def ask(process: subprocess.Popen[str]) -> float:
    """Let a process do its job once more."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def of_children(command: list[str], **environment: str) -> tuple[float, float]:
    """Return CPU and wall seconds of a command."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    subprocess.run(command, check=True, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
    wall, after = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def first_stem(python: str) -> float:
    """Return the milliseconds of CPU that the first stemmed word takes."""
    code = (
        "import optsum.text.analyzer as a; from time import process_time as t; b = t(); "
        "a.Analyzer(stem=True).tokens('documents'); print(1000 * (t() - b))"
    )
    done = [subprocess.run([python, "-P", "-c", code], check=True, capture_output=True, text=True) for _ in range(3)]
    return statistics.median(float(one.stdout) for one in done)


def cold(data: Path, strategy: str) -> tuple[float, float]:
    """Return CPU and wall seconds of the first answer with an empty cache of kernels."""
    one = (data / "realsumm" / "topics.jsonl").read_bytes().split(b"\n", 1)[0]
    with tempfile.TemporaryDirectory() as folder:
        topic = Path(folder, "topic.jsonl")
        topic.write_bytes(one)
        command = [
            sys.executable,
            "-P",
            "-m",
            "optsum",
            "solve",
            str(topic),
            "--max-length",
            "100",
            "--strategy",
            strategy,
        ]
        return of_children([*command, "-o", f"{folder}/rows.jsonl"], NUMBA_CACHE_DIR=f"{folder}/cache")


def many_topics(data: Path, topics: int, folder: str) -> Path:
    """Write so many topics of a data set, under ids of their own."""
    lines = (data / "topics.jsonl").read_text(encoding="utf-8").splitlines()
    many = (lines[n % len(lines)].replace('"id": "', f'"id": "{n}-', 1) for n in range(topics))
    given = Path(folder, "topics.jsonl")
    given.write_text("\n".join(many), encoding="utf-8")
    return given


def by_workers(data: Path, workers: int, topics: int = 10_000) -> tuple[float, float]:
    """Return the CPU and wall seconds of so many topics, as a second run takes: kernels are there, and bytecode."""
    with tempfile.TemporaryDirectory() as folder:
        given = many_topics(data / "realsumm", topics, folder)
        command = [
            sys.executable,
            "-P",
            "-m",
            "optsum",
            "solve",
            str(given),
            "--max-length",
            "100",
            "--metric",
            "rouge-2",
        ]
        command += ["--strategy", "branch-and-bound", "--workers", str(workers), "-o", f"{folder}/rows.jsonl"]
        return of_children(command, PYTHONDONTWRITEBYTECODE="")


def of_workers(data: Path, repeats: int) -> Iterator[tuple[str, float]]:
    """Yield what two processes are said to do, and how many times faster than one they are."""
    by_workers(data, 2, 1000)  # compiles
    ways = [(workers, topics) for topics in (10_000, 30_000) for workers in (1, 2)]
    turns = [{way: by_workers(data, *way) for way in ways} for _ in range(repeats)]
    cpu, wall = ({way: min(turn[way][kind] for turn in turns) for way in ways} for kind in (0, 1))
    said = " against ".join(f"{n} ({wall[n, 10_000]:.2f} s; {cpu[n, 10_000]:.2f} of CPU)" for n in (2, 1))
    yield f"10,000 topics, workers: {said}", wall[1, 10_000] / wall[2, 10_000]
    more = [wall[n, 30_000] - wall[n, 10_000] for n in (1, 2)]
    yield f"20,000 topics more: {more[1]:.2f} s against {more[0]:.2f} s", more[0] / more[1]


def machine() -> str:
    """Return what this was measured on."""
    try:
        models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        models = []
    name = models[0].split(":")[1].strip() if models else platform.processor()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"{os.cpu_count()} x {name}, Python {platform.python_version()}, load {load}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--against", metavar="PYTHON")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--workers", action="store_true")
    parser.add_argument("--presets", action="store_true")
    parser.add_argument("--serve", choices=[*JOBS, *OF_PRESETS], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    data, other = arguments.data, arguments.against
    if arguments.serve:
        serve(data, {**JOBS, **OF_PRESETS}[arguments.serve])
        return

    from rich.console import Console
    from rich.table import Table

    table = Table(title="from the file to the finished row, CPU time a topic", caption=machine())
    for column in ("ratio", "work", "before", "now", "to reach"):
        table.add_column(column, justify="left" if column == "work" else "right")

    def line(work: str, before: float | None, now: float, unit: str, goal: float | None = None) -> None:
        shown = [("" if one is None else f"{one:.3g} {unit}") for one in (before, now, goal)]
        table.add_row("" if before is None else f"{before / now:.2f} x", work, *shown)

    for name, job in {**JOBS, **(OF_PRESETS if arguments.presets else {})}.items():
        with ExitStack() as stack:
            found = [stack.enter_context(server(python, data, name)) for python in (sys.executable, other) if python]
            times = [[ask(one) for one in found] for _ in range(arguments.repeats)]
        medians = [statistics.median(each) for each in zip(*times, strict=True)]
        line(name, medians[1] if other else job.before, medians[0], "ms", job.goal)
        if name.endswith("proven"):
            line(
                "the same topics by PreSumm's greedy selection, tokens given, no proof",
                None,
                presumm_greedy(data),
                "ms",
            )
    line("first stemmed word", first_stem(other) if other else 800, first_stem(sys.executable), "ms", 50)
    for strategy, before in COLD.items() if arguments.cold else ():
        cpu, wall = cold(data, strategy)
        line(f"first answer with a fresh cache, {strategy} (wall time {wall:.1f} s)", before, cpu, "s")
    for work, faster in of_workers(data, arguments.repeats) if arguments.workers else ():
        line(work, None, faster, "x", 1.9)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
