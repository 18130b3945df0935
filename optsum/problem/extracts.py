"""Several topics whose extracts are searched together, as arrays, and what is proven of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.problem.spec import Spec

MEASURES: Final = ("recall", "precision", "f1")


class _Tokens(NamedTuple):
    ids: IntArray
    start: IntArray
    words: IntArray
    different: IntArray
    sentences: IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Extracts:
    """Topics of one specification, n-grams within sentences.

    Attributes
    ----------
    tokens : arrays, as `optsum.text.interned.interned_texts` returns them
        Of each topic the sentences of the references, one reference after another, then those to extract.
    bounds, first_bound : arrays
        Of each topic the number of the first sentence of each reference, and that of the first sentence to extract;
        where those of each topic begin, and the last ones end.
    coded, scored : (metrics, 2)
        `optsum.metrics.metric.Metric.coded` of the metrics of the objective, and of those that answers are scored by.
    form : (8,)
        Maximum and minimum length; whether it is in words, not sentences; the measure, by its place in `MEASURES`;
        whether n-grams count once, references are averaged, and sentences stay units that have no n-gram of a
        reference, or are too long.
    """

    tokens: _Tokens
    bounds: IntArray
    first_bound: IntArray
    coded: IntArray
    scored: IntArray
    form: IntArray


class Proven(NamedTuple):
    """Optima of several topics, a row each.

    Attributes
    ----------
    found : (topics, 3)
        How many sentences, their length, and the nodes of the search; -1 first where no optimum was proven.
    chosen : (topics, most)
        The numbers of the sentences, ascending.
    totals : (topics, 4)
        Numerator and denominator of each ratio.
    scores : (topics, metrics, 3)
        Hits, and how much there is in the references and in the summary, of each metric in `Extracts.scored`.
    ran : str or None
        The strategy that another has chosen.
    """

    found: IntArray
    chosen: IntArray
    totals: IntArray
    scores: IntArray
    ran: str | None = None


def extracts_of(
    tokens: Iterable[IntArray], references: Iterable[Sequence[int]], coded: IntArray, scored: IntArray, spec: Spec
) -> Extracts:
    """Return topics, by their tokens and the numbers of sentences of each one's references."""
    unmatched = spec.keep_unmatched or spec.min_length > 0
    in_words, measure = spec.length_unit == "words", MEASURES.index(spec.measure)
    distinct, mean = spec.counts == "set", spec.references == "mean"
    limits = (spec.max_length, spec.min_length)
    form = np.array([*limits, in_words, measure, distinct, mean, unmatched, spec.keep_overlong], np.int64)
    bounds: list[int] = []
    first = [0]
    for sizes in references:
        bounds += accumulate(sizes, initial=0)
        first.append(len(bounds))
    return Extracts(
        tokens=_Tokens(*tokens),
        bounds=np.array(bounds, np.int64),
        first_bound=np.array(first, np.int64),
        coded=coded,
        scored=scored,
        form=form,
    )


NO_SCORES: Final[NDArray[np.int64]] = np.empty((0, 2), np.int64)
"""`Extracts.scored` of whoever needs no scores."""
