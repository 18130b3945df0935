"""Keep the limits of a run and count its work, whichever search it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.system.clock import Deadline, clock


@dataclass
class Statistics:
    """Counts and times of a run."""

    levels: int = 0
    nodes: int = 0  # frames of the depth-first search
    merged: int = 0  # frames that met an equal state
    relaxations: int = 0
    splits: int = 0
    core: int = 0  # undecided units after fixing at the root, last target
    diagram: int = 0
    # by phase: ``total``, ``relaxation``, ``search``
    seconds: dict[str, float] = field(default_factory=lambda: {"total": 0.0, "relaxation": 0.0, "search": 0.0})

    def add(self, other: Statistics) -> None:
        """Take in what a part of the run did; `core` is the largest of all parts."""
        for name, value in vars(other).items():
            if name == "core":
                self.core = max(self.core, other.core)
            elif name != "seconds":
                setattr(self, name, getattr(self, name) + value)
        for phase, seconds in other.seconds.items():
            self.seconds[phase] += seconds

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**vars(self), "seconds": dict(self.seconds)}


def stop_at(deadline: Deadline) -> None:
    """Stop if a deadline has passed."""
    reason = deadline.reason
    if reason is not None:
        raise Stopped(Termination(reason))


_REHEARSAL_S: Final = 10.0  # Time limit (s) of a search that only compiles kernels; compiling itself does not count.


@contextmanager
def rehearsal() -> Iterator[Deadline]:
    """Give the deadline of a search that only compiles kernels; Ctrl-C, which ends the search, is raised again."""
    deadline = Deadline(_REHEARSAL_S)
    with suppress(Stopped):
        yield deadline
    if deadline.reason == "interrupted":
        raise KeyboardInterrupt


class Monitor:
    """Keeps a run's limits, and counts what it does.

    `limits`: of which nodes (frames of a search) and bytes of memory are kept here; the time is the deadline's.
    """

    def __init__(self, limits: Limits, deadline: Deadline | None = None) -> None:
        self._started = clock()
        self.limits = limits
        self.deadline = deadline or Deadline(limits.time_s)
        self.statistics = Statistics()

    def check(self, memory: int = 0) -> None:
        """Stop if a limit is reached; `memory` is the number of bytes that the answer takes."""
        stop_at(self.deadline)
        if self.limits.nodes is not None and self.statistics.nodes >= self.limits.nodes:
            raise Stopped(Termination.NODE_LIMIT)
        if memory > self.limits.memory:
            raise Stopped(Termination.MEMORY_LIMIT)

    def finish(self) -> Statistics:
        """Return the statistics, with the time that the run took."""
        self.statistics.seconds["total"] = clock() - self._started
        return self.statistics

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time of a phase; Ctrl-C in it ends the run, and whatever shares its deadline."""
        started = clock()
        try:
            yield
        except KeyboardInterrupt:
            self.deadline.interrupt()
            raise Stopped(Termination.INTERRUPTED) from None
        finally:
            self.statistics.seconds[name] += clock() - started
