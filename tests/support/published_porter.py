"""Step 4 of Porter's algorithm as it was published (Porter 1980), which the original ROUGE script departs from."""

from __future__ import annotations

from optsum.text.stem import _without

SUFFIXES = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti", "ous",
    "ive", "ize", "sion", "tion",
)  # fmt: skip


def published_step_4(word: str) -> str:
    """Take off the longest suffix of all, if its condition holds, and nothing else."""
    suffix = max((one for one in SUFFIXES if word.endswith(one)), key=len, default="")
    return _without(word, 3 if suffix.endswith("ion") else len(suffix)) if suffix else word
