"""How well extracts of 100 and 150 words can do, and how well humans agree (Lin & Hovy 2003, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations
from statistics import fmean, median
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from optsum.contracts.result import Status
from optsum.corpus.topic import BadTopic, Topic
from optsum.metrics.rouge import rouge
from optsum.options.options import Options, resolve
from optsum.options.presets import PRESETS
from optsum.running.topics import solve
from optsum.studies.report import Study, study_table
from optsum.studies.topics import over_topics, with_references, without_interruption

if TYPE_CHECKING:
    from optsum.corpus.topic import Text
    from optsum.report.tables import Table

_WINDOWS: Final = {"E100": "lin-hovy-100", "E150": "lin-hovy-150"}
_SETS: Final = {
    "all": (0.0, 2.0),
    "A: MaxH >= .70": (0.7, 2.0),
    "B: .60 - .70": (0.6, 0.7),
    "C: .50 - .60": (0.5, 0.6),
    "below .50": (0.0, 0.5),
}
_ROWS: Final = ("FT", "E150", "E100", "MaxH", "MedH", "AvgH", "MinH", "lead")


@dataclass(frozen=True, slots=True)
class Agreement:
    """One document.

    Attributes
    ----------
    id : str
    sentences : int
    scores : dict of str to float
        Unigram co-occurrence of the full text ("FT"), of the oracle extracts of 150 +- 5 and 100 +- 5 words, of the
        human summaries against one another ("MaxH", "MedH", "AvgH", "MinH"), and of the lead. What does not exist is
        left out.
    extracts : dict of str to int
        How many extracts have the words of a window.
    unproven : tuple of str
        Windows whose best extract was not proven within the limit; they have no score.
    """

    id: str
    sentences: int
    scores: Mapping[str, float]
    extracts: Mapping[str, int]
    unproven: tuple[str, ...] = ()

    def to_row(self) -> dict[str, Any]:
        """Return the document as JSON."""
        return {
            "id": self.id,
            "sentences": self.sentences,
            **{name: self.scores.get(name) for name in _ROWS},
            **{f"extracts_{name}": self.extracts.get(name) for name in _WINDOWS},
        }


@dataclass
class LinHovyStudy(Study):
    """All documents.

    Attributes
    ----------
    documents : list of Agreement
    too_long : int
        Documents with more sentences than the limit, which are left out.
    """

    documents: list[Agreement] = field(default_factory=list)
    too_long: int = 0

    def to_rows(self) -> list[dict[str, Any]]:
        """Return all documents as JSON."""
        return [document.to_row() for document in self.documents]

    def tables(self) -> list[Table]:
        """Return the mean scores by human agreement (Figures 5-8), and the sizes of the search."""
        return [self.scores(), self.sizes()]

    def scores(self) -> Table:
        """Return mean unigram co-occurrence, over all documents and by the agreement of humans."""
        from optsum.report.tables import counted, number

        groups = {
            name: [one for one in self.documents if least <= one.scores.get("MaxH", -1.0) < most]
            for name, (least, most) in _SETS.items()
        }
        groups["all"] = self.documents
        shown = {name: group for name, group in groups.items() if group}
        headings = [f"{name} ({len(group)})" for name, group in shown.items()]
        table = study_table("Unigram co-occurrence (Lin & Hovy 2003, Figures 5-8)", ["summary"], headings)
        for row in _ROWS:
            cells = [[one.scores[row] for one in group if row in one.scores] for group in shown.values()]
            if any(cells):
                table.rows.append([row, *(number(fmean(cell), 3) if cell else "-" for cell in cells)])
        table.caption.append("FT: full text. E150, E100: best extract of 145-155 and 95-105 words, where there is one.")
        table.caption.append("MaxH, MedH, AvgH, MinH: agreement of human summaries; lead: first sentences, 105 words.")
        if self.documents and not any("MaxH" in one.scores for one in self.documents):
            table.caption.append("No document has two human summaries, so there is no agreement to show.")
        for name in _WINDOWS:
            if unproven := sum(name in one.unproven for one in self.documents):
                table.caption.append(f"{name} lacks {counted(unproven, 'document')}: not proven within the time limit.")
        if self.too_long:
            table.caption.append(f"{counted(self.too_long, 'document')} left out: too many sentences.")
        return table

    def sizes(self) -> Table:
        """Return how many extracts have the words of each window."""
        table = study_table("Extracts within each window", ["window"], ("documents", "median", "largest", "all"))
        for name in _WINDOWS:
            if found := [one.extracts[name] for one in self.documents if name in one.extracts]:
                values = (len(found), median(found), max(found), sum(found))
                table.rows.append([name, *(f"{value:,.10g}" for value in values)])
        return table


def study_lin_hovy(
    topics: Iterable[Topic | BadTopic | Mapping[str, Any]],
    *,
    max_sentences: Annotated[int, Field(ge=1, description="longer documents are left out, as in the paper")] = 30,
    strategy: Annotated[str, Field(description="exhaustive, as in the paper, or branch-and-bound")] = "exhaustive",
    time_limit: Annotated[float | None, Field(ge=0, description="seconds of search per window")] = None,
    workers: Annotated[int, Field(ge=1, description="processes")] = 1,
) -> LinHovyStudy:
    """Hold oracle extracts of 100 and 150 words against the full text, humans and the lead.

    Parameters
    ----------
    topics : iterable
        With references. The reference of each is the human summary with which another one agrees best; with a single
        reference that one.
    max_sentences : int
    strategy : str
    time_limit : float, optional
    workers : int

    Returns
    -------
    LinHovyStudy
    """
    study = LinHovyStudy()
    ways = {
        name: resolve({"preset": preset, "strategy": strategy, "time_limit": time_limit, "workers": workers})
        for name, preset in _WINDOWS.items()
    }
    for found in over_topics(study, topics, list(ways.values()), partial(_document, ways=ways, most=max_sentences)):
        if found is None:
            study.too_long += 1
        else:
            study.documents.append(found)
    return study


def _document(topic: Topic, ways: Mapping[str, Options], most: int) -> Agreement | None:
    """Return all scores of a document; None if it has more than so many sentences."""
    with_references(topic)
    if len(topic.sentences) > most:
        return None
    options = PRESETS["lin-hovy-100"].options
    analysis = {name: options[name] for name in ("tokenizer", "stem", "stopwords", "model_units")}

    def score(summary: Text, model: Text) -> float:
        return rouge(summary, [model], "rouge-1", **analysis).recall

    scores, model = _humans(topic.references, score)
    part = replace(topic, references=(model,))
    scores["FT"] = score(topic.sentences, model)
    lead = solve(part, **{**options, "strategy": "lead", "min_length": 0, "max_length": 105})
    if lead.selection is not None:
        scores["lead"] = score(tuple(topic.sentences[unit] for unit in lead.selection), model)
    extracts: dict[str, int] = {}
    unproven: list[str] = []
    for name, way in ways.items():
        best = without_interruption(solve(part, **way.model_dump(exclude_unset=True)))
        if best.status is Status.OPTIMAL and best.objective is not None:
            scores[name] = best.objective
        elif best.status is not Status.INFEASIBLE:
            unproven.append(name)
        if "feasible" in best.extra:
            extracts[name] = best.extra["feasible"]
    return Agreement(topic.id, len(topic.sentences), scores, extracts, tuple(unproven))


def _humans(references: tuple[Text, ...], score: Callable[[Text, Text], float]) -> tuple[dict[str, float], Text]:
    """Return the agreement of every two references, and the one that another agrees with best (the first of equals)."""
    if len(references) == 1:
        return {}, references[0]
    pairs = [(score(summary, model), model) for model, summary in permutations(references, 2)]
    values = [value for value, _ in pairs]
    agreement = {"MaxH": max(values), "MedH": median(values), "AvgH": fmean(values), "MinH": min(values)}
    return agreement, pairs[values.index(max(values))][1]
