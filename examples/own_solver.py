"""A solver of your own, without a package: the one in scipy, behind `scipy.optimize.milp`.

python own_solver.py [TOPICS]; the same on the command line:
optsum solve TOPICS --strategy milp --backend examples/own_solver.py:Scipy --max-length 75
"""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.optimize import milp
from scipy.sparse import csr_array

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"


class Scipy(optsum.Backend):
    """Hands the integer program over as arrays, and says what the solver claims."""

    name = "scipy"
    about = "HiGHS as scipy.optimize.milp has it"
    declaration = optsum.Declaration(
        install="pip install scipy",
        licence="free (BSD)",
        module="scipy",
        names=optsum.OptionNames(time="time_limit", gap="mip_rel_gap", nodes="node_limit"),
        deterministic=True,
        statuses={
            "0": optsum.Ending.OPTIMAL,
            "1": optsum.Ending.LIMIT,
            "2": optsum.Ending.INFEASIBLE,
            "3": optsum.Ending.FAILED,
            "4": optsum.Ending.FAILED,
        },
    )

    def solve(
        self,
        problem: optsum.Problem,
        limits: optsum.Limits,
        seed: int,
        start: tuple[int, ...] | None = None,
    ) -> optsum.RawOutcome:
        """Solve the problem's integer program."""
        del start  # a start is not declared as supported
        self.accept(limits)
        options = self.settings(limits, seed)
        if unknown := options.keys() - {"time_limit", "mip_rel_gap", "node_limit", "presolve", "disp"}:
            raise optsum.OptionError(f"The backend {self.name} has no option {min(unknown)}.")
        model, began = problem.linear_model, perf_counter()
        sign = -1 if model.sense is optsum.Sense.MAXIMIZE else 1  # scipy only minimizes
        rows = csr_array((model.row_value, model.row_column, model.row_start), (model.rows, model.columns))
        found = milp(
            sign * model.objective,
            integrality=model.integral.astype(int),
            bounds=(0, model.upper),
            constraints=(rows, model.row_lower, model.row_upper) if model.rows else (),
            options=options,
        )
        ending, seconds = self.declaration.statuses[str(found.status)], perf_counter() - began
        bound = getattr(found, "mip_dual_bound", None)
        return optsum.RawOutcome(
            termination=ending.termination(limits, seconds),
            optimal=ending is optsum.Ending.OPTIMAL,
            infeasible=ending is optsum.Ending.INFEASIBLE,
            selection=None if found.x is None else tuple(np.flatnonzero(found.x[: model.units] > 0.5).tolist()),
            objective=None if found.x is None else sign * found.fun,
            bound=sign * bound if bound is not None and np.isfinite(bound) else None,
            native=found.message,
            statistics={"solve_s": seconds},
        )


if __name__ == "__main__":
    for topic in optsum.read_topics(sys.argv[1] if len(sys.argv) > 1 else NEWS):
        ours = optsum.solve(topic, max_length=75)
        theirs = optsum.solve(topic, max_length=75, strategy="milp", backend=f"{__file__}:Scipy")
        print(f"{topic.id:20} {ours.objective:.4f}  scipy {theirs.objective:.4f}  {theirs.status.value}")
