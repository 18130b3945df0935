"""Figures: the data, drawn as SVG and PNG, and written as a table beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain, cycle
from pathlib import Path
from textwrap import wrap
from typing import Any, Final, Literal

from optsum.errors import OptionError, visible
from optsum.files import PathLike, describe_os_error
from optsum.rows.writer import Existing, RowWriter

__all__ = ["Figure", "Series", "figure_folder"]

Style = Literal["line", "points", "bar"]

_MARKERS: Final = "osD^vPX*<>"
"""So that series differ without their colours."""
_LETTERS: Final = 150
"""Of a line of the caption, below the axes."""
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

    def save(self, folder: PathLike) -> list[Path]:
        """Write ``NAME.svg``, ``NAME.png`` and ``NAME.csv`` into a folder, replacing what is there; return their paths.

        Raises
        ------
        OptionError
            If matplotlib is not installed, or a file cannot be written.
        """
        with figure_folder(folder) as made:
            paths = [made / f"{self.name}.{suffix}" for suffix in ("svg", "png", "csv")]
            self._draw(paths[:2])
            with RowWriter(paths[2], existing=Existing.OVERWRITE) as rows:
                for row in self.to_rows():
                    rows.write(row)
        return paths

    def _draw(self, paths: Sequence[Path]) -> None:
        matplotlib, figures = _matplotlib(), import_module("matplotlib.figure")
        # The same data make the same files: no time, no random names inside.
        settings: Mapping[str, Any] = {"svg.hashsalt": "optsum", "svg.fonttype": "none", "text.parse_math": False}
        with matplotlib.rc_context({**settings, "font.size": 9}):
            figure = figures.Figure(figsize=(7, 4.2), layout="constrained")
            self._fill(figure.subplots())
            for path in paths:
                stamped = "Software" if path.suffix == ".png" else "Date"
                figure.savefig(path, metadata={stamped: None}, dpi=150, bbox_inches="tight")

    def _fill(self, axes: Any) -> None:
        bars = [one for one in self.series if one.style == "bar"]
        width = 0.8 / max(1, len(bars))
        colours = cycle(f"C{number}" for number in range(10))
        for number, (one, colour) in enumerate(zip(self.series, colours, strict=False)):
            y = [float("nan") if value is None else value for value in one.y]
            error = None if one.error is None else [value or 0.0 for value in one.error]
            label = visible(one.name)
            if one.style == "bar":
                shift = (bars.index(one) - (len(bars) - 1) / 2) * width
                places = [place + shift for place in range(len(one.x))]
                axes.bar(places, y, width, label=label, yerr=error, capsize=3, color=colour)
                axes.set_xticks(range(len(one.x)), [visible(str(x)) for x in one.x])
            elif one.style == "points":
                axes.plot(one.x, y, _MARKERS[number % len(_MARKERS)], markersize=3, label=label, color=colour)
            else:
                axes.plot(one.x, y, _STYLES[number // 10 % len(_STYLES)], linewidth=1.2, label=label, color=colour)
        axes.set(xlabel=visible(self.x_label), ylabel=visible(self.y_label))
        axes.set_title(visible(self.title), fontsize=10)
        axes.grid(visible=True, alpha=0.3)
        if self.caption:
            lines = chain.from_iterable(wrap(visible(sentence), _LETTERS) for sentence in self.caption)
            axes.figure.text(0.01, -0.01, "\n".join(lines), fontsize=6, verticalalignment="top")
        if self.series:
            axes.legend(fontsize=7, ncols=2 if len(self.series) > 4 else 1)


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
