"""Compare the union of longest common subsequences of ROUGE-L with a textbook implementation."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from optsum.metrics.rouge import _positions, _trace, rouge, union_lcs_hits

SENTENCE = st.lists(st.sampled_from("abcd"), max_size=9)
TEXT = st.lists(SENTENCE, max_size=4)


def positions_by_table(reference: list[str], summary: list[str]) -> list[int]:
    """Return the positions by the textbook table, going back diagonally on a match, else up (reference) on a tie."""
    rows, columns = len(reference), len(summary)
    length = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            if reference[i - 1] == summary[j - 1]:
                length[i][j] = length[i - 1][j - 1] + 1
            else:
                length[i][j] = max(length[i - 1][j], length[i][j - 1])
    path = []
    i, j = rows, columns
    while i and j:
        if reference[i - 1] == summary[j - 1]:
            i, j = i - 1, j - 1
            path.append(i)
        elif length[i - 1][j] >= length[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return path[::-1]


def hits_by_table(reference: list[list[str]], summary: list[list[str]]) -> int:
    left_in_reference = Counter(token for sentence in reference for token in sentence)
    left_in_summary = Counter(token for sentence in summary for token in sentence)
    hits = 0
    for sentence in reference:
        union: set[int] = set()
        for other in summary:
            union |= set(positions_by_table(sentence, other))
        for position in sorted(union):
            token = sentence[position]
            if left_in_reference[token] and left_in_summary[token]:
                left_in_reference[token] -= 1
                left_in_summary[token] -= 1
                hits += 1
    return hits


def lcs_positions(reference: list[str], summary: list[str]) -> list[int]:
    """Return, in ascending order, the positions in `reference` of the common subsequence that ROUGE-1.5.5 takes."""
    return _trace(reference, _positions(summary), len(summary))[::-1]


@given(SENTENCE, SENTENCE)
def test_positions_equal_the_table(reference: list[str], summary: list[str]) -> None:
    assert lcs_positions(reference, summary) == positions_by_table(reference, summary)


@given(st.lists(st.integers(0, 3), max_size=150), st.lists(st.integers(0, 5), max_size=150))
def test_long_sentences_equal_the_table(reference: list[int], summary: list[int]) -> None:
    one, other = [*map(str, reference)], [*map(str, summary)]
    assert lcs_positions(one, other) == positions_by_table(one, other)


@given(TEXT, TEXT)
def test_hits_equal_the_table(reference: list[list[str]], summary: list[list[str]]) -> None:
    assert union_lcs_hits(reference, summary) == hits_by_table(reference, summary)


@given(TEXT, TEXT)
@example([["a"]], [["b"]])
def test_hits_of_whole_texts_equal_the_table(reference: list[list[str]], summary: list[list[str]]) -> None:
    one, other = ([token for sentence in text for token in sentence] for text in (reference, summary))
    score = rouge([*map(tuple, summary)], [[*map(tuple, reference)]], "rougeL", tokenizer="tokens")
    assert (score.hits, score.reference_total, score.summary_total) == (
        len(positions_by_table(one, other)),
        len(one),
        len(other),
    )


def test_the_tie_drops_the_reference_token() -> None:
    # "a" and "b" are both longest; going back from the ends, the "b" of the reference is dropped.
    assert lcs_positions(["a", "b"], ["b", "a"]) == [0]


def test_example_of_the_rouge_paper() -> None:
    # Lin (2004), section 3.2: a reference of five words, two candidate sentences, and the union w1 w2 w3 w5.
    reference = [["w1", "w2", "w3", "w4", "w5"]]
    summary = [["w1", "w2", "w6", "w7", "w8"], ["w1", "w3", "w8", "w9", "w5"]]
    assert union_lcs_hits(reference, summary) == 4


def test_repeated_tokens_are_clipped_by_the_whole_summary() -> None:
    assert union_lcs_hits([["a", "b"], ["a", "c"]], [["a"]]) == 1
    assert union_lcs_hits([["a", "b"], ["a", "c"]], [["a"], ["a"]]) == 2


@given(TEXT, st.lists(TEXT, max_size=3))
def test_hits_never_exceed_those_of_unigrams(summary: list[list[str]], references: list[list[list[str]]]) -> None:
    texts = [[tuple(sentence) for sentence in reference] for reference in references]
    system = [tuple(sentence) for sentence in summary]
    by_subsequence = rouge(system, texts, "rouge-l", tokenizer="tokens")
    by_word = rouge(system, texts, "rouge-1", tokenizer="tokens")
    assert by_subsequence.hits <= by_word.hits
    assert by_subsequence.reference_total == by_word.reference_total
    assert by_subsequence.summary_total == by_word.summary_total
