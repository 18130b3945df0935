"""Check that rows do not depend on who works: one process, several, threads, dask, or processes that are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from processes import children_of, living, wait_for
from timeless import timeless
from worker_jobs import deadly_search, dies_first, dies_of, lost, slow_first, text_of

import optsum
from optsum.cli import main
from optsum.corpus.row_files import read_rows
from optsum.running.executors import Given, Local
from optsum.running.workers import as_done, in_order

NEWS = Path(__file__).parents[3] / "examples" / "data" / "news.jsonl"
SCRIPT = Path(__file__).parents[3] / "benchmarks" / "kills.py"
OPTIONS: dict[str, Any] = {"max_length": 60, "strategy": "branch-and-bound", "metric": "rouge-2"}


@pytest.fixture(scope="module")
def alone() -> list[str]:
    """Return the rows of a single process."""
    return timeless(result.to_row() for result in optsum.solve_all(NEWS, **OPTIONS))


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Start a scheduler and two workers by dask's own commands; yield the address."""
    named, started = folder / "scheduler.json", []

    def start(*arguments: str) -> None:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        with (folder / f"log-{len(started)}").open("wb") as log:
            started.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=folder))

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(named))
        wait_for(lambda: named.exists() and named.read_text().strip().endswith("}"))
        address = json.loads(named.read_text())["address"]
        for _ in range(2):
            start("worker", address, "--nthreads", "1", "--local-directory", str(folder), "--death-timeout", "60")
        yield address
    finally:
        left = {child for each in started for child in children_of(each.pid)}
        for process in started:
            process.kill()
            process.wait()
        for child in left & living():
            with suppress(ProcessLookupError):
                os.kill(child, 9)


def test_a_dask_cluster_gives_the_same_rows(tmp_path: Path, alone: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    Path("e.toml").write_text(f'topics = "{NEWS}"\n' + "".join(f"{n} = {json.dumps(v)}\n" for n, v in OPTIONS.items()))
    with cluster(tmp_path) as address:
        flags = ["--executor", "dask", "--scheduler", address]
        assert main(["run", "e.toml", "run", *flags]) == 0
        assert timeless(read_rows("run")) == alone
        solved = [result.to_row() for result in optsum.solve_all(NEWS, executor="dask", scheduler=address, **OPTIONS)]
        assert [each["id"] for each in solved] == [topic.id for topic in optsum.read_topics(NEWS)]  # in order
        assert timeless(solved) == alone


def test_a_scheduler_that_does_not_answer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("optsum.running.executors._CONNECT_S", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        flags = ["--executor", "dask", "--scheduler", address]
        assert main(["solve", str(NEWS), "--max-length", "9", "--strategy", "lead", "-o", "/dev/null", *flags]) == 2
        assert f"The scheduler {address} does not respond" in capsys.readouterr().err


@pytest.mark.parametrize(
    "executor",
    [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2)],
    ids=["threads", "processes"],
)
def test_any_executor_gives_the_same_rows(tmp_path: Path, alone: list[str], executor: Callable[[], Any]) -> None:
    assert timeless(result.to_row() for result in optsum.solve_all(NEWS, executor=executor, **OPTIONS)) == alone
    with executor() as own:
        optsum.run({"topics": NEWS, **OPTIONS}, tmp_path / "run", executor=own, progress=False)
        assert own.submit(abs, -1).result() == 1  # the caller's executor is not shut down
    assert timeless(read_rows(tmp_path / "run")) == alone
    with pytest.raises(optsum.ExecutorError, match="accepts no work"):
        list(optsum.solve_all(NEWS, executor=own, **OPTIONS))


def test_an_executor_that_breaks_is_made_again_if_that_can_be() -> None:
    work = partial(dies_of, deadly=(3,))
    crew = Given(lambda: ProcessPoolExecutor(2))
    done = [found for results in in_order(work, range(6), crew, lost) for found in results]
    assert [result.error == "lost" for result in done] == [item == 3 for item in range(6)]
    with ProcessPoolExecutor(2) as own, pytest.raises(optsum.ExecutorError, match="a function that makes executors"):
        list(in_order(work, range(6), Given(own), lost))


def test_answers_come_as_they_are_done_and_each_once() -> None:
    work = partial(dies_of, deadly=(7,))
    found = [answer for answers in as_done(work, range(20), Local(2), lost, text_of) for answer in answers]
    assert sorted(item for item, _ in found) == list(range(20))
    assert sorted(item for item, text in found if text == "lost") == [7]


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_that_dies_beside_a_topic_is_no_loss(tmp_path: Path, times: int) -> None:
    """Let it die once in a batch and once alone, since another topic may have killed the process either time."""
    work = partial(dies_first, folder=tmp_path, deadly=(5,), times=times)
    found = [answer for answers in as_done(work, range(20), Local(2), lost, text_of) for answer in answers]
    assert sorted(item for item, text in found if text != "lost") == list(range(20))


def test_a_slow_topic_does_not_keep_others_back() -> None:
    rounds = as_done(slow_first, range(5), Local(2), lost, text_of)
    assert next(rounds)[0][0] != 0
    rounds.close()


@pytest.mark.slow
def test_memory_that_runs_out_is_an_error_row(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux counts the memory of a process so")
    code = (
        "import numpy, optsum\n"
        "from optsum.running.executors import Local\n"
        "from optsum.running.workers import in_order\n"
        "from worker_jobs import lost, takes\n"
        "print([r.error or 'fine' for rs in in_order(takes, [1, 5000, 2], Local(2, 10**9), lost) for r in rs])\n"
    )
    support = Path(__file__).parents[2] / "support"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(support)!r})\n{code}"],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(support)},
    )  # fmt: skip
    assert done.stdout.startswith("['fine', 'memory ran out"), done.stdout + done.stderr
    assert done.stdout.endswith("'fine']\n")


@pytest.mark.slow
def test_a_topic_that_kills_its_process_is_tried_again_and_is_an_error_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = property(lambda settings: partial(deadly_search, settings=settings))  # workers have the real one
    monkeypatch.setattr("optsum.experiments.RunSettings.search", deadly)
    done = optsum.run({"topics": NEWS, **OPTIONS}, tmp_path / "run", workers=2, progress=False)
    assert (done.done, done.failed) == (8, 1)
    assert done.first_error is not None
    assert "it killed its process twice" in done.first_error
    monkeypatch.undo()
    assert optsum.run({"topics": NEWS, **OPTIONS}, tmp_path / "run", resume=True, progress=False).failed == 0


@pytest.mark.slow
@pytest.mark.skipif(not SCRIPT.exists() or os.name != "posix", reason="needs the source tree, and signals")
def test_nothing_is_lost_whoever_is_killed() -> None:
    # Four of six ways to kill; `test_signals` tests SIGTERM and Ctrl-C of the first process.
    command = [sys.executable, str(SCRIPT), "--kills", "4", "--topics", "150", "--only", "loky"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| 1 | SIGKILL to the driver | loky |" in done.stdout
    assert "4 kills;" in done.stdout
    assert "; 0 faults" in done.stdout
