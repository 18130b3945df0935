"""Python processes that optsum starts: they import from where it does and nowhere else, and do not outlive it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Final

SAFE_PATH: Final = {"PYTHONSAFEPATH": "1"}
"""Environment in which Python does not look for modules in the current folder."""

ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""Environment in which numpy starts no threads when it is imported, which take 30 ms of a processor in each process."""

_LOOKS_S: Final = 0.5
_PR_SET_PDEATHSIG: Final = 1


def python(module: str, function: str) -> list[str]:
    """Return the command of a Python that imports from where this one does, and calls a function with this one's id.

    ``python -m`` would look in the current folder first, where a file called numpy.py may lie.
    """
    lines = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {function}; {function}({os.getpid()})"
    return [sys.executable, "-P", "-c", lines]


def has_one_thread() -> bool:
    """Return whether this is the only thread of the process, native ones included; False if the system does not say."""
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


def end_with(parent: int, *, natively: bool = False) -> None:
    """End this process, whatever it is doing, once the one that started it is gone.

    `parent`: the process that started this one. `natively`: whether to have Linux do it too, for work in native code
    that keeps Python from running. It does so when the thread ends that started this process, though others may go on.
    """
    if natively and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.name == "posix":
        Thread(target=_look, args=(parent,), name="end with parent", daemon=True).start()


def _look(parent: int) -> None:
    while os.getppid() == parent:
        sleep(_LOOKS_S)
    os._exit(1)


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for this process and all that it starts meanwhile; afterwards they are as before."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
