"""Tables for people: one description, shown in a terminal or as aligned text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from io import StringIO
from typing import TYPE_CHECKING, Any

from optsum.contracts.result import Result, Status

if TYPE_CHECKING:
    from optsum.options.options import Options
    from optsum.report.comparison import Comparison

__all__ = [
    "Column",
    "TextTable",
    "comparison_table",
    "counted",
    "headline",
    "number",
    "optima_table",
    "results_table",
    "seconds",
]

_WIDE = 10_000
_NAME = 24
"""Letters of a name that a narrow terminal shows at least."""
_MOST_UNITS = 25
"""Units of a selection that a table shows."""


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
        above = [self.title, ""] if self.title else []
        below = ["", *self.caption] if self.caption else []
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
            console.print(line, style="bold", markup=False, soft_wrap=True)
        table = self._rich()
        # Where the columns do not fit, lines are broken by the terminal: better than numbers that are cut.
        width = max(console.width, console.measure(table, options=console.options.update(max_width=_WIDE)).minimum)
        console.print(table, width=width, crop=False, soft_wrap=width > console.width)
        for line in self.caption:
            console.print(line, style="dim", markup=False, soft_wrap=True)

    def _rich(self) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        for place, column in enumerate(self.columns):
            cells = [column.heading, *(row[place] for row in self.rows if len(row) > place)]
            longest = max(map(len, cells))
            # Text, not str: an id may hold what rich would read as markup.
            table.add_column(
                Text(column.heading),
                justify="right" if column.numeric else "left",
                overflow="fold" if column.long else "ellipsis",
                no_wrap=not column.long,
                # Without it numbers and short names would be cut in a narrow terminal.
                min_width=None if column.long else longest if column.numeric else min(longest, _NAME),
            )
        for row in self.rows:
            table.add_row(*map(Text, row))
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


def results_table(results: Iterable[Result]) -> TextTable:
    """Return one line a result."""
    names = ["id", "objective", "bound", "gap", "status", "length", "units", "time"]
    table = TextTable([Column(name, name not in {"id", "status", "units"}, name == "units") for name in names])
    for result in results:
        if result.status is Status.ERROR:
            table.rows.append([result.id or "?", "-", "-", "-", "error", "-", result.error or ""])
            continue
        gap = result.gap
        early = "" if result.termination.value == "completed" else f", {result.termination.value.replace('_', ' ')}"
        table.rows.append(
            [
                result.id or "?",
                _value(result.objective, result),
                _value(result.bound, result),
                "-" if gap is None else f"{gap:.1%}",
                result.status.value.replace("_", " ") + early,
                "-" if result.length is None else str(result.length),
                _units(result.selection or ()),
                seconds(result.seconds),
            ]
        )
    return table


def optima_table(results: Iterable[Result]) -> TextTable:
    """Return one line an enumeration."""
    names = ["id", "objective", "optima", "always", "some", "never", "time"]
    table = TextTable([Column(name, name != "id") for name in names])
    for result in results:
        if "count" not in result.extra:
            table.rows.append([result.id or "?", "-", "-", "-", "-", "-", result.error or result.status.value])
            continue
        count, extra = result.extra["count"], result.extra
        all_ = "" if extra["complete"] else "at least "
        known = extra["always"] is not None
        always, never = (len(extra["always"]), len(extra["never"])) if known else (0, 0)
        table.rows.append(
            [
                result.id or "?",
                _value(result.objective, result),
                all_ + (f"{count:,}" if count < 10**9 else f"{Decimal(count):.3e}"),
                *([str(always), str(extra["units"] - never - always), str(never)] if known else ["-", "-", "-"]),
                seconds(result.seconds),
            ]
        )
    table.caption = ["always, some, never: units in all, in some, in none of the optima"]
    return table


def _value(value: float | None, result: Result) -> str:
    """Return an objective as people read it: the length of a cover is a whole number, though a bound need not be."""
    whole = result.formulation == "cover" and value is not None and value.is_integer()
    return number(value, 0 if whole else 4)


def _units(selection: Sequence[object]) -> str:
    more = len(selection) - _MOST_UNITS
    shown = " ".join(map(_unit, selection[:_MOST_UNITS] if more > 1 else selection))
    return f"{shown} and {more} more" if more > 1 else shown


def _unit(unit: object) -> str:
    return ".".join(map(str, unit)) if isinstance(unit, tuple) else str(unit)


def comparison_table(comparison: Comparison) -> TextTable:
    """Return one line a strategy."""
    rows = comparison.rows
    guaranteed = max((row.guaranteed for row in rows), default=0)
    mark = "≥ " if guaranteed else ""
    solvers = bool(comparison.plan.backends)
    headings = ["objective", f"{mark}ratio", f"{mark}lowest", "optimal", "mean time", "median", "solved", "failed"]
    headings += ["bound", "nodes"] if solvers else []
    table = TextTable([Column("strategy"), *(Column(heading, numeric=True) for heading in headings)])
    for row in rows:
        table.rows.append(
            [
                row.strategy,
                number(row.mean_objective),
                number(row.mean_ratio),
                number(row.min_ratio),
                f"{row.reached}/{row.optima}" if row.optima else "-",
                seconds(row.mean_seconds),
                seconds(row.median_seconds),
                str(row.solved),
                str(row.failed),
                *([number(row.mean_bound), number(row.mean_nodes, 1)] if solvers else []),
            ]
        )
    problems = counted(comparison.problems, "problem")
    table.title = f"{problems}: {headline(comparison.plan.ways[0])}"
    exact = comparison.plan.exact
    backend = comparison.plan.ways[0].searcher().backend_name if exact else None
    by = f" (exact: {exact}{f' on {backend}' if backend else ''})" if exact else ""
    if comparison.optima:
        table.caption.append(f"optimal: solved to the optimum, of {comparison.optima} whose optimum is known{by}.")
    if guaranteed:
        table.caption.append(
            f"≥: for {counted(guaranteed, 'problem')} without a known optimum the ratio is against the best bound, "
            "so it is a guaranteed lower limit."
        )
    table.caption.append("time: from text to answer; a bound that is only a certificate is not counted.")
    if solvers:
        table.caption.append("bound, nodes: means; each solver counts nodes in its own way, and some do not say.")
    if any(row.failed for row in rows):
        table.caption.append("Means are over the problems that a strategy solved.")
    if comparison.contradictions:
        names = ", ".join(comparison.contradictions[:5])
        table.caption.append(
            f"CONTRADICTION on {counted(len(comparison.contradictions), 'problem')} ({names}): two strategies claim "
            "what cannot both be true; a solver is wrong."
        )
    return table


def headline(options: Options) -> str:
    """Return what is optimized, in a few words."""
    if options.covers:
        of = options.length_unit if options.weights == "length" else "sentences"
        left_out = ", abstract sentences without any alternative left out" if options.uncoverable == "skip" else ""
        return f"minimum cover, as few {of} as can be{left_out}"
    words = [f"{options.metric} {options.measure}"]
    if options.formulation != "extractive":
        words.insert(0, options.formulation)
    if options.references != "pooled":
        names = {"each": "each reference by itself", "mean": "mean over references"}
        names |= {"best": "best reference", "first": "first reference"}
        words.append(names[options.references])
    if options.model_units == "sentences":
        words.append("each sentence of a reference by itself")
    if options.max_length is not None:
        words.append(f"at most {options.max_length} {options.length_unit}")
    if options.min_length:
        words.append(f"at least {options.min_length} {options.length_unit}")
    if options.stem:
        words.append("stemmed")
    if options.stopwords != "keep":
        words.append("without stop words")
    return ", ".join(words)


def counted(number: int, noun: str) -> str:
    """Return "1 topic", "2 topics"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
