"""Systems beside oracles: their scores by the measure of a search."""

from __future__ import annotations

from collections.abc import Sequence

from optsum.corpus.topic import Text
from optsum.metrics.rouge import Score, rouge_all
from optsum.running.setup import Setup
from optsum.text.tokenizers import Sentence

__all__ = ["score_of"]


def score_of(summary: Sequence[Sentence], references: Sequence[Text], setup: Setup, metric: str) -> Score:
    """Return the pooled score of a summary, by the text analysis and the sentence ends of a search."""
    tokens = all(isinstance(sentence, tuple) for text in (summary, *references) for sentence in text)
    spec = setup.spec_of_tokens if tokens else setup.spec
    scores = rouge_all(
        tuple(summary),
        references,
        [metric],
        analyzer=spec.analyzer,
        counts=setup.options.counts,
        boundaries=setup.options.boundaries,
        last_unigram=True,
        model_units=setup.options.model_units,
    )
    return scores[metric]
