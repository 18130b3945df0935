"""A metric of your own: n-grams of characters (as in chrF, Popovic 2015).

optsum solve TOPICS --metric char-4 --measure f1 --max-length 60
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import optsum


@dataclass(frozen=True)
class CharacterNGrams(optsum.Metric):
    """char-N: N characters next to each other, blanks left out; char is char-4."""

    size: int = 4
    form: ClassVar[str] = "char"
    about: ClassVar[str] = "char-N: N characters next to each other, blanks left out, N from 1 to 99; char is char-4"

    @classmethod
    def read(cls, name: str) -> "CharacterNGrams | None":
        """Return the metric of a name, or None if the name is of another form."""
        match = re.fullmatch(r"char(?:-([1-9][0-9]?))?", name, re.ASCII)
        return None if match is None else cls(int(match[1] or cls.size))

    @property
    def name(self) -> str:
        """The name that `read` reads back."""
        return f"char-{self.size}"

    def keys(self, tokens: Sequence[str]) -> Iterator[str]:
        """Return all that is counted, as often as it occurs."""
        letters = "".join(tokens)
        return (letters[start : start + self.size] for start in range(len(letters) - self.size + 1))
