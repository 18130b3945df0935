"""The tables of `optsum score`."""

from __future__ import annotations

from itertools import product

from optsum.report.system_scores import MEASURES, SystemScores
from optsum.report.tables import Column, TextTable, counted, number

__all__ = ["score_tables"]

_SHORT = {"recall": "R", "precision": "P", "f1": "F1"}


def score_tables(scores: SystemScores) -> list[TextTable]:
    """Return the table of systems, and the table of correlations if there are human scores."""
    tables = [_systems(scores)]
    if scores.agreements:
        tables.append(_agreements(scores))
    return tables


def _systems(scores: SystemScores) -> TextTable:
    rows = scores.rows
    humans = list(dict.fromkeys(name for row in rows for name in row.human))
    points = list(product(scores.metrics, MEASURES))
    headings = ["topics", *(f"{metric} {_SHORT[measure]}" for metric, measure in points), *humans]
    table = TextTable([Column("system"), *(Column(heading, numeric=True) for heading in headings)])
    for row in rows:
        table.rows.append(
            [
                row.system,
                str(row.topics),
                *(number(row.rouge[metric][measure]) for metric, measure in points),
                *(number(row.human.get(name)) for name in humans),
            ]
        )
    table.title = f"{counted(len(rows), 'system')} on {counted(scores.topics, 'topic')}: means over topics"
    if len({row.topics for row in rows}) > 1:
        table.caption.append("Not every system has a summary of every topic, so the means are not of the same topics.")
    return table


def _agreements(scores: SystemScores) -> TextTable:
    headings = ["system r", "system rho", "summary r", "summary rho"]
    table = TextTable(
        [Column("human score"), Column("metric"), Column("measure"), *(Column(name, numeric=True) for name in headings)]
    )
    for found in scores.agreements:
        table.rows.append(
            [
                found.human,
                found.metric,
                found.measure,
                number(found.system_pearson),
                number(found.system_spearman),
                number(found.summary_pearson),
                number(found.summary_spearman),
            ]
        )
    table.title = "Correlation with human scores"
    table.caption = [
        "r is Pearson's, rho is Spearman's.",
        "system: over systems, each by its means over topics.",
        "summary: over the systems of one topic; the mean over the topics where it is defined.",
    ]
    return table
