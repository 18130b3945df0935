"""A share of the topics: the first of three has topics 0, 3, 6, ..."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from optsum.errors import OptionError

__all__ = ["Shard"]


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number` of `of`, from 1; by turns, so that neighbours, which are often alike, are shared out."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Return the shard that ``i/n`` names.

        Raises
        ------
        OptionError

        Examples
        --------
        >>> Shard.parse("2/3").holds(4), str(Shard.parse("2/3"))
        (True, '2/3')
        """
        if text is None:
            return cls()
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip(), re.ASCII)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise OptionError(f"The shard {text!r:.80} is none: give I/N with I from 1 to N, such as 1/16.")
        return cls(int(match[1]), int(match[2]))

    def holds(self, topic: int) -> bool:
        """Return whether a topic, by its number from 0, is in the shard."""
        return topic % self.of == self.number - 1

    def count(self, topics: int) -> int:
        """Return how many of so many topics are in the shard."""
        return len(range(self.number - 1, topics, self.of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
