"""Maximum lengths as options say them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from optsum.errors import OptionError
from optsum.whole import whole_numbers

_MOST: Final = 100_000
_LONGEST: Final = 10**12


@dataclass(frozen=True, slots=True)
class Lengths:
    """Maximum lengths, ascending."""

    of: tuple[int, ...]

    @classmethod
    def given(cls, text: str | Sequence[int] | None, max_length: int | None) -> Lengths:
        """Return lengths as options say them: ``25:300:25`` (both ends included), ``50,100,200``, or numbers."""
        if text is None:
            if max_length is None:
                raise OptionError("A frontier needs lengths: give --lengths 25:300:25, or --max-length N for all to N.")
            text = range(min(1, max_length), max_length + 1)
        try:
            given: Iterable[object] = text if not isinstance(text, str) else map(int, text.split(","))
            if isinstance(text, str) and ":" in text:
                first, last, *step = map(int, text.split(":"))
                given = range(first, last + 1, *step)
            found = whole_numbers(tuple(islice(given, _MOST + 1)), "Length {}")
        except (TypeError, ValueError):
            found = ()
        if not found or not 0 <= min(found) <= max(found) <= _LONGEST or len(found) > _MOST:
            raise OptionError(
                f"Lengths are numbers from 0 to {_LONGEST}, such as 25:300:25 (from, to, step) or 50,100,200, at most "
                f"{_MOST}, not {text!s:.80}."
            )
        return cls(tuple(sorted(set(found))))

    def __str__(self) -> str:
        """Return them as `given` reads them."""
        steps = {b - a for a, b in zip(self.of, self.of[1:], strict=False)}
        if len(self.of) > 2 and len(steps) == 1:
            return f"{self.of[0]}:{self.of[-1]}:{steps.pop()}"
        return ",".join(map(str, self.of))
