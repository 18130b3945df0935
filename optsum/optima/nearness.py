r"""The threshold of a near-optimal family.

With the best value :math:`T^*`, the family of a threshold V is :math:`F_V = \{S \text{ feasible} : f(S) \ge V\}` (for a
length that is minimized, :math:`\le V`). V is an exact fraction; a search in integers may round it *up*, which does not
change the family.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Final

from optsum.coverage.instance import Key, Sense
from optsum.errors import OptionError, UnsupportedError
from optsum.whole import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    """The threshold of near-optimal selections, given by exactly one of the attributes."""

    within: Fraction | None = None  # Share of the best value that may be lost: 1/100 is 1 %.
    at_least: Fraction | None = None  # The objective as people read it; a length is to be at most that.
    steps: int | None = None  # So many integer steps below the best value (`optsum.optima.tally.step_of`).
    values: int | None = None  # So many different values, the best among them.
    key: Fraction | None = None  # The threshold itself, as values are compared; an option cannot say it.

    def __post_init__(self) -> None:
        given = [name for name in ("within", "at_least", "steps", "values", "key") if getattr(self, name) is not None]
        if len(given) != 1:
            raise OptionError(
                "Near-optimal sets need one threshold: give one of --within, --at-least, --within-steps and --best."
            )
        if self.within is not None and not 0 <= self.within <= 1:
            raise OptionError(f"--within is a share of the best value from 0 to 1 (or 0% to 100%), not {self.within}.")
        for name, flag, least in (("steps", "--within-steps", 0), ("values", "--best", 1)):
            if (number := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole(number, flag, least=least, error=OptionError))

    @classmethod
    def given(
        cls,
        within: float | str | None = None,
        at_least: float | str | None = None,
        within_steps: int | None = None,
        best: int | None = None,
    ) -> Nearness | None:
        """Return the nearness in the options; None if there is none.

        `within`: a share of the best value, such as 0.01 or "1%". `at_least`: an objective, such as 0.475 or "19/40".
        """
        if within is None and at_least is None and within_steps is None and best is None:
            return None
        return cls(
            within=None if within is None else _number(within, "--within takes a share of the best value, such as 1%"),
            at_least=None if at_least is None else _number(at_least, "--at-least takes an objective, such as 0.475"),
            steps=within_steps,
            values=best,
        )

    @property
    def known(self) -> bool:
        """Whether the threshold is known before the best value."""
        return self.at_least is not None or self.key is not None

    def __str__(self) -> str:
        if self.within is not None:
            return f"within {_shown(100 * self.within)}%"
        if self.known:
            return f"at least {_shown(self.at_least or self.key or Fraction(0))}"
        if self.steps is not None:
            return f"within {self.steps} step{'' if self.steps == 1 else 's'}"
        return f"best {self.values} value{'' if self.values == 1 else 's'}"

    def least(self, best: Key, sense: Sense, *, step: Fraction | None, power: int) -> Fraction:
        """Return the threshold for comparisons; with `values` it is not known beforehand."""
        if self.key is not None:
            return self.key
        key, sign = Fraction(best), 1 if sense is Sense.MAXIMIZE else -1
        if self.at_least is not None:
            return max(self.at_least, Fraction(0)) ** power if power > 1 else self.at_least
        if self.steps is not None:
            if step is None:
                raise UnsupportedError(
                    "The objective has no integer steps of one size: use --within, --at-least or --best."
                )
            return key - sign * self.steps * step
        if self.within is None:
            raise AssertionError("the threshold of a number of values depends on the values")
        if power > 1:
            return key * (1 - self.within) ** power
        return key - sign * abs(key) * self.within


_TEXT: Final = re.compile(r"\s*(-?(?:\d{1,18}(\.\d{0,30})?|\.\d{1,30}|\d{1,18}/0*[1-9]\d{0,17}))\s*(%?)\s*", re.ASCII)


def _number(given: object, wanted: str) -> Fraction:
    """Return a number exactly as written: 0.475 is 475/1000, not the nearest binary fraction."""
    text = format(Decimal(repr(float(given))), "f") if isinstance(given, float) else str(given)
    found = _TEXT.fullmatch(text)
    if found is None or isinstance(given, bool) or not isinstance(given, str | Real | Decimal):
        raise OptionError(f"{wanted}, not {given!r}.")
    return Fraction(found[1]) / (100 if found[3] else 1)


def _shown(number: Fraction) -> str:
    """Return a number as a decimal, or as a fraction if the decimal would not end."""
    bottom = number.denominator
    if pow(10, bottom.bit_length(), bottom):  # it divides no power of ten
        return str(number)
    text = format(Decimal(number.numerator) / Decimal(number.denominator), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
