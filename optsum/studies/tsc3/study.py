"""The evaluation of Text Summarization Challenge 3 (Hirao et al. 2004) on one's own data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, zip_longest
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from optsum.contracts.result import Status
from optsum.corpus.alternatives import SentenceId, texts_of
from optsum.corpus.systems import System
from optsum.corpus.topic import Text, Topic
from optsum.errors import InputError, OptionError
from optsum.options.options import Options, resolve
from optsum.registry import STRATEGIES
from optsum.report.figures.figure import Figure
from optsum.report.tables.table import Table, counted
from optsum.running.setup import Setup
from optsum.studies.base import TIME_LIMIT, Row, Seconds, Study, Workers, searched
from optsum.studies.submitted import Submitted, refused
from optsum.studies.tsc3.measures import answers, score_extract
from optsum.studies.tsc3.tables import BEST, LEAD, all_tables, extraction


@dataclass(kw_only=True)
class Tsc3Study(Study):
    """Score systems as TSC3 did: Precision and Coverage of extracts, question answering on summaries.

    Topics have covers. The challenge has two abstracts for each document set: give each as a topic, with
    ``meta["condition"]`` "short" or "long". ``meta["questions"]`` is as in `optsum.studies.tsc3.measures.answers`.
    Extracts have a ``selection`` (as the cover calls the sentences). Question answering reads ``summary``, or the text
    of the selected sentences where it is known. What people said of a summary is in ``human``: ``content``, and the
    counts ``q00`` to ``q15`` of the quality questions.

    Beside the systems stand the baseline `LEAD`, for topics that have documents (the first sentences of all documents,
    then the second ones, and so on, up to h sentences: the paper does not say how it was made), and the minimum cover.
    An extract with a sentence that its topic does not have is left out, and said.
    """

    name: ClassVar[str] = "tsc3"

    uncoverable: Annotated[
        Literal["error", "skip"],
        Field(description="an abstract sentence without any alternative is an error, or left out"),
    ] = "error"
    strategy: Annotated[str, Field(description="how the minimum covers are found; they must be proven")] = (
        "branch-and-bound"
    )
    time_limit: Seconds = TIME_LIMIT
    workers: Workers = 1

    @cached_property
    def _searches(self) -> dict[str, list[Options]]:
        """How minimum covers are found."""
        options = resolve(
            {
                "formulation": "cover", "uncoverable": self.uncoverable, "strategy": self.strategy,
                "time_limit": self.time_limit, "workers": self.workers,
            }
        )  # fmt: skip
        if not STRATEGIES.load(options.strategy).exact:
            able = ", ".join(name for name in STRATEGIES.names() if STRATEGIES.load(name).exact)
            raise OptionError(
                f"Minimum covers must be proven, which {options.strategy!r} cannot do: use one of {able}."
            )
        return {BEST: [options]}

    def work(self) -> Callable[[Submitted], list[Row]]:
        """Return what makes the rows of a topic: one for each system, the baseline and the minimum cover."""
        return partial(_rows, setup=self._setups()[BEST][0])

    def about(self) -> str:
        """Return the settings in some words."""
        return f"minimum covers by {self.strategy}; Coverage and Precision of sentences, answers in texts"

    def lacking(self) -> list[str]:
        """Return how many abstract sentences have no alternative."""
        without = {row["id"]: len(row["uncoverable"]) for row in self.of("score") if "uncoverable" in row}
        if not (count := sum(without.values())):
            return []
        return [f"{counted(count, 'abstract sentence')} without any alternative"]

    def tables(self) -> list[Table]:
        """Return Tables 3 to 7; 5 and 6 if people scored the summaries."""
        return all_tables(self)

    def figures(self) -> list[Figure]:
        """Return Table 4 as bars."""
        return [Figure.of_table("table-4", extraction(self), (), "")]


def _rows(topic: Submitted, setup: Setup) -> list[Row]:
    answers(topic, ())  # questions that cannot be used are the topic's fault, not that of each system
    result = searched(topic, setup)
    if result.status is not Status.OPTIMAL or result.selection is None:
        raise InputError(
            f"The minimum cover of topic {topic.id!r} was not proven ({result.status.value}), so nothing is measured "
            "against it: give it more time, or an exact strategy."
        )
    best: Sequence[SentenceId] = result.selection
    scored = partial(_score, topic, minimum=len(best), uncoverable=setup.options.uncoverable)
    rows = [row for system in topic.systems for row in _system(system, scored)]
    if topic.documents:
        rows.append(scored(System(topic.id, LEAD, None, lead_extract(topic, len(best)))))
    rows.append(scored(System(topic.id, BEST, None, tuple(best))))
    return rows


def _system(system: System, scored: Callable[[System], Row]) -> Iterator[Row]:
    if system.system in {LEAD, BEST}:
        yield refused(system, f"No system can be called {system.system!r}, as the tables have that: rename it.")
        return
    try:
        yield scored(system)
    except InputError as error:
        yield refused(system, error)


def _score(topic: Topic, system: System, minimum: int, uncoverable: str) -> Row:
    """Return the score of a summary: of an extract, of its answers, and what people said of it."""
    row: Row = {
        "kind": "score",
        "system": system.system,
        "condition": str(topic.meta.get("condition") or "").lower() or None,
        "human": dict(system.human),
    }
    summary: Text | None = system.summary
    if system.selection is not None:
        texts = texts_of(topic)
        if summary is None and texts.keys() >= set(system.selection):
            summary = tuple(texts[unit] for unit in system.selection)
        extract = score_extract(topic, system.selection, minimum, uncoverable=uncoverable)
        row |= {
            "coverage": float(extract.coverage),
            "precision": float(extract.precision),
            "correct": extract.correct,
            "size": extract.size,
            "minimum": extract.minimum,
            "covered": [float(share) for share in extract.covered],
            "uncoverable": list(extract.uncoverable),
        }
    found = None if summary is None else answers(topic, summary)
    if found is not None:
        row |= {"exact": float(found.exact), "edit": float(found.edit), "questions": found.questions}
    return row


def lead_extract(topic: Topic, size: int) -> tuple[SentenceId, ...]:
    """Return the first sentence of each document in turn, then the second ones, and so on, up to a size."""
    names = iter(texts_of(topic))
    by_document = [[next(names) for _ in document] for document in topic.documents]
    in_turn = chain.from_iterable(zip_longest(*by_document))
    return tuple(name for name in in_turn if name is not None)[:size]
