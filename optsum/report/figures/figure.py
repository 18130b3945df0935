"""Figures: the data, drawn as SVG and PNG, and written as a table beside them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain, cycle
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, Literal

from optsum.corpus.rows.writer import Existing, RowWriter
from optsum.errors import OptionError, visible
from optsum.system.files import PathLike, describe_os_error, replacing

if TYPE_CHECKING:
    from optsum.report.tables.table import Table


Style = Literal["line", "points", "bar"]

_MARKERS: Final = "osD^vPX*<>"
"""So that series differ without their colours."""
_WIDE: Final = 60
"""Letters of names that stand side by side below bars; more of them lean."""
_LETTERS: Final = 150
"""Of a line of the caption, below the axes."""
_STAMPS: Final = {".png": "Software", ".pdf": "CreationDate"}
"""What files of a format say of when or with what they were made, which nobody needs; of others it is the date."""
_STYLES: Final = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Series:
    """One curve, cloud or group of bars.

    Attributes
    ----------
    name : str
    x : sequence of float or str
        Text for categories, as bars have.
    y : sequence of float or None
        None where there is no value.
    error : sequence of float or None, optional
        Half widths of the intervals around `y`.
    style : {"line", "points", "bar"}
    """

    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    error: Sequence[float | None] | None = None
    style: Style = "line"


@dataclass
class Figure:
    """A diagram of series.

    Attributes
    ----------
    name : str
        What its files are called.
    title, x_label, y_label : str
    series : list of Series
    caption : list of str
        Sentences, as below a table.
    """

    name: str
    title: str
    x_label: str = ""
    y_label: str = ""
    series: list[Series] = field(default_factory=list)
    caption: list[str] = field(default_factory=list)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each point."""
        return [
            {"series": one.name, "x": x, "y": y, **({"error": one.error[place]} if one.error is not None else {})}
            for one in self.series
            for place, (x, y) in enumerate(zip(one.x, one.y, strict=True))
        ]

    @classmethod
    def of_table(
        cls, name: str, table: Table, columns: Sequence[str], y_label: str, *, rows: Container[str] | None = None
    ) -> Figure:
        """Return columns of a table as bars, side by side for each row.

        Parameters
        ----------
        table : Table
            Its title and caption are the figure's. A column "± seeds" right of one that is drawn is its interval.
        columns : sequence of str
            Headings of numbers; those that the table lacks are passed over. All headings of numbers, if it is empty.
        rows : container of str, optional
            Names, as the table's first cells are, of the rows that are drawn; all, if not given.
        """
        headings = [column.heading for column in table.columns]
        names = next((place for place, column in enumerate(table.columns) if column.numeric), len(headings))
        shown = [row for row in table.rows if rows is None or row[0] in rows]
        x = [" ".join(cell for cell in row[:names] if cell not in {"", "-"}) for row in shown]
        series = []
        columns = columns or [column.heading for column in table.columns if column.numeric]
        for place in (headings.index(column) for column in columns if column in headings):
            spread = place + 1 if headings[place + 1 : place + 2] == ["± seeds"] else None
            error = None if spread is None else [_value(row, spread) for row in shown]
            series.append(Series(headings[place], x, [_value(row, place) for row in shown], error, "bar"))
        return cls(name, table.title, "", y_label, series, table.caption)

    def save(self, folder: PathLike) -> list[Path]:
        """Write ``NAME.svg``, ``NAME.png`` and ``NAME.csv`` into a folder, replacing what is there; return their paths.

        Raises
        ------
        OptionError
            If matplotlib is not installed, or a file cannot be written.
        """
        with figure_folder(folder) as made:
            paths = [made / f"{self.name}.{suffix}" for suffix in ("svg", "png", "csv")]
            self.draw(*paths[:2])
            with RowWriter(paths[2], existing=Existing.OVERWRITE) as rows:
                for row in self.to_rows():
                    rows.write(row)
        return paths

    def draw(self, *paths: Path) -> None:
        """Draw it to files, ``.svg``, ``.png`` or ``.pdf``.

        Raises
        ------
        OptionError
            If matplotlib is not installed, or a file cannot be written.
        """
        with canvas(*paths, width=7, font=9) as (_, (axes,)):
            self._fill(axes)

    def _fill(self, axes: Any) -> None:
        bars = [one for one in self.series if one.style == "bar"]
        width = 0.8 / max(1, len(bars))
        colours = cycle(f"C{number}" for number in range(10))
        for number, (one, colour) in enumerate(zip(self.series, colours, strict=False)):
            y = [float("nan") if value is None else value for value in one.y]
            error = None if one.error is None else [value or 0.0 for value in one.error]
            label = plain(one.name)
            if one.style == "bar":
                shift = (bars.index(one) - (len(bars) - 1) / 2) * width
                places = [place + shift for place in range(len(one.x))]
                axes.bar(places, y, width, label=label, yerr=error, capsize=3, color=colour)
                ticks = [plain(str(x)) for x in one.x]
                steep = {"rotation": 25, "ha": "right"} if sum(map(len, ticks)) > _WIDE else {}
                axes.set_xticks(range(len(one.x)), ticks, **steep)
            elif one.style == "points":
                axes.plot(one.x, y, _MARKERS[number % len(_MARKERS)], markersize=3, label=label, color=colour)
            else:
                axes.plot(one.x, y, _STYLES[number // 10 % len(_STYLES)], linewidth=1.2, label=label, color=colour)
        axes.set(xlabel=plain(self.x_label), ylabel=plain(self.y_label))
        axes.set_title(plain(self.title), fontsize=10)
        axes.grid(visible=True, alpha=0.3)
        if self.caption:
            lines = chain.from_iterable(wrap(plain(sentence), _LETTERS) for sentence in self.caption)
            axes.figure.text(0.01, -0.01, "\n".join(lines), fontsize=6, verticalalignment="top")
        if self.series:
            axes.legend(fontsize=7, ncols=2 if len(self.series) > 4 else 1)


def _value(row: Sequence[str], place: int) -> float | None:
    value = getattr(row[place], "value", None) if place < len(row) else None
    return float(value) if isinstance(value, int | float) else None


def plain(text: str) -> str:
    """Return text that matplotlib draws as it is: a dollar would begin a formula."""
    return visible(text, keep="\n").replace("$", r"\$")


@contextmanager
def canvas(*paths: Path, panels: int = 1, width: float, font: float = 10) -> Iterator[tuple[Any, list[Any]]]:
    """Give a figure and its panels side by side, and write it; the same data make the same files.

    Parameters
    ----------
    *paths : Path
        Of the format that their ending says.
    width : float
        Of all panels, in inches.
    font : float
        Points of letters.

    Raises
    ------
    OptionError
        If matplotlib is not installed, or a file cannot be written.
    """
    matplotlib, figures = _matplotlib(), import_module("matplotlib.figure")
    settings: Mapping[str, Any] = {"svg.hashsalt": "optsum", "svg.fonttype": "none"}
    with matplotlib.rc_context({**settings, "font.size": font}):
        figure = figures.Figure(figsize=(width, 4.2), layout="constrained")
        yield figure, list(figure.subplots(1, panels, squeeze=False).flat)
        for path in paths:
            stamped = _STAMPS.get(path.suffix.lower(), "Date")
            try:
                with replacing(path) as new:
                    figure.savefig(new, metadata={stamped: None}, dpi=150, bbox_inches="tight")
            except OSError as error:
                raise OptionError(f"The plot {path} cannot be written: {describe_os_error(error)}.") from error


@contextmanager
def figure_folder(folder: PathLike) -> Iterator[Path]:
    """Make a folder for figures, and say in a sentence what cannot be written there.

    Raises
    ------
    OptionError
        Also if matplotlib is not installed, so that it is known before hours of work.
    """
    _matplotlib()
    try:
        made = Path(folder)
        made.mkdir(parents=True, exist_ok=True)
        yield made
    except OSError as error:
        raise OptionError(f"Figures cannot be written to {folder}: {describe_os_error(error)}.") from error


def _matplotlib() -> Any:
    try:
        return import_module("matplotlib")
    except ImportError:
        raise OptionError("Figures need matplotlib: pip install 'optsum[plots]', or leave them out.") from None
