"""Kernels are compiled before a clock starts, once a process, and people are told that it takes a while."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

from numba.core import event

__all__ = ["compiles"]


class _Announcer(event.Listener):  # type: ignore[misc]
    """Hears when numba starts to compile, as it does not where it finds kernels in its cache."""

    def on_start(self, event: Any) -> None:
        del event
        _announce()

    def on_end(self, event: Any) -> None:
        del event


@cache
def _announce() -> None:
    logging.getLogger("optsum").warning("Compiling kernels for this machine; the next run finds them done.")


@cache
def compiles(prepare: Callable[[], object]) -> Callable[[], None]:
    """Let a function that calls kernels, so that they are there, do so once; said is what numba has to compile."""

    @cache
    def once() -> None:
        with event.install_listener("numba:compile", _Announcer()):
            prepare()

    return once
