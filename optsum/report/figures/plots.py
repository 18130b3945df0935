"""Comparisons and frontiers drawn, as SVG or PDF for a page or paper and as PNG for everything else."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from optsum.errors import OptionError
from optsum.registry import QUICK
from optsum.report.figures.figure import canvas, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optsum.contracts.result import Result
    from optsum.report.comparison import Comparison


_MOST_POINTS: Final = 20_000
_ENDINGS: Final = (".svg", ".png", ".pdf")


def checked_plot(path: str | Path) -> Path:
    """Return where a plot is to be written, before any work is done for it.

    Raises
    ------
    OptionError
        If nothing can be drawn there: another ending, no folder, no matplotlib.
    """
    place = Path(path)
    if place.suffix.lower() not in _ENDINGS:
        raise OptionError(f"The plot {path} is of no format that optsum draws: name it .svg, .png or .pdf.")
    if not place.parent.is_dir():
        raise OptionError(f"The plot {path} cannot be written: there is no folder {place.parent}; make it first.")
    if find_spec("matplotlib") is None:
        raise OptionError("A plot needs matplotlib: pip install 'optsum[plots]'.")
    return place


def plot_comparison(comparison: Comparison, path: Path) -> None:
    """Draw a comparison: how the ratios of each strategy are distributed, and what they cost in time.

    Left a curve for each strategy: the share of its runs with at least that ratio. Right a point for each: mean ratio
    against median time, with the middle half of its ratios.

    Raises
    ------
    OptionError
        If the file cannot be written.
    """
    import numpy as np

    with canvas(path, panels=2, width=9.8) as (figure, axes):
        shares, times = axes
        for place, row in enumerate(comparison.rows):
            ratios = np.sort(np.asarray(comparison.details.ratios_of(row.strategy), np.float64))
            if not len(ratios):
                continue
            look = {"color": f"C{place % 10}", "label": plain(row.strategy)}
            at_least = 1 - np.arange(len(ratios)) / len(ratios)
            # From ratio 0, which all reach, down to none beyond the best.
            shares.step([0, *ratios, ratios[-1]], [1, *at_least, 0], where="pre", linewidth=1.6, **look)
            if row.median_seconds:
                low, high = np.quantile(ratios, [0.25, 0.75])
                middle = float(row.mean_ratio or 0)
                reach = [[max(middle - low, 0)], [max(high - middle, 0)]]
                times.errorbar([row.median_seconds], [middle], yerr=reach, fmt="o", capsize=3, **look)
        found = [float(min(comparison.details.ratios_of(row.strategy), default=1)) for row in comparison.rows]
        shares.set(xlabel="ratio to the optimum", ylabel="share of runs with at least this ratio", ylim=(0, 1.03))
        shares.set_xlim(max(0.0, min(found, default=0) - 0.02), 1.005)
        times.set(xlabel="median seconds", ylabel="mean ratio, and the middle half", xscale="log")
        for one in axes:
            one.grid(visible=True, alpha=0.3)
        if any(row.guaranteed for row in comparison.rows):
            shares.set_xlabel("ratio to the optimum, or to the best bound (a lower limit)")
        if shares.lines:
            shares.legend(loc="lower left", frameon=False)
        figure.suptitle(plain(comparison.tables()[0].title))


def plot_frontier(results: Sequence[Result], path: Path, unit: str) -> None:
    """Draw frontiers: the best value at every length, and what a unit of length more gains.

    Left the mean over the topics of the optimum (where a limit left a band, both of its sides), with the middle half of
    the topics, and of greedy search. Right the mean gain for each unit of length.

    Parameters
    ----------
    results : sequence of Result
        Of `optsum.frontier`; those without a frontier are left out.
    unit : str
        Of the lengths.

    Raises
    ------
    OptionError
        If the file cannot be written.
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
    with canvas(path, panels=2, width=9.8) as (figure, (values, gains)):
        mean = best.mean(axis=0)
        if len(found) > 1:
            low, high = np.quantile(best, [0.25, 0.75], axis=0)
            values.fill_between(at, low, high, step="post", alpha=0.15, color="C0", label="middle half of the topics")
        values.step(at, mean, where="post", color="C0", label="optimum")
        if (bound > best).any():
            values.step(at, bound.mean(axis=0), where="post", color="C0", linestyle=":", label="best bound")
        greedy = [[(step.first, step.objective) for step in one.greedy] for one in found if one.greedy]
        if len(greedy) == len(found):
            reached = _values(np, at, greedy).mean(axis=0)
            values.step(at, reached, where="post", color="C1", linestyle="--", label=QUICK)
        values.set(xlabel=f"at most so many {unit}", ylabel="objective", ylim=(0, None))
        values.legend(loc="lower right", frameon=False)
        if len(at) > 1:
            gains.step(at[1:], np.diff(mean) / np.diff(at), where="pre", color="C0")
        gains.set(xlabel=f"at most so many {unit}", ylabel=f"gain of the optimum for each of the {unit} more")
        for one in (values, gains):
            one.grid(visible=True, alpha=0.3)
        figure.suptitle(f"{len(found)} topics" if len(found) > 1 else "")


def _values(np: Any, at: Any, curves: Sequence[Sequence[tuple[int, float | None]]]) -> Any:
    """Return the value of every curve at every length: that of the last step that begins there or before."""
    rows = []
    for steps in curves:
        starts = np.array([first for first, _ in steps])
        known = np.array([0.0 if value is None else value for _, value in steps], np.float64)
        place = np.searchsorted(starts, at, side="right") - 1
        rows.append(np.where(place >= 0, known[np.maximum(place, 0)], 0.0))
    return np.array(rows)
