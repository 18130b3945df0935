"""Kernels are compiled before a clock starts, once a process, and people are told that it takes a while."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, TypeAlias

from numba.core import event

__all__ = ["Part", "collected", "compiles", "on_first_compilation"]

Part: TypeAlias = Callable[[], object]
"""A function without arguments that calls kernels, so that they are there."""

_collecting: list[list[Part]] = []
"""Where parts are put instead of being run."""

_hearing: list[Callable[[], None]] = []
"""What is called when something has to be compiled."""


class _Announcer(event.Listener):  # type: ignore[misc]
    """Hears when numba starts to compile, as it does not where it finds kernels in its cache."""

    def on_start(self, event: Any) -> None:
        del event
        _announce()
        while _hearing:
            _hearing.pop()()

    def on_end(self, event: Any) -> None:
        del event


@cache
def _announce() -> None:
    logging.getLogger("optsum").warning("Compiling kernels for this machine; the next run finds them done.")


@cache
def compiles(prepare: Part) -> Callable[[], None]:
    """Let a function that calls kernels, so that they are there, do so once; said is what numba has to compile."""

    @cache
    def once() -> None:
        with event.install_listener("numba:compile", _Announcer()):
            prepare()

    @wraps(prepare)
    def part() -> None:
        if _collecting:
            _collecting[-1].append(part)
        else:
            once()

    return part


def collected(work: Callable[[], object]) -> list[Part]:
    """Return the functions that some work would call through `compiles`, each once; they are not called."""
    _collecting.append([])
    try:
        work()
    finally:
        found = _collecting.pop()
    return list(dict.fromkeys(found))


@contextmanager
def on_first_compilation(call: Callable[[], None]) -> Iterator[None]:
    """Call a function, once, when numba has something to compile meanwhile."""
    _hearing.append(call)
    try:
        yield
    finally:
        if call in _hearing:
            _hearing.remove(call)
