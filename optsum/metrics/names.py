"""Names of metrics: ``rouge-N``, ``rouge-suK``, ``rouge-l``, sums (``rouge-1+rouge-2``), means (``ngram-1-4``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from optsum.errors import OptionError, unknown_name

__all__ = ["METRIC_NAMES", "Kind", "Metric", "parse_metric"]

Kind = Literal["ngram", "skip", "lcs", "sum", "product"]

METRIC_NAMES = ("rouge-1", "rouge-2", "rouge-N", "rouge-suK", "rouge-l", "rouge-1+rouge-2", "ngram-I-J")
"""The forms a name can take; N is 1 to 999, K is 0 to 999, I and J are 1 to 4."""

# Offered when a name is wrong, beside the general forms.
_COMMON = (
    *("rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-su0", "rouge-su4", "rouge-l", "rouge-1+rouge-2"),
    "ngram-1-4",
)

_NGRAM = re.compile(r"rouge-([1-9][0-9]{0,2})", re.ASCII)
_SKIP = re.compile(r"rouge-su(0|[1-9][0-9]{0,2})", re.ASCII)
_MEAN = re.compile(r"ngram-([1-4])-([1-4])", re.ASCII)


@dataclass(frozen=True)
class Metric:
    """What is counted; made by `parse_metric`.

    Parameters
    ----------
    kind : {"ngram", "skip", "lcs", "sum", "product"}
        n-grams, skip-bigrams with unigrams, longest common subsequence, a sum of others, or the geometric mean of
        n-grams of several lengths (Ngram(i, j) of Lin & Hovy 2003, eq. 2).
    size : int
        N of rouge-N, K of rouge-suK (the number of tokens a pair may skip); 0 otherwise.
    parts : tuple of Metric
        What a sum adds up, or a mean is of; empty otherwise.
    """

    kind: Kind
    size: int = 0
    parts: tuple[Metric, ...] = ()

    @property
    def name(self) -> str:
        """The name that `parse_metric` reads back."""
        match self.kind:
            case "ngram":
                return f"rouge-{self.size}"
            case "skip":
                return f"rouge-su{self.size}"
            case "lcs":
                return "rouge-l"
            case "sum":
                return "+".join(part.name for part in self.parts)
            case "product":
                return f"ngram-{self.parts[0].size}-{self.parts[-1].size}"

    @property
    def components(self) -> tuple[Metric, ...]:
        """The parts of a sum or mean; a metric that is neither is its own only component."""
        return self.parts or (self,)

    def __str__(self) -> str:
        return self.name


def parse_metric(name: str | Metric) -> Metric:
    """Read the name of a metric.

    Parameters
    ----------
    name : str or Metric
        "rouge-1", "rouge-2", ..., "rouge-su4", "rouge-l", or several of them joined by "+"; or "ngram-1-4", which is
        the geometric mean of rouge-1 to rouge-4 ("ngram-2-2" is rouge-2). A `Metric` is returned unchanged.

    Returns
    -------
    Metric

    Raises
    ------
    UnknownNameError
        For a name of another form; the message lists near names.
    OptionError
        For a sum that names a metric twice, or a mean; for a mean whose longest n-grams are shorter than its shortest.

    Examples
    --------
    >>> parse_metric("rouge-su4")
    Metric(kind='skip', size=4, parts=())
    >>> [part.name for part in parse_metric("rouge-1+rouge-2").components]
    ['rouge-1', 'rouge-2']
    """
    return name if isinstance(name, Metric) else _parse(name)


@lru_cache(maxsize=256)
def _parse(name: str) -> Metric:
    parts = tuple(_parse_single(part) for part in name.split("+"))
    if len(set(parts)) < len(parts):
        raise OptionError(f"the metric {name!r} names the same metric twice; name each once")
    if len(parts) > 1 and any(part.kind == "product" for part in parts):
        raise OptionError(f"the metric {name!r} adds a geometric mean to others; name the mean alone")
    return parts[0] if len(parts) == 1 else Metric("sum", parts=parts)


def _parse_single(name: str) -> Metric:
    if name == "rouge-l":
        return Metric("lcs")
    if match := _NGRAM.fullmatch(name):
        return Metric("ngram", int(match[1]))
    if match := _SKIP.fullmatch(name):
        return Metric("skip", int(match[1]))
    if match := _MEAN.fullmatch(name):
        first, last = int(match[1]), int(match[2])
        if first > last:
            raise OptionError(f"the metric {name!r} ends before it begins; write ngram-{last}-{first}")
        parts = tuple(Metric("ngram", size) for size in range(first, last + 1))
        return parts[0] if len(parts) == 1 else Metric("product", parts=parts)
    raise unknown_name("metric", name, (*_COMMON, "rouge-N", "rouge-suK"))
