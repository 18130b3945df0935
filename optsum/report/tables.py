"""Tables that are shown as text, Markdown, LaTeX, HTML, CSV or a data frame; and the tables of results."""

from __future__ import annotations

import csv
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from html import escape
from importlib import import_module
from io import StringIO
from logging import getLogger
from math import floor
from textwrap import wrap
from typing import Any, Final, Literal, Self, TypeAlias, cast, get_args

from optsum.contracts.result import Result, Status, is_posed, unit_text
from optsum.corpus.formats import is_run
from optsum.corpus.row_files import read_rows
from optsum.errors import InputError, OptsumError, UnsupportedError, unknown_name, visible
from optsum.options.options import Options, lengths_of, number_in
from optsum.registry import DEFAULT_HEURISTIC, FORMULATIONS
from optsum.system.files import PathLike
from optsum.whole import is_list

_WIDE = 10_000
_PAGE = 100  # Width in characters to which long columns are folded if the output is no terminal.
_NAME = 24  # A narrow terminal shows at least this number of characters of a name.
_MOST_UNITS = 25  # Number of units of a selection that a table shows.
_COLUMNS = 6  # Number of lengths that a table of several topics shows, evenly spaced up to the largest.

TableFormat: TypeAlias = Literal["text", "markdown", "csv", "latex"]  # Values of the option ``--format``.


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    heading: str
    numeric: bool = False  # Whether it is aligned on the right.
    long: bool = False  # Whether its cells may be folded into several lines.


class Cell(str):
    """The text that a table shows for a value; CSV files and data frames get the value itself."""

    __slots__ = ("value",)
    value: Any

    def __new__(cls, text: str, value: object) -> Self:
        cell = super().__new__(cls, text)
        cell.value = value
        return cell


class Tabular(ABC):
    """Base class of objects that are shown as one or several tables, in every format."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the tables."""

    def shown_tables(self) -> list[Table]:
        """Return the tables for display, with their captions."""
        return self.tables()

    def text(self) -> str:
        """Return the tables as aligned text, one below the other."""
        return written(self, "text")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        shapes = (f"{len(table.rows)} rows of {', '.join(_headings(table))}" for table in self.shown_tables())
        return f"<{type(self).__name__}: {'; '.join(shapes)}>"

    def _repr_html_(self) -> str:
        return "\n".join(as_html(table) for table in self.shown_tables())

    def to_markdown(self) -> str:
        """Return the tables in Markdown, in the dialect of GitHub."""
        return written(self, "markdown")

    def to_csv(self) -> str:
        """Return comma-separated values (RFC 4180) with headings, unrounded; a blank line separates tables."""
        return written(self, "csv")

    def to_latex(self) -> str:
        r"""Return the tables as LaTeX environments ``table``, which need ``\usepackage{booktabs}``."""
        return written(self, "latex")

    def to_pandas(self) -> Any:
        """Return the first table as a `pandas.DataFrame` of values, not of displayed texts."""
        table = self.shown_tables()[0]
        return data_frame(_values(table), _headings(table))


@dataclass(repr=False)
class Table(Tabular):
    """Cells under headings, with a caption of sentences.

    Attributes
    ----------
    columns : list of Column
    rows : list of lists of str
        The cells of each row; cells missing at its end are empty. A `Cell` also has the value of its text.
    title : str
        The line above the table.
    caption : list of str
        The lines below the table.
    """

    columns: list[Column]
    rows: list[list[str]] = field(default_factory=list)
    title: str = ""
    caption: list[str] = field(default_factory=list)

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
        """Return a table with the headings of names on the left, then of numbers, then of long texts."""
        columns = [*map(Column, names), *(Column(number, numeric=True) for number in numbers)]
        return cls([*columns, *(Column(text, long=True) for text in long)], list(rows), title, list(caption))

    def add(self, *cells: str) -> None:
        self.rows.append(list(cells))

    def tables(self) -> list[Table]:
        return [self]

    def text(self) -> str:
        """Return the table as lines of aligned text: long columns are folded, others are as wide as their cells."""
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
        """Print the table: fitted to the terminal if the standard output is one, otherwise as `text` returns it."""
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
        # If the columns do not fit, the terminal breaks the lines, so that no number is cut.
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
            # As Text, not str, in which rich would read parts of an id as markup.
            made.add_column(
                Text(cells[0]),
                justify="right" if column.numeric else "left",
                overflow="fold" if column.long else "ellipsis",
                no_wrap=not column.long,
                # Keeps numbers and short names from being cut in a narrow terminal.
                min_width=None if column.long else longest if column.numeric else min(longest, _NAME),
            )
        for row in self.rows:
            made.add_row(*(Text(visible(cell)) for cell in row))
        return made


def put_tables(given: Tabular | Iterable[Table], form: TableFormat = "text") -> None:
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
    return ("\n\n" if form == "text" else "\n").join(map(_FORMATS[form], given.shown_tables()))


def shown(value: float | None, form: str) -> Cell:
    return Cell("-" if value is None else format(value, form), value)


def number(value: float | None, digits: int = 4) -> Cell:
    return shown(value, f".{digits}f")


def share(value: float | None, digits: int = 0) -> Cell:
    return shown(value, f".{digits}%")


def seconds(value: float | None) -> Cell:
    if value is None:
        return Cell("-", None)
    if value < 0.9995:
        return Cell(f"{value * 1e3:.{int(value < 0.09995)}f} ms", value)
    return Cell(f"{value:.{int(value < 99.95)}f} s", value)


def short_seconds(value: float) -> str:
    return f"{value * 1e6:.0f} µs" if value < 0.9995e-3 else seconds(value).replace(".0 ", " ")


# Formats for other programs: Markdown, CSV, LaTeX, HTML, data frames.

_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "≥": r"$\geq$", "≤": r"$\leq$", "±": r"$\pm$", "Δ": r"$\Delta$",
        **{sign: f"${sign}$" for sign in "<>|"}, **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)  # fmt: skip

_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|~])")


def table_format(name: str) -> TableFormat:
    if name not in get_args(TableFormat):
        raise unknown_name("format of tables", name, get_args(TableFormat))
    return cast("TableFormat", name)


def as_markdown(table: Table) -> str:
    from rich.cells import cell_len  # the displayed width: Chinese characters are two columns wide

    heads, *body = [list(map(_markdown, row)) for row in [_headings(table), *_full(table)]]
    widths = [max(3, *map(cell_len, cells)) for cells in zip(heads, *body, strict=True)]
    sides = [">" if column.numeric else "<" for column in table.columns]
    rule = ["-" * (width - 1) + (":" if side == ">" else "-") for width, side in zip(widths, sides, strict=True)]

    def line(cells: Iterable[str]) -> str:
        places = zip(cells, widths, sides, strict=True)
        return f"| {' | '.join(f'{cell:{side}{width - cell_len(cell) + len(cell)}}' for cell, width, side in places)} |"

    title = f"**{_markdown(table.title)}**" if table.title else ""
    parts = [title, "\n".join(map(line, [heads, rule, *body])), _markdown(_sentences(table))]
    return "\n\n".join(filter(None, parts)) + "\n"


def _sentences(table: Table) -> str:
    """Return the notes of a table, which are lines on a terminal, as one paragraph."""
    return " ".join(each if each.endswith(".") else f"{each}." for each in table.caption)


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", visible(text))


def as_csv(table: Table) -> str:
    """Return unrounded comma-separated values; a cell that a spreadsheet would run as a formula causes a warning."""
    file, rows = StringIO(), _values(table)
    csv.writer(file, lineterminator="\n").writerows([_headings(table), *rows])
    for row in rows:
        if found := next((cell for cell in map(str, row) if is_run(cell)), ""):
            getLogger("optsum").warning("a spreadsheet would run the cell %.40r as a formula", found)
    return file.getvalue()


def as_latex(table: Table) -> str:
    sides = "".join("r" if column.numeric else "l" for column in table.columns)
    head, *body = [" & ".join(map(_latex, row)) + r" \\" for row in [_headings(table), *_full(table)]]
    lines = [r"\begin{table}", r"\centering"]
    lines += [rf"\caption{{{_latex(table.title)}}}"] if table.title else []
    lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    lines += [r"\par\smallskip\footnotesize", _latex(_sentences(table))] if table.caption else []
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _latex(text: str) -> str:
    return visible(text).replace("<=", "≤").replace(">=", "≥").translate(_LATEX)


def as_html(table: Table) -> str:
    sides = ["right" if column.numeric else "left" for column in table.columns]

    def line(tag: str, cells: Iterable[str]) -> str:
        placed = zip(cells, sides, strict=True)
        made = (f'<{tag} style="text-align:{side}">{escape(visible(cell))}</{tag}>' for cell, side in placed)
        return f"<tr>{''.join(made)}</tr>"

    title = f"<caption>{escape(visible(table.title))}</caption>" if table.title else ""
    head, body = line("th", _headings(table)), "".join(line("td", row) for row in _full(table))
    said = "<br>".join(escape(visible(each)) for each in table.caption)
    below = f"<p><small>{said}</small></p>" if said else ""
    return f"<table>{title}<thead>{head}</thead><tbody>{body}</tbody></table>{below}"


def data_frame(rows: Sequence[Any], columns: Sequence[str] | None = None, dtype: str | None = None) -> Any:
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise OptsumError("A data frame needs pandas: pip install 'optsum[report]'.") from None
    return pandas.DataFrame(rows, columns=columns, dtype=dtype)


def _headings(table: Table) -> list[str]:
    return [column.heading for column in table.columns]


def _full(table: Table) -> list[list[str]]:
    return [[*row, *("" for _ in table.columns[len(row) :])] for row in table.rows]


def _values(table: Table) -> list[list[Any]]:
    def value(cell: str, column: Column) -> Any:
        shown = (None if cell in {"", "-"} else number_in(str(cell))) if column.numeric else str(cell)
        return getattr(cell, "value", shown)

    return [[value(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in _full(table)]


_FORMATS: Final[dict[TableFormat, Callable[[Table], str]]] = {
    "text": Table.text, "markdown": as_markdown, "csv": as_csv, "latex": as_latex,
}  # fmt: skip


def as_row(value: Any) -> Mapping[str, Any]:
    """Return the row of a result; a row is returned as it is."""
    if not isinstance(value, Result | Mapping):
        raise InputError(f"A {type(value).__name__} is neither a result nor a row: give results of optsum.solve_all.")
    return value.to_row() if isinstance(value, Result) else value


def to_frame(results: Tabular | Result | PathLike | Iterable[Result | Mapping[str, Any]]) -> Any:
    """Return results, their rows, or a comparison as a `pandas.DataFrame`.

    Parameters
    ----------
    results : results, rows, path or table
        Results of `optsum.solve_all`, a single result, rows as mappings, or the path of a file of rows or of the folder
        of a run. A table, such as a comparison, gives one line for each of its rows; for the results that it compares,
        pass ``table.results``.

    Returns
    -------
    pandas.DataFrame
        One line for each result, in order, and one column for each field, such as ``rouge.rouge-1.f1`` and
        ``statistics.evaluations``. Whole numbers stay whole even if some are missing (``Int64``, or Python's if
        larger); selections, summaries and traces are lists.

    Raises
    ------
    OptsumError
        If pandas is not installed, or a row cannot be read.

    Examples
    --------
    >>> from optsum import solve, to_frame
    >>> topic = {"id": "t", "documents": [["a b c", "a b d", "d"]], "references": [["a b c d"]]}
    >>> frame = to_frame([solve(topic, max_length=length) for length in (2, 4)])
    >>> frame[["id", "objective", "selection"]].values.tolist()
    [['t', 0.25, [2]], ['t', 1.0, [0, 2]]]
    """
    if isinstance(results, Tabular):
        return results.to_pandas()
    if isinstance(results, Result):
        results = [results]
    if isinstance(results, str | os.PathLike):
        results = read_rows(results)
    elif not is_list(results, ordered=False):
        raise InputError(f"There is no table of {results!r:.60}: give results, rows, or the path of their file.")
    rows = [dict(_flat(as_row(row))) for row in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    split = {name.partition(".")[0] for name in names if "." in name}
    names = [name for name in names if name not in split or any(row.get(name) is not None for row in rows)]
    columns = {name: [row.get(name) for row in rows] for name in names}
    kinds = {}
    for name, values in columns.items():
        held = [value for value in values if value is not None]
        types = set(map(type, held))
        if types == {int} and all(-(2**63) <= value < 2**63 for value in held):
            kinds[name] = "Int64"
        elif types == {bool} or types in ({float}, {float, int}):
            kinds[name] = "boolean" if types == {bool} else "float64"
    return data_frame(list(zip(*columns.values(), strict=True)), names, "object").astype(kinds)


def _flat(row: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names such as ``rouge.rouge-1.f1`` and values of a row's fields; the mapping ``details`` stays whole."""
    for name, value in row.items():
        if isinstance(value, Mapping) and name != "details":
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _lines(
    results: Iterable[Result],
    numbers: Sequence[str],
    cells: Callable[[Result], Sequence[str] | None],
    long: Sequence[str] = (),
    caption: Iterable[str] = (),
) -> Table:
    """Return a table with a line for each result: its `cells` or, if these are None, dashes and the error or status."""
    table = Table.of(["id"], numbers, long=long, caption=caption)
    dashes = ["-"] * (len(table.columns) - 2)
    for result in results:
        table.add(result.id or "?", *(cells(result) or [*dashes, result.error or result.status.value]))
    return table


def results_table(results: Iterable[Result]) -> Table:
    names = ["id", "objective", "bound", "gap", "status", "length", "units", "time"]
    table = Table([Column(name, name not in {"id", "status", "units"}, name == "units") for name in names])
    for result in results:
        if result.status is Status.ERROR:
            table.add(result.id or "?", "-", "-", "-", "error", "-", result.error or "")
            continue
        early = "" if result.termination.value == "completed" else f", {result.termination.value.replace('_', ' ')}"
        values = [_value(result.objective, result), _value(result.bound, result), share(result.gap, 1)]
        status, units = result.status.value.replace("_", " ") + early, _units(result.selection or ())
        table.add(result.id or "?", *values, status, number(result.length, 0), units, seconds(result.seconds))
    return table


def context_table(results: Iterable[Result], options: Options) -> Table:
    cover = not options.formulated().has_metric
    budget = options.max_length if isinstance(options.max_length, int) else None
    lost = []

    def cells(result: Result) -> list[str] | None:
        packed = result.greedy
        if result.objective is None or packed is None:
            return None
        greedy = packed["objective"]
        share_lost = None if greedy is None or not result.objective else 1 - greedy / result.objective
        lost.extend([] if share_lost is None else [share_lost])
        claims = number(result.denominator if cover else None, 0)
        if cover and result.bound_key is not None and result.denominator is not None:
            bound = number(floor(result.bound_key * result.denominator), 0)
            values = [number(result.numerator, 0), bound, number(packed["numerator"], 0)]
        else:
            values = [number(result.objective), number(result.bound), number(greedy)]
        sizes = [number(budget, 0), number(result.length, 0), claims]
        missed = _units(result.missed) if result.missed else "-"
        return [*sizes, *values, share(share_lost, 1), seconds(result.seconds), missed]

    names = ["budget", "used", "claims", "supported", "bound", DEFAULT_HEURISTIC, "loses", "time"]
    table = _lines(results, names, cells, ["missed"])
    table.caption = [
        f"budget in {options.length_unit}; claims count by their weights; bound: no context supports more",
        f"{DEFAULT_HEURISTIC}: greedy selection by claims per length, and the share that it loses",
    ]
    if lost:
        table.caption.append(f"greedy selection loses {sum(lost) / len(lost):.1%} on average")
    return table


def optima_table(results: Iterable[Result]) -> Table:
    def cells(result: Result) -> list[str] | None:
        if (all_ := result.enumeration) is None:
            return None
        return [_value(result.objective, result), _sets(all_), *_in_all(all_), seconds(result.seconds)]

    caption = ["always, some, never: units in all, in some, in none of the optima"]
    return _lines(results, ["objective", "optima", "always", "some", "never", "time"], cells, caption=caption)


def near_table(results: Sequence[Result]) -> Table:
    def cells(result: Result) -> list[str] | None:
        if (all_ := result.enumeration) is None or all_.near is None:
            return None
        name, units = result.formulation or "", "-" if all_.units is None else str(all_.units)
        # The number of units can be compared with the number of sentences only if units are whole sentences.
        if all_.units is not None and name in FORMULATIONS.builtin and FORMULATIONS.load(name).whole_sentences:
            units += "" if result.sentence_count is None else f" of {result.sentence_count}"
        values = [_value(result.objective, result), _value(all_.at_least, result), _sets(all_)]
        return [*values, share(all_.irredundant), *_in_all(all_), units, seconds(result.seconds)]

    names = ["objective", "at least", "sets", "irredundant", "always", "some", "never", "of", "time"]
    caption = [
        "sets: selections of at least this value; irredundant: those from which no unit can be left out",
        "always, some, never: units in all, in some, in none of the sets",
    ]
    if not all(is_posed(result.formulation) for result in results):
        caption.append("of: number of units, and of all sentences; sentences that can add nothing are not units")
    return _lines(results, names, cells, caption=caption)


def _sets(found: Any) -> Cell:
    shown = f"{found.count:,}" if found.count < 10**9 else f"{Decimal(found.count):.3e}"
    return Cell(shown if found.complete else f"at least {shown}", found.count)


def _in_all(found: Any) -> list[str]:
    if found.always is None or found.never is None or found.units is None:
        return [number(None)] * 3
    always, never = len(found.always), len(found.never)
    return [number(count, 0) for count in (always, found.units - never - always, never)]


def _value(value: float | None, result: Result) -> str:
    whole = result.metric is None and value is not None and value.is_integer()
    return number(value, 0 if whole else 4)


def _units(selection: Sequence[object]) -> str:
    more = len(selection) - _MOST_UNITS
    shown = " ".join(map(unit_text, selection[:_MOST_UNITS] if more > 1 else selection))
    return f"{shown} and {more} more" if more > 1 else shown


def headline(options: Options) -> str:
    formulation = options.formulated()
    if not formulation.reads_topics:
        return formulation.about
    words = [formulation.goal(options.spec())]
    if not formulation.has_metric:
        return words[0]
    if options.formulation != "extractive":
        words.insert(0, options.formulation)
    if options.references != "pooled":
        names = {"each": "each reference by itself", "mean": "mean over references"}
        names |= {"best": "best reference", "first": "first reference", "agreed": "reference of best agreement"}
        words.append(names[options.references])
    if options.model_units == "sentences":
        words.append("each sentence of a reference separately")
    if options.max_length is not None:
        words.append(f"at most {longest_said(options.max_length, options.length_unit)}")
    if options.min_length:
        words.append(f"at least {options.min_length} {options.length_unit}")
    return ", ".join([*words, *words_kept(options)])


def words_kept(options: Options) -> list[str]:
    stemmed = "stemmed" if options.stemmer == "rouge155" else f"stemmed as {options.stemmer}"
    return [*([stemmed] if options.stem else []), *(["without stop words"] if options.stopwords != "keep" else [])]


def longest_said(length: int | str | None, unit: str) -> str:
    return f"as many {unit} as the reference" if length == "reference" else f"{length} {unit}"


def frontier_table(results: Sequence[Result]) -> Table:
    found = [result.frontier for result in results]
    every = sorted({length for one in found if one is not None for length in lengths_of(one.lengths)})
    lengths = sorted({every[place * len(every) // _COLUMNS - 1] for place in range(1, _COLUMNS + 1)} if every else ())

    def cells(result: Result) -> list[str] | None:
        if (one := result.frontier) is None:
            return None
        values = [_at_step(_at(one.steps, length)) for length in lengths]
        lost = [  # share lost by greedy search, with the number of lengths at which it is so
            (last - first + 1, abs(1 - reached.objective / step.objective))
            for step in one.steps
            for reached in one.greedy or ()
            for first, last in [(max(step.first, reached.first), min(step.last, reached.last))]
            if first <= last and step.objective and reached.objective is not None
        ]
        mean = sum(many * loss for many, loss in lost) / sum(many for many, _ in lost) if lost else None
        return [*values, number(len(one.steps), 0), share(mean, 1), seconds(result.seconds)]

    caption = ["steps: different best values; greedy loses: missed share, mean over all lengths"]
    if any(one is not None and not one.complete for one in found):
        caption.append("a-b: a limit was reached before a proof; a is the best known value, and none is better than b")
    names = [*(f"<= {length}" for length in lengths), "steps", "greedy loses", "time"]
    return _lines(results, names, cells, caption=caption)


def steps_table(result: Result) -> Table:
    one = result.frontier
    if one is None:
        raise UnsupportedError(f"the result {result.id or '?'} has no frontier: make it with optsum.frontier")
    names = ["from", "to", "objective", "gain", "units", DEFAULT_HEURISTIC]
    counted = any(step.complete is not None for step in one.steps)
    table = Table.of([], [*names, *(["optima"] if counted else [])])
    for step in one.steps:
        reached = _at(one.greedy or (), step.first)
        size = None if step.selection is None else len(step.selection)
        cells = [number(step.first, 0), number(step.last, 0), _at_step(step), number(step.gain, 5), number(size, 0)]
        cells.append(number(None if reached is None else reached.objective))
        table.add(*cells, *([number(step.count, 0)] if counted else []))
    table.caption = [
        "gain: increase of the objective per additional unit of length; greedy: at the first length of the step"
    ]
    if is_posed(result.formulation):
        ones = all(step.selection is None or step.length == len(step.selection) for step in one.steps)
        most = "number of units" if ones else "summed length"
        table.caption.insert(0, f"from, to: the largest {most} that is allowed")
    return table


def _at(steps: Sequence[Any], length: int) -> Any:
    return next((step for step in reversed(steps) if step.first <= length), None)


def _at_step(step: Any) -> str:
    if step is None or step.objective is None:
        return number(None)
    if step.bound is None or step.bound == step.objective:
        return number(step.objective)
    return f"{number(step.objective)}-{number(step.bound)}"
