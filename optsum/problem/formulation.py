"""What turns a topic into a problem and a selection back into text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from optsum.corpus.topic import Topic
from optsum.coverage.instance import NO_LIMIT
from optsum.problem.problem import Problem, Selection
from optsum.text.analyzer import Analyzer
from optsum.text.tokenizers import Sentence

if TYPE_CHECKING:
    from optsum.chunks.rules import Rules

__all__ = ["Formulation", "Spec", "Task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What is to be optimized; names and defaults as on the command line.

    Attributes
    ----------
    analyzer : Analyzer
        Tokenizer, stemming and stop words, as the objective counts them.
    metric : str
        As `optsum.metrics.names.parse_metric` reads it.
    measure : str
        "recall", "precision" or "f1".
    counts : str
        "clipped" or "set".
    references : str
        "pooled" or "mean": all together, or the mean of the scores against each.
    boundaries : str
        "sentence": n-grams within sentences; "joined": across sentence ends, as the official score.
    model_units : str
        "whole": a reference is one text; "sentences": each of its sentences is clipped by itself (Lin & Hovy 2003).
    max_length, min_length : int
        Limits of the summary, in `length_unit`; `optsum.coverage.instance.NO_LIMIT` for none.
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
    chunk_profile : str
        Compressive: "strict" or "paper", which parts of a sentence can go by themselves.
    chunk_rules : Rules or None
        Compressive: by which chunks are made; None for those that go with the labels of the parse.
    """

    analyzer: Analyzer
    metric: str = "rouge-1"
    measure: str = "recall"
    counts: str = "clipped"
    references: str = "pooled"
    boundaries: str = "sentence"
    model_units: str = "whole"
    max_length: int = NO_LIMIT
    min_length: int = 0
    length_unit: str = "words"
    keep_unmatched: bool = False
    keep_overlong: bool = False
    weights: str = "one"
    uncoverable: str = "error"
    chunk_profile: str = "strict"
    chunk_rules: Rules | None = None

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
    members : mapping
        All that a unit consists of, in the numbering of the input, where `units` names it after one of several.
    parents : mapping
        The unit without which a unit cannot be chosen, where there is one, both as `units` names them.
    """

    id: str
    problem: Problem
    units: tuple[Any, ...]
    references: tuple[tuple[Sentence, ...], ...]
    analyzer: Analyzer
    notes: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[Any, tuple[Any, ...]] = field(default_factory=dict)
    parents: Mapping[Any, Any] = field(default_factory=dict)

    def name_units(self, selection: Selection) -> tuple[Any, ...]:
        """Return a selection in the numbering of the input, in document order."""
        return tuple(self.units[unit] for unit in selection)

    def length(self, selection: Selection) -> int | None:
        """Return the length of a selection, in the length unit; None where that needs a text that the input lacks."""
        return self.problem.length(selection)

    @abstractmethod
    def decode(self, selection: Selection) -> tuple[Sentence, ...] | None:
        """Return the text of a selection, in document order; None where the input has none."""

    def display(self, selection: Selection) -> tuple[Sentence, ...] | None:
        """Return the text of a selection for people, where that differs from what is scored."""
        return self.decode(selection)


class Formulation(ABC):
    """A way to read a topic as an optimization problem.

    Attributes
    ----------
    name : str
        As in ``--formulation``.
    about : str
        One line for ``optsum list formulations``.
    whole_sentences : bool
        Whether a selection is of whole sentences, so that a sentence has a label: selected or not.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    whole_sentences: ClassVar[bool] = True

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
