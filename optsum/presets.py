"""Presets: the options of a paper or a program, under one name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["PRESETS", "Preset"]


@dataclass(frozen=True, slots=True)
class Preset:
    """Options that go together.

    Attributes
    ----------
    about : str
        One line for ``optsum list presets``, with the source.
    options : mapping of option name to value
    """

    about: str
    options: Mapping[str, Any]


_HIRAO: Final = {
    "measure": "recall",
    "references": "pooled",
    "max_length": 100,
    "length_unit": "words",
    "tokenizer": "rouge",
    "stem": True,
    "counts": "clipped",
    "boundaries": "sentence",
}

PRESETS: Final[Mapping[str, Preset]] = {
    "hirao-r1": Preset(
        "ROUGE-1 recall, Porter stems, stop words dropped, 100 words (Hirao et al. 2017)",
        {**_HIRAO, "metric": "rouge-1", "stopwords": "drop"},
    ),
    "hirao-r2": Preset(
        "ROUGE-2 recall, Porter stems, stop words kept, 100 words (Hirao et al. 2017)",
        {**_HIRAO, "metric": "rouge-2", "stopwords": "keep"},
    ),
    "hirao-su0": Preset(
        "unigrams and bigrams, Porter stems, stop words kept, 100 words (Hirao et al. 2017, compressive)",
        {**_HIRAO, "metric": "rouge-su0", "stopwords": "keep"},
    ),
}
