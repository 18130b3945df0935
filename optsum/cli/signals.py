"""Ctrl-C and SIGTERM, which both say: end, with what there is."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Final, Self

from optsum.cli.exits import INTERRUPTED
from optsum.system.processes.postponed import is_postponed

_HEARD: Final = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """While this is entered, both signals go to `hear`; inside another one, that gets to know of them too.

    Parameters
    ----------
    last : bool
        Whether nothing is left to do afterwards but to end the process: then signals that come late are ignored, which
        Python would answer with a traceback from wherever it is in ending itself.
    """

    number: int | None
    """Of the last signal that came."""

    def __init__(self, *, last: bool = False) -> None:
        self._last = last
        self.number = None
        self._before: dict[int, Any] = {}

    def hear(self) -> None:
        """Do what a signal asks for."""
        raise KeyboardInterrupt

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in _HEARD}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        before, self._before = self._before, {}
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if self._last else handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if is_postponed(number, frame):
            return
        outer = getattr(self._before.get(number), "__self__", None)
        if isinstance(outer, Signals):
            outer.number = number
        self.number = number
        if self._before:  # otherwise it is on its way out
            self.hear()

    def status(self, status: int) -> int:
        """Return an exit status, told apart by the signal: 130 after Ctrl-C, 143 after SIGTERM."""
        return status if status != INTERRUPTED or self.number is None else 128 + self.number
