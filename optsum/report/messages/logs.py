"""What is said while the work goes on: on a terminal, in a pipe, and in a file of its own, by standard logging."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from optsum.errors import OptionError, tracebacks_are_shown, visible
from optsum.report.messages import progress
from optsum.report.messages.progress import Verbosity, saying
from optsum.system.files import describe_os_error

__all__ = ["note", "telling"]

_LOG = logging.getLogger("optsum")


@contextmanager
def telling(verbosity: Verbosity = Verbosity.NORMAL, file: str | None = None) -> Iterator[None]:
    """Show what is logged meanwhile, and keep it in a file, with times.

    Raises
    ------
    OptionError
        If the file cannot be written.
    """
    level = _LOG.level
    with ExitStack() as stack:
        stack.enter_context(saying(verbosity))
        for handler in [_Saying(verbosity), *([_to_file(file)] if file is not None else [])]:
            _LOG.addHandler(handler)
            stack.callback(handler.close)
            stack.callback(_LOG.removeHandler, handler)
        if not tracebacks_are_shown():
            _LOG.setLevel(logging.INFO)
        try:
            yield
        finally:
            _LOG.setLevel(level)


def note(message: str, *, failed: bool) -> None:
    """Keep in the file what was said on the standard error output otherwise."""
    if _LOG.handlers:  # without any, Python would say it once more
        _LOG.log(logging.ERROR if failed else logging.INFO, "%s", message, extra={"said": True})


class _Saying(logging.Handler):
    def __init__(self, verbosity: Verbosity) -> None:
        super().__init__(logging.INFO)
        self._verbosity = verbosity

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "said", False) or self._verbosity is Verbosity.QUIET:
            return
        if progress.on_terminal():
            if not getattr(record, "for_logs", False):  # there a bar says it
                progress.say(record.getMessage())
        elif (
            record.levelno >= logging.WARNING
            or self._verbosity is Verbosity.VERBOSE
            or getattr(record, "for_logs", False)
        ):
            print(visible(record.getMessage()), file=sys.stderr, flush=True)  # noqa: T201


class _Visible(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record), keep="\n")


def _to_file(path: str) -> logging.Handler:
    try:
        handler = logging.FileHandler(Path(path), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise OptionError(f"the log file {path} cannot be written: {describe_os_error(error)}") from error
    handler.setFormatter(_Visible("%(asctime)s %(levelname)s %(message)s"))
    return handler
