"""Write topics that are large in one dimension: sentences, references, words, documents or bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__ = ["KINDS", "write_large"]

_LEXICON = 30_000


def _texts(rng: np.random.Generator, count: int, words: int = 20) -> list[str]:
    """Return sentences whose word frequencies are like those of English (Zipf)."""
    share = 1.0 / np.arange(1, _LEXICON + 1)
    lengths = rng.integers(max(1, words // 2), words + words // 2 + 1, count)
    drawn = rng.choice(_LEXICON, int(lengths.sum()), p=share / share.sum())
    spelled = [f"w{number}" for number in range(_LEXICON)]
    ends = lengths.cumsum()
    return [
        " ".join(spelled[word] for word in drawn[end - length : end]) for length, end in zip(lengths, ends, strict=True)
    ]


def _topic(documents: list[list[str]], references: list[list[str]]) -> str:
    return json.dumps({"id": "large", "documents": documents, "references": references}) + "\n"


def _sentences(size: int, rng: np.random.Generator) -> str:
    return _topic([_texts(rng, size)], [_texts(rng, 5)])


def _references(size: int, rng: np.random.Generator) -> str:
    return _topic([_texts(rng, 100)], [_texts(rng, 5) for _ in range(size)])


def _reference_words(size: int, rng: np.random.Generator) -> str:
    return _topic([_texts(rng, 200)], [_texts(rng, size // 20)])


def _documents(size: int, rng: np.random.Generator) -> str:
    texts = _texts(rng, 10 * size)
    return _topic([texts[begin : begin + 10] for begin in range(0, len(texts), 10)], [_texts(rng, 5)])


def _one_word(size: int, rng: np.random.Generator) -> str:
    drawn = rng.integers(0, _LEXICON, size)
    return _topic([[f"w{number}" for number in drawn]], [_texts(rng, 5)])


def _line(size: int, rng: np.random.Generator) -> str:
    """Return a line of about `size` bytes with a topic of many sentences."""
    return _topic([_texts(rng, size // 107)], [_texts(rng, 5)])


def _sentence(size: int, rng: np.random.Generator) -> str:
    """Return a line of about `size` bytes with a topic of one long sentence and 50 short ones."""
    return _topic([[" ".join(_texts(rng, size // 107)), *_texts(rng, 50)]], [_texts(rng, 5)])


def _raw(size: int, rng: np.random.Generator) -> str:
    """Return a line of about `size` bytes with a document that is not split into sentences."""
    return (
        json.dumps({"id": "large", "documents": [". ".join(_texts(rng, size // 108))], "references": [_texts(rng, 5)]})
        + "\n"
    )


def _garbage(size: int, rng: np.random.Generator) -> str:
    """Return a line of `size` random bytes that is not JSON."""
    return rng.integers(32, 127, size, dtype=np.uint8).tobytes().decode("ascii") + "\n"


KINDS: dict[str, tuple[int, Callable[[int, np.random.Generator], str]]] = {
    "sentences": (100_000, _sentences),
    "references": (1_000, _references),
    "words of a reference": (100_000, _reference_words),
    "documents": (10_000, _documents),
    "one-word sentences": (1_000_000, _one_word),
    "bytes of a line": (100_000_000, _line),
    "bytes of a sentence": (100_000_000, _sentence),
    "bytes of a text": (100_000_000, _raw),
    "bytes of no JSON": (100_000_000, _garbage),
}
"""What a topic has many of: how many are asked for, and what makes such a line."""


def write_large(path: Path, kind: str, size: int | None = None) -> Path:
    """Write a file of one topic that is large in the dimension `kind`, with the default size unless one is given."""
    asked, make = KINDS[kind]
    path.write_text(make(asked if size is None else size, np.random.default_rng(0)), encoding="utf-8")
    return path
