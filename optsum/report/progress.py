"""How far the work is: a bar on the terminal, nothing in a pipe."""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from optsum.errors import visible

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["bar", "count_lines", "on_terminal", "say", "telling"]

_BLOCK = 1 << 20

_shown: list[Console] = []
"""Where a bar is shown now."""


def on_terminal() -> bool:
    """Return whether people watch the standard error output."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(message: str) -> None:
    """Tell people on a terminal, and nobody else; above a bar that is shown."""
    if _shown:
        _shown[-1].print(visible(message), markup=False, highlight=False, soft_wrap=True)
    elif on_terminal():
        print(visible(message), file=sys.stderr, flush=True)  # noqa: T201 - that is what it is for


@contextmanager
def telling() -> Iterator[None]:
    """Show what searches tell (`optsum.contracts.run.Run.tell`), as `say` does; warnings in a pipe too."""
    logger = logging.getLogger("optsum")
    handler, level = _Saying(logging.INFO), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


class _Saying(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING and not on_terminal():  # a log should say it too
            print(visible(record.getMessage()), file=sys.stderr, flush=True)  # noqa: T201
        else:
            say(record.getMessage())


@contextmanager
def bar(what: str, count: Callable[[], int | None]) -> Iterator[Callable[[], None]]:
    """Show a progress bar; call what it gives once for each that is done.

    Parameters
    ----------
    what : str
        What is counted: "topics".
    count : callable
        Returns how many there will be, or None if that is not known; asked only if a bar is shown.
    """
    if not on_terminal():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    total = count()
    columns = [
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(what),
        TimeElapsedColumn(),
        *([TextColumn("left"), TimeRemainingColumn()] if total else []),
    ]
    # Left to itself, rich would take over the standard output too, rows and all.
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        task = progress.add_task(what, total=total)
        _shown.append(console)
        try:
            yield lambda: progress.advance(task)
        finally:
            _shown.pop()


def count_lines(path: str) -> int | None:
    """Return how many lines that are not blank a plain file has; None where only reading it would tell."""
    try:
        if path == "-" or not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            return None
        with Path(path).open("rb") as file:
            if file.read(2) == b"\x1f\x8b":
                return None
            file.seek(0)
            return sum(not line.isspace() for line in file)
    except OSError:
        return None
