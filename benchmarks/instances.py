"""Coverage instances made straight from topics, for the benchmarks and tests of the exact engine."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from optsum.coverage import Coverage

_OTHER = re.compile(r"[^a-z0-9]+")


def tokens(text: str) -> list[str]:
    """Lower case, every character outside a-z0-9 a blank, split."""
    return _OTHER.sub(" ", text.lower()).split()


def ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[i:] for i in range(n)), strict=False))


def coverage_of(
    sentences: list[str],
    references: list[str],
    n: int,
    max_length: int,
    min_length: int = 0,
    tokens: Callable[[str], list[str]] = tokens,
) -> Coverage:
    """ROUGE-N recall, pooled references, n-grams within sentences, lengths in blank-separated words.

    Units are the sentences that share an n-gram with a reference and are not longer than `max_length`.
    """
    counts = [ngrams(tokens(reference), n) for reference in references]
    number: dict[tuple[str, ...], int] = {}
    gains: list[list[int]] = []
    for gram in sorted(set().union(*counts)):
        number[gram] = len(gains)
        gains.append([sum(c[gram] >= t for c in counts) for t in range(1, max(c[gram] for c in counts) + 1)])
    lengths: list[int] = []
    rows: list[dict[int, int]] = []
    for sentence in sentences:
        length = len(sentence.split())
        row = {number[g]: c for g, c in ngrams(tokens(sentence), n).items() if g in number}
        if row and length <= max_length:
            lengths.append(length)
            rows.append(row)
    total = sum(sum(c.values()) for c in counts)
    return Coverage.of(lengths, rows, gains, constants=(0, max(total, 1)), max_length=max_length, min_length=min_length)


def topics(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def parts(topic: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Sentences and references (each reference as one text)."""
    sentences = [s for document in topic["documents"] for s in document]
    return sentences, [" ".join(reference) for reference in topic["references"]]
