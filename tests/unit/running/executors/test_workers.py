"""Check that several processes give the results of one, survive deaths, and leave none behind."""

from __future__ import annotations

import multiprocessing
import os
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import loky
import pytest
from worker_jobs import dies_of, dies_sending, lost, row, text_of, waits

import optsum
from optsum.corpus.topics import Lines
from optsum.experiments import Item, RunSettings
from optsum.running.executors import Given, Local, Results
from optsum.running.workers import Job, all_results, as_done, in_order, work_on
from optsum.system.clock import Termination


def alive(processes: set[int]) -> set[int]:
    """Return the processes that still run and are not zombies."""
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
    assert len(read) < 2 * 4 * 128 + 200  # the batches that two processes work on


@pytest.mark.parametrize("ordered", [True, False])
def test_a_batch_that_takes_long_is_handed_over_in_pieces(monkeypatch: pytest.MonkeyPatch, ordered: bool) -> None:
    worked = []

    def quick(item: int) -> list[Any]:
        worked.append(item)
        time.sleep(0.002 if item > 150 else 0.0)
        return row(item)

    monkeypatch.setattr("optsum.running.workers.LONG_S", 0.01)
    with ThreadPoolExecutor(2) as pool:
        if ordered:
            done = [result.id for results in in_order(quick, range(400), Given(pool), lost) for result in results]
        else:
            handed = list(as_done(quick, range(400), Given(pool), lost, text_of))
            done = sorted((str(item) for answers in handed for item, _ in answers), key=int)
            assert max(map(len, handed[-20:])) <= 7
    assert done == list(map(str, range(400)))
    assert sorted(worked) == list(range(400))  # each item once


def test_a_process_that_dies_costs_its_item_and_no_other() -> None:
    work = partial(dies_of, deadly=(7, 21))
    done = [result for results in in_order(work, range(40), Local(2), lost) for result in results]
    assert [result.id for result in done] == list(map(str, range(40)))
    assert [result.id for result in done if result.error == "lost"] == ["7", "21"]


@pytest.mark.skipif(os.name != "posix", reason="Windows sends messages whole")
@pytest.mark.parametrize("sent", [2, 100])
def test_a_process_that_is_killed_while_it_sends_is_noticed(tmp_path: Path, sent: int) -> None:
    work = partial(dies_sending, folder=tmp_path, deadly=7, sent=sent)
    done = [result for results in in_order(work, range(40), Local(2), lost) for result in results]
    assert [result.id for result in done] == list(map(str, range(40)))
    assert [result.id for result in done if result.error == "lost"] == []
    assert (tmp_path / "died-7").exists()


@pytest.mark.skipif(os.name != "posix", reason="Windows sends messages whole")
def test_an_idle_process_that_ends_does_not_interrupt_another_s_message() -> None:
    """Test an idle process that ends, as after a minute without work, while another sends a long message."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    ended, closed = os.pipe()
    os.close(closed)
    idle, dead = (SimpleNamespace(sentinel=ended, exitcode=status) for status in (0, -9))
    message = struct.pack("!i", 5) + b"hello"
    for process, expected in ((idle, b"hello"), (dead, None)):
        results = Results(os.dup(reader.fileno()), {1: process})
        os.write(writer.fileno(), message[:6])
        rest = threading.Timer(0.3, os.write, [writer.fileno(), message[6:]])
        rest.start()
        if expected is None:
            with pytest.raises(EOFError, match="a process died while results were sent"):
                results.recv_bytes()
        else:
            assert results.recv_bytes() == expected
        rest.join()
        results.close()
    for end in (reader, writer):
        end.close()
    os.close(ended)


def test_processes_that_break_while_work_is_handed_over_are_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    make, made = loky.get_reusable_executor, []

    def breaks(*arguments: Any, **named: Any) -> Any:
        made.append(make(*arguments, **named))
        if len(made) == 1:
            made[0]._flags.flag_as_broken(loky.BrokenProcessPool("a process died just now"))
        return made[-1]

    earlier = Local(1)
    earlier.submit(abs, -1).result()
    earlier.end([])  # also ends processes that other tests have left
    monkeypatch.setattr("loky.get_reusable_executor", breaks)
    crew = Local(1)
    assert crew.submit(abs, -1).result() == 1
    assert made[0] is not made[1]
    crew.end([])


def test_pipes_to_and_from_processes_are_wide() -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux has pipes of any width")
    from fcntl import F_GETPIPE_SZ, F_SETPIPE_SZ, fcntl

    for end in os.pipe():
        try:
            fcntl(end, F_SETPIPE_SZ, 1 << 20)
        except OSError as error:
            pytest.skip(f"this user has no wide pipes: {error}")
        finally:
            os.close(end)
    crew = Local(1)
    assert crew.submit(abs, -1).result() == 1
    executor = loky.get_reusable_executor(1, reuse=True)
    pipes = [executor._result_queue._reader, executor._result_queue._writer, executor._call_queue._writer]
    assert {fcntl(pipe.fileno(), F_GETPIPE_SZ) for pipe in pipes} == {1 << 20}
    crew.end([])


def test_a_reader_that_leaves_early_leaves_no_work_behind(tmp_path: Path) -> None:
    results = in_order(partial(waits, folder=tmp_path), range(100), Local(2), lost)
    process = int(str(next(results)[0].error).split()[-1])
    began = time.perf_counter()
    results.close()
    assert time.perf_counter() - began < 20
    assert alive({process}) == set()
    assert len(list(tmp_path.iterdir())) < 10


def test_processes_that_stay_are_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert Local(1).submit(os.getcwd).result() == str(tmp_path / name)


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
        "from optsum.running.executors import Local\n"
        "make, held = loky.get_reusable_executor, []\n"
        "def watched(*arguments, **named):\n"
        "    made = make(*arguments, **named)\n"
        "    made.submit(abs, 1)\n"  # starts worker processes
        "    held.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
        "    return made\n"
        "loky.get_reusable_executor = watched\n"
        "crew = Local(1)\n"
        "print(crew.submit(abs, -3).result(), {*held}, signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
        "crew.end([])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3 {True} False\n", done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("hears", ["optsum.running.workers:_interrupts", "optsum.cli.signals:Signals"])
def test_a_signal_that_meets_the_end_of_an_object_is_heard_soon_after(hears: str) -> None:
    """Test this because Python prints an exception raised in `__del__` and continues."""
    module, name = hears.split(":")
    code = (
        "import os, signal, time\n"
        f"from {module} import {name} as heard\n"
        "class Ending:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        print('thrown away')\n"
        "if isinstance(heard, type):\n"
        "    working = heard()\n"
        "else:\n"
        "    signal.signal(signal.SIGINT, heard)\n"
        "    working = heard.working('')\n"
        "try:\n"
        "    with working:\n"
        "        Ending()\n"
        "        time.sleep(600)\n"
        "except KeyboardInterrupt:\n"
        "    pass\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("thrown away\n", "", 0)


def test_a_killed_process_causes_no_warnings(tmp_path: Path) -> None:
    code = (
        "import optsum, os, signal\n"
        "topics = [{'id': str(n), 'documents': [['a b', 'c']], 'references': [['a']]} for n in range(20)]\n"
        "print(len(list(optsum.solve_all(topics, max_length=2, strategy='lead', workers=2))), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    said, warned = process.communicate(timeout=60)  # returns when all child processes have ended
    assert (process.returncode, said) == (-9, "20\n")
    assert warned == ""


def test_a_topic_whose_last_search_was_cut_has_no_rows_in_a_run_and_the_finished_ones_elsewhere() -> None:
    done = optsum.solve(["one two", "three"], ["one"], max_length=2)
    none = optsum.solve(["one two", "three"], ["one"], max_length=2, strategy="greedy", time_limit=1e-9)
    assert none.selection is None
    cut = none.changed(termination=Termination.INTERRUPTED)
    item = Item(0, 0, optsum.as_topic({"id": "t", "documents": [["one"]], "references": [["one"]]}), 0)
    settings = RunSettings((), ({},), (), False)
    assert work_on(Job(lambda _: [done, cut], settings.rows), [item]).answers == [None]
    assert work_on(Job(lambda _: [done, cut], all_results), [item]).answers == [[done]]
    assert work_on(Job(lambda _: [cut], all_results), [item]).answers == []
    with pytest.raises(TypeError, match="rows"):
        all_results(Lines.__new__(Lines), [], [])
