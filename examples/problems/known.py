"""The optimum of a problem by an independent method, with which benchmarks/problems.py compares results.

Instances in the normal form are converted from their public JSON to programs for HiGHS in SciPy; Pyomo passes models
to HiGHS; for problems that can only evaluate, all selections are evaluated.
"""

from __future__ import annotations

import json
from itertools import chain, combinations, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import highspy
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

import optsum


def optimum(problem: optsum.Problem) -> int:
    """Return the best value there is."""
    if problem.can(optsum.Capability.COVERAGE):
        return by_scipy(problem)
    if problem.can(optsum.Capability.LINEAR):
        return by_mps(problem)
    every = chain.from_iterable(combinations(range(problem.size), many) for many in range(problem.size + 1))
    fitting = (selection for selection in every if problem.length(selection) <= problem.max_length)
    return max(int(problem.evaluate(selection).key) for selection in fitting)


def written(problem: optsum.Problem, kind: str) -> str:
    """Return a problem as a file has it."""
    with TemporaryDirectory() as folder:
        (exported,) = optsum.export([problem], folder, format=kind)
        return Path(str(exported.path)).read_text(encoding="utf-8")


def by_scipy(problem: optsum.Problem) -> int:
    """Return the optimum of an instance of coverage: a column a unit, and one for each copy of a feature that gains."""
    it: dict[str, Any] = json.loads(written(problem, "json"))
    n, starts, levels = len(it["lengths"]), it["level_start"], it["level"]
    counts = np.zeros((len(starts) - 1, n))
    for unit in range(n):
        for at in range(it["unit_start"][unit], it["unit_start"][unit + 1]):
            counts[it["unit_feature"][at], unit] = it["unit_count"][at]
    steps = [np.diff(levels[begin:end]) for begin, end in pairwise(starts)]
    rows = [np.zeros(n) for _ in it["rows"]]
    for row, said in zip(rows, it["rows"], strict=True):
        row[said["units"]] = said["coefficients"]
    low = [said["low"] for said in it["rows"]]
    high = [np.inf if said["high"] is None else said["high"] for said in it["rows"]]
    lengths = np.array(it["lengths"])
    if it["goal"] == "minimize":
        worth, matrix = lengths, [*rows, *counts]
        low, high = [*low, *map(len, steps)], [*high, *[np.inf] * len(steps)]
    else:
        copies = np.repeat(np.eye(len(steps)), list(map(len, steps)), axis=1)
        worth = -np.concatenate([it["mass"][0], *steps])
        matrix = [np.concatenate([row, np.zeros(copies.shape[1])]) for row in [*rows, lengths]]
        matrix += list(np.hstack([counts, -copies]))
        low, high = [*low, it["min_length"], *[0] * len(steps)], [*high, it["max_length"], *[np.inf] * len(steps)]
    found = milp(
        worth, constraints=LinearConstraint(np.array(matrix), low, high), bounds=Bounds(0, 1),
        integrality=np.ones(len(worth)), options={"mip_rel_gap": 0},
    )  # fmt: skip
    if found.status:
        raise RuntimeError(f"HiGHS has no optimum of {problem.name}: {found.message}")
    return round(abs(found.fun))


def by_mps(problem: optsum.Problem) -> int:
    """Return the optimum of a program as HiGHS by itself finds it in a file."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.mps"
        file.write_text(written(problem, "mps"), encoding="utf-8")
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.readModel(str(file))
        solver.run()
        return round(abs(solver.getInfo().objective_function_value))
