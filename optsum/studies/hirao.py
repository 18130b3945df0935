"""Greedy against all oracles, and how many there are (Hirao et al. 2017, Tables 2, 4, 5 and 7), on one's own data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import sqrt
from statistics import fmean, median
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from optsum.corpus.topic import BadTopic, Topic
from optsum.deadline import Deadline
from optsum.errors import UnsupportedError
from optsum.optima.pairs import PAIRS, Estimate
from optsum.options.options import Options, resolve
from optsum.running.each_topic import problems
from optsum.running.oracles import enumerate_optima
from optsum.running.setup import setup_of
from optsum.running.topics import solve
from optsum.studies.report import Study, study_table
from optsum.studies.topics import over_topics, with_references, without_interruption

if TYPE_CHECKING:
    from optsum.report.tables import Table

_METRICS: Final = {"rouge-1": "hirao-r1", "rouge-2": "hirao-r2"}
_SETTINGS: Final = {"multi": "pooled", "single": "each"}
"""Oracles of a set of references, and of each reference in it."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One problem: a topic's references, or one of them.

    Attributes
    ----------
    id, metric, setting : str
        The setting is "multi" (all references) or "single" (one of them).
    oracle, greedy : Fraction
        ROUGE recall as it was searched.
    count : int
        Number of oracles.
    jaccard : Fraction
        Mean Jaccard index of the greedy extract and each oracle.
    among : Fraction, Estimate or None
        Mean Jaccard index of two different oracles, estimated if there are too many to compare all; None if there is
        one.
    feasible, nodes : int
        Selections within the limit, and nodes of the search that enumerated the oracles.
    """

    id: str
    metric: str
    setting: str
    oracle: Fraction
    greedy: Fraction
    count: int
    jaccard: Fraction
    among: Fraction | Estimate | None
    feasible: int
    nodes: int

    @property
    def ratio(self) -> Fraction:
        """Approximation ratio of the greedy extract."""
        return self.greedy / self.oracle if self.oracle else Fraction(1)

    def to_row(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        return {
            "id": self.id,
            "metric": self.metric,
            "references": self.setting,
            "oracle": float(self.oracle),
            "greedy": float(self.greedy),
            "ratio": float(self.ratio),
            "count": self.count,
            "jaccard": float(self.jaccard),
            "jaccard_among_oracles": None if self.among is None else _mean(self.among),
            "jaccard_among_oracles_se": None if self.among is None else _standard_error(self.among),
            "feasible": self.feasible,
            "nodes": self.nodes,
        }


@dataclass
class HiraoStudy(Study):
    """Greedy and oracle extracts of all problems.

    Attributes
    ----------
    compared : list of Compared
    unproven : int
        Problems whose oracles were not all found within the limits; they are left out.
    """

    compared: list[Compared] = field(default_factory=list)
    unproven: int = 0

    def of(self, metric: str, setting: str) -> list[Compared]:
        """Return the problems of a metric and a setting."""
        return [one for one in self.compared if (one.metric, one.setting) == (metric, setting)]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return all comparisons as JSON."""
        return [one.to_row() for one in self.compared]

    def tables(self) -> list[Table]:
        """Return Tables 2, 4, 5 and 7."""
        return [self.scores(), self.overlaps(), self.numbers(), self.efficiency()]

    def scores(self) -> Table:
        """Return mean ROUGE of oracle and greedy extracts, and the approximation ratio (Table 2)."""
        from optsum.report.tables import number

        table = self._table(
            "ROUGE of oracle and greedy extracts (Table 2)", "oracle", "greedy", "ratio", "least", "optimal"
        )
        for cells, found in self._groups():
            ratios = [float(one.ratio) for one in found]
            means = (
                fmean(float(one.oracle) for one in found),
                fmean(float(one.greedy) for one in found),
                fmean(ratios),
                min(ratios),
            )
            hits = sum(one.greedy == one.oracle for one in found)
            table.rows.append([*cells, *map(number, means), f"{hits}/{len(found)}"])
        table.caption.append("ratio: mean of greedy / oracle; least: the worst; optimal: greedy found an oracle.")
        return table

    def overlaps(self) -> Table:
        """Return the mean Jaccard index of greedy extracts and oracles (Table 4), and among oracles."""
        from optsum.report.tables import number

        table = self._table(
            "Jaccard index of greedy extracts and oracles (Table 4)", "greedy", "among oracles", "problems", "estimated"
        )
        errors = [0.0]
        for cells, found in self._groups():
            among = [one.among for one in found if one.among is not None]
            greedy = fmean(float(one.jaccard) for one in found)
            estimated = sum(isinstance(one, Estimate) for one in among)
            errors.append(sqrt(sum(_standard_error(one) ** 2 for one in among)) / max(1, len(among)))
            mean = number(fmean(map(_mean, among)), 3) if among else "-"
            table.rows.append([*cells, number(greedy, 3), mean, str(len(among)), str(estimated)])
        table.caption.append("greedy: mean over all oracles of a problem, then over the problems.")
        table.caption.append("among oracles: of two different ones; mean over the problems that have several.")
        if max(errors):
            table.caption.append(
                f"estimated: of them, those with too many oracles, from {PAIRS:,} pairs each; the standard error that "
                f"this gives the mean is {max(errors):.1g} at most."
            )
        return table

    def numbers(self) -> Table:
        """Return the median number of oracles, and the rate of problems with several (Table 5)."""
        from optsum.report.tables import number

        table = self._table("Number of oracles (Table 5)", "median", "largest", "several")
        for cells, found in self._groups():
            counts = [one.count for one in found]
            several = fmean(count > 1 for count in counts)
            table.rows.append([*cells, _large(median(counts)), _large(max(counts)), number(several, 3)])
        table.caption.append("several: rate of problems with more than one oracle.")
        return table

    def efficiency(self) -> Table:
        """Return the median numbers of feasible selections and of nodes (Table 7)."""
        table = self._table("Search effort (Table 7)", "feasible", "nodes")
        for cells, found in self._groups():
            middle = (median(one.feasible for one in found), median(one.nodes for one in found))
            table.rows.append([*cells, *map(_large, middle)])
        table.caption.append("Medians: selections within the length, and nodes of the enumeration.")
        return table

    def _groups(self) -> Iterable[tuple[list[str], list[Compared]]]:
        for setting in _SETTINGS:
            for metric in _METRICS:
                if found := self.of(metric, setting):
                    yield [metric, setting], found

    def _table(self, title: str, *headings: str) -> Table:
        from optsum.report.tables import counted

        table = study_table(title, ["metric", "references"], headings)
        if self.unproven:
            problems = counted(self.unproven + len(self.compared), "problem")
            table.caption.append(
                f"{self.unproven} of {problems} left out: not all oracles were found within the limits, so means and "
                "medians lack problems with many."
            )
        return table


def _mean(found: Fraction | Estimate) -> float:
    return found.mean if isinstance(found, Estimate) else float(found)


def _standard_error(found: Fraction | Estimate) -> float:
    return found.standard_error if isinstance(found, Estimate) else 0.0


def _large(value: float) -> str:
    return f"{value:,.10g}" if value < 10**6 else f"{float(value):.2e}"


def study_hirao(
    topics: Iterable[Topic | BadTopic | Mapping[str, Any]],
    *,
    max_length: Annotated[int, Field(ge=1, description="longest extract, in words")] = 100,
    greedy: Annotated[str, Field(description="the strategy that is held against the oracles")] = "greedy",
    time_limit: Annotated[float | None, Field(ge=0, description="seconds of search per problem")] = None,
    seed: Annotated[int, Field(ge=0, description="of the strategy, and of estimates")] = 0,
    workers: Annotated[int, Field(ge=1, description="processes")] = 1,
) -> HiraoStudy:
    """Hold greedy extracts against all oracles, for all references of a topic and for each of them.

    Parameters
    ----------
    topics : iterable
        With references. The analysis is the paper's: Porter stems, stop words dropped for ROUGE-1 and kept for ROUGE-2.
    max_length : int
    greedy : str
        Any strategy; the paper's is "greedy" (Algorithm 2).
    time_limit : float, optional
        A problem whose oracles are not all found by then is left out, and counted.
    seed, workers : int

    Returns
    -------
    HiraoStudy
    """
    study = HiraoStudy()
    ways = {
        (metric, setting): resolve(
            {
                "preset": preset, "max_length": max_length, "references": references, "strategy": greedy,
                "time_limit": time_limit, "seed": seed, "workers": workers,
            }
        )
        for metric, preset in _METRICS.items()
        for setting, references in _SETTINGS.items()
    }  # fmt: skip
    for found in over_topics(study, topics, list(ways.values()), partial(_all_problems, ways=ways)):
        study.unproven += found.count(None)
        study.compared += [one for one in found if one is not None]
    return study


def _all_problems(topic: Topic, ways: Mapping[tuple[str, str], Options]) -> list[Compared | None]:
    """Return the comparison of each problem that a topic makes; None for one whose oracles were not all found."""
    with_references(topic)
    return [
        _compared(part, metric, setting, way)
        for (metric, setting), way in ways.items()
        for part in problems(topic, setup_of(way))
    ]


def _compared(part: Topic, metric: str, setting: str, way: Options) -> Compared | None:
    """Enumerate the oracles of a problem and compare the heuristic's answer."""
    deadline = Deadline(way.time_limit)
    options = {**way.model_dump(exclude_unset=True), "references": "pooled"}
    oracles = enumerate_optima(part, **{**options, "strategy": "branch-and-bound"})
    without_interruption(oracles.result)
    result = without_interruption(solve(part, **options))
    if not oracles.complete or result.selection is None:
        return None
    among: Fraction | Estimate | None = None
    if oracles.count > 1:
        try:
            among = oracles.jaccard(deadline)
        except UnsupportedError:
            among = oracles.sampled_jaccard(seed=way.seed)
    return Compared(
        id=part.id,
        metric=metric,
        setting=setting,
        oracle=Fraction(oracles.result.objective_exact or 0),
        greedy=Fraction(result.objective_exact or 0),
        count=oracles.count,
        jaccard=oracles.agreement(result.selection).jaccard,
        among=among,
        feasible=oracles.feasible(),
        nodes=oracles.result.nodes,
    )
