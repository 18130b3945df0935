"""The study of oracle extracts of 100 and 150 words and of human agreement (Lin & Hovy 2003, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, permutations, zip_longest
from statistics import fmean, median
from typing import Annotated, Any, ClassVar, Final, Literal

import numpy as np

from optsum.contracts.result import Status
from optsum.errors import counted
from optsum.options.options import Options
from optsum.report.comparison import CHANCE, average, chance, mean_of
from optsum.report.figures import Figure
from optsum.report.tables import Cell, Table, number, shown
from optsum.running.one_problem import Setup
from optsum.studies import Cut, CutStudy, Row, Submitted, option, score_of, searched, summaries_of
from optsum.text.analyzer import word_count

_SCORE: Final = "unigram co-occurrence"
_HUMANS: Final = ("MaxH", "AvgH", "MedH", "MinH")


def linear_trend(values: Sequence[float | None]) -> list[float]:
    places = [place for place, value in enumerate(values) if value is not None]
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return []
    slope, start = np.polyfit(places, known, 1)
    return [float(start + slope * place) for place in range(len(values))]


def _curve(figure: Figure, documents: Sequence[Row], name: str, style: str) -> list[float | None]:
    """Add the scores of a method to a figure, if it has any, and return them by document."""
    values = [one.get(name) for one in documents]
    if any(value is not None for value in values):
        figure.add(name, list(range(1, len(values) + 1)), values, style=style)
    return values


def _by_compression(documents: Sequence[Row], systems: Sequence[str], caption: list[str]) -> Figure:
    """Return Figure 9 of the paper: scores by compression ratio, the share of words that a human summary leaves out."""
    usable = [one for one in documents if one["words"]]
    usable.sort(key=lambda one: 1 - one["reference_words"][0] / one["words"])
    label = "documents by increasing compression ratio of the first human summary"
    figure = Figure("figure-9", "Compression ratio", label, "score or ratio", caption=caption)
    places = list(range(1, len(usable) + 1))
    ratios = ([1 - words / one["words"] for words in one["reference_words"]] for one in usable)
    for human, of_human in enumerate(zip_longest(*ratios), start=1):
        figure.add(f"CMPR H{human}", places, of_human, style="points")
    for name in ("B1", *systems, "MaxH", "FT"):
        line = linear_trend(_curve(figure, usable, name, "points"))
        if line and name != "FT":
            figure.add(f"Linear {name}", places, line)
    return figure


WINDOWS: Final = {"E100": "lin-hovy-100", "E150": "lin-hovy-150"}  # Oracle extracts, with their presets.
LONGEST: Final = 105  # The most words of the shorter extracts, and by default of systems' summaries.
LEAD: Final = "B1"  # The paper's name of the lead baseline: the first sentences, of at most 100 words.
ROWS: Final = ("FT", "E150", "E100", "MaxH", "MedH", "AvgH", "MinH", LEAD)
SETS: Final = {
    "all": (-1.0, 2.0),
    "A: MaxH >= .70": (0.7, 2.0),
    "B: .60 - .70": (0.6, 0.7),
    "C: .50 - .60": (0.5, 0.6),
    "below .50": (0.0, 0.5),
}
DIFFERENCES: Final = (("MaxH", "AvgH"), ("MaxH", "MinH"), ("FT", "E150"), ("E150", "E100"), ("E100", "MaxH"))
"""Pairs of methods whose difference section 5 discusses, besides those with systems."""


@dataclass(kw_only=True)
class LinHovyStudy(CutStudy):
    """Compare oracle extracts of 100 and 150 words with the full text, people, the lead and systems.

    The reference of a document is its only human summary, or one of the two that agree best (`reference`). As in the
    paper, documents of more than 30 sentences have no oracle extract, but all other scores.
    """

    name: ClassVar[str] = "lin-hovy"

    max_sentences: Annotated[int, option("longer documents have no oracle extract, as in the paper", ge=1)] = 30
    model_units: Annotated[
        Literal["sentences", "whole"],
        option("units of a reference that are clipped separately: its sentences or clauses, or the whole"),
    ] = "sentences"
    reference: Annotated[
        Literal["model", "summary"],
        option("which of the two that agree best is used: the model, or the scored summary"),
    ] = "model"
    strategy: Annotated[str, option("exhaustive, as in the paper, or branch-and-bound")] = "exhaustive"

    @cached_property
    def _searches(self) -> dict[str, list[Options]]:
        # Each document is searched with its one reference, so the preset's choice of a reference is overridden.
        common = partial(self._options, "model_units", references="pooled")
        lead = common(preset="lin-hovy-100", strategy="lead", min_length=0, max_length=100)
        windows = {name: [common(preset=preset, strategy=self.strategy)] for name, preset in WINDOWS.items()}
        return {**windows, LEAD: [lead]}

    def work(self) -> Callable[[Submitted], list[Row]]:
        cut, most = self.cut_after(LONGEST), self.max_sentences
        return partial(_rows, setups=self._setup_of_each(), most=most, cut=cut, reference=self.reference)

    def tables(self) -> list[Table]:
        return [self.scores(), self.differences(), self.sizes()]

    def figures(self) -> list[Figure]:
        systems, caption = self.systems, self.caption()
        documents = [one for one in self.documents() if one.get("MaxH") is not None]
        documents.sort(key=lambda one: -one["MaxH"])
        short = [one for one in documents if not one["too_long"]]
        all_ = f"People, systems and extracts (at most {self.max_sentences} sentences)"
        drawn = [
            ("Agreement of people", documents, _HUMANS),
            (all_, short, ["FT", "E150", "E100", "MaxH", *systems, LEAD]),
        ]
        for name, (least, most) in list(SETS.items())[1:4]:
            within = [one for one in documents if least <= one["MaxH"] < most]
            drawn.append((f"Set {name[0]}", within, ["FT", *_HUMANS, *systems, LEAD]))
        made = [Figure.of_table("means", self.scores(), (), _SCORE)]
        for place, (title, rows, names) in enumerate(drawn, start=4):
            made.append(Figure(f"figure-{place}", title, "documents by decreasing MaxH", _SCORE, caption=caption))
            for name in names:
                _curve(made[-1], rows, name, "line")
        made.append(_by_compression(documents, systems, caption))
        return [made[0], *(figure for figure in made[1:] if figure.series)]

    def about(self) -> str:
        units = "each sentence of the reference separately" if self.model_units == "sentences" else "whole references"
        best = "with the best agreement with another" if self.reference == "model" else "that agrees best with another"
        return f"unigrams, stop words kept, no stems, {units}, the reference {best}"

    def lacking(self) -> list[str]:
        documents = self.of("document")
        long = sum(one["too_long"] for one in documents)
        unproven = {name: sum(name in one["unproven"] for one in documents) for name in WINDOWS}
        lack = f"E150, E100 of {counted(long, 'document')} of more than {self.max_sentences} sentences"
        left = [lack] if long else []
        if alone := sum(one["MaxH"] is None for one in documents):
            left.append(f"agreement, and with it the figures, of {counted(alone, 'document')} with one human summary")
        return left + [
            f"{name} of {counted(count, 'document')}, not proven in time" for name, count in unproven.items() if count
        ]

    @property
    def systems(self) -> list[str]:
        return [f"T: {name}" for name in self.values_of("system")]

    def documents(self) -> list[Row]:
        found = {row["id"]: dict(row) for row in self.of("document")}
        for row in self.of("system"):
            found[row["id"]][f"T: {row['system']}"] = row["score"]
        return list(found.values())

    def groups(self) -> dict[str, list[Row]]:
        """Return the documents of each set in `SETS`; "NAME, common": those for which every method has a score."""
        documents = self.documents()
        agreed_on = [one for one in documents if one.get("MaxH") is not None]
        sets = {name: [one for one in agreed_on if least <= one["MaxH"] < most] for name, (least, most) in SETS.items()}
        sets["all"] = documents
        methods = self.methods()
        found: dict[str, list[Row]] = {}
        for name, group in sets.items():
            common = [one for one in group if all(one.get(method) is not None for method in methods)]
            found |= {name: group, f"{name}, common": common} if group else {}
        return found

    def methods(self) -> list[str]:
        documents = self.documents()
        return [name for name in (*ROWS, *self.systems) if any(one.get(name) is not None for one in documents)]

    def scores(self) -> Table:
        groups = self.groups()
        headings = [f"{name} ({len(group)})" for name, group in groups.items()]

        def mean(method: str, group: Sequence[Row]) -> str:
            values = [one[method] for one in group if one.get(method) is not None]
            found = average(values, 3)
            return found if len(values) in {0, len(group)} else Cell(f"{found} ({len(values)})", found.value)

        lengths = [words for one in self.of("document") for words in one["reference_words"]]
        longer = sum(words > LONGEST for words in lengths)
        are = "is" if longer == 1 else "are"
        caption = [
            "common: documents for which all summaries have a score, so that means are comparable.",
            "FT: full text. E150, E100: best extract of 145-155 and 95-105 words, if there is one.",
            f"MaxH, MedH, AvgH, MinH: agreement of people; {LEAD}: first sentences, 100 words at most.",
            f"Human summaries are not cut: {longer} of {len(lengths)} {are} longer than the limit of E100.",
            *([f"T: {self.cut_after(LONGEST)}."] if self.systems else []),
            "(n): the mean is of n documents of the set.",
        ]
        rows = [[method, *(mean(method, group) for group in groups.values())] for method in self.methods()]
        return self.table("Unigram co-occurrence (Figures 5-8, means)", ["summary"], headings, rows, caption)

    def differences(self) -> Table:
        groups = {name: group for name, group in self.groups().items() if not name.endswith(", common")}
        headings = [heading for name in groups for heading in (name, "n", "p")]
        caption = ["n: documents with both; each set on its own documents.", CHANCE.format("documents")]
        table = self.table("Differences of unigram co-occurrence (section 5)", ["difference"], headings, (), caption)
        of_systems = [[("MaxH", name), ("E100", name), (name, LEAD)] for name in self.systems]
        for one, other in chain(DIFFERENCES, *of_systems):
            cells: list[str] = []
            for group in groups.values():
                apart = [row[one] - row[other] for row in group if None not in (row.get(one), row.get(other))]
                cells += [shown(mean_of(apart), "+.3f"), number(len(apart), 0), chance(apart)]
            table.add(f"{one} - {other}", *cells)
        return table

    def sizes(self) -> Table:
        table = self.table("Extracts within each window", ["window"], ["documents", "median", "largest", "all"])
        for name in WINDOWS:
            field = f"extracts_{name}"
            if found := [one[field] for one in self.of("document") if one.get(field) is not None]:
                values = (len(found), median(found), max(found), sum(found))
                table.add(name, *(shown(value, ",.10g") for value in values))
        return table


def _rows(topic: Submitted, setups: Mapping[str, Setup], most: int, cut: Cut, reference: str) -> list[Row]:
    setup = setups["E100"]

    def score(summary: Sequence[Any], model: Sequence[Any]) -> float:
        return score_of(summary, (tuple(model),), setup).recall

    pairs = list(permutations(range(len(topic.references)), 2))  # (model, summary that is scored against it)
    scores = [score(topic.references[other], topic.references[one]) for one, other in pairs]
    agreeing = pairs[scores.index(max(scores))][reference != "model"] if pairs else 0
    model = topic.references[agreeing]
    words, *others = [sum(map(word_count, each)) for each in (topic.sentences, *topic.references)]
    row: Row = {"kind": "document", "sentences": len(topic.sentences), "words": words, "reference": agreeing}
    row |= {"reference_words": others, **dict.fromkeys(ROWS)}
    if scores:
        row |= {"MaxH": max(scores), "MedH": median(scores), "AvgH": fmean(scores), "MinH": min(scores)}
    row |= {"FT": score(topic.sentences, model), "too_long": len(topic.sentences) > most, "unproven": []}
    part = topic.with_references([agreeing])
    lead = searched(part, setups[LEAD])
    if lead.selection is not None:
        row |= {LEAD: score([topic.sentences[unit] for unit in lead.selection], model), "words_B1": lead.length}
    for name in WINDOWS if not row["too_long"] else ():
        best = searched(part, setups[name])
        if best.status is Status.OPTIMAL and best.objective is not None:
            row |= {name: best.objective, f"selection_{name}": list(best.selection or ())}
            row |= {f"summary_{name}": list(best.summary or ()), f"words_{name}": best.length}
        elif best.status is not Status.INFEASIBLE:
            row["unproven"].append(name)
        if best.feasible is not None:
            row[f"extracts_{name}"] = best.feasible
    row["reference_text"] = list(model)
    rows = [row]
    for system, text in summaries_of(topic, rows):
        words = sum(map(word_count, text))
        rows.append({"kind": "system", "system": system.system, "score": score(cut.text(text), model), "words": words})
    return rows
