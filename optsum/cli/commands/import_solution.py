"""SOLUTIONS is a folder with a file for each problem that optsum export wrote, or the file of the only problem.

Files are named like the exported ones but for their ending (.sol, .soln, .out, .raw, .txt). They are of CBC, GLPK,
HiGHS, SCIP, Gurobi, CPLEX or a MaxSAT solver, or lines of a name and a value. The other options must be those of the
export.

Every solution is scored afresh, and is optimal only where it attains the bound that is proven here.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from optsum.cli.flags import Files, Flags, output_or_pipe
from optsum.options.options import OF_SEARCHES, Options, resolve

FLAGS = Flags(Options, without=OF_SEARCHES)


def run(
    files: Files,
    solutions: Annotated[str, typer.Argument(metavar="SOLUTIONS", help="folder of solution files, or one file")],
    options: dict[str, Any],
) -> int:
    """Import the solutions of other programs."""
    from optsum.cli.each_topic import EachTopic
    from optsum.exchange.import_ import import_topics
    from optsum.report.tables.results import results_table
    from optsum.running.posed import posed

    _, options = posed(files.topics, options, files.config)
    resolved = resolve(options, config=files.config)
    work = EachTopic(files, output_or_pipe(files.output), [resolved])
    return work.show(lambda source: ([result] for result in import_topics(source, solutions, resolved)), results_table)
