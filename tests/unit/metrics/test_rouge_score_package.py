"""Compare scores with those of the package rouge-score: stored answers of version 0.1.2, and its own if it is here."""

from __future__ import annotations

import pytest
from against_rouge_score import differences

import optsum

SUMMARY = [
    "The mice were dying under grey skies.",
    "Environmentally minded studies agreed: happy geologists enjoy innings, and succeed.",
    "They carried 1990s archaeology hopefully to the apartment's management.",
]
REFERENCES = [
    [
        "A mouse died under the sky.",
        "Environmental studying is an agreement that a happier geology enjoyed.",
        "Successful innings carry on.",
    ],
    ["The management hopes to carry archaeological apartments.", "Skies are grey, and mice die."],
]
# Precision, recall and F of RougeScorer(..., use_stemmer=True) for each reference; rouge-l is its rougeLsum.
SCORES: list[dict[str, tuple[float, float, float]]] = [
    {
        "rouge-1": (0.333333333333, 0.45, 0.382978723404),
        "rouge-2": (0.076923076923, 0.105263157895, 0.088888888889),
        "rouge-l": (0.333333333333, 0.45, 0.382978723404),
    },
    {
        "rouge-1": (0.444444444444, 0.923076923077, 0.6),
        "rouge-2": (0.038461538462, 0.083333333333, 0.052631578947),
        "rouge-l": (0.259259259259, 0.538461538462, 0.35),
    },
]


@pytest.mark.parametrize("metric", SCORES[0])
def test_scores_equal_those_of_the_package(metric: str) -> None:
    for reference, scores in zip(REFERENCES, SCORES, strict=True):
        score = optsum.rouge(SUMMARY, [reference], metric, stemmer="rouge-score")
        assert (score.precision, score.recall, score.f1) == pytest.approx(scores[metric], abs=1e-11)
    topic = {"id": "t", "documents": [SUMMARY], "references": REFERENCES}
    system = {"topic_id": "t", "system": "all", "summary": SUMMARY}
    found = optsum.score([topic], [system], metric=metric, preset="google-stemmed").rows[0].rouge[metric]
    assert found["f1"] == pytest.approx(max(scores[metric][2] for scores in SCORES), abs=1e-11)


def test_tokens_and_scores_of_random_texts_equal_those_of_the_package() -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer
    tokenizer = pytest.importorskip("rouge_score.tokenizers").DefaultTokenizer
    stems = {"google": False, "google-stemmed": True}
    scorers = {preset: scorer(["rouge1", "rouge2"], use_stemmer=stem) for preset, stem in stems.items()}
    assert list(differences(200, 7, {preset: tokenizer(stem) for preset, stem in stems.items()}, scorers)) == []
