"""Ctrl-C ends what is read, so that whoever reads it ends in good order with what there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from optsum.cli.signals import Signals
from optsum.report.messages.progress import say

__all__ = ["Stopping"]

T = TypeVar("T")


class Stopping(Signals):
    """While this is entered, Ctrl-C ends `until` after the item under way; a second one interrupts that too.

    Attributes
    ----------
    stopped : bool
        Whether Ctrl-C was heard.
    done : int
        Items that were finished: the next one, or the end, was asked for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stopped = False
        self.done = 0
        self._reading = False

    def hear(self) -> None:
        """Let `until` end after this item; interrupt the reading of the next one, and what was asked to end before."""
        if self.stopped or self._reading:
            self.stopped = True
            raise KeyboardInterrupt
        self.stopped = True
        say("Stopping after this topic; Ctrl-C again interrupts it.")

    def until(self, items: Iterable[T], advance: Callable[[], None]) -> Iterator[T]:
        """Yield the items, and call `advance` after each, until Ctrl-C."""
        source = iter(items)
        while not self.stopped:
            try:
                self._reading = True  # nothing would be lost: an input that says nothing more is not waited for
                item = next(source)
            except (StopIteration, KeyboardInterrupt):
                return
            finally:
                self._reading = False
            yield item
            self.done += 1
            advance()
