"""Similarity of meaning: each token of a reference counts by the most similar token of the summary.

With vectors of tokens (or sentences), and the cosine of two as their similarity,

    recall    = sum of w_r max over t in the summary of sim(r, t), over the sum of w_r
    precision = sum of v_t max over r in the reference of sim(r, t), over the sum of v_t

like the greedy matching of BERTScore (Zhang et al. 2020, eq. 1-3), with given vectors and weights such as idf. The
vectors come from the source; a model that reads only the summary may give other vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.errors import UnsupportedError
from optsum.metrics.rouge import Gram, Metric, Tally, Texts, Totals

FloatArray: TypeAlias = NDArray[np.float64]

_SHIFTED = "similarity-shifted"

_ROUNDING = 1e-6  # Of a step: as much as equal vectors may miss the similarity 1 by, in floating point.


@dataclass(frozen=True)
class Similarity(Metric):
    """Mean similarity of each reference token to the most similar token of the summary."""

    # Similarities are taken from -1 to 1 as ``(1 + s) / 2``, which has the same optima, whatever is negative; otherwise
    # what is below 0 counts 0.
    shifted: bool = False

    form: ClassVar[str] = "similarity"
    about: ClassVar[str] = (
        "mean best similarity of vectors (--vectors), as BERTScore's recall; similarity-shifted is of (1 + s) / 2"
    )
    countable: ClassVar[bool] = False
    of_texts: ClassVar[bool] = False

    @classmethod
    def read(cls, name: str) -> Metric | None:
        """Return the metric of a name, or None if the name is of another form."""
        return cls(name == _SHIFTED) if name in {cls.form, _SHIFTED} else None

    @property
    def name(self) -> str:
        """The name that `read` reads back."""
        return _SHIFTED if self.shifted else self.form

    def keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        """Raise an error: similarity needs vectors, not words."""
        del tokens
        raise self._no_vectors()

    def totals(self, summary: Texts, references: Sequence[Texts], tally: Tally) -> list[Totals]:
        """Raise an error: similarity needs vectors, not texts."""
        del summary, references, tally
        raise self._no_vectors()

    def _no_vectors(self) -> UnsupportedError:
        return UnsupportedError(
            f"{self} compares vectors of a topic's sentences and references, not texts: choose n-grams with --metric."
        )

    def valued(self, similarity: FloatArray) -> FloatArray:
        """Map similarities from -1 to 1 to counted values from 0 to 1."""
        return (1 + similarity) / 2 if self.shifted else np.maximum(similarity, 0.0)

    def steps(self, similarity: FloatArray, unit: int) -> NDArray[np.int64]:
        """Return similarities as whole steps of 1 / `unit`, rounded down."""
        return np.minimum(np.floor(self.valued(similarity) * unit + _ROUNDING), unit).astype(np.int64)


def cosines(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the cosine of each vector of `left` with each of `right`; 0 for a zero vector."""
    found: FloatArray = np.clip(_normal(left) @ _normal(right).T, -1.0, 1.0)
    return found


def rescaled(vectors: FloatArray) -> FloatArray:
    """Return vectors scaled by a power of two each, which is exact, so that no square overflows or vanishes."""
    _, exponent = np.frexp(np.abs(vectors).max(axis=1, keepdims=True, initial=0.0))
    found: FloatArray = np.ldexp(vectors, -exponent)
    return found


def _normal(vectors: FloatArray) -> FloatArray:
    scaled = rescaled(vectors)
    norm = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    found: FloatArray = np.divide(scaled, norm, out=scaled, where=norm > 0)
    return found
