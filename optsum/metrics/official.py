"""The official scores of a choice of sentences whose tokens are numbers already, as after a search.

What `optsum.metrics.rouge.rouge_all` says of the text, without looking at it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from optsum.metrics.lcs import LongestSubsequence
from optsum.metrics.metric import Metric
from optsum.metrics.rouge import Score
from optsum.text.interned import Interned

__all__ = ["official_scores"]


def official_scores(
    found: Interned, references: Sequence[int], chosen: Sequence[int], metrics: Sequence[Metric]
) -> dict[str, Score] | None:
    """Score a choice of sentences.

    Parameters
    ----------
    found : Interned
        The sentences of the references, one reference after another, and the others after them.
    references : sequence of int
        The number of the first sentence of each reference, and the end of the last one.
    chosen : sequence of int
        Numbers of the sentences of the summary, in their order.

    Returns
    -------
    dict of str to Score, or None
        By name of metric, against all references pooled; None if a metric wants to see the tokens (`Metric.numbered`).
    """
    first = references[-1]
    end = int(found.start[first])
    picked = [found.ids[found.start[sentence] : found.start[sentence + 1]] for sentence in chosen]
    ids = np.concatenate([found.ids[:end], *picked])
    ends = list(accumulate(map(len, picked), initial=end))
    sentences = np.concatenate([found.start[:first], ends])
    texts = np.array([*references, len(sentences) - 1], np.int64)
    whole = sentences[texts]
    scores = {}
    for metric in metrics:
        if isinstance(metric, LongestSubsequence):
            from optsum.metrics.lcs_kernel import union_hits

            hits = int(union_hits(ids, sentences, texts, found.different).sum())
            mass, total = len(ids) - end, end
        else:
            numbered = metric.numbered(ids, whole, found.different, official=True)
            if numbered is None:
                return None
            from optsum.metrics.gram_kernels import clipped_hits

            *of, (_, mass) = clipped_hits(*numbered).tolist()
            hits, total = sum(row[0] for row in of), sum(row[1] for row in of)
        scores[metric.name] = Score.from_counts(hits, total, mass * (len(references) - 1))
    return scores
