"""Correlation with people of F-measures over all oracles, and over one at random (Hirao et al. 2017, Table 6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.report.significance import ranks
from optsum.report.statistics import FEWEST
from optsum.report.tables.table import Table, counted, number
from optsum.studies.base import Row, grouped
from optsum.studies.hirao.options import HiraoOptions

DRAWS: Final = 100
"""Oracles that are drawn at random of each problem, with replacement, as the paper did."""

Floats = NDArray[np.float64]

_GROUPS: Final = tuple(product(("single", "multi"), ("rouge-1", "rouge-2")))


@dataclass(frozen=True)
class Judged:
    """Scores of systems on topics beside those of people; all arrays are topics x systems, in the same order.

    Attributes
    ----------
    systems, topics : list of str
    human : array
    rouge : dict of metric to array
        Recall against all references.
    of_all : dict of setting and metric to array
        F-measure over all oracles.
    of_one : dict of setting and metric to array of topics x draws x systems
        F-measure over one oracle drawn at random.
    """

    systems: list[str]
    topics: list[str]
    human: Floats
    rouge: dict[str, Floats]
    of_all: dict[tuple[str, str], Floats]
    of_one: dict[tuple[str, str], Floats]


def correlations(study: HiraoOptions) -> list[Table]:
    """Return Table 6 for each human score; nothing without systems that have one."""
    names = dict.fromkeys(name for row in study.of("system") for name in row["human"])
    return [_table(study, name) for name in names]


def _table(study: HiraoOptions, human: str) -> Table:
    headings = ["r", "95 % from", "to", "rho", "95 % from", "to", "p, M against S"]
    table = study.table(f"Correlation with the human score {human!r} (Table 6)", ["metric"], headings)
    systems = _extracting(study, human)
    every = {row["system"] for row in study.of("system") if human in row["human"]}
    share = f"{study.least_found:.0%} of their sentences in the sources (--least-found)"
    table.caption.append(f"{len(systems)} of {counted(len(every), 'system')}: those with {share}.")
    judged = judged_of(study, human, systems)
    if len(systems) < FEWEST or not judged.topics:
        table.caption.append("Nothing to show: a correlation needs three systems, and a topic that all have.")
        return table
    weights = _resampled(len(judged.topics), study.resamples, study.seed)
    for metric, values in judged.rouge.items():
        table.rows.append([metric.upper(), *_of_topics(judged, values, weights), "-"])
    for group in _GROUPS:
        setting, metric = group
        name = f"F-measure (R{metric[-1]}) ({setting}-"
        test = _against(judged, group, weights)
        table.rows.append([f"{name}M)", *_of_topics(judged, judged.of_all[group], weights), test])
        table.rows.append([f"{name}S)", *_of_draws(judged, judged.of_one[group], study), "-"])
    over = counted(len(judged.topics), "topic")
    table.caption += [
        f"Over systems, each by its mean over the {over} that all of them have; r: Pearson's; rho: Spearman's.",
        f"M: over all oracles. S: over one drawn at random; mean of {DRAWS} draws, with the interval of that mean.",
        "Other intervals: topics resampled. p: paired bootstrap over topics of r(M) - r(S), two-sided.",
        f"{study.resamples:,} bootstrap samples each.",
    ]
    return table


def _extracting(study: HiraoOptions, human: str) -> list[str]:
    """Return the systems that people scored, and that take enough of their sentences from the sources."""
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in study.of("system"):
        if human in row["human"] and "selection" in row:
            found[row["system"]][0] += len(row["selection"])
            found[row["system"]][1] += len(row["selection"]) + row["others"]
    return [name for name, (held, size) in found.items() if size and held >= study.least_found * size]


def judged_of(study: HiraoOptions, human: str, systems: Sequence[str]) -> Judged:
    """Return the scores of systems on the topics that all of them have, and whose oracles are all known."""
    rows: dict[tuple[str, str, str], Row] = {
        (row["id"], row["system"], row["metric"]): row for row in study.of("system") if human in row["human"]
    }
    problems = grouped(
        ((row["id"], setting, metric), row) for setting, metric in _GROUPS for row in study.of_problems(metric, setting)
    )
    topics = [
        topic
        for topic in dict.fromkeys(row["id"] for row in study.of("topic"))
        if all((topic, *group) in problems for group in _GROUPS)
        and all((topic, system, metric) in rows for system in systems for metric in ("rouge-1", "rouge-2"))
    ]

    def array(metric: str, name: str) -> Floats:
        values = [[rows[topic, system, metric][name] for system in systems] for topic in topics]
        return np.array(values, np.float64).reshape(len(topics), len(systems))

    people = [[rows[topic, system, "rouge-1"]["human"][human] for system in systems] for topic in topics]
    return Judged(
        list(systems),
        topics,
        np.array(people, np.float64).reshape(len(topics), len(systems)),
        {metric: array(metric, "multi") for metric in ("rouge-1", "rouge-2")},
        {(setting, metric): array(metric, f"f_{setting}") for setting, metric in _GROUPS},
        {
            (setting, metric): np.array(
                [
                    _mean_f(problems[topic, setting, metric], [rows[topic, system, metric] for system in systems])
                    for topic in topics
                ]
            )
            for setting, metric in _GROUPS
        },
    )


def _mean_f(problems: Sequence[Row], summaries: Sequence[Row]) -> Floats:
    """Return the F-measure of each draw and summary: the mean over the problems of a topic."""
    selections = [(set(row["selection"]), len(row["selection"]) + row["others"]) for row in summaries]
    shape = DRAWS, len(selections)  # a problem with one oracle has it drawn once
    found = [np.broadcast_to(f_of_draws(one["draws"], selections), shape) for one in problems]
    return np.asarray(np.mean(found, axis=0), np.float64)


def f_of_draws(draws: Sequence[Sequence[int]], selections: Sequence[tuple[set[int], int]]) -> Floats:
    """Return the F-measure of each selection against each oracle, draws x selections.

    Parameters
    ----------
    draws : sequence of oracles
    selections : sequence of (units, size)
        The size counts sentences that are none of the source too.
    """
    oracles = [set(drawn) for drawn in draws]
    return np.array(
        [
            [
                2 * len(oracle & units) / (len(oracle) + size) if len(oracle) + size else 1.0
                for units, size in selections
            ]
            for oracle in oracles
        ]
    )


def _resampled(topics: int, samples: int, seed: int) -> Floats:
    """Return how much each topic weighs in each bootstrap sample, samples x topics."""
    drawn = np.random.default_rng(seed).multinomial(topics, np.full(topics, 1 / topics), size=samples)
    return drawn / topics


def _of_topics(judged: Judged, values: Floats, weights: Floats) -> list[str]:
    cells = []
    for rank in (False, True):
        found = _correlation(values.mean(axis=0), judged.human.mean(axis=0), rank)
        low, high = _interval(_correlation(weights @ values, weights @ judged.human, rank))
        cells += [_shown(found), _shown(low), _shown(high)]
    return cells


def _of_draws(judged: Judged, values: Floats, study: HiraoOptions) -> list[str]:
    cells = []
    for rank in (False, True):
        found = _correlation(values.mean(axis=0), judged.human.mean(axis=0), rank)  # draws x systems: one r a draw
        found = found[~np.isnan(found)]
        if not len(found):
            cells += 3 * ["-"]
            continue
        low, high = _interval(_resampled(len(found), study.resamples, study.seed) @ found)
        cells += [_shown(found.mean()), _shown(low), _shown(high)]
    return cells


def _against(judged: Judged, group: tuple[str, str], weights: Floats) -> str:
    """Return how likely a difference between M and S is by chance, by the paired bootstrap over topics."""
    if not len(weights):
        return "-"
    people = weights @ judged.human
    many = _correlation(weights @ judged.of_all[group], people, rank=False)
    means = np.einsum("bt,tds->bds", weights, judged.of_one[group])
    one = _correlation(means, people[:, None, :], rank=False)  # samples x draws
    with np.errstate(invalid="ignore"):
        one = np.nansum(one, axis=1) / (~np.isnan(one)).sum(axis=1)  # nan of a sample of which no draw has one
    apart = (many - one)[~np.isnan(many - one)]
    if not len(apart):
        return "-"
    share = min(1.0, 2 * float(min((apart <= 0).mean(), (apart >= 0).mean())))
    return f"{share:.3f}" if share else f"< {1 / len(apart):.2g}"


def _correlation(values: Floats, human: Floats, rank: bool) -> Any:
    """Return the correlation along the last axis; nan where all numbers of a side are equal."""
    one, other = ((ranks(side) if rank else side) for side in (values, human))
    one = one - one.mean(axis=-1, keepdims=True)
    other = other - other.mean(axis=-1, keepdims=True)
    size = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        # What rounding leaves of numbers that are all equal is no variation.
        return np.where(size > 1e-12, (one * other).sum(axis=-1) / size, np.nan)


def _interval(samples: Floats) -> tuple[float, float]:
    kept = samples[~np.isnan(samples)]
    if not len(kept):
        return float("nan"), float("nan")
    low, high = np.quantile(kept, (0.025, 0.975))
    return float(low), float(high)


def _shown(value: Any) -> str:
    return "-" if np.isnan(value) else number(float(value), 3)
