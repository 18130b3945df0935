"""Ctrl-C between two rows, never inside one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Iterator
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

__all__ = ["Interrupts"]

T = TypeVar("T")


class Interrupts:
    """While this is entered, Ctrl-C ends the work that `pull` waits for; what is done with it is finished first."""

    def __init__(self) -> None:
        self._seen = self._raised = self._pulling = False
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
        self._seen = True
        if self._pulling:
            self._raised = True
            raise KeyboardInterrupt

    def pull(self, source: Generator[T, None, None], *, parallel: bool) -> Iterator[T]:
        """Yield from a generator, and let KeyboardInterrupt out of it after Ctrl-C.

        Parameters
        ----------
        source : generator
        parallel : bool
            Whether it gathers what is done elsewhere after Ctrl-C. One that works here may not even notice: a solver
            that is just ending can swallow it.
        """
        while True:
            try:
                self._pulling = True
                if self._seen and not (parallel and self._raised):
                    self._raised = True
                    item = source.throw(KeyboardInterrupt())
                else:
                    item = next(source)
            except StopIteration:
                return
            finally:
                self._pulling = False
            yield item
