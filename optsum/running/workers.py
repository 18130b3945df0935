"""Process items one after another, or by workers; Ctrl-C loses no finished item, and no process is left running.

After Ctrl-C, worker processes stop too, and return their finished items. If a process dies (a solver crashes, memory
runs out), its items are tried again one by one. An item is given up only after two processes died that had only it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from concurrent.futures import TimeoutError as NotYetError
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count, groupby, islice
from time import perf_counter, sleep
from types import FrameType
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar
from uuid import uuid4

from optsum.contracts.result import Result, ResultCounts
from optsum.corpus.topics import Lines, Names
from optsum.errors import ExecutorError, show_tracebacks
from optsum.system.clock import Termination
from optsum.system.processes.children import end_with
from optsum.system.processes.signal_guard import is_amid, is_postponed

Item = TypeVar("Item")
Work: TypeAlias = Callable[[Item], list[Result]]
STOP: Final = {signal.SIGINT, signal.SIGTERM}  # Signals that end the work in an orderly way.
KEEPS_MEMORY: Final = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
"""Environment variables that keep freed memory in a process for the next search; the system would clear it first."""


class Answered(NamedTuple):
    """The results of an item that was searched together with others."""

    results: list[Result]


class Several(list[Result]):
    """The results of several topics that are available at once; `answers`: the results of each topic."""

    def __init__(self, answers: Sequence[list[Result]]) -> None:
        super().__init__(chain.from_iterable(answers))
        self.answers = answers


@dataclass(frozen=True, slots=True)
class Written(Sized):
    """The rows of topics, made in the process that read their `Lines`."""

    ids: list[str | None]  # The id of each topic; None for a topic that cannot be used.
    rows: list[bytes]
    counts: ResultCounts  # Counts of the results in the rows.
    said: Mapping[str, tuple[str, bool]]  # Doubts about the lines (`Notes.said`).

    def __len__(self) -> int:
        return len(self.ids)


Outcomes: TypeAlias = list[Result] | Written  # The results, or rows, of topics that are yielded together.


def topics_in(results: Outcomes) -> int:
    if isinstance(results, Written):
        return len(results)
    return len(results.answers) if isinstance(results, Several) else 1


Batch: TypeAlias = list[Any] | Lines  # Items, or lines with one item each.
Sent: TypeAlias = Callable[[Batch, list[Any], list[list[Result]]], Any]
"""Makes the list, or the `Written`, that a worker returns for a batch, from the items that it did and their results."""


def all_results(batch: Batch, items: list[Any], results: list[list[Result]]) -> list[list[Result]]:
    """Return the results of each item: a function for `Sent`."""
    del items
    if isinstance(batch, Lines):  # their ids would be lost
        raise TypeError("Lines are sent as rows (`Written`).")
    return without_rest(results)


def without_rest(results: list[list[Result]]) -> list[list[Result]]:
    """Return the results of topics; if Ctrl-C ended the last topic, without a last result that has no selection."""
    if not results or not is_interrupted(results[-1]):
        return results
    return [*results[:-1], *filter(None, [worth_keeping(results[-1])])]


@dataclass(frozen=True, slots=True)
class Job:
    """The functions that process items; pickled for other processes."""

    # Returns the results of one item; if Ctrl-C ended a search, that result is the last one, and its termination is
    # "interrupted".
    work: Callable[[Any], list[Result]]
    sent: Sent
    name: str = ""  # Name of the whole run; interrupting that run affects no other.
    # Prepares several items at once: returns, for each, the item for `work`, or its results as `Answered`.
    together: Callable[[list[Any]], list[Any]] = list


class Crew(ABC):
    """Worker processes or threads, on this machine or others.

    `batch_s`: intended seconds of work in a batch, many times the cost of a message. `falls_together`: whether the work
    of all processes is lost when one dies.
    """

    batch_s = 0.2
    falls_together = True

    @property
    @abstractmethod
    def width(self) -> int:
        """Current number of workers, at least 1."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a task; its future raises `BrokenExecutor` if its process died, and the next `submit` works again."""

    def check(self) -> None:  # noqa: B027 - in most, futures fail when their process dies
        """Raise an error if there are no workers left; called again and again while results are awaited."""

    @abstractmethod
    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        """Ask the searches of a run (`Job.name`) to end with their best selections; work not begun may be cancelled."""

    @abstractmethod
    def end(self, futures: Iterable[Future[Any]] = ()) -> None:
        """Cancel current work, and end every process that was started for it."""

    def close(self) -> None:
        """Release the workers at the end of all work; they may be kept for the next call."""
        self.end()


LONG_S: Final = 1.0  # Seconds of work on a batch after which its finished answers are returned.


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of a batch: the answers for its items (the first items if it was ended early), and its seconds."""

    answers: list[Any] | Written
    seconds: float
    interrupted: bool


def is_interrupted(results: list[Result]) -> bool:
    return bool(results) and results[-1].termination is Termination.INTERRUPTED


def worth_keeping(results: list[Result]) -> list[Result]:
    """Return interrupted results, without the last one if it has no selection."""
    return results if results[-1].selection is not None else results[:-1]


class _Interrupts:
    """Ends the current search and later searches, after Ctrl-C or SIGTERM in a process, or a message to threads."""

    def __init__(self) -> None:
        self.came = False
        self._lock = threading.Lock()
        self._ended: set[str] = set()
        self._working: dict[int, str] = {}

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if is_postponed(number, frame):
            return
        first, self.came = not self.came, True
        if first and threading.get_ident() in self._working:
            raise KeyboardInterrupt

    def has_ended(self, name: str) -> bool:
        return self.came or name in self._ended

    def end(self, name: str) -> None:
        self._ended.add(name)
        threading.Thread(target=self._interrupt, args=(name,), daemon=True).start()

    def _interrupt(self, name: str) -> None:
        left = {thread for thread, run in tuple(self._working.items()) if run == name}
        while left:
            with self._lock:
                left = {thread for thread in left if self._working.get(thread) == name}
                for thread in [*left]:
                    if not is_amid(sys._current_frames().get(thread)):  # noqa: SLF001 - the way to another's frames
                        left.remove(thread)
                        _raise_in(thread, KeyboardInterrupt)
            sleep(0.01)  # until the next attempt

    @contextmanager
    def working(self, name: str) -> Iterator[None]:
        """Mark this thread as working on the run `name` during a block; interruptions end the block silently."""
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
                    _raise_in(thread, None)  # an exception that comes late would hit the executor of this thread


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    held = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), held)


_interrupts = _Interrupts()


def interrupt_here(name: str) -> None:
    """Interrupt the work of a run in this process, now and whenever more of it arrives."""
    _interrupts.end(name)


def start_process(parent: int, tracebacks: bool, memory: int | None, folder: str | None) -> None:
    """Prepare a worker process: signals, memory limit (bytes) and current folder (the parent's, for relative paths)."""
    end_with(parent, natively=True)
    for number in STOP:
        signal.signal(number, _interrupts)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP)
    if memory is not None and sys.platform == "linux":  # where the limit covers all data; children inherit it
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    if tracebacks:
        show_tracebacks()
    if folder is not None:
        os.chdir(folder)


def work_on(job: Job, batch: Batch) -> Done:
    """Process a batch; after `LONG_S` seconds return the answers so far."""
    began = perf_counter()
    answers: list[list[Result]] = []
    read: list[Any] = []
    with _interrupts.working(job.name):
        for item, prepared in _prepared(job, batch):
            if _interrupts.has_ended(job.name) or (answers and perf_counter() - began > LONG_S):
                break
            results = prepared.results if isinstance(prepared, Answered) else job.work(prepared)
            read.append(item)
            answers.append(results)
            if is_interrupted(results):
                break
    return Done(job.sent(batch, read, answers), perf_counter() - began, _interrupts.has_ended(job.name))


def _prepared(job: Job, batch: Batch) -> Iterator[tuple[Any, Any]]:
    """Yield the items of a batch, each with what `Job.together` returns for it."""
    for place in range(0, len(batch), AT_ONCE):
        some = batch[place : place + AT_ONCE]
        items: list[Any] = some.read() if isinstance(some, Lines) else some
        yield from zip(items, job.together(items), strict=True)


AT_ONCE: Final = 64  # Items that are prepared together.
_AHEAD = 4  # Batches in progress for each process: enough to keep all busy, few enough for little memory.
_MOST_A_SECOND = 640  # Largest number of items that count as a second of work, because they are held in memory.
_LOOK_S = 2.0  # Seconds between two checks that there are workers.
_ALONE = 2
"""Attempts at an item by itself; one is too few, because its process may have been killed for other reasons."""

_GRACE_S = 5.0  # Seconds that processes may take to return their answers after Ctrl-C.


def in_order(
    work: Callable[[Any], list[Result]],
    items: Iterable[Any],
    crew: Crew | None,
    lost: Callable[[Item], list[Result]],
    together: Callable[[list[Item]], list[Any]] | None = None,
    sent: Sent = all_results,
) -> Generator[Outcomes, None, None]:
    """Yield ``work(item)`` for each item, in order; with `together`, available results of several at once (`Several`).

    `work`, `together`, `sent`: see `Job`; with `together`, several items are read ahead. `items`: read only as far as
    needed, so that memory does not grow. `crew`: the workers; None means this process, which gets no `Lines`. `lost`:
    makes the results of an item that killed two processes.
    """
    if crew is not None:
        job = Job(work, sent, uuid4().hex, together or list)
        for answers in _Stream(job, crew, lost, True).rounds(items):
            if isinstance(answers, Written) and answers:
                yield answers
            elif not isinstance(answers, Written):
                yield from answers if together is None else map(Several, filter(None, [answers]))
        return
    for prepared in ([item] for item in items) if together is None else _ahead(items, together):
        for is_done, some in groupby(prepared, key=lambda one: isinstance(one, Answered)):
            if is_done:
                yield Several([answered.results for answered in some])
                continue
            for item in some:
                results = work(item)
                if is_interrupted(results):
                    if kept := worth_keeping(results):
                        yield kept
                    raise KeyboardInterrupt
                yield results


def _ahead(items: Iterable[Item], together: Callable[[list[Item]], list[Any]]) -> Iterator[list[Any]]:
    """Yield prepared items; if reading fails, raise the error after the items read before it."""
    source, failed = iter(items), None
    while failed is None:
        read: list[Item] = []
        try:
            read.extend(islice(source, AT_ONCE))
        except Exception as error:  # noqa: BLE001 - raised below
            failed = error
        if not read and failed is None:
            return
        yield together(read)
    raise failed


def as_done(
    work: Work[Item], items: Iterable[Item], crew: Crew, lost: Callable[[Item], list[Result]], sent: Sent
) -> Generator[Any, None, None]:
    """Yield what `sent` returns for each batch of items, in the order of completion."""
    yield from _Stream(Job(work, sent, uuid4().hex), crew, lost, False).rounds(items)


class _Stream:
    """The batches of items that workers have in progress."""

    def __init__(self, job: Job, crew: Crew, lost: Callable[[Any], list[Result]], ordered: bool) -> None:
        self._job, self._crew, self._lost, self._ordered = job, crew, lost, ordered
        self._under_way: dict[int, tuple[Batch, Future[Done]]] = {}
        self._number = count()
        self._size = 1
        self._rest: list[Any] = []  # The item that was read but is in no batch yet, if any.
        self._seen = Names()  # Ids of the topics in `Lines`.

    def rounds(self, items: Iterable[Any]) -> Iterator[list[Any] | Written]:
        source = iter(items)
        ended = False
        try:
            while True:
                while len(self._under_way) < _AHEAD * self._crew.width and (batch := self._batch(source)):
                    self._submit(batch)
                if not self._under_way:
                    break
                for number in self._ready():
                    if number in self._under_way:  # a crash may have removed it
                        yield from self._take(number)
            ended = True
        except KeyboardInterrupt:
            yield from self._wind_up()
            raise
        finally:
            if ended:
                self._crew.close()
            else:
                self._crew.end(self._futures())

    def _batch(self, source: Iterator[Any]) -> Batch:
        """Return the next batch: single items, or a part of one block of lines (`Lines`), but never both."""
        batch: list[Any] = []
        most = min(self._size, int(self._crew.batch_s * _MOST_A_SECOND))
        while len(batch) < most and (found := self._rest or list(islice(source, 1))):
            self._rest = []
            if not isinstance(found[0], Lines):
                batch += found
            elif batch:
                self._rest = found
                break
            else:
                lines = found[0]
                self._rest = [rest] if (rest := lines[self._size :]) else []
                return lines[: self._size]
        return batch

    def _submit(self, batch: Batch, number: int | None = None) -> int:
        number = next(self._number) if number is None else number
        self._under_way[number] = batch, self._crew.submit(work_on, self._job, batch)
        return number

    def _ready(self) -> list[int]:
        """Wait, and return the numbers of finished batches: only the first if order matters, otherwise all."""
        if self._ordered:
            first = next(iter(self._under_way))
            self._wait([self._under_way[first][1]])
            return [first]
        self._wait(self._futures())
        return [number for number, (_, future) in self._under_way.items() if future.done()]

    def _wait(self, futures: list[Future[Done]]) -> None:
        while not wait(futures, timeout=_LOOK_S, return_when=FIRST_COMPLETED).done:
            self._crew.check()

    def _take(self, number: int) -> Iterator[list[Any] | Written]:
        batch, future = self._under_way[number]
        try:
            done = future.result()
        except BrokenExecutor:
            yield from self._once_more(list(self._under_way) if self._crew.falls_together else [number])
            return
        except CancelledError:
            raise ExecutorError("The executor has cancelled its work: check that it still runs.") from None
        self._size = max(1, int(self._crew.batch_s * len(done.answers) / max(done.seconds, 1e-6)))
        if (anew := self._with_second_topics(batch, done.answers)) is not None:
            self._submit(anew, number)  # under its old number, which keeps the order
            return
        if not done.interrupted and (rest := batch[len(done.answers) :]):
            self._submit(rest, number)
        else:
            del self._under_way[number]
        yield from self._answers(done)

    def _answers(self, done: Done) -> Iterator[list[Any] | Written]:
        yield done.answers
        if done.interrupted:
            raise KeyboardInterrupt

    def _with_second_topics(self, batch: Batch, answers: list[Any] | Written) -> Lines | None:
        """Return lines that must be processed again, because their topics repeat ids of earlier ones, or None."""
        if not isinstance(batch, Lines) or not isinstance(answers, Written):
            return None
        batch.reading.notes.repeat(answers.said)
        ids = answers.ids[len(batch.again) :]
        again = tuple(name is not None and not self._seen.add(name) for name in ids)
        return replace(batch, again=batch.again + again) if any(again) else None

    def _once_more(self, numbers: list[int]) -> Iterator[list[Any] | Written]:
        """Repeat the items lost in a crash, one at a time, so that an item fails only if it crashes a process again."""
        for number in numbers:
            if number not in self._under_way:  # done while another crash was handled
                continue
            batch, future = self._under_way[number]
            if future.done() and not future.cancelled() and future.exception() is None:
                while number in self._under_way:
                    yield from self._take(number)
                continue
            del self._under_way[number]
            for place in range(len(batch)):
                yield from self._alone(batch[place : place + 1])

    def _alone(self, batch: Batch) -> Iterator[list[Any] | Written]:
        crashes = 0
        while True:
            if crashes < _ALONE:
                done = self._done(batch)
            else:
                items: list[Any] = batch.read() if isinstance(batch, Lines) else batch
                done = Done(self._job.sent(batch, items, list(map(self._lost, items))), 0.0, False)
            if done is None:
                crashes += 1
            elif (anew := self._with_second_topics(batch, done.answers)) is not None:
                batch, crashes = anew, 0
            else:
                yield from self._answers(done)
                return

    def _done(self, batch: Batch) -> Done | None:
        """Return the outcome of a batch of one item; None if its process dies."""
        number = self._submit(batch)
        try:
            future = self._under_way[number][1]
            self._wait([future])
            done = future.result()
        except BrokenExecutor:
            done = None
        del self._under_way[number]
        return done

    def _futures(self) -> list[Future[Done]]:
        return [future for _, future in self._under_way.values()]

    def _wind_up(self) -> Iterator[list[Any] | Written]:
        self._crew.interrupt(self._job.name, self._futures())
        until = perf_counter() + _GRACE_S
        for batch, future in self._under_way.values():
            try:
                done = future.result(timeout=max(0.0, until - perf_counter()))
            except (BrokenExecutor, CancelledError, NotYetError):
                continue
            if self._with_second_topics(batch, done.answers) is None:
                yield done.answers
        self._under_way.clear()
