"""The official scores of a choice of sentences whose tokens are numbers already: those of `rouge_all`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from optsum.metrics.metric import Metric
from optsum.metrics.rouge import Score
from optsum.text.interned import Interned


def official_scores(
    found: Interned, references: Sequence[int], chosen: Sequence[int], metrics: Sequence[Metric]
) -> dict[str, Score] | None:
    """Score a choice of sentences by several metrics, against all references pooled.

    `found`: the sentences of one reference after another, and the others after them. `references`: the number of the
    first sentence of each reference, and the end of the last one. `chosen`: numbers of the sentences of the summary, in
    their order. None if a metric wants to see the tokens (`Metric.coded`).
    """
    codes = codes_of(tuple(metrics))
    if codes is None:
        return None
    from optsum.metrics.kernels import official_hits

    texts, summary = np.array(references, np.int64), np.array(chosen, np.int64)
    counts = official_hits(found.ids, found.start, texts, summary, found.different, codes).tolist()
    many = len(references) - 1
    return {
        metric.name: Score.from_counts(hits, total, mass * many)
        for metric, (hits, total, mass) in zip(metrics, counts, strict=True)
    }


@lru_cache(maxsize=64)
def codes_of(metrics: tuple[Metric, ...]) -> NDArray[np.int64] | None:
    """Return how kernels know metrics, a row each (`Metric.coded`); None if they do not know one."""
    coded = [metric.coded for metric in metrics]
    return None if None in coded else np.array(coded, np.int64).reshape(-1, 2)
