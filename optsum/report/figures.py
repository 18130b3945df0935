"""Figures of comparisons, frontiers and tables as SVG, PDF and PNG files, with their data as CSV."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from optsum.errors import OptionError, visible
from optsum.registry import DEFAULT_HEURISTIC
from optsum.report.tables import Cell, Table, short_seconds
from optsum.system.files import PathLike, describe_os_error, replacing

if TYPE_CHECKING:
    from optsum.contracts.result import Result
    from optsum.report.comparison import Comparison


_MARKERS: Final = "os^DvPX*"  # Series have different markers, so that they differ without colours, too.
_WIDE: Final = 60  # If the names below bars have more characters together, they are rotated.
_STAMPS: Final = {".png": ("Software", "Description"), ".pdf": ("CreationDate", "Subject")}
"""By format, two metadata fields: one that varies by run or version, which is left out, and one for the caption."""

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1b1d1f", "#7a6a00")
"""The colours of series (Okabe & Ito), in the same order as on the page of `optsum.report.page`."""

_DASHES: Final[tuple[Any, ...]] = (
    "-", (0, (4, 1.7)), (0, (1.2, 1.4)), (0, (5, 1.4, 1.2, 1.4)), (0, (3, 1.2)), (0, (1.2, 2.4)), (0, (7, 1.7)),
    (0, (2.4, 1.2, 0.6, 1.2, 0.6, 1.2)),
)  # fmt: skip


def look_of(place: int) -> dict[str, Any]:
    return {"color": COLOURS[place % len(COLOURS)], "linestyle": _DASHES[place % len(_DASHES)]}


@dataclass(frozen=True)
class Series:
    """The data of one curve, one cloud of points, or the bars of one colour."""

    name: str
    x: Sequence[float | str]  # Texts are the categories of bars.
    y: Sequence[float | None]  # None for a missing value.
    error: Sequence[float | None] | None = None  # Half widths of the intervals around `y`.
    style: Literal["line", "points", "bar"] = "line"


@dataclass
class Figure:
    """A diagram with one pair of axes."""

    name: str  # The name of its files, without suffix.
    title: str
    x_label: str = ""
    y_label: str = ""
    series: list[Series] = field(default_factory=list)
    caption: list[str] = field(default_factory=list)  # Sentences, which are stored in the metadata of the files.

    def add(self, name: str, x: Sequence[Any], y: Sequence[float | None], **how: Any) -> None:
        """Add a series; `how`: the fields ``error`` and ``style`` of `Series`."""
        self.series.append(Series(name, x, y, **how))

    def to_rows(self) -> list[dict[str, Any]]:
        return [
            {"series": one.name, "x": x, "y": y, **({"error": one.error[place]} if one.error is not None else {})}
            for one in self.series
            for place, (x, y) in enumerate(zip(one.x, one.y, strict=True))
        ]

    @classmethod
    def of_table(
        cls, name: str, table: Table, columns: Sequence[str], y_label: str, *, rows: Container[str] | None = None
    ) -> Figure:
        """Return bars for `columns` of a table (empty: all numeric ones), by row; "± seeds" becomes error bars."""
        headings = [column.heading for column in table.columns]
        names = next((place for place, column in enumerate(table.columns) if column.numeric), len(headings))
        shown = [row for row in table.rows if rows is None or row[0] in rows]
        x = [" ".join(cell for cell in row[:names] if cell not in {"", "-"}) for row in shown]
        figure = cls(name, table.title, "", y_label, caption=table.caption)
        columns = columns or [column.heading for column in table.columns if column.numeric]
        for place in (headings.index(column) for column in columns if column in headings):
            spread = headings[place + 1 : place + 2] == ["± seeds"]
            error = [_value(row, place + 1) for row in shown] if spread else None
            figure.add(headings[place], x, [_value(row, place) for row in shown], error=error, style="bar")
        return figure

    def save(self, folder: PathLike) -> list[Path]:
        """Write NAME.svg, NAME.pdf, NAME.png and NAME.csv into a folder, replacing files, and return their paths."""
        with figure_folder(folder) as made:
            paths = [made / f"{self.name}.{suffix}" for suffix in ("svg", "pdf", "png", "csv")]
            self.draw(*paths[:-1])
            rows = self.to_rows()
            names = list(dict.fromkeys(name for row in rows for name in row))
            table = Table.of(names, rows=[[Cell("", row.get(name)) for name in names] for row in rows])
            with replacing(paths[-1]) as new:
                new.write_text(table.to_csv(), encoding="utf-8", newline="\n")
        return paths

    def draw(self, *paths: Path) -> None:
        with canvas(*paths, width=7, font=9, caption=self.caption) as (_, (axes,)):
            bars = [one for one in self.series if one.style == "bar"]
            width = 0.8 / max(1, len(bars))
            for number, one in enumerate(self.series):
                colour = COLOURS[number % len(COLOURS)]
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
                    axes.plot(one.x, y, linewidth=1.2, label=label, **look_of(number))
            axes.set(xlabel=plain(self.x_label), ylabel=plain(self.y_label))
            axes.set_title(plain(self.title), fontsize=10)
            if self.series:
                axes.legend(fontsize=7, ncols=2 if len(self.series) > 4 else 1)


def _value(row: Sequence[str], place: int) -> float | None:
    value = getattr(row[place], "value", None) if place < len(row) else None
    return float(value) if isinstance(value, int | float) else None


def plain(text: str) -> str:
    """Return text for matplotlib: dollar signs, which would begin a formula, and control characters are escaped."""
    return visible(text, keep="\n").replace("$", r"\$")


@contextmanager
def canvas(
    *paths: Path, panels: int = 1, width: float, font: float = 10, caption: Sequence[str] = ()
) -> Iterator[tuple[Any, list[Any]]]:
    """Provide axes side by side (`width` in inches), then write the figure to files; equal data give equal files."""
    matplotlib, figures = _matplotlib(), import_module("matplotlib.figure")
    settings: Mapping[str, Any] = {"svg.hashsalt": "optsum", "svg.fonttype": "none"}
    with matplotlib.rc_context({**settings, "font.size": font}):
        figure = figures.Figure(figsize=(width, 4.2), layout="constrained")
        axes = list(figure.subplots(1, panels, squeeze=False).flat)
        yield figure, axes
        for one in axes:
            one.set_axisbelow(True)
            one.grid(visible=True, alpha=0.3)
        for path in paths:
            stamped, described = _STAMPS.get(path.suffix.lower(), ("Date", "Description"))
            metadata = {stamped: None, **({described: visible(" ".join(caption))} if caption else {})}
            try:
                with replacing(path) as new:
                    figure.savefig(new, metadata=metadata, dpi=150, bbox_inches="tight")
            except OSError as error:
                raise OptionError(f"The plot {path} cannot be written: {describe_os_error(error)}.") from error


@contextmanager
def figure_folder(folder: PathLike) -> Iterator[Path]:
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


def checked_plot(path: str | Path) -> Path:
    place = Path(path)
    if place.suffix.lower() not in {".svg", ".png", ".pdf"}:
        raise OptionError(f"The plot {path} has a format that optsum cannot draw: name it .svg, .png or .pdf.")
    if not place.parent.is_dir():
        raise OptionError(f"The plot {path} cannot be written: there is no folder {place.parent}; create it first.")
    if find_spec("matplotlib") is None:
        raise OptionError("A plot needs matplotlib: pip install 'optsum[plots]'.")
    return place


def plot_comparison(comparison: Comparison, path: Path) -> None:
    """Draw the share of runs by loss against the optimum, and mean ratios by median time, for each strategy."""
    with canvas(path, panels=2, width=9.8) as (figure, axes):
        shares, times = axes
        ratios_of = [np.asarray(comparison.details.ratios_of[row.strategy], np.float64) for row in comparison.rows]
        losses = [np.sort(np.maximum(1 - ratios, 0)) for ratios in ratios_of]
        lost = [float(loss) for found in losses for loss in found if loss > 1e-12]
        # Smaller losses are drawn at the left end of the logarithmic axis.
        least = max(1e-4, 10.0 ** np.floor(np.log10(min(lost)))) if lost else 0.01
        most = max(10 * least, *lost, 0.0)
        for place, (row, found, ratios) in enumerate(zip(comparison.rows, losses, ratios_of, strict=True)):
            if not len(found):
                continue
            at_most = np.arange(1, len(found) + 1) / len(found)
            look = {**look_of(place), "label": plain(row.strategy)}
            inside = found > least
            x, y = [least, *found[inside], most], [float((~inside).mean()), *at_most[inside], 1]
            shares.step(x, y, where="post", linewidth=1.6, **look)
            if row.median_seconds:
                low, high = np.quantile(ratios, [0.25, 0.75])
                middle = float(row.mean_ratio or 0)
                reach = [[max(middle - low, 0)], [max(high - middle, 0)]]
                marker = _MARKERS[place % len(_MARKERS)]
                point = {"color": look["color"], "fmt": marker, "capsize": 3, "label": look["label"]}
                times.errorbar([row.median_seconds], [middle], yerr=reach, **point)
        shares.set(xlabel="loss against the optimum: 1 - ratio", ylabel="share of runs that lose at most this much")
        shares.set(xscale="log", xlim=(least, most), ylim=(0, 1.03))
        times.set(xlabel="median time", ylabel="mean ratio, and the middle half", xscale="log")
        shares.xaxis.set_major_formatter("{x:g}")
        times.xaxis.set_major_locator(import_module("matplotlib.ticker").LogLocator(subs=(1, 2, 5)))
        times.xaxis.set_major_formatter(lambda value, _: short_seconds(value))
        for one in axes:
            one.xaxis.set_minor_formatter("")
        if any(row.guaranteed for row in comparison.rows):
            shares.set_xlabel("loss against the optimum, or against the best bound (an upper limit)")
        if shares.lines:
            shares.legend(loc="lower right", frameon=False)
        figure.suptitle(plain(comparison.tables()[0].title))


def plot_frontier(results: Sequence[Result], path: Path, unit: str) -> None:
    """Draw optimum, bound and greedy search at every length: means over topics, and the quartiles of optima."""
    found = [one for result in results if (one := result.frontier) is not None]
    if not found:
        return
    lengths = sorted({length for one in found for step in one.steps for length in (step.first, step.last)})
    lowest, highest = lengths[0], lengths[-1]
    at = np.arange(lowest, highest + 1) if highest - lowest < 20_000 else np.array(lengths)
    best = _values(at, [[(step.first, step.objective) for step in one.steps] for one in found])
    bound = _values(at, [[(step.first, step.bound) for step in one.steps] for one in found])
    with canvas(path, width=7) as (figure, (values,)):
        colour = look_of(0)["color"]
        if len(found) > 1:
            low, high = np.quantile(best, [0.25, 0.75], axis=0)
            label = "middle half of the topics"
            values.fill_between(at, low, high, step="post", alpha=0.12, color=colour, label=label)
        values.step(at, best.mean(axis=0), where="post", label="optimum", **look_of(0))
        if (bound != best).any():
            values.step(at, bound.mean(axis=0), where="post", color=colour, linestyle=":", label="best bound")
        greedy = [[(step.first, step.objective) for step in one.greedy] for one in found if one.greedy]
        if len(greedy) == len(found):
            values.step(at, _values(at, greedy).mean(axis=0), where="post", label=DEFAULT_HEURISTIC, **look_of(1))
        values.set(xlabel=f"maximum length in {unit}", ylabel="objective", ylim=(0, None))
        values.legend(loc="lower right", frameon=False)
        figure.suptitle(f"{len(found)} topics" if len(found) > 1 else "")


def _values(at: Any, curves: Sequence[Sequence[tuple[int, float | None]]]) -> Any:
    def held(steps: Sequence[tuple[int, float | None]]) -> Any:
        known = np.array([0.0, *(value or 0.0 for _, value in steps)])  # nothing before the first step
        return known[np.searchsorted([first for first, _ in steps], at, side="right")]

    return np.array(list(map(held, curves)))
