"""The loop of all commands over topics: rows written, progress shown, Ctrl-C heard, an exit status in the end."""

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
    """One pass of a command over its topics: entered, rows can be written; Ctrl-C ends it in good order.

    `output`: where rows are written, as the command understands its ``--output``. `inputs`: files that it reads beside
    the topics and options. `options`: of the `RowWriter`. `interrupted`: whether Ctrl-C came.
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
        """Open the topics, and return an iterator that shows how far it is."""
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
        """Show progress, and return an iterator over a generator, from which Ctrl-C raises `KeyboardInterrupt`.

        `source`: made before this, because the bar has a thread (`optsum.running.executors`). `parallel`: whether other
        processes work, of which what they have is gathered after Ctrl-C.
        """
        self._stack.enter_context(closing(source))
        path, limit = self._files.topics, self._files.limit
        self.advance = self._stack.enter_context(bar("topics", lambda: count_topics(path, limit)))
        return self._stack.enter_context(closing(Interrupts().iterate(source, parallel=parallel)))

    def write(self, row: Mapping[str, Any], error: str | None = None) -> None:
        """Write a row; `error`: the reason if it is an error row."""
        self.rows.write(row)
        self.note_error(error)

    def write_all(self, rows: Iterable[Mapping[str, Any] | bytes]) -> None:
        """Write rows without an error."""
        self.rows.write_all(rows)

    def note_error(self, error: str | None) -> None:
        """Count an error."""
        if error is not None:
            self.errors, self._first_error = self.errors + 1, self._first_error or error

    def status(self, done: str, lost: str) -> int:
        """Return the exit status, and print why it is not 0.

        `done`: what was done, in words. `lost`: what became of the errors.
        """
        if self.interrupted:
            where = "" if self.rows.held is None else f" in {self.rows.held}"
            return tell(f"interrupted; {done}{where}", INTERRUPTED)
        return failed(lost, self.errors, self._first_error) if self.errors else DONE
