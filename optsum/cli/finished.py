"""The rows of an earlier run, read so that ``--resume`` does the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, TypeAlias

from optsum.contracts.result import Status, Termination
from optsum.contracts.row_values import check_row
from optsum.corpus.topic import BadTopic, Topic
from optsum.coverage.normal_form_json import json_of_coverage
from optsum.errors import OptionError
from optsum.options.options import Options
from optsum.problem.problem import Capability, Problem

Row: TypeAlias = Mapping[str, Any]

INPUT: Final = "input_hash"
"""Field of a row: 16 hexadecimal digits that differ when the topic's text does."""


class Finished:
    """The topics of which all rows are there; a `Keeper` of `optsum.corpus.rows.writer.RowWriter`.

    A row with an error, or one that Ctrl-C ended, is not finished: its topic is searched again.

    Parameters
    ----------
    output : str
        The file, for messages.
    ways : sequence of Options
        All that a topic is searched with.
    other : callable, optional
        Returns what else of the command line a row differs from, by name; None if it does not.
    """

    def __init__(self, output: str, ways: Sequence[Options], other: Callable[[Row], str | None] | None = None) -> None:
        self._output, self._other = output, other
        self._ways = {way.config_hash: way for way in ways}
        self._split = ways[0].references == "each"
        self._topics: dict[str, str | None] = {}
        self._read: dict[str, str] = {}

    def __call__(self, rows: Iterator[dict[str, Any]]) -> Callable[[Row], bool]:
        """Look at the rows of the earlier run, and return what says of each whether it stays.

        Raises
        ------
        OptionError
            If a row was made with other options, or there are two of the same problem.
        """
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
        """Yield the topics that are not finished, and call `passed` for each of the others.

        Raises
        ------
        OptionError
            If a topic that is finished is another one now: the input, ``--map`` or ``--flat`` has changed.
        """
        for topic in topics:
            if isinstance(topic, Topic):
                now = digest(topic)
                if topic.id in self._topics:
                    if self._topics[topic.id] not in {None, now}:
                        raise OptionError(
                            f"the rows of {topic.id!r} in {self._output} were made of another text: the topics, --map "
                            "or --flat have changed; give --overwrite, or name another output"
                        )
                    passed()
                    continue
                self._read[topic.id] = now
            yield topic

    def marked(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the rows of a topic with what says which text they were made of."""
        read = None
        for row in rows:
            topic = self._topic_of(row)
            read = read if topic is None else self._read.pop(topic, read)
            yield row if read is None else {**row, INPUT: read}

    def _topic_of(self, row: Row) -> str | None:
        """Return the id of the topic of a row; None if there is none."""
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
        """Return what differs, as far as a row tells."""
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


def digest(topic: Topic) -> str:
    """Return what the text of a topic is recognised by."""
    held = repr((topic.documents, topic.references, topic.cover, topic.parses))
    if (problem := topic.problem) is not None:
        known = isinstance(problem, Problem) and problem.can(Capability.COVERAGE)
        held += json_of_coverage(problem.coverage) if known else repr(problem)
    return blake2b(held.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _is_finished(row: Row) -> bool:
    return row.get("status") != Status.ERROR and row.get("termination") != Termination.INTERRUPTED
