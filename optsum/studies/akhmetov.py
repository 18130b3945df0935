"""Upper bounds by heuristics on one's own data (Akhmetov et al. 2022, Tables 2, 4, 5 and Figure 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from optsum.contracts.result import Result, Status
from optsum.corpus.topic import BadTopic, Topic, as_topic
from optsum.errors import InputError, OptionError, OptsumError
from optsum.report.statistics import INTERVALS, Interval, Spread, spread_of
from optsum.running.plan import Plan, compare_topics
from optsum.studies.report import Study, study_table
from optsum.studies.topics import over_topics, with_references, without_interruption
from optsum.text.lengths import word_count

if TYPE_CHECKING:
    from optsum.report.tables import Table

METHODS: Final = {
    "vns-paper": "VNS",
    "greedy-rows": "Greedy",
    "vns-paper+greedy": "VNS_Greedy",
    "genetic-paper": "Genetic",
    "genetic-paper+greedy": "Genetic_Greedy",
}
"""Strategies, and what the paper's tables call them."""

METRICS: Final = ("rouge-1", "rouge-2")
_PAPER: Final = {"min_abstract": 10, "max_abstract": 20}
"""The cleaned data: abstracts of 10 to 20 sentences, not longer than the text."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a method found for a topic by searching one metric.

    Attributes
    ----------
    f1 : float
        Of the metric, as it was searched.
    sentences : int
    seconds : float
        From text to answer.
    """

    f1: float
    sentences: int
    seconds: float


@dataclass
class AkhmetovStudy(Study):
    """What every method found for every topic.

    Attributes
    ----------
    exact : str or None
        The strategy that computed the optimum.
    counts : {"clipped", "set"}
    interval : {"student", "z"}
        How confidence intervals are computed (`optsum.report.statistics.spread_of`).
    found : dict of method and metric to list of Found
        Topic by topic; each metric was searched by itself.
    unproven : dict of metric to int
        Topics whose optimum was not proven within the limits: the best that any method found stands in its place.
    left_out : int
        Topics that the filters left out.
    """

    exact: str | None
    counts: str = "clipped"
    interval: Interval = "student"
    found: dict[tuple[str, str], list[Found]] = field(default_factory=dict)
    unproven: dict[str, int] = field(default_factory=dict)
    left_out: int = 0

    @property
    def methods(self) -> dict[str, str]:
        """Strategies in the paper's order, the optimum last, and what they are called."""
        names = {**METHODS, **({self.exact: "Optimum"} if self.exact else {})}
        return {strategy: name for strategy, name in names.items() if (strategy, METRICS[0]) in self.found}

    def add(self, results: Mapping[str, Sequence[Result]]) -> None:
        """Take in the results of one topic by all methods, metric by metric."""
        for metric, by_method in results.items():
            best = max(by_method, key=lambda result: result.objective or 0.0)
            for result in by_method:
                held = result
                if result.strategy == self.exact and result.status is not Status.OPTIMAL:
                    self.unproven[metric] = self.unproven.get(metric, 0) + 1
                    held = best
                found = Found(held.objective or 0.0, len(held.selection or ()), result.seconds)
                self.found.setdefault((result.strategy, metric), []).append(found)

    def spread(self, strategy: str, metric: str) -> Spread | None:
        """Return mean, deviation and confidence interval of a method."""
        return spread_of([one.f1 for one in self.found[strategy, metric]], self.interval)

    def tables(self) -> list[Table]:
        """Return Table 2 with the number of sentences, and Tables 4 and 5."""
        return [self.upper_bounds(), *(self.error_analysis(metric) for metric in METRICS)]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each method and metric."""
        return [
            {
                "method": name,
                "strategy": strategy,
                "metric": metric,
                "measure": "f1",
                **asdict(spread),
                "ci_lower": spread.lower,
                "ci_upper": spread.upper,
                "mean_sentences": self._mean(strategy, metric, "sentences"),
                "mean_seconds": self._mean(strategy, metric, "seconds"),
            }
            for strategy, name in self.methods.items()
            for metric in METRICS
            if (spread := self.spread(strategy, metric)) is not None
        ]

    def upper_bounds(self) -> Table:
        """Return the mean F1 of each method, the mean number of sentences and the mean time (Table 2)."""
        from optsum.report.tables import counted, number

        digits = {"f1": 4, "sentences": 1, "seconds": 3}
        table = study_table(
            "Best ROUGE F1 that each method finds (Table 2)",
            ["method"],
            [f"{short}{'' if what == 'f1' else f' {what}'}" for what in digits for short in ("R-1", "R-2")],
        )
        for strategy, name in self.methods.items():
            means = [number(self._mean(strategy, metric, what), digits[what]) for what in digits for metric in METRICS]
            table.rows.append([name, *means])
        topics = max(map(len, self.found.values()), default=0)
        ends = "across sentence ends, as it is scored" if self.counts == "clipped" else "within sentences"
        table.caption.append(f"{counted(topics, 'topic')}; R-1 and R-2 are searched each by itself, R-2 {ends}.")
        if self.left_out:
            table.caption.append(f"{counted(self.left_out, 'topic')} left out by the filters.")
        for metric, unproven in self.unproven.items():
            table.caption.append(
                f"The optimum of {counted(unproven, 'topic')} is not proven ({metric}): the best that any method found."
            )
        return table

    def error_analysis(self, metric: str) -> Table:
        """Return mean, standard deviation, coefficient of variation and confidence interval (Tables 4 and 5)."""
        from optsum.report.tables import number

        table = study_table(
            f"Error analysis, {metric.upper()} (Table {4 + METRICS.index(metric)})",
            ["method"],
            ("mean", "std", "CV", "CI +/- mean", "CI lower", "CI upper"),
        )
        for strategy, name in self.methods.items():
            if (spread := self.spread(strategy, metric)) is not None:
                values = (spread.mean, spread.std, spread.cv, spread.half_width, spread.lower, spread.upper)
                table.rows.append([name, *map(number, values)])
        table.caption.append(f"CI: {INTERVALS[self.interval]}.")
        return table

    def _mean(self, strategy: str, metric: str, what: str) -> float:
        values: list[float] = [getattr(one, what) for one in self.found[strategy, metric]]
        return mean(values)

    def plot(self, path: str | Path) -> None:
        """Write Figure 3, the mean F1 of each method with its confidence interval, as a page that needs no network.

        Raises
        ------
        OptionError
            If plotly is not installed, or the file cannot be written.
        """
        figure = _plotly().Figure()
        for metric in METRICS:
            spreads = [self.spread(strategy, metric) for strategy in self.methods]
            figure.add_bar(
                name=metric.upper(),
                x=list(self.methods.values()),
                y=[spread.mean for spread in spreads if spread],
                error_y={"type": "data", "array": [spread.half_width for spread in spreads if spread]},
            )
        figure.update_layout(title="Upper bound ROUGE scores (F1) by method", barmode="group", yaxis_title="F1")
        try:
            figure.write_html(str(path), include_plotlyjs=True)
        except OSError as error:
            raise OptionError(f"The plot {path} cannot be written: {error.strerror or error}.") from error


def study_akhmetov(
    topics: Iterable[Topic | BadTopic | Mapping[str, Any]],
    *,
    paper_filter: Annotated[
        bool, Field(description="the paper's cleaning: abstracts of 10-20 sentences, not longer than the text")
    ] = False,
    min_abstract: Annotated[int | None, Field(ge=0, description="fewest sentences of the abstract")] = None,
    max_abstract: Annotated[int | None, Field(ge=0, description="most sentences of the abstract")] = None,
    min_text: Annotated[int | None, Field(ge=0, description="fewest sentences of the text")] = None,
    max_text: Annotated[int | None, Field(ge=0, description="most sentences of the text")] = None,
    counts: Annotated[
        Literal["clipped", "set"], Field(description="as the paper's scores were made (clipped), or as its text says")
    ] = "clipped",
    interval: Annotated[
        Interval, Field(description="confidence intervals by Student's t, or by the paper's Z = 1.96")
    ] = "student",
    exact: Annotated[str, Field(description="strategy that computes the optimum; none for none")] = "branch-and-bound",
    time_limit: Annotated[float | None, Field(ge=0, description="seconds of search per topic and method")] = None,
    seed: Annotated[int, Field(ge=0, description="the same seed gives the same tables")] = 0,
    workers: Annotated[int, Field(ge=1, description="processes")] = 1,
    plot: Annotated[str | None, Field(description="write Figure 3 to this HTML file")] = None,
) -> AkhmetovStudy:
    """Compare the paper's five heuristics, and the exact optimum, under F1 of ROUGE-1 and of ROUGE-2, of free length.

    Each metric is searched by itself, by the exact strategy too.

    Parameters
    ----------
    topics : iterable
    paper_filter, min_abstract, max_abstract, min_text, max_text
        Which topics are used. The paper also left out "extremely long or short" texts, without saying how long.
    counts : {"clipped", "set"}
    interval : {"student", "z"}
    exact : str
        The strategy that computes the optimum, or "none".
    time_limit, seed, workers
        As for `optsum.solve_all`.
    plot : str, optional
        A file for Figure 3.

    Returns
    -------
    AkhmetovStudy

    Raises
    ------
    OptionError
        Before anything is searched, if `plot` is given and plotly is not installed or the file cannot be written.
    """
    if plot is not None:  # not after hours of search
        _plotly()
        _writable(plot)
    search: dict[str, Any] = {"counts": counts, "time_limit": time_limit, "seed": seed, "workers": workers}
    boundaries = {"rouge-1": "sentence", "rouge-2": "joined" if counts == "clipped" else "sentence"}
    plans = {
        metric: Plan.of(list(METHODS), exact, preset="akhmetov", metric=metric, boundaries=boundaries[metric], **search)
        for metric in METRICS
    }
    bounds = {"min_abstract": min_abstract, "max_abstract": max_abstract}
    if paper_filter:
        bounds = {name: _PAPER[name] if value is None else value for name, value in bounds.items()}
    study = AkhmetovStudy(plans[METRICS[0]].exact, counts, interval)

    def wanted() -> Iterator[Topic | BadTopic | Mapping[str, Any]]:
        """Yield the topics that the filters do not leave out; what cannot be used is said elsewhere."""
        for given in topics:
            try:
                topic = given if isinstance(given, BadTopic) else with_references(as_topic(given))
            except OptsumError:
                topic = None
            if not isinstance(topic, Topic) or _kept(topic, bounds, (min_text, max_text), paper_filter):
                yield given
            else:
                study.left_out += 1

    variants = [variant for plan in plans.values() for variant in plan.variants]
    for results in over_topics(study, wanted(), variants, partial(_all_methods, plans=plans)):
        study.add(results)
    if plot is not None:
        study.plot(plot)
    return study


def _all_methods(topic: Topic, plans: Mapping[str, Plan]) -> dict[str, list[Result]]:
    """Return the results of all methods, metric by metric; a topic that fails with one fails with all."""
    found: dict[str, list[Result]] = {}
    for metric, plan in plans.items():
        alone = replace(plan, variants=tuple(each.model_copy(update={"workers": 1}) for each in plan.variants))
        (found[metric],) = compare_topics([with_references(topic)], alone)
        for result in map(without_interruption, found[metric]):
            if result.error is not None or (result.selection is None and result.strategy != plan.exact):
                raise InputError(
                    result.error or f"The strategy {result.strategy} found nothing for topic {topic.id!r}."
                )
    return found


def _kept(
    topic: Topic, bounds: Mapping[str, int | None], text: tuple[int | None, int | None], paper_filter: bool
) -> bool:
    long = sum(map(word_count, topic.references[0])) > sum(map(word_count, topic.sentences))
    return (
        _between(topic.reference_sentences or 0, bounds["min_abstract"], bounds["max_abstract"])
        and _between(len(topic.sentences), *text)
        and not (paper_filter and long)
    )


def _plotly() -> Any:
    try:
        return import_module("plotly.graph_objects")
    except ImportError:
        raise OptionError("A plot needs plotly: pip install 'optsum[report]', or leave out --plot.") from None


def _writable(path: str) -> None:
    """Refuse a file that cannot be written; one that is there is left as it is."""
    try:
        new = not Path(path).exists()
        Path(path).open("a").close()
        if new:
            Path(path).unlink()
    except OSError as error:
        raise OptionError(f"The plot {path} cannot be written: {error.strerror or error}.") from error


def _between(value: int, least: int | None, most: int | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)
