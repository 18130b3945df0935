"""How ratios and gaps are distributed over the topics."""

from __future__ import annotations

from math import floor

from optsum.report.page.chart import Axis, Chart, Series, counts_in_words, steps, thinned
from optsum.report.page.gather import Found, Gathered, Variant
from optsum.report.tables.table import number


def ratios(gathered: Gathered) -> Chart | None:
    """Return the share of topics whose ratio is at most x, for all that prove nothing."""
    values = {
        place: [each.ratio for each in _of(gathered, variant) if each.ratio is not None]
        for place, (variant, exact) in enumerate(zip(gathered.variants, gathered.exact(), strict=True))
        if not exact
    }
    bound = sum(each.guaranteed for problem in gathered.problems for each in problem.found.values())
    note = f"; {bound} against the best bound, where the optimum is not known" if bound else ""
    return _distribution(
        gathered, "Ratio to the optimum", f"Share of topics with at most this ratio{note}.", values, "ratio", high=1.0
    )


def gaps(gathered: Gathered) -> Chart | None:
    """Return the share of topics whose certified gap is at most x."""
    values = {
        place: [gap for each in _of(gathered, variant) if (gap := each.result.gap) is not None]
        for place, variant in enumerate(gathered.variants)
    }
    if all(gap == 0 for gaps in values.values() for gap in gaps):
        return None
    wide = sum(gap > 1 for gaps in values.values() for gap in gaps)
    note = f"; {wide} of more than 1" if wide else ""
    about = f"Share of topics with at most this gap to its own bound{note}."
    largest = max(gap for gaps in values.values() for gap in gaps)
    return _distribution(gathered, "Certified gap", about, values, "gap", low=0.0, high=min(1.0, largest))


def _distribution(
    gathered: Gathered,
    title: str,
    about: str,
    values: dict[int, list[float]],
    what: str,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Chart | None:
    values = {place: sorted(found) for place, found in values.items() if found}
    if not values:
        return None
    everything = [value for found in values.values() for value in found]
    low = min(everything) if low is None else low
    high = max(everything) if high is None else high
    high = high if high > low else low + 1.0 if high < 1 else high
    low = low if low < high else high - 0.1
    series = [
        Series(place, thinned([(low, 0.0), *steps([one for one in found if one <= high], len(found))], high))
        for place, found in sorted(values.items())
    ]
    n = counts_in_words(map(len, values.values()))
    shares = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    names = gathered.names()
    return Chart(
        title,
        f"{about} {n}.",
        Axis(what, low, high),
        Axis("share of topics", 0.0, 1.0, unit="share"),
        series,
        heading=["strategy", "least", "5 %", "25 %", "median", "75 %", "95 %", "largest"],
        table=[
            [names[place], *(number(found[min(len(found) - 1, floor(share * len(found)))], 4) for share in shares)]
            for place, found in sorted(values.items())
        ],
    )


def _of(gathered: Gathered, variant: Variant) -> list[Found]:
    return [problem.found[variant] for problem in gathered.problems if variant in problem.found]
