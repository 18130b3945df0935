"""What can be chosen in the study of Hirao et al. 2017, and what its tables ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from optsum.report.tables.table import counted
from optsum.studies.base import TIME_LIMIT, ExactSeconds, Row, Seconds, Seeds, Study, Workers

METRICS: Final = {"rouge-1": "hirao-r1", "rouge-2": "hirao-r2"}
"""Metrics, and the presets that have the paper's analysis of each."""
SETTINGS: Final = ("multi", "single")
"""Oracles of a set of references, and of each reference in it."""


@dataclass(kw_only=True)
class HiraoOptions(Study):
    """The options of the study, and what tables ask for."""

    name: ClassVar[str] = "hirao"
    shown_only: ClassVar[frozenset[str]] = frozenset({"resamples", "least_found"})

    max_length: Annotated[int, Field(ge=1, description="longest extract, in words")] = 100
    greedy: Annotated[str, Field(description="the strategy that is held against the oracles")] = "greedy"
    one: Annotated[
        str, Field(description="the strategy that extracts a single oracle, for its time; none for none")
    ] = "milp"
    bound: Annotated[
        Literal["lagrangian", "knapsack"],
        Field(description="knapsack: Table 7 also with the paper's own bound, which takes longer"),
    ] = "lagrangian"
    least_found: Annotated[
        float, Field(ge=0, le=1, description="Table 6: systems with this share of their sentences in the sources")
    ] = 0.5
    resamples: Annotated[int, Field(ge=0, description="bootstrap samples for the intervals of Table 6")] = 1000
    exact_time_limit: ExactSeconds = None
    time_limit: Seconds = TIME_LIMIT  # the oracles of short references may have no end
    seed: Annotated[int, Field(ge=0, description="of strategies, estimates, drawn oracles and resampling")] = 0
    seeds: Seeds = None
    workers: Workers = 1

    def about(self) -> str:
        """Return the settings in some words."""
        return (
            f"recall of extracts of {self.max_length} words at most, Porter stems, R1 without stop words, n-grams "
            f"within sentences, {self.seeding}"
        )

    def lacking(self) -> list[str]:
        """Return how many problems are left out, and why."""
        problems = self.of("problem")
        if not (unproven := sum(not row["complete"] for row in problems)):
            return []
        left = f"{unproven} of {counted(len(problems), 'problem')}"
        return [f"{left}, not all of whose oracles were found in time: means and medians lack problems with many"]

    def of_problems(self, metric: str, setting: str) -> list[Row]:
        """Return the problems of a metric and a setting whose oracles were all found."""
        return self.of("problem", metric=metric, references=setting, complete=True)
