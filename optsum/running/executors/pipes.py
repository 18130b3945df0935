"""The pipes between this process and loky's: wide ones, on which a message that nobody will complete is noticed.

All processes of loky send their results through one pipe, and whoever sends holds its lock. One that is killed while it
sends leaves half a message, and a reader that would wait for the rest, for ever: others have the pipe open, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Final

_WIDTH: Final = 1 << 20
"""Bytes that a pipe holds, as many as Linux lets everybody have. With 64 kB whoever sends a batch waits for the reader,
which in turn waits for Python's lock, again and again."""


class Results(Connection):
    """The end at which results are read.

    Parameters
    ----------
    handle : int
        A file descriptor, which will be closed with this.
    processes : mapping
        Those that may send, while they live.
    """

    def __init__(self, handle: int, processes: Mapping[int, Any]) -> None:
        super().__init__(handle, writable=False)
        self._processes = processes

    def _recv(self, size: int, read: Any = None) -> Any:
        del read
        return super()._recv(size, self._next)  # type: ignore[misc]

    def _next(self, handle: int, size: int) -> bytes:
        """Return what there is of a message; once a process has died and nothing more comes, nobody completes it."""
        senders = {process.sentinel: process for process in list(self._processes.values())}
        while handle not in (ready := wait([handle, *senders])):
            idle = [sentinel for sentinel in ready if senders[sentinel].exitcode == 0]
            if not idle:
                raise EOFError("a process died while results were sent")
            for sentinel in idle:  # it ended by itself, having nothing to do, and had sent all it had
                del senders[sentinel]
        return os.read(handle, size)


def mend_pipes(executor: Any) -> None:
    """Widen the pipes of an executor of loky, and have it notice that half a message is all that will come.

    Parameters
    ----------
    executor : loky.ProcessPoolExecutor
        One that has been given nothing yet; others stay as they are.
    """
    results = executor._result_queue  # noqa: SLF001 - loky has no other way to its pipes
    if os.name != "posix" or isinstance(results._reader, Results):  # noqa: SLF001
        return
    for pipe in (results, executor._call_queue):  # noqa: SLF001
        _widen(pipe._writer.fileno())  # noqa: SLF001
    results._reader = Results(os.dup(results._reader.fileno()), executor._processes)  # noqa: SLF001


def _widen(pipe: int) -> None:
    if sys.platform == "linux":
        from fcntl import F_SETPIPE_SZ, fcntl

        with suppress(OSError):  # the user has as many pages in pipes as are allowed
            fcntl(pipe, F_SETPIPE_SZ, _WIDTH)
