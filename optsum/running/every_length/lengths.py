"""Maximum lengths as options say them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from optsum.errors import OptionError

__all__ = ["Lengths"]

_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class Lengths:
    """Maximum lengths, ascending."""

    of: tuple[int, ...]

    @classmethod
    def given(cls, text: str | Sequence[int] | None, max_length: int | None) -> Lengths:
        """Return lengths as options say them: ``25:300:25`` (both ends included), ``50,100,200``, or numbers.

        Parameters
        ----------
        text : text or numbers, or None
            None for every length up to `max_length`.

        Raises
        ------
        OptionError
            If that says no lengths.
        """
        if text is None:
            if max_length is None:
                raise OptionError("A frontier needs lengths: give --lengths 25:300:25, or --max-length N for all to N.")
            return cls(tuple(range(1, max_length + 1)))
        try:
            if not isinstance(text, str):
                found = list(map(int, text))
            elif ":" in text:
                first, last, *step = map(int, text.split(":"))
                found = list(range(first, last + 1, *step))
            else:
                found = [int(part) for part in text.split(",")]
        except (TypeError, ValueError):
            found = []
        if not found or min(found) < 1 or len(found) > _MOST:
            raise OptionError(
                f"Lengths are numbers from 1, such as 25:300:25 (from, to, step) or 50,100,200, at most {_MOST}, "
                f"not {text!r}."
            )
        return cls(tuple(sorted(set(found))))

    def __str__(self) -> str:
        """Return them as `given` reads them."""
        steps = {b - a for a, b in zip(self.of, self.of[1:], strict=False)}
        if len(self.of) > 2 and len(steps) == 1:
            return f"{self.of[0]}:{self.of[-1]}:{steps.pop()}"
        return ",".join(map(str, self.of))
