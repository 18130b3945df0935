"""Find the finished topics of an earlier run, so that ``--resume`` processes the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from optsum.contracts.result import Result, Status
from optsum.corpus.topic import BadTopic, Topic
from optsum.errors import OptionError
from optsum.running.each_topic import INPUT, WRITTEN, digest, digest_before
from optsum.system.clock import Termination

Row: TypeAlias = Mapping[str, Any]


class Finished:
    """The topics with complete rows, as a `Keeper` of `optsum.corpus.rows.writer.RowWriter`.

    A row with an error, or one that Ctrl-C ended, is not finished: its topic is processed again. The rows of a study
    state their number for each topic.

    `check`: refuses a row made with other options than this command's. `split`: whether topics are an unknown number of
    problems, ``id#0``, ``id#1``, .... `wanted`: the number of rows of each problem; None if rows state it.
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
        if self._split and last is not None:  # of the topic that was under way some references may be missing
            again.add(last)
        self._topics = {
            topic: made_of[topic]
            for topic, problems in found.items()
            if topic not in again and all(len(held) == wanted.get(topic) for held in problems.values())
        }
        return lambda row: _is_finished(row) and self._topic_of(row) in self._topics

    def pending(self, topics: Iterable[Topic | BadTopic], passed: Callable[[], None]) -> Iterator[Topic | BadTopic]:
        """Yield the unfinished topics, and call `passed` for each of the others."""
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

    def marked(self, results: Sequence[Result], row_of: Callable[[Result], dict[str, Any]]) -> Iterator[Row | bytes]:
        """Yield the rows of topics, each with the hash of its text."""
        last = read = None
        for result in results:
            if (written := result.extra.get(WRITTEN)) is not None:
                yield written
                continue
            row = row_of(result)
            topic = self._topic_of(row)
            if topic is None or topic != last:  # the first of a topic
                last, read = topic, self._read.pop(topic or "", result.extra.get(INPUT))  # of a line read elsewhere
            yield row if read is None else {**row, INPUT: read}

    def _topic_of(self, row: Row) -> str | None:
        name = row.get("id")
        if self._split and name is not None:
            name = name.rpartition("#")[0]
        return name or None


def _is_finished(row: Row) -> bool:
    return row.get("status") != Status.ERROR and row.get("termination") != Termination.INTERRUPTED
