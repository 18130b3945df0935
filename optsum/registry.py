"""Names for strategies, formulations and backends: built-ins loaded on demand, third parties by entry points.

The core reaches the folders beside it only through the strings below.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from optsum.errors import OptionError, unknown_name

if TYPE_CHECKING:
    from optsum.contracts.backend import Backend
    from optsum.contracts.strategy import Strategy
    from optsum.problem.formulation import Formulation

__all__ = ["BACKENDS", "FORMULATIONS", "STRATEGIES", "Registry", "create_strategy"]

T = TypeVar("T")


class Registry(Generic[T]):
    """Classes by name.

    Parameters
    ----------
    kind : str
        For messages: "strategy", "formulation", "backend".
    builtin : mapping of name to ``"module:attribute"``
        Imported only when asked for.
    group : str
        Entry-point group in which third parties announce theirs. One that takes a built-in's name, or a name that is
        already taken, warns and is left out; one that cannot be imported is an error only when it is used.
    base : str
        ``"module:attribute"`` of the class that every entry derives from.
    """

    def __init__(self, kind: str, builtin: dict[str, str], group: str, base: str) -> None:
        self.kind = kind
        self.group = group
        self.base = base
        self._builtin = builtin

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            if entry.name in self._builtin or entry.name in found:
                warnings.warn(
                    f"The {self.kind} {entry.name!r} of {entry.value} is left out: that name is taken.",
                    stacklevel=2,
                )
            else:
                found[entry.name] = entry
        return found

    def names(self) -> list[str]:
        """Return all names, built-ins first."""
        return [*self._builtin, *self._plugins]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def load(self, name: str) -> type[T]:
        """Return the class of a name.

        Raises
        ------
        UnknownNameError
            With the nearest names.
        OptionError
            If a third party's class cannot be imported, or is no class of this kind.
        """
        if name in self._builtin:
            loaded: type[T] = _attribute(self._builtin[name])
            return loaded
        if name in self._plugins:
            try:
                plugin: type[T] = self._plugins[name].load()
            except Exception as error:
                raise OptionError(
                    f"The {self.kind} {name} of {self._plugins[name].value} cannot be imported: {error!r}."
                ) from error
            if not _derives(plugin, _attribute(self.base)):
                raise OptionError(
                    f"The {self.kind} {name} of {self._plugins[name].value} cannot be used: it is no subclass of "
                    f"{self.base.replace(':', '.')}."
                )
            return plugin
        raise unknown_name(self.kind, name, self.names())


def _derives(plugin: object, base: type) -> bool:
    return isinstance(plugin, type) and issubclass(plugin, base)


def _attribute(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


STRATEGIES: Registry[Strategy] = Registry(
    "strategy",
    {
        "milp": "optsum.solvers.milp:Milp",
        "branch-and-bound": "optsum.solvers.branch_and_bound:BranchAndBound",
        "exhaustive": "optsum.solvers.exhaustive.strategy:Exhaustive",
        "greedy": "optsum.heuristics.greedy:Greedy",
        "greedy+ls": "optsum.heuristics.local_search:GreedyLocalSearch",
        "vns": "optsum.heuristics.vns:Vns",
        "vns+greedy": "optsum.heuristics.vns:VnsFromGreedy",
        "genetic": "optsum.heuristics.genetic:Genetic",
        "genetic+greedy": "optsum.heuristics.genetic:GeneticFromGreedy",
        "lead": "optsum.heuristics.baselines:Lead",
        "random": "optsum.heuristics.baselines:Random",
        "greedy-rows": "optsum.heuristics.akhmetov_literal:GreedyRows",
        "vns-paper": "optsum.heuristics.akhmetov_literal:VnsPaper",
        "vns-paper+greedy": "optsum.heuristics.akhmetov_literal:VnsPaperGreedy",
        "genetic-paper": "optsum.heuristics.akhmetov_literal:GeneticPaper",
        "genetic-paper+greedy": "optsum.heuristics.akhmetov_literal:GeneticPaperGreedy",
    },
    "optsum.strategies",
    "optsum.contracts.strategy:Strategy",
)

FORMULATIONS: Registry[Formulation] = Registry(
    "formulation",
    {
        "extractive": "optsum.formulations.extractive:Extractive",
        "compressive": "optsum.formulations.compressive.formulation:Compressive",
        "cover": "optsum.formulations.cover:Cover",
    },
    "optsum.formulations",
    "optsum.problem.formulation:Formulation",
)

BACKENDS: Registry[Backend] = Registry(
    "backend",
    {
        "highs": "optsum.solvers.backends.highs:Highs",
        "cp-sat": "optsum.solvers.backends.cpsat:CpSat",
        "rc2": "optsum.solvers.backends.maxsat:Rc2",
        "pyomo:highs": "optsum.solvers.backends.pyomo_highs:PyomoHighs",
        "cbc": "optsum.solvers.backends.cbc:Cbc",
        "glpk": "optsum.solvers.backends.glpk:Glpk",
        "scip": "optsum.solvers.backends.scip:Scip",
        "gurobi": "optsum.solvers.backends.gurobi:Gurobi",
        "cplex": "optsum.solvers.backends.cplex:Cplex",
        "xpress": "optsum.solvers.backends.xpress:Xpress",
    },
    "optsum.backends",
    "optsum.contracts.backend:Backend",
)


def create_strategy(name: str, options: dict[str, Any]) -> Strategy:
    """Return a strategy with its options set.

    Raises
    ------
    UnknownNameError
        For a name or an option that does not exist, with the nearest ones.
    """
    cls: Any = STRATEGIES.load(name)
    known: list[str] = [item.name for item in fields(cls)] if is_dataclass(cls) else []
    for option in options:
        if option not in known:
            raise unknown_name(f"option of the strategy {name}", option, known)
    strategy: Strategy = cls(**options)
    return strategy
