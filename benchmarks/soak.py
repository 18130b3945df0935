"""Check for leaks of memory, open files, threads and child processes in a process that runs for hours.

    python benchmarks/soak.py --minutes 60 [--topics TOPICS] [--seed 0] [--most MB]

One process does mixed work in rounds, in random order: single topics by every strategy and several solvers, labels,
optimal and near-optimal selections, frontiers, comparisons, pages, runs with two processes, commands, invalid topics
and options, and searches that a limit or Ctrl-C ends. The first round, with every kind of work once, loads and compiles
code; the state after it is compared with the state at the end, after idle worker processes have been ended. The program
prints a sample every minute, the slope of memory after the first round, and all faults. The exit status is 1 if there
are more open files, threads or processes than after the first round, an unexpected exception, or an increase of memory
of more than --most megabytes an hour.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import logging
import os
import random
import resource
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from processes import children_of, wait_for  # noqa: E402 - the folder is on the path only now

import optsum  # noqa: E402
from optsum.cli import main as command_line  # noqa: E402
from optsum.registry import BACKENDS, STRATEGIES  # noqa: E402

NEWS = ROOT / "examples" / "data" / "news.jsonl"
PAGE = 4096 if not hasattr(os, "sysconf") else os.sysconf("SC_PAGE_SIZE")
AGAIN_S = 0.05
"""Seconds within which an interrupt that Python could lose is sent again; then it still belongs to the work before."""


class Sample(NamedTuple):
    """Memory, open files, threads and child processes of a process at one time."""

    seconds: float
    rounds: int
    megabytes: float
    of_children: float
    files: int
    threads: int
    children: int

    def __str__(self) -> str:
        return (
            f"{self.seconds / 60:6.1f} min, round {self.rounds:5}: {self.megabytes:7.1f} MB, "
            f"{self.of_children:7.1f} MB in {self.children} processes, {self.files} files, {self.threads} threads"
        )


def resident(process: int | str) -> float:
    """Return the resident memory of a process in megabytes, or 0 if it has ended."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE / 1e6
    return 0.0


def open_files() -> dict[str, str]:
    """Return the open files of this process, with their descriptions."""
    found = {}
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found[each.name] = str(each.readlink())
    return {number: name for number, name in found.items() if not name.endswith(f"/{os.getpid()}/fd")}


def commands() -> list[str]:
    """Return the commands of the child processes."""
    found = []
    for child in sorted(children_of(os.getpid())):
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")[:120])
    return found


def slope(samples: list[Sample]) -> float:
    """Return the growth of memory in megabytes per hour, by least squares."""
    hours = [sample.seconds / 3600 for sample in samples]
    mean, middle = sum(hours) / len(hours), sum(sample.megabytes for sample in samples) / len(samples)
    spread = sum((hour - mean) ** 2 for hour in hours)
    rising = sum((hour - mean) * (sample.megabytes - middle) for hour, sample in zip(hours, samples, strict=True))
    return rising / spread if spread else 0.0


class Soak:
    """The kinds of work, each a method whose name begins with ``work_``."""

    def __init__(self, folder: Path, topics: Path, seed: int) -> None:
        self.folder, self.path, self.random = folder, topics, random.Random(seed)
        self.topics = [topic for topic in optsum.read_topics(topics) if isinstance(topic, optsum.Topic)]
        self.backends = [name for name in BACKENDS if BACKENDS.load(name)().available().usable]
        self.bad = folder / "bad.jsonl"
        self.bad.write_text('{"id": "x"\n{"id": "y"}\n{"id": "z", "documents": [["a"]], "references": 7}\n[1]\n')
        self.done: Counter[str] = Counter()
        self.faults: list[str] = []
        self.number = 0

    def kinds(self) -> list[Callable[[], None]]:
        return [getattr(self, name) for name in sorted(dir(self)) if name.startswith("work_")]

    def round(self) -> None:
        """Do each kind of work once, in random order."""
        kinds = self.kinds()
        self.random.shuffle(kinds)
        for kind in kinds:
            try:
                kind()
            except Exception as error:  # noqa: BLE001 - unexpected errors are counted, and the work continues
                self.faults.append(f"{kind.__name__}: {type(error).__name__}: {error}")
                print("WRONG:", self.faults[-1], file=sys.stderr, flush=True)
            self.done[kind.__name__] += 1

    def options(self, **others: Any) -> dict[str, Any]:
        """Return random options of a search."""
        return {
            "max_length": self.random.randint(20, 120),
            "metric": self.random.choice(["rouge-1", "rouge-2", "rouge-1+rouge-2", "rouge-su4", "rouge-l"]),
            "measure": self.random.choice(["recall", "f1"]),
            "references": self.random.choice(["pooled", "mean", "best", "each"]),
            "time_limit": 1.0,
            "seed": self.random.randint(0, 10**6),
            **others,
        }

    def few(self, count: int = 2) -> list[Any]:
        return self.random.sample(self.topics, count)

    def new(self, name: str) -> Path:
        self.number += 1
        return self.folder / f"{self.number}{name}"

    def work_strategies(self) -> None:
        for strategy in STRATEGIES:
            with contextlib.suppress(optsum.UnsupportedError, optsum.OptionError):  # not every pair is supported
                list(optsum.solve_all(self.few(), **self.options(strategy=strategy)))

    def work_backends(self) -> None:
        for backend in self.backends:
            with contextlib.suppress(optsum.UnsupportedError, optsum.OptionError):
                list(optsum.solve_all(self.few(1), **self.options(strategy="milp", backend=backend, measure="recall")))

    def work_labels(self) -> None:
        for given in ({}, {"soft": True}, {"all_": 5}, {"all_": 3, "diverse": True}):
            list(optsum.labels(self.few(), **given, max_length=50, metric="rouge-2", time_limit=2))

    def work_optima(self) -> None:
        for given in ({}, {"best": 2}, {"within": "1%"}):
            optima = optsum.enumerate_optima(self.few(1)[0], **given, max_length=50, metric="rouge-2", time_limit=2)
            list(zip(range(100), optima, strict=False))

    def work_frontier(self) -> None:
        optsum.frontier(self.few(1)[0], lengths="20:60:20", metric="rouge-2", time_limit=2)

    def work_compare(self) -> None:
        compared = optsum.compare(self.few(), "greedy,lead,vns,genetic", "milp", max_length=60, details=True)
        str(compared)
        optsum.write_page(compared.results, self.new(".html"))
        self.folder.joinpath(f"{self.number}.html").unlink()

    def work_run(self) -> None:
        grid = {"metric": ["rouge-1", "rouge-2"], "max_length": [50, 75]}
        with TemporaryDirectory(dir=self.folder) as place:
            experiment = {"topics": str(self.path), "strategy": "greedy", "grid": grid}
            done = optsum.run(experiment, Path(place) / "run", workers=2, progress=False)
            if done.failed or done.done != done.total:
                raise AssertionError(done)

    def work_workers(self) -> None:
        rows = list(optsum.solve_all(self.topics, workers=2, **self.options(strategy="auto", references="pooled")))
        if [row.id for row in rows] != [topic.id for topic in self.topics]:
            raise AssertionError("rows out of order")

    def work_command_line(self) -> None:
        out, page = self.new(".jsonl"), self.new(".html")
        ended = {
            0: [
                ["compare", str(self.path), "--strategies", "greedy,lead", "--max-length", "60", "-o", str(out),
                 "--details"],
                ["report", str(out), "-o", str(page)],
                ["solve", str(self.path), "--max-length", "50", "--strategy", "greedy", "-o", "-"],
                ["enumerate", str(self.path), "--max-length", "30", "--metric", "rouge-2"],
            ],
            1: [["solve", str(self.bad), "--max-length", "50"]],
            2: [
                ["solve", str(self.path), "--max-length", "x"],
                ["solve", str(self.folder / "none"), "--max-length", "9"],
            ],
        }  # fmt: skip
        for status, commands in ended.items():
            for command in commands:
                said = io.StringIO()
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    found = command_line([*command, *(["-q"] if status == 0 else [])])
                if found != status:
                    raise AssertionError(f"{command} ended with {found}: {said.getvalue()[-500:]}")
        out.unlink()
        page.unlink()

    def work_refused(self) -> None:
        one = self.few(1)[0]
        wrong: list[Callable[[], Any]] = [
            lambda: optsum.solve(one, max_length=-1),
            lambda: optsum.solve(one, max_length=9, strategy="nobody"),
            lambda: optsum.solve(one, max_length=9, backend="nobody", strategy="milp"),
            lambda: optsum.solve({"id": "x", "documents": 3}, max_length=9),
            lambda: list(optsum.read_topics(self.folder / "none.jsonl")),
            lambda: optsum.parse_metric("rouge-x"),
        ]
        for call in wrong:
            try:
                call()
            except optsum.OptsumError:
                continue
            raise AssertionError("something wrong was accepted")
        rows = list(optsum.solve_all(str(self.bad), max_length=9))
        if {row.status.value for row in rows} != {"error"}:
            raise AssertionError(rows)

    def work_limits(self) -> None:
        """Search a topic that takes longer than its limit."""
        topic = self.large()
        for strategy in ("auto", "branch-and-bound", "milp", "vns", "exhaustive"):
            optsum.solve(topic, max_length=200, metric="rouge-2", strategy=strategy, time_limit=0.2)

    def work_interrupted(self) -> None:
        """Send Ctrl-C during a search, and while worker processes work."""
        topic = self.large()
        for given in ({"strategy": "milp"}, {"strategy": "branch-and-bound"}, {"strategy": "genetic"}, {"workers": 2}):
            with self.interrupted(self.random.uniform(0.05, 0.4)), contextlib.suppress(KeyboardInterrupt):
                list(optsum.solve_all([topic] * 4, max_length=250, metric="rouge-2", time_limit=3, **given))

    def large(self) -> dict[str, Any]:
        words = [word for topic in self.topics for text in topic.sentences for word in str(text).split()]
        texts = [" ".join(self.random.choices(words, k=self.random.randint(8, 25))) for _ in range(420)]
        return {"id": "large", "documents": [texts[:400]], "references": [texts[400:410], texts[410:]]}

    @contextlib.contextmanager
    def interrupted(self, seconds: float) -> Iterator[None]:
        """Send Ctrl-C after a number of seconds, and return when no signal is pending."""
        over = threading.Event()

        def press() -> None:
            if not over.wait(seconds):
                os.kill(os.getpid(), signal.SIGINT)

        presser = threading.Thread(target=press)
        try:
            presser.start()
            yield
        except KeyboardInterrupt:
            pass
        finally:
            with contextlib.suppress(KeyboardInterrupt):
                over.set()
                presser.join()
                sleep(AGAIN_S)


def sample(began: float, rounds: int) -> Sample:
    gc.collect()
    children = children_of(os.getpid())
    held = sum(resident(child) for child in children)
    return Sample(
        monotonic() - began, rounds, resident("self"), held, len(open_files()), threading.active_count(), len(children)
    )


def at_rest() -> dict[str, str]:
    """End idle worker processes, and return the open files."""
    from loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)
    gc.collect()
    return open_files()


def soak(minutes: float, topics: Path, seed: int, most: float) -> list[str]:
    """Work for the given time, and return the faults."""
    began = monotonic()
    with TemporaryDirectory(prefix="optsum-soak-") as place:
        work = Soak(Path(place), topics, seed)
        work.round()
        at_first = at_rest()
        samples = [sample(began, 1)]
        print(samples[0], *commands(), sep="\n  ", flush=True)
        rounds = 1
        while monotonic() < began + 60 * minutes or rounds < 3:
            work.round()
            rounds += 1
            samples.append(sample(began, rounds))
            if samples[-1].seconds // 60 > samples[-2].seconds // 60:
                print(samples[-1], flush=True)
        at_end = at_rest()
        with contextlib.suppress(AssertionError):
            wait_for(lambda: sample(began, rounds).children <= samples[0].children, 10)
        last = sample(began, rounds)
        left = [entry.name for entry in Path(place).iterdir() if entry != work.bad]
    print(last)
    return [*work.faults, *compared(samples, last, at_first, at_end, most), *(f"left: {name}" for name in left)]


def compared(
    samples: list[Sample], last: Sample, at_first: dict[str, str], at_end: dict[str, str], most: float
) -> list[str]:
    """Print the growth of memory, and return everything of which there is more at the end."""
    rising = slope(samples[1:])
    half = samples[1 + len(samples) // 2 :]
    top = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(
        f"{last.rounds} rounds in {last.seconds / 60:.1f} min; {samples[1].megabytes:.1f} MB after the second round, "
        f"{samples[-1].megabytes:.1f} at the end, at most {top:.0f}; slope {rising:+.1f} MB/h, "
        f"{slope(half):+.1f} MB/h in the second half"
    )
    wrong = []
    if len(at_end) > len(at_first):
        more = sorted(set(at_end.items()) - set(at_first.items()))
        wrong.append(f"{len(at_end)} open files, {len(at_first)} at first: {more}")
    if last.threads > samples[0].threads:
        wrong.append(f"{last.threads} threads, {samples[0].threads} at first")
    if last.children > samples[0].children:
        wrong.append(f"{last.children} processes, {samples[0].children} at first: {commands()}")
    if slope(half) > most:
        wrong.append(f"memory grew by {slope(half):.1f} MB an hour")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--topics", type=Path, default=NEWS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=float, default=20.0, help="megabytes an hour")
    arguments = parser.parse_args()
    logging.getLogger("optsum").setLevel(logging.CRITICAL)
    wrong = soak(arguments.minutes, arguments.topics, arguments.seed, arguments.most)
    for each in wrong:
        print("WRONG:", each)
    print(json.dumps({"faults": len(wrong), "load": os.getloadavg()[0]}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
