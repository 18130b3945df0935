"""Ctrl-C between two rows, never inside one."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TypeVar

from optsum.cli.signals import Signals

__all__ = ["Interrupts"]

T = TypeVar("T")


class Interrupts(Signals):
    """While this is entered, Ctrl-C ends the work that `pull` waits for; what is done with it is finished first."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = self._raised = self._pulling = False

    def hear(self) -> None:
        """Interrupt `pull`, and nothing else."""
        self._seen = True
        if self._pulling:
            self._raised = True
            raise KeyboardInterrupt

    def pull(self, source: Generator[T, None, None], *, parallel: bool) -> Iterator[T]:
        """Yield from a generator, and let KeyboardInterrupt out of it after Ctrl-C.

        Parameters
        ----------
        source : generator
        parallel : bool
            Whether it gathers what is done elsewhere after Ctrl-C. One that works here may not even notice: a solver
            that is just ending can swallow it.
        """
        while True:
            try:
                self._pulling = True
                if self._seen and not (parallel and self._raised):
                    self._raised = True
                    item = source.throw(KeyboardInterrupt())
                else:
                    item = next(source)
            except StopIteration:
                return
            finally:
                self._pulling = False
            yield item
