"""The one sentence that answers a name nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from optsum.errors import UnknownNameError

__all__ = ["unknown_name"]


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
    names = list(known)
    lower = {candidate.lower(): candidate for candidate in names}
    near = [lower[match] for match in get_close_matches(str(name).lower(), lower, n=3, cutoff=0.6)]
    hint = f"did you mean {' or '.join(near)}? Known" if near else "known"
    return UnknownNameError(f"there is no {kind} {name!r}; {hint}: {', '.join(names)}")
