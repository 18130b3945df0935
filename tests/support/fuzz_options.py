"""Give solvers odd values of their own options, and hold what comes of it against branch and bound.

As a program it prints a line for each option of each solver: how often it was tried and refused, and how often a row
was `optimal` that is not, had a bound that the optimum passes, or lost a valid selection that the solver had or greedy
search finds::

    python tests/support/fuzz_options.py [--instances 50] [--each 2] [--only WORD] BACKEND ...
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from optsum.solvers.milp import Milp

from optsum.contracts.backend import Backend, RawOutcome
from optsum.contracts.result import Status
from optsum.contracts.run import Limits
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import OptionError, OptsumError
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.problem import Problem, Selection
from optsum.registry import BACKENDS
from optsum.running.search import search
from optsum.system.clock import Termination

Value = str | int | float | bool

LIMIT_S = 5.0
"""Of one search: some options make a solver slow."""

NO_ANSWER_S = 300.0
"""After which a process is given up."""

WRITES = re.compile(
    r"(?i).*(file|path|dir$|directory|prefix|basis(in|out)|gsolu|solu$|save|restore|export|import|log$|name).*"
)
"""Options that name files, or what is printed."""


@lru_cache(maxsize=128)
def instance(number: int) -> Coverage:
    """Return one of the instances: half of them take a search, and every fifth is a cover or has a window."""
    rng = np.random.default_rng(number)
    units = int(rng.integers(12, 26))
    features = units * 2
    sentences = [{int(f): 1 for f in rng.choice(features, 5, replace=False)} for _ in range(units)]
    lengths = rng.integers(5, 20, units).tolist()
    if number % 5 == 0:
        rows = [{f: 1 for f in sentence if f < units // 2} for sentence in sentences]
        met = {f for row in rows for f in row}
        place = {f: at for at, f in enumerate(sorted(met))}
        covers = [{place[f]: 1 for f in row} for row in rows]
        return Coverage.of(lengths, covers, [[1]] * len(met), goal=Sense.MINIMIZE)
    most = sum(lengths) // 4
    return Coverage.of(
        lengths,
        sentences,
        [[int(gain)] for gain in rng.integers(1, 4, features)],
        constants=(0, 3 * features),
        max_length=most,
        min_length=most - 6 if number % 5 == 1 else 0,
    )


@lru_cache(maxsize=128)
def truth(number: int) -> Any:
    """Return the optimum of an instance."""
    found = search(CoverageProblem.of(instance(number)), "branch-and-bound")
    assert found.status is Status.OPTIMAL
    return found.key


@dataclass(frozen=True)
class Watched(Milp):
    """The strategy `milp`, which remembers what its solver answered."""

    answers: tuple[list[RawOutcome], ...] = ()

    def solver(self) -> Backend:
        """Return the solver, listened to."""
        made, answers = super().solver(), self.answers[0]
        solve = made.solve

        def listened(problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
            answers.append(solve(problem, limits, seed, start))
            return answers[-1]

        made.solve = listened  # type: ignore[method-assign]
        return made


def try_one(backend: str, options: Mapping[str, Value], number: int) -> str:
    """Return what comes of options on an instance: "right", "refused", "false", "beyond" or "lost", and why."""
    problem, best, answers = CoverageProblem.of(instance(number)), truth(number), []
    strategy = Watched(backend=backend, backend_options=tuple(options.items()), answers=(answers,))
    try:
        result = search(problem, strategy, Limits(time_s=LIMIT_S))
    except OptsumError as error:
        if isinstance(error, OptionError):
            return "refused"
        named = all(f"{name}={value}" in str(error) for name, value in options.items())
        return "failed" if named else f"lost: {error}"
    better = problem.sense.better
    if result.status is Status.INFEASIBLE or (result.status is Status.OPTIMAL and result.key != best):
        return f"false: {result.status} {result.key}, not {best}"
    if result.bound_key is not None and better(best, result.bound_key):
        return f"beyond: {result.bound_key}, not {best}"
    for answer in answers:
        if answer.selection is not None and set(answer.selection) <= set(range(problem.size)):
            had = problem.evaluate(answer.selection)
            if had.feasible and (result.key is None or better(had.key, result.key)):
                return f"lost: {result.key}, not {had.key}"
    if result.key is None:
        return "right: no time" if result.termination is Termination.TIME_LIMIT else "lost: nothing is held"
    return f"right: {result.status}"


def options_of(backend: str) -> dict[str, tuple[Value, Value]]:
    """Return all options that a solver documents, with two odd values each."""
    found = dict(LISTS[backend.removeprefix("pyomo:")]())
    return {name: values for name, values in found.items() if not WRITES.fullmatch(name)}


def _odd(default: object) -> tuple[Value, Value] | None:
    if isinstance(default, bool):
        return (not default, default)
    if isinstance(default, int):
        return (0, 1) if default != 1 else (2, 0)
    return (0.3, 7.0) if isinstance(default, float) else None


def _highs() -> Iterator[tuple[str, tuple[Value, Value]]]:
    import highspy

    highs = highspy.Highs()
    highs.silent()
    words = {"presolve": ("off", "on"), "solver": ("simplex", "ipm"), "parallel": ("on", "off"),
             "ranging": ("on", "off"),
             "run_crossover": ("off", "choose"), "mip_lp_solver": ("simplex", "ipm")}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        highs.writeOptions(f"{folder}/options")
        lines = Path(f"{folder}/options").read_text().splitlines()
    for name in (line.partition(" = ")[0] for line in lines if " = " in line and not line.startswith("#")):
        default = highs.getOptionValue(name)[1]
        values = words.get(name) or _odd(default)
        if values is not None:
            yield name, values
    yield "mip_rel_gap", (0.5, 0.9)
    yield "mip_abs_gap", (5.0, 1000.0)
    yield "objective_bound", (3.0, -3.0)
    yield "objective_target", (3.0, -3.0)


def _cbc() -> Iterator[tuple[str, tuple[Value, Value]]]:
    said = subprocess.run(["cbc", "-?", "-quit"], capture_output=True, text=True, check=True).stdout
    kind = ""
    for line in said.splitlines():
        if line.endswith(":"):
            kind = line
        elif line.startswith(" ") and "Action" not in kind and "action" not in kind:
            for name in line.split():
                full, short = name.replace("(", "").replace(")", ""), name.partition("(")[0]
                values: tuple[Value, Value] = ("on", "off")
                if "Double" in kind or "double" in kind:
                    values = (0.5, 20.0)
                elif "nteger" in kind:
                    values = (1, 3)
                yield full, values
                if short != full:
                    yield short, values
    yield "cutoff", (3, 1000)
    yield "direction", ("max", "min")
    yield "preprocess", ("sos", "equal")


def _glpk() -> Iterator[tuple[str, tuple[Value, Value]]]:
    said = subprocess.run(["glpsol", "--help"], capture_output=True, text=True, check=True).stdout
    skipped = {"help", "version", "math", "model", "data", "display", "output", "write", "read", "ranges", "glp", "lp",
               "mps", "freemps", "mincost", "maxflow", "cnf", "hide", "ini", "log"}  # fmt: skip
    for name in re.findall(r"^ +(?:-\w[^,]*, )?--(\w+)", said, re.MULTILINE):
        if name not in skipped and not name.startswith("w"):
            yield name, ("", "")
    for name in ("tmlim", "memlim", "seed"):
        yield name, (1, 3)
    yield "mipgap", (0.5, 0.05)


def _scip() -> Iterator[tuple[str, tuple[Value, Value]]]:
    from pyscipopt import Model

    for name, default in Model().getParams().items():
        values = _odd(default)
        if values is not None:
            yield name, values
    yield "limits/gap", (0.5, 0.05)
    yield "limits/absgap", (5.0, 50.0)
    yield "limits/objectivestop", (3.0, -3.0)


def _cp_sat() -> Iterator[tuple[str, tuple[Value, Value]]]:
    code = (
        "import json; from ortools.sat import sat_parameters_pb2 as s; p = s.SatParameters(); "
        "print(json.dumps({f.name: getattr(p, f.name) for f in s.SatParameters.DESCRIPTOR.fields "
        "if isinstance(getattr(p, f.name), (bool, int, float))}))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for name, default in json.loads(said).items():
        values = _odd(default)
        if values is not None:
            yield name, values
    yield "relative_gap_limit", (0.5, 0.9)
    yield "absolute_gap_limit", (5.0, 50.0)


def _gurobi() -> Iterator[tuple[str, tuple[Value, Value]]]:
    import gurobipy

    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
        for name in dir(gurobipy.GRB.Param):
            try:
                _, kind, _, _, _, default = model.getParamInfo(name)
            except (gurobipy.GurobiError, AttributeError, TypeError, ValueError):
                continue
            values = _odd(default) if kind in {int, float} else None
            if values is not None and not re.match(r"(?i)CS|WLS|Cloud|Compute|Token|Job|Server|Licen|Tune", name):
                yield name, values
    yield "BestObjStop", (3.0, -3.0)
    yield "BestBdStop", (3.0, 1000.0)
    yield "Cutoff", (3.0, 1000.0)
    yield "MIPGap", (0.5, 0.05)


LISTS: dict[str, Any] = {
    "highs": _highs, "cbc": _cbc, "glpk": _glpk, "scip": _scip, "cp-sat": _cp_sat, "gurobi": _gurobi
}  # fmt: skip


def tasks(backend: str, *, instances: int, each: int, only: str = "") -> Iterator[tuple[str, Value, int]]:
    """Yield options, values and instances; each value is tried on some instances, and all of those have their turn."""
    turn = 0
    for name, values in options_of(backend).items():
        for value in dict.fromkeys(values):
            for _ in range(each) if only in name else ():
                turn += 1
                yield name, value, turn % instances


def _work() -> None:
    """Answer requests, a line of JSON each, in a folder where solvers may write."""
    os.chdir(tempfile.mkdtemp())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        backend, name, value, number = json.loads(line)
        print(json.dumps(try_one(backend, {name: value}, number)), file=answers, flush=True)


class _Worker:
    """A process that may crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, *request: Value) -> str:
        if self._process is None:
            command = [sys.executable, __file__, "--work"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], NO_ANSWER_S)
        line = process.stdout.readline() if ready else ""
        if line:
            return str(json.loads(line))
        self.end()
        return "crashed" if ready else "no answer"

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def matrix(
    backend: str, *, instances: int = 50, each: int = 2, only: str = "", shown: Iterable[str] = ()
) -> dict[str, Counter[str]]:
    """Return how often each option came to what."""
    worker, found = _Worker(), dict[str, Counter[str]]()
    bad = {"false", "beyond", "lost", "crashed", "no answer", *shown}
    try:
        for name, value, number in tasks(backend, instances=instances, each=each, only=only):
            words = worker.ask(backend, name, value, number)
            kind = words.partition(":")[0]
            found.setdefault(name, Counter())[words if kind == "right" else kind] += 1
            if kind in bad:
                print(f"# {backend} {name}={value} on instance {number}: {words}", flush=True)
    finally:
        worker.end()
    return found


def main() -> None:
    """Print the matrix."""
    parser = argparse.ArgumentParser(description=__doc__)
    every = [*LISTS, *(f"pyomo:{name}" for name in LISTS if name != "cp-sat")]
    parser.add_argument("backends", nargs="*", default=every)
    parser.add_argument("--instances", type=int, default=50)
    parser.add_argument("--each", type=int, default=2, help="instances for each value")
    parser.add_argument("--only", default="")
    parser.add_argument("--work", action="store_true")
    given = parser.parse_args()
    if given.work:
        _work()
        return
    right, wrong = (
        ["right: optimal", "right: feasible", "right: no time"],
        ["false", "beyond", "lost", "crashed", "no answer"],
    )
    kinds = [*right, "refused", "failed", *wrong]
    for backend in given.backends:
        if not BACKENDS.load(backend)().available():
            print(f"{backend}: not installed")
            continue
        found = matrix(backend, instances=given.instances, each=given.each, only=given.only)
        for name, counts in found.items():
            print(f"{backend:13} {name:45} {' '.join(f'{kind} {counts[kind]}' for kind in kinds if counts[kind])}")
        total = sum(found.values(), Counter())
        words = ", ".join(f"{kind} {total[kind]}" for kind in kinds)
        print(f"{backend}: {len(found)} options, {total.total()} tried: {words}", flush=True)


if __name__ == "__main__":
    main()
