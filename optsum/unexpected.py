"""Exceptions that nobody expected: one sentence for the row or the user, the traceback for who asks for it."""

from __future__ import annotations

import logging

from optsum.errors import OptsumError

__all__ = ["describe", "show_tracebacks", "tracebacks_are_shown"]

_log = logging.getLogger("optsum")


def describe(error: BaseException) -> str:
    """Return what went wrong as one sentence, and log the traceback on the level "debug".

    Errors of optsum say it themselves; any other exception is a fault of optsum or of a plug-in, and is named as one.
    """
    _log.debug("%s", error, exc_info=error)
    if isinstance(error, OptsumError):
        return str(error)
    text = " ".join(str(error).split())
    return (
        f"unexpected {type(error).__name__}{f' ({text:.300})' if text else ''}: this is a fault of optsum or of a "
        "plug-in, please report it; --debug shows where it happened"
    )


def show_tracebacks() -> None:
    """Print the tracebacks of this process on stderr."""
    if not tracebacks_are_shown():
        _log.addHandler(logging.StreamHandler())
        _log.setLevel(logging.DEBUG)


def tracebacks_are_shown() -> bool:
    """Return whether `show_tracebacks` was called."""
    return _log.level == logging.DEBUG
