"""A table is printed, one line a strategy; -o writes the rows of all runs.

The ratio is objective / optimum (the other way round when minimizing). The strategy of --exact computes the optima. It
is run too if it is not listed; none leaves the ratios against the best bound, which makes them lower limits. With
--backends highs,cbc,glpk the solvers of milp stand side by side, with --backends usable all that work here; options of
one are given as --backend-option highs.presolve=off. With --time-limit 0.1,1,10 every strategy is run with each.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from optsum.cli.exits import FAILED
from optsum.cli.flags import Files, Flags, Format, Plot, Start
from optsum.options.options import Options

FLAGS = Flags(Options, without={"strategy", "time_limit"})


def run(
    files: Files,
    options: dict[str, Any],
    strategies: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME", help="strategies to compare (optsum list strategies) [greedy,lead,random]"),
    ] = None,
    exact: Annotated[
        str | None, typer.Option(metavar="NAME", help="strategy that computes the optima, or none [auto]")
    ] = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details", help="spread, quantiles, wins and times; rows with texts and optima, for optsum report"
        ),
    ] = False,
    backends: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME", help="solvers to compare (optsum list backends), or usable; milp is run on each"
        ),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(metavar="X[,X]", help="seconds of search per problem, or several to compare")
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="FIRST:END|N,N", help="run what proves nothing with each; 0:10 are ten [that of --seed]"),
    ] = None,
    exact_time_limit: Annotated[
        float | None,
        typer.Option(metavar="X", help="seconds of search per problem for --exact, instead of --time-limit"),
    ] = None,
    start: Start = None,
    format_: Format = "text",
    plot: Plot = None,
) -> int:
    """Compare strategies on all topics of a file."""
    from optsum.cli.each_topic import EachTopic
    from optsum.report.comparison import Comparison
    from optsum.report.figures.plots import checked_plot, plot_comparison
    from optsum.report.tables.formats import table_format
    from optsum.report.tables.table import put_tables
    from optsum.running.plan import Plan, by_problem, compare_topics
    from optsum.running.posed import posed, started

    form = table_format(format_)
    plot_path = None if plot is None else checked_plot(plot)
    _, options = posed(files.topics, {**options, "time_limit": time_limit}, files.config)
    plan = Plan.of(
        strategies, exact, backends, seeds=seeds, exact_time_limit=exact_time_limit, config=files.config, **options
    )
    begun = partial(started, start=start, reading=plan.variants[0].reading)
    work = EachTopic(files, files.output, plan.variants)
    table = Comparison(plan, keep_results=False)
    looked_at = details and files.output is not None
    with work.until_interrupted():
        for results in work.run(lambda source: compare_topics(begun(source), plan, details=looked_at)):
            for problem in by_problem(results):
                table.add(problem)
    if files.output != "-" and (table.problems or not work.interrupted):
        put_tables([*table.tables(), *(table.details.tables() if details else [])], form)
    if plot_path is not None and table.problems:
        plot_comparison(table, plot_path)
    return max(work.status(), FAILED if table.contradictions else 0)
