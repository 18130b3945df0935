"""Compressive beside extractive oracles (Hirao et al. 2017, Oracle Summaries of Compressive Summarization, Table 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from optsum.contracts.result import Result, Status, Termination
from optsum.corpus.topic import BadTopic, Topic
from optsum.options.options import Options, resolve
from optsum.running.each_topic import attempt, each_topic
from optsum.studies.report import Report

if TYPE_CHECKING:
    from optsum.report.tables import TextTable

__all__ = ["FORMULATIONS", "VARIANTS", "CompressiveStudy", "study_compressive"]

VARIANTS: Final[Mapping[str, Mapping[str, str]]] = {
    "R1": {"metric": "rouge-1", "stopwords": "drop"},
    "R2": {"metric": "rouge-2", "stopwords": "keep"},
    "SU0": {"metric": "rouge-su0", "stopwords": "keep"},
}
"""The paper's three variants of ROUGE: unigrams without stop words, bigrams, unigrams and bigrams."""

FORMULATIONS: Final = ("extractive", "compressive")


@dataclass(frozen=True)
class CompressiveStudy(Report):
    """The oracles of every topic.

    Attributes
    ----------
    results : list of dict
        For each topic by formulation and variant: the oracle that is best in that variant. Its ``extra`` holds
        ``evaluated`` (recall in every variant), ``sentences`` and ``compressed`` (of them, how many are not whole).
    references : list of tuple of str
        Of each topic.
    failures : list of str
    show : int
        Of how many topics the summaries are shown side by side.
    """

    results: list[dict[tuple[str, str], Result]] = field(default_factory=list)
    references: list[tuple[str, ...]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    show: int = 0

    @property
    def errors(self) -> list[str]:
        """A sentence for each topic that was left out."""
        return self.failures

    def mean(self, formulation: str, optimized: str, evaluated: str) -> float | None:
        """Return the mean recall in one variant of the oracles that are best in another; None without a topic."""
        values = [of[formulation, optimized].extra["evaluated"][evaluated] for of in self.results]
        return fmean(values) if values else None

    def tables(self) -> list[TextTable]:
        """Return Table 1 with what the oracles consist of, what compression gains, and summaries side by side."""
        return [self.recall(), self.gains(), *map(self.summaries, range(min(self.show, len(self.results))))]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each oracle."""
        return [
            {
                "id": result.id,
                "formulation": formulation,
                "optimized": optimized,
                "status": result.status.value,
                "recall": dict(result.extra["evaluated"]),
                "sentences": result.extra["sentences"],
                "compressed": result.extra["compressed"],
                "length": result.length,
                "seconds": result.seconds,
                "selection": result.to_row()["selection"],
                "summary": list(result.summary or ()),
            }
            for of in self.results
            for (formulation, optimized), result in of.items()
        ]

    def recall(self) -> TextTable:
        """Return the mean recall of the oracles, which sentences they have, and how long they are (Table 1)."""
        from optsum.report.tables import Column, TextTable, counted, number

        headings = (*VARIANTS, "sentences", "compressed", "words", "seconds")
        table = TextTable(
            [Column("oracle"), Column("best in"), *(Column(heading, numeric=True) for heading in headings)],
            title="Recall of oracles that are best in one variant of ROUGE, in all of them (Table 1)",
        )
        for formulation in FORMULATIONS:
            for optimized in VARIANTS if self.results else ():
                found = [of[formulation, optimized] for of in self.results]
                table.rows.append(
                    [
                        formulation,
                        optimized,
                        *(number(self.mean(formulation, optimized, evaluated)) for evaluated in VARIANTS),
                        number(fmean(result.extra["sentences"] for result in found), 2),
                        number(fmean(result.extra["compressed"] for result in found), 2),
                        number(fmean(result.length or 0 for result in found), 1),
                        number(fmean(result.seconds for result in found), 3),
                    ]
                )
        table.caption.append(f"{counted(len(self.results), 'topic')}; n-grams within sentences, as they are searched.")
        table.caption.append("sentences: of the summary; compressed: of them, those that are not whole.")
        unproven = sum(result.status is not Status.OPTIMAL for of in self.results for result in of.values())
        if unproven:
            table.caption.append(f"{counted(unproven, 'oracle')} not proven within the limits: best found.")
        return table

    def gains(self) -> TextTable:
        """Return how much higher the recall of compressive oracles is, in points."""
        from optsum.report.tables import Column, TextTable

        table = TextTable(
            [Column("best in"), *(Column(variant, numeric=True) for variant in VARIANTS)],
            title="What compression gains over extraction, in points",
        )
        for optimized in VARIANTS:
            values = [
                (self.mean("compressive", optimized, evaluated), self.mean("extractive", optimized, evaluated))
                for evaluated in VARIANTS
            ]
            table.rows.append(
                [optimized, *("-" if a is None or b is None else f"{100 * (a - b):+.1f}" for a, b in values)]
            )
        return table

    def summaries(self, topic: int) -> TextTable:
        """Return the references and the oracles of one topic."""
        from optsum.report.tables import Column, TextTable

        found = self.results[topic]
        name = next(iter(found.values())).id
        table = TextTable([Column("summary"), Column("best in"), Column("text", long=True)], title=f"Topic {name}")
        table.rows += [["reference", "", text] for text in self.references[topic]]
        for (formulation, optimized), result in found.items():
            table.rows.append([formulation, optimized, " ".join(result.summary or ())])
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
    with closing(each_topic(topics, list(ways.values()), partial(_solve_part, ways=tuple(ways.values())))) as batches:
        for batch in batches:
            if any(result.termination is Termination.INTERRUPTED for result in batch):
                continue
            failed = [result.error for result in batch if result.error is not None]
            if failed:
                study.failures.append(failed[0])
                continue
            study.results.append(dict(zip(ways, batch, strict=True)))
            study.references.append(tuple(batch[0].extra["references"]))
    return study


def _solve_part(part: Topic, ways: Sequence[Options]) -> list[Result]:
    results: list[Result] = []
    for way in ways:
        results.append(attempt(part, way, lambda way=way: _solve(part, way)))  # type: ignore[misc]
        if results[-1].error is not None or results[-1].termination is Termination.INTERRUPTED:
            break
    return results


def _solve(part: Topic, options: Options) -> Result:
    """Return an oracle with its recall in every variant, computed from its text."""
    from optsum.metrics.rouge import rouge
    from optsum.running.one_problem import build, run_task
    from optsum.text.lengths import joined

    task = build(part, options)
    result = run_task(task, options)
    chosen = set(result.selection or ())
    bare = task.decode(tuple(unit for unit, name in enumerate(task.units) if name in chosen)) or ()
    whole = set(part.sentences)
    evaluated = {
        name: rouge(
            bare,
            part.references,
            variant["metric"],
            stem=options.stem,
            stopwords=variant["stopwords"],
            tokenizer=task.analyzer.tokenizer,
            boundaries="sentence",
            last_unigram=True,
        ).recall
        for name, variant in VARIANTS.items()
    }
    extra = {
        "evaluated": evaluated,
        "sentences": len(bare),
        "compressed": sum(text not in whole for text in bare),
        "references": [text if isinstance(text, str) else " ".join(text) for text in map(joined, part.references)],
    }
    return replace(result, extra={**result.extra, **extra})
