"""Check that kernels compiled by two processes are all compiled once, whatever happens to the other process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from optsum.system import compiled as compiling
from optsum.system import parallel_compile
from optsum.system.compiled import collected, compiles, on_first_compilation
from optsum.system.parallel_compile import compile_parts


def compile_something() -> None:
    """Call the hooks that follow the first message of numba's compiler."""
    while compiling._hearing:
        compiling._hearing.pop()()


def recorders(number: int, done: list[int]) -> list[Callable[[], object]]:
    def one(place: int) -> Callable[[], object]:
        def part() -> None:
            compile_something()
            done.append(place)

        return part

    return [one(place) for place in range(number)]


def test_collected_parts_are_called_once_and_later() -> None:
    called: list[int] = []
    first, second = (compiles(part) for part in recorders(2, called))

    def work() -> None:
        first()
        second()
        first()

    parts = collected(work)
    assert (len(parts), called) == (2, [])
    work()
    assert called == [0, 1]  # each part once


def test_preparation_waits_until_a_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check this because cached kernels are loaded when they are called, and others never."""
    found = compiling.Patience()
    found.left_s = 3.0
    monkeypatch.setattr(compiling, "patience", found)
    monkeypatch.setattr(compiling, "_NUMBA", "optsum.no_such_module")
    monkeypatch.setattr(compiling, "_waiting", {})
    monkeypatch.setattr(compiling, "plain_of", lambda _: None)
    kept, other = (compiling.Kernel(function, {}) for function in (min, max))
    kept.is_kept, other.is_kept = True, False

    def compile_(kernel: compiling.Kernel, _: object, tell: object = None) -> None:
        if kernel is kept or tell is not None:
            kernel.compiled = kernel.py_func

    monkeypatch.setattr(compiling, "_compile", compile_)
    called: list[int] = []
    compiles(lambda: called.append(0))()
    found.load()
    assert (kept(3, 2), called) == (2, [])
    assert (other(3, 2), called) == (3, [0])


def test_collecting_ends_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        collected(lambda: 1 / 0)
    called: list[int] = []
    compiles(recorders(1, called)[0])()
    assert called == [0]


def test_nothing_is_started_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    done: list[int] = []
    compile_parts([lambda: done.append(0), lambda: done.append(1)])
    assert done == [0, 1]
    with on_first_compilation(lambda: done.append(2)):
        pass
    compile_something()
    assert done == [0, 1]


def test_one_processor_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    monkeypatch.setattr(parallel_compile, "_processors", lambda: 1)
    done: list[int] = []
    compile_parts(recorders(3, done))
    assert done == [0, 1, 2]


@pytest.mark.parametrize("python", ["/no/such/python", sys.executable])
def test_a_process_that_fails_costs_nothing(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test a process that cannot start, and one that cannot import the functions of this test."""
    monkeypatch.setattr(parallel_compile, "_processors", lambda: 2)
    monkeypatch.setattr(
        parallel_compile, "python", lambda *_: [python, "-c", "import sys; sys.stdin.read(); sys.exit(3)"]
    )
    done: list[int] = []
    progress: list[int] = []
    compile_parts(recorders(3, done), lambda: progress.append(1))
    assert (done, len(progress)) == ([0, 1, 2], 3)


def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_compile, "_processors", lambda: 2)
    monkeypatch.setattr(parallel_compile, "python", lambda *_: [sys.executable, "-c", "import time; time.sleep(600)"])
    started: list[Any] = []
    real = subprocess.Popen

    def popen(*given: Any, **named: Any) -> Any:
        started.append(real(*given, **named))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    done: list[int] = []
    compile_parts(recorders(2, done))
    assert done == [0, 1]
    assert [process.poll() is not None for process in started] == [True]


@pytest.mark.parametrize(
    ("said", "number", "heard"),
    [
        ([2], 1, 1),  # the process works on a later part
        ([2, 1, None], 2, 3),  # the process has finished this part
        ([1, None], 1, 2),  # the process works on this part, and finishes
    ],
)
def test_the_other_process_is_waited_for_only_at_its_current_part(
    said: list[int | None], number: int, heard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = parallel_compile._Helper([compile_something] * 3)
    helper._process = SimpleNamespace(kill=lambda: None, wait=lambda: None)  # type: ignore[assignment]
    for each in said:
        helper._said.put(each)
    helper.wait_for(number)
    assert len(said) - helper._said.qsize() == heard
    assert (helper._process is None) == (None in said[:heard])
