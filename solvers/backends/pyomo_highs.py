"""HiGHS through Pyomo: slower to hand over than arrays, and there for the readable model of the papers' equations."""

from __future__ import annotations

from typing import Any, Final

from optsum.contracts.backend import RawOutcome
from optsum.contracts.declaration import OptionNames
from optsum.contracts.run import Limits
from optsum.problem.problem import Problem, Selection
from optsum.program.highs import new_highs, run_heard

from .highs import HIGHS, scheduler, set_options
from .pyomo import NEWER, PyomoBackend, PyomoDeclaration

PYOMO_HIGHS: Final = PyomoDeclaration(
    factory="highs",
    newer=True,
    install=HIGHS.install,
    licence=HIGHS.licence,
    module="highspy",
    names=OptionNames(time="time_limit", gap="rel_gap", threads="threads", seed="random_seed", nodes="mip_max_nodes"),
    fixed={"abs_gap": 0.999},
    bound_keepers=rf"mip_(rel|abs)_gap|{HIGHS.bound_keepers}",
    # A node limit is a "solution limit" of HiGHS, of which this interface knows nothing.
    statuses=NEWER,
)


_INTERRUPTED: Final = ("kInterrupt", "kHighsInterrupt")


class _Heard:
    """A native model that is run apart: otherwise Ctrl-C loses what it holds, and is an error of HiGHS since 1.16."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def run(self) -> None:
        """Run it; raise KeyboardInterrupt if it does not end soon after Ctrl-C."""
        self._native.setOptionValue("log_to_console", False)  # Pyomo hears it no more once it has been left alone
        if not run_heard(self._native, keeps=True):
            raise KeyboardInterrupt

    def getModelStatus(self) -> Any:  # noqa: N802 - theirs
        """Return its status, where it was interrupted the one that Pyomo takes without a warning."""
        from highspy import HighsModelStatus

        status = self._native.getModelStatus()
        return HighsModelStatus.kUnknown if status.name in _INTERRUPTED else status


class PyomoHighs(PyomoBackend):
    """HiGHS behind Pyomo's newer interface."""

    name = "pyomo:highs"
    about = "HiGHS through Pyomo, on the equations as the papers print them"
    declaration = PYOMO_HIGHS

    readable = True

    def factory(self) -> Any:
        """Return Pyomo's solver, whose HiGHS hears Ctrl-C in any version and keeps what it holds."""
        solver = super().factory()
        solve = solver._solve  # noqa: SLF001 - Pyomo has no other way to it

        def solve_apart() -> Any:
            native = solver._solver_model  # noqa: SLF001
            solver._solver_model = _Heard(native)  # noqa: SLF001
            try:
                return solve()
            finally:
                solver._solver_model = native  # noqa: SLF001

        solver._solve = solve_apart  # noqa: SLF001
        return solver

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Say that it was interrupted, which Pyomo calls unknown."""
        if solver._solver_model.getModelStatus().name in _INTERRUPTED:  # noqa: SLF001
            return "interrupted", "interrupted"
        return super().native(solver, results)

    def check_options(self) -> None:
        """Refuse unknown options, which Pyomo's interface ignores."""
        set_options(new_highs(), self.options, self.name)

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        """Solve, with as many threads as asked for."""
        with scheduler(self.settings(limits, seed)["threads"]):
            return super().solve(problem, limits, seed, start)
