"""n-grams and skip-bigrams of a token sequence, and how often each occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from optsum.errors import OptionError, UnsupportedError
from optsum.metrics.names import Metric, parse_metric

__all__ = ["Counts", "Gram", "count", "ngrams", "overlap", "skip_bigrams"]

Gram: TypeAlias = str | tuple[str, ...]
"""A unigram is its token; everything longer is a tuple. So a unigram never equals a skip-bigram."""

Counts: TypeAlias = Counter[Gram]


def ngrams(tokens: Sequence[str], n: int) -> Iterator[Gram]:
    """Iterate over the n-grams of a token sequence, in order.

    Parameters
    ----------
    tokens : sequence of str
    n : int
        At least 1.

    Raises
    ------
    OptionError
        If `n` is below 1.

    Examples
    --------
    >>> list(ngrams(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    if n < 1:
        raise OptionError(f"n-grams have at least one token, so n must not be {n}")
    if n == 1:
        return iter(tokens)
    if n > len(tokens):
        return iter(())
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def skip_bigrams(tokens: Sequence[str], max_skip: int) -> Iterator[tuple[str, str]]:
    """Iterate over the token pairs (i, j) with i < j <= i + `max_skip` + 1.

    Parameters
    ----------
    tokens : sequence of str
    max_skip : int
        How many tokens may lie between the two; 0 gives the bigrams.

    Raises
    ------
    OptionError
        If `max_skip` is negative.
    """
    if max_skip < 0:
        raise OptionError(f"a pair skips zero tokens or more, so the number must not be {max_skip}")
    furthest = min(max_skip + 1, len(tokens) - 1)
    return chain.from_iterable(zip(tokens, tokens[distance:], strict=False) for distance in range(1, furthest + 1))


def count(
    tokens: Sequence[str],
    metric: str | Metric,
    *,
    distinct: bool = False,
    last_unigram: bool = True,
    only: Collection[Gram] | None = None,
) -> Counts:
    """Count what a metric counts.

    Parameters
    ----------
    tokens : sequence of str
        Tokens of one sentence, or of a whole text joined.
    metric : str or Metric
        rouge-N or rouge-suK.
    distinct : bool
        Count every n-gram once however often it occurs (set-based ROUGE).
    last_unigram : bool
        rouge-suK adds every unigram to the skip-bigrams. False leaves out that of the last token, as
        ROUGE-1.5.5 does (its loop over the first token of a pair ends one early). rouge-N is not concerned.
    only : collection of keys, optional
        Count these n-grams alone, which is quicker where few occur.

    Returns
    -------
    Counter
        Occurrences by n-gram: unigrams as strings, longer ones as tuples.

    Raises
    ------
    UnsupportedError
        For rouge-l, which is not made of n-grams, and for sums, whose components are counted one by one.
    """
    metric = parse_metric(metric)
    keys: Iterator[Gram]
    if metric.kind == "ngram":
        keys = ngrams(tokens, metric.size)
    elif metric.kind == "skip":
        keys = chain(tokens if last_unigram else tokens[:-1], skip_bigrams(tokens, metric.size))
    elif metric.parts:
        raise UnsupportedError(f"{metric} has several parts: count its components one by one")
    else:
        raise UnsupportedError(f"{metric} is not made of n-grams, so it has no counts; use rouge-N or rouge-suK")
    if only is not None:
        keys = filter(only.__contains__, keys)
    return Counter(set(keys) if distinct else keys)


def overlap(left: Counts, right: Counts) -> int:
    """Sum min(count in `left`, count in `right`) over all n-grams: the clipped hits."""
    return sum([min(left[key], right[key]) for key in left.keys() & right.keys()])
