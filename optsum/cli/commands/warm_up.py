"""Kernels are compiled when they are first needed, which takes seconds, and kept on disk. This does it now.

They are kept beside the sources if these can be written, in the user's cache folder if not, and in NUMBA_CACHE_DIR if
that is set. Processors of another kind compile their own.
"""

from __future__ import annotations

from time import perf_counter
from typing import Annotated

import typer

from optsum.cli.exits import DONE, put
from optsum.errors import OptionError
from optsum.registry import CHOOSER, STRATEGIES
from optsum.report.messages import bar


def run(
    strategy: Annotated[
        str | None, typer.Option("--strategy", metavar="NAME,NAME", help="strategies that will be used [auto]")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="all strategies")] = False,
) -> int:
    """Compile kernels."""
    from numba import config

    from optsum.report.tables.table import seconds
    from optsum.running.warm import kernels_of
    from optsum.system.compiling import compile_at_once
    from optsum.system.two_at_once import compile_parts

    if strategy is not None and all_:
        raise OptionError("Either --strategy names those that are warmed up, or --all does: leave one of the two.")
    names = list(STRATEGIES.builtin) if all_ else (strategy or CHOOSER).split(",")
    compile_at_once()
    parts = kernels_of(names)
    with bar("kernels", lambda: len(parts)) as advance:
        began = perf_counter()
        compile_parts(parts, advance)
    where = f"kept in {config.CACHE_DIR}" if config.CACHE_DIR else "kept beside the sources, or in your cache folder"
    put(f"kernels of {', '.join(names)} are ready after {seconds(perf_counter() - began)}; {where}")
    return DONE
