"""The loop of all commands that go through a file of topics: rows written, progress shown, Ctrl-C heard."""

from __future__ import annotations

import gc
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from time import perf_counter
from typing import Any, Final, TypeAlias

from optsum.cli.exits import DONE, FAILED, INTERRUPTED, Interrupts, put, tell
from optsum.cli.flags import ResumedFiles, count_topics, open_topics
from optsum.contracts.result import Result, Status, check_row
from optsum.corpus.arguments import read_ahead
from optsum.corpus.rows.writer import RowFormat, RowWriter
from optsum.corpus.topic import BadTopic, Topic
from optsum.errors import OptionError
from optsum.options.options import Options
from optsum.report.messages import bar
from optsum.report.tables.results import headline
from optsum.report.tables.table import Table, TableFormat, counted, number, put_tables, seconds
from optsum.running.each_topic import INPUT, charged, digest, digest_before
from optsum.running.one_problem import setup_of, warm_up
from optsum.running.plan import by_problem
from optsum.system.clock import Termination

Row: TypeAlias = Mapping[str, Any]


class Finished:
    """The topics of which all rows are there; a `Keeper` of `optsum.corpus.rows.writer.RowWriter`.

    A row with an error, or one that Ctrl-C ended, is not finished: its topic is searched again.

    `other`: returns what else of the command line a row differs from, by name; None if it does not.
    """

    def __init__(self, output: str, ways: Sequence[Options], other: Callable[[Row], str | None] | None = None) -> None:
        self._output, self._other = output, other
        self._ways = {way.config_hash: way for way in ways}
        self._split = ways[0].references == "each"
        self._topics: dict[str, str | None] = {}
        self._read: dict[str, str | None] = {}

    def __call__(self, rows: Iterator[dict[str, Any]]) -> Callable[[Row], bool]:
        """Look at the rows of the earlier run, and return what says of each whether it stays."""
        found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        again: set[str] = set()
        made_of: dict[str, str | None] = {}
        last = None
        for row in rows:
            self._check(row)
            problem, topic, way = row.get("id"), self._topic_of(row), row["config_hash"]
            if topic is None:
                continue
            last = topic
            made_of[topic] = row.get(INPUT)
            if not _is_finished(row):
                again |= {topic} if self._split else set()
            elif way in found[topic][str(problem)]:
                raise OptionError(
                    f"the output {self._output} has two rows of {problem!r}, as if two runs had written it: give "
                    "--overwrite, or name another output"
                )
            else:
                found[topic][str(problem)].add(way)
        if self._split and last is not None:  # of the topic that was under way some references may be missing
            again.add(last)
        self._topics = {
            topic: made_of[topic]
            for topic, problems in found.items()
            if topic not in again and all(len(ways) == len(self._ways) for ways in problems.values())
        }
        return lambda row: _is_finished(row) and self._topic_of(row) in self._topics

    def pending(self, topics: Iterable[Topic | BadTopic], passed: Callable[[], None]) -> Iterator[Topic | BadTopic]:
        """Yield the topics that are not finished, and call `passed` for each of the others."""
        for topic in topics:
            if isinstance(topic, Topic):
                try:
                    now = digest(topic)
                except (RecursionError, TypeError, ValueError) as error:
                    if topic.id in self._topics:
                        raise OptionError(
                            f"nothing tells whether the problem {topic.id!r} is that of {self._output}, as it holds "
                            f"what cannot be written ({error}): give --overwrite, or name another output"
                        ) from error
                    now = None
                if topic.id in self._topics:
                    held = self._topics[topic.id]
                    if held not in {None, now} and held != digest_before(topic):
                        what = "text: the topics, --map or --flat have changed" if topic.problem is None else "problem"
                        raise OptionError(
                            f"the rows of {topic.id!r} in {self._output} were made of another {what}; give "
                            "--overwrite, or name another output"
                        )
                    passed()
                    continue
                self._read[topic.id] = now
            yield topic

    def marked(self, results: Sequence[Result], row_of: Callable[[Result], dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the rows of a topic with the hash of its text."""
        read = results[0].extra.get(INPUT)  # of a line that was read elsewhere
        for row in map(row_of, results):
            topic = self._topic_of(row)
            read = read if topic is None else self._read.pop(topic, read)
            yield row if read is None else {**row, INPUT: read}

    def _topic_of(self, row: Row) -> str | None:
        name = row.get("id")
        if self._split and name is not None:
            name = name.rpartition("#")[0]
        return name or None

    def _check(self, row: Row) -> None:
        if "status" not in row or "config_hash" not in row:
            raise OptionError(f"the output {self._output} holds rows of another kind: name another output")
        check_row(row, ())
        way = self._ways.get(row["config_hash"])
        what = self._differing(row) if way is None else self._other(row) if self._other is not None else None
        if what is not None:
            raise OptionError(
                f"the rows in {self._output} were made with other options ({what}): resume with the same, give "
                "--overwrite, or name another output"
            )

    def _differing(self, row: Row) -> str:
        ways = list(self._ways.values())
        way = next((each for each in ways if each.strategy == row.get("strategy")), ways[0])
        own = {
            "formulation": way.formulation,
            "strategy": way.strategy,
            "backend": way.searcher().backend_name,
            "metric": way.metric,
            "seed": way.seed,
        }
        parts = [f"{name} {row[name]}, not {own[name]}" for name in own if row.get(name) not in {None, own[name]}]
        return "; ".join(parts) or "such as the length, the measure, or a limit"


def _is_finished(row: Row) -> bool:
    return row.get("status") != Status.ERROR and row.get("termination") != Termination.INTERRUPTED


def _reason(result: Result) -> str:
    """Return what is wrong, without where: the same for all topics that lack the same."""
    reason = _PLACE.sub("", result.error or "")
    own = result.id or ""
    for name in (own, own.rpartition("#")[0]):
        reason = reason.replace(f"topic {name!r}: ", "").replace(f"topic {name!r}", "the topic")
    return reason


_PLACE: Final = re.compile(r"^.*?:\d+: ")

_SHOWN = 50  # Lines of the table; a file may have any number of topics.


class EachTopic:
    """One pass over a file of topics.

    `output`: where rows are written, as the command understands its ``--output``. `ways`: all that a topic is searched
    with; they have the same stop words. `row_of`, `result_of`: what is written of a result, and what a row that is kept
    says of it. `form`: of the output, where its name does not say it. `sent`: whether other processes, if they work,
    may read the topics too.
    """

    def __init__(
        self,
        files: ResumedFiles,
        output: str | None,
        ways: Sequence[Options],
        *,
        other: Callable[[Mapping[str, Any]], str | None] | None = None,
        row_of: Callable[[Result], dict[str, Any]] = Result.to_row,
        result_of: Callable[[Mapping[str, Any]], Result] = Result.from_row,
        form: RowFormat | None = None,
        sent: bool = False,
    ) -> None:
        if output is None and files.existing == "resume":
            raise OptionError("There is no output to be resumed: give its file, -o FILE.")
        self._files, self._output, self._ways = files, output, ways
        self._row_of, self._result_of, self._form = row_of, result_of, form
        self._finished = Finished(output or "", ways, other)
        here = not sent or not ways[0].elsewhere or files.existing == "resume"
        self._read = open_topics(files.topics, files.columns, ways[0].reading, files.limit, read=here)
        self._statuses: Counter[str] = Counter()
        self._objective, self._chosen = 0.0, 0
        self._detail: str | None = None  # that all results share
        self._kept = 0
        self._rows: RowWriter | None = None
        self._first_error: str | None = None
        self._reasons: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()  # by which limit
        self._warm = self._elapsed = 0.0
        self.interrupted = False

    def run(
        self, start: Callable[[Iterator[Topic | BadTopic]], Generator[list[Result], None, None]]
    ) -> Iterator[list[Result]]:
        """Yield the results of each topic, when their rows are on disk; those of an earlier run come first."""
        with ExitStack() as stack:
            self._rows = self._files.writer(
                self._output or None, [self._ways[0].stopwords], keep=self._finished, form=self._form
            )
            rows = stack.enter_context(self._rows)
            for results in by_problem(map(self._result_of, rows.kept())):
                self._kept += len(results)
                for result in results:
                    self._note(result)
                yield results
            for way in self._ways:
                self._warm += warm_up(setup_of(way))
            gc.freeze()  # what is loaded by now stays: to look through it for garbage takes .05 ms of each topic
            stack.callback(gc.unfreeze)
            interrupts = stack.enter_context(Interrupts())
            # Before there is a bar, because that has a thread (`optsum.running.executors`).
            pending = self._finished.pending(self._read, lambda: advance())  # noqa: PLW0108 - made below
            source = start(read_ahead(pending, self._files.topics))
            advance = stack.enter_context(bar("topics", lambda: count_topics(self._files.topics, self._files.limit)))
            began = perf_counter()
            parallel = self._ways[0].elsewhere  # then each process has its own time to report
            unpaid = 0.0 if parallel else self._warm
            for results in interrupts.pull(source, parallel=parallel):
                results[0], unpaid = charged(results[0], unpaid), 0.0
                for row in self._finished.marked(results, self._row_of):
                    rows.write(row)
                for result in results:
                    self._note(result)
                self._elapsed = perf_counter() - began
                advance()
                yield results

    def all(self, start: Callable[[Iterator[Topic | BadTopic]], Generator[list[Result], None, None]]) -> list[Result]:
        """Return the results of all topics, or of those before Ctrl-C."""
        found: list[Result] = []
        with self.until_interrupted():
            for results in self.run(start):
                found += results
        return found

    def tabulate(
        self, results: list[Result], table_of: Callable[[list[Result]], Table], form: TableFormat = "text"
    ) -> None:
        """Print a table of results with the summary below, unless the rows are printed."""
        if self._output != "-" and results:
            table = table_of(results)
            table.title = headline(self._ways[0])
            table.caption.append(self.summary())
            put_tables([table], form)
        sys.stdout.flush()

    @contextmanager
    def until_interrupted(self) -> Iterator[None]:
        """Let Ctrl-C end what is done in it, and nothing else."""
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted = True

    def show(
        self,
        start: Callable[[Iterator[Topic | BadTopic]], Generator[list[Result], None, None]],
        table_of: Callable[[list[Result]], Table],
    ) -> int:
        """Do all topics, show a table on a terminal or one line beside a file, and return the exit status."""
        terminal = sys.stdout is not None and sys.stdout.isatty()
        shown: list[Result] = []
        with self.until_interrupted():
            for results in self.run(start):
                if terminal:  # what all topics lack stands in one line of the table
                    new = [each for each in results if each.error is None or self._reasons[_reason(each)] == 1]
                    shown += new[: _SHOWN - len(shown)]
        if terminal and self._output != "-" and not self._fails_for_one_reason():
            table = table_of(shown)
            table.title = headline(self._ways[0])
            table.caption.append(self.summary())
            if (again := self._statuses["error"] - len(self._reasons)) > 0:
                table.caption.insert(0, f"... and {counted(again, 'error')} as above")
            if (more := self._statuses.total() - len(shown) - again) > 0:
                rest = "" if self._output else ": -o FILE writes all"
                table.caption.insert(0, f"... and {more} more{rest}")
            table.show()
        elif self._output != "-":
            put(self.summary())
        return self.status()

    def _note(self, result: Result) -> None:
        self._statuses[result.status.value] += 1
        if result.termination.value.endswith("_limit"):
            self.ended[result.termination.value.replace("_", " ")] += 1
        self._objective += result.objective or 0.0
        self._chosen += len(result.selection or ())
        self._detail = result.detail if self._statuses.total() == 1 or self._detail == result.detail else None
        if result.status is Status.ERROR:
            self._first_error = self._first_error or result.error
            self._reasons[_reason(result)] += 1

    def _fails_for_one_reason(self) -> bool:
        return len(self._reasons) == 1 and 1 < self._statuses["error"] == self._statuses.total()

    def status(self) -> int:
        """Return the exit status, and say on the standard error output what was not done, or could not be."""
        failed, all_ = self._statuses["error"], self._statuses.total()
        if self.interrupted:
            held = None if self._rows is None else self._rows.held
            where = f" in {held}" if held is not None else ""
            return tell(f"interrupted; {counted(all_, 'row')} done{where}", INTERRUPTED)
        if not failed:
            return DONE
        if self._fails_for_one_reason():
            return tell(
                f"all {counted(all_, 'row')} are errors for the same reason: {next(iter(self._reasons))}", FAILED
            )
        first = f"the first: {self._first_error}" if failed > 1 else self._first_error
        return tell(
            f"{failed} of {counted(all_, 'row')} {'is an error' if failed == 1 else 'are errors'}; {first}", FAILED
        )

    def _all_empty(self) -> list[str]:
        held = self._statuses["optimal"] + self._statuses["feasible"]
        limit, unit = self._ways[0].max_length, self._ways[0].length_unit
        if not held or self._chosen or not isinstance(limit, int):
            return []  # sentences were meant, more often than not
        return [f"every selection is empty: nothing within {limit} {unit} counts (see --length-unit)"]

    def summary(self) -> str:
        """Return how it went, in one line."""
        total, failed = self._statuses.total(), self._statuses["error"]
        held = self._statuses["optimal"] + self._statuses["feasible"]
        kinds = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in self._statuses.items())
        parts = [f"{counted(total, 'problem')}: {kinds}"] if total > failed or failed else ["no problem"]
        parts += [f"{count} ended by the {limit}" for limit, count in self.ended.items()]
        if self._detail:
            parts.append(self._detail)
        if held:
            parts.append(f"mean objective {number(self._objective / held)}")
            parts += self._all_empty()
        if self._kept:
            parts.append(f"{self._kept} kept from before")
        warm = f", and {seconds(self._warm)} to get ready" if self._warm >= 1 else ""
        parts.append(f"{seconds(self._elapsed)}{warm}")
        if self._output not in {None, "-"}:
            parts.append(f"rows in {self._output}")
        return "; ".join(parts)
