"""The charts of a page."""

from __future__ import annotations

from optsum.report.page.chart import Chart
from optsum.report.page.curves import lengths
from optsum.report.page.distributions import gaps, ratios
from optsum.report.page.gather import Gathered
from optsum.report.page.times import profile, sizes, values


def charts_of(gathered: Gathered) -> list[Chart]:
    """Return the charts for which there are numbers."""
    makers = (ratios, gaps, profile, values, sizes, lengths)
    return [chart for maker in makers if (chart := maker(gathered)) is not None]
