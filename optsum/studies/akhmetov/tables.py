"""Tables 1 to 5, equation 4, correlations and Figure 3 of Akhmetov et al. 2022, of the rows of a study."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from statistics import fmean, mean, median, median_low, stdev
from typing import Final

from optsum.report.figures.figure import Figure, Series
from optsum.report.statistics import (
    INTERVALS,
    OVER_SEEDS,
    Interval,
    Spread,
    pearson,
    seeds_deviation,
    spearman,
    spread_of,
)
from optsum.report.tables.table import Cell, Table, number
from optsum.studies.base import Row, Study, grouped

_METRICS: Final = {"rouge-1": "R-1", "rouge-2": "R-2"}
_BOUNDS: Final = ("Genetic_Greedy", "Optimum")
"""Methods that Table 3 holds systems against."""


def all_tables(study: Study, interval: Interval, z: float) -> list[Table]:
    """Return all tables; Table 3 if there are systems."""
    errors = [error_analysis(study, metric, interval, z) for metric in _METRICS]
    beside = [systems(study)] if study.of("system") else []
    return [lengths(study), search_space(study), upper_bounds(study), *beside, *errors, features(study)]


def methods(study: Study) -> list[str]:
    """Return the methods in the paper's order, the optimum last."""
    return list(dict.fromkeys(row["method"] for row in study.of("found")))


def lengths(study: Study) -> Table:
    """Return the lengths of texts and abstracts in sentences (Table 1)."""
    table = study.table("Lengths in sentences (Table 1)", [""], ["text", "abstract"])
    rows = study.of("topic")
    if rows:
        columns = [[row[name] for row in rows] for name in ("sentences", "abstract_sentences")]
        table.rows.append(["count", *(number(len(values), 0) for values in columns)])
        for name, of in (("mean", mean), ("std", _deviation), ("min", min), ("median", median), ("max", max)):
            table.rows.append([name, *(number(float(of(values)), 1) for values in columns)])
    return table


def _deviation(values: Sequence[int]) -> float:
    return stdev(values) if len(values) > 1 else 0.0


def search_space(study: Study) -> Table:
    """Return how many extracts there are of as many sentences as the abstract has (equation 4), exactly counted."""
    table = study.table("Size of the search space (equation 4)", [], ["smallest", "median", "largest"])
    sizes = sorted(int(row["search_space"]) for row in study.of("topic"))
    if sizes:
        shown = (sizes[0], median_low(sizes), sizes[-1])
        table.rows.append([Cell(f"{size:,}" if size < 10**9 else f"{Decimal(size):.2e}", str(size)) for size in shown])
    table.caption.append("Combinations of the text's sentences, as many as the abstract has; exact in the rows.")
    return table


def upper_bounds(study: Study) -> Table:
    """Return the mean F1 of each method, the mean number of sentences and the mean time (Table 2)."""
    digits = {"f1": 4, "sentences": 1, "seconds": 3}
    headings = [f"{short}{'' if what == 'f1' else f' {what}'}" for what in digits for short in _METRICS.values()]
    seeds = len({row["seed"] for row in study.of("found") if row["method"] not in _BOUNDS[1:]})
    headings += [f"{short} ± seeds" for short in _METRICS.values()] if seeds > 1 else []
    table = study.table("Best ROUGE F1 that each method finds (Table 2)", ["method"], headings)
    for method in methods(study):
        cells = [
            number(fmean(row[what] for row in of(study, method, metric)), digits[what])
            for what in digits
            for metric in _METRICS
        ]
        spreads = [number(over_seeds(study, method, metric)) for metric in _METRICS] if seeds > 1 else []
        table.rows.append([method, *cells, *spreads])
    if seeds > 1:
        table.caption.append(OVER_SEEDS.format(seeds))
    return table


def over_seeds(study: Study, method: str, metric: str) -> float | None:
    """Return the standard deviation, over seeds, of the mean F1 of a method."""
    return seeds_deviation(
        grouped((row["seed"], row["f1"]) for row in study.of("found", method=method, metric=metric)).values()
    )


def of(study: Study, method: str, metric: str) -> list[Row]:
    """Return what a method found by searching a metric, a row a topic: with several seeds their mean."""
    by_topic = grouped((row["id"], row) for row in study.of("found", method=method, metric=metric))
    means = ("f1", "sentences", "seconds")
    return [
        {**rows[0], **{what: fmean(row[what] for row in rows) for what in means}} if len(rows) > 1 else rows[0]
        for rows in by_topic.values()
    ]


def systems(study: Study) -> Table:
    """Return systems beside the upper bounds (Table 3)."""
    table = study.table("Upper bounds and systems (Table 3)", ["summary"], [*_METRICS.values(), "topics", "sentences"])
    for method in (name for name in _BOUNDS if name in methods(study)):
        found = {metric: of(study, method, metric) for metric in _METRICS}
        cells = [number(fmean(row["f1"] for row in rows)) for rows in found.values()]
        sentences = number(fmean(row["sentences"] for row in found["rouge-1"]), 1)
        table.rows.append([f"{method} upper bound", *cells, number(len(found["rouge-1"]), 0), sentences])
    for name in dict.fromkeys(row["system"] for row in study.of("system")):
        rows = study.of("system", system=name)
        cells = [number(fmean(row["f1"][metric] for row in rows)) for metric in _METRICS]
        table.add(name, *cells, number(len(rows), 0), number(fmean(row["sentences"] for row in rows), 1))
    return table


def spread(study: Study, method: str, metric: str, interval: Interval, z: float) -> Spread | None:
    """Return mean, deviation and confidence interval of a method."""
    return spread_of([row["f1"] for row in of(study, method, metric)], interval, z)


def error_analysis(study: Study, metric: str, interval: Interval, z: float) -> Table:
    """Return mean, standard deviation, coefficient of variation and confidence interval (Tables 4 and 5)."""
    table = study.table(
        f"Error analysis, {metric.upper()} (Table {4 + list(_METRICS).index(metric)})",
        ["method"],
        ["mean", "std", "CV", "CI +/- mean", "CI lower", "CI upper"],
    )
    for method in methods(study):
        if (found := spread(study, method, metric, interval, z)) is not None:
            values = (found.mean, found.std, found.cv, found.half_width, found.lower, found.upper)
            table.rows.append([method, *map(number, values)])
    reach = f", Z = {z:g}" if interval == "z" else ""
    table.caption.append(f"CI: {INTERVALS[interval]}{reach}.")
    return table


def features(study: Study) -> Table:
    """Return how the best number of sentences goes with features of the text (Discussion, first paragraph)."""
    of_text = {row["id"]: _features(row) for row in study.of("topic")}
    names = list(next(iter(of_text.values()), {}))
    headings = [f"{name} {sign}" for name in names for sign in ("r", "rho")]
    title = "Correlation of the best number of sentences with features of the text (Discussion)"
    table = study.table(title, ["method", "metric"], headings)
    for method in methods(study):
        for metric, short in _METRICS.items():
            rows = of(study, method, metric)
            best = [float(row["sentences"]) for row in rows]
            cells = []
            for name in names:
                values = [of_text[row["id"]][name] for row in rows]
                cells += [number(pearson(values, best), 3), number(spearman(values, best), 3)]
            table.rows.append([method, short, *cells])
    table.caption.append("r: Pearson's; rho: Spearman's; - where all numbers are equal, or fewer than three.")
    return table


def _features(row: Row) -> dict[str, float]:
    sentences, words, characters = (float(row[name]) for name in ("sentences", "words", "characters"))
    return {
        "characters": characters,
        "words": words,
        "sentences": sentences,
        "words/sentence": words / sentences if sentences else 0.0,
        "characters/word": characters / words if words else 0.0,
        "abstract": float(row["abstract_sentences"]),
    }


def figure_3(study: Study, interval: Interval, z: float) -> Figure:
    """Return the mean F1 of each method with its confidence interval (Figure 3)."""
    names = methods(study)
    series = []
    for metric in _METRICS:
        spreads = [spread(study, name, metric, interval, z) for name in names]
        means, reach = ([getattr(found, what, None) for found in spreads] for what in ("mean", "half_width"))
        series.append(Series(metric.upper(), names, means, reach, "bar"))
    return Figure("figure-3", "Upper bound ROUGE scores by method", "", "F1", series, study.caption())
