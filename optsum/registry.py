"""Registries of strategies, formulations and backends by name.

The package `optsum` refers to the packages that implement them only through the strings below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from optsum.plugins import Registry

if TYPE_CHECKING:
    from optsum.contracts.backend import Backend
    from optsum.contracts.strategy import Strategy
    from optsum.problem.formulation import Formulation

DEFAULT_STRATEGY: Final = "auto"  # The strategy if none is named.
DEFAULT_EXACT: Final = "branch-and-bound"  # The default strategy for all optima, and for the value at every length.
DEFAULT_HEURISTIC: Final = "greedy"  # Results are compared with it; rows of `optsum.frontier` have a field of its name.
CLIMBER: Final = "vns"  # The strategy that finds a first selection of a problem that can only evaluate selections.
BASELINES: Final = (DEFAULT_HEURISTIC, "lead", "random")  # The strategies compared with an exact one by default.
CERTIFIED: Final = ("root", "none")  # Values of the option `bound` for strategies that compute no bound themselves.
CERTIFICATE: Final = "optsum.solvers.certificate"  # `prepare` and `certify` there bound results that are not proven.

PUBLIC_NAMES: Final[Mapping[str, str]] = {  # Public names of `optsum` that other packages define.
    "PYOMO_NEWER": "optsum.solvers.backends.pyomo:NEWER",
    "PYOMO_OLDER": "optsum.solvers.backends.pyomo:OLDER",
    "PyomoBackend": "optsum.solvers.backends.pyomo:PyomoBackend",
    "PyomoDeclaration": "optsum.solvers.backends.pyomo:PyomoDeclaration",
}

STRATEGIES: Registry[Strategy] = Registry(
    "strategy",
    {
        "auto": "optsum.solvers.auto:Auto",
        "milp": "optsum.solvers.milp:Milp",
        "branch-and-bound": "optsum.solvers.branch_and_bound:BranchAndBound",
        "exhaustive": "optsum.solvers.exhaustive.strategy:Exhaustive",
        "greedy": "optsum.heuristics.baselines:Greedy",
        "greedy+ls": "optsum.heuristics.local_search:GreedyLocalSearch",
        "vns": "optsum.heuristics.local_search:Vns",
        "vns+greedy": "optsum.heuristics.local_search:VnsFromGreedy",
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
        "compressive": "optsum.formulations.compressive:Compressive",
        "cover": "optsum.formulations.cover:Cover",
    },
    "optsum.formulations",
    "optsum.problem.formulation:Formulation",
    families={"problem": "optsum.formulations.without_text:given"},
)

BACKENDS: Registry[Backend] = Registry(
    "backend",
    {
        "highs": "optsum.solvers.backends.highs:Highs",
        "cp-sat": "optsum.solvers.backends.cpsat:CpSat",
        "rc2": "optsum.solvers.backends.maxsat:Rc2",
        "pyomo:highs": "optsum.solvers.backends.through_pyomo:PyomoHighs",
        "cbc": "optsum.solvers.backends.through_pyomo:Cbc",
        "glpk": "optsum.solvers.backends.through_pyomo:Glpk",
        "scip": "optsum.solvers.backends.through_pyomo:Scip",
        "gurobi": "optsum.solvers.backends.through_pyomo:Gurobi",
        "cplex": "optsum.solvers.backends.through_pyomo:Cplex",
        "xpress": "optsum.solvers.backends.through_pyomo:Xpress",
    },
    "optsum.backends",
    "optsum.contracts.backend:Backend",
    families={"pyomo:": "optsum.solvers.backends.pyomo:through_pyomo"},
)
