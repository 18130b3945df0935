"""Compare an oracle by similarity of meaning with the oracle by words: python similarity.py [TOPICS].

Use any sentence embedding model; here, the vector of a sentence is the sum of vectors of its character trigrams.
"""

import sys
import zlib
from pathlib import Path

import numpy as np

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"


def embed(texts: list[str]) -> np.ndarray:
    """Return a vector for each text: in place of SentenceTransformer("all-MiniLM-L6-v2").encode."""
    vectors = np.zeros((len(texts), 512))
    for row, text in enumerate(texts):
        padded = f" {text.lower()} "
        for place in range(len(padded) - 2):
            vectors[row, zlib.crc32(padded[place : place + 3].encode()) % 512] += 1
    return vectors


print(f"{'topic':20} meaning  units        words  units")
for topic in optsum.read_topics(sys.argv[1] if len(sys.argv) > 1 else NEWS):
    meaning = optsum.solve(topic, metric="similarity", max_length=50, embed=embed)
    words = optsum.solve(topic, metric="rouge-1", max_length=50)
    print(f"{topic.id:20} {meaning.objective:.4f}  {meaning.selection!s:12} {words.objective:.4f} {words.selection}")
