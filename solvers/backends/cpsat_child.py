"""The process that loads OR-Tools: it reads models from standard input, and writes answers to standard output.

`optsum.solvers.backends.cpsat` starts the process, which must not import anything that loads highspy.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from io import BytesIO
from time import perf_counter
from typing import Any

import numpy as np

from optsum.system.processes.children import end_with


def main(parent: int) -> None:
    """Answer each request (eight bytes of length, then arrays) by a line of JSON; end with the process `parent`."""
    for number in (signal.SIGINT, signal.SIGTERM):  # they may reach both processes; the parent decides
        signal.signal(number, signal.SIG_IGN)
    end_with(parent)
    # The log of the solver is redirected to standard error, so that the parent reads nothing but answers.
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    while head := source.read(8):
        with np.load(BytesIO(source.read(int.from_bytes(head))), allow_pickle=False) as request:
            try:
                answer = _solve({name: request[name] for name in request.files})
            except Exception as error:  # noqa: BLE001 - the parent reports it in a sentence
                answer = {"failed": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _solve(request: dict[str, Any]) -> dict[str, Any]:
    from ortools.sat.python import cp_model

    began = perf_counter()
    solver = cp_model.CpSolver()
    for option, value in json.loads(str(request["settings"])).items():
        if not hasattr(solver.parameters, option):  # some versions let any name be set
            return {"refused": f"{option}={value}: there is no such option"}
        try:
            setattr(solver.parameters, option, value)
        except (AttributeError, TypeError, ValueError):
            return {"refused": f"{option}={value}: it needs a value of another kind"}
    model = cp_model.CpModel()
    columns = [model.new_int_var(0, upper, "") for upper in request["upper"].tolist()]
    start, column, value = (request[name].tolist() for name in ("row_start", "row_column", "row_value"))
    for row, (lower, upper) in enumerate(
        zip(request["row_lower"].tolist(), request["row_upper"].tolist(), strict=True)
    ):
        entries = range(start[row], start[row + 1])
        total = cp_model.LinearExpr.weighted_sum([columns[column[e]] for e in entries], [value[e] for e in entries])
        model.add_linear_constraint(
            total,
            cp_model.INT_MIN if np.isinf(lower) else int(np.ceil(lower)),
            cp_model.INT_MAX if np.isinf(upper) else int(np.floor(upper)),
        )
    objective = cp_model.LinearExpr.weighted_sum(columns, request["objective"].tolist())
    if request["maximize"]:
        model.maximize(objective)
    else:
        model.minimize(objective)
    if (start_from := request["start"].tolist()) != [-1]:
        for unit in range(int(request["units"])):
            model.add_hint(columns[unit], int(unit in start_from))
    built = perf_counter()
    if (left := float(request["left"]) - (built - began)) < float("inf"):  # the limit includes building
        solver.parameters.max_time_in_seconds = max(0.01, left)
    status = solver.status_name(solver.solve(model))
    holds = status in {"OPTIMAL", "FEASIBLE"}
    # A search that is stopped before it has a bound states 0, which may be wrong.
    bounded = holds or (status == "UNKNOWN" and solver.best_objective_bound != 0)
    return {
        "status": status,
        "words": solver.solution_info().strip(" .\n"),
        "selection": [u for u in range(int(request["units"])) if solver.value(columns[u])] if holds else None,
        "objective": solver.objective_value if holds else None,
        "bound": solver.best_objective_bound if bounded else None,
        "nodes": solver.num_branches,
        "build_s": built - began,
        "solve_s": perf_counter() - built,
    }
