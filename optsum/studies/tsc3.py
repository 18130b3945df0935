"""The evaluation of Text Summarization Challenge 3 (Hirao et al. 2004, Tables 4 and 7) on one's own data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from optsum.contracts.result import Result, Status
from optsum.corpus.alternatives import SentenceId, texts_of
from optsum.corpus.systems import BadSystem, System, as_system
from optsum.corpus.topic import BadTopic, Text, Topic
from optsum.errors import InputError, OptionError, OptsumError
from optsum.options.options import Options, resolve
from optsum.registry import STRATEGIES
from optsum.running.topics import solve
from optsum.studies.report import Study, study_table
from optsum.studies.topics import over_topics, without_interruption
from optsum.studies.tsc3_measures import Answers, ExtractScore, answers, score_extract

if TYPE_CHECKING:
    from optsum.report.tables import Table

LEAD = "LEAD"
"""The baseline: as many sentences as the minimum cover has, from the beginnings of the documents."""
BEST = "minimum cover"
"""The minimum cover itself: what the measures give to the best there is."""
_CONDITIONS = ("short", "long")


@dataclass(frozen=True)
class Tsc3Score:
    """One system on one topic.

    Attributes
    ----------
    topic_id, system : str
    condition : str
        ``meta["condition"]`` of the topic, in lower case; empty if it has none.
    extract : ExtractScore or None
        None for a summary that is no extract.
    answers : Answers or None
        None if the topic has no questions, or the summary's text is not known.
    """

    topic_id: str
    system: str
    condition: str
    extract: ExtractScore | None
    answers: Answers | None

    def to_row(self) -> dict[str, Any]:
        """Return the score as JSON."""
        row: dict[str, Any] = {"id": self.topic_id, "system": self.system, "condition": self.condition or None}
        if (extract := self.extract) is not None:
            row |= {
                "coverage": float(extract.coverage),
                "precision": float(extract.precision),
                "correct": extract.correct,
                "size": extract.size,
                "minimum": extract.minimum,
                "covered": [float(share) for share in extract.covered],
                "uncoverable": list(extract.uncoverable),
            }
        if (found := self.answers) is not None:
            row |= {"exact": float(found.exact), "edit": float(found.edit), "questions": found.questions}
        return row


@dataclass
class Tsc3Study(Study):
    """All scores, and what could not be scored.

    Attributes
    ----------
    scores : list of Tsc3Score
    missing : list of str
        Topics that systems have summaries of, and that were not among those read.
    """

    scores: list[Tsc3Score] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def unmatched(self) -> tuple[str, ...]:
        """A sentence for each topic that is missing."""
        return tuple(f"There is no topic {name!r}, for which systems have summaries." for name in self.missing)

    @property
    def errors(self) -> tuple[str, ...]:
        """A sentence for each topic or summary that was left out."""
        return (*self.failures, *self.unmatched)

    @property
    def conditions(self) -> list[str]:
        """Conditions, short before long before others."""
        found = dict.fromkeys(score.condition for score in self.scores)
        return sorted(found, key=lambda name: _CONDITIONS.index(name) if name in _CONDITIONS else len(_CONDITIONS))

    @property
    def systems(self) -> list[str]:
        """Systems in the order of the input, the baseline and the minimum cover last."""
        found = dict.fromkeys(score.system for score in self.scores)
        return sorted(found, key=lambda name: (name in {LEAD, BEST}, name == BEST))

    def mean(self, system: str, condition: str, measure: str) -> float | None:
        """Return the mean over the topics of a condition that a system has; None if there are none.

        Parameters
        ----------
        measure : str
            "coverage", "precision", "exact" or "edit".
        """
        values: list[Fraction] = [
            getattr(part, measure)
            for score in self.scores
            if (score.system, score.condition) == (system, condition) and (part := _part(score, measure)) is not None
        ]
        return float(sum(values, Fraction(0)) / len(values)) if values else None

    def tables(self) -> list[Table]:
        """Return Tables 4 and 7."""
        return [self.extraction(), self.question_answering()]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return all scores as JSON."""
        return [score.to_row() for score in self.scores]

    def extraction(self) -> Table:
        """Return Coverage and Precision by system and condition (Table 4)."""
        table = self._table("Extracts (Table 4)", [("Cov.", "coverage"), ("Prec.", "precision")])
        extracts = [score.extract for score in self.scores if score.extract is not None]
        if not extracts:
            table.caption = ["Nothing to show: no topic could be scored."]
            return table
        table.caption.append("Cov.: mean share of an alternative of each abstract sentence. Prec.: m / h.")
        other = sum(extract.size != extract.minimum for extract in extracts)
        if other:
            table.caption.append(
                f"{other} of {len(extracts)} extracts do not have the h sentences of the minimum cover; their "
                "precision is m / max(h, size)."
            )
        if any(extract.uncoverable for extract in extracts):
            table.caption.append("Abstract sentences without any alternative are left out of the coverage.")
        if self.scores and LEAD not in self.systems:
            table.caption.append(f"{LEAD} is not here: it needs topics with documents.")
        table.caption += self._left_out("coverage", "has no extract (selection)")
        return table

    def question_answering(self) -> Table:
        """Return exact match and edit distance by system and condition (Table 7)."""
        table = self._table("Pseudo question answering (Table 7)", [("exact", "exact"), ("edit", "edit")])
        if not any(score.answers is not None for score in self.scores):
            table.caption = ["Nothing to show: no topic has both meta.questions and a summary with text."]
            return table
        table.caption.append("exact: share of the answers that are in the summary. edit: mean S_ed, clipped to [0, 1].")
        asked = {score.topic_id for score in self.scores if score.answers is not None}
        all_ = {score.topic_id for score in self.scores}
        if len(asked) < len(all_):
            table.caption.append(f"Only {len(asked)} of {len(all_)} topics have questions and a summary with text.")
        table.caption += self._left_out("exact", "has no text for topics with questions")
        return table

    def _left_out(self, measure: str, reason: str) -> list[str]:
        """Say which systems a table lacks, and whether means are of different topics."""
        counts = {
            name: sum(score.system == name and _part(score, measure) is not None for score in self.scores)
            for name in self.systems
        }
        said = [f"Not in this table: {name}, which {reason}." for name, count in counts.items() if not count]
        if len({count for count in counts.values() if count}) > 1:
            said.append("Not every system is scored on every topic; each mean is over the topics it is scored on.")
        return said

    def _table(self, title: str, measures: Sequence[tuple[str, str]]) -> Table:
        from optsum.report.tables import number

        conditions = self.conditions
        named = {name: name.capitalize() or ("Other" if len(conditions) > 1 else "") for name in conditions}
        headings = [f"{named[condition]} {name}".strip() for condition in conditions for name, _ in measures]
        table = study_table(title, ["ID"], headings)
        for system in self.systems:
            values = [self.mean(system, condition, key) for condition in conditions for _, key in measures]
            if any(value is not None for value in values):
                table.rows.append([system, *(number(value, 3) for value in values)])
        missing = [name for name in _CONDITIONS if name not in conditions]
        if conditions == [""]:
            table.caption.append("No topic has meta.condition (short or long): all are averaged together.")
        elif missing:
            table.caption.append(f"No topic has the condition {' or '.join(missing)}, so there are no such columns.")
        return table


def _part(score: Tsc3Score, measure: str) -> ExtractScore | Answers | None:
    return score.answers if measure in {"exact", "edit"} else score.extract


def study_tsc3(
    topics: Iterable[Topic | BadTopic | Mapping[str, Any]],
    systems: Iterable[System | BadSystem | Mapping[str, Any]] = (),
    *,
    uncoverable: Annotated[
        Literal["error", "skip"],
        Field(description="an abstract sentence without any alternative is an error, or left out"),
    ] = "error",
    strategy: Annotated[str, Field(description="how the minimum covers are found; they must be proven")] = "milp",
    time_limit: Annotated[float | None, Field(ge=0, description="seconds of search per topic")] = None,
    workers: Annotated[int, Field(ge=1, description="processes")] = 1,
) -> Tsc3Study:
    """Score systems as TSC3 did: Precision and Coverage of extracts, question answering on summaries.

    Parameters
    ----------
    topics : iterable
        With covers. The challenge has two abstracts for each document set: give each as a topic, with
        ``meta["condition"]`` "short" or "long". ``meta["questions"]`` is as in `optsum.studies.tsc3_measures.answers`.
    systems : iterable
        Extracts have a ``selection`` (as the cover calls the sentences). Question answering reads ``summary``, or the
        text of the selected sentences where it is known. What a system has for a topic ``t`` serves all of ``t#0``,
        ``t#1``, ... that `optsum.align` made of it.
    uncoverable : str
        "error" or "skip": what is done about abstract sentences without any alternative.
    strategy : str
        How the minimum covers are found: one that proves them.
    time_limit : float, optional
        Seconds for each topic.
    workers : int

    Returns
    -------
    Tsc3Study
        With the baseline `LEAD` for topics that have documents (the first sentences of all documents, then the
        second ones, and so on, up to h sentences: the paper does not say how it was made) and the minimum cover. An
        extract with a sentence that its topic does not have is left out, and said.

    Raises
    ------
    OptionError
        For a value that is impossible, and for a strategy that proves nothing.
    """
    options = resolve(
        {
            "formulation": "cover", "uncoverable": uncoverable, "strategy": strategy, "time_limit": time_limit,
            "workers": workers,
        }
    )  # fmt: skip
    if not STRATEGIES.load(options.strategy).exact:
        able = ", ".join(name for name in STRATEGIES.names() if STRATEGIES.load(name).exact)
        raise OptionError(f"Minimum covers must be proven, which {strategy!r} cannot do: use one of {able}.")
    study = Tsc3Study()
    submitted = _submitted(systems, study.failures)
    used: set[str] = set()

    def noted() -> Iterator[Topic | BadTopic | Mapping[str, Any]]:
        """Yield the topics, and note which they are."""
        for given in topics:
            name = given.get("id") if isinstance(given, Mapping) else given.id
            meta = given.meta if isinstance(given, Topic) else given.get("meta") if isinstance(given, Mapping) else None
            used.add(_submitted_as(str(name or ""), meta, submitted))
            yield given

    for topic, minimum in over_topics(study, noted(), [options], partial(_minimum_cover, options=options)):
        summaries = submitted.get(_submitted_as(topic.id, topic.meta, submitted), {})
        study.scores += _scores(topic, minimum, summaries, options.uncoverable, study.failures)
    study.missing = [name for name in submitted if name not in used]
    return study


def _submitted_as(name: str, meta: object, submitted: Mapping[str, object]) -> str:
    """Return the topic that systems name: what they have for ``t`` serves all of ``t#0``, ``t#1``, ..."""
    if name not in submitted and isinstance(meta, Mapping) and "align" in meta:
        return name.rpartition("#")[0] or name
    return name


def _minimum_cover(topic: Topic, options: Options) -> tuple[Topic, Result]:
    """Return a topic with its minimum cover, which must be proven."""
    answers(topic, ())  # questions that cannot be used are the topic's fault, not that of each system
    result = without_interruption(solve(topic, **options.model_dump(exclude_unset=True)))
    if result.status is not Status.OPTIMAL or result.selection is None:
        raise InputError(
            f"The minimum cover of topic {topic.id!r} was not proven ({result.status.value}), so nothing is measured "
            "against it: give it more time, or an exact strategy."
        )
    return topic, result


def _submitted(
    systems: Iterable[System | BadSystem | Mapping[str, Any]], errors: list[str]
) -> dict[str, dict[str, System]]:
    """Return the summaries by topic and system."""
    submitted: dict[str, dict[str, System]] = {}
    for given in systems:
        if isinstance(given, BadSystem):
            errors.append(f"{given.source}: {given.error}")
            continue
        try:
            system = as_system(given)
        except OptsumError as error:
            errors.append(str(error))
            continue
        if system.system in {LEAD, BEST}:
            errors.append(
                _at(system, f"No system can be called {system.system!r}, as the tables have that: rename it.")
            )
            continue
        if system.system in submitted.setdefault(system.topic_id, {}):
            errors.append(
                f"The system {system.system!r} has two summaries of topic {system.topic_id!r}: the second is left out."
            )
        submitted[system.topic_id].setdefault(system.system, system)
    return submitted


def _at(given: System, error: object) -> str:
    """Return what is wrong, and where it was read."""
    return f"{given.source}: {error}" if given.source else str(error)


def _scores(
    topic: Topic, cover: Result, summaries: Mapping[str, System], uncoverable: str, errors: list[str]
) -> Iterator[Tsc3Score]:
    """Yield the score of each summary of a topic, of the baseline and of the minimum cover."""
    best: Sequence[SentenceId] = cover.selection or ()
    minimum = len(best)
    texts = texts_of(topic)
    condition = str(topic.meta.get("condition") or "").lower()

    def scored(name: str, selection: Sequence[SentenceId] | None, summary: Text | None) -> Tsc3Score:
        if summary is None and selection is not None and texts.keys() >= set(selection):
            summary = tuple(texts[unit] for unit in selection)
        extract = None
        if selection is not None:
            extract = score_extract(topic, selection, minimum, uncoverable=uncoverable)
        return Tsc3Score(topic.id, name, condition, extract, None if summary is None else answers(topic, summary))

    for system in summaries.values():
        try:
            yield scored(system.system, system.selection, system.summary)
        except InputError as error:
            errors.append(_at(system, f"system {system.system!r}: {error}"))
    if topic.documents:
        yield scored(LEAD, lead_extract(topic, minimum), None)
    yield scored(BEST, best, None)


def lead_extract(topic: Topic, size: int) -> tuple[SentenceId, ...]:
    """Return the first sentence of each document in turn, then the second ones, and so on, up to a size."""
    names = iter(texts_of(topic))
    by_document = [[next(names) for _ in document] for document in topic.documents]
    in_turn = chain.from_iterable(zip_longest(*by_document))
    return tuple(name for name in in_turn if name is not None)[:size]
