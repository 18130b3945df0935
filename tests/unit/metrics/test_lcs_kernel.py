"""Compare the kernel of ROUGE-L on numbered tokens, interpreted, with the subsequences of text."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from optsum.metrics.kernels import union_hits
from optsum.metrics.rouge import union_lcs_hits
from optsum.system.compiled import call_plainly, plain_of

DIFFERENT = 9


def hits_of(references: list[list[list[int]]], summary: list[list[int]]) -> list[int]:
    """Return the hits that the kernel finds for each reference."""
    texts = [*references, summary]
    sentences = [sentence for text in texts for sentence in text]
    ids = np.array([token for sentence in sentences for token in sentence], np.int64)
    start = np.cumsum([0, *map(len, sentences)])
    kernel = plain_of(union_hits)
    assert kernel is not None
    found: np.ndarray = call_plainly(kernel, (ids, start, np.cumsum([0, *map(len, texts)]), DIFFERENT), inf)
    return found.tolist()


@pytest.mark.parametrize(("longest", "tokens"), [(6, 3), (20, 5), (70, DIFFERENT), (140, DIFFERENT)])
def test_hits_are_those_of_text(longest: int, tokens: int) -> None:
    rng = np.random.default_rng(longest)

    def text() -> list[list[int]]:
        lengths = rng.integers(0, longest + 1, rng.integers(0, 4))
        return [rng.integers(0, tokens, length).tolist() for length in lengths]

    for number in range(400 // longest + 10):
        references, summary = [text() for _ in range(rng.integers(1, 4))], text()
        named = [[list(map(str, sentence)) for sentence in one] for one in (*references, summary)]
        expected = [union_lcs_hits(one, named[-1]) for one in named[:-1]]
        assert hits_of(references, summary) == expected, number


@pytest.mark.parametrize("width", [63, 64, 65, 127, 128, 129])
def test_sentences_that_fill_words_of_64_bits(width: int) -> None:
    """Test the last tokens alone, the first alone, and all of them."""
    rng = np.random.default_rng(width)
    summary = [rng.integers(0, DIFFERENT, width).tolist()]
    parts = [summary[0][-3:], summary[0][:3], summary[0], summary[0][::-1], []]
    expected = [union_lcs_hits([list(map(str, part))], [list(map(str, summary[0]))]) for part in parts]
    assert expected[:3] == [3, 3, width]
    assert hits_of([[part] for part in parts], summary) == expected
    both = [list(map(str, part)) for part in parts[:2]]
    assert hits_of([summary], parts[:2]) == [union_lcs_hits([list(map(str, summary[0]))], both)]
