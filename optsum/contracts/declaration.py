"""Declarations of solvers, so that one driver can serve them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits


class Ending(Enum):
    """Meaning of a solver's own status."""

    OPTIMAL = "optimal"
    """Proven, or within the gap that was asked for."""
    INFEASIBLE = "infeasible"
    """Also "infeasible or unbounded": no program here is unbounded, because every variable has two bounds."""
    TIME = "time limit"
    NODES = "node limit"
    MEMORY = "memory limit"
    LIMIT = "a limit"
    """One that was set; the solver does not say which."""
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    """Nothing is claimed."""

    def termination(self, limits: Limits, seconds: float) -> Termination:
        """Return why the search stopped, given what limits there were and how long it took."""
        if self is not Ending.LIMIT:
            return _TERMINATIONS[self]
        if limits.time_s is not None and (limits.nodes is None or seconds >= 0.9 * limits.time_s):
            return Termination.TIME_LIMIT
        return Termination.FAILED if limits.nodes is None else Termination.NODE_LIMIT


_TERMINATIONS: Final = {
    Ending.OPTIMAL: Termination.COMPLETED,
    Ending.INFEASIBLE: Termination.COMPLETED,
    Ending.TIME: Termination.TIME_LIMIT,
    Ending.NODES: Termination.NODE_LIMIT,
    Ending.MEMORY: Termination.MEMORY_LIMIT,
    Ending.INTERRUPTED: Termination.INTERRUPTED,
    Ending.FAILED: Termination.FAILED,
}


class BoundQuality(Enum):
    """Quality of the bound of a solver that stopped early."""

    PROVEN = "proven"
    PRINTED = "printed"
    """It is read from a log: six digits, and when maximizing its sign may be lost. Its absolute value still bounds."""
    NONE = "none"
    """The solver tells none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionNames:
    """Names of the common limits in a solver; None for one that it cannot keep.

    Attributes
    ----------
    time : str or None
        Seconds.
    gap : str or None
        Relative gap.
    threads, nodes : str or None
    seed : str or None
    """

    time: str | None = None
    gap: str | None = None
    threads: str | None = None
    seed: str | None = None
    nodes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeLimit:
    """The largest program that a free licence solves.

    Attributes
    ----------
    columns, rows : int
    together : bool
        Whether `columns` is for both in sum.
    """

    columns: int
    rows: int = 0
    together: bool = False

    def __str__(self) -> str:
        """Return it in words."""
        if self.together:
            return f"{self.columns:,} variables and rows together"
        return f"{self.columns:,} variables and {self.rows:,} rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """All that is known of a solver before it is used.

    Attributes
    ----------
    install : str
        The one command that installs it.
    licence : str
        Under which it may be used.
    module, program : str
        Requirements: a module that can be imported, or a program on the PATH.
    distribution : str
        The installed package whose version is the solver's; the module's name, if not given.
    version_arguments : tuple of str
        With which the program says its version.
    size : SizeLimit or None
        Of the licence that comes with the package.
    names : OptionNames
    fixed : mapping
        Options that are always set.
    bound : BoundQuality
    bound_keepers : str
        Regular expression for the solver's own options under which every bound that it states still holds, such as
        limits, gaps and heuristics; no tolerances or cutoffs. The options in `names` and `fixed` need not be repeated.
    statuses : mapping of native status to Ending
        Every status that the solver can end with.
    warm_start : bool
        Whether it takes a selection to start from.
    deterministic : bool
        Whether it has no randomness, so that every seed is the same to it.
    option_failures, size_failures, licence_failures : str
        Regular expressions for what it says of an option it does not have, a program that is too large for the
        licence, and a licence that is missing.
    """

    install: str
    licence: str
    module: str = ""
    program: str = ""
    distribution: str = ""
    version_arguments: tuple[str, ...] = ()
    size: SizeLimit | None = None
    names: OptionNames = field(default_factory=OptionNames)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    bound: BoundQuality = BoundQuality.PROVEN
    bound_keepers: str = r"$^"
    statuses: Mapping[str, Ending] = field(default_factory=dict)
    warm_start: bool = False
    deterministic: bool = False
    option_failures: str = r"$^"
    size_failures: str = r"$^"
    licence_failures: str = r"(?i)licen[cs]e"
