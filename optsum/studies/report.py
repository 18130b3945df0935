"""What a study returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optsum.report.tables import TextTable

__all__ = ["Report"]


class Report(ABC):
    """Tables for people, rows for programs, and what could not be done."""

    @property
    @abstractmethod
    def errors(self) -> Sequence[str]:
        """A sentence for each topic, or part of the input, that was left out."""

    @property
    def unmatched(self) -> Sequence[str]:
        """Those of `errors` that say that a topic is missing; not true of topics that were not read to their end."""
        return ()

    @abstractmethod
    def tables(self) -> list[TextTable]:
        """Return the paper's tables; what a table lacks, its caption says."""

    @abstractmethod
    def to_rows(self) -> list[dict[str, Any]]:
        """Return what the tables are made of, as JSON."""

    def __str__(self) -> str:
        return "\n\n".join(table.text() for table in self.tables())
