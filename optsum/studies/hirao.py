"""Study of all oracles, greedy extracts and systems (Hirao et al. 2017, Enumeration of Extractive Oracle Summaries)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, product
from math import inf, sqrt
from operator import itemgetter
from statistics import fmean, median
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.contracts.result import Status
from optsum.corpus.topic import Topic
from optsum.corpus.topics import System, extract_of, text_of
from optsum.errors import UnsupportedError, counted
from optsum.optima.diagram import PAIRS
from optsum.optima.optima import Optima
from optsum.options.options import Options
from optsum.registry import DEFAULT_STRATEGY
from optsum.report.comparison import CHANCE, FEWEST, OVER_SEEDS, average, chance, ranks, seeds_deviation, seeds_of
from optsum.report.figures import Figure
from optsum.report.tables import Table, number
from optsum.running.enumerate import oracles_of
from optsum.running.one_problem import Setup, build
from optsum.studies import (
    Cut,
    CutStudy,
    Row,
    SeededStudy,
    Submitted,
    grouped,
    option,
    score_of,
    searched,
    summaries_of,
    without_interruption,
)
from optsum.text.analyzer import Sentence, word_count


@dataclass(kw_only=True)
class HiraoStudy(SeededStudy, CutStudy):
    """Compare all oracles of ROUGE-1 and ROUGE-2 recall with greedy extracts, systems and human scores.

    Each topic is searched with all its references together ("multi") and with each of them ("single"), with Porter
    stems, without stop words for ROUGE-1 and with them for ROUGE-2, as in the paper. A problem with a proven optimum
    counts in tables of scores, even if not all of its oracles are found within the limits; tables about all oracles
    leave such a problem out, and state how many problems they cover.
    """

    name: ClassVar[str] = "hirao"
    shown_only: ClassVar[frozenset[str]] = frozenset({"duc", "resamples", "least_found"})

    duc: Annotated[
        Literal["2001", "2002", "2003", "2004", "2005", "2006", "2007"],
        option("year of the data whose values --paper shows"),
    ] = "2004"
    max_length: Annotated[int, option("longest extract, in words", ge=1)] = 100
    greedy: Annotated[str, option("the strategy to compare with the oracles")] = "greedy"
    idle: Annotated[
        bool, option("greedy search also takes units without gain that fit, like the loop of Algorithm 2")
    ] = False
    one: Annotated[str, option("the strategy that extracts a single oracle, to measure its time; none for none")] = (
        "milp"
    )
    bound: Annotated[
        Literal["lagrangian", "knapsack"],
        option("knapsack: Table 7 also with the paper's own bound, which takes longer"),
    ] = "lagrangian"
    extracts: Annotated[
        int, option("number of extracts in the distribution of scores, drawn at random if there are more", ge=0)
    ] = 1000
    least_found: Annotated[
        float, option("Table 6: least share of a system's sentences that are in the sources", ge=0, le=1)
    ] = 0.5
    resamples: Annotated[int, option("bootstrap samples for the intervals of Table 6", ge=0)] = 1000
    seed: Annotated[int, option("seed of strategies, estimates, random oracles and resampling", ge=0)] = 0

    def about(self) -> str:
        return (
            f"recall of extracts of {self.max_length} words at most, Porter stems, R1 without stop words, n-grams "
            f"within sentences, {'greedy takes units without gain, ' if self.idle else ''}{self.seeding}"
        )

    def lacking(self) -> list[str]:
        problems = self.of("problem")
        all_ = counted(len(problems), "problem")
        said = []
        if open_ := sum(not _is_proven(row) for row in problems):
            said.append(
                f"{open_} of {all_}, whose optimum was not proven or whose greedy extract was not found in time: "
                "they are in no table, and systems are scored only on the others"
            )
        if many := sum(not row["complete"] for row in problems):
            said.append(
                f"{many} of {all_}, whose oracles were not all found in time: they are left out of Tables 4 and 6, "
                "whose means therefore lack problems with many oracles, and partly out of Tables 5 and 7"
            )
        return said

    def of_problems(self, metric: str, setting: str, *, every: bool = True) -> list[Row]:
        """Return the problems whose oracles are all known; without `every`, all problems with a proven optimum."""
        rows = self.of("problem", metric=metric, references=setting)
        return [row for row in rows if (row["complete"] if every else _is_proven(row))]

    @cached_property
    def _searches(self) -> dict[tuple[str, str], list[Options]]:
        roles: dict[str, dict[str, Any]] = {
            "all": {"strategy": "branch-and-bound"},
            "greedy": {"strategy": self.greedy, "strategy_options": {"idle": True} if self.idle else {}},
            "optimum": {"strategy": DEFAULT_STRATEGY},
        }
        if self.bound == "knapsack":
            roles["paper"] = {"strategy": "branch-and-bound", "bound": "knapsack"}
        if self.one != "none":
            roles["one"] = {"strategy": self.one}
        if self.extracts:
            roles["any"] = {"strategy": "random", "keep_unmatched": True}
        found = {}
        for (metric, preset), (role, how) in product(METRICS.items(), roles.items()):
            limit = {"time_limit": self.time_limit} if role == "any" else {}
            found[metric, role] = self._seeded("max_length", heuristic=role == "greedy", preset=preset, **limit, **how)
        return found

    def work(self) -> Callable[[Submitted], list[Row]]:
        return partial(_rows, setups=self._setups(), cut=self.cut, extracts=self.extracts)

    def papers_values(self) -> Mapping[str, Any]:
        values = super().papers_values()
        return values if self.duc == "2004" else values[self.duc]

    @property
    def cut(self) -> Cut:
        return self.cut_after(self.max_length)

    def tables(self) -> list[Table]:
        made = [statistics_of_data, scores, systems, ratios, overlaps, numbers, efficiency, percentiles]
        return [*(table for make in made if (table := make(self)) is not None), *correlations(self)]

    def figures(self) -> list[Figure]:
        drawn = {"Oracle (multi)", "Oracle (single)", "Greedy", "Greedy (single)", "Peer", "Peer (single)"}
        bars = Figure.of_table("table-2", scores(self), ["R1", "R2"], "ROUGE recall", rows=drawn)
        return [bars, *(distribution(self, metric) for metric in METRICS if self.of("extracts", metric=metric))]


METRICS: Final = {"rouge-1": "hirao-r1", "rouge-2": "hirao-r2"}
"""The metrics, with the preset of the paper's text analysis for each."""
LINES: Final = {"Oracle": "oracle", "Greedy": "greedy"}  # Lines of tables (names that no system may have) -> field.

SETTINGS: Final = ("multi", "single")  # Oracles for all references together, and for each reference.
_NAMED: Final = {"multi": "", "single": " (single)"}  # Suffixes of the lines of Table 2, by setting.

Searched: TypeAlias = tuple[Row, Optima | None]  # The row of a problem, and its oracles if all were found.
Setups: TypeAlias = Mapping[tuple[str, str], Sequence[Setup]]  # The resolved searches, by metric and role.

DRAWS: Final = 100  # Number of oracles of each problem drawn at random with replacement, as in the paper.

Floats = NDArray[np.float64]

_GROUPS: Final = tuple(product(("single", "multi"), METRICS))
_OF: Final = ("metric", "references")  # Headings of the left columns of tables of problems.


@dataclass(frozen=True)
class Judged:
    """The scores of systems on topics with human scores, as arrays (topics, systems)."""

    topics: list[str]
    human: Floats
    rouge: dict[str, Floats]  # Recall against all references, by metric.
    of_all: dict[tuple[str, str], Floats]  # F-measure over all oracles, by setting and metric.
    of_one: dict[tuple[str, str], Floats]  # F-measure over one oracle drawn at random: (topics, draws, systems).


def correlations(study: HiraoStudy) -> list[Table]:
    names = dict.fromkeys(chain.from_iterable(row["human"] for row in study.of("system")))
    return [_correlation_table(study, name) for name in names]


def _correlation_table(study: HiraoStudy, human: str) -> Table:
    headings = ["r", "95 % from", "to", "rho", "95 % from", "to", "p, M against S"]
    table = study.table(f"Correlation with the human score {human!r} (Table 6)", ["metric"], headings)
    rated = grouped((row["system"], row) for row in study.of("system") if human in row["human"])
    systems = []  # systems with enough sentences in the sources
    for name, rows in rated.items():
        extracts = [row for row in rows if "selection" in row]
        held, others = sum(len(row["selection"]) for row in extracts), sum(row["others"] for row in extracts)
        if held + others and held >= study.least_found * (held + others):
            systems.append(name)
    share = f"{study.least_found:.0%} of their sentences in the sources (--least-found)"
    table.caption.append(f"{len(systems)} of {counted(len(rated), 'system')}: those with {share}.")
    judged = judged_of(study, human, systems)
    if len(systems) < FEWEST or not judged.topics:
        table.caption.append("Nothing to show: a correlation needs three systems, and a topic with summaries of all.")
        return table
    weights = _resampled(len(judged.topics), study)
    for metric, values in judged.rouge.items():
        table.add(metric.upper(), *_of_topics(judged, values, weights), "-")
    for group in _GROUPS:
        setting, metric = group
        name = f"F-measure (R{metric[-1]}) ({setting}-"
        table.add(f"{name}M)", *_of_topics(judged, judged.of_all[group], weights), _against(judged, group, weights))
        table.add(f"{name}S)", *_of_draws(judged, judged.of_one[group], study), "-")
    over = counted(len(judged.topics), "topic")
    table.caption += [
        *_of_all(study),
        f"Over systems, each by its mean over the {over} that all of them have; r: Pearson's; rho: Spearman's.",
        f"M: over all oracles. S: over one drawn at random; mean of {DRAWS} draws, with the interval of that mean.",
        "Other intervals: topics resampled. p: paired bootstrap over topics of r(M) - r(S), two-sided.",
        f"{study.resamples:,} bootstrap samples each.",
    ]
    return table


def judged_of(study: HiraoStudy, human: str, systems: Sequence[str]) -> Judged:
    """Return the systems' scores on the topics that all systems have summarized and whose oracles are all known."""
    rows: dict[tuple[str, str, str], Row] = {
        (row["id"], row["system"], row["metric"]): row for row in study.of("system") if human in row["human"]
    }
    problems = grouped(
        ((row["id"], setting, metric), row) for setting, metric in _GROUPS for row in study.of_problems(metric, setting)
    )
    topics = [
        topic
        for topic in study.values_of("topic", "id")
        if all((topic, *group) in problems for group in _GROUPS)
        and all((topic, *each) in rows for each in product(systems, METRICS))
    ]

    def array(value_of: Callable[[Row], float], metric: str) -> Floats:
        values = [[value_of(rows[topic, system, metric]) for system in systems] for topic in topics]
        return np.array(values, np.float64).reshape(len(topics), len(systems))

    def of_draws(topic: str, setting: str, metric: str) -> Floats:
        summaries = [rows[topic, system, metric] for system in systems]
        found = [
            np.array([[_f_measure(oracle, row) for row in summaries] for oracle in map(set, problem["draws"])])
            for problem in problems[topic, setting, metric]
        ]
        # A problem with a single oracle has one draw, which is repeated.
        return np.asarray(np.mean([np.broadcast_to(each, (DRAWS, len(systems))) for each in found], axis=0), np.float64)

    return Judged(
        topics,
        array(lambda row: row["human"][human], "rouge-1"),
        {metric: array(itemgetter("multi"), metric) for metric in METRICS},
        {(setting, metric): array(itemgetter(f"f_{setting}"), metric) for setting, metric in _GROUPS},
        {group: np.array([of_draws(topic, *group) for topic in topics]) for group in _GROUPS},
    )


def _f_measure(oracle: set[int], summary: Row) -> float:
    both, size = len(oracle.intersection(summary["selection"])), len(summary["selection"]) + summary["others"]
    return 2 * both / (len(oracle) + size) if len(oracle) + size else 1.0


def _resampled(count: int, study: HiraoStudy) -> Floats:
    drawn = np.random.default_rng(study.seed).multinomial(count, np.full(count, 1 / count), size=study.resamples)
    return drawn / count


def _of_topics(judged: Judged, values: Floats, weights: Floats) -> list[str]:
    sides = (values.mean(axis=0), judged.human.mean(axis=0)), (weights @ values, weights @ judged.human)
    found = [[_correlation(one, other, rank) for one, other in sides] for rank in (False, True)]
    return [cell for value, samples in found for cell in _with_interval(value, samples)]


def _of_draws(judged: Judged, values: Floats, study: HiraoStudy) -> list[str]:
    cells = []
    for rank in (False, True):
        found = _correlation(values.mean(axis=0), judged.human.mean(axis=0), rank)  # (draws,)
        found = found[~np.isnan(found)]
        cells += _with_interval(found.mean(), _resampled(len(found), study) @ found) if len(found) else 3 * ["-"]
    return cells


def _against(judged: Judged, group: tuple[str, str], weights: Floats) -> str:
    """Return the p-value of the difference between M (all oracles) and S (one), by paired bootstrap over topics."""
    people = weights @ judged.human
    many = _correlation(weights @ judged.of_all[group], people, rank=False)
    means = np.einsum("bt,tds->bds", weights, judged.of_one[group])
    one = _correlation(means, people[:, None, :], rank=False)  # samples x draws
    with np.errstate(invalid="ignore"):
        one = np.nansum(one, axis=1) / (~np.isnan(one)).sum(axis=1)  # NaN if no draw of a sample has a correlation
    apart = (many - one)[~np.isnan(many - one)]
    if not len(apart):
        return "-"
    share = min(1.0, 2 * float(min((apart <= 0).mean(), (apart >= 0).mean())))
    return f"{share:.3f}" if share else f"< {1 / len(apart):.2g}"


def _correlation(values: Floats, human: Floats, rank: bool) -> Any:
    sides = ((ranks(side) if rank else side) for side in (values, human))
    one, other = (side - side.mean(axis=-1, keepdims=True) for side in sides)
    size = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        # A smaller size is a rounding error of numbers that are all equal.
        return np.where(size > 1e-12, (one * other).sum(axis=-1) / size, np.nan)


def _with_interval(value: Any, samples: Floats) -> list[str]:
    kept = samples[~np.isnan(samples)]
    ends = np.quantile(kept, (0.025, 0.975)) if len(kept) else (np.nan, np.nan)
    return [number(None if np.isnan(each) else float(each), 3) for each in (value, *ends)]


def statistics_of_data(study: HiraoStudy) -> Table:
    caption = ["Medians of documents, sentences and words; all references; compression: mean length / words."]
    headings = ["topics", "docs", "sents", "words", "refs", "ref words", "length", "compression"]
    table = study.table("Statistics of the data (Table 1)", [], headings, caption=caption)
    if rows := study.of("topic"):
        rates = [study.max_length / row["words"] for row in rows if row["words"]]
        middle = [median(row[name] for row in rows) for name in ("documents", "sentences", "words")]
        references = sum(row["references"] for row in rows)
        words = median(count for row in rows for count in row["reference_words"])
        cells = [len(rows), *middle, references, words, study.max_length]
        table.add(*(f"{cell:,g}" for cell in cells), f"{fmean(rates):.1%}" if rates else "-")
    return table


def scores(study: HiraoStudy) -> Table:
    table = study.table("ROUGE of oracles, greedy extracts and the best system (Table 2)", [""], ["R1", "R2"])
    oracle, greedy = (partial(_of_problems, study, name) for name in ("oracle", "greedy"))
    peers = {metric: _best_peer(study, metric) for metric in METRICS}

    def means(of: Callable[[str, str], dict[str, float]], setting: str) -> list[str]:
        return [average(of(setting, metric).values()) for metric in METRICS]

    lines = {f"Oracle ({setting})": means(oracle, setting) for setting in SETTINGS}
    lines |= {f"Greedy{name}": means(greedy, setting) for setting, name in _NAMED.items()}
    for setting, name in _NAMED.items():
        line = f"p, oracle against greedy{name}"
        lines[line] = [_paired(oracle(setting, metric), greedy(setting, metric)) for metric in METRICS]
    if (seeds := len(seeds_of(study.seeds))) > 1:
        for setting, name in _NAMED.items():
            lines[f"Greedy{name}, ± seeds"] = [number(_over_seeds(study, setting, metric)) for metric in METRICS]
        table.caption.append(OVER_SEEDS.format(seeds))
    if any(peers.values()):
        for setting, name in _NAMED.items():
            of = {metric: _of_system(study, peers[metric], metric, setting) for metric in METRICS}
            lines[f"Peer{name}"] = [average(each.values()) for each in of.values()]
            lines[f"p, oracle against peer{name}"] = [_paired(oracle(setting, each), of[each]) for each in METRICS]
        lines["ID"] = [peer or "-" for peer in peers.values()]
        table.caption.append(f"Peer: the system of the best mean (multi), with its name; {study.cut}.")
    table.rows = [[name, *cells] for name, cells in lines.items()]
    table.caption.append(CHANCE.format("topics"))
    return table


def _over_seeds(study: HiraoStudy, setting: str, metric: str) -> float | None:
    rows = study.of_problems(metric, setting, every=False)
    pairs = ((seed, (row["id"], value)) for row in rows for seed, value in row["greedy_by_seed"])
    return seeds_deviation([list(map(fmean, grouped(topics).values())) for topics in grouped(pairs).values()])


def systems(study: HiraoStudy) -> Table | None:
    if not (names := study.values_of("system")):
        return None
    groups = ["R1", "R2", "R1 single", "R2 single"]
    headings = ["topics", *groups, *(f"share {name}" for name in groups), *(f"p {name}" for name in groups), "words"]
    longer = sum(row["words"] > study.max_length for row in study.of("system", metric="rouge-1"))
    caption = [
        f"{str(study.cut).capitalize()}; longer than the limit of oracles: {longer}.",
        "share: of the oracle's score, on the same topics; words: before cutting.",
        CHANCE.format("topics"),
    ]
    table = study.table("ROUGE of systems beside oracles (Table 3)", ["system"], headings, caption=caption)
    oracle = partial(_of_problems, study, "oracle")
    for setting in SETTINGS:
        found = [oracle(setting, metric) for metric in METRICS]
        means = [average(each.values()) for each in found]
        cells = [*means, "-", "-"] if setting == "multi" else ["-", "-", *means]
        table.add(f"Oracle ({setting})", str(max(map(len, found))), *cells, *9 * ["-"])
    for name in names:
        of = {group: _of_system(study, name, group[1], group[0]) for group in product(SETTINGS, METRICS)}
        means = [average(each.values()) for each in of.values()]
        shares = [_share(of[group], oracle(*group)) for group in of]
        tests = [_paired(oracle(*group), of[group]) for group in of]
        words = average((row["words"] for row in study.of("system", system=name, metric="rouge-1")), 1)
        table.add(name, str(max(map(len, of.values()))), *means, *shares, *tests, words)
    return table


def ratios(study: HiraoStudy) -> Table:
    title = f"{study.greedy.capitalize()} extracts against oracles (section 6.2.2)"
    rows = []
    for cells, found in _groups(study, every=False):
        near, hits = [row["ratio"] for row in found], sum(row["greedy_optimal"] for row in found)
        rows.append([*cells, average(near), number(min(near)), f"{hits:g}", str(len(found))])
    caption = ["ratio: mean of greedy / oracle; least: the worst; optimal: greedy found an oracle."]
    return study.table(title, _OF, ["ratio", "least", "optimal", "problems"], rows, caption)


def overlaps(study: HiraoStudy) -> Table:
    headings = ["greedy", "among oracles", "with several", "estimated"]
    table = study.table("Jaccard index of greedy extracts and oracles (Table 4)", _OF, headings)
    errors = [0.0]
    for cells, found in _groups(study):
        several = [row for row in found if row.get("jaccard_among_oracles") is not None]
        among = [row["jaccard_among_oracles"] for row in several]
        estimates = [error for row in several if (error := row.get("jaccard_among_oracles_se")) is not None]
        errors.append(sqrt(sum(error**2 for error in estimates)) / max(1, len(among)))
        greedy = average((row["jaccard"] for row in found), 3)
        table.add(*cells, greedy, average(among, 3), str(len(among)), str(len(estimates)))
    table.caption += [
        *_of_all(study),
        "greedy: mean over all oracles of a problem, then over the problems.",
        "among oracles: of two different ones; mean over the problems that have several.",
    ]
    if max(errors):
        table.caption.append(
            f"estimated: of those with several, the ones with too many oracles, from {PAIRS:,} pairs each; the "
            f"resulting standard error of the mean is {max(errors):.1g} at most."
        )
    return table


def numbers(study: HiraoStudy) -> Table:
    headings = ["median", "largest", "several", "problems", "all found"]
    table = study.table("Number of oracles (Table 5)", _OF, headings)
    for cells, found in _groups(study, every=False):
        least = [row["count"] if row["complete"] else row.get("found") or 1 for row in found]
        most = [row["count"] if row["complete"] else inf for row in found]
        known = [row["complete"] or count > 1 for row, count in zip(found, least, strict=True)]
        sizes = [
            _at_least(large(value), value == other)
            for value, other in ((median(least), median(most)), (max(least), max(most)))
        ]
        several = _at_least(average((count > 1 for count in least), 3), all(known))
        table.add(*cells, *sizes, several, str(len(found)), str(sum(row["complete"] for row in found)))
    table.caption.append(
        "several: share of problems with more than one oracle; all found: problems whose oracles are all known."
    )
    if any(not row["complete"] for row in study.of("problem")):
        table.caption.append(">=: of a problem whose oracles were not all found, those that were are counted.")
    return table


def _at_least(text: str, known: bool) -> str:
    return text if known else f">= {text}"


def efficiency(study: HiraoStudy) -> Table:
    paper = study.bound == "knapsack"
    effort = ["done", "seconds"]
    headings = ["naive", *(["paper's bound", *effort] if paper else []), "nodes", *effort, "one oracle"]
    table = study.table("Search effort (Table 7)", _OF, headings)
    for cells, all_ in _groups(study, every=None):
        naive = [row["feasible"] for row in all_ if "feasible" in row]
        line = [large(median(naive)) if naive else "-"]
        for own in ["paper_", ""] if paper else [""]:
            done = [row for row in all_ if row[f"{own}complete"]]
            line += [large(median(row[f"{own}nodes"] for row in done)) if done else "-", f"{len(done)}/{len(all_)}"]
            line.append(average((row[f"{own}seconds"] for row in done), 3))
        table.add(*cells, *line, average((row.get("one_seconds") for row in all_), 3))
    table.caption += [
        "naive: median number of selections within the length, of sentences that share an n-gram; of all problems.",
        "nodes: median; seconds: mean, to enumerate all oracles; done: problems for which that ended in time.",
        f"one oracle: mean seconds to extract one by {study.one}, if it is proven.",
        "paper's bound: Algorithms 1 to 3, sets checked."
        if paper
        else "--bound knapsack adds the paper's own branch and bound.",
    ]
    return table


def large(value: float) -> str:
    return f"{value:,.10g}" if value < 10**6 else f"{float(value):.2e}"


def _of_problems(study: HiraoStudy, name: str, setting: str, metric: str) -> dict[str, float]:
    by_topic = grouped((row["id"], row[name]) for row in study.of_problems(metric, setting, every=False))
    return {topic: fmean(values) for topic, values in by_topic.items()}


def _of_system(study: HiraoStudy, system: str | None, metric: str, setting: str) -> dict[str, float]:
    problems = study.of("problem", metric=metric, references=setting)
    every = grouped((row["id"], row.get("reference")) for row in problems)
    known = grouped((row["id"], row.get("reference")) for row in problems if _is_proven(row))
    found: dict[str, float] = {}
    for row in study.of("system", system=system, metric=metric):
        topic, references = row["id"], known.get(row["id"], [])
        if references and setting == "multi":
            found[topic] = row["multi"]
        elif references and "by_reference" in row:
            found[topic] = fmean(row["by_reference"][number] for number in references)
        elif references and len(references) == len(every[topic]):
            found[topic] = row["single"]  # rows of earlier versions have only the mean over all references
    return found


def _best_peer(study: HiraoStudy, metric: str) -> str | None:
    """Return the system with the best mean (of ties, the first) among the systems with the most topics."""
    found = {name: _of_system(study, name, metric, "multi").values() for name in study.values_of("system")}
    scored = {name: (len(values), fmean(values)) for name, values in found.items() if values}
    return max(scored, key=scored.__getitem__, default=None)


def _share(one: dict[str, float], other: dict[str, float]) -> str:
    both = [name for name in one if name in other]
    whole = sum(other[name] for name in both)
    return f"{sum(one[name] for name in both) / whole:.0%}" if whole else "-"


def _paired(one: dict[str, float], other: dict[str, float]) -> str:
    return str(chance([one[name] - other[name] for name in one if name in other]))


def _is_proven(row: Row) -> bool:
    return bool(row["complete"] or row.get("proven"))


def _of_all(study: HiraoStudy) -> list[str]:
    known = [row["complete"] for row in study.of("problem")]
    return [] if all(known) else [f"n = {sum(known)} of {len(known)}: problems with all oracles found."]


def _groups(study: HiraoStudy, *, every: bool | None = True) -> Iterator[tuple[list[str], list[Row]]]:
    """Yield ([metric, setting], problems) of each group; `every`: as in `HiraoStudy.of_problems`, None for all."""
    for setting, metric in product(SETTINGS, METRICS):
        all_ = study.of("problem", metric=metric, references=setting)
        if found := all_ if every is None else study.of_problems(metric, setting, every=every):
            yield [metric, setting], found


def _rows(topic: Submitted, setups: Setups, cut: Cut, extracts: int) -> list[Row]:
    words, *of_references = [sum(map(word_count, text)) for text in (topic.sentences, *topic.references)]
    size = {"kind": "topic", "documents": len(topic.documents), "sentences": len(topic.sentences), "words": words}
    size |= {"references": len(topic.references), "reference_words": of_references}
    found: list[Searched] = []
    for metric, reference in product(METRICS, (None, *range(len(topic.references)))):
        setting, part = ("multi", topic) if reference is None else ("single", topic.with_references([reference]))
        if reference == 0 and len(topic.references) == 1:  # the same problem as with all references
            row, oracles = found[-1]
        else:
            part = part if reference is None else replace(part, id=f"{topic.id}#{reference}")
            row, oracles = _problem(part, {role: seeded for (of, role), seeded in setups.items() if of == metric})
        about = {"kind": "problem", "metric": metric, "references": setting, "reference": reference}
        found.append(({**about, **row, **about}, oracles))  # `about` comes first, and is not overwritten
    drawn = ((metric, seeded[0]) for (metric, role), seeded in setups.items() if role == "any")
    rows = [size, *(row for row, _ in found), *(_extracts(topic, *each, extracts) for each in drawn)]
    for system, text in summaries_of(topic, rows, LINES, text_of):
        if text is not None:
            rows += _system(topic, system, text, setups, found, cut)
    return rows


def _problem(part: Topic, setups: Mapping[str, Sequence[Setup]]) -> Searched:
    (setup,) = setups["all"]
    oracles = oracles_of(part, setup)
    result = without_interruption(oracles.result)
    greedy = [searched(part, one) for one in setups["greedy"]]
    # Nodes and seconds of the searches (Table 7, section 6.2.4).
    efforts: Row = {"feasible": oracles.feasible(), "nodes": result.nodes, "seconds": result.seconds}
    if "paper" in setups:
        paper = oracles_of(part, setups["paper"][0])
        own = without_interruption(paper.result)
        efforts |= {"paper_nodes": own.nodes, "paper_seconds": own.seconds, "paper_complete": paper.complete}
    if "one" in setups:
        single = searched(part, setups["one"][0])
        efforts["one_seconds"] = single.seconds if single.status is Status.OPTIMAL else None
    proven = result if oracles.complete or result.status is Status.OPTIMAL else searched(part, *setups["optimum"])
    if proven.status is not Status.OPTIMAL or any(one.selection is None for one in greedy):
        return {"complete": False, "proven": False, **efforts}, None
    best, reached = Fraction(proven.objective_exact or 0), [Fraction(one.objective_exact or 0) for one in greedy]
    held: Row = {"proven": True, "oracle": float(best), "greedy": _exact_mean(reached)}
    held |= {
        "ratio": _exact_mean([one / best for one in reached]) if best else 1.0,
        "greedy_optimal": _exact_mean([Fraction(one == best) for one in reached]),
        **efforts,
        "greedy_selection": list(greedy[0].selection or ()),
        "greedy_by_seed": [[one.seed, float(value)] for one, value in zip(greedy, reached, strict=True)],
    }
    if not oracles.complete:
        return {"complete": False, "found": oracles.count if oracles.proven else 1, **held}, None
    among: Fraction | float | None = None
    error = None
    if oracles.count > 1:
        try:
            among = oracles.jaccard(2**22)  # bytes for comparing all pairs (.1 s); time limits would vary by run
        except UnsupportedError:
            estimate = oracles.sampled_jaccard(seed=setup.options.seed)
            among, error = estimate.mean, estimate.standard_error
    held |= {
        "count": oracles.count,
        "jaccard": _exact_mean([oracles.agreement(one.selection or ()).jaccard for one in greedy]),
        "jaccard_among_oracles": None if among is None else float(among),
        "jaccard_among_oracles_se": error,
        "draws": [list(drawn) for drawn in oracles.sample(DRAWS if oracles.count > 1 else 1, setup.options.seed)],
    }
    return {"complete": True, **held}, oracles


def _extracts(topic: Topic, metric: str, setup: Setup, wanted: int) -> Row:
    """Return a row with the frequency of scores among all extracts, or `wanted` random ones (Ceylan et al. 2010)."""
    problem, most = build(topic, setup).problem, setup.spec_for(topic).max_length
    count, drawn = draw_extracts(problem.coverage.lengths.tolist(), most, wanted, setup.options.seed)
    found = Counter(problem.value_of(problem.evaluate(selection).key) for selection in drawn)
    row = {"kind": "extracts", "metric": metric, "count": str(count)}  # a text, as it may have hundreds of digits
    return {**row, "drawn": found.total(), "scores": sorted(found.items())}


def draw_extracts(
    lengths: Sequence[int], max_length: int, wanted: int, seed: int
) -> tuple[int, Iterator[tuple[int, ...]]]:
    """Return the number of non-empty sets within a maximum length, and an iterator of at most `wanted` of them.

    If there are more than `wanted`, they are drawn uniformly at random with replacement. Sets are numbered recursively:
    sets without the first unit come before sets with it. So the sets that fit into each length are counted beforehand.

    >>> count, drawn = draw_extracts([2, 3, 4], 5, 100, 0)
    >>> count, list(drawn)
    (4, [(2,), (1,), (0,), (0, 1)])
    """
    fitting = [[1] * (max_length + 1)]
    for length in reversed(lengths):
        rest = fitting[-1]
        fitting.append([rest[room] + (rest[room - length] if room >= length else 0) for room in range(max_length + 1)])
    fitting.reverse()
    count = fitting[0][max_length] - 1  # the empty set has the number 0

    def numbered(place: int) -> tuple[int, ...]:
        chosen, room = [], max_length
        for unit, length in enumerate(lengths):
            if place >= (without := fitting[unit + 1][room]):
                place -= without
                room -= length
                chosen.append(unit)
        return tuple(chosen)

    if count <= wanted:
        return count, map(numbered, range(1, count + 1))
    dice = random.Random(seed)  # noqa: S311 - no secret
    return count, (numbered(dice.randrange(1, count + 1)) for _ in range(wanted))


def percentile(scores: Sequence[tuple[float, int]], value: float) -> float:
    """Return the share of extracts with a lower score than a value; extracts with the same score count half."""
    below = sum(count for score, count in scores if score < value - _SAME)
    same = sum(count for score, count in scores if abs(score - value) <= _SAME)
    return (below + same / 2) / sum(count for _, count in scores)


_SAME: Final = 1e-9  # Scores that differ by less are equal ratios that were rounded differently.


def percentiles(study: HiraoStudy) -> Table | None:
    if not (extracts := study.of("extracts")):
        return None
    among = {(row["id"], row["metric"]): row["scores"] for row in extracts if row["drawn"]}
    lines = {metric: _recalls(study, metric) for metric in METRICS}
    rows = []
    for name in lines["rouge-1"]:
        places = [
            [percentile(among[topic, metric], value) for topic, value in held[name].items() if (topic, metric) in among]
            for metric, held in lines.items()
        ]
        cells = [f"{100 * fmean(each):.2f}" if each else "-" for each in places]
        rows.append([name, *cells, str(max(map(len, places)))])
    equal = "equal ones counted half; mean over topics"
    caption = [f"Percent of the extracts of all sentences within the length that score lower (multi), {equal}."]
    if drawn := sum(row["drawn"] < int(row["count"]) for row in extracts):
        caption.append(
            f"{drawn} of {len(extracts)} times there are more extracts than --extracts {study.extracts:,}: that many "
            "are drawn at random, each with the same probability."
        )
    title = "Percentile among all extracts (Ceylan et al. 2010)"
    return study.table(title, ["summary"], ["R1", "R2", "topics"], rows, caption)


def _recalls(study: HiraoStudy, metric: str) -> dict[str, dict[str, float]]:
    named = {line: _of_problems(study, role, "multi", metric) for line, role in LINES.items()}
    return named | {name: _of_system(study, name, metric, "multi") for name in study.values_of("system")}


def distribution(study: HiraoStudy, metric: str) -> Figure:
    rows = [row for row in study.of("extracts", metric=metric) if row["drawn"]]
    shares = np.zeros(101)
    for row in rows:
        for score, count in row["scores"]:
            shares[min(100, int(score * 100 + _SAME))] += count / row["drawn"] / len(rows)
    last = min(len(shares), int(shares.nonzero()[0].max(initial=0)) + 2)
    title = f"Scores of all extracts, {metric.upper()} (Ceylan et al. 2010)"
    caption = [
        *study.caption(),
        f"Share of extracts in each hundredth of recall, mean over topics; points: means; {study.cut}.",
    ]
    figure = Figure(f"extracts-{metric}", title, "recall (multi)", "share of extracts", caption=caption)
    figure.add("all extracts", [place / 100 for place in range(last)], shares[:last].tolist())
    for name, values in _recalls(study, metric).items():
        if values:
            figure.add(name, [fmean(values.values())], [0.0], style="points")
    return figure


def _exact_mean(values: Sequence[Fraction]) -> float:
    return float(sum(values, Fraction()) / len(values))


def _system(
    topic: Topic, system: System, text: Sequence[Sentence], setups: Setups, problems: Sequence[Searched], cut: Cut
) -> Iterator[Row]:
    extract = extract_of(topic, cut.system(system, text))
    words, text = sum(map(word_count, text)), cut.text(text)
    for metric in METRICS:
        (setup,) = setups[metric, "all"]
        row: Row = {"kind": "system", "system": system.system, "metric": metric, "human": dict(system.human)}
        row |= {"words": words, "multi": score_of(text, topic.references, setup).recall}
        row["by_reference"] = [score_of(text, (one,), setup).recall for one in topic.references]
        row["single"] = fmean(row["by_reference"])
        if extract is not None:
            row |= {"selection": list(extract.units), "others": extract.others}
            for setting in SETTINGS:
                agreed = [
                    oracles.agreement(extract.names)
                    for found, oracles in problems
                    if oracles is not None and (found["metric"], found["references"]) == (metric, setting)
                ]
                for name, of in (("precision", "precision"), ("recall", "recall"), ("f", "f_measure")):
                    if agreed:
                        row[f"{name}_{setting}"] = _exact_mean([getattr(one, of) for one in agreed])
        yield row
