"""The study of heuristic and exact upper bounds of ROUGE (Akhmetov et al. 2022)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial
from itertools import product
from math import comb, inf, log
from statistics import fmean, mean, median, median_low, stdev
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Final, Literal
from warnings import catch_warnings, simplefilter

import numpy as np

from optsum.contracts.result import Result, Status
from optsum.corpus.topic import Topic
from optsum.errors import InputError, OptionError, counted, unknown_name
from optsum.options.options import Options
from optsum.plugins import load_place
from optsum.report.comparison import (
    INTERVALS,
    NO_EXACT,
    OVER_SEEDS,
    SPREADS,
    Interval,
    average,
    check_exact,
    pearson,
    seeds_deviation,
    spearman,
    spread_of,
)
from optsum.report.figures import Figure
from optsum.report.tables import Cell, Table, number
from optsum.running.one_problem import Setup
from optsum.studies import Row, SeededStudy, Study, Submitted, grouped, option, score_of, searched, summaries_of
from optsum.system.clock import Termination
from optsum.text.analyzer import Analyzer, Sentence, character_count, word_count

METRICS: Final = ("rouge-1", "rouge-2")
_SCORES: Final = {"R-1": ("rouge-1", "f1"), "R-2": ("rouge-1", "f1_rouge-2"), "R-2 by itself": ("rouge-2", "f1")}
"""Columns of scores: the metric that is maximized, and the field of the score in its rows.

The paper maximizes ROUGE-1 and reports ROUGE-2 of the same summary; "by itself" means a summary that maximizes ROUGE-2.
"""
_TWICE: Final = "R-2: for the summary that maximizes R-1, as in the paper; R-2 by itself: for one that maximizes R-2."
_BOUNDS: Final = ("Genetic_Greedy", "Optimum")  # Methods with which Table 3 compares systems.


def methods(study: Study) -> list[str]:
    return study.values_of("found", "method")


def lengths(study: Study) -> Table:
    table = study.table("Lengths in sentences (Table 1)", [""], ["text", "abstract"])
    if rows := study.of("topic"):
        columns = [[row[name] for row in rows] for name in ("sentences", "abstract_sentences")]
        table.add("count", *(number(len(values), 0) for values in columns))
        spread = stdev if len(rows) > 1 else lambda _: 0.0
        for name, of in (("mean", mean), ("std", spread), ("min", min), ("median", median), ("max", max)):
            table.add(name, *(number(float(of(values)), 1) for values in columns))
    return table


def search_space(study: Study) -> Table:
    caption = ["Combinations of the text's sentences, as many as the abstract has; exact in the rows."]
    headings = ["smallest", "median", "largest"]
    table = study.table("Size of the search space (equation 4)", [], headings, caption=caption)
    if sizes := sorted(int(row["search_space"]) for row in study.of("topic")):
        ends = (sizes[0], median_low(sizes), sizes[-1])
        table.add(*(Cell(f"{size:,}" if size < 10**9 else f"{Decimal(size):.2e}", str(size)) for size in ends))
    return table


def upper_bounds(study: Study) -> Table:
    seeds = len({row["seed"] for row in study.of("found") if row["method"] != OPTIMUM})
    spreads = [f"{score} ± seeds" for score in _SCORES] if seeds > 1 else []
    headings = [*_SCORES, "sentences", "R-1 seconds", "R-2 seconds", *spreads]
    caption = [f"{_TWICE} sentences: of the summary that maximizes R-1."]
    if spreads:
        caption.append(OVER_SEEDS.format(seeds))
    table = study.table("Best ROUGE F1 of each method (Table 2)", ["method"], headings, caption=caption)
    for method in methods(study):
        cells = [average(values(study, method, score)) for score in _SCORES]
        cells.append(average((row["sentences"] for row in of(study, method, "rouge-1")), 1))
        cells += [average((row["seconds"] for row in of(study, method, metric)), 3) for metric in METRICS]
        for metric, name in _SCORES.values() if spreads else ():
            rows = study.of("found", method=method, metric=metric)
            cells.append(number(seeds_deviation(grouped((row["seed"], row[name]) for row in rows).values())))
        table.add(method, *cells)
    return table


def of(study: Study, method: str, metric: str) -> list[Row]:
    by_topic = grouped((row["id"], row) for row in study.of("found", method=method, metric=metric))
    means = ["f1", "sentences", "seconds", *(["f1_rouge-2"] if metric == "rouge-1" else [])]
    return [
        {**rows[0], **{what: fmean(row[what] for row in rows) for what in means}} if len(rows) > 1 else rows[0]
        for rows in by_topic.values()
    ]


def systems(study: Study) -> Table:
    headings = [*_SCORES, "topics", "sentences"]
    table = study.table("Upper bounds and systems (Table 3)", ["summary"], headings, caption=[_TWICE])

    def add(name: str, cells: Sequence[str], rows: Sequence[Row]) -> None:
        table.add(name, *cells, number(len(rows), 0), average((row["sentences"] for row in rows), 1))

    for method in (name for name in _BOUNDS if name in methods(study)):
        cells = [average(values(study, method, score)) for score in _SCORES]
        add(f"{method} upper bound", cells, of(study, method, "rouge-1"))
    for name in study.values_of("system"):
        rows = study.of("system", system=name)
        add(name, [*(average(row["f1"][metric] for row in rows) for metric in METRICS), "-"], rows)
    return table


def values(study: Study, method: str, score: str) -> list[float]:
    metric, name = _SCORES[score]
    return [row[name] for row in of(study, method, metric)]


def error_analysis(study: Study, score: str, interval: Interval, z: float) -> Table:
    spreads = {method: spread_of(values(study, method, score), interval, z) for method in methods(study)}
    rows = [[method, *map(number, spread)] for method, spread in spreads.items() if spread]
    caption = [f"CI: {INTERVALS[interval]}{f', Z = {z:g}' if interval == 'z' else ''}."]
    title = f"Error analysis, {score} (Table {4 if score == 'R-1' else 5})"
    return study.table(title, ["method"], SPREADS, rows, caption)


def features(study: Study) -> Table:
    of_text = {row["id"]: _features(row) for row in study.of("topic")}
    names = list(next(iter(of_text.values()), {}))
    headings = [f"{name} {sign}" for name in names for sign in ("r", "rho")]
    title = "Correlation of the best number of sentences with features of the text (Discussion)"
    caption = ["r: Pearson's; rho: Spearman's; - if all numbers are equal, or fewer than three."]
    table = study.table(title, ["method", "metric"], headings, caption=caption)
    searched_for = {short: metric for short, (metric, name) in _SCORES.items() if name == "f1"}
    for method, (short, metric) in product(methods(study), searched_for.items()):
        rows = of(study, method, metric)
        best = [float(row["sentences"]) for row in rows]
        sides = ([of_text[row["id"]][name] for row in rows] for name in names)
        cells = (number(correlate(side, best), 3) for side in sides for correlate in (pearson, spearman))
        table.add(method, short, *cells)
    return table


def _features(row: Row) -> dict[str, float]:
    sentences, words, characters = (float(row[name]) for name in ("sentences", "words", "characters"))
    sizes = {"characters": characters, "words": words, "sentences": sentences}
    ratios = {"words/sentence": words / sentences if sentences else 0.0}
    ratios["characters/word"] = characters / words if words else 0.0
    return {**sizes, **ratios, "abstract": float(row["abstract_sentences"])}


METHODS: Final = {
    "vns-paper": "VNS",
    "greedy-rows": "Greedy",
    "vns-paper+greedy": "VNS_Greedy",
    "genetic-paper": "Genetic",
    "genetic-paper+greedy": "Genetic_Greedy",
}
OPTIMUM: Final = "Optimum"  # The name of the exact strategy in tables.
_PAPER: Final[Mapping[str, float]] = {"min_abstract": 10, "max_abstract": 20, "min_text": 100, "max_text": 500}
"""Limits in sentences of the paper's cleaned data (Table 1); the paper calls other texts "extremely long or short"."""


@dataclass(kw_only=True)
class AkhmetovStudy(SeededStudy):
    """Compare the paper's five heuristics with the exact optimum of F1 for ROUGE-1 and ROUGE-2, without a length limit.

    ROUGE-2 is reported for the summary that maximizes ROUGE-1, and for one that maximizes ROUGE-2. Its bigrams cross
    sentence ends, except with the option `counts` "set".
    """

    name: ClassVar[str] = "akhmetov"
    shown_only: ClassVar[frozenset[str]] = frozenset({"interval", "z"})

    paper_filter: Annotated[
        bool, option("the paper's cleaning: abstracts of 10-20 and texts of 100-500 sentences, abstract not longer")
    ] = False
    min_abstract: Annotated[int | None, option("smallest number of sentences of the abstract", ge=0)] = None
    max_abstract: Annotated[int | None, option("largest number of sentences of the abstract", ge=0)] = None
    min_text: Annotated[int | None, option("smallest number of sentences of the text", ge=0)] = None
    max_text: Annotated[int | None, option("largest number of sentences of the text", ge=0)] = None
    counts: Annotated[
        Literal["clipped", "set"], option("counts of the paper's scores (clipped), or of its text (set)")
    ] = "clipped"
    interval: Annotated[Interval, option("confidence intervals by Student's t, or by --z as in the paper")] = "student"
    z: Annotated[float, option("Z of --interval z; the paper prints 1.956, but its intervals use 1.96", gt=0)] = 1.96
    as_published: Annotated[
        bool,
        option("the paper's own stopping rules (VNS: 60 s, 5000 iterations, or 700 without success), not --time-limit"),
    ] = False
    baselines: Annotated[
        str, option("baselines with as many sentences as the abstract: mmr,sumbasic,lexrank,lsa, or some of them")
    ] = ""
    exact: Annotated[str, option("strategy that computes the optimum, or none")] = "branch-and-bound"

    @cached_property
    def _searches(self) -> dict[tuple[str, str], list[Options]]:
        strategies = {name: strategy for strategy, name in METHODS.items()}
        if self.exact != "none":
            check_exact(self.exact)
            strategies[OPTIMUM] = self.exact
        elif self.exact_time_limit is not None:
            raise OptionError(NO_EXACT)
        for name in self._baselines:
            baseline(name)
        searches = {}
        for (method, strategy), metric in product(strategies.items(), METRICS):
            ends = "joined" if self.counts == "clipped" and metric == "rouge-2" else "sentence"
            how: dict[str, Any] = {"preset": "akhmetov", "strategy": strategy, "metric": metric, "boundaries": ends}
            if self.as_published and method != OPTIMUM:
                how["time_limit"] = None
            searches[method, metric] = self._seeded("counts", heuristic=method != OPTIMUM, **how)
        return searches

    def work(self) -> Callable[[Submitted], list[Row]]:
        return partial(_rows, setups=self._setups(), baselines=self._baselines)

    @property
    def _baselines(self) -> list[str]:
        return [name.strip() for name in self.baselines.split(",") if name.strip()]

    def wants(self, topic: Topic) -> bool:
        if not topic.references or not topic.sentences:
            return True
        open_ends = _PAPER if self.paper_filter else {name: 0 if name[:3] == "min" else inf for name in _PAPER}
        limit = {name: open_ends[name] if (own := getattr(self, name)) is None else own for name in _PAPER}
        long = sum(map(word_count, topic.references[0])) > sum(map(word_count, topic.sentences))
        sizes = {"abstract": topic.reference_sentences or 0, "text": len(topic.sentences)}
        kept = all(limit[f"min_{what}"] <= size <= limit[f"max_{what}"] for what, size in sizes.items())
        return kept and not (self.paper_filter and long)

    def tables(self) -> list[Table]:
        errors = [error_analysis(self, score, self.interval, self.z) for score in _SCORES]
        beside = [systems(self)] if self.of("system") else []
        return [lengths(self), search_space(self), upper_bounds(self), *beside, *errors, features(self)]

    def figures(self) -> list[Figure]:
        names = methods(self)
        caption = [*self.caption(), _TWICE]
        figure = Figure("figure-3", "Upper bound ROUGE scores by method", "", "F1", caption=caption)
        for score in _SCORES:
            spreads = [spread_of(values(self, name, score), self.interval, self.z) for name in names]
            means, reach = ([getattr(found, what, None) for found in spreads] for what in ("mean", "half_width"))
            figure.add(score, names, means, error=reach, style="bar")
        return [figure]

    def about(self) -> str:
        ends = "across sentence ends" if self.counts == "clipped" else "within sentences"
        kept = " of the paper's lengths" if self.paper_filter else ""
        stops = ", heuristics end by the paper's stopping rules" if self.as_published else ""
        return f"whole texts{kept}, F1 without length limit, {self.counts} counts, R-2 {ends}, {self.seeding}{stops}"

    def lacking(self) -> list[str]:
        left = [
            f"the {metric} optimum of {counted(count, 'topic')}, not proven in time: replaced by the best that any "
            f"method found"
            for metric in METRICS
            if (count := sum(not row["proven"] for row in of(self, OPTIMUM, metric)))
        ]
        if ended := sum(row["ended"] == Termination.TIME_LIMIT for row in self.of("found") if row["method"] != OPTIMUM):
            left.append(f"what {ended} of the heuristic searches would have found after their time limit")
        return left


def _rows(topic: Submitted, setups: Mapping[tuple[str, str], Sequence[Setup]], baselines: Sequence[str]) -> list[Row]:
    rows = [_sizes(topic)]

    def f1(text: Sequence[Sentence], metric: str) -> float:
        return score_of(text, topic.references, setups["VNS", metric][0]).f1

    for metric in METRICS:
        chosen = ((method, seeded) for (method, of), seeded in setups.items() if of == metric)
        results = [(method, searched(topic, setup)) for method, seeded in chosen for setup in seeded]
        rows += _found(topic, metric, results)
    for row in rows:
        if row["kind"] == "found" and row["metric"] == "rouge-1":
            row["f1_rouge-2"] = f1([topic.sentences[unit] for unit in row["selection"]], "rouge-2")
    texts = [(system.system, text) for system, text in summaries_of(topic, rows)]
    for name in baselines:
        units = baseline(name)(topic, topic.reference_sentences or 1)
        texts.append((name, [topic.sentences[unit] for unit in units]))
    for name, text in texts:
        scores = {metric: f1(text, metric) for metric in METRICS}
        rows.append({"kind": "system", "system": name, "f1": scores, "sentences": len(text)})
    return rows


_SUMY: Final = {
    "sumbasic": "sumy.summarizers.sum_basic:SumBasicSummarizer",
    "lexrank": "sumy.summarizers.lex_rank:LexRankSummarizer",
    "lsa": "sumy.summarizers.lsa:LsaSummarizer",
}
_RELEVANT: Final = 0.7  # Weight of relevance against redundancy (lambda) in maximal marginal relevance.


def baseline(name: str) -> Callable[[Topic, int], Sequence[int]]:
    """Return a baseline of Table 3: a function that selects sentences by words (tokenizer "rouge", no stop words)."""
    if name == "mmr":
        return marginal_relevance
    if name not in _SUMY:
        raise unknown_name("baseline", name, ["mmr", *_SUMY])
    try:
        summarizer = load_place(_SUMY[name])()
    except ImportError:
        raise OptionError(f"The baseline {name} needs the package sumy: pip install 'optsum[baselines]'.") from None

    def chosen(topic: Topic, count: int) -> list[int]:
        texts = map(Analyzer(stopwords="drop").tokens, topic.sentences)
        sentences = [_Words(unit, words) for unit, words in enumerate(texts) if words]
        document = SimpleNamespace(sentences=sentences, words=[word for one in sentences for word in one.words])
        with catch_warnings():  # the package warns about texts of few words
            simplefilter("ignore")
            return [one.unit for one in summarizer(document, min(count, len(sentences)))]

    return chosen


@dataclass(frozen=True, eq=False)
class _Words:
    """A sentence in the form that sumy takes; sentences with the same words are distinct."""

    unit: int
    words: list[str]


def marginal_relevance(topic: Topic, count: int) -> list[int]:
    """Return sentences, ascending, by maximal marginal relevance (Carbonell & Goldstein 1998; tf-idf cosines)."""
    texts = list(map(Counter, map(Analyzer(stopwords="drop").tokens, topic.sentences)))
    held = Counter(word for text in texts for word in text)
    place = {word: number for number, word in enumerate(held)}
    vectors = np.zeros((len(texts), len(place)))
    for row, text in zip(vectors, texts, strict=True):
        for word, times in text.items():
            row[place[word]] = times * log(1 + len(texts) / held[word])
    whole = vectors.sum(axis=0)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    relevance = vectors @ whole / max(float(np.linalg.norm(whole)), 1e-300)
    alike = vectors @ vectors.T
    taken: list[int] = []
    for _ in range(min(count, len(texts))):
        redundant = alike[:, taken].max(axis=1) if taken else np.zeros(len(texts))
        worth = _RELEVANT * relevance - (1 - _RELEVANT) * redundant
        worth[taken] = -np.inf
        taken.append(int(worth.argmax()))
    return sorted(taken)


def _sizes(topic: Topic) -> Row:
    """Return the row with the sizes of a text, and the number of extracts with as many sentences as its abstract.

    The number is equation 4, read as the combinations of N_t sentences taken N_a at a time: it is missing in our copy
    of the paper, which explains "N_a and N_t are the respective number of sentences in summary and text".
    """
    abstract, count = topic.reference_sentences or 0, len(topic.sentences)
    words, characters = (sum(map(size, topic.sentences)) for size in (word_count, character_count))
    row: Row = {"kind": "topic", "sentences": count, "words": words, "characters": characters}
    row |= {"abstract_sentences": abstract, "abstract_words": sum(map(word_count, topic.references[0]))}
    return {**row, "search_space": str(comb(count, abstract))}  # a text, as it may have hundreds of digits


def _found(topic: Topic, metric: str, results: Sequence[tuple[str, Result]]) -> Iterator[Row]:
    """Yield the row of each method and seed; an unproven optimum is replaced by the best of all results."""
    best = max((result for _, result in results), key=lambda result: result.objective or 0.0)
    for method, result in results:
        if result.selection is None and method != OPTIMUM:
            raise InputError(f"{result.strategy} found no summary of topic {topic.id!r} ({result.termination.value}).")
        proven = result.status is Status.OPTIMAL
        held = best if method == OPTIMUM and not proven else result
        row: Row = {"kind": "found", "method": method, "strategy": result.strategy, "metric": metric}
        row |= {"seed": result.seed, "f1": held.objective or 0.0, "sentences": len(held.selection or ())}
        row |= {"seconds": result.seconds, "proven": proven, "ended": result.termination.value}
        yield {**row, "selection": list(held.selection or ())}
