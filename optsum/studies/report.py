"""What a study returns, and what all studies of the package have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from optsum.report.tables import Column, Table, Tabular


class Report(Tabular):
    """Tables for people, rows for programs, and what could not be done."""

    interrupted: bool = False
    """Whether Ctrl-C ended it; the tables are those of the topics that were done by then."""

    @property
    @abstractmethod
    def errors(self) -> Sequence[str]:
        """A sentence for each topic, or part of the input, that was left out."""

    @property
    def unmatched(self) -> Sequence[str]:
        """Those of `errors` that say that a topic is missing; not true of topics that were not read to their end."""
        return ()

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the paper's tables; what a table lacks, its caption says."""

    @abstractmethod
    def to_rows(self) -> list[dict[str, Any]]:
        """Return what the tables are made of, as JSON."""

    def text(self) -> str:
        """Return the tables as lines of aligned text, and whether there should be more in them."""
        said = ["Interrupted: these are the topics that were done by then."] if self.interrupted else []
        return "\n\n".join([super().text(), *said])


@dataclass(kw_only=True)
class Study(Report):
    """A report that is filled topic by topic (`optsum.studies.topics.over_topics`).

    Attributes
    ----------
    failures : list of str
        A sentence for each topic, or part of the input, that could not be used.
    interrupted : bool
    """

    failures: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def errors(self) -> tuple[str, ...]:
        """A sentence for each topic, or part of the input, that was left out."""
        return tuple(self.failures)


def study_table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    """Return an empty table: columns of names on the left, columns of numbers on the right."""
    columns = [Column(name) for name in names]
    return Table([*columns, *(Column(number, numeric=True) for number in numbers)], title=title)
