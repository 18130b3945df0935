"""Work on one item after another, or on several elsewhere: Ctrl-C loses nothing, and no process is left behind.

Processes stop at Ctrl-C too, and hand over what they have. A process that dies (a solver that crashes, memory that runs
out) costs the item that it died of, and no other: what it was given is tried again, item by item alone, and an item
that is lost was alone with two processes that died.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from concurrent.futures import TimeoutError as NotYetError
from itertools import chain, count, islice
from time import perf_counter
from typing import Any, Generic, TypeAlias, TypeVar
from uuid import uuid4

from optsum.contracts.result import Result
from optsum.errors import ExecutorError
from optsum.running.executors.choice import Crew
from optsum.running.executors.work import AT_ONCE, Done, Job, is_interrupted, results_alone, work_on, worth_keeping

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Work: TypeAlias = Callable[[Item], list[Result]]

_AHEAD = 4  # Batches under way, for each process: enough to keep all busy, few enough that memory does not grow.

_MOST_A_SECOND = 640  # Items that are sent at most as a second of work, however quick they are: they have to be held.

_LOOK_S = 2.0  # Between two looks at whether anybody is there to wait for.

_ALONE = 2
"""Attempts at an item by itself. After one, a process that somebody else killed just then would be held against it."""

_GRACE_S = 5.0  # How long processes may take to hand over what they have after Ctrl-C.


def in_order(
    work: Callable[[Any], list[Result]],
    items: Iterable[Item],
    crew: Crew | None,
    lost: Callable[[Item], list[Result]],
    together: Callable[[list[Item]], list[Any]] | None = None,
) -> Generator[list[Result], None, None]:
    """Yield ``work(item)`` for each item, in order.

    `work`: returns the results of one item; it ends early, with a result whose termination is "interrupted" in the last
    place, if Ctrl-C ended a search. Pickled for processes. `items`: read as far as is needed: memory does not grow with
    it. `crew`: who works; None is this process. `lost`: what to yield for an item of which two processes died that had
    nothing else to do. `together`: returns what `work` is given in place of several items, each in its place;
    then several are read before the first of them is worked on.
    """
    if crew is not None:
        job: Job[Item, list[Result]] = Job(work, results_alone, uuid4().hex, together or list)
        yield from chain.from_iterable(_Stream(job, crew, lost, True).rounds(items))
        return
    for item in items if together is None else _ahead(items, together):
        results = work(item)
        if is_interrupted(results):
            if kept := worth_keeping(results):
                yield kept
            raise KeyboardInterrupt
        yield results


def _ahead(items: Iterable[Item], together: Callable[[list[Item]], list[Any]]) -> Iterator[Any]:
    """Yield what is worked on in place of the items; if reading fails, that is raised after what was read before."""
    source, failed = iter(items), None
    while failed is None:
        read: list[Item] = []
        try:
            read.extend(islice(source, AT_ONCE))
        except Exception as error:  # noqa: BLE001 - raised below
            failed = error
        if not read and failed is None:
            return
        yield from together(read)
    raise failed


def as_done(
    work: Work[Item],
    items: Iterable[Item],
    crew: Crew,
    lost: Callable[[Item], list[Result]],
    answer: Callable[[Item, list[Result]], Answer],
) -> Generator[list[Answer], None, None]:
    """Yield what there is whenever something is: answers in the order in which they come.

    `answer`: makes of an item and its results what is yielded; it runs where the work is done.
    """
    yield from _Stream(Job(work, answer, uuid4().hex), crew, lost, False).rounds(items)


class _Stream(Generic[Item, Answer]):
    """Batches of items under way."""

    def __init__(self, job: Job[Item, Answer], crew: Crew, lost: Callable[[Item], list[Result]], ordered: bool) -> None:
        self._job, self._crew, self._lost, self._ordered = job, crew, lost, ordered
        self._under_way: dict[int, tuple[list[Item], Future[Done[Answer]]]] = {}
        self._number = count()
        self._size = 1

    def rounds(self, items: Iterable[Item]) -> Iterator[list[Answer]]:
        """Yield lists of answers."""
        source = iter(items)
        ended = False
        try:
            while True:
                while len(self._under_way) < _AHEAD * self._crew.width and (batch := list(islice(source, self._size))):
                    self._submit(batch)
                if not self._under_way:
                    break
                for number in self._ready():
                    if number in self._under_way:  # a crash empties it
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

    def _submit(self, batch: list[Item], number: int | None = None) -> int:
        number = next(self._number) if number is None else number
        self._under_way[number] = batch, self._crew.submit(work_on, self._job, batch)
        return number

    def _ready(self) -> list[int]:
        """Wait, and return the next batches: the first one if the order counts, otherwise every finished one."""
        if self._ordered:
            first = next(iter(self._under_way))
            self._wait([self._under_way[first][1]])
            return [first]
        self._wait(self._futures())
        return [number for number, (_, future) in self._under_way.items() if future.done()]

    def _wait(self, futures: list[Future[Done[Answer]]]) -> None:
        while not wait(futures, timeout=_LOOK_S, return_when=FIRST_COMPLETED).done:
            self._crew.check()

    def _take(self, number: int) -> Iterator[list[Answer]]:
        """Yield the answers of a batch that is done."""
        batch, future = self._under_way[number]
        try:
            done = future.result()
        except BrokenExecutor:
            yield from self._once_more(list(self._under_way) if self._crew.falls_together else [number])
            return
        except CancelledError:
            raise ExecutorError("The executor has cancelled what it was given: look whether it still runs.") from None
        a_second = min(_MOST_A_SECOND, len(done.answers) / max(done.seconds, 1e-6))
        self._size = max(1, int(self._crew.batch_s * a_second))
        if not done.interrupted and (rest := batch[len(done.answers) :]):
            self._submit(rest, number)  # in its place, should the order count
        else:
            del self._under_way[number]
        yield from self._answers(done)

    def _answers(self, done: Done[Answer]) -> Iterator[list[Answer]]:
        yield done.answers
        if done.interrupted:
            raise KeyboardInterrupt

    def _once_more(self, numbers: list[int]) -> Iterator[list[Answer]]:
        """Repeat the items that a crash has lost one by one, so that only an item that crashes again fails."""
        for number in numbers:
            future = self._under_way[number][1]
            if future.done() and not future.cancelled() and future.exception() is None:
                yield from self._take(number)
                continue
            batch, _ = self._under_way.pop(number)
            for item in batch:
                yield from self._alone(item)

    def _alone(self, item: Item) -> Iterator[list[Answer]]:
        for _ in range(_ALONE):
            number = self._submit([item])
            try:
                future = self._under_way[number][1]
                self._wait([future])
                done = future.result()
            except BrokenExecutor:
                del self._under_way[number]
                continue
            del self._under_way[number]
            yield from self._answers(done)
            return
        yield [self._job.answer(item, self._lost(item))]

    def _futures(self) -> list[Future[Done[Answer]]]:
        return [future for _, future in self._under_way.values()]

    def _wind_up(self) -> Iterator[list[Answer]]:
        """Stop the work and yield what there is."""
        self._crew.interrupt(self._job.name, self._futures())
        until = perf_counter() + _GRACE_S
        for _, future in self._under_way.values():
            try:
                done = future.result(timeout=max(0.0, until - perf_counter()))
            except (BrokenExecutor, CancelledError, NotYetError):
                continue
            yield done.answers
        self._under_way.clear()
