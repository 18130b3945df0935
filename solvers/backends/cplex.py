"""CPLEX, through Pyomo."""

from __future__ import annotations

from typing import Any, Final

from optsum.contracts.declaration import Ending, OptionNames, SizeLimit

from .pyomo import PyomoBackend, PyomoDeclaration, hushed

CPLEX: Final = PyomoDeclaration(
    factory="cplex_direct",
    newer=False,
    install="pip install cplex",
    licence="commercial; free for academic use",
    module="cplex",
    size=SizeLimit(columns=1000, rows=1000),
    names=OptionNames(
        time="timelimit", gap="mip_tolerances_mipgap", threads="threads", seed="randomseed", nodes="mip_limits_nodes"
    ),
    # The objective is an integer: a bound less than 1 away proves it.
    fixed={"mip_tolerances_absmipgap": 0.999},
    # CPLEX's own numbers: Pyomo calls a limit without an incumbent, and every node limit, an error.
    bound_keepers=r"mip_tolerances_(abs)?mipgap",
    statuses={
        **dict.fromkeys(("1", "101", "102"), Ending.OPTIMAL),
        **dict.fromkeys(("3", "4", "103", "119"), Ending.INFEASIBLE),
        **dict.fromkeys(("11", "25", "107", "108", "131", "132"), Ending.TIME),
        **dict.fromkeys(("105", "106"), Ending.NODES),
        **dict.fromkeys(("111", "112"), Ending.MEMORY),
        **dict.fromkeys(("10", "12", "104", "127", "128"), Ending.LIMIT),
        **dict.fromkeys(("13", "113", "114"), Ending.INTERRUPTED),
        **dict.fromkeys(("2", "5", "6", "21", "109", "110", "115", "118"), Ending.FAILED),
    },
    warm_start=True,
    option_failures=r"has no attribute|invalid parameter|CPLEX Error\s+10(13|14|15)|Parameter value",
    size_failures=r"CPLEX Error\s+1016|Community Edition",
    licence_failures=r"(?i)licen[cs]e|CPLEX Error\s+32\d\d\d",
)


class Cplex(PyomoBackend):
    """CPLEX behind Pyomo's older interface."""

    name = "cplex"
    about = "CPLEX through Pyomo"
    declaration = CPLEX

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return CPLEX's own status."""
        del results
        solution = solver._solver_model.solution  # noqa: SLF001 - Pyomo has no other way to it
        return str(solution.get_status()), f"{solution.get_status()} {solution.get_status_string()}"

    def native_statuses(self) -> tuple[str, ...]:
        """Return those of CPLEX that a program without quadratic parts can end with."""
        return tuple(self.declaration.statuses)

    def nodes(self, solver: Any, results: Any) -> int | None:
        """Return CPLEX's own count."""
        del results
        return int(solver._solver_model.solution.progress.get_num_nodes_processed())  # noqa: SLF001

    def licence(self) -> str:
        """Try a program that is just too large for the community edition."""
        if not self.available():
            return self.declaration.licence
        import cplex

        with hushed():
            try:
                trial = cplex.Cplex()
                for stream in (trial.set_results_stream, trial.set_log_stream, trial.set_error_stream):
                    stream(None)
                trial.variables.add(ub=[1.0] * 1001)
                trial.solve()
            except cplex.exceptions.CplexError as error:
                limited = "1016" in str(error)
                return f"free, up to {self.declaration.size}" if limited else f"none ({error})"
        return "full"
