r"""Convert a metric, a measure, a way of counting and references to ratios of the normal form.

With the clipped hits :math:`T_k` against reference k, its n-grams :math:`D_k` and the summary's :math:`M`:

=========== ================================== ======================================================
measure     pooled references                  mean over references
=========== ================================== ======================================================
recall      :math:`\sum_k T_k / \sum_k D_k`    mean of :math:`T_k / D_k`
precision   :math:`\sum_k T_k / (K M)`         mean of :math:`T_k / M`
F1          :math:`2 \sum_k T_k / (\sum_k D_k  mean of :math:`2 T_k / (D_k + M)`
            + K M)`
=========== ================================== ======================================================

A sum of metrics is the mean of their values. Constant denominators (recall) give one ratio over their least common
multiple, so that one integer decides; all other values are sums of ratios. A geometric mean of metrics (Ngram(i, j) of
Lin & Hovy 2003, eq. 2) is a product of ratios.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import lcm
from typing import Any

import numpy as np

from optsum.corpus.topic import Topic
from optsum.coverage.instance import Combination, Coverage, IntArray, Joint
from optsum.errors import InputError
from optsum.metrics.metric import Counts, Gram, Metric
from optsum.metrics.names import parse_metric
from optsum.problem.spec import Spec
from optsum.system.clock import NEVER, Deadline
from optsum.text.tokenizers import Sentence

_LARGEST = 2**50  # A common denominator beyond this would leave too little room in 64-bit integers.


@dataclass(frozen=True, eq=False)
class Component:
    """Counts of one metric."""

    references: Sequence[Counts]  # one counter a reference
    units: Sequence[Counts]  # one counter a unit: in set-based ROUGE every count is 1.
    masses: Sequence[int]  # one integer a unit: what the unit adds to the number of n-grams of the summary.
    lost: int = 0  # By how much the n-grams of a non-empty summary are fewer than the sum of the masses.
    # n-grams across the end of i and the start of j, there if both are chosen and no unit between them is.
    seams: Sequence[tuple[int, int, Gram]] = ()
    # The units between two units that would part them.
    between: Callable[[int, int], Sequence[int]] = lambda i, j: range(i + 1, j)
    # n-grams that are there if all of the former are chosen and none of the latter.
    joints: Sequence[tuple[Gram, tuple[int, ...], tuple[int, ...], int]] = ()
    # one group of counters a reference, or None: the parts of each reference that are clipped by themselves, in place
    # of `references`.
    model_units: Sequence[Sequence[Counts]] | None = None
    deadline: Deadline = NEVER

    @staticmethod
    def total(reference: Counts) -> int:
        """Return the number of n-grams in a separately clipped text."""
        return reference.total()

    @property
    def groups(self) -> list[Sequence[Counts]]:
        """Groups of counts that are clipped separately, for each reference."""
        return [[one] for one in self.references] if self.model_units is None else list(self.model_units)


class Ratios(ABC):
    """Ratios under construction: constants and masses; subclasses define how features are stored."""

    def __init__(self, units: int, ratios: int) -> None:
        self.constants = [0] * (2 * ratios)
        self.mass = np.zeros((2 * ratios, units), np.int64)
        self.mean = Combination.SUM

    @abstractmethod
    def cover(self, slot: int, part: int, references: Sequence[Any], weights: Sequence[int], component: Any) -> None:
        """Add the n-grams of some references to a total, by their weights (`gains_of`).

        `part` distinguishes the metrics of the same total.
        """

    @abstractmethod
    def cover_all(self, slot: int, part: int, gain: int, component: Any) -> None:
        """Add every n-gram of the units to a total, counted once."""

    @abstractmethod
    def coverage(self, lengths: Sequence[int] | IntArray, weights: tuple[int, ...], **others: Any) -> Coverage:
        """Return the instance, without n-grams of no unit and steps beyond all existing copies."""

    def given(self, weights: tuple[int, ...]) -> dict[str, Any]:
        """Return the fields of the instance that are known here."""
        return {
            "constants": np.array(self.constants, np.int64),
            "mass": self.mass,
            "weights": weights,
            "combination": Combination.RATIO if len(weights) == 1 else self.mean,
        }


class Objective(Ratios):
    """Ratios of components that are counters."""

    def __init__(self, units: int, ratios: int) -> None:
        super().__init__(units, ratios)
        self.numbers: dict[tuple[int, int], dict[Gram, int]] = {}
        self.gains: list[tuple[int, ...]] = []
        self.slots: list[int] = []
        self.available: list[int] = []
        self.entries: list[dict[int, int]] = [{} for _ in range(units)]
        self.joints: list[Joint] = []

    def cover(
        self, slot: int, part: int, references: Sequence[Counts], weights: Sequence[int], component: Component
    ) -> None:
        """Add the n-grams of some references to a total."""
        self._cover(slot, part, gains_of(references, weights), component)

    def cover_all(self, slot: int, part: int, gain: int, component: Component) -> None:
        """Add every n-gram of the units to a total, counted once."""
        self._cover(slot, part, {key: (gain,) for found in component.units for key in found}, component)

    def _cover(self, slot: int, part: int, gains: Mapping[Gram, tuple[int, ...]], component: Component) -> None:
        for i, j, key in component.deadline.watching(component.seams):
            if key in gains:
                feature = self.feature(slot, part, key, gains[key], 1)
                self.joints.append(Joint(feature, (i, j), component.between(i, j)))
        for key, needs, vetoes, copies in component.deadline.watching(component.joints):
            if key in gains:
                feature = self.feature(slot, part, key, gains[key], copies)
                self.joints.append(Joint(feature, needs, vetoes, copies))
        # Without a call and a hash of three parts for each, because most of the time of building goes here.
        numbers, available = self.numbers.setdefault((slot, part), {}), self.available
        for entries, found in zip(self.entries, component.units, strict=True):
            for key, copies in found.items():
                number = numbers.get(key)
                if number is None:
                    if key not in gains:
                        continue
                    number = numbers[key] = self._new(slot, gains[key])
                available[number] += copies
                entries[number] = copies

    def feature(self, slot: int, part: int, key: Gram, gains: tuple[int, ...], copies: int) -> int:
        """Return the number of a feature, and add to its existing copies."""
        numbers = self.numbers.setdefault((slot, part), {})
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = self._new(slot, gains)
        self.available[number] += copies
        return number

    def _new(self, slot: int, gains: tuple[int, ...]) -> int:
        self.gains.append(gains)
        self.slots.append(slot)
        self.available.append(0)
        return len(self.gains) - 1

    def coverage(self, lengths: Sequence[int] | IntArray, weights: tuple[int, ...], **others: Any) -> Coverage:
        """Return the instance."""
        level: list[int] = []
        level_start = [0]
        for gains, copies in zip(self.gains, self.available, strict=True):
            level.append(0)
            level.extend(accumulate(gains[:copies]))
            level_start.append(len(level))
        return Coverage(
            lengths=np.array(lengths, np.int64),
            unit_start=np.array([0, *accumulate(map(len, self.entries))], np.int64),
            unit_feature=np.array([feature for entries in self.entries for feature in entries], np.int64),
            unit_count=np.array([copies for entries in self.entries for copies in entries.values()], np.int64),
            level_start=np.array(level_start, np.int64),
            level=np.array(level, np.int64),
            slot=np.array(self.slots, np.int64),
            joints=tuple(self.joints),
            **self.given(weights),
            **others,
        )


def gains_of(references: Sequence[Counts], weights: Sequence[int]) -> dict[Gram, tuple[int, ...]]:
    """Return the gain of each copy of each n-gram: the summed weights of the references that contain it that often."""
    if len(references) == 1:
        weight = weights[0]
        return {key: (weight,) * copies for key, copies in references[0].items()}
    gains: dict[Gram, tuple[int, ...]] = {}
    if len(set(weights)) == 1:
        held: dict[Gram, list[int]] = {}
        for reference in references:
            for key, copies in reference.items():
                held.setdefault(key, []).append(copies)
        weight = weights[0]
        for key, found in held.items():
            found.sort()
            holders = len(found)
            gains[key] = (
                (weight * holders,)  # most n-grams occur once wherever they occur
                if found[-1] == 1
                else tuple(weight * (holders - bisect_left(found, copy)) for copy in range(1, found[-1] + 1))
            )
        return gains
    for key in set().union(*references):
        counts = [reference[key] for reference in references]
        gains[key] = tuple(
            sum(weight for weight, copies in zip(weights, counts, strict=True) if copies >= copy)
            for copy in range(1, max(counts) + 1)
        )
    return gains


def objective_of(
    components: Sequence[Any],
    measure: str,
    *,
    mean: bool,
    distinct: bool,
    product: bool = False,
    made: type[Ratios] = Objective,
) -> tuple[Ratios, tuple[int, ...]]:
    """Return the ratios of an objective and their weights; `made` builds ratios from components of its kind."""
    units = len(components[0].units)
    # One ratio a component, or one a component and reference.
    ratios = [
        (part, references)
        for part, component in enumerate(components)
        for references in (component.groups if mean else [[one for group in component.groups for one in group]])
    ]
    totals = [sum(map(components[part].total, references)) for part, references in ratios]
    common = lcm(*(total for total in totals if total))
    if measure == "recall" and not product and (len(ratios) == 1 or common * len(ratios) <= _LARGEST):
        objective = made(units, 1)
        objective.constants[1] = common * len(ratios) if len(ratios) > 1 else totals[0]
        for part, component in enumerate(components):
            held = [(references, total) for (of, references), total in zip(ratios, totals, strict=True) if of == part]
            flat = [reference for references, _ in held for reference in references]
            weights = [
                common // total if len(ratios) > 1 and total else 1 for references, total in held for _ in references
            ]
            objective.cover(0, part, flat, weights, component)
        return objective, (1,)
    objective = made(units, len(ratios))
    objective.mean = Combination.PRODUCT if product else Combination.SUM
    scale = 2 if measure == "f1" else 1  # F1 = 2 hits / (reference total + summary mass): hits count twice
    for ratio, (part, references) in enumerate(ratios):
        component, top, bottom = components[part], 2 * ratio, 2 * ratio + 1
        objective.cover(top, part, references, [scale] * len(references), component)
        objective.constants[bottom] = 0 if measure == "precision" else totals[ratio]
        if measure == "recall":
            continue
        if distinct:
            objective.cover_all(bottom, part, len(references), component)
        else:
            objective.mass[bottom] = np.multiply(component.masses, len(references))
            objective.constants[bottom] -= len(references) * component.lost
    return objective, (1,) * len(ratios)


def nothing_to_count(topic: Topic, what: str) -> InputError:
    """Return the error for references without anything to count."""
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
    model_units : by component and reference, one counter for each separately clipped part
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
        """Whether an n-gram counts only once."""
        return self.spec.counts == "set"

    @property
    def simple(self) -> bool:
        """Whether it is the pooled recall of one metric, the usual objective of papers."""
        return self.spec.measure == "recall" and self.spec.references == "pooled" and len(self.wanted) == 1

    def references(self, part: int) -> list[Counts]:
        """Return the counters of a component, one for each separately clipped text."""
        return [counts for units in self.model_units[part] for counts in units]

    def units(self, part: int, texts: Sequence[Sequence[str]]) -> list[Counts]:
        """Count a component in the tokens of each unit; for recall, only n-grams of references."""
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
        units : one counter for each unit
        masses : one integer for each unit, optional
            Number of n-grams that each unit adds to the summary; by default all of its n-grams.
        **others
            As in `optsum.problem.objective.Component`.
        """
        masses = [counts.total() for counts in units] if masses is None else masses
        held = self.model_units[part]
        return Component(self.references(part), units, masses, model_units=held, deadline=self.spec.deadline, **others)

    def coverage(self, components: Sequence[Component], lengths: Sequence[int], **others: Any) -> Coverage:
        """Return the normal form with the length limits."""
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
