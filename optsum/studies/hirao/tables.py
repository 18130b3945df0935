"""Tables 1 to 5 and 7 of Hirao et al. 2017, of the rows of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from statistics import fmean, median
from typing import Final

from optsum.optima.pairs import PAIRS
from optsum.report.significance import wilcoxon
from optsum.report.statistics import OVER_SEEDS, seeds_deviation
from optsum.report.tables.table import Table, number
from optsum.running.plan import seeds_of
from optsum.studies.base import Row, grouped
from optsum.studies.hirao.options import HiraoOptions

_METRICS: Final = ("rouge-1", "rouge-2")
_TEST: Final = "p: Wilcoxon's signed-rank test over topics, two-sided; - where fewer than six differ."


def all_tables(study: HiraoOptions) -> list[Table]:
    """Return the tables; Table 3 if there are systems."""
    made = [statistics_of_data, scores, systems, ratios, overlaps, numbers, efficiency]
    return [table for make in made if (table := make(study)) is not None]


def statistics_of_data(study: HiraoOptions) -> Table:
    """Return the sizes of the data (Table 1), with the compression rate of section 6.2.1."""
    headings = ["topics", "docs", "sents", "words", "refs", "ref words", "length", "compression"]
    table = study.table("Statistics of the data (Table 1)", [], headings)
    if rows := study.of("topic"):
        rates = [study.max_length / row["words"] for row in rows if row["words"]]
        middle = [median(row[name] for row in rows) for name in ("documents", "sentences", "words")]
        references = sum(row["references"] for row in rows)
        words = median(count for row in rows for count in row["reference_words"])
        cells = [len(rows), *middle, references, words, study.max_length]
        table.rows.append([*(f"{cell:,g}" for cell in cells), f"{fmean(rates):.1%}" if rates else "-"])
    table.caption.append("Medians of documents, sentences and words; all references; compression: mean length / words.")
    return table


def scores(study: HiraoOptions) -> Table:
    """Return mean ROUGE of oracles, greedy extracts and the best system, with its name (Table 2)."""
    table = study.table("ROUGE of oracles, greedy extracts and the best system (Table 2)", [""], ["R1", "R2"])
    oracle, greedy = (_of_problems(study, name) for name in ("oracle", "greedy"))
    peers = {metric: _best_peer(study, metric) for metric in _METRICS}
    lines: dict[str, list[str]] = {
        "Oracle (multi)": [_mean(oracle("multi", metric)) for metric in _METRICS],
        "Oracle (single)": [_mean(oracle("single", metric)) for metric in _METRICS],
        "Greedy": [_mean(greedy("multi", metric)) for metric in _METRICS],
        "Greedy (single)": [_mean(greedy("single", metric)) for metric in _METRICS],
        "p, oracle against greedy": [_paired(oracle("multi", each), greedy("multi", each)) for each in _METRICS],
    }
    if (seeds := len(seeds_of(study.seeds))) > 1:
        lines["Greedy, ± seeds"] = [number(_over_seeds(study, "multi", metric)) for metric in _METRICS]
        lines["Greedy (single), ± seeds"] = [number(_over_seeds(study, "single", metric)) for metric in _METRICS]
        table.caption.append(OVER_SEEDS.format(seeds))
    if any(peers.values()):
        of = {metric: _of_system(study, peers[metric], metric, "multi") for metric in _METRICS}
        lines["Peer"] = [_mean(of[metric]) for metric in _METRICS]
        lines["ID"] = [peers[metric] or "-" for metric in _METRICS]
        lines["p, oracle against peer"] = [_paired(oracle("multi", metric), of[metric]) for metric in _METRICS]
        table.caption.append("Peer: the system of the best mean (multi), and which that is.")
    table.rows = [[name, *cells] for name, cells in lines.items()]
    table.caption.append(_TEST)
    return table


def _over_seeds(study: HiraoOptions, setting: str, metric: str) -> float | None:
    """Return the standard deviation, over seeds, of the mean of greedy extracts."""
    rows = study.of_problems(metric, setting)
    pairs = ((seed, (row["id"], value)) for row in rows for seed, value in row["greedy_by_seed"])
    return seeds_deviation([list(map(fmean, grouped(topics).values())) for topics in grouped(pairs).values()])


def systems(study: HiraoOptions) -> Table | None:
    """Return every system beside the oracles (Table 3); None without systems."""
    names = list(dict.fromkeys(row["system"] for row in study.of("system")))
    if not names:
        return None
    headings = ["topics", "R1", "R2", "R1 single", "R2 single", "share R1", "share R2", "p R1", "p R2", "words"]
    table = study.table("ROUGE of systems beside oracles (Table 3)", ["system"], headings)
    oracle = _of_problems(study, "oracle")
    for setting in ("multi", "single"):
        means = [_mean(oracle(setting, metric)) for metric in _METRICS]
        cells = [*means, "-", "-"] if setting == "multi" else ["-", "-", *means]
        table.rows.append([f"Oracle ({setting})", str(study.topics), *cells, *5 * ["-"]])
    for name in names:
        of = {metric: _of_system(study, name, metric, "multi") for metric in _METRICS}
        single = [_mean(_of_system(study, name, metric, "single")) for metric in _METRICS]
        shares = [_share(of[metric], oracle("multi", metric)) for metric in _METRICS]
        tests = [_paired(oracle("multi", metric), of[metric]) for metric in _METRICS]
        words = [row["words"] for row in study.of("system", system=name, metric="rouge-1")]
        means = [_mean(of[metric]) for metric in _METRICS]
        table.rows.append([name, str(len(words)), *means, *single, *shares, *tests, number(fmean(words), 1)])
    longer = sum(row["words"] > study.max_length for row in study.of("system")) // len(_METRICS)
    if longer:
        table.caption.append(f"Longer than oracles may be, and not cut: {longer} of the summaries.")
    table.caption += ["share: of the oracle's score, multi, on the same topics.", _TEST]
    return table


def ratios(study: HiraoOptions) -> Table:
    """Return how near greedy extracts come to the oracle's score (section 6.2.2)."""
    table = _table(
        study,
        f"{study.greedy.capitalize()} extracts against oracles (section 6.2.2)",
        ["ratio", "least", "optimal", "problems"],
    )
    for cells, found in _groups(study):
        near = [row["ratio"] for row in found]
        hits = sum(row["greedy_optimal"] for row in found)
        table.rows.append([*cells, number(fmean(near)), number(min(near)), f"{hits:g}", str(len(found))])
    table.caption.append("ratio: mean of greedy / oracle; least: the worst; optimal: greedy found an oracle.")
    return table


def overlaps(study: HiraoOptions) -> Table:
    """Return the mean Jaccard index of greedy extracts and oracles (Table 4), and among oracles."""
    headings = ["greedy", "among oracles", "problems", "estimated"]
    table = _table(study, "Jaccard index of greedy extracts and oracles (Table 4)", headings)
    errors = [0.0]
    for cells, found in _groups(study):
        several = [row for row in found if row.get("jaccard_among_oracles") is not None]
        among = [row["jaccard_among_oracles"] for row in several]
        estimates = [error for row in several if (error := row.get("jaccard_among_oracles_se")) is not None]
        errors.append(sqrt(sum(error**2 for error in estimates)) / max(1, len(among)))
        greedy = fmean(row["jaccard"] for row in found)
        mean = number(fmean(among), 3) if among else "-"
        table.rows.append([*cells, number(greedy, 3), mean, str(len(among)), str(len(estimates))])
    table.caption.append("greedy: mean over all oracles of a problem, then over the problems.")
    table.caption.append("among oracles: of two different ones; mean over the problems that have several.")
    if max(errors):
        table.caption.append(
            f"estimated: of them, those with too many oracles, from {PAIRS:,} pairs each; the standard error that "
            f"this gives the mean is {max(errors):.1g} at most."
        )
    return table


def numbers(study: HiraoOptions) -> Table:
    """Return the median number of oracles, and the rate of problems with several (Table 5)."""
    table = _table(study, "Number of oracles (Table 5)", ["median", "largest", "several", "problems"])
    for cells, found in _groups(study):
        counts = [row["count"] for row in found]
        several = fmean(count > 1 for count in counts)
        sizes = [large(median(counts)), large(max(counts))]
        table.rows.append([*cells, *sizes, number(several, 3), str(len(found))])
    table.caption.append("several: rate of problems with more than one oracle.")
    return table


def efficiency(study: HiraoOptions) -> Table:
    """Return the search effort: Table 7, and the seconds of section 6.2.4."""
    paper = study.bound == "knapsack"
    headings = ["naive", *(["paper's bound", "done", "seconds"] if paper else []), "nodes", "seconds", "one oracle"]
    table = _table(study, "Search effort (Table 7)", headings)
    for cells, found in _groups(study):
        line = [large(median(row["feasible"] for row in found))]
        if paper:
            done = [row for row in found if row["paper_complete"]]
            line += [large(median(row["paper_nodes"] for row in done)) if done else "-", f"{len(done)}/{len(found)}"]
            line += [number(fmean(row["paper_seconds"] for row in done), 3) if done else "-"]
        line += [large(median(row["nodes"] for row in found)), number(fmean(row["seconds"] for row in found), 3)]
        single = [row["one_seconds"] for row in found if row.get("one_seconds") is not None]
        table.rows.append([*cells, *line, number(fmean(single), 3) if single else "-"])
    table.caption.append("naive: median number of selections within the length; nodes: median, of the enumeration.")
    table.caption.append(f"seconds: mean, to enumerate all oracles; one oracle: to extract one by {study.one}.")
    if paper:
        table.caption.append("paper's bound: Algorithms 1 to 3, sets checked; done: enumerated within the limits.")
    else:
        table.caption.append("--bound knapsack adds the paper's own branch and bound.")
    return table


def large(value: float) -> str:
    """Return a number of any size in few digits."""
    return f"{value:,.10g}" if value < 10**6 else f"{float(value):.2e}"


def _of_problems(study: HiraoOptions, name: str) -> Callable[[str, str], dict[str, float]]:
    """Return what gives the scores of a setting and a metric by topic: the mean over its references."""

    def found(setting: str, metric: str) -> dict[str, float]:
        by_topic = grouped((row["id"], row[name]) for row in study.of_problems(metric, setting))
        return {topic: fmean(values) for topic, values in by_topic.items()}

    return found


def _of_system(study: HiraoOptions, system: str | None, metric: str, setting: str) -> dict[str, float]:
    return {row["id"]: row[setting] for row in study.of("system", system=system, metric=metric)}


def _best_peer(study: HiraoOptions, metric: str) -> str | None:
    """Return the system of the best mean, the first of equals, of those that have most topics."""
    names = list(dict.fromkeys(row["system"] for row in study.of("system")))
    means = {name: _of_system(study, name, metric, "multi") for name in names}
    most = max(map(len, means.values()), default=0)
    return max(
        (name for name in names if len(means[name]) == most), key=lambda name: fmean(means[name].values()), default=None
    )


def _mean(values: dict[str, float]) -> str:
    return number(fmean(values.values())) if values else "-"


def _share(one: dict[str, float], other: dict[str, float]) -> str:
    both = [name for name in one if name in other]
    whole = sum(other[name] for name in both)
    return f"{sum(one[name] for name in both) / whole:.0%}" if whole else "-"


def _paired(one: dict[str, float], other: dict[str, float]) -> str:
    found = wilcoxon([one[name] - other[name] for name in one if name in other])
    return "-" if found is None else f"{found:.2g}"


def _groups(study: HiraoOptions) -> Iterator[tuple[list[str], list[Row]]]:
    for setting in ("multi", "single"):
        for metric in _METRICS:
            if found := study.of_problems(metric, setting):
                yield [metric, setting], found


def _table(study: HiraoOptions, title: str, headings: Sequence[str]) -> Table:
    return study.table(title, ["metric", "references"], headings)
