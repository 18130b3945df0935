"""The process that has OR-Tools loaded: models in on standard input, answers out on standard output.

Started by `optsum.solvers.backends.cpsat`. It must load nothing that loads highspy.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from io import BytesIO
from threading import Thread
from time import perf_counter, sleep
from typing import Any

import numpy as np

__all__ = ["main"]


def main() -> None:
    """Answer requests until there are no more: eight bytes of length, then NumPy arrays; one line of JSON back."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both processes; the other one decides
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    source = sys.stdin.buffer
    while head := source.read(8):
        with np.load(BytesIO(source.read(int.from_bytes(head))), allow_pickle=False) as request:
            try:
                answer = _solve({name: request[name] for name in request.files})
            except Exception as error:  # noqa: BLE001 - whatever it is, the other process says it in a sentence
                answer = {"failed": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _end_with(parent: int) -> None:
    """End this process, whatever it is solving, once the one that started it is gone."""
    while os.getppid() == parent:
        sleep(0.5)
    os._exit(1)


def _solve(request: dict[str, Any]) -> dict[str, Any]:
    from ortools.sat.python import cp_model

    began = perf_counter()
    solver = cp_model.CpSolver()
    for option, value in json.loads(str(request["settings"])).items():
        if not hasattr(solver.parameters, option):  # some versions let any name be set
            return {"refused": f"{option}={value}: it has none of this name"}
        try:
            setattr(solver.parameters, option, value)
        except (AttributeError, TypeError, ValueError):
            return {"refused": f"{option}={value}: it wants a value of another kind"}
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
    status = solver.status_name(solver.solve(model))
    holds = status in {"OPTIMAL", "FEASIBLE"}
    # Stopped before it had one, it states the bound 0, which no maximum need keep.
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


if __name__ == "__main__":
    main()
