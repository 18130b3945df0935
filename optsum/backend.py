"""The contract of a MILP backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from optsum.problem import Problem
from optsum.result import Termination
from optsum.run import Limits

__all__ = ["Availability", "Backend", "RawOutcome"]


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a solver can be used here; false in a condition when it cannot.

    Attributes
    ----------
    usable : bool
    reason : str
        Why not; empty where it is usable.
    version : str
    """

    usable: bool
    reason: str = ""
    version: str = ""

    def __bool__(self) -> bool:
        """Return whether it is usable."""
        return self.usable


@dataclass(frozen=True, kw_only=True)
class RawOutcome:
    """What a solver claims; nothing of it is believed before it is re-scored.

    Attributes
    ----------
    termination : Termination
    optimal, infeasible : bool
        The solver's claims.
    selection : tuple of int or None
        Units whose variable rounds to 1.
    objective, bound : float or None
        As the solver states them, in the model's integers (hits, not recall).
    native : str
        The solver's own status.
    nodes : int or None
    statistics : mapping
        Seconds of building, handing over and solving, and whatever else it counts.
    """

    termination: Termination
    optimal: bool = False
    infeasible: bool = False
    selection: tuple[int, ...] | None = None
    objective: float | None = None
    bound: float | None = None
    native: str = ""
    nodes: int | None = None
    statistics: Mapping[str, Any] = field(default_factory=dict)


class Backend(ABC):
    """One MILP solver.

    Attributes
    ----------
    name : str
        As in ``--backend``.
    about : str
        One line for ``optsum list backends``.
    install : str
        The one command that installs it.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    install: ClassVar[str]

    @abstractmethod
    def available(self) -> Availability:
        """Say whether the solver can be used; cheap."""

    @abstractmethod
    def solve(self, problem: Problem, limits: Limits, seed: int) -> RawOutcome:
        """Solve a problem that has `Capability.LINEAR`.

        Raises
        ------
        BackendError
            If the solver is missing, unlicensed, or too small for the instance.
        """
