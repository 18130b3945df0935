"""HiGHS through Pyomo: slower to hand over than arrays, and there for the readable model of the papers' equations."""

from __future__ import annotations

from typing import Final

from optsum.contracts.backend import RawOutcome
from optsum.contracts.declaration import OptionNames
from optsum.contracts.run import Limits
from optsum.problem.problem import Problem, Selection
from optsum.program.highs import new_highs

from ..highs import HIGHS, scheduler, set_options
from .backend import PyomoBackend
from .declaration import PyomoDeclaration
from .newer import NEWER

__all__ = ["PYOMO_HIGHS", "PyomoHighs"]

PYOMO_HIGHS: Final = PyomoDeclaration(
    factory="highs",
    newer=True,
    install=HIGHS.install,
    licence=HIGHS.licence,
    module="highspy",
    names=OptionNames(time="time_limit", gap="rel_gap", threads="threads", seed="random_seed", nodes="mip_max_nodes"),
    fixed={"abs_gap": 0.999},
    # A node limit is a "solution limit" of HiGHS, of which this interface knows nothing.
    statuses=NEWER,
)


class PyomoHighs(PyomoBackend):
    """HiGHS behind Pyomo's newer interface."""

    name = "pyomo:highs"
    about = "HiGHS through Pyomo, on the equations as the papers print them"
    declaration = PYOMO_HIGHS

    readable = True

    def check_options(self) -> None:
        """Refuse unknown options, which Pyomo's interface ignores."""
        set_options(new_highs(), self.options, self.name)

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        """Solve, with as many threads as asked for."""
        with scheduler(self.settings(limits, seed)["threads"]):
            return super().solve(problem, limits, seed, start)
