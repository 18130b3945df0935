"""Tables for people: one description, shown in a terminal or as aligned text."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from optsum.errors import visible

__all__ = [
    "Column",
    "TextTable",
    "counted",
    "number",
    "seconds",
]

_WIDE = 10_000
_NAME = 24
"""Letters of a name that a narrow terminal shows at least."""


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    heading : str
    numeric : bool
        Aligned on the right.
    long : bool
        May go on in the next line where the terminal is narrow.
    """

    heading: str
    numeric: bool = False
    long: bool = False


@dataclass
class TextTable:
    """Cells as text, under headings, with a caption of sentences.

    Attributes
    ----------
    columns : list of Column
    rows : list of lists of str
        A row may be shorter than the headings.
    title : str
        A line above.
    caption : list of str
        Lines below.
    """

    columns: list[Column]
    rows: list[list[str]] = field(default_factory=list)
    title: str = ""
    caption: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the table as lines of aligned text, each as long as it must be."""
        from rich.console import Console

        file = StringIO()
        console = Console(file=file, width=_WIDE, color_system=None, force_terminal=False, highlight=False)
        console.print(self._rich())
        lines = [line.rstrip() for line in file.getvalue().strip("\n").split("\n")]
        above = [visible(self.title), ""] if self.title else []
        below = ["", *map(visible, self.caption)] if self.caption else []
        return "\n".join([*above, *lines, *below])

    def __str__(self) -> str:
        return self.text()

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
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        for place, column in enumerate(self.columns):
            cells = [visible(column.heading), *(visible(row[place]) for row in self.rows if len(row) > place)]
            longest = max(map(len, cells))
            # Text, not str: an id may hold what rich would read as markup.
            table.add_column(
                Text(cells[0]),
                justify="right" if column.numeric else "left",
                overflow="fold" if column.long else "ellipsis",
                no_wrap=not column.long,
                # Without it numbers and short names would be cut in a narrow terminal.
                min_width=None if column.long else longest if column.numeric else min(longest, _NAME),
            )
        for row in self.rows:
            table.add_row(*(Text(visible(cell)) for cell in row))
        return table


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many decimals; a dash for none."""
    return "-" if value is None else f"{value:.{digits}f}"


def seconds(value: float | None) -> str:
    """Return a duration with a unit that suits it."""
    if value is None:
        return "-"
    if value < 0.9995:
        return f"{value * 1e3:.1f} ms" if value < 0.09995 else f"{value * 1e3:.0f} ms"
    return f"{value:.1f} s" if value < 99.95 else f"{value:.0f} s"


def counted(number: int, noun: str) -> str:
    """Return "1 topic", "2 topics"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
