"""Start processes of loky as copies of this one, if that is safe, with all imported modules and compiled kernels.

A newly started process imports everything and loads kernels again, which takes nearly a second of processor time. A
copy has only one of the threads of this process, and locks held by other threads would never be released. So copies are
made only while there is a single thread, including native threads; otherwise processes are started anew.
"""

from __future__ import annotations

import ctypes
import gc
import os
import stat
from contextlib import suppress
from fcntl import F_GETFL, fcntl
from multiprocessing.popen_fork import Popen
from pathlib import Path
from typing import Any, Final

from loky.backend.context import LokyContext
from loky.backend.process import LokyProcess

from optsum.running.workers import KEEPS_MEMORY
from optsum.system.processes.children import has_one_thread

_MALLOPT: Final = {"MALLOC_TRIM_THRESHOLD_": -1, "MALLOC_MMAP_THRESHOLD_": -3}
"""Numbers of glibc's parameters for `mallopt`; their environment variables are read only when a program starts."""


class _Process(LokyProcess):  # type: ignore[misc]
    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - multiprocessing calls it so
        return Popen(process_obj) if has_one_thread() else LokyProcess._Popen(process_obj)  # noqa: SLF001

    def _bootstrap(self, parent_sentinel: int | None = None) -> Any:
        if parent_sentinel is not None:  # a copy
            _let_go_of_files()
            with suppress(AttributeError):  # the C library is not glibc
                for name, value in KEEPS_MEMORY.items():
                    ctypes.CDLL(None).mallopt(_MALLOPT[name], int(value))
            gc.freeze()  # garbage collection would copy the pages that are shared with the parent
        return super()._bootstrap(parent_sentinel)


class _Context(LokyContext):  # type: ignore[misc]
    Process = _Process


CONTEXT: Final = _Context()  # Shared by all calls: for another context, loky would start new processes.


def _let_go_of_files() -> None:
    """Redirect a copy's files open for writing to the null device, as they would keep the locks of the original."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in [int(link.name) for link in Path("/proc/self/fd").iterdir()]:
        with suppress(OSError):  # the descriptor of the listing is closed by now
            if number > 2 and stat.S_ISREG(os.fstat(number).st_mode) and fcntl(number, F_GETFL) & os.O_ACCMODE:
                os.dup2(nowhere, number)
    os.close(nowhere)
