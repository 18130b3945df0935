"""MaxSAT, for covers: the solver RC2 of PySAT."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from threading import Timer
from time import perf_counter
from typing import ClassVar

from optsum.backend import Availability, Backend, RawOutcome
from optsum.errors import BackendError, UnsupportedError
from optsum.export_wcnf import wcnf_of
from optsum.problem import Capability, Problem, require
from optsum.result import Termination
from optsum.run import Limits

__all__ = ["Rc2"]


class Rc2(Backend):
    """RC2 (Ignatiev, Morgado and Marques-Silva 2019): raises a lower bound core by core until it can be met.

    So at a time limit it has a bound and no cover.
    """

    name: ClassVar[str] = "rc2"
    about: ClassVar[str] = "MaxSAT by PySAT's RC2; covers only"
    install: ClassVar[str] = "pip install python-sat"

    def available(self) -> Availability:
        """Say whether PySAT is installed."""
        try:
            return Availability(usable=True, version=version("python-sat"))
        except PackageNotFoundError:
            return Availability(usable=False, reason="python-sat is not installed")

    def solve(self, problem: Problem, limits: Limits, seed: int) -> RawOutcome:
        """Solve a cover.

        Raises
        ------
        UnsupportedError
            For anything but a cover, and for a node limit.
        """
        del seed  # RC2 is deterministic
        if limits.nodes is not None:
            raise UnsupportedError("The backend rc2 takes no node limit: use a time limit.")
        require(problem, frozenset({Capability.COVERAGE}), "The backend rc2")
        began = perf_counter()
        instance = wcnf_of(problem.coverage)
        if not self.available():
            raise BackendError(f"The backend rc2 cannot be used: {self.available().reason}; {self.install}.")
        from pysat.examples.rc2 import RC2
        from pysat.formula import WCNF

        if not all(instance.hard):
            return RawOutcome(termination=Termination.COMPLETED, infeasible=True, native="empty clause")
        formula = WCNF()
        for clause in instance.hard:
            formula.append(clause)
        for weight, literal in instance.soft:
            formula.append([literal], weight=weight)
        built = perf_counter()
        with RC2(formula) as solver:
            timer = Timer(limits.time_s, solver.interrupt) if limits.time_s is not None else None
            if timer is not None:
                timer.daemon = True
                timer.start()
            try:
                model = solver.compute(expect_interrupt=timer is not None)
            finally:
                if timer is not None:
                    timer.cancel()
            statistics = {"build_s": built - began, "solve_s": perf_counter() - built}
            if model is None:  # every clause has an alternative, so there is a model
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
