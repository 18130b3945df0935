"""The clock of searches: it stands while kernels are compiled, which no limit and no row is charged for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from time import perf_counter


class _Stops:
    """How long the clock has stood in all, and since when it stands."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.total = 0.0
        self.since = 0.0
        self.depth = 0


_STOPS = _Stops()


def clock() -> float:
    """Return seconds, as `time.perf_counter` does, without those in which the clock stood."""
    return (_STOPS.since if _STOPS.depth else perf_counter()) - _STOPS.total


@contextmanager
def standing() -> Iterator[None]:
    """Let the clock stand meanwhile."""
    entered = False
    try:  # Ctrl-C may come as soon as the lock is free, and must not leave the clock standing
        with _STOPS.lock:
            if not _STOPS.depth:
                _STOPS.since = perf_counter()
            _STOPS.depth += 1
            entered = True
        yield
    finally:
        if entered:
            with _STOPS.lock:
                if _STOPS.depth == 1:  # in this order: no thread that looks meanwhile sees what is not counted
                    now = perf_counter()
                    _STOPS.total += now - _STOPS.since
                    _STOPS.since = now
                _STOPS.depth -= 1
