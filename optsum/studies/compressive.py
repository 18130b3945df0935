"""Study of compressive and extractive oracles (Hirao et al. 2017, Oracle Summaries of Compressive Summarization)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from statistics import fmean
from typing import Annotated, ClassVar, Final, Literal

from optsum.contracts.result import Status
from optsum.corpus.topic import Topic
from optsum.corpus.topics import text_of
from optsum.errors import counted
from optsum.options.options import Options
from optsum.report.comparison import CHANCE, average, chance
from optsum.report.figures import Figure
from optsum.report.tables import Table, number, shown
from optsum.running.one_problem import Setup, build, run_task, unsolved
from optsum.studies import (
    Cut,
    CutStudy,
    Row,
    Submitted,
    grouped,
    option,
    score_of,
    summaries_of,
    unproven,
    without_interruption,
)
from optsum.system.clock import Stopped, clock
from optsum.text.analyzer import Sentence, joined, raw_texts, word_count

VARIANTS: Final[Mapping[str, Mapping[str, str]]] = {
    "R1": {"metric": "rouge-1", "stopwords": "drop"},
    "R2": {"metric": "rouge-2", "stopwords": "keep"},
    "SU0": {"metric": "rouge-su0", "stopwords": "keep"},
}
"""The three variants of ROUGE of the paper: unigrams without stop words, bigrams, and unigrams with bigrams."""

FORMULATIONS: Final = ("extractive", "compressive")


@dataclass(kw_only=True)
class CompressiveStudy(CutStudy):
    """Compare compressive with extractive oracles; those for each of three variants of ROUGE are scored by all three.

    Topics need a parse of each sentence. Human scores of the oracles, such as readability, are read from the file of
    systems: a line for each topic whose system has the oracle's name in the table ("compressive R1").
    """

    name: ClassVar[str] = "compressive"
    shown_only: ClassVar[frozenset[str]] = frozenset({"show"})

    max_length: Annotated[int, option("words of a summary", ge=0)] = 100
    chunk_profile: Annotated[
        Literal["strict", "paper"],
        option("parts that can be left out: as in the paper, or strict, which keeps subjects and objects"),
    ] = "paper"
    chunk_rules: Annotated[str | None, option("rules that form chunks: ud, clearnlp, or a file")] = None
    stem: Annotated[bool, option("Porter stemming, as in the paper")] = True
    strategy: Annotated[str, option("how oracles are searched")] = "branch-and-bound"
    show: Annotated[int, option("number of topics whose summaries are shown side by side", ge=0)] = 1

    @cached_property
    def _searches(self) -> dict[tuple[str, str], list[Options]]:
        same = "chunk_profile chunk_rules max_length stem strategy"
        return {
            (formulation, variant): [self._options(same, formulation=formulation, **VARIANTS[variant])]
            for formulation, variant in product(FORMULATIONS, VARIANTS)
        }

    def work(self) -> Callable[[Submitted], list[Row]]:
        return partial(_rows, setups=self._setup_of_each(), cut=self.cut_after(self.max_length))

    @classmethod
    def serves(cls, topic: Topic) -> bool:
        return super().serves(topic) and (topic.parses is not None or "conllu" in topic.meta)

    def about(self) -> str:
        stems = "Porter stems" if self.stem else "no stems"
        return f"{self.max_length} words at most, {stems}, chunk profile {self.chunk_profile}, n-grams within sentences"

    def lacking(self) -> list[str]:
        held = [row for row in self.of("oracle") if row["recall"] is not None]
        nothing = len(self.of("oracle", recall=None))
        left = [f"{counted(nothing, 'oracle')} of which nothing was found in time"] if nothing else []
        return [*unproven([row["status"] != Status.OPTIMAL for row in held]), *left]

    def tables(self) -> list[Table]:
        rated = [self.ratings()] if any(row["human"] for row in self.of("system")) else []
        return [self.recall(), self.gains(), *rated, *map(self.summaries, self.values_of("oracle", "id")[: self.show])]

    def figures(self) -> list[Figure]:
        return [Figure.of_table("table-1", self.recall(), list(VARIANTS), "recall")]

    def values(self, formulation: str, optimized: str, evaluated: str) -> dict[str, float]:
        return {row["id"]: row["recall"][evaluated] for row in self._found(formulation, optimized)}

    def _found(self, formulation: str, optimized: str) -> list[Row]:
        rows = self.of("oracle", formulation=formulation, optimized=optimized)
        return [row for row in rows if row["recall"] is not None]

    def recall(self) -> Table:
        cut = f"{str(self.cut_after(self.max_length)).capitalize()}; their words and sentences are those that count."
        caption = ["sentences: of the summary; compressed: those of them that are not whole."]
        table = self.table(
            "Recall, in all variants of ROUGE, of oracles for one of them, and of systems (Table 1)",
            ["summary", "best in"],
            [*VARIANTS, "topics", "sentences", "compressed", "words", "seconds"],
            caption=[*caption, *([cut] if self.of("system") else [])],
        )
        lines = {each: self._found(*each) for each in product(FORMULATIONS, VARIANTS)}
        for system in self.values_of("system"):
            lines[system, "-"] = [row for row in self.of("system", system=system) if row.get("recall")]
        for names, found in lines.items():
            cells = [average(row["recall"][variant] for row in found) for variant in VARIANTS]
            columns = (("sentences", 2), ("compressed", 2), ("length", 1), ("seconds", 3))
            means = [average((row.get(name) for row in found), digits) for name, digits in columns]
            if found:
                table.add(*names, *cells, number(len(found), 0), *means)
        return table

    def gains(self) -> Table:
        headings = [*VARIANTS, *(f"p {variant}" for variant in VARIANTS)]
        rows = []
        for optimized in VARIANTS:
            apart = []
            for evaluated in VARIANTS:
                one, other = (self.values(formulation, optimized, evaluated) for formulation in FORMULATIONS)
                apart.append([other[topic] - one[topic] for topic in one if topic in other])
            gains = [shown(100 * fmean(each) if each else None, "+.1f") for each in apart]
            rows.append([optimized, *gains, *map(chance, apart)])
        title = "Gain of compression over extraction, in points"
        return self.table(title, ["best in"], headings, rows, [CHANCE.format("topics")])

    def ratings(self) -> Table:
        rated = grouped((row["system"], row["human"]) for row in self.of("system") if row["human"])
        names = list(dict.fromkeys(name for scores in rated.values() for each in scores for name in each))
        rows = [
            [system, *(average((each.get(name) for each in scores), 2) for name in names), number(len(scores), 0)]
            for system, scores in rated.items()
        ]
        caption = ["Imported with --systems; means over topics."]
        return self.table("Human scores (Table 2)", ["summary"], [*names, "topics"], rows, caption)

    def summaries(self, topic: str) -> Table:
        rows = [["reference", "", text] for row in self.of("references", id=topic) for text in row["texts"]]
        oracles = self.of("oracle", id=topic)
        rows += [[row["formulation"], row["optimized"], " ".join(row["summary"])] for row in oracles]
        title = f"Summaries of topic {topic} (Figure 2)"
        return Table.of(["summary", "best in"], title=title, long=["text"], rows=rows, caption=self.caption())


def _rows(topic: Submitted, setups: Mapping[tuple[str, str], Setup], cut: Cut) -> list[Row]:
    texts = raw_texts(map(joined, topic.references))
    rows: list[Row] = [{"kind": "references", "texts": texts}]
    rows += [_oracle(topic, name, setup, setups) for name, setup in setups.items()]
    for system, whole in summaries_of(topic, rows, (), text_of):
        row: Row = {"kind": "system", "system": system.system, "human": dict(system.human)}
        if whole is not None:
            text = cut.text(whole)
            row["recall"] = _evaluated(text, topic, setups)
            row |= {"sentences": len(text), "length": sum(map(word_count, text))}
        rows.append(row)
    return rows


def _evaluated(summary: Sequence[Sentence], topic: Topic, setups: Mapping[tuple[str, str], Setup]) -> dict[str, float]:
    return {each: score_of(summary, topic.references, setups["extractive", each]).recall for each in VARIANTS}


def _oracle(topic: Topic, name: tuple[str, str], setup: Setup, setups: Mapping[tuple[str, str], Setup]) -> Row:
    began, bare = clock(), None
    try:
        task = build(topic, setup, setup.limits.building())
    except Stopped as stop:
        result = without_interruption(unsolved(topic.id, setup, stop, seconds=clock() - began))
    else:
        result = without_interruption(run_task(task, setup, began=began))
        if result.selection is not None:
            bare = task.decode(task.selection_of(result.selection))
    whole = set(topic.sentences)
    row: Row = {"kind": "oracle", "formulation": name[0], "optimized": name[1]}
    row |= {"chunk_profile": setup.options.chunk_profile, "status": result.status.value}
    row |= {"recall": None if bare is None else _evaluated(bare, topic, setups), "sentences": len(bare or ())}
    row |= {"compressed": sum(text not in whole for text in bare or ()), "length": result.length}
    row |= {"seconds": result.seconds, "selection": result.to_row()["selection"]}
    return {**row, "summary": list(result.summary or ())}
