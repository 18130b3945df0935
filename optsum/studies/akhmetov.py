"""Upper bounds by heuristics on one's own data (Akhmetov et al. 2022, Tables 2, 4, 5 and Figure 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from optsum.contracts.result import Result, Status, Termination
from optsum.corpus.topic import BadTopic, Topic, as_topic
from optsum.errors import InputError, OptionError, OptsumError
from optsum.report.statistics import INTERVALS, Interval, Spread, spread_of
from optsum.running.plan import Plan, by_problem, compare_topics
from optsum.studies.report import Report
from optsum.text.lengths import word_count

if TYPE_CHECKING:
    from optsum.report.tables import TextTable

__all__ = ["METHODS", "AkhmetovStudy", "study_akhmetov"]

METHODS: Final = {
    "vns-paper": "VNS",
    "greedy-rows": "Greedy",
    "vns-paper+greedy": "VNS_Greedy",
    "genetic-paper": "Genetic",
    "genetic-paper+greedy": "Genetic_Greedy",
}
"""Strategies, and what the paper's tables call them."""

_SCORES: Final = ("rouge-1", "rouge-2")
_PAPER: Final = {"min_abstract": 10, "max_abstract": 20}
"""The cleaned data: abstracts of 10 to 20 sentences, not longer than the text."""


@dataclass
class AkhmetovStudy(Report):
    """F1 of every method on every topic.

    Attributes
    ----------
    scores : dict of method to dict of metric to list of float
        ROUGE F1 of the finished summaries, topic by topic.
    sentences, seconds : dict of method to list
        Sentences of the summaries; seconds from text to answer.
    exact : str or None
        The strategy that computed the optimum.
    interval : {"student", "z"}
        How confidence intervals are computed (`optsum.report.statistics.spread_of`).
    unproven : int
        Topics whose optimum was not proven within the limits.
    left_out : int
        Topics that the filters left out.
    failures : list of str
    """

    exact: str | None
    interval: Interval = "student"
    scores: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    sentences: dict[str, list[int]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    unproven: int = 0
    left_out: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def errors(self) -> list[str]:
        """A sentence for each topic that could not be used."""
        return self.failures

    @property
    def methods(self) -> dict[str, str]:
        """Strategies in the paper's order, the optimum last, and what they are called."""
        names = {**METHODS, **({self.exact: "Optimum"} if self.exact else {})}
        return {strategy: name for strategy, name in names.items() if strategy in self.scores}

    def add(self, results: list[Result]) -> None:
        """Take in the results of one topic by all methods; a topic that failed with one is left out with all."""
        failed = [result for result in results if result.rouge is None or result.selection is None]
        if failed:
            reason = failed[0].error or f"{failed[0].strategy} found no selection"
            self.failures.append(f"{failed[0].id}: {reason}" if failed[0].error is None else reason)
            return
        for result in results:
            by_metric = self.scores.setdefault(result.strategy, {metric: [] for metric in _SCORES})
            for metric in _SCORES:
                by_metric[metric].append((result.rouge or {})[metric]["f1"])
            self.sentences.setdefault(result.strategy, []).append(len(result.selection or ()))
            self.seconds.setdefault(result.strategy, []).append(result.seconds)
            self.unproven += result.strategy == self.exact and result.status is not Status.OPTIMAL

    def spread(self, strategy: str, metric: str) -> Spread | None:
        """Return mean, deviation and confidence interval of a method."""
        return spread_of(self.scores[strategy][metric], self.interval)

    def tables(self) -> list[TextTable]:
        """Return Table 2 with the number of sentences, and Tables 4 and 5."""
        return [self.upper_bounds(), *(self.error_analysis(metric) for metric in _SCORES)]

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
                "mean_sentences": mean(self.sentences[strategy]),
                "mean_seconds": mean(self.seconds[strategy]),
            }
            for strategy, name in self.methods.items()
            for metric in _SCORES
            if (spread := self.spread(strategy, metric)) is not None
        ]

    def upper_bounds(self) -> TextTable:
        """Return the mean F1 and the mean number of sentences of each method (Table 2)."""
        from optsum.report.tables import Column, TextTable, counted, number

        table = TextTable(
            [Column("method"), *(Column(heading, numeric=True) for heading in ("R-1", "R-2", "sentences", "seconds"))],
            title="Best ROUGE F1 that each method finds (Table 2)",
        )
        for strategy, name in self.methods.items():
            scores = self.scores[strategy]
            table.rows.append(
                [
                    name,
                    *(number(mean(scores[metric])) for metric in _SCORES),
                    number(mean(self.sentences[strategy]), 1),
                    number(mean(self.seconds[strategy]), 3),
                ]
            )
        topics = len(next(iter(self.sentences.values()), []))
        table.caption.append(f"{counted(topics, 'topic')}; all methods search ROUGE-1, R-2 is that of what they find.")
        if self.left_out:
            table.caption.append(f"{counted(self.left_out, 'topic')} left out by the filters.")
        if self.unproven:
            table.caption.append(f"The optimum of {counted(self.unproven, 'topic')} is not proven: best found.")
        return table

    def error_analysis(self, metric: str) -> TextTable:
        """Return mean, standard deviation, coefficient of variation and confidence interval (Tables 4 and 5)."""
        from optsum.report.tables import Column, TextTable, number

        headings = ("mean", "std", "CV", "CI +/- mean", "CI lower", "CI upper")
        table = TextTable(
            [Column("method"), *(Column(heading, numeric=True) for heading in headings)],
            title=f"Error analysis, {metric.upper()} (Table {4 + _SCORES.index(metric)})",
        )
        for strategy, name in self.methods.items():
            if (spread := self.spread(strategy, metric)) is not None:
                values = (spread.mean, spread.std, spread.cv, spread.half_width, spread.lower, spread.upper)
                table.rows.append([name, *map(number, values)])
        table.caption.append(f"CI: {INTERVALS[self.interval]}.")
        return table

    def plot(self, path: str | Path) -> None:
        """Write Figure 3, the mean F1 of each method with its confidence interval, as a page that needs no network.

        Raises
        ------
        OptionError
            If plotly is not installed, or the file cannot be written.
        """
        figure = _plotly().Figure()
        for metric in _SCORES:
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
    """Compare the paper's five heuristics, and the exact optimum, under ROUGE-1 F1 of free length.

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
    plan = Plan.of(list(METHODS), exact, preset="akhmetov", **search)
    bounds = {"min_abstract": min_abstract, "max_abstract": max_abstract}
    if paper_filter:
        bounds = {name: _PAPER[name] if value is None else value for name, value in bounds.items()}
    study = AkhmetovStudy(plan.exact, interval)

    def wanted() -> Iterator[Topic]:
        for given in topics:
            if isinstance(given, BadTopic):
                study.failures.append(f"{given.source}: {given.error}")
                continue
            try:
                topic = as_topic(given)
                if not topic.references:
                    raise InputError(f"The topic {topic.id!r} has no reference, so nothing can be compared.")
            except OptsumError as error:
                study.failures.append(str(error))
                continue
            long = sum(map(word_count, topic.references[0])) > sum(map(word_count, topic.sentences))
            if (
                _between(topic.reference_sentences or 0, bounds["min_abstract"], bounds["max_abstract"])
                and _between(len(topic.sentences), min_text, max_text)
                and not (paper_filter and long)
            ):
                yield topic
            else:
                study.left_out += 1

    with closing(compare_topics(wanted(), plan)) as batches:
        for batch in batches:
            for results in by_problem(batch):
                if not any(result.termination is Termination.INTERRUPTED for result in results):
                    study.add(results)
    if plot is not None:
        study.plot(plot)
    return study


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
