"""The options of scoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from optsum.options.model import Model, analyzer_of

if TYPE_CHECKING:
    from optsum.text.analyzer import Analyzer

__all__ = ["ScoreOptions"]


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
    tokenizer: str | None = Field(
        None, description="rouge (default), blank, unicode, or tokens (default for pre-tokenized topics)"
    )
    stem: bool = Field(default=False, description="Porter stemming as ROUGE-1.5.5 -m does, or as the stemmer named")
    stemmer: Literal["rouge155", "rouge-score"] = Field(
        "rouge155", description="stem as ROUGE-1.5.5 -m, or as the package rouge-score; to name one is to stem"
    )
    stopwords: str = Field("keep", description="keep, drop (SMART list), or a file with one word a line")
    counts: Literal["clipped", "set"] = Field("clipped", description="count each n-gram as often as it occurs, or once")
    model_units: Literal["whole", "sentences"] = Field(
        "whole", description="a reference is one text, or each of its sentences is clipped by itself"
    )
    max_words: int | None = Field(None, ge=1, description="cut summaries and references after so many words")
    oracles: bool = Field(
        default=False,
        description="also precision, recall and F of extracts against all oracles, of --max-length",
    )
    max_length: int | None = Field(None, ge=0, description="longest oracle, in words or what the preset counts")
    time_limit: float | None = Field(None, ge=0, description="seconds to find all oracles of a topic and metric")
    flat: Literal["sentences", "texts"] | None = Field(
        None, description="a flat list of strings as documents or references: one text's sentences, or raw texts"
    )
    preset: str | None = Field(None, description="a set of options from a paper (optsum list presets)")

    def analyzer(self, *, pretokenized: bool = False) -> Analyzer:
        """Return the text analysis that n-grams are counted with."""
        tokenizer = self.tokenizer or ("tokens" if pretokenized else "rouge")
        return analyzer_of(tokenizer, self.stem, self.stopwords, self.stemmer)
