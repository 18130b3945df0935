"""Work on one topic after another, or on several by processes: in the order of the input, and Ctrl-C loses nothing.

Processes stop at Ctrl-C too, and hand over what they have; none is left behind. A process that dies (a solver that
crashes, memory that runs out) costs the topic that it died of, and no other.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import contextmanager
from itertools import islice
from time import perf_counter
from typing import Any, Final, Generic, TypeAlias, TypeVar

from optsum.contracts.result import Result, Termination
from optsum.errors import show_tracebacks, tracebacks_are_shown
from optsum.processes.children import SAFE_PATH, end_with, imports_from_here

Item = TypeVar("Item")
Work: TypeAlias = Callable[[Item], list[Result]]

_AHEAD = 4
"""Batches under way, for each process: enough to keep all busy, few enough that memory does not grow."""

_BATCH_S, _LARGEST_BATCH = 0.1, 16
"""Work that is worth being sent at once; what is sent costs about a millisecond."""

_IDLE_S = 60
"""How long processes wait for more work, so that a next call need not start new ones."""

_GRACE_S = 5.0
"""How long processes may take to hand over what they have after Ctrl-C."""


def stream(
    work: Work[Item], items: Iterable[Item], workers: int, lost: Callable[[Item], list[Result]]
) -> Generator[list[Result], None, None]:
    """Yield ``work(item)`` for each item, in order.

    Parameters
    ----------
    work : callable
        Returns the results of one item; it ends early, with a result whose termination is "interrupted" in the last
        place, if Ctrl-C ended a search. Pickled for processes.
    items : iterable
        Read as far as is needed: memory does not grow with it.
    workers : int
        1 works in this process.
    lost : callable
        What to yield for an item whose process died.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, and after everything that was done by then has been yielded; interrupted searches that hold a
        selection are among it.
    """
    if workers > 1:
        yield from _Pool(work, workers, lost).stream(items)
        return
    for item in items:
        results = work(item)
        if _interrupted(results):
            if kept := _worth_keeping(results):
                yield kept
            raise KeyboardInterrupt
        yield results


def _interrupted(results: list[Result]) -> bool:
    return bool(results) and results[-1].termination is Termination.INTERRUPTED


def _worth_keeping(results: list[Result]) -> list[Result]:
    return results if results[-1].selection is not None else results[:-1]


class _Pool(Generic[Item]):
    """Processes that work on batches of items."""

    def __init__(self, work: Work[Item], workers: int, lost: Callable[[Item], list[Result]]) -> None:
        self._work, self._workers, self._lost = work, workers, lost
        self._under_way: deque[tuple[list[Item], Future[_Done]]] = deque()
        self._executor: Any = None
        self._size = 1

    def stream(self, items: Iterable[Item]) -> Iterator[list[Result]]:
        source = iter(items)
        ended = False
        try:
            while True:
                while len(self._under_way) < _AHEAD * self._workers and (batch := list(islice(source, self._size))):
                    self._submit(batch)
                if not self._under_way:
                    break
                batch, future = self._under_way[0]
                try:
                    done = future.result()
                except BrokenExecutor:
                    yield from self._one_by_one()
                    continue
                self._under_way.popleft()
                yield from _answers(done)
                self._size = max(1, min(_LARGEST_BATCH, int(_BATCH_S * len(batch) / max(done.seconds, 1e-6))))
            ended = True
        except KeyboardInterrupt:
            yield from self._wind_up()
            raise
        finally:
            if not ended:
                self._kill()

    def _submit(self, batch: list[Item]) -> None:
        from loky import get_reusable_executor

        with _signals_held(), imports_from_here():
            self._executor = get_reusable_executor(
                self._workers,
                timeout=_IDLE_S,
                initializer=_start,
                initargs=(os.getpid(), tracebacks_are_shown()),
                env=SAFE_PATH,
            )
            self._under_way.append((batch, self._executor.submit(_work_on, self._work, batch)))

    def _one_by_one(self) -> Iterator[list[Result]]:
        """Work on what was under way when a process died, so that only the item it dies of is lost."""
        items = [item for batch, _ in self._under_way for item in batch]
        self._under_way.clear()
        for item in items:
            self._submit([item])
            try:
                done = self._under_way[0][1].result()
            except BrokenExecutor:
                self._under_way.clear()
                yield self._lost(item)
                continue
            self._under_way.clear()
            yield from _answers(done)

    def _wind_up(self) -> Iterator[list[Result]]:
        """Stop the processes and yield what they have."""
        for _, future in self._under_way:
            future.cancel()
        for process in list(getattr(self._executor, "_processes", None) or {}):
            if os.name == "posix":  # the others got no Ctrl-C if it was sent to this process alone
                os.kill(process, signal.SIGINT)
        until = perf_counter() + _GRACE_S
        for _, future in self._under_way:
            try:
                done = future.result(timeout=max(0.0, until - perf_counter()))
            except (BrokenExecutor, CancelledError, NotYetError):
                continue
            yield from done.answers
        self._under_way.clear()

    def _kill(self) -> None:
        for _, future in self._under_way:
            future.cancel()
        if self._executor is not None:
            with warnings.catch_warnings():  # that there is no pgrep to find a process's own processes with
                warnings.simplefilter("ignore")
                self._executor.shutdown(wait=True, kill_workers=True)


def _answers(done: _Done) -> Iterator[list[Result]]:
    yield from done.answers
    if done.interrupted:
        raise KeyboardInterrupt


_STOP: Final = {signal.SIGINT, signal.SIGTERM}
"""What ends the work in good order."""


@contextmanager
def _signals_held() -> Iterator[None]:
    """Keep Ctrl-C and SIGTERM from a process that is being started, until it is ready for them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In a process.


class _Done:
    """What a process made of a batch."""

    def __init__(self, answers: list[list[Result]], seconds: float, interrupted: bool) -> None:
        self.answers, self.seconds, self.interrupted = answers, seconds, interrupted


class _Interrupt:
    """Ctrl-C or SIGTERM in a process: ends the search there is, and whatever comes later."""

    def __init__(self) -> None:
        self.came = self.working = False

    def __call__(self, *_: object) -> None:
        first, self.came = not self.came, True
        if first and self.working:
            raise KeyboardInterrupt


_interrupt = _Interrupt()


def _start(parent: int, tracebacks: bool) -> None:
    end_with(parent, natively=True)
    for number in _STOP:
        signal.signal(number, _interrupt)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)
    if tracebacks:
        show_tracebacks()


def _work_on(work: Work[Item], batch: list[Item]) -> _Done:
    began = perf_counter()
    answers: list[list[Result]] = []
    try:
        _interrupt.working = True
        for item in batch:
            if _interrupt.came:
                break
            results = work(item)
            if _interrupted(results):
                answers += [kept] if (kept := _worth_keeping(results)) else []
                break
            answers.append(results)
    except KeyboardInterrupt:
        pass
    finally:
        _interrupt.working = False
    return _Done(answers, perf_counter() - began, _interrupt.came)
