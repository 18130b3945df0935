"""The counts behind the official scores of a summary whose tokens are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.metrics.gram_kernels import clipped_hits, numbers_of
from optsum.metrics.lcs_kernel import union_hits, whole_hits
from optsum.metrics.metric import LONGEST
from optsum.system.compiled import njit


@njit(cache=True)
def official_hits(ids: Any, start: Any, references: Any, chosen: Any, different: int, coded: Any) -> Any:
    """Compare a choice of sentences with the references, by several metrics.

    Parameters are those of `official_scores`. The result (metrics, 3): hits in all references together, how much there
    is in these, and how much in the summary.
    """
    first = references[-1]
    end, sentences = start[first], first + len(chosen)
    size = end
    for sentence in chosen:
        size += start[sentence + 1] - start[sentence]
    tokens, bounds = np.empty(size, np.int64), np.empty(sentences + 1, np.int64)
    for place in range(end):
        tokens[place] = ids[place]
    for sentence in range(first + 1):
        bounds[sentence] = start[sentence]
    place = end
    for number in range(len(chosen)):
        for token in range(start[chosen[number]], start[chosen[number] + 1]):
            tokens[place] = ids[token]
            place += 1
        bounds[first + number + 1] = place
    texts, whole = np.empty(len(references) + 1, np.int64), np.empty(len(references) + 1, np.int64)
    for text in range(len(references) + 1):
        texts[text] = references[text] if text < len(references) else sentences
        whole[text] = bounds[texts[text]]
    scores = np.zeros((len(coded), 3), np.int64)
    for metric in range(len(coded)):
        if coded[metric, 0] == LONGEST:
            whole_text = coded[metric, 1] == 1
            found_hits = (
                whole_hits(tokens, bounds, texts, different)
                if whole_text
                else union_hits(tokens, bounds, texts, different)
            )
            for hits in found_hits:
                scores[metric, 0] += hits
            scores[metric, 1], scores[metric, 2] = end, size - end
            continue
        # ROUGE-1.5.5 leaves out the last token of a text where it counts tokens and pairs.
        grams, begin, kinds = numbers_of(tokens, whole, different, coded[metric, 0], coded[metric, 1], np.int64(1))
        found = clipped_hits(grams, begin, kinds)
        for reference in range(len(references) - 1):
            scores[metric, 0] += found[reference, 0]
            scores[metric, 1] += found[reference, 1]
        scores[metric, 2] = found[-1, 1]
    return scores
