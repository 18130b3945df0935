"""The reference that people agree on: the human summary with which another one agrees best (Lin & Hovy 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from optsum.metrics.rouge import Text, rouge_all

__all__ = ["agreed_reference"]


def agreed_reference(references: Sequence[Text], metric: str, measure: str = "recall", **analysis: Any) -> int:
    """Return the number of the reference with which another one agrees best, the first of equals; 0 for a single one.

    Agreement is the score of the other summary against this one (section 5: the human summary "achieving the best
    inter-human agreement score").

    Parameters
    ----------
    references : sequence of texts
        One at least.
    metric : str
        Of a sum, or a mean, the scores of the parts are added.
    measure : {"recall", "precision", "f1"}
    **analysis
        Keywords of `optsum.metrics.rouge.rouge_all`.
    """
    if len(references) < 2:
        return 0

    def agreement(pair: tuple[int, int]) -> float:
        model, summary = (references[number] for number in pair)
        scores = rouge_all(summary, (model,), [metric], **analysis)
        return sum(float(getattr(score, measure)) for score in scores.values())

    return max(permutations(range(len(references)), 2), key=agreement)[0]
