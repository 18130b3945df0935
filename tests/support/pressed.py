"""Call kernels while SIGALRM raises KeyboardInterrupt at random moments, and print all other exceptions."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from optsum.system.compiled import njit, patience
from optsum.system.processes.signal_guard import is_postponed


class Pair(NamedTuple):
    """The value that a kernel returns."""

    first: int
    second: int


@njit(cache=False)
def pair(n: Any) -> Any:
    return Pair(n, n + 1), Pair(n, n)


@njit(cache=False)
def arrays(n: Any) -> Any:
    return np.zeros(n), np.ones(n)


def pressed(number: int, frame: FrameType | None) -> None:
    if not is_postponed(number, frame):
        raise KeyboardInterrupt


def main(seconds: float) -> None:
    patience.end()  # the kernels must be compiled
    kernels = pair, arrays
    for kernel in kernels:
        kernel(3)  # compile the kernel, and let numba learn the type that it returns
    signal.signal(signal.SIGALRM, pressed)
    heard, others = 0, set()
    moments = np.random.default_rng(0)
    for kernel in kernels:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                signal.setitimer(signal.ITIMER_REAL, moments.uniform(2e-5, 3e-4))
                while True:
                    kernel(3)
            except KeyboardInterrupt:
                heard += 1
            except SystemError as error:
                others.add(str(error))
    print(heard > 100, sorted(others))


if __name__ == "__main__":
    main(float(sys.argv[1]))
