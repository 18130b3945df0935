"""How a conformance check fails."""

from __future__ import annotations


class ConformanceError(AssertionError):
    """A problem or a strategy that does not keep its contract; the message names the instance."""


def expect(holds: object, where: str, sentence: str) -> None:
    """Fail unless `holds`.

    Parameters
    ----------
    where : str
        The instance, so that it can be made again.
    sentence : str
        What is wrong.

    Raises
    ------
    ConformanceError
    """
    if not holds:
        raise ConformanceError(f"{where}: {sentence}")
