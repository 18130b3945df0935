"""Every error that optsum raises on purpose.

One base class; each message is one sentence that says what was wrong, where, and what to do. Where a built-in
exception fits, the class derives from it too, so ``except ValueError`` keeps working. An infeasible instance, a
time limit and a search that found nothing are *results* (`optsum.contracts.result`), never exceptions. Beside them
stand the sentence that answers an unknown name, and the one for an exception that nobody expected.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

__all__ = [
    "BackendError",
    "InputError",
    "OptionError",
    "OptsumError",
    "UnknownNameError",
    "UnsupportedError",
    "describe",
    "show_tracebacks",
    "tracebacks_are_shown",
    "unknown_name",
]

_log = logging.getLogger("optsum")


class OptsumError(Exception):
    """Base class of all errors of optsum."""


class InputError(OptsumError, ValueError):
    """Data that cannot be used: a topic, a summary, a file's content."""


class OptionError(OptsumError, ValueError):
    """An option with an impossible value, or options that contradict one another."""


class UnknownNameError(OptionError, LookupError):
    """A strategy, formulation, backend, metric or key that does not exist."""


class UnsupportedError(OptsumError, TypeError):
    """A pair that does not go together, such as a strategy and a problem that lacks what it needs."""


class BackendError(OptsumError, RuntimeError):
    """A solver that is missing, unlicensed, too small for the instance, or whose answer does not survive re-scoring."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """Build (not raise) the error for an unknown name.

    Parameters
    ----------
    kind : str
        What was asked for, in the singular: "tokenizer", "metric".
    name : object
        What was given.
    known : iterable of str
        Every name that exists; the near ones are offered first.

    Returns
    -------
    UnknownNameError
        To be raised by the caller.
    """
    from difflib import get_close_matches

    names = list(known)
    lower = {candidate.lower(): candidate for candidate in names}
    near = [lower[match] for match in get_close_matches(str(name).lower(), lower, n=3, cutoff=0.6)]
    hint = f"did you mean {' or '.join(near)}? Known" if near else "known"
    known_names = f"{hint}: {', '.join(names)}" if names else "there is none at all"
    return UnknownNameError(f"there is no {kind} {name!r}; {known_names}")


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
