"""Code that runs where the work is done: a batch of items, and Ctrl-C, which may come as a signal or as a message."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from types import FrameType
from typing import Any, Final, Generic, TypeVar

from optsum.contracts.result import Result, Termination
from optsum.errors import show_tracebacks
from optsum.system.processes.children import end_with
from optsum.system.processes.signal_guard import is_postponed

Item = TypeVar("Item")
Answer = TypeVar("Answer")

STOP: Final = {signal.SIGINT, signal.SIGTERM}  # What ends the work in good order.

KEEPS_MEMORY: Final = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
"""Environment in which a process keeps memory that is free: every search takes as much again, and would have the system
fill it anew."""


@dataclass(frozen=True, slots=True)
class Job(Generic[Item, Answer]):
    """The work on each item; pickled for other processes."""

    # Returns the results of one item; it ends early, with a result whose termination is "interrupted" in the last
    # place, if Ctrl-C ended a search.
    work: Callable[[Any], list[Result]]
    answer: Callable[[Item, list[Result]], Answer]  # Makes of an item and its results what is sent back.
    name: str = ""  # Of the whole run, by which it alone can be interrupted.
    # Returns what `work` is given in place of several items, each in its place.
    together: Callable[[list[Item]], list[Any]] = list


LONG_S: Final = 1.0  # Work on one batch after which what is done is handed over first.


@dataclass(frozen=True, slots=True)
class Done(Generic[Answer]):
    """The outcome of a batch: the answers, one for each item unless Ctrl-C came or it took long, and the seconds."""

    answers: list[Answer]
    seconds: float
    interrupted: bool


def is_interrupted(results: list[Result]) -> bool:
    """Return whether Ctrl-C ended the search of the last result."""
    return bool(results) and results[-1].termination is Termination.INTERRUPTED


def worth_keeping(results: list[Result]) -> list[Result]:
    """Return interrupted results without a last one that holds nothing."""
    return results if results[-1].selection is not None else results[:-1]


class _Interrupts:
    """Ctrl-C or SIGTERM in a process, or a message to a thread: ends the search there is, and whatever comes later."""

    def __init__(self) -> None:
        self.came = False
        self._lock = threading.Lock()
        self._ended: set[str] = set()
        self._working: dict[int, str] = {}

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Be the handler of a signal, in the main thread."""
        if is_postponed(number, frame):
            return
        first, self.came = not self.came, True
        if first and threading.get_ident() in self._working:
            raise KeyboardInterrupt

    def has_ended(self, name: str) -> bool:
        return self.came or name in self._ended

    def end(self, name: str) -> None:
        """Interrupt the threads that work for a run."""
        with self._lock:
            self._ended.add(name)
            for thread, run in self._working.items():
                if run == name:
                    _raise_in(thread, KeyboardInterrupt)

    @contextmanager
    def working(self, name: str) -> Iterator[None]:
        """Let Ctrl-C end what is done meanwhile, here."""
        thread = threading.get_ident()
        try:
            self._working[thread] = name
            yield
        except KeyboardInterrupt:
            pass
        finally:
            with self._lock:
                del self._working[thread]
                if name in self._ended:
                    _raise_in(thread, None)  # one that comes only now would hit whoever waits for more work here


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), None if error is None else ctypes.py_object(error)
    )


_interrupts = _Interrupts()


def interrupt_here(name: str) -> None:
    """End the work of a run in this process, and what is sent to it later."""
    _interrupts.end(name)


def start_process(parent: int, tracebacks: bool, memory: int | None, folder: str | None) -> None:
    """Get a process ready that works and does nothing else.

    `folder`: the current one of its parent, where relative paths begin.
    """
    end_with(parent, natively=True)
    for number in STOP:
        signal.signal(number, _interrupts)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP)
    if memory is not None:
        limit_memory(memory)
    if tracebacks:
        show_tracebacks()
    if folder is not None:
        os.chdir(folder)


def limit_memory(size: int) -> None:
    """Limit the memory for data of this process, and of each that it starts, to a number of bytes.

    Only where the system counts them so, which Linux does.
    """
    if sys.platform == "linux":
        import resource

        _, highest = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (size, highest))


def work_on(job: Job[Item, Answer], batch: list[Item]) -> Done[Answer]:
    """Return what becomes of a batch, or of its beginning if it takes longer than `LONG_S`."""
    began = perf_counter()
    answers: list[Answer] = []
    with _interrupts.working(job.name):
        for item, prepared in zip(batch, _prepared(job, batch), strict=False):
            if _interrupts.has_ended(job.name) or (answers and perf_counter() - began > LONG_S):
                break
            results = job.work(prepared)
            if is_interrupted(results):
                if kept := worth_keeping(results):
                    answers.append(job.answer(item, kept))
                break
            answers.append(job.answer(item, results))
    return Done(answers, perf_counter() - began, _interrupts.has_ended(job.name))


AT_ONCE: Final = 64
"""Items that are prepared together."""


def _prepared(job: Job[Item, Answer], batch: list[Item]) -> Iterator[Any]:
    for place in range(0, len(batch), AT_ONCE):
        yield from job.together(batch[place : place + AT_ONCE])


def results_alone(item: Any, results: list[Result]) -> list[Result]:
    """Be the `Job.answer` of who wants the results as they are."""
    del item
    return results
