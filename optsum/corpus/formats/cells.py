"""From the cells of a table's row to a record: text may be JSON."""

from __future__ import annotations

from typing import Any

from optsum.corpus.formats.lines import decode
from optsum.errors import InputError

__all__ = ["json_cell", "row_record", "topic_record"]

_TEXTS = ("documents", "references", "summary")
_NAMES = {"id", "topic_id", "system"}
_WORDS = {
    *("id", "topic_id", "system", "formulation", "strategy", "backend", "metric", "status", "termination", "detail"),
    *("objective_exact", "bound_exact", "version", "config_hash", "signature", "error", "system", "study", "kind"),
}
"""Columns of rows that hold words, whatever these look like."""


def topic_record(cells: dict[str, Any], number: int, typed: bool) -> dict[str, Any]:
    """Return a topic or a system's summary.

    A text in the columns of texts is JSON if it begins as a list of JSON does, or else one raw text. A row without an
    id, where there is no such column or nothing in it, is called by its number.

    Raises
    ------
    InputError
        For a cell that begins as a list and is no JSON.
    """
    del typed  # a column of text may hold JSON in a typed table too
    found = {name: value if name in _NAMES else json_cell(name, value) for name, value in cells.items()}
    found = {name: value for name, value in found.items() if value is not None and value != ""}
    for name in _TEXTS[:2]:
        if isinstance(found.get(name), str):
            found[name] = [found[name]]
    return found if "topic_id" in found else {"id": str(number), **found}


def row_record(cells: dict[str, Any], number: int, typed: bool) -> dict[str, Any]:
    """Return a row as it was written, without what it says nothing of."""
    del number
    if not typed:
        cells = {name: value if name in _WORDS else _any_json(value) for name, value in cells.items()}
    return {name: value for name, value in cells.items() if value is not None and (typed or value != "")}


def _any_json(text: str) -> Any:
    found = decode(text.encode("utf-8", "replace"), "")
    return text or None if found.error is not None else found.value


def json_cell(name: str, value: Any) -> Any:
    """Return what a cell means; text that begins as a list or an object is JSON."""
    if not isinstance(value, str):
        return value
    begin = "".join(value[:64].split())[:2]
    if begin[:1] not in {"[", "{"}:
        return value
    found = decode(value.encode("utf-8", "replace"), "")
    if found.error is None:
        return found.value
    if begin in {"['", '["', "[[", "[]"} or begin[0] == "{":
        raise InputError(f"the cell {name} begins as a list and is {found.error}; write lists as JSON")
    return value  # a text such as [Laughter]
