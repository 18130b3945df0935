"""Figures 4 to 9 of Lin & Hovy 2003, of the rows of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from optsum.report.figures.figure import Figure, Series, Style
from optsum.studies.base import Row

_RANK: Final = "documents by decreasing MaxH"
_SCORE: Final = "unigram co-occurrence"
_HUMANS: Final = ("MaxH", "AvgH", "MedH", "MinH")
_SETS: Final = {6: ("A", 0.7, 2.0), 7: ("B", 0.6, 0.7), 8: ("C", 0.5, 0.6)}


def all_figures(rows: Sequence[Row], systems: Sequence[str], max_sentences: int, caption: list[str]) -> list[Figure]:
    """Return the figures of documents, those for which there are documents with two human summaries at least.

    Parameters
    ----------
    rows : sequence of dict
        A row for each document, with the scores of the systems.
    systems : sequence of str
        What the rows call these scores.
    max_sentences : int
        Of documents that have oracle extracts.
    """
    documents = sorted((one for one in rows if one.get("MaxH") is not None), key=lambda one: -one["MaxH"])
    short = [one for one in documents if not one["too_long"]]
    made = [
        Figure("figure-4", "Agreement of people", _RANK, _SCORE, list(_curves(documents, _HUMANS)), caption),
        Figure(
            "figure-5",
            f"People, systems and extracts (at most {max_sentences} sentences)",
            _RANK,
            _SCORE,
            list(_curves(short, ["FT", "E150", "E100", "MaxH", *systems, "B1"])),
            caption,
        ),
    ]
    for figure, (name, least, most) in _SETS.items():
        within = [one for one in documents if least <= one["MaxH"] < most]
        curves = list(_curves(within, ["FT", *_HUMANS, *systems, "B1"]))
        made.append(Figure(f"figure-{figure}", f"Set {name}", _RANK, _SCORE, curves, caption))
    made.append(_by_compression(documents, systems, caption))
    return [figure for figure in made if figure.series]


def compression_ratio(summary_words: int, document_words: int) -> float:
    """Return the share of the words that are gone: 0.8 for 100 of 500 words.

    Examples
    --------
    >>> compression_ratio(100, 500)
    0.8
    """
    return 1 - summary_words / document_words


def linear_trend(values: Sequence[float | None]) -> list[float]:
    """Return the least-squares line through values at 0, 1, 2, ...; those that are missing are left out."""
    places = [place for place, value in enumerate(values) if value is not None]
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return []
    slope, start = np.polyfit(places, known, 1)
    return [float(start + slope * place) for place in range(len(values))]


def _curves(documents: Sequence[Row], names: Sequence[str], style: Style = "line") -> Iterator[Series]:
    for name in names:
        values = [one.get(name) for one in documents]
        if any(value is not None for value in values):
            yield Series(name, list(range(1, len(values) + 1)), values, style=style)


def _by_compression(documents: Sequence[Row], systems: Sequence[str], caption: list[str]) -> Figure:
    """Return Figure 9: scores, and the compression ratio of each human summary, by increasing ratio of the first."""
    usable = [one for one in documents if one["words"]]
    usable.sort(key=lambda one: compression_ratio(one["reference_words"][0], one["words"]))
    places: list[Any] = list(range(1, len(usable) + 1))
    ratios = ([compression_ratio(words, one["words"]) for words in one["reference_words"]] for one in usable)
    series = [
        Series(f"CMPR H{human}", places, of_human, style="points")
        for human, of_human in enumerate(zip_longest(*ratios), start=1)
    ]
    for curve in _curves(usable, ("B1", *systems, "MaxH", "FT"), "points"):
        series.append(curve)
        if curve.name != "FT" and (line := linear_trend(curve.y)):
            series.append(Series(f"Linear {curve.name}", places, line))
    label = "documents by increasing compression ratio of the first human summary"
    return Figure("figure-9", "Compression ratio", label, "score or ratio", series, caption)
