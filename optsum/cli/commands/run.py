"""EXPERIMENT.toml names topics, options, and in [grid] lists of values, of which all combinations are searched.

DIR keeps the configuration, versions and every row as soon as it is there. After a crash, Ctrl-C, a full disk or a
reboot --resume does what is missing. Rows: optsum merge DIR -o rows.parquet.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any

import typer

from optsum.cli.exits import FAILED, INTERRUPTED, put, tell
from optsum.cli.flags import Flags
from optsum.cli.topics import Limit
from optsum.options.options import OF_WORKERS, Options
from optsum.report.messages import bar

FLAGS = Flags(Options, without=set(Options.model_fields) - set(OF_WORKERS))


def run(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="TOML file: topics, options and a grid")],
    folder: Annotated[str, typer.Argument(metavar="DIR", help="folder of the run")],
    options: dict[str, Any],
    resume: Annotated[bool, typer.Option("--resume", help="do what is missing in a run that is there")] = False,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="the I-th of N shares of the topics, for arrays of jobs")
    ] = None,
    limit: Limit = None,
    details: Annotated[
        bool, typer.Option("--details", help="rows carry the text, the options and all optima, for optsum report")
    ] = False,
) -> int:
    """Do what is missing of a run."""
    from optsum.cli.commands.status import in_words, said_of_errors
    from optsum.cli.signals import Interrupts
    from optsum.experiments.experiment import Shard, experiment_of
    from optsum.experiments.run import RunWork
    from optsum.experiments.status import status

    work = RunWork(
        experiment_of(experiment, options),
        folder,
        resume=resume,
        shard=Shard.parse(shard),
        limit=limit,
        details=details,
    )
    interrupted = False
    with ExitStack() as stack:
        stack.enter_context(work)
        interrupts = stack.enter_context(Interrupts())
        advance = stack.enter_context(bar(work.unit, lambda: work.total, in_logs=True))
        advance(work.kept)
        try:
            for done in interrupts.pull(work.rounds(), parallel=True):
                advance(done)
        except KeyboardInterrupt:
            interrupted = True
    now = status(folder)
    put(in_words(now))
    if interrupted:
        return tell(f"interrupted; --resume does the rest of {folder}", INTERRUPTED)
    return tell(said_of_errors(now), FAILED) if now.failed else 0
