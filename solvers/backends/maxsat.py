"""The MaxSAT solver RC2 of PySAT, for covers."""

from __future__ import annotations

from time import perf_counter
from typing import Final

from optsum.contracts.backend import Backend, Declaration, Ending, OptionNames, RawOutcome
from optsum.errors import OptionError, UnsupportedError
from optsum.problem.problem import Capability, Problem, Selection
from optsum.program.model import is_cover, wcnf_of
from optsum.system.clock import Deadline, Limits, Termination
from optsum.system.processes.children import run_in_thread

_HEARS_S: Final = 5.0  # Seconds that RC2 may take to end once it is interrupted.


class Rc2(Backend):
    """RC2 (Ignatiev, Morgado and Marques-Silva 2019) on a minimum cover.

    RC2 raises a lower bound by one unsatisfiable core at a time until a cover attains it, so that it has a bound but
    no cover at a time limit.
    """

    name = "rc2"
    about = "MaxSAT by PySAT's RC2; covers only"
    access = "clauses"
    declaration = Declaration(
        install="pip install python-sat",
        licence="free (MIT)",
        module="pysat",
        distribution="python-sat",
        names=OptionNames(time="time limit"),
        deterministic=True,
        statuses={"OPTIMUM FOUND": Ending.OPTIMAL, "empty clause": Ending.INFEASIBLE, "INTERRUPTED": Ending.TIME},
    )

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        """Solve a cover; raise `UnsupportedError` for anything else, and for limits other than time."""
        del seed, start  # RC2 can use neither
        self.accept(limits)
        if self.options:
            raise OptionError(f"The backend rc2 has no options of its own: leave out {', '.join(self.options)}.")
        if not (problem.can(Capability.COVERAGE) and is_cover(problem.coverage)):
            raise UnsupportedError(
                "The backend rc2 cannot be used, because it supports only covers: use --backend=highs."
            )
        began = perf_counter()
        instance = wcnf_of(problem.coverage)
        from pysat.examples.rc2 import RC2 as RC2Solver  # noqa: N811
        from pysat.formula import WCNF

        if not all(instance.hard):
            return RawOutcome(termination=Termination.COMPLETED, infeasible=True, native="empty clause")
        formula = WCNF()
        for clause in instance.hard:
            formula.append(clause)
        for weight, literal in instance.soft:
            formula.append([literal], weight=weight)
        built = perf_counter()
        deadline = Deadline(limits.time_s)
        models: list[list[int] | None] = []
        with RC2Solver(formula) as solver:
            run_in_thread(
                lambda: models.append(solver.compute(expect_interrupt=True)),
                solver.interrupt,
                hears_s=_HEARS_S,
                passed=lambda: deadline.passed,
            )
            model = next(iter(models), None)
            statistics = {"build_s": built - began, "solve_s": perf_counter() - built}
            if model is None:  # the time is over; a formula without empty clauses always has a model
                return RawOutcome(
                    termination=Termination.TIME_LIMIT, bound=solver.cost, native="INTERRUPTED", statistics=statistics
                )
            return RawOutcome(
                termination=Termination.COMPLETED,
                optimal=True,
                selection=tuple(literal - 1 for literal in model if 0 < literal <= instance.units),
                objective=solver.cost,
                bound=solver.cost,
                native="OPTIMUM FOUND",
                statistics=statistics,
            )
