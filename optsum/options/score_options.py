"""The options of scoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from optsum.options.model import (
    Counts,
    FlatLists,
    Model,
    ModelUnits,
    Stem,
    Stemmer,
    Stopwords,
    Tokenizer,
    analyzer_of,
)

if TYPE_CHECKING:
    from optsum.text.analyzer import Analyzer


class ScoreOptions(Model):
    """Every option of scoring."""

    metric: str = Field("rouge-1+rouge-2+rouge-l", description="one metric, or several joined by +")
    references: Literal["pooled", "mean", "best", "first", "agreed"] = Field(
        "pooled",
        description="all references together, the mean over them, the best of them, the first alone, or the one with "
        "which another agrees best",
    )
    best_by: Literal["recall", "precision", "f1"] = Field(
        "recall", description="what the best reference is best in; recall as ROUGE-1.5.5, f1 as rouge-score"
    )
    tokenizer: Tokenizer = None
    stem: Stem = False
    stemmer: Stemmer = "rouge155"
    stopwords: Stopwords = "keep"
    counts: Counts = "clipped"
    model_units: ModelUnits = "whole"
    max_words: int | None = Field(None, ge=1, description="cut summaries and references after so many words")
    oracles: bool = Field(
        default=False,
        description="also precision, recall and F of extracts against all oracles, of --max-length",
    )
    max_length: int | None = Field(None, ge=0, description="longest oracle, in words or what the preset counts")
    time_limit: float | None = Field(None, ge=0, description="seconds to find all oracles of a topic and metric")
    flat: FlatLists = None
    preset: str | None = Field(None, description="a set of options from a paper (optsum list presets)")

    def analyzer(self, *, pretokenized: bool = False) -> Analyzer:
        """Return the text analysis that n-grams are counted with."""
        tokenizer = self.tokenizer or ("tokens" if pretokenized else "rouge")
        return analyzer_of(tokenizer, self.stem, self.stopwords, self.stemmer)
