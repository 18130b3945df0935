"""Vectors of words and of words in context, for similarity of meaning, without any model.

A word's vector is a row of the truncated SVD (64 dimensions) of positive pointwise mutual information (words within 5
of one another, in the documents and references of the set). With "types", a token has the vector of its word; with
"context", this is mixed with the mean of its 7 neighbours, so tokens of one word differ. Tokens are those of ROUGE.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import svds

import optsum

_AWAY, _SIZE, _NEIGHBOURS = 5, 64, 7


def words_of(text: Any, analyzer: optsum.Analyzer) -> list[list[str]]:
    return [analyzer.tokens(sentence) for sentence in text]


def embeddings(texts: list[list[list[str]]]) -> tuple[dict[str, int], Any]:
    """Return the number of each word, and a vector for each."""
    numbers: dict[str, int] = {}
    pairs: Counter[tuple[int, int]] = Counter()
    for text in texts:
        ids = [numbers.setdefault(word, len(numbers)) for sentence in text for word in sentence]
        for place, word in enumerate(ids):
            for other in ids[place + 1 : place + 1 + _AWAY]:
                pairs[word, other] += 1
                pairs[other, word] += 1
    rows, columns = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    counts = np.fromiter(pairs.values(), float, len(pairs))
    sums = np.bincount(rows, counts, len(numbers))
    information = np.log(counts * counts.sum() / (sums[rows] * sums[columns]))
    table = coo_matrix((np.maximum(information, 0), (rows, columns)), (len(numbers), len(numbers))).tocsr()
    left, values, _ = svds(table, k=_SIZE, random_state=0)
    return numbers, left * np.sqrt(values)


def in_context(vectors: Any) -> Any:
    """Return the vectors of tokens, mixed with the mean of their neighbours."""
    padded = np.pad(vectors, ((_NEIGHBOURS // 2, _NEIGHBOURS // 2), (0, 0)))
    around = sum(padded[shift : shift + len(vectors)] for shift in range(_NEIGHBOURS)) / _NEIGHBOURS
    return (vectors + around) / 2


def with_vectors(topics: list[optsum.Topic], kind: str) -> list[optsum.Topic]:
    analyzer = optsum.Analyzer()
    texts = {topic.id: [words_of(part, analyzer) for part in (topic.sentences, *topic.references)] for topic in topics}
    numbers, table = embeddings([text for parts in texts.values() for text in parts])

    def of_text(text: list[list[str]]) -> Any:
        found = table[[numbers[word] for sentence in text for word in sentence]]
        return in_context(found) if kind == "context" else found

    made = []
    for topic in topics:
        source, *models = texts[topic.id]
        arrays = {
            "sentences": of_text(source),
            "sentence_of": np.repeat(np.arange(len(source)), list(map(len, source))),
            "references": np.vstack([of_text(model) for model in models]),
            "reference_of": np.repeat(np.arange(len(models)), [sum(map(len, model)) for model in models]),
        }
        made.append(
            optsum.as_topic(
                {"id": topic.id, "documents": topic.documents, "references": topic.references, "vectors": arrays}
            )
        )
    return made
