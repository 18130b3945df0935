"""What a run of an engine has whatever the engine: limits, books, and the store of its answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from .search import Walk
from .store import NodeStore

__all__ = ["Limits", "Running", "Statistics", "Stopped"]

_NODE_BYTES: Final = 400
"""Memory of a diagram node while everything is done with it that can be done."""


class Stopped(Exception):  # noqa: N818 - not an error: a limit was reached
    """A limit was reached; `reason` names it as `Result.termination` does."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Limits:
    """What stops a run.

    Attributes
    ----------
    seconds, frames : None for no limit
    memory : int
        Bytes for diagram nodes.
    should_stop : called regularly (about every 20 ms); a true answer ends the run
    """

    seconds: float | None = None
    frames: int | None = None
    memory: int = 1_500_000_000
    should_stop: Callable[[], bool] | None = None


@dataclass
class Statistics:
    """What a run did.

    Attributes
    ----------
    levels : targets tried
    nodes : frames of the depth-first search
    merged : frames that met an equal state
    relaxations : linear programs solved
    splits : subtrees split
    core : undecided units after fixing at the root, last target
    diagram : nodes of the answer
    seconds : by phase: ``total``, ``relaxation``, ``search``
    """

    levels: int = 0
    nodes: int = 0
    merged: int = 0
    relaxations: int = 0
    splits: int = 0
    core: int = 0
    diagram: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"total": 0.0, "relaxation": 0.0, "search": 0.0})

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {**vars(self), "seconds": dict(self.seconds)}


class Budget(Protocol):
    """How long a subtree is searched before it is split (`effort`)."""

    def run(self, search: Walk, check: Callable[[], None]) -> int:
        """Run a search until it is done or its effort is used; `check` may raise."""


class Running:
    """A run under limits.

    Attributes
    ----------
    store : NodeStore
    statistics : Statistics
    """

    def __init__(self, limits: Limits) -> None:
        self._started = time.perf_counter()
        self._limits = limits
        self._stopped: str | None = None
        self.store = NodeStore()
        self.statistics = Statistics()

    def finish(self) -> Statistics:
        """Close the books."""
        self.statistics.seconds["total"] = time.perf_counter() - self._started
        return self.statistics

    @contextmanager
    def _relaxing(self) -> Iterator[None]:
        """Count a relaxation and its time."""
        started = time.perf_counter()
        self.statistics.relaxations += 1
        try:
            yield
        except KeyboardInterrupt:
            raise Stopped("interrupted") from None
        finally:
            self.statistics.seconds["relaxation"] += time.perf_counter() - started

    def _check(self) -> None:
        limits = self._limits
        if limits.seconds is not None and time.perf_counter() - self._started > limits.seconds:
            raise Stopped("time_limit")
        if limits.frames is not None and self.statistics.nodes >= limits.frames:
            raise Stopped("node_limit")
        if self.store.used * _NODE_BYTES > limits.memory:
            raise Stopped("memory_limit")
        if limits.should_stop is not None and limits.should_stop():
            raise Stopped("interrupted")

    def _run(self, search: Walk, effort: Budget) -> int:
        """Run a search until it is done or has used its effort."""
        started = time.perf_counter()
        frames, merged = search.frames, search.hits
        try:
            return effort.run(search, self._check)
        except KeyboardInterrupt:
            raise Stopped("interrupted") from None
        finally:
            self.statistics.nodes += search.frames - frames
            self.statistics.merged += search.hits - merged
            self.statistics.seconds["search"] += time.perf_counter() - started
