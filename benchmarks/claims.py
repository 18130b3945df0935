"""Look for false claims after a limit, Ctrl-C or SIGTERM ends a search, on random topics with known optima.

    python benchmarks/claims.py [--seconds 60] [--seed 0] [--late 1.0]

A search, an enumeration or a command is ended at a random moment: by a limit of time, nodes or evaluations, by SIGINT,
or, for commands, by SIGTERM. The result is then compared with the optimum. The program prints the number of trials, of
false claims (a wrong optimum, a bound that the optimum exceeds, a wrong complete count), of results worse than greedy
search within the same limit, and the longest delay in wall-clock and CPU time. After a signal, a command must have the
right exit status, every line of its output must be a complete row, and the same command with ``--resume`` must add the
rows of all other topics.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import multiprocessing
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from shared.compiled import compile_at_once

import optsum
from optsum.cli import main as command
from optsum.registry import STRATEGIES

OBJECTIVES: list[dict[str, Any]] = [
    {"metric": "rouge-1"},
    {"metric": "rouge-2", "boundaries": "joined"},
    {"metric": "rouge-1", "measure": "f1"},
    {"metric": "rouge-1+rouge-2", "measure": "f1"},
    {"metric": "rouge-1+rouge-2", "measure": "precision"},
    {"metric": "ngram-1-2"},
    {"metric": "rouge-l"},
    {"metric": "rouge-1", "min_length": 12},
]
REFERENCES = ("pooled", "mean", "best", "first", "agreed")
ENDINGS = ("time", "nodes", "evaluations", "SIGINT", "SIGTERM")
COMMANDS: dict[str, list[str]] = {
    "optsum solve": [],
    "optsum labels": [],
    "optsum enumerate": [],
    "optsum compare": ["--strategies", "greedy,vns"],
    "optsum frontier": ["--lengths", "18:24:6"],
    "optsum score": [],
    "optsum study hirao": [],
    "optsum study gap": [],
}
"""Commands that write rows, with what else they are given."""
CLAIMING = ("optsum solve", "optsum enumerate", "optsum compare")  # Their rows are compared with the optimum.
_TOPICS = 40  # For one command.
_SIGNALS = {signal.SIGINT, signal.SIGTERM}
_GIVEN_UP_S = 120.0  # long, because kernels may have to be compiled


def topic(seed: int) -> dict[str, Any]:
    """Return a topic of a dozen sentences and three references."""
    rng = Random(seed)
    words = [f"w{number}" for number in range(25)]

    def text(sentences: int) -> list[str]:
        return [" ".join(rng.choices(words, k=rng.randint(2, 7))) for _ in range(sentences)]

    return {"id": str(seed), "documents": [text(11)], "references": [text(3) for _ in range(3)]}


@cache
def truth(seed: int, options: str) -> tuple[Fraction | None, int] | None:
    """Return the optimum and the number of optimal selections, or None if the problem is not supported."""
    try:
        found = optsum.enumerate_optima(topic(seed), strategy="exhaustive", **json.loads(options))
    except optsum.OptsumError:
        return None
    return found.result.key, found.count  # type: ignore[return-value]


@cache
def greedy_finds(seed: int, options: str) -> bool:
    """Return whether greedy search finds a selection within the same limits."""
    return optsum.solve(topic(seed), strategy="greedy", **json.loads(options)).selection is not None


def wrong(row: dict[str, Any], known: tuple[Fraction | None, int]) -> str | None:
    """Return the false claims of a row."""
    best, count = known
    value = None if row.get("objective_exact") is None else Fraction(row["objective_exact"])
    bound = None if row.get("bound_exact") is None else Fraction(row["bound_exact"])
    if row["status"] == "optimal" and value != best:
        return "optimal"
    if row["status"] == "infeasible" and best is not None:
        return "infeasible"
    if best is not None and bound is not None and bound < best:
        return "bound"
    if best is not None and value is not None and value > best:
        return "objective"
    return "count" if row.get("complete") and row.get("count") != count else None


def run_command(verb: str, given: dict[str, Any], options: dict[str, Any], out: Path, *more: str) -> int:
    """Run a command on topics that differ only in their ids, and return its exit status."""
    topics, systems = (out.with_suffix(f".{kind}.jsonl") for kind in ("topics", "systems"))
    ids = [f"{given['id']}.{number}" for number in range(_TOPICS)]
    topics.write_text("".join(json.dumps({**given, "id": each}) + "\n" for each in ids))
    written = [{"topic_id": each, "system": "s", "summary": given["documents"][0][:2]} for each in ids]
    systems.write_text("".join(json.dumps(each) + "\n" for each in written))
    taken = dict(options)
    if verb not in {"optsum solve", "optsum labels"}:
        taken.pop("strategy", None)
    if verb.startswith("optsum study"):
        taken = {name: taken[name] for name in ("max_length", "time_limit") if name in taken}
    flags = [part for name, value in taken.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    inputs = [str(topics), *([str(systems)] if verb == "optsum score" else [])]
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        return command([*verb.split()[1:], *inputs, "-o", str(out), *COMMANDS[verb], *flags, *more])


def _work(verb: str, given: dict[str, Any], options: dict[str, Any], far: Any, out: Path) -> None:
    faulthandler.enable()  # a crash prints where it happened
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    far.send("ready")
    began, used, status = perf_counter(), process_time(), 0
    rows: list[dict[str, Any]] = []
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        if verb in COMMANDS:
            status = run_command(verb, given, options, out)
        elif verb == "enumerate":
            rows.append(optsum.enumerate_optima(given, **options).to_result(max_solutions=0).to_row())
        else:
            rows.append(optsum.solve(given, **options).to_row())
    except (KeyboardInterrupt, optsum.OptsumError) as error:
        rows.append({"status": type(error).__name__})
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    far.send((perf_counter() - began, process_time() - used, rows, status))


def ended(
    verb: str, given: dict[str, Any], options: dict[str, Any], number: signal.Signals | None, after: float, folder: Path
) -> tuple[float, float, list[dict[str, Any]], int] | None:
    """Return the delay after the requested end, in wall-clock and CPU time, the rows and the exit status.

    None if the process hung. The status is -1 if a signal came before the command handled signals.
    """
    near, far = multiprocessing.Pipe(duplex=False)
    for file in folder.iterdir():
        file.unlink()
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(verb, given, options, far, folder / "out.jsonl")
    )
    process.start()
    far.close()  # so that the end of the process closes the pipe
    near.recv()
    if number is not None and not near.poll(after) and process.pid is not None:
        os.kill(process.pid, number)
    try:
        answer = near.recv() if near.poll(_GIVEN_UP_S) else None
    except EOFError:  # a signal came before the command handled signals
        answer = (after, after, [], -1)
    process.kill()
    process.join()
    near.close()
    if answer is None or process.exitcode not in {0, -signal.SIGKILL, -(number or 0)}:
        return None
    seconds, used, rows, status = answer
    return max(0.0, seconds - after), used - after, rows, status


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def left_by(
    verb: str, given: dict[str, Any], options: dict[str, Any], folder: Path, status: int, number: int
) -> tuple[list[dict[str, Any]], str | None]:
    """Return the rows that a command left, and the fault in them, in its exit status or in its resumption, if any."""
    out = folder / "out.jsonl"
    try:
        rows = _lines(out) or _lines(out.with_name("out.jsonl.part"))
    except ValueError:
        return [], "half a row"
    if not number or status == 2:
        return rows, None
    if status not in {0, 1, -1, 128 + number}:
        return rows, f"status {status}"
    again = "--overwrite" if verb == "optsum score" else "--resume"  # `optsum score` has no --resume
    resumed = run_command(verb, given, options, out, again)
    if resumed == 2 and run_command(verb, given, options, folder / "other.jsonl") == 2:
        return rows, None  # the command is refused, however it is ended
    if resumed not in {0, 1}:
        return rows, f"resumed with status {resumed}"
    if len({row.get("id", row.get("topic_id")) for row in _lines(out)} - {None}) != _TOPICS:
        return rows, "topics are missing after --resume"
    return rows, "a .part is left" if out.with_name("out.jsonl.part").exists() else None


def cases(rng: Random) -> Iterator[tuple[str, int, dict[str, Any], str, float]]:
    """Yield a kind of search, a topic, options, the way to end it, and the time."""
    exact = [name for name in STRATEGIES if STRATEGIES.load(name).exact]
    while True:
        verb = rng.choice(["solve", "enumerate", *COMMANDS])
        names = [name for name in exact if STRATEGIES.load(name).enumerates] if verb == "enumerate" else [*STRATEGIES]
        options = {"max_length": 24, "references": rng.choice(REFERENCES), **rng.choice(OBJECTIVES)}
        ending = rng.choice(["SIGINT", "SIGTERM", *ENDINGS] if verb in COMMANDS else ENDINGS[:4])
        after = 10 ** rng.uniform(*((-2.5, 0) if verb in COMMANDS else (-3.5, -1)))
        yield verb, rng.randrange(12), options | {"strategy": rng.choice(names)}, ending, after


def main() -> None:
    """Run trials until the time is over, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--late", type=float, default=1.0, help="seconds after its end that a search may take")
    given = parser.parse_args()
    compile_at_once()
    tried, false, lost, late, broken = (Counter[str]() for _ in range(5))
    worst, began, rng = (0.0, 0.0, ""), perf_counter(), Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        for verb, seed, options, ending, after in cases(rng):
            if perf_counter() - began > given.seconds:
                break
            asked = {name: value for name, value in options.items() if name != "strategy"}
            known = truth(seed, json.dumps(asked, sort_keys=True))
            if known is None:
                continue
            limit = {"time": ("time_limit", after), "nodes": ("node_limit", 1), "evaluations": ("evaluation_limit", 5)}
            extra = dict([limit[ending]]) if ending in limit else {}
            number = getattr(signal, ending) if ending.startswith("SIG") else None
            answer = ended(verb, topic(seed), {**options, **extra}, number, after, Path(name))
            tried[ending] += 1
            what = f"{verb} {topic(seed)['id']} {options} {extra or ending} {after:.4f}"
            if answer is None:
                late[ending] += 1
                print("killed:", what, flush=True)
                continue
            seconds, used, rows, status = answer
            if verb in COMMANDS:
                rows, fault = left_by(verb, topic(seed), {**options, **extra}, Path(name), status, number or 0)
                if fault is not None:
                    broken[ending] += 1
                    print("broken:", fault, what, flush=True)
            if verb not in COMMANDS or (number and status == 128 + number):
                worst = max(worst, (seconds, used, what))
                if min(seconds, used) > given.late:
                    late[ending] += 1
                    print(f"late: {seconds:.2f} s, {used:.2f} s of the processor", what, flush=True)
            for row in rows if verb in CLAIMING or verb not in COMMANDS else ():
                if row["status"] in {"error", "KeyboardInterrupt", "UnsupportedError", "OptionError"}:
                    continue
                if (claim := wrong(row, known)) is not None:
                    false[ending] += 1
                    print("false:", claim, what, row.get("objective_exact"), row.get("bound_exact"), known, flush=True)
                proving = (
                    STRATEGIES.load(row.get("strategy", options["strategy"])).exact
                    and known[0] is not None
                    and not number
                )
                within = {} if ending == "time" else extra  # a first selection is found within any time limit
                if row["status"] == "no_solution" and proving and greedy_finds(seed, json.dumps({**asked, **within})):
                    lost[ending] += 1
                    print("lost:", what, flush=True)
    for ending in ENDINGS:
        counts = {"false": false, "lost": lost, "late": late, "broken": broken}
        said = ", ".join(f"{name} {count[ending]}" for name, count in counts.items())
        print(f"{ending:12} tried {tried[ending]:5}, {said}")
    print(f"the latest: {worst[0]:.2f} s ({worst[1]:.2f} s of the processor) after its end was due: {worst[2]}")


if __name__ == "__main__":
    main()
