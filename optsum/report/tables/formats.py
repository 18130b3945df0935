"""A table in the languages that other programs read: Markdown, CSV, LaTeX, HTML, data frames."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from io import StringIO
from logging import getLogger
from typing import Any, Final, Literal, Protocol, TypeAlias, cast, get_args

from optsum.corpus.formats.tables import is_run
from optsum.errors import OptsumError, unknown_name, visible

TableFormat: TypeAlias = Literal["text", "markdown", "csv", "latex"]  # What ``--format`` takes.


@dataclass(frozen=True)
class Column:
    """One column."""

    heading: str
    numeric: bool = False  # Aligned on the right.
    long: bool = False  # May go on in the next line where the terminal is narrow.


class _Table(Protocol):
    """Part of `optsum.report.tables.table.Table` that is written."""

    columns: list[Column]
    rows: list[list[str]]
    title: str
    caption: list[str]


_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "±": r"$\pm$",
    "Δ": r"$\Delta$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}

_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|~])")


def table_format(name: str) -> TableFormat:
    """Return the format of that name."""
    if name not in get_args(TableFormat):
        raise unknown_name("format of tables", name, get_args(TableFormat))
    return cast("TableFormat", name)


def as_markdown(table: _Table) -> str:
    """Return a table of Markdown, as GitHub reads it, with its title above and its caption below."""
    from rich.cells import cell_len  # Chinese characters take two places

    heads = [_markdown(column.heading) for column in table.columns]
    body = [[_markdown(cell) for cell in row] for row in _full(table)]
    widths = [max(3, *map(cell_len, cells)) for cells in zip(heads, *body, strict=True)]
    right = [column.numeric for column in table.columns]
    rule = ["-" * (width - 1) + (":" if numeric else "-") for width, numeric in zip(widths, right, strict=True)]

    def line(cells: Iterable[str]) -> str:
        placed = []
        for cell, width, numeric in zip(cells, widths, right, strict=True):
            blanks = " " * (width - cell_len(cell))
            placed.append(f"{blanks}{cell}" if numeric else f"{cell}{blanks}")
        return f"| {' | '.join(placed)} |"

    parts = [[f"**{_markdown(table.title)}**"]] if table.title else []
    parts += [[line(heads), line(rule), *map(line, body)]]
    parts += [[_markdown(" ".join(table.caption))]] if table.caption else []
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", visible(text))


def as_csv(table: _Table) -> str:
    """Return comma-separated values: the numbers as they are, an empty field for what is missing; no title."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([column.heading for column in table.columns])
    for row in _full(table):
        cells = _values(table, row)
        writer.writerow(cells)
        if found := next((cell for cell in map(str, cells) if is_run(cell)), ""):
            getLogger("optsum").warning("a spreadsheet would run the cell %.40r as a formula", found)
    return file.getvalue()


def as_latex(table: _Table) -> str:
    """Return a ``table`` environment with the rules of booktabs."""
    lines = [r"\begin{table}", r"\centering"]
    if table.title:
        lines.append(rf"\caption{{{_latex(table.title)}}}")
    sides = "".join("r" if column.numeric else "l" for column in table.columns)
    lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    lines += [_latex_row(column.heading for column in table.columns), r"\midrule"]
    lines += [_latex_row(row) for row in _full(table)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if table.caption:
        lines += [r"\par\smallskip\footnotesize", _latex(" ".join(table.caption))]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(_latex(cell) for cell in cells) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in visible(text))


def as_html(table: _Table) -> str:
    """Return an HTML table for a notebook; everything is escaped."""
    sides = ["right" if column.numeric else "left" for column in table.columns]

    def line(tag: str, cells: Iterable[str]) -> str:
        placed = zip(cells, sides, strict=True)
        made = (f'<{tag} style="text-align:{side}">{_html(cell)}</{tag}>' for cell, side in placed)
        return f"<tr>{''.join(made)}</tr>"

    title = f"<caption>{_html(table.title)}</caption>" if table.title else ""
    head = line("th", (column.heading for column in table.columns))
    body = "".join(line("td", row) for row in _full(table))
    below = f"<p><small>{'<br>'.join(map(_html, table.caption))}</small></p>" if table.caption else ""
    return f"<table>{title}<thead>{head}</thead><tbody>{body}</tbody></table>{below}"


def _html(text: str) -> str:
    return escape(visible(text))


def as_pandas(table: _Table) -> Any:
    """Return a `pandas.DataFrame` of the values, as `data_frame` does."""
    return data_frame(
        [_values(table, row) for row in _full(table)], columns=[column.heading for column in table.columns]
    )


def data_frame(rows: Sequence[Any], columns: Sequence[str] | None = None, dtype: str | None = None) -> Any:
    """Return a `pandas.DataFrame` of rows, whose columns have one type if that is given."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise OptsumError("A data frame needs pandas: pip install 'optsum[report]'.") from None
    return pandas.DataFrame(rows, columns=columns, dtype=dtype)


def _full(table: _Table) -> list[list[str]]:
    return [[*row, *("" for _ in table.columns[len(row) :])] for row in table.rows]


def _values(table: _Table, row: Sequence[str]) -> list[Any]:
    return [
        getattr(cell, "value", _read(cell) if column.numeric else str(cell))
        for cell, column in zip(row, table.columns, strict=True)
    ]


def _read(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text in {"", "-"} else str(text)


_FORMATS: Final[dict[str, Callable[[_Table], str]]] = {"markdown": as_markdown, "csv": as_csv, "latex": as_latex}


def in_format(table: _Table, form: TableFormat) -> str:
    """Return a table in one of the formats that are not for the terminal, as a terminal may show it."""
    return visible(_FORMATS[form](table), keep="\n")
