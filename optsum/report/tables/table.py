"""Tables: one description, shown on a terminal, in a notebook, in a paper, or as data."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from io import StringIO
from textwrap import wrap
from typing import Any, Self

from optsum.errors import visible
from optsum.report.tables.formats import (
    Column,
    TableFormat,
    as_csv,
    as_html,
    as_latex,
    as_markdown,
    as_pandas,
    in_format,
)

__all__ = ["Cell", "Column", "Table", "Tabular", "counted", "number", "put_tables", "seconds", "share"]

_WIDE = 10_000
_PAGE = 100  # Letters of a line into which long columns are folded where there is no terminal.
_NAME = 24  # Letters of a name that a narrow terminal shows at least.


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
    """Base of objects that are shown as one or several tables, in every format of a table."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the tables."""

    def shown_tables(self) -> list[Table]:
        """Return the tables as they are shown, with their captions."""
        return self.tables()

    def text(self) -> str:
        """Return lines of aligned text, each as long as it must be."""
        return "\n\n".join(table.text() for table in self.shown_tables())

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
        """Return tables of Markdown, as GitHub and most others read them."""
        return "\n".join(as_markdown(table) for table in self.shown_tables())

    def to_csv(self) -> str:
        """Return comma-separated values (RFC 4180): headings and numbers as they are; a blank line between tables."""
        return "\n".join(as_csv(table) for table in self.shown_tables())

    def to_latex(self) -> str:
        r"""Return LaTeX ``table`` environments; they need ``\usepackage{booktabs}``."""
        return "\n".join(as_latex(table) for table in self.shown_tables())

    def to_pandas(self) -> Any:
        """Return the first of the tables as a `pandas.DataFrame`: the values, not the texts that show them."""
        return as_pandas(self.shown_tables()[0])


@dataclass(repr=False)
class Table(Tabular):
    """Cells under headings, with a caption of sentences.

    Attributes
    ----------
    columns : list of Column
    rows : list of lists of str
        A row may be shorter than the headings. A `Cell` knows the value that its text shows.
    title : str
        A line above.
    caption : list of str
        Lines below.
    """

    columns: list[Column]
    rows: list[list[str]] = field(default_factory=list)
    title: str = ""
    caption: list[str] = field(default_factory=list)

    __str__ = Tabular.__str__

    @classmethod
    def of(cls, names: Sequence[str], numbers: Sequence[str] = (), title: str = "") -> Self:
        """Return an empty table: columns of names on the left, of numbers on the right."""
        return cls([*map(Column, names), *(Column(number, numeric=True) for number in numbers)], title=title)

    def add(self, *cells: str) -> None:
        """Add a row."""
        self.rows.append(list(cells))

    def tables(self) -> list[Table]:
        """Return the table itself."""
        return [self]

    def text(self) -> str:
        """Return the table as lines of aligned text: long columns are folded, others as wide as they must be."""
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
        """Print the table: fitted to the terminal if the standard output is one, else as `text` has it."""
        if sys.stdout is None:
            return
        if not sys.stdout.isatty():
            sys.stdout.write(self.text() + "\n")
            return
        from rich.console import Console

        console = Console(highlight=False)
        for line in [self.title] if self.title else []:
            console.print(visible(line), style="bold", markup=False, soft_wrap=True)
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


def put_tables(shown: Tabular | Iterable[Table], form: TableFormat = "text") -> None:
    """Print tables: fitted to the terminal if there is one, or as data for other programs."""
    tables = shown if isinstance(shown, Iterable) else shown.shown_tables()
    for place, table in enumerate(tables):
        if sys.stdout is None:
            return
        if place:
            sys.stdout.write("\n")
        if form == "text":
            table.show()
        else:
            sys.stdout.write(in_format(table, form))


def number(value: float | None, digits: int = 4) -> Cell:
    """Return a number with a fixed number of decimals; a dash for None."""
    return Cell("-" if value is None else f"{value:.{digits}f}", value)


def share(value: float | None, digits: int = 0) -> Cell:
    """Return a share of 1 in per cent; a dash for none."""
    return Cell("-" if value is None else f"{value:.{digits}%}", value)


def seconds(value: float | None) -> Cell:
    """Return a duration with a unit that suits it."""
    if value is None:
        return Cell("-", None)
    if value < 0.9995:
        return Cell(f"{value * 1e3:.1f} ms" if value < 0.09995 else f"{value * 1e3:.0f} ms", value)
    return Cell(f"{value:.1f} s" if value < 99.95 else f"{value:.0f} s", value)


def counted(number: int, noun: str) -> str:
    """Return "1 topic", "2 topics"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
