"""What all commands do that go through a file of topics: rows written, progress shown, Ctrl-C heard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import Any

from optsum.cli.exits import DONE, FAILED, INTERRUPTED, tell
from optsum.cli.interrupts import Interrupts
from optsum.contracts.result import Result, Status
from optsum.corpus.rows import RowWriter
from optsum.corpus.topic import BadTopic, Topic
from optsum.corpus.topics import read_topics
from optsum.options.options import Options
from optsum.report.progress import bar, count_lines, on_terminal, say
from optsum.report.tables import counted, number, seconds
from optsum.running.warm import warm_up

__all__ = ["EachTopic"]

_COMPILING = "Compiling kernels for this machine; the next run finds them done."


class EachTopic:
    """One pass over a file of topics.

    Parameters
    ----------
    topics : str
        The file.
    output : str or None
        Where rows are written.
    inputs : iterable of str or None
        Other files that must not be overwritten.
    ways : sequence of Options
        All that a topic is searched with.
    row_of : callable
        What is written of a result.

    Raises
    ------
    OptsumError
        At once, if a file cannot be used.
    """

    def __init__(
        self,
        topics: str,
        output: str | None,
        *,
        inputs: Iterable[str | None],
        ways: Sequence[Options],
        row_of: Callable[[Result], dict[str, Any]] = Result.to_row,
    ) -> None:
        self._row_of = row_of
        self._path, self._output, self._ways = topics, output, ways
        self._inputs = [topics, *(path for path in inputs if path)]
        self._read = read_topics(topics)
        self._statuses: Counter[str] = Counter()
        self._objective = 0.0
        self._first_error: str | None = None
        self._warm = self._elapsed = 0.0

    def run(
        self, start: Callable[[Iterator[Topic | BadTopic]], Generator[list[Result], None, None]]
    ) -> Iterator[list[Result]]:
        """Yield the results of each topic, when their rows are on disk."""
        with ExitStack() as stack:
            rows = stack.enter_context(RowWriter(self._output, inputs=self._inputs)) if self._output else None
            for way in self._ways:
                self._warm += warm_up(way, announce=(lambda: say(_COMPILING)) if on_terminal() else None)
            interrupts = stack.enter_context(Interrupts())
            advance = stack.enter_context(bar("topics", lambda: count_lines(self._path)))
            began = perf_counter()
            for results in interrupts.pull(start(self._read), parallel=self._ways[0].workers > 1):
                for result in results:
                    if rows is not None:
                        rows.write(self._row_of(result))
                    self._note(result)
                self._elapsed = perf_counter() - began
                advance()
                yield results

    def _note(self, result: Result) -> None:
        self._statuses[result.status.value] += 1
        self._objective += result.objective or 0.0
        if result.status is Status.ERROR and self._first_error is None:
            self._first_error = result.error

    def status(self) -> int:
        """Return the exit status, and say on the standard error output what could not be done."""
        failed, all_ = self._statuses["error"], self._statuses.total()
        if not failed:
            return DONE
        first = f"the first: {self._first_error}" if failed > 1 else self._first_error
        return tell(
            f"{failed} of {counted(all_, 'row')} {'is an error' if failed == 1 else 'are errors'}; {first}", FAILED
        )

    def interrupted(self) -> int:
        """Say what there is after Ctrl-C, and return the exit status."""
        where = f" in {self._output}" if self._output not in {None, "-"} else ""
        return tell(f"interrupted; {counted(self._statuses.total(), 'row')} done{where}", INTERRUPTED)

    def summary(self) -> str:
        """Return how it went, in one line."""
        total, failed = self._statuses.total(), self._statuses["error"]
        held = self._statuses["optimal"] + self._statuses["feasible"]
        kinds = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in self._statuses.items())
        parts = [f"{counted(total, 'problem')}: {kinds}"] if total > failed or failed else ["no problem"]
        if held:
            parts.append(f"mean objective {number(self._objective / held)}")
        warm = f", and {seconds(self._warm)} to get ready" if self._warm >= 1 else ""
        parts.append(f"{seconds(self._elapsed)}{warm}")
        if self._output not in {None, "-"}:
            parts.append(f"rows in {self._output}")
        return "; ".join(parts)
