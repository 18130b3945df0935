"""Oracles, all of them, beside greedy extracts and systems (Hirao et al. 2017, Enumeration of Extractive Oracles)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from statistics import fmean
from typing import Any, TypeAlias

from optsum.contracts.result import Result, Status
from optsum.corpus.alternatives import text_of
from optsum.corpus.systems import System, extract_of
from optsum.corpus.topic import Topic
from optsum.errors import UnsupportedError
from optsum.optima.pairs import Estimate
from optsum.options.options import Options, resolve
from optsum.report.figures.figure import Figure
from optsum.report.tables.table import Table
from optsum.running.all_optima.oracle_sets import Oracles
from optsum.running.all_optima.oracles import oracles_of
from optsum.running.plan import each_seed, seeds_of
from optsum.running.setup import Setup
from optsum.studies.base import Row, searched, with_references, without_interruption
from optsum.studies.hirao.correlation import DRAWS, correlations
from optsum.studies.hirao.options import METRICS, SETTINGS, HiraoOptions
from optsum.studies.hirao.tables import all_tables, scores
from optsum.studies.submitted import Submitted, score_of, summaries_of
from optsum.system.clock import clock
from optsum.system.deadline import Deadline
from optsum.text.lengths import word_count
from optsum.text.tokenizers import Sentence


@dataclass(kw_only=True)
class HiraoStudy(HiraoOptions):
    """Hold all oracles of ROUGE-1 and ROUGE-2 recall against greedy extracts, systems and human scores.

    Each topic is searched with all its references together ("multi") and with each of them ("single"), with Porter
    stems, without stop words for ROUGE-1 and with them for ROUGE-2, as in the paper. A problem whose oracles are not
    all found within the limits is left out of the tables, and counted.
    """

    @cached_property
    def _searches(self) -> dict[tuple[str, str], list[Options]]:
        """How each metric is searched: all oracles, with the paper's bound, greedily (with every seed), one oracle."""
        roles: dict[str, dict[str, Any]] = {
            "all": {"strategy": "branch-and-bound"},
            "greedy": {"strategy": self.greedy},
        }
        if self.bound == "knapsack":
            roles["paper"] = {"strategy": "branch-and-bound", "bound": "knapsack"}
        if self.one != "none":
            roles["one"] = {"strategy": self.one}
        longer, seeds = self.exact_time_limit, seeds_of(self.seeds)
        return {
            (metric, role): each_seed(
                resolve(
                    {
                        "preset": preset, "max_length": self.max_length, "seed": self.seed, "workers": self.workers,
                        "time_limit": self.time_limit if longer is None or role == "greedy" else longer, **how,
                    }
                ),
                seeds if role == "greedy" else (),
            )
            for metric, preset in METRICS.items()
            for role, how in roles.items()
        }  # fmt: skip

    def work(self) -> Callable[[Submitted], list[Row]]:
        """Return what makes the rows of a topic: its size, its problems, and its systems."""
        return partial(_rows, setups=self._setups())

    def tables(self) -> list[Table]:
        """Return Tables 1 to 7; 3 and 6 if there are systems, with human scores."""
        return [*all_tables(self), *correlations(self)]

    def figures(self) -> list[Figure]:
        """Return Table 2 as bars."""
        drawn = {"Oracle (multi)", "Oracle (single)", "Greedy", "Greedy (single)", "Peer"}
        return [Figure.of_table("table-2", scores(self), ["R1", "R2"], "ROUGE recall", rows=drawn)]


Setups: TypeAlias = Mapping[tuple[str, str], Sequence[Setup]]
"""How topics are searched, by metric and role."""


def _rows(topic: Submitted, setups: Setups) -> list[Row]:
    with_references(topic)
    rows: list[Row] = [_size(topic)]
    found: list[tuple[Row, Oracles | None]] = []
    for metric in METRICS:
        for setting, reference, part in _parts(topic):
            if setting == "single" and len(topic.references) == 1:  # the same problem as with all references
                row, oracles = found[-1]
                row = {**row, "references": "single", "reference": 0}
            else:
                row, oracles = _problem(part, {role: seeded for (of, role), seeded in setups.items() if of == metric})
                row = {"kind": "problem", "metric": metric, "references": setting, "reference": reference, **row}
            found.append((row, oracles))
    rows += [row for row, _ in found]
    for system, text in summaries_of(topic, rows, text_of):
        if text is not None:
            rows += _system(topic, system, text, setups, found)
    return rows


def _size(topic: Topic) -> Row:
    """Return what Table 1 counts."""
    return {
        "kind": "topic",
        "documents": len(topic.documents),
        "sentences": len(topic.sentences),
        "words": sum(map(word_count, topic.sentences)),
        "references": len(topic.references),
        "reference_words": [sum(map(word_count, reference)) for reference in topic.references],
    }


def _parts(topic: Topic) -> Iterator[tuple[str, int | None, Topic]]:
    yield "multi", None, topic
    for number in range(len(topic.references)):
        yield "single", number, replace(topic.with_references([number]), id=f"{topic.id}#{number}")


def _problem(part: Topic, setups: Mapping[str, Sequence[Setup]]) -> tuple[Row, Oracles | None]:
    """Return a problem with all its oracles; None for them if not all were found."""
    (setup,) = setups["all"]
    deadline = Deadline(setup.limits.time_s)
    oracles = oracles_of(part, setup, began=clock())
    result = without_interruption(oracles.result)
    greedy = [searched(part, one) for one in setups["greedy"]]
    efforts = _efforts(part, setups, result)
    if not oracles.complete or any(one.selection is None for one in greedy):
        return {"complete": False, **efforts}, None
    among: Fraction | Estimate | None = None
    if oracles.count > 1:
        try:
            among = oracles.jaccard(deadline)
        except UnsupportedError:
            among = oracles.sampled_jaccard(seed=setup.options.seed)
    best, reached = Fraction(result.objective_exact or 0), [Fraction(one.objective_exact or 0) for one in greedy]
    return {
        "complete": True,
        "oracle": float(best),
        "greedy": _mean(reached),
        "ratio": _mean([one / best for one in reached]) if best else 1.0,
        "greedy_optimal": _mean([Fraction(one == best) for one in reached]),
        "count": oracles.count,
        "jaccard": _mean([oracles.agreement(one.selection or ()).jaccard for one in greedy]),
        "jaccard_among_oracles": None if among is None else float(among.mean if isinstance(among, Estimate) else among),
        "jaccard_among_oracles_se": among.standard_error if isinstance(among, Estimate) else None,
        "feasible": oracles.feasible(),
        **efforts,
        "greedy_selection": list(greedy[0].selection or ()),
        "greedy_by_seed": [[one.seed, float(value)] for one, value in zip(greedy, reached, strict=True)],
        "draws": [list(drawn) for drawn in oracles.sample(DRAWS if oracles.count > 1 else 1, setup.options.seed)],
    }, oracles


def _mean(values: Sequence[Fraction]) -> float:
    """Return the mean over seeds."""
    return float(sum(values, Fraction()) / len(values))


def _efforts(part: Topic, setups: Mapping[str, Sequence[Setup]], result: Result) -> Row:
    """Return nodes and seconds of all searches (Table 7, section 6.2.4)."""
    row: Row = {"nodes": result.nodes, "seconds": result.seconds}
    if "paper" in setups:
        paper = oracles_of(part, setups["paper"][0], began=clock())
        found = without_interruption(paper.result)
        row |= {"paper_nodes": found.nodes, "paper_seconds": found.seconds, "paper_complete": paper.complete}
    if "one" in setups:
        single = searched(part, setups["one"][0])
        row |= {"one_seconds": single.seconds if single.status is Status.OPTIMAL else None}
    return row


def _system(
    topic: Topic,
    system: System,
    text: Sequence[Sentence],
    setups: Setups,
    problems: Sequence[tuple[Row, Oracles | None]],
) -> Iterator[Row]:
    """Yield the scores of a summary, a row for each metric."""
    extract = extract_of(topic, system)
    for metric in METRICS:
        (setup,) = setups[metric, "all"]
        row: Row = {"kind": "system", "system": system.system, "metric": metric, "human": dict(system.human)}
        row["words"] = sum(map(word_count, text))
        row["multi"] = score_of(text, topic.references, setup, metric).recall
        row["single"] = fmean(score_of(text, (one,), setup, metric).recall for one in topic.references)
        if extract is not None:
            row |= {"selection": list(extract.units), "others": extract.others}
            for setting in SETTINGS:
                agreed = [
                    oracles.agreement(extract.names)
                    for found, oracles in problems
                    if oracles is not None and (found["metric"], found["references"]) == (metric, setting)
                ]
                if agreed:
                    row[f"precision_{setting}"] = float(sum(one.precision for one in agreed) / len(agreed))
                    row[f"recall_{setting}"] = float(sum(one.recall for one in agreed) / len(agreed))
                    row[f"f_{setting}"] = float(sum(one.f_measure for one in agreed) / len(agreed))
        yield row
