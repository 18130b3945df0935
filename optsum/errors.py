"""Every error that optsum raises on purpose.

One base class; each message is one sentence that says what was wrong, where, and what to do. Where a built-in
exception fits, the class derives from it too, so ``except ValueError`` keeps working. An infeasible instance, a
time limit and a search that found nothing are *results* (`optsum.contracts.result`), never exceptions.
"""

from __future__ import annotations

__all__ = [
    "BackendError",
    "InputError",
    "OptionError",
    "OptsumError",
    "UnknownNameError",
    "UnsupportedError",
]


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
