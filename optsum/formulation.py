"""What turns a topic into a problem and a selection back into text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from optsum.corpus.topic import Topic
from optsum.coverage import NO_LIMIT
from optsum.problem import Problem, Selection
from optsum.text import Analyzer, Sentence

__all__ = ["Formulation", "Spec", "Task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What is to be optimized; names and defaults as on the command line.

    Attributes
    ----------
    analyzer : Analyzer
        Tokenizer, stemming and stop words, as the objective counts them.
    metric : str
        "rouge-1", "rouge-2", "rouge-N", "rouge-suK".
    measure : str
        "recall", "precision" or "f1".
    counts : str
        "clipped" or "set".
    references : str
        "pooled" or "mean": all together, or the mean of the scores against each.
    boundaries : str
        "sentence": n-grams within sentences; "joined": across sentence ends, as the official score.
    max_length, min_length : int
        Limits of the summary, in `length_unit`; `optsum.coverage.NO_LIMIT` for none.
    length_unit : str
        "words" (blank-separated), "sentences" or "characters".
    keep_unmatched : bool
        Keep sentences that share no counted n-gram with a reference among the units.
    keep_overlong : bool
        Keep sentences longer than the maximum among the units; a lead stops at them.
    weights : str
        Cover: "one" or "length", what a sentence counts.
    uncoverable : str
        Cover: "error" or "skip", what is done about an abstract sentence without any alternative.
    """

    analyzer: Analyzer
    metric: str = "rouge-1"
    measure: str = "recall"
    counts: str = "clipped"
    references: str = "pooled"
    boundaries: str = "sentence"
    max_length: int = NO_LIMIT
    min_length: int = 0
    length_unit: str = "words"
    keep_unmatched: bool = False
    keep_overlong: bool = False
    weights: str = "one"
    uncoverable: str = "error"

    def with_all_units(self) -> Spec:
        """Return the same specification with every sentence a unit, as baselines need it."""
        return replace(self, keep_unmatched=True, keep_overlong=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(ABC):
    """A topic as a problem, and the way back.

    Attributes
    ----------
    id : str
    problem : Problem
    units : tuple
        What the input calls each unit of the problem, in order.
    references : tuple of tuple of sentences
        Those that the objective is about.
    analyzer : Analyzer
        What the objective counts with; the finished text is scored with it too.
    notes : mapping
        What building found and a result should say; becomes part of its statistics.
    """

    id: str
    problem: Problem
    units: tuple[Any, ...]
    references: tuple[tuple[Sentence, ...], ...]
    analyzer: Analyzer
    notes: Mapping[str, Any] = field(default_factory=dict)

    def name_units(self, selection: Selection) -> tuple[Any, ...]:
        """Return a selection in the numbering of the input, in document order."""
        return tuple(self.units[unit] for unit in selection)

    def length(self, selection: Selection) -> int | None:
        """Return the length of a selection, in the length unit; None where that needs a text that the input lacks."""
        return self.problem.length(selection)

    @abstractmethod
    def decode(self, selection: Selection) -> tuple[Sentence, ...] | None:
        """Return the text of a selection, in document order; None where the input has none."""


class Formulation(ABC):
    """A way to read a topic as an optimization problem.

    Attributes
    ----------
    name : str
        As in ``--formulation``.
    about : str
        One line for ``optsum list formulations``.
    """

    name: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def build(self, topic: Topic, spec: Spec) -> Task:
        """Return the problem of a topic.

        Raises
        ------
        InputError
            If the topic has nothing to optimize (no reference n-gram).
        UnsupportedError
            If this formulation does not serve the specification.
        """
