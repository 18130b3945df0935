"""Compressive beside extractive oracles (Hirao et al. 2017, Oracle Summaries of Compressive Summarization, Table 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from optsum.contracts.result import Result, Status
from optsum.corpus.topic import BadTopic, Topic
from optsum.metrics.rouge import rouge
from optsum.options.options import Options, resolve
from optsum.running.one_problem import build, run_task
from optsum.running.setup import Setup, setup_of
from optsum.studies.report import Study, study_table
from optsum.studies.topics import over_topics, without_interruption
from optsum.text.lengths import joined

if TYPE_CHECKING:
    from optsum.report.tables import Table

VARIANTS: Final[Mapping[str, Mapping[str, str]]] = {
    "R1": {"metric": "rouge-1", "stopwords": "drop"},
    "R2": {"metric": "rouge-2", "stopwords": "keep"},
    "SU0": {"metric": "rouge-su0", "stopwords": "keep"},
}
"""The paper's three variants of ROUGE: unigrams without stop words, bigrams, unigrams and bigrams."""

FORMULATIONS: Final = ("extractive", "compressive")


@dataclass(frozen=True)
class Oracle:
    """The oracle that is best in one variant.

    Attributes
    ----------
    result : Result
    evaluated : dict of str to float
        Recall in every variant, of the text.
    sentences, compressed : int
        Sentences of the summary, and how many of them are not whole.
    """

    result: Result
    evaluated: Mapping[str, float]
    sentences: int
    compressed: int


@dataclass
class CompressiveStudy(Study):
    """The oracles of every topic.

    Attributes
    ----------
    oracles : list of dict
        For each topic by formulation and variant.
    references : list of tuple of str
        Of each topic.
    show : int
        Of how many topics the summaries are shown side by side.
    """

    oracles: list[dict[tuple[str, str], Oracle]] = field(default_factory=list)
    references: list[tuple[str, ...]] = field(default_factory=list)
    show: int = 0

    def mean(self, formulation: str, optimized: str, evaluated: str) -> float | None:
        """Return the mean recall in one variant of the oracles that are best in another; None without a topic."""
        values = [of[formulation, optimized].evaluated[evaluated] for of in self.oracles]
        return fmean(values) if values else None

    def tables(self) -> list[Table]:
        """Return Table 1 with what the oracles consist of, what compression gains, and summaries side by side."""
        return [self.recall(), self.gains(), *map(self.summaries, range(min(self.show, len(self.oracles))))]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each oracle."""
        return [
            {
                "id": oracle.result.id,
                "formulation": formulation,
                "optimized": optimized,
                "status": oracle.result.status.value,
                "recall": dict(oracle.evaluated),
                "sentences": oracle.sentences,
                "compressed": oracle.compressed,
                "length": oracle.result.length,
                "seconds": oracle.result.seconds,
                "selection": oracle.result.to_row()["selection"],
                "summary": list(oracle.result.summary or ()),
            }
            for of in self.oracles
            for (formulation, optimized), oracle in of.items()
        ]

    def recall(self) -> Table:
        """Return the mean recall of the oracles, which sentences they have, and how long they are (Table 1)."""
        from optsum.report.tables import counted, number

        table = study_table(
            "Recall of oracles that are best in one variant of ROUGE, in all of them (Table 1)",
            ["oracle", "best in"],
            [*VARIANTS, "sentences", "compressed", "words", "seconds"],
        )
        for formulation in FORMULATIONS:
            for optimized in VARIANTS if self.oracles else ():
                found = [of[formulation, optimized] for of in self.oracles]
                table.rows.append(
                    [
                        formulation,
                        optimized,
                        *(number(self.mean(formulation, optimized, evaluated)) for evaluated in VARIANTS),
                        number(fmean(oracle.sentences for oracle in found), 2),
                        number(fmean(oracle.compressed for oracle in found), 2),
                        number(fmean(oracle.result.length or 0 for oracle in found), 1),
                        number(fmean(oracle.result.seconds for oracle in found), 3),
                    ]
                )
        table.caption.append(f"{counted(len(self.oracles), 'topic')}; n-grams within sentences, as they are searched.")
        table.caption.append("sentences: of the summary; compressed: of them, those that are not whole.")
        unproven = sum(oracle.result.status is not Status.OPTIMAL for of in self.oracles for oracle in of.values())
        if unproven:
            table.caption.append(f"{counted(unproven, 'oracle')} not proven within the limits: best found.")
        return table

    def gains(self) -> Table:
        """Return how much higher the recall of compressive oracles is, in points."""
        table = study_table("What compression gains over extraction, in points", ["best in"], list(VARIANTS))
        for optimized in VARIANTS:
            values = [
                (self.mean("compressive", optimized, evaluated), self.mean("extractive", optimized, evaluated))
                for evaluated in VARIANTS
            ]
            table.rows.append(
                [optimized, *("-" if a is None or b is None else f"{100 * (a - b):+.1f}" for a, b in values)]
            )
        return table

    def summaries(self, topic: int) -> Table:
        """Return the references and the oracles of one topic."""
        from optsum.report.tables import Column, Table

        found = self.oracles[topic]
        name = next(iter(found.values())).result.id
        table = Table([Column("summary"), Column("best in"), Column("text", long=True)], title=f"Topic {name}")
        table.rows += [["reference", "", text] for text in self.references[topic]]
        for (formulation, optimized), oracle in found.items():
            table.rows.append([formulation, optimized, " ".join(oracle.result.summary or ())])
        return table


def study_compressive(
    topics: Iterable[Topic | BadTopic | Mapping[str, Any]],
    *,
    max_length: Annotated[int, Field(ge=0, description="words of a summary")] = 100,
    chunk_profile: Annotated[
        Literal["strict", "paper"], Field(description="what can be left out; strict keeps subjects and objects")
    ] = "strict",
    chunk_rules: Annotated[
        str | None, Field(description="rules by which chunks are made: ud, clearnlp, or a file")
    ] = None,
    stem: Annotated[bool, Field(description="Porter stemming, as the paper")] = True,
    strategy: Annotated[str, Field(description="how oracles are searched")] = "milp",
    time_limit: Annotated[float | None, Field(ge=0, description="seconds of search per oracle")] = None,
    show: Annotated[int, Field(ge=0, description="of how many topics summaries are shown side by side")] = 1,
    workers: Annotated[int, Field(ge=1, description="processes")] = 1,
) -> CompressiveStudy:
    """Compare compressive with extractive oracles, best in each of three variants of ROUGE and scored in all of them.

    Parameters
    ----------
    topics : iterable
        With a parse of each sentence.
    max_length : int
        Words.
    chunk_profile, chunk_rules, stem, strategy, time_limit, workers
        As for `optsum.solve_all`.
    show : int

    Returns
    -------
    CompressiveStudy
    """
    ways = {
        (formulation, variant): resolve(
            {
                **VARIANTS[variant], "formulation": formulation, "chunk_profile": chunk_profile,
                "chunk_rules": chunk_rules, "max_length": max_length, "stem": stem, "strategy": strategy,
                "time_limit": time_limit, "workers": workers,
            }
        )
        for formulation in FORMULATIONS
        for variant in VARIANTS
    }  # fmt: skip
    study = CompressiveStudy(show=show)
    for references, oracles in over_topics(study, topics, list(ways.values()), partial(_oracles, ways=ways)):
        study.references.append(references)
        study.oracles.append(oracles)
    return study


def _oracles(
    topic: Topic, ways: Mapping[tuple[str, str], Options]
) -> tuple[tuple[str, ...], dict[tuple[str, str], Oracle]]:
    """Return the references of a topic as texts, and its oracles by formulation and variant."""
    texts = tuple(text if isinstance(text, str) else " ".join(text) for text in map(joined, topic.references))
    return texts, {name: _oracle(topic, setup_of(way)) for name, way in ways.items()}


def _oracle(topic: Topic, way: Setup) -> Oracle:
    """Return an oracle with its recall in every variant, computed from its text."""
    task = build(topic, way)
    result = without_interruption(run_task(task, way))
    chosen = set(result.selection or ())
    bare = task.decode(tuple(unit for unit, name in enumerate(task.units) if name in chosen)) or ()
    whole = set(topic.sentences)
    evaluated = {
        name: rouge(
            bare,
            topic.references,
            variant["metric"],
            stem=way.options.stem,
            stopwords=variant["stopwords"],
            tokenizer=task.analyzer.tokenizer,
            boundaries="sentence",
            last_unigram=True,
        ).recall
        for name, variant in VARIANTS.items()
    }
    return Oracle(result, evaluated, len(bare), sum(text not in whole for text in bare))
