"""The instances known to be hard: what of them is solved within a limit?

    python benchmarks/hard.py DATA_FOLDER [--limit 60] [--rows a,b,f]

Each row has a process of its own, which is killed after twice its limit. Beforehand it solves a small topic, which
compiles most kernels; what is compiled later counts, so run it twice on a fresh cache. A row of several topics has
the limit as a whole: topics that it leaves no time for count as not proven.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from shared.compiled import compile_at_once
from shared.instances import topics_of
from shared.synthetic import DUC_2006, synthetic_topics

import optsum
from optsum.corpus.topic import Topic

SMALL = {"id": "small", "documents": [["a b c", "b c d", "d e"]], "references": [["a b d"], ["b c e"]]}
PROVEN = {optsum.Status.OPTIMAL, optsum.Status.INFEASIBLE}
BOTH_F1: dict[str, Any] = {"metric": "rouge-1+rouge-2", "measure": "f1"}


class Row(NamedTuple):
    """What is asked: of one topic of a set, or of all of them (no `topic`)."""

    asked: str
    source: str
    topic: str | None
    options: dict[str, Any]
    every: bool = False


ROWS = {
    "a": Row("squality:29170, R1+R2 F1", "squality", "squality:29170", BOTH_F1),
    "b": Row("dbs:2 (331 sentences), R1+R2 F1", "dbs", "dbs:2", BOTH_F1),
    "c1": Row("gum, R1+R2 F1, mean of references", "gum", None, {**BOTH_F1, "references": "mean"}),
    "c2": Row("dbs, R1+R2 F1, mean of references", "dbs", None, {**BOTH_F1, "references": "mean"}),
    "d": Row("GUM_speech_humanitarian, R1+R2 F1, all", "gum", "gum:GUM_speech_humanitarian", BOTH_F1, every=True),
    "e": Row("50 of DUC-2006's shape, R1", "duc-2006", None, {"metric": "rouge-1", "max_length": 250}),
    "f": Row("gum, sum of F1s by milp", "gum", None, {**BOTH_F1, "strategy": "milp"}),
    "g": Row("squality, R1+R2 recall, mean, by milp", "squality", None, {
        "metric": "rouge-1+rouge-2", "references": "mean", "max_length": 250, "strategy": "milp",
    }),
    "i": Row("squality, preset google (best of four references)", "squality", None, {"preset": "google"}),
    "h1": Row("squality:61198, R1, 20,000 to 20,010 characters", "squality", "squality:61198", {
        "metric": "rouge-1", "length_unit": "characters", "min_length": 20_000, "max_length": 20_010,
    }),
    "h2": Row("qmsum:val-28, R1, 20,000 to 20,100 characters", "qmsum", "qmsum:val-28", {
        "metric": "rouge-1", "length_unit": "characters", "min_length": 20_000, "max_length": 20_100,
        "strategy": "branch-and-bound",
    }),
}  # fmt: skip


def topics(data: Path, row: Row) -> Iterable[Topic]:
    """Return the topics of a row."""
    if row.source == "duc-2006":
        return synthetic_topics(data, DUC_2006, 50)
    found = topics_of(data / row.source / "topics.jsonl")
    return [topic for topic in found if row.topic in (None, topic.id)]


def answers(data: Path, row: Row, limit: float) -> Iterator[tuple[float, bool, float | None, str]]:
    """Yield the seconds of each topic, whether it was proven, the gap, and why there was no answer."""
    ask = optsum.enumerate_optima if row.every else optsum.solve
    left = limit
    for topic in topics(data, row):
        began = perf_counter()
        proven, gap, why = False, None, ""
        if left <= 0:
            why = "no time left"
        else:
            try:
                found: Any = ask(topic, **row.options, time_limit=left)
                proven = found.complete if row.every else found.status in PROVEN
                gap = None if row.every else found.gap
            except optsum.OptsumError as error:
                why = str(error)
        seconds = perf_counter() - began
        left -= seconds
        yield seconds, proven, gap, why


def line(data: Path, row: Row, limit: float) -> str:
    """Measure a row."""
    with contextlib.suppress(optsum.OptsumError):  # the topics will say so
        (optsum.enumerate_optima if row.every else optsum.solve)(SMALL, **row.options)
    found = list(answers(data, row, limit))
    gaps = [gap for _, proven, gap, _ in found if gap is not None and not proven]
    reasons = sorted({why for *_, why in found if why})
    return (
        f"{sum(one[1] for one in found)} of {len(found)} proven, {sum(one[0] for one in found):.2f} s, "
        f"worst {max(one[0] for one in found):.2f} s"
        + (f", gap up to {max(gaps):.4f}" if gaps else "")
        + "".join(f"; {why}" for why in reasons)
    )


def apart(data: Path, row: Row, limit: float) -> str:
    """Measure a row in a process of its own."""
    near, far = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=lambda: far.send(line(data, row, limit)))
    process.start()
    far.close()
    try:
        return str(near.recv()) if near.poll(2 * limit) else f"killed after {2 * limit:g} s"
    except EOFError:
        return "the process died"
    finally:
        process.kill()
        process.join()


def main() -> None:
    """Print one line a row."""
    compile_at_once()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a row")
    parser.add_argument("--rows", default=",".join(ROWS))
    given = parser.parse_args()
    for name in given.rows.split(","):
        print(f"{name:2} {ROWS[name].asked:50} {apart(given.data, ROWS[name], given.limit)}", flush=True)


if __name__ == "__main__":
    main()
