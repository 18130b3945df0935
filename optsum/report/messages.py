"""Progress and log messages of long work: as a bar on a terminal, as lines in a pipe, or in a log file."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from optsum.errors import OptionError, VisibleFormatter, tracebacks_are_shown, visible
from optsum.system.files import PACKED, describe_os_error, is_stream, open_own, open_stream

if TYPE_CHECKING:
    from io import TextIOWrapper

    from rich.console import Console

T = TypeVar("T")

_LOG = logging.getLogger("optsum")

LINE_S: Final = 30.0  # Seconds between two lines of progress in a log.

_shown: list[Console] = []  # Consoles on which a bar is shown now.
_quiet = [False]  # A stack; its last entry says whether only errors are reported.


def is_quiet() -> bool:
    return _quiet[-1]


def on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def say(message: str) -> None:
    """Print a message on stderr if that is a terminal, above the progress bar if there is one."""
    if _shown:
        _shown[-1].print(visible(message), markup=False, highlight=False, soft_wrap=True)
    elif on_terminal():
        print(visible(message), file=sys.stderr, flush=True)  # noqa: T201 - its purpose


Advance: TypeAlias = Callable[..., None]  # Its argument is the number of items done since the last call, by default 1.


def bar(what: str, count: Callable[[], int | None], *, in_logs: bool = False) -> AbstractContextManager[Advance]:
    """Show progress as a bar on a terminal, or as log lines (in a pipe if `in_logs`); provide a function to advance."""
    if is_quiet():
        return nullcontext(lambda done=1: None)  # noqa: ARG005
    return _drawn(what, count()) if on_terminal() else _logged(what, count, in_logs)


def advancing(items: Iterable[T], advance: Advance) -> Iterator[T]:
    for item in items:
        yield item
        advance()


@contextmanager
def _drawn(what: str, total: int | None) -> Iterator[Advance]:
    from rich import progress as parts
    from rich.console import Console

    columns = [parts.BarColumn(), parts.MofNCompleteColumn(), parts.TextColumn(what), parts.TimeElapsedColumn()]
    columns += [parts.TextColumn("left"), parts.TimeRemainingColumn()] if total else []
    # By default, rich would also redirect the standard output, to which rows are written.
    console = Console(stderr=True)
    with parts.Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task(what, total=total)
        _shown.append(console)
        try:
            yield lambda done=1: progress.advance(task, done)
        finally:
            _shown.pop()


@contextmanager
def _logged(what: str, count: Callable[[], int | None], in_logs: bool) -> Iterator[Advance]:
    """Log a line of progress every half minute, even if no item was done since the last one."""
    over, total = Event(), cache(count)
    seen: list[tuple[float, int]] = []  # (time, number of items done) at the first and the last call of `add`

    def add(done: int = 1) -> None:
        seen[1:] = [(monotonic(), done + (seen[-1][1] if seen else 0))]

    def line() -> str:
        (began, kept), (_, done), all_ = seen[0] if seen else (0.0, 0), seen[-1] if seen else (0.0, 0), total()
        of = f"{done} {what}" if all_ is None else f"{done} of {all_} {what}"
        passed = monotonic() - began
        if done == kept or passed <= 0:
            return f"{of} done"
        rate = (done - kept) / passed
        left = "" if all_ is None else f", {duration(max(0, all_ - done) / rate)} left"
        return f"{of} done, {rate:.3g} a second{left}"

    def lines() -> None:
        while not over.wait(LINE_S):
            _LOG.info("%s", line(), extra={"for_logs": in_logs})

    thread = Thread(target=lines, name="progress", daemon=True)
    if _LOG.isEnabledFor(logging.INFO):
        thread.start()
    try:
        yield add
    finally:
        over.set()


def duration(seconds: float) -> str:
    """Return a duration as text, in one or two units.

    Examples
    --------
    >>> duration(42.3), duration(600), duration(7500), duration(300000)
    ('42 s', '10 min', '2 h 5 min', '3 d 11 h')
    """
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def count_lines(*paths: str) -> int | None:
    """Return the number of non-blank lines of files; None if one is a pipe, compressed or unreadable."""
    lines = 0
    try:
        for path in paths:
            if path == "-" or not Path(path).is_file():
                return None
            with Path(path).open("rb") as file:
                if file.read(8).startswith(PACKED):
                    return None
                file.seek(0)
                lines += sum(not line.isspace() for line in file)
    except OSError:
        return None
    return lines


# Handlers of standard logging for a terminal, a pipe and a file.


@contextmanager
def telling(file: str | None = None, *, verbose: bool = False, quiet: bool = False) -> Iterator[None]:
    """Show log messages on stderr (`verbose`: in a pipe, too; `quiet`: none), and write them to a file if given."""
    with ExitStack() as stack:
        stack.callback(_LOG.setLevel, _LOG.level)
        _quiet.append(quiet)
        stack.callback(_quiet.pop)
        for handler in [_Saying(verbose, quiet), *([_LogFile(file)] if file is not None else [])]:
            _LOG.addHandler(handler)
            stack.callback(handler.close)
            stack.callback(_LOG.removeHandler, handler)
        if not tracebacks_are_shown():
            _LOG.setLevel(logging.INFO)
        yield


def note(message: str, *, failed: bool) -> None:
    if _LOG.handlers:  # without a handler, Python would print the message once more
        _LOG.log(logging.ERROR if failed else logging.INFO, "%s", message, extra={"said": True})


class _Saying(logging.Handler):
    def __init__(self, verbose: bool, quiet: bool) -> None:
        super().__init__(logging.INFO)
        self._verbose, self._quiet = verbose, quiet

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "said", False) or self._quiet:
            return
        if on_terminal():
            if not getattr(record, "for_logs", False):  # on a terminal, a bar shows the progress
                say(record.getMessage())
        elif record.levelno >= logging.WARNING or self._verbose or getattr(record, "for_logs", False):
            print(visible(record.getMessage()), file=sys.stderr, flush=True)  # noqa: T201


class _LogFile(logging.FileHandler):
    """Handler that writes messages with their times to a new file, or to a pipe or device that exists."""

    def __init__(self, path: str) -> None:
        try:
            super().__init__(path, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise OptionError(f"the log file {path} cannot be written: {describe_os_error(error)}") from error
        self.setFormatter(VisibleFormatter("%(asctime)s %(levelname)s %(message)s"))

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        opened = open_stream(path) if is_stream(path) else open_own(path)
        return open(opened, "w", encoding=self.encoding, errors=self.errors)  # noqa: PTH123
