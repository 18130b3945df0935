"""Kernels are made ready before a clock starts, once a process: loaded, or compiled, of which people are told.

What begins in plain Python (`optsum.system.compiled`) is compiled later, if it lasts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, Final, TypeAlias

from optsum.system.compiled import patience

Part: TypeAlias = Callable[[], object]  # A function without arguments that calls kernels, so that they are there.

_collecting: list[list[Part]] = []  # Where parts are put instead of being run.

_hearing: list[Callable[[], None]] = []  # What is called when something has to be compiled.

_run: Final[dict[Part, set[Any]]] = {}  # The parts that were run, and the kernels that each had interpreted.

_waiting: Final[dict[Part, None]] = {}  # Parts that are run when kept kernels are loaded.

_SEVERAL: Final = 2  # Kernels of a part that make it worth to be compiled as a whole, which another process can do.


def _hear() -> None:
    _announce()
    while _hearing:
        _hearing.pop()()


@cache
def _announce() -> None:
    logging.getLogger("optsum").warning("Compiling kernels for this machine; the next run finds them done.")


def parts_with(kernels: set[Any]) -> list[Part]:
    """Return the parts that were run and had several of some kernels interpreted."""
    return [part for part, interpreted in _run.items() if len(interpreted & kernels) >= _SEVERAL]


patience.compiling.append(_hear)


def _go_on() -> None:
    while _waiting:
        _waiting.popitem()[0]()


patience.loading.append(_go_on)


def compile_at_once() -> None:
    """Let kernels be compiled when they are first called, for work that is going to last."""
    patience.end()
    for part in [part for part, interpreted in _run.items() if interpreted]:
        del _run[part]


@cache
def compiles(prepare: Part) -> Callable[[], None]:
    """Let a function that calls kernels, so that they are there, do so once."""

    @wraps(prepare)
    def part() -> None:
        if _collecting:
            _collecting[-1].append(part)
        elif not patience.loads:
            _waiting[part] = None
        elif prepare not in _run:
            own = patience.thread
            others, own.interpreted = own.interpreted, set()
            try:
                with patience.rehearsing():
                    prepare()
                _run[prepare] = own.interpreted
            finally:
                own.interpreted = others

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
