"""A result as people see it in Python and in a notebook: in a line, and as the summary marked in its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from optsum.errors import visible
from optsum.system.notebook import Words, facts, kept_words, marked_text

_UNITS = 20  # Units of a selection that a line shows.


class Shown:
    """The display of `optsum.contracts.result.Result`."""

    if TYPE_CHECKING:  # fields of the result, read here

        @property
        def gap(self) -> float | None:
            """As `optsum.contracts.result.Result.gap`."""

        id: str | None
        strategy: str
        backend: str | None
        metric: str | None
        status: StrEnum
        termination: StrEnum
        objective: float | None
        bound: float | None
        numerator: int | None
        denominator: int | None
        selection: tuple[Any, ...] | None
        sentence_count: int | None
        length: int | None
        summary: tuple[str, ...] | None
        seconds: float
        error: str | None
        extra: Mapping[str, Any]
        source: Sequence[Sequence[Words]] | None

    def __repr__(self) -> str:
        name = "of a problem" if self.id is None else visible(repr(self.id))
        said = [f"{name}: {self.status.value}", *(f"{what} {value}" for what, value in self._facts())]
        return f"<Result {', '.join(said)}>"

    def _repr_html_(self) -> str:
        above = facts(f"{self.id or 'Result'}: {self.status.value.replace('_', ' ')}", self._facts())
        if self.selection is None:
            return above
        found = dict.fromkeys(unit[0] if isinstance(unit, tuple) else unit for unit in self.selection)
        numbers = list(found) if self.sentence_count and all(type(number) is int for number in found) else None
        source = self.shown_source()
        if source is None or numbers is None:
            return above + (marked_text([self.summary], {}) if self.summary else "")
        return above + marked_text(source, dict.fromkeys(numbers, 1.0), self._kept(source, numbers))

    def shown_source(self) -> Sequence[Sequence[Words]] | None:
        """Return the documents that the summary is of, where the result knows them."""
        if self.source is not None:
            return self.source
        documents = self.extra.get("details", {}).get("documents")
        return documents if isinstance(documents, list) else None

    def _facts(self) -> list[tuple[str, str]]:
        """Return what is to be said beside the status."""
        found = [("by", f"{self.strategy}{f' on {self.backend}' if self.backend else ''}")]
        if self.error is not None:
            return [*found, ("because", visible(self.error))]
        if self.objective is not None:
            ratio = f" ({self.numerator}/{self.denominator})" if self.numerator is not None else ""
            found.append((self.metric or "objective", f"{self.objective:.4g}{ratio}"))
        if self.status != "optimal" and self.bound is not None:
            gap = "" if self.gap is None else f" (gap {self.gap:.1%})"
            found.append(("bound", f"{self.bound:.4g}{gap}"))
        if self.selection is not None:
            more = len(self.selection) - _UNITS
            units = " ".join(map(unit_text, self.selection[:_UNITS])) or "none"
            found.append(("units", visible(units + (f" and {more} more" if more > 0 else ""))))
        if self.length is not None:
            found.append(("length", str(self.length)))
        if self.termination != "completed":
            found.append(("ended by", self.termination.value.replace("_", " ")))
        return [*found, ("in", f"{self.seconds:.3g} s")]

    def _kept(self, source: Sequence[Sequence[Words]], numbers: Sequence[int]) -> dict[int, set[int]] | None:
        """Return which words of the sentences are kept, where sentences are not kept as a whole."""
        summary = self.summary or ()
        if not any(isinstance(unit, tuple) for unit in self.selection or ()) or len(summary) != len(numbers):
            return None
        sentences = [sentence for document in source for sentence in document]
        return {number: kept_words(sentences[number], text) for number, text in zip(numbers, summary, strict=True)}


def unit_text(unit: Any) -> str:
    """Return what people read of a unit: 3, or 3.1 for a part of a sentence."""
    return ".".join(map(str, unit)) if isinstance(unit, tuple) else str(unit)
