"""The flags that say which selections are near the best, for the commands that count or share all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from optsum.optima.nearness import Nearness

__all__ = ["Near"]


@dataclass(frozen=True)
class Near:
    """Selections that are nearly as good as the best; each field is a flag, and one at most is given."""

    within: Annotated[
        str | None, typer.Option(metavar="SHARE", help="all that lose at most this share of the best value, such as 1%")
    ] = None
    at_least: Annotated[
        str | None, typer.Option("--at-least", metavar="VALUE", help="all whose objective is at least that")
    ] = None
    within_steps: Annotated[
        int | None,
        typer.Option("--within-steps", metavar="K", min=0, help="all at most so many integer steps below the best"),
    ] = None
    best: Annotated[
        int | None, typer.Option(metavar="K", min=1, help="all of so many different values, the best among them")
    ] = None

    def nearness(self) -> Nearness | None:
        """Return what is near; None if only the best is asked for.

        Raises
        ------
        OptionError
            If several are given, or a value cannot be.
        """
        from optsum.optima.nearness import Nearness

        return Nearness.given(self.within, self.at_least, self.within_steps, self.best)
