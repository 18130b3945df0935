"""What each restriction costs: any text of the documents' words, compressions, extracts, heuristics, systems.

Hirao et al. (2017) ask how far extraction can go, and whether compression goes further. Each limit here is one for all
lines below it: an extract is a compression that leaves nothing out, and both are texts made of the documents' words
(`optsum.program.any_text`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from optsum.contracts.result import Result, Status
from optsum.corpus.systems import BadSystem, System, as_system
from optsum.corpus.topic import BadTopic, Topic
from optsum.deadline import Deadline
from optsum.errors import InputError, OptionError, OptsumError
from optsum.metrics.rouge import rouge
from optsum.options.options import Options, resolve
from optsum.registry import STRATEGIES
from optsum.running.one_problem import build, run_task
from optsum.running.setup import Setup, setup_of
from optsum.studies.any_text import any_text_limit
from optsum.studies.report import Study, study_table
from optsum.studies.topics import over_topics, with_references, without_interruption
from optsum.text.lengths import cut_sentences
from optsum.text.tokenizers import Sentence

if TYPE_CHECKING:
    from optsum.report.tables import Table

__all__ = ["GapStudy", "Recall", "study_gap"]

ANY_TEXT: Final = "any text"
COMPRESSIVE: Final = "compressive oracle"
EXTRACTIVE: Final = "extractive oracle"
_LIMITS: Final = (ANY_TEXT, COMPRESSIVE, EXTRACTIVE)


@dataclass(frozen=True, slots=True)
class Recall:
    """What one line has on one topic.

    Attributes
    ----------
    value : float
    bound : float or None
        What it is proven not to pass; equal to `value` for optima, None for what is merely found.
    """

    value: float
    bound: float | None = None


@dataclass
class GapStudy(Study):
    """Recall on every topic, by line and metric.

    Attributes
    ----------
    metrics : tuple of str
    recalls : list of (topic, line -> metric -> Recall)
    max_length : int
    """

    metrics: tuple[str, ...] = ()
    recalls: list[tuple[str, dict[str, dict[str, Recall]]]] = field(default_factory=list)
    max_length: int = 0

    @property
    def lines(self) -> list[str]:
        """Lines of the table: limits first, then in the order in which they were met."""
        met = dict.fromkeys(line for _, of in self.recalls for line in of)
        first = [line for line in _LIMITS if line in met]
        return [*first, *(line for line in met if line not in first)]

    def mean(self, line: str, metric: str) -> float | None:
        """Return the mean recall of a line over the topics that have it; None without one."""
        values = [of[line][metric].value for _, of in self.recalls if metric in of.get(line, {})]
        return fmean(values) if values else None

    def lost(self, line: str, metric: str, against: str) -> float | None:
        """Return by how much recall is below another line's, on average over the topics that have both."""
        both = [
            of[against][metric].value - of[line][metric].value
            for _, of in self.recalls
            if metric in of.get(line, {}) and metric in of.get(against, {})
        ]
        return fmean(both) if both else None

    def tables(self) -> list[Table]:
        """Return the one table."""
        from optsum.report.tables import counted, number
        from optsum.report.tables import share as share_of

        columns = [name for metric in self.metrics for name in (metric, "lost", "of any text")]
        title = f"Recall within {self.max_length} words, and what each restriction costs"
        table = study_table(title, ["text"], ["topics", *columns])
        lines = self.lines
        for place, line in enumerate(lines):
            cells = [number(sum(line in of for _, of in self.recalls), 0)]
            above = next((other for other in reversed(lines[:place]) if other in _LIMITS), "")
            for metric in self.metrics:
                mean, whole = self.mean(line, metric), self.mean(ANY_TEXT, metric)
                lost = self.lost(line, metric, above) if above else None
                share = None if mean is None or not whole else mean / whole
                cells += [number(mean), number(lost), share_of(share)]
            table.rows.append([line, *cells])
        table.caption = [
            f"{counted(len(self.recalls), 'topic')}; n-grams within sentences",
            "lost: against the nearest limit above, on the topics that have both",
            "any text: no text of at most so many of the documents' words has more; proven",
        ]
        unproven = sum(
            found.bound is not None and found.bound > found.value + 1e-12
            for _, of in self.recalls
            for line, by in of.items()
            if line != ANY_TEXT
            for found in by.values()
        )
        if unproven:
            table.caption.append(f"{counted(unproven, 'oracle')} not proven within the limits: best found.")
        return [table]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each topic, line and metric."""
        return [
            {"id": name, "text": line, "metric": metric, "recall": found.value, "bound": found.bound}
            for name, of in self.recalls
            for line, by in of.items()
            for metric, found in by.items()
        ]


def study_gap(
    topics: Iterable[Topic | BadTopic | Mapping[str, Any]],
    systems: Iterable[System | BadSystem | Mapping[str, Any]] = (),
    *,
    max_length: Annotated[int, Field(ge=1, description="words of a summary")] = 100,
    metrics: Annotated[str, Field(description="rouge-1, rouge-2, or both joined by a comma")] = "rouge-1,rouge-2",
    strategies: Annotated[str, Field(description="heuristics, joined by commas")] = "greedy,lead,random",
    vocabulary: Annotated[
        bool, Field(description="any text may repeat words as often as it wants, not only as the documents do")
    ] = False,
    stem: Annotated[bool, Field(description="Porter stemming as ROUGE-1.5.5 -m does")] = False,
    stopwords: Annotated[str, Field(description="keep, drop (SMART list), or a file with one word a line")] = "keep",
    chunk_profile: Annotated[
        Literal["strict", "paper"], Field(description="what compressions can leave out, of topics with parses")
    ] = "strict",
    strategy: Annotated[str, Field(description="how oracles are searched")] = "branch-and-bound",
    time_limit: Annotated[float | None, Field(ge=0, description="seconds of search per oracle")] = None,
    workers: Annotated[int, Field(ge=1, description="processes")] = 1,
) -> GapStudy:
    """Hold extracts, compressions, heuristics and systems against the best that any text could do.

    Parameters
    ----------
    topics : iterable
        Those with a parse of each sentence have compressive oracles.
    systems : iterable
        Summaries of systems: text, or sentences of the topic; longer ones are cut.
    max_length : int
        Words.
    metrics, strategies, vocabulary
    stem, stopwords, chunk_profile, strategy, time_limit, workers
        As for `optsum.solve_all`.

    Returns
    -------
    GapStudy

    Raises
    ------
    OptionError
        For another metric, or an unknown strategy.
    """
    wanted = tuple(dict.fromkeys(name.strip() for name in metrics.split(",")))
    if not wanted or not set(wanted) <= {"rouge-1", "rouge-2"}:
        raise OptionError(f"The limit of any text is one of rouge-1 or rouge-2: give one, or both, not {metrics!r}.")
    heuristics = [name.strip() for name in strategies.split(",") if name.strip()]
    for name in heuristics:
        STRATEGIES.load(name)
    same = {
        "max_length": max_length, "stem": stem, "stopwords": stopwords, "time_limit": time_limit, "workers": workers,
    }  # fmt: skip
    ways: dict[tuple[str, str], Options] = {}
    for metric in wanted:
        ways[EXTRACTIVE, metric] = resolve({**same, "metric": metric, "strategy": strategy})
        ways[COMPRESSIVE, metric] = resolve(
            {
                **same, "metric": metric, "strategy": strategy, "formulation": "compressive",
                "chunk_profile": chunk_profile,
            }
        )  # fmt: skip
        for name in heuristics:
            ways[name, metric] = resolve({**same, "metric": metric, "strategy": name})
    study = GapStudy(metrics=wanted, max_length=max_length)
    submitted: dict[str, list[System]] = defaultdict(list)
    for given in systems:
        system = given if isinstance(given, BadSystem) else _system(given, study)
        if isinstance(system, BadSystem):
            study.failures.append(f"{system.source}: {system.error}")
        elif system is not None:
            submitted[system.topic_id].append(system)
    work = partial(_recalls, ways=ways, submitted=dict(submitted), vocabulary=vocabulary)
    for name, found, problems in over_topics(study, topics, [ways[EXTRACTIVE, wanted[0]]], work):
        study.recalls.append((name, found))
        study.failures += problems
    return study


def _system(given: System | Mapping[str, Any], study: GapStudy) -> System | None:
    try:
        return as_system(given)
    except InputError as error:
        study.failures.append(str(error))
        return None


def _recalls(
    topic: Topic, ways: Mapping[tuple[str, str], Options], submitted: Mapping[str, list[System]], vocabulary: bool
) -> tuple[str, dict[str, dict[str, Recall]], list[str]]:
    """Return the recalls of a topic by line and metric, and what could not be used."""
    with_references(topic)
    found: dict[str, dict[str, Recall]] = {}
    problems: list[str] = []
    for (line, metric), way in ways.items():
        setup = setup_of(way)
        if line == EXTRACTIVE:
            deadline = Deadline(way.time_limit)
            limit = any_text_limit(topic, setup.spec_for(topic), repeat=vocabulary, deadline=deadline)
            found.setdefault(ANY_TEXT, {})[metric] = Recall(float(limit.recall), float(limit.recall))
        if line != COMPRESSIVE or topic.parses is not None:
            found.setdefault(line, {})[metric] = _searched(topic, setup, exact=line in {EXTRACTIVE, COMPRESSIVE})
    for system in submitted.get(topic.id, ()):
        try:
            text = _text(topic, system)
        except OptsumError as error:
            problems.append(str(error))
            continue
        for metric in dict.fromkeys(metric for _, metric in ways):
            found.setdefault(system.system, {})[metric] = _scored(topic, text, ways[EXTRACTIVE, metric])
    return topic.id, found, problems


def _searched(topic: Topic, setup: Setup, *, exact: bool) -> Recall:
    result: Result = without_interruption(run_task(build(topic, setup), setup))
    if result.status in {Status.INFEASIBLE, Status.NO_SOLUTION} or result.objective is None:
        return Recall(0.0, result.bound if exact else None)
    return Recall(result.objective, result.bound if exact else None)


def _scored(topic: Topic, text: list[Sentence], way: Options) -> Recall:
    analyzer = setup_of(way).spec_for(topic).analyzer
    score = rouge(
        cut_sentences(text, way.max_length or 0),
        topic.references,
        way.metric,
        stem=analyzer.stem,
        stopwords=analyzer.stopwords,
        tokenizer=analyzer.tokenizer,
        boundaries="sentence",
    )
    return Recall(float(score.recall))


def _text(topic: Topic, system: System) -> list[Sentence]:
    """Return a system's summary as sentences.

    Raises
    ------
    InputError
        If it selects sentences that the topic does not have.
    """
    if system.summary is not None:
        return list(system.summary)
    chosen = system.selection or ()
    if not all(isinstance(unit, int) and 0 <= unit < len(topic.sentences) for unit in chosen):
        raise InputError(f"The system {system.system!r} selects sentences that topic {topic.id!r} does not have.")
    return [topic.sentences[int(unit)] for unit in chosen]
