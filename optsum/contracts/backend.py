"""The interface that a solver of integer programs (MILP) implements: `Backend`, and the classes that it uses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from importlib.util import find_spec
from math import isfinite
from re import fullmatch, search
from types import MappingProxyType
from typing import Any, Final

from optsum.errors import BackendError, OptionError, UnsupportedError
from optsum.problem.problem import Problem, Selection
from optsum.system.clock import Limits, Termination
from optsum.system.processes.supervised import ask, find_program
from optsum.whole import whole

_ANSWERS_S: Final = 10.0  # Seconds within which a program must print its version.


class Ending(Enum):
    """The meaning of a solver's own status."""

    OPTIMAL = "optimal"
    """The selection is proven optimal, or within the requested gap."""
    INFEASIBLE = "infeasible"
    """Infeasible. "Infeasible or unbounded" means the same here, because every variable has two finite bounds."""
    TIME = "time limit"
    NODES = "node limit"
    MEMORY = "memory limit"
    LIMIT = "a limit"
    """A limit was reached, and the solver does not say which."""
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    """The solver failed, and claims nothing."""

    def termination(self, limits: Limits, seconds: float) -> Termination:
        """Return why the search stopped; for `LIMIT`, the duration in seconds tells a time limit from a node limit."""
        if self in {Ending.OPTIMAL, Ending.INFEASIBLE}:
            return Termination.COMPLETED
        if self is not Ending.LIMIT:
            return Termination(self.value.replace(" ", "_"))
        if limits.time_s is not None and (limits.nodes is None or seconds >= 0.9 * limits.time_s):
            return Termination.TIME_LIMIT
        return Termination.FAILED if limits.nodes is None else Termination.NODE_LIMIT


class BoundQuality(Enum):
    """How a solver that stopped early states its bound, if at all."""

    PROVEN = "proven"
    """The solver states a proven bound."""
    PRINTED = "printed"
    """The bound is read from a log, with six digits and possibly the wrong sign; its absolute value is a bound."""
    NONE = "none"
    """The solver states no bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionNames:
    """A solver's names for the options that all solvers share; None for an option that it does not have.

    Attributes
    ----------
    time : str or None
        Name of the time limit in seconds.
    gap : str or None
        Name of the relative gap at which it may stop.
    threads, seed : str or None
        Names of the number of threads, and of the random seed.
    nodes : str or None
        Name of the limit of search nodes.
    """

    time: str | None = None
    gap: str | None = None
    threads: str | None = None
    seed: str | None = None
    nodes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeLimit:
    """The size of the largest program that a free licence solves.

    Attributes
    ----------
    columns, rows : int
        Numbers of variables and of constraints.
    together : bool
        If true, `columns` limits the sum of both numbers, and `rows` is ignored.
    """

    columns: int
    rows: int = 0
    together: bool = False

    def __str__(self) -> str:
        if self.together:
            return f"{self.columns:,} variables and rows together"
        return f"{self.columns:,} variables and {self.rows:,} rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Properties of a solver that are known before it is used.

    Attributes
    ----------
    install : str
        The command that installs it, or other advice.
    licence : str
        The licence under which it may be used.
    module, program : str
        Requirements: a module that can be imported, or a program on the PATH.
    distribution : str
        The installed package whose version is the solver's; by default the module's name.
    version_arguments : tuple of str
        Arguments that make the program print its version.
    size : SizeLimit or None
        Limit of the licence that comes with the package.
    names : OptionNames
    fixed : mapping
        The solver's own options that are always set: name -> value.
    bound : BoundQuality
    bound_keepers : str
        Regular expression for the solver's own options that leave its bounds valid, such as limits, gaps and
        heuristics, but not tolerances or cutoffs. The options in `names` and `fixed` need not be repeated.
    statuses : mapping of native status to Ending
        The meaning of every final status of the solver.
    warm_start : bool
        Whether it takes a selection to start from.
    deterministic : bool
        Whether it has no randomness, so that the seed has no effect.
    option_failures, size_failures, licence_failures : str
        Regular expressions for its messages about an unknown option, a program that is too large for the licence, and a
        missing licence.
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


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a solver can be used on this machine; in a condition, the object is true if `usable` is.

    Attributes
    ----------
    usable : bool
    reason : str
        Why it cannot be used; empty if it can.
    version : str
        Its version; empty if unknown.
    """

    usable: bool
    reason: str = ""
    version: str = ""

    def __bool__(self) -> bool:
        return self.usable


@lru_cache(maxsize=32)
def version_of_package(distribution: str) -> str:
    """Return the version of an installed package, or "" if it is not installed; cached, because finding it is slow."""
    from importlib.metadata import PackageNotFoundError, version  # slow to load

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


@lru_cache(maxsize=32)
def _version_of(path: str, arguments: tuple[str, ...]) -> str | None:
    said = ask([path, *arguments], _ANSWERS_S)
    found = search(r"\d+\.\d+(\.\d+)*", said or "")
    return None if said is None else found.group() if found else ""


@dataclass(frozen=True, kw_only=True)
class RawOutcome:
    """The claims of a solver; optsum evaluates the selection again before it believes any of them.

    Attributes
    ----------
    termination : Termination
    optimal, infeasible : bool
        The solver's claims.
    selection : tuple of int or None
        Units whose variable rounds to 1.
    objective, bound : float or None
        Values that the solver states, on the integer scale of the model (counted hits, not recall).
    native : str
        The solver's own status.
    nodes : int or None
    detail : str
        Text for the field `detail` of the row.
    statistics : mapping
        Seconds of building, passing on and solving the program, and counts, for the field `statistics` of the row.
    """

    termination: Termination
    optimal: bool = False
    infeasible: bool = False
    selection: tuple[int, ...] | None = None
    objective: float | None = None
    bound: float | None = None
    native: str = ""
    nodes: int | None = None
    detail: str = ""
    statistics: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, value in (("objective", self.objective), ("bound", self.bound)):
            if value is not None and not isfinite(value):
                raise BackendError(f"The solver states {value} for its {what}: its answer is not valid.")
        also = "its answer optimal" if self.optimal else "has a selection" if self.selection is not None else ""
        if self.infeasible and also:
            raise BackendError(f"The solver calls the problem infeasible and {also}: that is not a valid result.")


def stated(value: float | None) -> float | None:
    """Return a solver's number for `RawOutcome`: None if it is infinite (1e30 or more), which means unknown."""
    return None if value is not None and abs(value) >= 1e30 else value


class Backend(ABC):
    """A solver of integer programs (MILP).

    Parameters
    ----------
    threads : int
    options : mapping, optional
        The solver's own options by name; they override those that optsum sets.

    Attributes
    ----------
    name : str
        Its name for ``--backend``.
    about : str
        Description of one line for ``optsum list backends``.
    access : str
        How it receives the program: "arrays", "pyomo", ...
    declaration : Declaration
    """

    name: str
    about: str
    access: str = "arrays"
    declaration: Declaration

    threads: int = 1
    options: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, *, threads: int = 1, options: Mapping[str, Any] | None = None) -> None:
        self.threads = whole(threads, "The number of threads", least=1, error=OptionError)
        self.options = dict(options or {})

    def available(self) -> Availability:
        """Return whether the solver can be used; a quick test that imports no module and solves nothing."""
        declared = self.declaration
        if declared.module:  # found, but not imported
            package = declared.distribution or declared.module
            if find_spec(declared.module) is None:
                return Availability(usable=False, reason=f"the package {package} is not installed")
            return Availability(usable=True, version=version_of_package(package))
        if not declared.program:
            return Availability(usable=True)
        if (path := find_program(declared.program)) is None:
            return Availability(usable=False, reason=f"the program {declared.program} is not on the PATH")
        said = _version_of(path, declared.version_arguments) if declared.version_arguments else ""
        if said is None:
            return Availability(usable=False, reason=f"the program {path} does not answer when asked for its version")
        return Availability(usable=True, version=said)

    @property
    def repeatable(self) -> bool:
        """Whether the same seed gives the same answer, because the solver takes the seed or has no randomness."""
        return self.declaration.deterministic or self.declaration.names.seed is not None

    @property
    def keeps_bound(self) -> bool:
        """Whether the solver's bounds stay valid under the options that the user gave."""
        declared, names = self.declaration, self.declaration.names
        known = {*declared.fixed, names.time, names.gap, names.threads, names.seed, names.nodes}
        unknown = [name for name in self.options if name not in known and not fullmatch(declared.bound_keepers, name)]
        return not self.options or (declared.bound is BoundQuality.PROVEN and not unknown)

    def licence(self) -> str:
        """Return the licence under which the solver works on this machine; finding out may take seconds."""
        return self.declaration.licence

    def native_statuses(self) -> tuple[str, ...]:
        """Return every status that the solver can report; a test checks that `Declaration.statuses` has all of them."""
        return tuple(self.declaration.statuses)

    def accept(self, limits: Limits) -> None:
        """Check, before any work, that the solver can be used and supports the limits and the number of threads.

        Raises
        ------
        BackendError
            If it cannot be used.
        UnsupportedError
            If it does not support a limit, or several threads.
        """
        names = self.declaration.names
        limit = "leave it out" if names.time is None else "use a time limit"
        for asked, name, what, instead in (
            (limits.time_s is not None, names.time, "time limit", "leave it out"),
            (limits.nodes is not None, names.nodes, "node limit", limit),
            (limits.gap is not None, names.gap, "gap", limit),
            (self.threads != 1, names.threads, "number of threads", "leave it at 1"),
        ):
            if asked and name is None:
                raise UnsupportedError(f"The backend {self.name} takes no {what}: {instead}.")
        if not (state := self.available()):
            raise BackendError(
                f"The backend {self.name} cannot be used, because {state.reason}: {self.declaration.install}."
            )

    def settings(self, limits: Limits, seed: int) -> dict[str, Any]:
        """Return all options to set, by the solver's names: name -> value; the user's options override the others."""
        names = self.declaration.names
        values = {
            names.time: None if limits.time_s is None else max(0.0, limits.time_s),
            names.gap: limits.gap or 0.0,
            names.threads: self.threads,
            names.seed: seed % 2_000_000_000,  # a seed of this size is valid for every solver
            names.nodes: None if limits.nodes is None else min(limits.nodes, 2**31 - 1),  # some count in 32 bits
        }
        common = {name: value for name, value in values.items() if name is not None and value is not None}
        return {**self.declaration.fixed, **common, **self.options}

    def kept(self, limits: Limits) -> Limits:
        """Return the limits that the solver obeys: its own options may override the given limits of time and nodes."""
        names = self.declaration.names
        time, nodes = (self.options.get(name) if name else None for name in (names.time, names.nodes))
        if isinstance(time, int | float) and time >= 0:
            limits = replace(limits, time_s=float(time))
        if isinstance(nodes, int) and nodes >= 0:
            limits = replace(limits, nodes=int(nodes))
        return limits

    def ended(self, ending: Ending, limits: Limits, seconds: float) -> Termination:
        """Return why the search stopped; a limit that the user set by the solver's own options counts as completion."""
        kept = self.kept(limits)
        if ending is Ending.LIMIT and self.options and not (kept.time_s is not None and seconds >= 0.9 * kept.time_s):
            return Termination.COMPLETED  # the limit is taken to be one of the solver's own options
        return ending.termination(kept, seconds)

    def given(self) -> str:
        """Return the user's own options for the solver as text for a message."""
        return ", ".join(f"{name}={value}" for name, value in self.options.items())

    @abstractmethod
    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        """Solve a problem that has `Capability.LINEAR`, and return the solver's claims.

        Parameters
        ----------
        problem : Problem
        limits : Limits
        seed : int
            Seed of the solver's random choices.
        start : tuple of int, optional
            A feasible selection to start from; given only if ``declaration.warm_start`` is true.

        Raises
        ------
        BackendError
            If the solver is missing, unlicensed, or too small for the instance.
        OptionError
            For an unknown option, if the solver reports it.
        """
