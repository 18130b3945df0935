"""Ctrl-C ends what is read, so that whoever reads it ends in good order with what there is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

from optsum.report.progress import say

__all__ = ["Stopping"]

T = TypeVar("T")


class Stopping:
    """While this is entered, Ctrl-C ends `until` after the item under way; a second one interrupts that too.

    Attributes
    ----------
    stopped : bool
        Whether Ctrl-C was heard.
    done : int
        Items that were finished: the next one, or the end, was asked for.
    """

    def __init__(self) -> None:
        self.stopped = False
        self.done = 0
        self._reading = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self.stopped or self._reading:
            self.stopped = True
            raise KeyboardInterrupt
        self.stopped = True
        say("Stopping after this topic; Ctrl-C again interrupts it.")

    def until(self, items: Iterable[T], advance: Callable[[], None]) -> Iterator[T]:
        """Yield the items, and call `advance` after each, until Ctrl-C."""
        source = iter(items)
        while not self.stopped:
            try:
                self._reading = True  # nothing would be lost: an input that says nothing more is not waited for
                item = next(source)
            except (StopIteration, KeyboardInterrupt):
                return
            finally:
                self._reading = False
            yield item
            self.done += 1
            advance()
