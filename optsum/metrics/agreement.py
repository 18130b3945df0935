"""The reference that people agree on: the human summary with which another one agrees best (Lin & Hovy 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import prod
from typing import Any, cast

from optsum.metrics.names import parse_metric
from optsum.metrics.rouge import Measure, Text, rouge_all


def agreed_reference(references: Sequence[Text], metric: str, measure: str = "recall", **analysis: Any) -> int:
    """Return the number of the reference with which another one agrees best, the first of equals; 0 for a single one.

    Agreement is the score of the other summary against this one (section 5: the human summary "achieving the best
    inter-human agreement score").

    `references`: one at least. `metric`: scores of the parts of a sum are added; those of a geometric mean, Ngram(i,
    j), are multiplied. `**analysis`: keywords of `optsum.metrics.rouge.rouge_all`.
    """
    if len(references) < 2:
        return 0

    found = parse_metric(metric)

    def agreement(pair: tuple[int, int]) -> Fraction:
        model, summary = (references[number] for number in pair)
        scores = rouge_all(summary, (model,), [found], **analysis)
        parts = (scores[part.name].exact(cast("Measure", measure)) for part in found.components)
        return prod(parts, start=Fraction(1)) if found.geometric else sum(parts, Fraction(0))

    return max(permutations(range(len(references)), 2), key=agreement)[0]
