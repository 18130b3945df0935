"""From a topic to the normal form: the references, counted, and units that are counted against them.

Shared parts of formulations by n-grams, also for third parties::

    counted = Counted.of(topic, spec)  # refuses a topic without n-grams
    instance = counted.of_sentences(sentences)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optsum.corpus.topic import Topic
from optsum.coverage.instance import Coverage
from optsum.errors import InputError
from optsum.metrics.metric import Counts, Gram, Metric
from optsum.metrics.names import parse_metric
from optsum.problem.objective import Component, objective_of
from optsum.problem.spec import Spec
from optsum.text.tokenizers import Sentence


def nothing_to_count(topic: Topic, what: str) -> InputError:
    """Return the error for references that have nothing to count."""
    return InputError(
        f"The references of topic {topic.id!r} have no {what} to count, so nothing can be optimized: "
        "give it a reference with text, or another tokenizer."
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Counted:
    """The references of a topic by the components of a metric.

    Attributes
    ----------
    spec : Spec
    metric : Metric
    model_units : by component and reference, one counter for each part that is clipped by itself
    wanted : by component, the n-grams of all references
    """

    spec: Spec
    metric: Metric
    model_units: Sequence[Sequence[Sequence[Counts]]]
    wanted: Sequence[frozenset[Gram]]

    @classmethod
    def of(cls, topic: Topic, spec: Spec) -> Counted:
        """Count the references.

        Raises
        ------
        InputError
            If there is nothing to count; for a geometric mean, if some part has nothing.
        """
        metric = parse_metric(spec.metric)
        texts = [
            [spec.analyzer.tokens(sentence) for sentence in reference]
            if spec.model_units == "sentences"
            else [spec.analyzer.joined_tokens(reference)]
            for reference in topic.references
        ]
        distinct = spec.counts == "set"
        groups = [
            [[part.count(text, distinct=distinct) for text in units] for units in texts] for part in metric.components
        ]
        wanted = [frozenset().union(*(counts for units in part for counts in units)) for part in groups]
        if not any(wanted) or (metric.geometric and not all(wanted)):
            raise nothing_to_count(topic, f"{metric} n-gram")
        return cls(spec=spec, metric=metric, model_units=groups, wanted=wanted)

    @property
    def distinct(self) -> bool:
        """Whether an n-gram counts once however often it occurs."""
        return self.spec.counts == "set"

    @property
    def simple(self) -> bool:
        """Whether it is the pooled recall of one metric, as papers print it."""
        return self.spec.measure == "recall" and self.spec.references == "pooled" and len(self.wanted) == 1

    def references(self, part: int) -> list[Counts]:
        """Return the counters of a component, one for each text that is clipped by itself."""
        return [counts for units in self.model_units[part] for counts in units]

    def units(self, part: int, texts: Sequence[Sequence[str]]) -> list[Counts]:
        """Count a component in the tokens of each unit; for recall, only what some reference has."""
        only = self.wanted[part] if self.spec.measure == "recall" else None  # other denominators need the rest
        metric = self.metric.components[part]
        return [
            metric.count(tokens, distinct=self.distinct, only=only) for tokens in self.spec.deadline.watching(texts)
        ]

    def component(
        self, part: int, units: Sequence[Counts], masses: Sequence[int] | None = None, **others: Any
    ) -> Component:
        """Return a component of the objective.

        Parameters
        ----------
        part : int
        units : one counter a unit
        masses : one integer a unit, optional
            Number of n-grams that each unit adds to the summary; by default as many as it holds.
        **others
            As in `optsum.problem.objective.Component`.
        """
        masses = [counts.total() for counts in units] if masses is None else masses
        held = self.model_units[part]
        return Component(self.references(part), units, masses, model_units=held, deadline=self.spec.deadline, **others)

    def coverage(self, components: Sequence[Component], lengths: Sequence[int], **others: Any) -> Coverage:
        """Return the normal form, with the limits of length."""
        objective, weights = objective_of(
            components,
            self.spec.measure,
            mean=self.spec.references == "mean",
            distinct=self.distinct,
            product=self.metric.geometric,
        )
        limits = {"min_length": self.spec.min_length, "max_length": self.spec.max_length}
        return objective.coverage(lengths, weights, **limits, **others)

    def of_sentences(self, sentences: Sequence[Sentence]) -> Coverage:
        """Return the normal form whose units are sentences, with n-grams within each."""
        texts = [self.spec.analyzer.tokens(sentence) for sentence in sentences]
        components = [self.component(part, self.units(part, texts)) for part in range(len(self.wanted))]
        return self.coverage(components, list(map(self.spec.length_of, sentences)))
