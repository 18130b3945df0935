"""Tables 3 to 7 of Hirao et al. 2004, of the rows of a study."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from optsum.report.statistics import mean_of
from optsum.report.tables.table import Cell, Table, number
from optsum.studies.base import Row, Study

LEAD: Final = "LEAD"
"""The baseline: as many sentences as the minimum cover has, from the beginnings of the documents."""
BEST: Final = "minimum cover"
"""The minimum cover itself: what the measures give to the best there is."""
CONTENT: Final = "content"
"""The human score of Table 5."""

_CONDITIONS: Final = ("short", "long")
_QUESTION: Final = re.compile(r"q\d\d")


def all_tables(study: Study) -> list[Table]:
    """Return Tables 3 to 7; 3 if there are systems, 5 and 6 if people scored their summaries."""
    scores = study.of("score")
    rated = [content(study)] if any(CONTENT in row["human"] for row in scores) else []
    asked = any(_QUESTION.fullmatch(name) for row in scores for name in row["human"])
    read = [readability(study, condition) for condition in conditions(study)] if asked else []
    joined = [participation(study)] if set(systems(study)) - {LEAD, BEST} else []
    return [*joined, extraction(study), *rated, *read, question_answering(study)]


def conditions(study: Study) -> list[str]:
    """Return the conditions, short before long before others."""
    found = dict.fromkeys(row.get("condition") or "" for row in study.of("score"))
    return sorted(found, key=lambda name: _CONDITIONS.index(name) if name in _CONDITIONS else len(_CONDITIONS))


def systems(study: Study) -> list[str]:
    """Return the systems in the order of the input, the baseline and the minimum cover last."""
    found = dict.fromkeys(row["system"] for row in study.of("score"))
    return sorted(found, key=lambda name: (name in {LEAD, BEST}, name == BEST))


def of(study: Study, system: str, condition: str) -> list[Row]:
    """Return the scores of a system on the topics of a condition."""
    return [row for row in study.of("score") if (row["system"], row.get("condition") or "") == (system, condition)]


def participation(study: Study) -> Table:
    """Return of how many topics each system has a summary, and an extract (Table 3)."""
    table = study.table("Participation (Table 3)", ["ID"], ["abstraction", "extraction"])
    for system in (name for name in systems(study) if name not in {LEAD, BEST}):
        rows = study.of("score", system=system)
        extracts = sum("coverage" in row for row in rows)
        rest = sum("coverage" not in row for row in rows)
        table.rows.append([system, *(Cell(str(count) if count else "-", count) for count in (rest, extracts))])
    table.caption.append("Topics of which a system has an extract (selection), or another summary or score.")
    return table


def extraction(study: Study) -> Table:
    """Return Coverage and Precision by system and condition (Table 4)."""
    table = _table(study, "Extracts (Table 4)", {"Cov.": _get("coverage"), "Prec.": _get("precision")})
    extracts = [row for row in study.of("score") if "coverage" in row]
    if not extracts:
        table.caption = [*study.caption(), "Nothing to show: no topic could be scored."]
        return table
    table.caption.append("Cov.: mean share of an alternative of each abstract sentence. Prec.: m / h.")
    other = sum(row["size"] != row["minimum"] for row in extracts)
    if other:
        table.caption.append(
            f"{other} of {len(extracts)} extracts do not have the h sentences of the minimum cover; their "
            "precision is m / max(h, size)."
        )
    if LEAD not in systems(study):
        table.caption.append(f"{LEAD} is not here: it needs topics with documents.")
    table.caption += _left_out(study, "coverage", "has no extract (selection)")
    return table


def content(study: Study) -> Table:
    """Return the content scores of people, beside Coverage and exact answers (Table 5)."""
    columns = {"content": lambda row: row["human"].get(CONTENT), "Cov.": _get("coverage"), "exact": _get("exact")}
    table = _table(study, "Content scores (Table 5)", columns)
    table.caption.append(f"content: imported, human.{CONTENT} of the systems' file; the others are computed.")
    return table


def readability(study: Study, condition: str) -> Table:
    """Return the counts of the quality questions (Table 6), of one condition."""
    found = {name for row in study.of("score") for name in row["human"] if _QUESTION.fullmatch(name)}
    names = sorted(found)
    about = f", {condition}" if condition else ""
    table = study.table(f"Quality questions (Table 6{about})", ["ID"], names)
    for system in systems(study):
        rows = of(study, system, condition)
        values = [[row["human"][name] for row in rows if name in row["human"]] for name in names]
        if any(values):
            table.rows.append([system, *(number(mean_of(each), 3) for each in values)])
    table.caption.append("Imported, human.q00 to human.q15 of the systems' file; means over topics.")
    return table


def question_answering(study: Study) -> Table:
    """Return exact match and edit distance by system and condition (Table 7)."""
    columns = {"exact": _get("exact"), "edit": _get("edit")}
    table = _table(study, "Pseudo question answering (Table 7)", columns)
    scores = study.of("score")
    if not any("exact" in row for row in scores):
        said = "Nothing to show: no topic has both meta.questions and a summary with text."
        table.caption = [*study.caption(), said]
        return table
    table.caption.append("exact: share of the answers that are in the summary. edit: mean S_ed, clipped to [0, 1].")
    asked, all_ = {row["id"] for row in scores if "exact" in row}, {row["id"] for row in scores}
    if len(asked) < len(all_):
        table.caption.append(f"Only {len(asked)} of {len(all_)} topics have questions and a summary with text.")
    table.caption += _left_out(study, "exact", "has no text for topics with questions")
    return table


_Measure = Callable[[Row], float | None]


def _get(name: str) -> _Measure:
    return lambda row: row.get(name)


def _left_out(study: Study, measure: str, reason: str) -> list[str]:
    """Say which systems a table lacks, and whether means are of different topics."""
    counts = {
        name: sum(row["system"] == name and measure in row for row in study.of("score")) for name in systems(study)
    }
    said = [f"Not in this table: {name}, which {reason}." for name, count in counts.items() if not count]
    if len({count for count in counts.values() if count}) > 1:
        said.append("Not every system is scored on every topic; each mean is over the topics it is scored on.")
    return said


def _table(study: Study, title: str, measures: Mapping[str, _Measure]) -> Table:
    """Return the means of measures by system and condition."""
    found = conditions(study)
    named = {name: name.capitalize() or ("Other" if len(found) > 1 else "") for name in found}
    headings = [f"{named[condition]} {name}".strip() for condition in found for name in measures]
    table = study.table(title, ["ID"], headings)
    for system in systems(study):
        values = [
            mean_of(measure(row) for row in of(study, system, condition))
            for condition in found
            for measure in measures.values()
        ]
        if any(value is not None for value in values):
            table.rows.append([system, *(number(value, 3) for value in values)])
    missing = [name for name in _CONDITIONS if name not in found]
    if found == [""]:
        table.caption.append("No topic has meta.condition (short or long): all are averaged together.")
    elif missing:
        table.caption.append(f"No topic has the condition {' or '.join(missing)}, so there are no such columns.")
    return table
