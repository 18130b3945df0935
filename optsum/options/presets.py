"""Presets: options under one name, as a paper or a program uses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Preset:
    """Options under one name, with a description."""

    about: str  # Description of one line for ``optsum list presets``, with the source.
    options: Mapping[str, Any]


_PLAIN: Final = {  # Default options for reading texts.
    "tokenizer": "rouge",
    "stem": False,
    "stopwords": "keep",
    "counts": "clipped",
    "boundaries": "sentence",
}

_HIRAO: Final = {
    **_PLAIN,
    "measure": "recall",
    "references": "pooled",
    "max_length": 100,
    "length_unit": "words",
    "stem": True,
}

_LIN_HOVY: Final = {
    "metric": "rouge-1",
    "measure": "recall",
    "references": "agreed",
    "model_units": "sentences",
    "length_unit": "words",
    **_PLAIN,
}

_GOOGLE: Final = {
    "metric": "rouge-1",
    "measure": "f1",
    "references": "best",
    "best_by": "f1",
    **_PLAIN,
    "tokenizer": "rouge-score",
    "boundaries": "joined",
}

_SENTENCES: Final = {**_PLAIN, "measure": "f1", "references": "first", "max_length": 3, "length_unit": "sentences"}

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
    "lin-hovy-100": Preset(
        "unigram recall, each sentence of the reference people agree on by itself, 95 to 105 words (Lin & Hovy 2003)",
        {**_LIN_HOVY, "min_length": 95, "max_length": 105},
    ),
    "lin-hovy-150": Preset(
        "unigram recall, each sentence of the reference people agree on by itself, 145 to 155 words (Lin & Hovy 2003)",
        {**_LIN_HOVY, "min_length": 145, "max_length": 155},
    ),
    # The paper says "sets of unique n-grams", but the library that computed its scores clipped counts in that version.
    "akhmetov": Preset(
        "ROUGE-1 F1, clipped, as many sentences as are best (Akhmetov et al. 2022; package rouge 1.0.0)",
        {"metric": "rouge-1", "measure": "f1", "references": "pooled", **_PLAIN, "tokenizer": "pypi-rouge"},
    ),
    "rouge155": Preset(
        "ROUGE-1 recall as ROUGE-1.5.5 -m: Porter stems, stop words kept, across sentence ends, 100 words",
        {**_HIRAO, "metric": "rouge-1", "boundaries": "joined"},
    ),
    "google": Preset(
        "ROUGE-1 F1 as the package rouge-score: best reference by F1, across sentence ends, no stems, any length",
        _GOOGLE,
    ),
    "google-stemmed": Preset(
        "ROUGE-1 F1 as the package rouge-score with use_stemmer=True: as google, with its Porter stems",
        {**_GOOGLE, "stem": True, "stemmer": "rouge-score"},
    ),
    "presumm": Preset(
        "ROUGE-1 + ROUGE-2 F1 on sets of n-grams, 3 sentences (greedy selection of Liu & Lapata 2019, made exact)",
        {**_SENTENCES, "metric": "rouge-1+rouge-2", "tokenizer": "presumm", "counts": "set"},
    ),
    "matchsum": Preset(
        "mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L, first reference, up to 3 sentences (labels as of Zhong et al. 2020)",
        {**_SENTENCES, "metric": "rouge-1+rouge-2+rouge-l"},
    ),
    "scitldr": Preset(
        "the one sentence of best ROUGE-1 F1 on sets of words against the first reference (Cachola et al. 2020)",
        {
            **_SENTENCES,
            "metric": "rouge-1",
            "min_length": 1,
            "max_length": 1,
            "tokenizer": "pypi-rouge",
            "counts": "set",
        },
    ),
}
