"""Specification of the objective, independent of the formulation."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from optsum.corpus.topic import Topic
from optsum.coverage.instance import NO_LIMIT
from optsum.errors import InputError, OptionError
from optsum.plugins import named_function
from optsum.problem.sides import Sides
from optsum.system.clock import NEVER, Deadline
from optsum.text.analyzer import Analyzer
from optsum.text.lengths import LENGTH_OF, token_counter
from optsum.text.tokenizers import Sentence
from optsum.whole import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Specification of the objective; names and defaults as on the command line.

    Attributes
    ----------
    analyzer : Analyzer
        Tokenizer, stemming and stop words of the objective.
    metric : str
        A name for `optsum.metrics.names.parse_metric`.
    measure : str
        "recall", "precision" or "f1".
    counts : str
        "clipped" or "set".
    references : str
        "pooled" or "mean": all together, or the mean of the scores against each.
    boundaries : str
        "sentence": n-grams within sentences; "joined": across sentence ends, like the official score.
    model_units : str
        "whole": a reference is one text; "sentences": each of its sentences is clipped separately (Lin & Hovy 2003).
    max_length, min_length : int
        Limits of the summary, in `length_unit`; `optsum.coverage.instance.NO_LIMIT` for none.
    length_unit : str
        "words" (blank-separated), "sentences", "characters", "tokens" (of `length_tokenizer`), or "given" (the topic's
        own `lengths`).
    length_tokenizer : str or callable, optional
        The tokenizer for lengths: ``tiktoken:NAME``, ``hf:NAME``, ``module:function``, or a function from a text to a
        sequence or a number.
    similarity_unit : int
        Number of steps from 0 to 1 to which similarities are rounded down.
    keep_unmatched : bool
        Keep sentences that share no counted n-gram with a reference among the units.
    keep_overlong : bool
        Keep sentences longer than the maximum among the units, because a lead stops at them.
    sides : Sides
        Constraints besides the length.
    deadline : Deadline
        Time limit for building the problem, which slow formulations check.
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
    length_tokenizer: Any = None  # a name, once it is made
    similarity_unit: int = 10_000
    keep_unmatched: bool = False
    keep_overlong: bool = False
    sides: Sides = field(default_factory=Sides)
    deadline: Deadline = field(default=NEVER, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse an unknown length unit."""
        if self.length_unit not in {*LENGTH_OF, "tokens", "given"}:
            raise OptionError(
                f"There is no length unit {self.length_unit!r}: use words, sentences, characters, tokens or given."
            )
        if (self.length_tokenizer is not None) != (self.length_unit == "tokens"):
            raise OptionError(
                "--length-unit=tokens and --length-tokenizer=NAME go together, and only one of them was given."
            )
        if callable(self.length_tokenizer):
            object.__setattr__(self, "length_tokenizer", named_function(self.length_tokenizer))
        for name, what, least in (
            ("min_length", "The minimum length", 0),
            ("max_length", "The maximum length", 0),
            ("similarity_unit", "The similarity unit", 1),
        ):
            number = whole(getattr(self, name), what, least=least, most=10**400, error=OptionError)
            object.__setattr__(self, name, min(number, NO_LIMIT))

    @property
    def length_of(self) -> Callable[[Sentence], int]:
        """The length of a sentence, in the unit of the limits.

        Raises
        ------
        OptionError
            If lengths are given with the topic (see `lengths_of`), or the tokenizer cannot be loaded.
        """
        if self.length_unit == "given":
            raise OptionError("Lengths are given only for the topic's own sentences: choose another --length-unit.")
        return token_counter(self.length_tokenizer) if self.length_unit == "tokens" else LENGTH_OF[self.length_unit]

    def lengths_of(self, topic: Topic) -> list[int]:
        """Return the length of each sentence of a topic, in the unit of the limits.

        Raises
        ------
        InputError
            If the topic lacks the lengths that it should give; if a tokenizer fails on a sentence.
        """
        if self.length_unit != "given":
            return list(map(self.length_of, topic.sentences))
        if topic.lengths is None:
            raise InputError(
                f'topic {topic.id!r} has no "lengths": give a whole number for each sentence, or another --length-unit'
            )
        return list(topic.lengths)

    def until(self, deadline: Deadline) -> Spec:
        """Return the same specification with a deadline for building the problem."""
        if deadline is self.deadline:
            return self
        made = copy(self)  # which checks nothing again
        object.__setattr__(made, "deadline", deadline)
        return made

    def with_all_units(self) -> Spec:
        """Return the same specification with every sentence as a unit, for baselines."""
        return replace(self, keep_unmatched=True, keep_overlong=True)
