"""How long an exhaustive search will take: known before it starts, and said where it is long."""

from __future__ import annotations

from math import isinf
from typing import Final

_LONG_S: Final = 2.0
_ABSURD_S: Final = 600.0
_MEASURED_S: Final = 0.2
_YEAR_S: Final = 31_557_600
_AGE_OF_THE_EARTH_S: Final = 4.54e9 * _YEAR_S
_UNITS: Final = ((60.0, 1.0, "s"), (3600.0, 60.0, "min"), (86400.0, 3600.0, "h"), (3e7, 86400.0, "days"))


class Estimate:
    """Seconds for so many selections: first at a usual rate, soon at the rate that is measured.

    Attributes
    ----------
    selections : float
    seconds : float
        Of the whole search.
    """

    def __init__(self, selections: float, rate: float) -> None:
        self.selections = selections
        self.seconds = selections / rate
        self._said = False

    def update(self, visited: int, elapsed: float, limit_s: float | None) -> str | None:
        """Take note of the progress; return, once, what people should know if it will take long."""
        if self._said or elapsed < _MEASURED_S or not visited:
            return None
        self._said = True
        self.seconds = self.selections * elapsed / visited
        return self._sentence(limit_s) if self.seconds > _LONG_S else None

    def _sentence(self, limit_s: float | None) -> str:
        many = "more than 1e300" if isinf(self.selections) else f"{self.selections:.3g}"
        about = "about " if self.seconds < _AGE_OF_THE_EARTH_S else ""
        text = f"exhaustive: {many} selections, {about}{duration(self.seconds)}"
        if limit_s is not None and limit_s < self.seconds:
            return f"{text}; the time limit stops it after {duration(limit_s)}."
        if self.seconds > _ABSURD_S:
            return f"{text}; --time-limit stops it early, and --strategy branch-and-bound or milp need not visit all."
        return f"{text}."


def duration(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> duration(95.0)
    '1.6 min'
    """
    for below, unit, name in _UNITS:
        if seconds < below:
            return f"{seconds / unit:.2g} {name}"
    return f"{seconds / _YEAR_S:.2g} years" if seconds < _AGE_OF_THE_EARTH_S else "longer than the Earth is old"
