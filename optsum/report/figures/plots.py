"""Comparisons and frontiers drawn, as SVG or PDF for a page or paper and as PNG for everything else."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from optsum.errors import OptionError
from optsum.registry import DEFAULT_HEURISTIC
from optsum.report.figures.figure import canvas, look_of, marker_of, plain
from optsum.report.tables.table import short_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optsum.contracts.result import Result
    from optsum.report.comparison import Comparison


_MOST_POINTS: Final = 20_000
_ENDINGS: Final = (".svg", ".png", ".pdf")
_LEAST: Final = 1e-4  # Smallest loss that the axis shows; less counts as that.
_NO_LOSS: Final = 1e-12


def checked_plot(path: str | Path) -> Path:
    """Return where a plot is to be written, before any work is done for it."""
    place = Path(path)
    if place.suffix.lower() not in _ENDINGS:
        raise OptionError(f"The plot {path} is of no format that optsum draws: name it .svg, .png or .pdf.")
    if not place.parent.is_dir():
        raise OptionError(f"The plot {path} cannot be written: there is no folder {place.parent}; make it first.")
    if find_spec("matplotlib") is None:
        raise OptionError("A plot needs matplotlib: pip install 'optsum[plots]'.")
    return place


def plot_comparison(comparison: Comparison, path: Path) -> None:
    """Draw a comparison: the loss of each strategy against the optimum, and its time.

    Left a curve for each strategy, as on the page: the share of its runs that lose at most so much (1 - ratio). Right a
    point for each: mean ratio against median time, with the middle half of its ratios.
    """
    import numpy as np

    with canvas(path, panels=2, width=9.8) as (figure, axes):
        shares, times = axes
        ratios_of = [np.asarray(comparison.details.ratios_of(row.strategy), np.float64) for row in comparison.rows]
        losses = [np.sort(np.maximum(1 - ratios, 0)) for ratios in ratios_of]
        lost = [float(loss) for found in losses for loss in found if loss > _NO_LOSS]
        least = max(_LEAST, 10.0 ** np.floor(np.log10(min(lost)))) if lost else 0.01
        most = max(10 * least, *lost, 0.0)
        for place, (row, found, ratios) in enumerate(zip(comparison.rows, losses, ratios_of, strict=True)):
            if not len(found):
                continue
            at_most = np.arange(1, len(found) + 1) / len(found)
            look = {**look_of(place), "label": plain(row.strategy)}
            begin = float((found <= least).mean())
            inside = found > least
            shares.step(
                [least, *found[inside], most], [begin, *at_most[inside], 1], where="post", linewidth=1.6, **look
            )
            if row.median_seconds:
                low, high = np.quantile(ratios, [0.25, 0.75])
                middle = float(row.mean_ratio or 0)
                reach = [[max(middle - low, 0)], [max(high - middle, 0)]]
                point = {"color": look["color"], "fmt": marker_of(place), "capsize": 3, "label": look["label"]}
                times.errorbar([row.median_seconds], [middle], yerr=reach, **point)
        shares.set(xlabel="loss against the optimum: 1 - ratio", ylabel="share of runs that lose at most this much")
        shares.set(xscale="log", xlim=(least, most), ylim=(0, 1.03))
        times.set(xlabel="median time", ylabel="mean ratio, and the middle half", xscale="log")
        shares.xaxis.set_major_formatter("{x:g}")
        times.xaxis.set_major_locator(import_module("matplotlib.ticker").LogLocator(subs=(1, 2, 5)))
        times.xaxis.set_major_formatter(lambda value, _: short_seconds(value))
        for one in axes:
            one.xaxis.set_minor_formatter("")
        for one in axes:
            one.set_axisbelow(True)
            one.grid(visible=True, alpha=0.3)
        if any(row.guaranteed for row in comparison.rows):
            shares.set_xlabel("loss against the optimum, or against the best bound (an upper limit)")
        if shares.lines:
            shares.legend(loc="lower right", frameon=False)
        figure.suptitle(plain(comparison.tables()[0].title))


def plot_frontier(results: Sequence[Result], path: Path, unit: str) -> None:
    """Draw frontiers: the best value at every length.

    Drawn are means over the topics of the optimum (where a limit left a band, both of its sides), with the middle half
    of the topics, and of greedy search.

    `results`: of `optsum.frontier`; those without a frontier are left out. `unit`: of the lengths.
    """
    import numpy as np

    found = [one for result in results if (one := result.frontier) is not None]
    if not found:
        return
    lengths = sorted({length for one in found for step in one.steps for length in (step.first, step.last)})
    lowest, highest = lengths[0], lengths[-1]
    at = np.arange(lowest, highest + 1) if highest - lowest < _MOST_POINTS else np.array(lengths)
    best = _values(np, at, [[(step.first, step.objective) for step in one.steps] for one in found])
    bound = _values(np, at, [[(step.first, step.bound) for step in one.steps] for one in found])
    with canvas(path, width=7) as (figure, (values,)):
        best_look, greedy_look = look_of(0), look_of(1)
        mean = best.mean(axis=0)
        if len(found) > 1:
            low, high = np.quantile(best, [0.25, 0.75], axis=0)
            values.fill_between(
                at, low, high, step="post", alpha=0.12, color=best_look["color"], label="middle half of the topics"
            )
        values.step(at, mean, where="post", label="optimum", **best_look)
        if (bound != best).any():
            values.step(
                at, bound.mean(axis=0), where="post", color=best_look["color"], linestyle=":", label="best bound"
            )
        greedy = [[(step.first, step.objective) for step in one.greedy] for one in found if one.greedy]
        if len(greedy) == len(found):
            reached = _values(np, at, greedy).mean(axis=0)
            values.step(at, reached, where="post", label=DEFAULT_HEURISTIC, **greedy_look)
        values.set(xlabel=f"at most so many {unit}", ylabel="objective", ylim=(0, None))
        values.legend(loc="lower right", frameon=False)
        values.set_axisbelow(True)
        values.grid(visible=True, alpha=0.3)
        figure.suptitle(f"{len(found)} topics" if len(found) > 1 else "")


def _values(np: Any, at: Any, curves: Sequence[Sequence[tuple[int, float | None]]]) -> Any:
    """Return the value of every curve at every length, from the last step that begins there or before."""
    rows = []
    for steps in curves:
        starts = np.array([first for first, _ in steps])
        known = np.array([0.0 if value is None else value for _, value in steps], np.float64)
        place = np.searchsorted(starts, at, side="right") - 1
        rows.append(np.where(place >= 0, known[np.maximum(place, 0)], 0.0))
    return np.array(rows)
