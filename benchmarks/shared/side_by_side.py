"""Jobs on the same topics, interleaved, one core, warm: medians of CPU time, and ratios to the first."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from time import process_time

from rich.console import Console
from rich.table import Table


def side_by_side(title: str, jobs: Mapping[str, Callable[[], object]], topics: int, repeats: int) -> None:
    """Run every job `repeats` times after a round that warms up, and print one line a job."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for repeat in range(repeats + 1):
        for name, job in jobs.items():
            began = process_time()
            job()
            if repeat:
                seconds[name].append(process_time() - began)
    table = Table(title=title)
    for column in ("", "topics/s", "ms a topic", "ratio"):
        table.add_column(column, justify="left" if not column else "right")
    first = statistics.median(next(iter(seconds.values())))
    for name, times in seconds.items():
        median = statistics.median(times)
        table.add_row(name, f"{topics / median:.0f}", f"{1000 * median / topics:.2f}", f"{median / first:.2f}")
    Console().print(table)
