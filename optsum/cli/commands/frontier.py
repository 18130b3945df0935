"""One row a topic: the best value at every length, each step proven, and what greedy search reaches beside it.

An optimum that is shorter than its limit is the optimum of all limits in between, so that all lengths up to N take few
more searches than the steps there are. Where --time-limit (of all lengths of a topic together) comes first, the lengths
that are left have a band: what is known to be reached, and a proven bound. TOPICS is as for optsum solve.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from optsum.cli.flags import Files, Flags, Format, Plot
from optsum.contracts.frontier import Frontier
from optsum.options.options import Options

FLAGS = Flags(Options, without={"strategy"})


def run(
    files: Files,
    options: dict[str, Any],
    strategy: Annotated[str | None, typer.Option(metavar="NAME", help="an exact one [branch-and-bound]")] = None,
    lengths: Annotated[
        str | None, typer.Option(metavar="FROM:TO:STEP|N,N", help="maximum lengths [every length up to --max-length]")
    ] = None,
    optima: Annotated[bool, typer.Option("--optima", help="count all optima at each step")] = False,
    greedy: Annotated[bool, typer.Option(help="add what greedy search reaches")] = True,
    format_: Format = "text",
    plot: Plot = None,
) -> int:
    """Compute the frontiers of all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.report.figures.plots import checked_plot, plot_frontier
    from optsum.report.tables.formats import table_format
    from optsum.report.tables.results import frontier_table, headline, steps_table
    from optsum.report.tables.table import put_tables
    from optsum.running.every_length.frontier import frontier_topics, resolve_frontier
    from optsum.running.posed import posed

    form = table_format(format_)
    plot_path = None if plot is None else checked_plot(plot)
    _, options = posed(files.topics, options, files.config)
    resolved, found = resolve_frontier({**options, "strategy": strategy}, lengths, config=files.config)
    work = EachTopic(files, files.output, [resolved], other=lambda row: _other(row, str(found), optima, greedy))
    results = []
    with work.until_interrupted():
        for each in work.run(lambda source: frontier_topics(source, resolved, found, optima=optima, greedy=greedy)):
            results += each
    if files.output != "-" and results:
        single = len(results) == 1 and results[0].frontier is not None
        table = steps_table(results[0]) if single else frontier_table(results)
        table.title = headline(resolved)
        table.caption.append(work.summary())
        put_tables([table], form)
    if plot_path is not None and results:
        plot_frontier(results, plot_path, resolved.length_unit)
    sys.stdout.flush()
    return work.status()


def _other(row: Mapping[str, Any], lengths: str, optima: bool, greedy: bool) -> str | None:
    """Return which flag a row was made without, or with; they are no options of the search, which has a hash."""
    one = Frontier.from_row(row.get("frontier"))
    if one is None:
        return None if row.get("status") == "error" else "frontier"
    if one.lengths != lengths:
        return "--lengths"
    if optima != any(step.complete is not None for step in one.steps):
        return "--optima"
    return None if greedy or one.greedy is None else "--no-greedy"
