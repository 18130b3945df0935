"""Tables: one description, shown on a terminal, in a notebook, in a paper, or as data."""

from __future__ import annotations

import csv
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from io import StringIO
from logging import getLogger
from textwrap import wrap
from typing import Any, Final, Literal, Self, TypeAlias, cast, get_args

from optsum.corpus.formats import is_run
from optsum.errors import OptsumError, unknown_name, visible
from optsum.options.values import number_in

_WIDE = 10_000
_PAGE = 100  # Letters of a line into which long columns are folded where there is no terminal.
_NAME = 24  # Letters of a name that a narrow terminal shows at least.


TableFormat: TypeAlias = Literal["text", "markdown", "csv", "latex"]  # What ``--format`` takes.


@dataclass(frozen=True)
class Column:
    """One column."""

    heading: str
    numeric: bool = False  # Aligned on the right.
    long: bool = False  # May go on in the next line where the terminal is narrow.


class Cell(str):
    """Text that a table shows for a value; files and data frames get the value itself."""

    __slots__ = ("value",)
    value: Any

    def __new__(cls, text: str, value: object) -> Self:
        """Make the text."""
        cell = super().__new__(cls, text)
        cell.value = value
        return cell


class Tabular(ABC):
    """Base of objects that are shown as one or several tables, in every format."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the tables."""

    def shown_tables(self) -> list[Table]:
        """Return the tables for display, with their captions."""
        return self.tables()

    def text(self) -> str:
        """Return the tables as lines of aligned text of any length."""
        return written(self, "text")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        shapes = [
            f"{len(table.rows)} rows of {', '.join(column.heading for column in table.columns)}"
            for table in self.shown_tables()
        ]
        return f"<{type(self).__name__}: {'; '.join(shapes)}>"

    def _repr_html_(self) -> str:
        return "\n".join(as_html(table) for table in self.shown_tables())

    def to_markdown(self) -> str:
        """Return tables in Markdown for GitHub and similar renderers."""
        return written(self, "markdown")

    def to_csv(self) -> str:
        """Return comma-separated values (RFC 4180) with headings, unrounded; a blank line separates tables."""
        return written(self, "csv")

    def to_latex(self) -> str:
        r"""Return LaTeX ``table`` environments; they need ``\usepackage{booktabs}``."""
        return written(self, "latex")

    def to_pandas(self) -> Any:
        """Return the first table as a `pandas.DataFrame` of values, not of displayed texts."""
        table = self.shown_tables()[0]
        return data_frame([_values(table, row) for row in _full(table)], [column.heading for column in table.columns])


@dataclass(repr=False)
class Table(Tabular):
    """Cells under headings, with a caption of sentences.

    Attributes
    ----------
    columns : list of Column
    rows : list of lists of str
        A row may be shorter than the headings. A `Cell` stores the value of its text.
    title : str
        A line above the table.
    caption : list of str
        Lines below the table.
    """

    columns: list[Column]
    rows: list[list[str]] = field(default_factory=list)
    title: str = ""
    caption: list[str] = field(default_factory=list)

    __str__ = Tabular.__str__

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        numbers: Iterable[str] = (),
        title: str = "",
        long: Iterable[str] = (),
        *,
        rows: Iterable[list[str]] = (),
        caption: Iterable[str] = (),
    ) -> Self:
        """Return a table: columns of names on the left, then numbers, then long texts."""
        columns = [*map(Column, names), *(Column(number, numeric=True) for number in numbers)]
        return cls([*columns, *(Column(text, long=True) for text in long)], list(rows), title, list(caption))

    def add(self, *cells: str) -> None:
        """Add a row."""
        self.rows.append(list(cells))

    def tables(self) -> list[Table]:
        """Return the table itself."""
        return [self]

    def text(self) -> str:
        """Return the table as lines of aligned text: long columns are folded, others as wide as necessary."""
        from rich.console import Console

        file, table = StringIO(), self._rich()
        console = Console(file=file, width=_WIDE, color_system=None, force_terminal=False, highlight=False)
        caption = self.caption
        if any(column.long for column in self.columns):
            console.width = max(_PAGE, console.measure(table).minimum)
            caption = [part for line in caption for part in wrap(line, _PAGE)]
        console.print(table)
        lines = [line.rstrip() for line in file.getvalue().strip("\n").split("\n")]
        above = [visible(self.title), ""] if self.title else []
        below = ["", *map(visible, caption)] if caption else []
        return "\n".join([*above, *lines, *below])

    def show(self) -> None:
        """Print the table, fitted to the terminal if the standard output is one, else as in `text`."""
        if sys.stdout is None:
            return
        if not sys.stdout.isatty():
            sys.stdout.write(self.text() + "\n")
            return
        from rich.console import Console

        console = Console(highlight=False)
        if self.title:
            console.print(visible(self.title), style="bold", markup=False, soft_wrap=True)
        table = self._rich()
        # Where the columns do not fit, lines are broken by the terminal: better than numbers that are cut.
        width = max(console.width, console.measure(table, options=console.options.update(max_width=_WIDE)).minimum)
        console.print(table, width=width, crop=False, soft_wrap=width > console.width)
        for line in self.caption:
            console.print(visible(line), style="dim", markup=False, soft_wrap=True)

    def _rich(self) -> Any:
        from rich import box, table
        from rich.cells import cell_len
        from rich.text import Text

        made = table.Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        made.header_style = "bold"
        for place, column in enumerate(self.columns):
            cells = [visible(column.heading), *(visible(row[place]) for row in self.rows if len(row) > place)]
            longest = max(map(cell_len, cells))
            # Text, not str: an id may hold what rich would read as markup.
            made.add_column(
                Text(cells[0]),
                justify="right" if column.numeric else "left",
                overflow="fold" if column.long else "ellipsis",
                no_wrap=not column.long,
                # Without it numbers and short names would be cut in a narrow terminal.
                min_width=None if column.long else longest if column.numeric else min(longest, _NAME),
            )
        for row in self.rows:
            made.add_row(*(Text(visible(cell)) for cell in row))
        return made


def put_tables(given: Tabular | Iterable[Table], form: TableFormat = "text") -> None:
    """Print tables, fitted to the terminal if there is one, or as data for other programs."""
    for place, table in enumerate(given if isinstance(given, Iterable) else given.shown_tables()):
        if sys.stdout is None:
            return
        if place:
            sys.stdout.write("\n")
        if form == "text":
            table.show()
        else:
            sys.stdout.write(visible(written(table, form), keep="\n"))


def written(given: Tabular, form: TableFormat) -> str:
    """Return all tables in a format."""
    return ("\n\n" if form == "text" else "\n").join(map(_FORMATS[form], given.shown_tables()))


def shown(value: float | None, form: str) -> Cell:
    """Return a number in a format of Python; a dash for None."""
    return Cell("-" if value is None else format(value, form), value)


def number(value: float | None, digits: int = 4) -> Cell:
    """Return a number with a fixed number of decimals; a dash for None."""
    return shown(value, f".{digits}f")


def share(value: float | None, digits: int = 0) -> Cell:
    """Return a share of 1 in per cent; a dash for None."""
    return shown(value, f".{digits}%")


def seconds(value: float | None) -> Cell:
    """Return a duration in a suitable unit."""
    if value is None:
        return Cell("-", None)
    if value < 0.9995:
        return Cell(f"{value * 1e3:.{int(value < 0.09995)}f} ms", value)
    return Cell(f"{value:.{int(value < 99.95)}f} s", value)


def short_seconds(value: float) -> str:
    """Return a duration for an axis, without a zero decimal, and in microseconds below a millisecond."""
    return f"{value * 1e6:.0f} µs" if value < 0.9995e-3 else seconds(value).replace(".0 ", " ")


def counted(number: int, noun: str) -> str:
    """Return "1 topic", "2 topics", "2 summaries"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


# Languages that other programs read: Markdown, CSV, LaTeX, HTML, data frames.

_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "≥": r"$\geq$", "≤": r"$\leq$", "±": r"$\pm$", "Δ": r"$\Delta$",
        **{sign: f"${sign}$" for sign in "<>|"}, **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)  # fmt: skip

_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|~])")


def table_format(name: str) -> TableFormat:
    """Return the table format with a name."""
    if name not in get_args(TableFormat):
        raise unknown_name("format of tables", name, get_args(TableFormat))
    return cast("TableFormat", name)


def as_markdown(table: Table) -> str:
    """Return a table in Markdown for GitHub, with its title above and its caption below."""
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

    title = f"**{_markdown(table.title)}**" if table.title else ""
    parts = [title, "\n".join(map(line, [heads, rule, *body])), _markdown(" ".join(table.caption))]
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", visible(text))


def as_csv(table: Table) -> str:
    """Return comma-separated values: unrounded numbers, empty fields for missing values, no title."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([column.heading for column in table.columns])
    for row in _full(table):
        cells = _values(table, row)
        writer.writerow(cells)
        if found := next((cell for cell in map(str, cells) if is_run(cell)), ""):
            getLogger("optsum").warning("a spreadsheet would run the cell %.40r as a formula", found)
    return file.getvalue()


def as_latex(table: Table) -> str:
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
    return " & ".join(map(_latex, cells)) + r" \\"


def _latex(text: str) -> str:
    return visible(text).translate(_LATEX)


def as_html(table: Table) -> str:
    """Return an HTML table for a notebook, with all text escaped."""
    sides = ["right" if column.numeric else "left" for column in table.columns]

    def line(tag: str, cells: Iterable[str]) -> str:
        placed = zip(cells, sides, strict=True)
        made = (f'<{tag} style="text-align:{side}">{escape(visible(cell))}</{tag}>' for cell, side in placed)
        return f"<tr>{''.join(made)}</tr>"

    title = f"<caption>{escape(visible(table.title))}</caption>" if table.title else ""
    head = line("th", (column.heading for column in table.columns))
    body = "".join(line("td", row) for row in _full(table))
    said = "<br>".join(escape(visible(each)) for each in table.caption)
    return f"<table>{title}<thead>{head}</thead><tbody>{body}</tbody></table>" + (
        f"<p><small>{said}</small></p>" if said else ""
    )


def data_frame(rows: Sequence[Any], columns: Sequence[str] | None = None, dtype: str | None = None) -> Any:
    """Return a `pandas.DataFrame` of rows, whose columns have the given types."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise OptsumError("A data frame needs pandas: pip install 'optsum[report]'.") from None
    return pandas.DataFrame(rows, columns=columns, dtype=dtype)


def _full(table: Table) -> list[list[str]]:
    return [[*row, *("" for _ in table.columns[len(row) :])] for row in table.rows]


def _values(table: Table, row: Sequence[str]) -> list[Any]:
    return [
        getattr(cell, "value", (None if cell in {"", "-"} else number_in(str(cell))) if column.numeric else str(cell))
        for cell, column in zip(row, table.columns, strict=True)
    ]


_FORMATS: Final[dict[TableFormat, Callable[[Table], str]]] = {
    "text": Table.text, "markdown": as_markdown, "csv": as_csv, "latex": as_latex,
}  # fmt: skip
