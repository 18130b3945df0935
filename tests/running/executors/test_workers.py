"""Several processes: the same results, and none of them left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from worker_jobs import dies_of, lost, row, waits

import optsum
from optsum.running.executors.local import Local
from optsum.running.executors.workers import in_order


def alive(processes: set[int]) -> set[int]:
    """Return those that still run; a zombie does not."""
    found = set()
    for process in processes:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.add(process)
    return found


def test_two_processes_give_the_same_as_one() -> None:
    topics = [
        {"id": f"t{number}", "documents": [["a b c", "c d", "e f g"]], "references": [["b c d e"][: number % 3]]}
        for number in range(40)
    ]
    options: dict[str, Any] = {"max_length": 4, "strategy": "random", "seed": 5}
    several, one = ([*optsum.solve_all(topics, workers=workers, **options)] for workers in (2, 1))
    assert [result.id for result in several] == [topic["id"] for topic in topics]
    for left, right in zip(several, one, strict=True):
        assert (left.status, left.selection, left.key, left.error) == (
            right.status, right.selection, right.key, right.error,
        )  # fmt: skip
        assert left.config_hash == right.config_hash


def test_work_is_shared_and_stays_in_order() -> None:
    done = [result for results in in_order(row, range(60), Local(2), lost) for result in results]
    assert [result.id for result in done] == list(map(str, range(60)))
    assert str(os.getpid()) not in {str(result.error).split()[-1] for result in done}


def test_the_input_is_read_as_far_as_needed() -> None:
    read = []

    def source() -> Any:
        for number in range(10_000):
            read.append(number)
            yield number

    results = in_order(row, source(), Local(2), lost)
    for _ in range(5):
        next(results)
    results.close()
    assert len(read) < 500


def test_a_process_that_dies_costs_its_item_and_no_other() -> None:
    work = partial(dies_of, deadly=(7, 21))
    done = [result for results in in_order(work, range(40), Local(2), lost) for result in results]
    assert [result.id for result in done] == list(map(str, range(40)))
    assert [result.id for result in done if result.error == "lost"] == ["7", "21"]


def test_a_reader_that_leaves_early_leaves_no_work_behind(tmp_path: Path) -> None:
    results = in_order(partial(waits, folder=tmp_path), range(100), Local(2), lost)
    process = int(str(next(results)[0].error).split()[-1])
    began = time.perf_counter()
    results.close()
    assert time.perf_counter() - began < 20
    assert alive({process}) == set()
    assert len(list(tmp_path.iterdir())) < 10


def test_an_input_that_fails_is_no_result() -> None:
    def source() -> Any:
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(in_order(row, source(), Local(2), lost))


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_a_process_that_is_being_started_hears_no_ctrl_c() -> None:
    code = (
        "import signal, loky\n"
        "from optsum.running.executors.local import Local\n"
        "make, held = loky.get_reusable_executor, []\n"
        "def watched(*arguments, **named):\n"
        "    made = make(*arguments, **named)\n"
        "    made.submit(abs, 1)\n"  # starts processes
        "    held.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
        "    return made\n"
        "loky.get_reusable_executor = watched\n"
        "crew = Local(1)\n"
        "print(crew.submit(abs, -3).result(), held, signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
        "crew.end([])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3 [True] False\n", done.stderr
