"""Compare compressive and extractive oracles (Hirao et al. 2017, Oracle Summaries of Compressive Summarization)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import fmean
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from optsum.contracts.result import Status
from optsum.corpus.alternatives import text_of
from optsum.corpus.topic import Topic
from optsum.options.options import Options, resolve
from optsum.report.figures import Figure
from optsum.report.statistics import mean_of
from optsum.report.tables.table import Cell, Table, counted, number
from optsum.running.one_problem import Setup, build, run_task, unsolved
from optsum.studies.base import (
    CHANCE,
    Cut,
    CutStudy,
    Row,
    Submitted,
    chance,
    score_of,
    summaries_of,
    unproven,
    with_references,
    without_interruption,
)
from optsum.system.clock import Stopped, Termination, clock
from optsum.text.lengths import joined, word_count
from optsum.text.tokenizers import Sentence

VARIANTS: Final[Mapping[str, Mapping[str, str]]] = {
    "R1": {"metric": "rouge-1", "stopwords": "drop"},
    "R2": {"metric": "rouge-2", "stopwords": "keep"},
    "SU0": {"metric": "rouge-su0", "stopwords": "keep"},
}
"""The paper's three variants of ROUGE: unigrams without stop words, bigrams, and both."""

FORMULATIONS: Final = ("extractive", "compressive")


@dataclass(kw_only=True)
class CompressiveStudy(CutStudy):
    """Compare compressive and extractive oracles, optimized for and scored by three variants of ROUGE.

    Topics need a parse of each sentence. Human scores of the oracles, such as readability, are read from the file of
    systems: a line for each topic whose system is the oracle's name in the table ("compressive R1").
    """

    name: ClassVar[str] = "compressive"
    shown_only: ClassVar[frozenset[str]] = frozenset({"show"})

    max_length: Annotated[int, Field(ge=0, description="words of a summary")] = 100
    chunk_profile: Annotated[
        Literal["strict", "paper"],
        Field(description="parts that can be left out: as in the paper, or strict, which keeps subjects and objects"),
    ] = "paper"
    chunk_rules: Annotated[str | None, Field(description="rules that form chunks: ud, clearnlp, or a file")] = None
    stem: Annotated[bool, Field(description="Porter stemming, as in the paper")] = True
    strategy: Annotated[str, Field(description="how oracles are searched")] = "branch-and-bound"
    show: Annotated[int, Field(ge=0, description="number of topics whose summaries are shown side by side")] = 1

    @cached_property
    def _searches(self) -> dict[tuple[str, str], list[Options]]:
        same = {
            "chunk_profile": self.chunk_profile, "chunk_rules": self.chunk_rules, "max_length": self.max_length,
            "stem": self.stem, "strategy": self.strategy, "time_limit": self.time_limit, "workers": self.workers,
        }  # fmt: skip
        return {
            (formulation, variant): [resolve({**VARIANTS[variant], "formulation": formulation, **same})]
            for formulation in FORMULATIONS
            for variant in VARIANTS
        }

    def work(self) -> Callable[[Submitted], list[Row]]:
        """Return the function that makes the rows of a topic: its references, its oracles, its systems."""
        setups = {name: setup for name, (setup,) in self._setups().items()}
        return partial(_rows, setups=setups, cut=self.cut_after(self.max_length))

    @classmethod
    def serves(cls, topic: Topic) -> bool:
        """Return whether a topic has references and parses."""
        return super().serves(topic) and (topic.parses is not None or "conllu" in topic.meta)

    def about(self) -> str:
        """Describe the settings in a few words."""
        stems = "Porter stems" if self.stem else "no stems"
        return f"{self.max_length} words at most, {stems}, chunk profile {self.chunk_profile}, n-grams within sentences"

    def lacking(self) -> list[str]:
        """Return how many oracles are not proven."""
        oracles = self.of("oracle")
        held = [row for row in oracles if row["recall"] is not None]
        nothing = len(oracles) - len(held)
        left = [f"{counted(nothing, 'oracle')} of which nothing was found in time"] if nothing else []
        return [*unproven([row["status"] != Status.OPTIMAL for row in held]), *left]

    def tables(self) -> list[Table]:
        """Return Table 1 with details of the oracles, the gain of compression, Table 2, and summaries side by side."""
        topics = list(dict.fromkeys(row["id"] for row in self.of("oracle")))
        rated = [self.ratings()] if self._rated() else []
        return [self.recall(), self.gains(), *rated, *map(self.summaries, topics[: self.show])]

    def figures(self) -> list[Figure]:
        """Return Table 1 as bars."""
        return [Figure.of_table("table-1", self.recall(), list(VARIANTS), "recall")]

    def values(self, formulation: str, optimized: str, evaluated: str) -> dict[str, float]:
        """Return the recall in one variant of the oracles that are optimal in another, by topic."""
        return {row["id"]: row["recall"][evaluated] for row in self._found(formulation, optimized)}

    def _found(self, formulation: str, optimized: str) -> list[Row]:
        """Return the oracles that are optimal in one variant, without those for which nothing was found in time."""
        rows = self.of("oracle", formulation=formulation, optimized=optimized)
        return [row for row in rows if row["recall"] is not None]

    def mean(self, formulation: str, optimized: str, evaluated: str) -> float | None:
        """Return the mean of `values`; None without a topic."""
        return mean_of(self.values(formulation, optimized, evaluated).values())

    def recall(self) -> Table:
        """Return the mean recall of oracles and systems, and the positions and lengths of sentences (Table 1)."""
        table = self.table(
            "Recall, in all variants of ROUGE, of oracles for one of them, and of systems (Table 1)",
            ["summary", "best in"],
            [*VARIANTS, "topics", "sentences", "compressed", "words", "seconds"],
        )
        for formulation in FORMULATIONS:
            for optimized in VARIANTS:
                if not (found := self._found(formulation, optimized)):
                    continue
                means = {what: fmean(row[what] for row in found) for what in ("sentences", "compressed", "length")}
                cells = [number(self.mean(formulation, optimized, evaluated)) for evaluated in VARIANTS]
                cells += [number(len(found), 0), number(means["sentences"], 2), number(means["compressed"], 2)]
                cells += [number(means["length"], 1), number(fmean(row["seconds"] for row in found), 3)]
                table.add(formulation, optimized, *cells)
        for system in dict.fromkeys(row["system"] for row in self.of("system")):
            if found := [row for row in self.of("system", system=system) if row.get("recall")]:
                cells = [number(fmean(row["recall"][variant] for row in found)) for variant in VARIANTS]
                cells += [number(len(found), 0), number(fmean(row["sentences"] for row in found), 2), number(None)]
                table.add(system, "-", *cells, number(fmean(row["length"] for row in found), 1), "-")
        table.caption.append("sentences: of the summary; compressed: those of them that are not whole.")
        if self.of("system"):
            cut = str(self.cut_after(self.max_length)).capitalize()
            table.caption.append(f"{cut}; their words and sentences are those that count.")
        return table

    def gains(self) -> Table:
        """Return the gain in recall of compressive oracles, in points, with its significance."""
        headings = [*VARIANTS, *(f"p {variant}" for variant in VARIANTS)]
        table = self.table("Gain of compression over extraction, in points", ["best in"], headings)
        for optimized in VARIANTS:
            gains, tests = [], []
            for evaluated in VARIANTS:
                one, other = (self.values(formulation, optimized, evaluated) for formulation in FORMULATIONS)
                apart = [other[topic] - one[topic] for topic in one if topic in other]
                gains.append(Cell(f"{100 * fmean(apart):+.1f}", 100 * fmean(apart)) if apart else Cell("-", None))
                tests.append(chance(apart))
            table.rows.append([optimized, *gains, *tests])
        table.caption.append(CHANCE.format("topics"))
        return table

    def _rated(self) -> list[Row]:
        return [row for row in self.of("system") if row["human"]]

    def ratings(self) -> Table:
        """Return the means of imported human scores, such as readability (Table 2)."""
        names = list(dict.fromkeys(name for row in self._rated() for name in row["human"]))
        table = self.table("Human scores (Table 2)", ["summary"], [*names, "topics"])
        for system in dict.fromkeys(row["system"] for row in self._rated()):
            found = [row["human"] for row in self._rated() if row["system"] == system]
            means = [[human[name] for human in found if name in human] for name in names]
            cells = [number(fmean(values), 2) if values else "-" for values in means]
            table.rows.append([system, *cells, number(len(found), 0)])
        table.caption.append("Imported with --systems; means over topics.")
        return table

    def summaries(self, topic: str) -> Table:
        """Return the references, the oracles and the systems' summaries of one topic."""
        found = [row for row in self.rows if row["id"] == topic]
        table = Table.of(["summary", "best in"], title=f"Summaries of topic {topic} (Figure 2)", long=["text"])
        table.caption = self.caption()
        for row in found:
            if row["kind"] == "references":
                table.rows += [["reference", "", text] for text in row["texts"]]
            elif row["kind"] == "oracle":
                table.rows.append([row["formulation"], row["optimized"], " ".join(row["summary"])])
        return table


def _rows(topic: Submitted, setups: Mapping[tuple[str, str], Setup], cut: Cut) -> list[Row]:
    """Return the references of a topic as texts, its oracles by formulation and variant, and its systems."""
    with_references(topic)
    texts = [text if isinstance(text, str) else " ".join(text) for text in map(joined, topic.references)]
    rows: list[Row] = [{"kind": "references", "texts": texts}]
    rows += [_oracle(topic, name, setup, setups) for name, setup in setups.items()]
    for system, whole in summaries_of(topic, rows, text_of):
        row: Row = {"kind": "system", "system": system.system, "human": dict(system.human)}
        if whole is not None:
            text = cut.text(whole)
            row["recall"] = _evaluated(text, topic, setups)
            row |= {"sentences": len(text), "length": sum(map(word_count, text))}
        rows.append(row)
    return rows


def _evaluated(summary: Sequence[Sentence], topic: Topic, setups: Mapping[tuple[str, str], Setup]) -> dict[str, float]:
    return {
        variant: score_of(summary, topic.references, setups["extractive", variant], VARIANTS[variant]["metric"]).recall
        for variant in VARIANTS
    }


def _oracle(topic: Topic, name: tuple[str, str], setup: Setup, setups: Mapping[tuple[str, str], Setup]) -> Row:
    """Return an oracle with its recall in every variant, computed from its text."""
    began, bare = clock(), None
    try:
        task = build(topic, setup, setup.limits.building())
    except Stopped:
        result = unsolved(topic.id, setup, Termination.TIME_LIMIT, seconds=clock() - began)
    else:
        result = without_interruption(run_task(task, setup, began=began))
        if result.selection is not None:
            chosen = set(result.selection)
            bare = task.decode(tuple(unit for unit, each in enumerate(task.units) if each in chosen))
    whole = set(topic.sentences)
    return {
        "kind": "oracle",
        "formulation": name[0],
        "optimized": name[1],
        "chunk_profile": setup.options.chunk_profile,
        "status": result.status.value,
        "recall": None if bare is None else _evaluated(bare, topic, setups),
        "sentences": len(bare or ()),
        "compressed": sum(text not in whole for text in bare or ()),
        "length": result.length,
        "seconds": result.seconds,
        "selection": result.to_row()["selection"],
        "summary": list(result.summary or ()),
    }
