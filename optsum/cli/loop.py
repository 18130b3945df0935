"""Run a command over its topics: write rows, show progress, handle Ctrl-C, and return an exit status.

`Finished` finds the finished topics of an earlier run, so that ``--resume`` processes the others.
"""

from __future__ import annotations

import gc
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from functools import partial
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypeVar

from optsum.cli.flags import Files, ResumedFiles, count_topics, open_topics
from optsum.cli.signals import DONE, FAILED, INTERRUPTED, Interrupts, failed, put, tell
from optsum.contracts.result import Result, ResultCounts, Status, check_row, reason_of
from optsum.corpus.topic import BadTopic, Reading, Topic
from optsum.corpus.topics import read_ahead
from optsum.errors import OptionError, counted
from optsum.options.options import Options
from optsum.report.comparison import by_problem, why_all_are_empty
from optsum.report.messages import Advance, advancing, bar
from optsum.report.tables import Table, TableFormat, headline, number, put_tables, seconds
from optsum.running.each_topic import INPUT, digest, digest_before
from optsum.running.one_problem import charged, setup_of, warm_up
from optsum.running.workers import Outcomes, Written, topics_in
from optsum.system.clock import Termination

T = TypeVar("T")
Row: TypeAlias = Mapping[str, Any]


class Loop(AbstractContextManager["Loop"]):
    """One pass of a command over its topics; rows are written within the context, which Ctrl-C ends (`interrupted`)."""

    def __init__(self, files: Files, output: str | None, inputs: Iterable[str] = (), **options: Any) -> None:
        if output is None and files.existing == "resume":
            raise OptionError("Without an output there is nothing to resume: give -o FILE.")
        self.output, self.interrupted = output, False
        self._files, self._stack = files, ExitStack()
        self._writer = partial(files.writer, output, inputs, **options)
        self.advance: Advance = lambda done=1: None  # noqa: ARG005 - until there is a bar
        self.errors, self._first_error = 0, ""

    def topics(self, reading: Reading) -> Iterator[Topic | BadTopic]:
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

        Callers create the generator first: the progress bar starts a thread, after which no process can be forked.
        """
        self._stack.enter_context(closing(source))
        path, limit = self._files.topics, self._files.limit
        self.advance = self._stack.enter_context(bar("topics", lambda: count_topics(path, limit)))
        return self._stack.enter_context(closing(Interrupts().iterate(source, parallel=parallel)))

    def write(self, row: Row, error: str | None = None) -> None:
        self.rows.write(row)
        if error is not None:
            self.errors, self._first_error = self.errors + 1, self._first_error or error

    def status(self, done: str, lost: str) -> int:
        """Return the exit status, and print why it is not 0; `done`, `lost`: what was finished, and what failed."""
        if self.interrupted:
            where = "" if self.rows.held is None else f" in {self.rows.held}"
            return tell(f"interrupted; {done}{where}", INTERRUPTED)
        return failed(lost, self.errors, self._first_error) if self.errors else DONE


class Finished:
    """The topics with complete rows in an earlier output, which are skipped: a `Keeper` (`optsum.corpus.row_files`).

    A row with an error, or one that Ctrl-C ended, is not finished: its topic is processed again. `check`: refuses a row
    made with other options. `split`: whether a topic becomes several problems, ``id#0``, ``id#1``, ..., of unknown
    number. `wanted`: the number of rows of each problem; None if each row states this number, as in studies.
    """

    def __init__(
        self, output: str, check: Callable[[Row], None], *, wanted: int | None = None, split: bool = False
    ) -> None:
        self._output, self._check, self._wanted, self._split = output, check, wanted, split
        self._topics: dict[str, str | None] = {}
        self._read: dict[str, str | None] = {}

    def __call__(self, rows: Iterator[dict[str, Any]]) -> Callable[[Row], bool]:
        """Read the rows of the earlier run, and return a function that says whether a row is kept."""
        found: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        again: set[str] = set()
        wanted: dict[str, int] = {}
        made_of: dict[str, str | None] = {}
        last = None
        for row in rows:
            self._check(row)
            problem, topic = row.get("id"), self._topic_of(row)
            if topic is None:
                continue
            last = topic
            made_of[topic] = row.get(INPUT)
            held = found[topic][str(problem)]
            if not _is_finished(row):
                again |= {topic} if self._split else set()
            elif self._wanted is not None and row["config_hash"] in held:
                raise OptionError(
                    f"the output {self._output} has two rows of {problem!r}, as if two runs had written it: give "
                    "--overwrite, or name another output"
                )
            else:
                held.append(row["config_hash"])
                wanted[topic] = row["rows"] if self._wanted is None else self._wanted
        if self._split and last is not None:  # the last topic may lack rows of some references
            again.add(last)
        self._topics = {
            topic: made_of[topic]
            for topic, problems in found.items()
            if topic not in again and all(len(held) == wanted.get(topic) for held in problems.values())
        }
        return lambda row: _is_finished(row) and self._topic_of(row) in self._topics

    def pending(self, topics: Iterable[T], passed: Callable[[], None]) -> Iterator[T]:
        """Yield the topics that are not finished, and call `passed` for each that is."""
        for topic in topics:
            if isinstance(topic, Topic) and self._knows(topic):
                passed()
            else:
                yield topic

    def compared(self, topics: Iterable[T]) -> Iterator[T]:
        """Yield all topics, also the finished ones; `OptionError` if one was finished with another text."""
        for topic in topics:
            if isinstance(topic, Topic):
                self._knows(topic)
            yield topic

    def _knows(self, topic: Topic) -> bool:
        """Return whether a topic is finished, and keep the hash of one that is not, for its rows (`marked`).

        Raises
        ------
        OptionError
            If it was finished with another text.
        """
        try:
            now = digest(topic)
        except (RecursionError, TypeError, ValueError) as error:
            if topic.id in self._topics:
                raise OptionError(
                    f"the problem {topic.id!r} cannot be compared with the one in {self._output}, because it "
                    f"has a value that cannot be written ({error}): give --overwrite, or name another output"
                ) from error
            now = None
        if topic.id not in self._topics:
            self._read[topic.id] = now
            return False
        held = self._topics[topic.id]
        if held not in {None, now} and held != digest_before(topic):
            what = "text: the topics, --map or --flat have changed" if topic.problem is None else "problem"
            raise OptionError(
                f"the rows of {topic.id!r} in {self._output} were made from another {what}; give "
                "--overwrite, or name another output"
            )
        return True

    def marked(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of topics, each with the hash of its topic's text."""
        last = read = None
        for row in rows:
            topic = self._topic_of(row)
            if topic is None or topic != last:  # the first row of a topic
                last, read = topic, self._read.pop(topic or "", None)
            yield row if read is None else {**row, INPUT: read}

    def _topic_of(self, row: Row) -> str | None:
        name = row.get("id")
        if self._split and name is not None:
            name = name.rpartition("#")[0]
        return name or None


def _is_finished(row: Row) -> bool:
    return row.get("status") != Status.ERROR and row.get("termination") != Termination.INTERRUPTED


Searches: TypeAlias = Callable[[Iterator[Any]], Generator[Outcomes, None, None]]
"""A function that searches an iterator of topics, and yields the results of one topic, or the rows of several."""

_SHOWN: Final = 50  # Lines of the table; a file may have any number of topics.


class SearchLoop(Loop):
    """A `Loop` that searches every topic with each of several options (`ways`), and writes a row for each search."""

    def __init__(
        self,
        files: ResumedFiles,
        output: str | None,
        ways: Sequence[Options],
        *,
        other: Callable[[Row], str | None] = lambda _: None,  # the flag with which a row was made differently, if any
        row_of: Callable[[Result], dict[str, Any]] = Result.to_row,
        result_of: Callable[[Row], Result] = Result.from_row,
        sent: bool = False,  # whether worker processes may read the topics too
        where: str = "",  # the lengths that the mean objective of the summary is at, if a result has several
        **writer: Any,
    ) -> None:
        self._hashes = {way.config_hash for way in ways}
        split = ways[0].references == "each"
        self._finished = Finished(output or "", self._check, wanted=len(self._hashes), split=split)
        super().__init__(files, output or None, [ways[0].stopwords], keep=self._finished, **writer)
        self._where = where
        self._ways, self._other, self._row_of, self._result_of = ways, other, row_of, result_of
        here = not sent or not ways[0].elsewhere or files.existing == "resume"
        self._read = open_topics(files.topics, files.columns, ways[0].reading, files.limit, read=here)
        self.counts = ResultCounts()
        self._kept = 0
        self._warm = self._elapsed = 0.0
        self.on_terminal = sys.stdout is not None and sys.stdout.isatty()  # then `show` prints a table

    def run(self, start: Searches) -> Iterator[Outcomes]:
        """Yield results once their rows are on disk, first those of an earlier run; Ctrl-C ends it (`interrupted`)."""
        with self:
            for kept in by_problem(map(self._result_of, self.rows.kept())):
                self._kept += len(kept)
                self._count(kept)
                yield kept
            for way in self._ways:
                self._warm += warm_up(setup_of(way))
            if not gc.get_freeze_count():  # otherwise the caller has frozen objects, which must stay frozen
                gc.freeze()  # searching loaded modules for garbage takes .05 ms per topic
                self._stack.callback(gc.unfreeze)
            pending = self._finished.pending(self._read, lambda: self.advance())  # noqa: PLW0108 - the bar comes later
            began = perf_counter()
            parallel = self._ways[0].elsewhere  # then worker processes report their own warm-up
            unpaid = 0.0 if parallel else self._warm
            ahead = read_ahead(pending, self._files.topics)  # but not a pipe, a folder or a dataset
            for results in self.iterate(start(ahead), parallel=parallel):
                if isinstance(results, Written):
                    self.rows.write_all(results.rows)
                else:
                    results[0], unpaid = charged(results[0], unpaid), 0.0
                    self.rows.write_all(self._finished.marked(map(self._row_of, results)))
                self._count(results)
                self._elapsed = perf_counter() - began
                self.advance(topics_in(results))
                yield results

    def show(
        self, start: Searches, table_of: Callable[[list[Result]], Table], form: TableFormat | None = None
    ) -> list[Result]:
        """Process topics, show a table unless rows are printed, and return its results (all of them with a `form`)."""
        shown: list[Result] = []
        reasons: set[str | None] = set()
        for results in self.run(start):
            if form is None and (not self.on_terminal or len(shown) == _SHOWN):
                continue
            for each in self.results_in(results):
                reason = None if each.error is None else reason_of(each)
                if form is not None or (reason not in reasons and len(shown) < _SHOWN):
                    shown.append(each)
                if reason is not None:  # an error that topics share is shown once
                    reasons.add(reason)
        if self.output == "-" or (form is not None and not shown):
            return shown
        if form is None and not (self.on_terminal and not self._fails_for_one_reason()):
            put(self.summary())
            return shown
        table = table_of(shown)
        table.title = headline(self._ways[0])
        if form in {None, "text"}:  # elsewhere the notes are for readers of the table
            table.caption.append(self.summary())
        again = 0 if form is not None else self.errors - len(self.counts.reasons)
        if again > 0:
            table.caption.insert(0, f"... and {counted(again, 'error')} as above")
        if (more := self.counts.statuses.total() - len(shown) - again) > 0:
            rest = "" if self.output else ": -o FILE writes all"
            table.caption.insert(0, f"... and {more} more{rest}")
        put_tables([table], form or "text")
        return shown

    def _check(self, row: Row) -> None:
        if "status" not in row or "config_hash" not in row:
            raise OptionError(
                f"the output {self.output} has rows that are not results of a search: name another output"
            )
        check_row(row, ())
        what = self._other(row)  # first, because a flag such as --soft may have chosen another strategy
        if what is None and row["config_hash"] not in self._hashes:
            what = self._differing(row)
        if what is not None:
            raise OptionError(
                f"the rows in {self.output} were made with other options ({what}): resume with the same, give "
                "--overwrite, or name another output"
            )

    def _differing(self, row: Row) -> str:
        way = next((each for each in self._ways if each.strategy == row.get("strategy")), self._ways[0])
        own: Row = {"formulation": way.formulation, "strategy": way.strategy, "backend": way.searcher().backend_name}
        own = {**own, "metric": way.metric, "seed": way.seed}
        parts = [f"{name} {row[name]}, not {own[name]}" for name in own if row.get(name) not in {None, own[name]}]
        return "; ".join(parts) or "such as the length, the measure, or a limit"

    def results_in(self, results: Outcomes) -> Iterable[Result]:
        if not isinstance(results, Written):
            return results
        return (self._result_of(json.loads(row)) for row in results.rows)

    def _count(self, results: Outcomes) -> None:
        if isinstance(results, Written):
            self.counts.merge(results.counts)
        for result in () if isinstance(results, Written) else results:
            self.counts.add(result)
        self.errors, self._first_error = self.counts.reasons.total(), self.counts.first_error or ""

    def _fails_for_one_reason(self) -> bool:
        return len(self.counts.reasons) == 1 and 1 < self.errors == self.counts.statuses.total()

    def status(self, done: str = "", lost: str = "") -> int:
        rows = counted(self.counts.statuses.total(), "row")
        if self._fails_for_one_reason() and not self.interrupted:
            return tell(f"all {rows} are errors for the same reason: {next(iter(self.counts.reasons))}", FAILED)
        verb = "is an error" if self.errors == 1 else "are errors"
        cut = self.counts.ended["interruption"]  # rows of these topics are not kept by --resume
        also = f" and {cut} cut short" if cut else ""
        finished = counted(self.counts.statuses.total() - cut, "row")
        return super().status(done or f"{finished} done{also}", lost or f"{self.errors} of {rows} {verb}")

    def summary(self) -> str:
        found, total = self.counts, self.counts.statuses.total()
        held = found.statuses["optimal"] + found.statuses["feasible"]
        kinds = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in found.statuses.items())
        parts = [f"{counted(total, 'problem')}: {kinds}"] if total > 0 else ["no problems"]
        parts += [f"{count} ended by the {limit}" for limit, count in found.ended.items()]
        if len(found.details) == 1 and (detail := next(iter(found.details))):
            parts.append(detail)
        if held:
            parts.append(f"mean objective {number(found.objective / held)}{self._where}")
            if not found.chosen and (why := why_all_are_empty(self._ways[0])):
                parts.append(why)
        if self._kept:
            parts.append(f"{self._kept} kept from an earlier run")
        warm = f", and {seconds(self._warm)} to get ready" if self._warm >= 1 else ""
        parts.append(f"{seconds(self._elapsed)}{warm}")
        if self.output not in {None, "-"} and not self.interrupted:  # then `status` says where they are
            parts.append(f"rows in {self.output}")
        return "; ".join(parts)
