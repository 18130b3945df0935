"""The loop of all commands over topics: write rows, show progress, handle Ctrl-C, return an exit status."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from optsum.cli.exits import DONE, INTERRUPTED, Interrupts, failed, tell
from optsum.cli.flags import Files, count_topics, open_topics
from optsum.errors import OptionError
from optsum.report.messages import Advance, advancing, bar

if TYPE_CHECKING:
    from optsum.corpus.topic import BadTopic, Reading, Topic

T = TypeVar("T")


class Loop(AbstractContextManager["Loop"]):
    """Manage one pass of a command over its topics: rows can be written after entering; Ctrl-C ends it cleanly.

    `output`: the value of ``--output``. `inputs`: files read besides topics and options. `options`: those of
    `RowWriter`. `interrupted`: whether Ctrl-C was pressed.
    """

    def __init__(self, files: Files, output: str | None, inputs: Iterable[str] = (), **options: Any) -> None:
        if output is None and files.existing == "resume":
            raise OptionError("Without an output there is nothing to resume: give -o FILE.")
        self.output, self.interrupted = output, False
        self._files, self._stack = files, ExitStack()
        self._writer = partial(files.writer, output, inputs, **options)
        self.advance: Advance = lambda done=1: None  # noqa: ARG005 - until there is a bar
        self.errors, self._first_error = 0, ""

    def topics(self, reading: Reading) -> Iterator[Topic | BadTopic]:
        """Open the topics, and return an iterator that shows its progress."""
        source = open_topics(self._files.topics, self._files.columns, reading, self._files.limit)
        return advancing(source, lambda: self.advance())  # noqa: PLW0108 - the bar comes later

    def __enter__(self) -> Self:
        self.rows = self._stack.enter_context(self._writer())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        self.interrupted = isinstance(error, KeyboardInterrupt)
        self._stack.__exit__(kind, error, at)
        return self.interrupted

    def iterate(self, source: Generator[T, None, None], *, parallel: bool = False) -> Iterator[T]:
        """Show progress, and return an iterator over a generator that raises `KeyboardInterrupt` after Ctrl-C.

        `source`: created beforehand, because the progress bar has a thread (`optsum.running.executors`). `parallel`:
        whether other processes work, whose finished rows are collected after Ctrl-C.
        """
        self._stack.enter_context(closing(source))
        path, limit = self._files.topics, self._files.limit
        self.advance = self._stack.enter_context(bar("topics", lambda: count_topics(path, limit)))
        return self._stack.enter_context(closing(Interrupts().iterate(source, parallel=parallel)))

    def write(self, row: Mapping[str, Any], error: str | None = None) -> None:
        """Write a row; `error`: the reason if it is an error row."""
        self.rows.write(row)
        self.note_error(error)

    def note_error(self, error: str | None, times: int = 1) -> None:
        """Count an error, or several of which this is the first."""
        if error is not None:
            self.errors, self._first_error = self.errors + times, self._first_error or error

    def status(self, done: str, lost: str) -> int:
        """Print why the exit status is not 0, and return it; `done` and `lost`: what was finished, and what was not."""
        if self.interrupted:
            where = "" if self.rows.held is None else f" in {self.rows.held}"
            return tell(f"interrupted; {done}{where}", INTERRUPTED)
        return failed(lost, self.errors, self._first_error) if self.errors else DONE
