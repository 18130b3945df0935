"""Measure the rows of rows.toml: the time to answer the question of each row, and the share of proven answers.

    python benchmarks/measure.py DATA_FOLDER [GROUP ...] [--only TEXT] [--against PYTHON] [--repeats 3] [--topics N]

A row has a source of topics, a question and its options; a row with lists means one row for every combination. There
are several ways to answer a row: its own, those in `beside`, and its own with the interpreter of `--against`, which has
another version of optsum. Each way runs in a separate process, which answers once before the measurement, so that
kernels are compiled. The ways take turns, so that other work on the machine affects all of them equally, and the
minimum time of a topic counts.

Times are milliseconds of CPU time for a topic, from the text to the result; those of `labels` and `file` are means over
a file. "ratio" is the total time divided by that of the row's own way, or for an own way by that of the greedy
selection with which its group begins. The exit status is 1 if two ways prove different values, and with `--strict`
also if a required figure is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import select
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
TURN_S = 1800.0
"""Maximum seconds of a way for all topics; after it, the process is killed, which the row reports."""


class Measured(NamedTuple):
    """Measurement of a topic: milliseconds, exact value if any, whether it is proven, gap, number of optima."""

    ms: float
    value: str | None
    proven: bool
    gap: float | None
    count: int | None


def combinations_of(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the table once for every combination of the lists in `source` and `options`."""
    sources = table["source"] if isinstance(table["source"], list) else [table["source"]]
    options = {name: value if isinstance(value, list) else [value] for name, value in table["options"].items()}
    for source, *values in product(sources, *options.values()):
        yield {**table, "source": source, "options": dict(zip(options, values, strict=True))}


def rows_of(groups: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the group and the contents of each row."""
    data = tomllib.loads((HERE / "rows.toml").read_text(encoding="utf-8"))
    if unknown := set(groups) - set(data):
        sys.exit(f"There is no group {', '.join(sorted(unknown))}; there are {', '.join(data)}.")
    for group in groups or data:
        for table in data[group]:
            for row in combinations_of(table):
                yield group, row


def name_of(row: dict[str, Any]) -> str:
    """Return the name of a row: its source, its question and the values of its options."""
    said = [row["source"], *([] if row["ask"] == "solve" else [row["ask"]]), *map(str, row["options"].values())]
    return " ".join(said) + (f" ({', '.join(row['only'])})" if "only" in row else "")


class Server:
    """A process that answers one way of a row on request."""

    def __init__(self, python: str, data: Path, row: dict[str, Any]) -> None:
        command = [python, str(HERE / "shared" / "answer.py"), str(data), json.dumps(row)]
        # This compiles the kernels before the measurement.
        environment = {**os.environ, "OPTSUM_PATIENCE": "0", "PYTHONPATH": str(HERE)}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.failed = ""

    def ask(self) -> list[Measured] | None:
        """Return the measurements of the topics, or None if the process died or was killed after too long a time."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if not self.failed:
            try:
                self.process.stdin.write("again\n")
                self.process.stdin.flush()
                if select.select([self.process.stdout], [], [], TURN_S)[0] and (line := self.process.stdout.readline()):
                    found = json.loads(line)
                    if isinstance(found, list):
                        return [Measured(*each) for each in found]
                    self.failed = str(found)
                else:
                    self.failed = f"ended, or killed after {TURN_S:g} s"
            except OSError as error:
                self.failed = str(error)
            self.process.kill()
        return None

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


def best_of(turns: list[list[Measured] | None]) -> list[Measured]:
    """Return each topic with its minimum time; it is proven if it was proven in any turn."""
    done = [turn for turn in turns if turn is not None]
    best = [min(each, key=lambda one: (not one.proven, one.ms)) for each in zip(*done, strict=True)]
    return [each._replace(ms=min(turn[place].ms for turn in done)) for place, each in enumerate(best)]


def contradictions(ways: dict[str, list[Measured]]) -> list[str]:
    """Return the topics for which proven values differ."""
    found = []
    for place, each in enumerate(zip(*filter(None, ways.values()), strict=False)):
        if len(values := {one.value for one in each if one.proven and one.value is not None}) > 1:
            found.append(f"topic {place + 1} has the optima {', '.join(sorted(values))}")
    return found


def missed(asked: dict[str, float], found: list[Measured], ratio: float | None) -> list[str]:
    """Return the required figures that were missed."""
    reached = {
        "median": median(one.ms for one in found),
        "worst": max(one.ms for one in found),
        "total": sum(one.ms for one in found),
        "gap": max((one.gap for one in found if one.gap is not None and not one.proven), default=0.0),
        "ratio": ratio,
    }
    proven = sum(one.proven for one in found)
    over = [name for name, figure in asked.items() if name != "proven" and (reached[name] or 0.0) > figure]
    return over + (["proven"] if proven < asked.get("proven", 0) else [])


def machine() -> str:
    """Return a description of the machine."""
    try:
        models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        models = []
    name = models[0].split(":")[1].strip() if models else platform.processor()
    return f"{os.cpu_count()} x {name}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("groups", nargs="*", metavar="GROUP")
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--against", metavar="PYTHON", help="interpreter with another version of optsum")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--topics", type=int, help="the first of each source")
    parser.add_argument("--limit", type=float, help="seconds a topic, instead of the rows' own")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a figure that is asked was missed")
    given = parser.parse_args()
    console = Console(width=max(150, Console().width))
    table = Table(caption=machine(), title_justify="left")
    for column in ("row", "topics", "proven", "median", "worst", "total", "gap", "ratio", "asked"):
        table.add_column(column, justify="left" if column in {"row", "asked"} else "right")
    first: dict[str, float] = {}
    wrong = 0
    for group, row in rows_of(given.groups):
        name = f"{group}: {name_of(row)}"
        if given.only not in name:
            continue
        if given.topics is not None:
            row["topics"] = given.topics
        if given.limit is not None and "time_limit" in row["options"]:
            row["options"]["time_limit"] = given.limit
        ways = {name: (sys.executable, row)}
        for other in row.get("beside", ()):
            changed = {**row, **other, "options": {**row["options"], **other.get("options", {})}}
            said = [other.get("ask"), *map(str, other.get("options", {}).values())]
            ways["  beside " + " ".join(filter(None, said))] = sys.executable, changed
        if given.against:
            ways["  before"] = given.against, row
        with ExitStack() as stack:
            servers = {}
            for way, (python, contents) in ways.items():
                servers[way] = Server(python, given.data, contents)
                stack.callback(servers[way].close)
            turns = [{way: server.ask() for way, server in servers.items()} for _ in range(given.repeats)]
            failures = {way: server.failed for way, server in servers.items()}
        found = {way: best_of([turn[way] for turn in turns]) for way in ways}
        own = sum(one.ms for one in found[name]) / max(1, len(found[name]))
        for way, topics in found.items():
            if not topics:
                table.add_row(way, "", "", "", "", "", "", "", failures[way])
                wrong += way != "  before"  # an earlier version may not support the question
                continue
            mean = sum(one.ms for one in topics) / len(topics)
            if row["ask"] == "guess":
                first[group] = mean
            beside = first.get(group) if way == name else own
            asked = row.get("asked", {}) if way == name else {}
            over = missed(asked, topics, None if beside is None else mean / beside)
            wrong += given.strict and bool(over)
            open_gaps = [one.gap for one in topics if one.gap is not None and not one.proven]
            table.add_row(
                way,
                str(len(topics)),
                str(sum(one.proven for one in topics)),
                f"{median(one.ms for one in topics):.3g}",
                f"{max(one.ms for one in topics):.4g}",
                f"{sum(one.ms for one in topics):.4g}",
                f"{max(open_gaps):.2g}" if open_gaps else "",
                "" if beside is None else f"{mean / beside:.2f}",
                ", ".join(f"{what} {figure:g}{' MISSED' * (what in over)}" for what, figure in asked.items()),
            )
        differences = contradictions(found)
        wrong += bool(differences)
        for difference in differences:
            table.add_row(f"  [red]{difference}[/]")
    console.print(table)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
