"""Give solvers unusual values of their own options, and compare their results with those of branch and bound.

As a program it prints a line for each option of each solver as soon as all of its tries are made, and then a line for
each kind of options: how many tries were right or refused, and how many rows were falsely `optimal`, had a bound that
the optimum passes, or lost a valid selection that the solver or greedy search had found::

    python tests/support/fuzz_options.py [--instances 50] [--each 2] [--only REGEX] BACKEND ...
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
from itertools import count, groupby
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from optsum.solvers.milp import Milp

from optsum.contracts.backend import Backend, RawOutcome
from optsum.contracts.result import Status
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import OptionError, OptsumError
from optsum.problem.linear_problem import LinearProblem
from optsum.problem.problem import Capability, CoverageProblem, Problem, Selection
from optsum.program.model import LinearModel, LinearRows
from optsum.registry import BACKENDS
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import random_coverage

Value = str | int | float | bool

LIMIT_S = 5.0
"""Of one search: some options make a solver slow."""

NO_ANSWER_S = 300.0
"""After which a process is given up."""

WRITES = re.compile(
    r"(?i).*(file|path|dir$|directory|prefix|basis(in|out)|gsolu|solu$|save|restore|export|import|log$|name).*"
)
"""Options that name files, or what is printed."""


KINDS = {
    "presolve": "presol|prepro|^constraints|^propagating|probing|symmetry|aggreg|dominat|implied|substit|restart",
    "cuts": "cut(?!off)|separating|gomory|clique|^mir|knapsack|linearization|zerohalf",
    "heuristics": "heur|rins|rens|pump|diving|local_search|lns|hint|polish|improve|jump",
    "stops": "limit|gap|stop|max|min|time|sec|node|iter|bound|target|cutoff|solution|allow|ratio|incr|tmlim|leaves",
    "tolerances": "numerics|tol|eps|feas|infin|scal|small|large|precision|accuracy",
}
"""Words in the names of options, or of their folders, by what the options do; the first that is there."""


def kind_of(name: str) -> str:
    """Return the kind of an option, guessed from its name."""
    word = name.lower().partition("/")[0]
    return next((kind for kind, words in KINDS.items() if re.search(words, word)), "others")


@lru_cache(maxsize=128)
def instance(number: int) -> Problem:
    """Return instance `number`: a cover, window, recall, ratio, sum, linear program, or one with large numbers."""
    rng, odd = np.random.default_rng(number), number % 20 >= 10
    match number % 10:
        case 3 | 6:
            return linear_program(rng, odd) if number % 10 == 3 else distances(rng, odd)
        case 8:
            made = (CoverageProblem.of(random_coverage(rng, kind="sum", units=8)) for _ in count())
            return next(problem for problem in made if problem.can(Capability.RATIOS))
    units = int(rng.integers(12, 26))
    features = units * 2
    sentences = [{int(f): 1 for f in rng.choice(features, 5, replace=False)} for _ in range(units)]
    lengths = rng.integers(5, 20, units).tolist()
    if number % 5 == 0:
        rows = [{f: 1 for f in sentence if f < units // 2} for sentence in sentences]
        met = {f for row in rows for f in row}
        place = {f: at for at, f in enumerate(sorted(met))}
        covers = [{place[f]: 1 for f in row} for row in rows]
        return CoverageProblem.of(Coverage.of(lengths, covers, [[1]] * len(met), goal=Sense.MINIMIZE))
    most = sum(lengths) // 4
    gains = rng.integers(1, 4, features).tolist()
    given: dict[str, Any] = {"constants": (0, 3 * features)}
    match number % 10:
        case 1:
            given["min_length"] = most - 6
        case 2 if odd:  # optimal values lie close together
            gains = [gain + 10**10 for gain in gains]
            given["constants"] = (0, 10**10 * features)
        case 2:  # a mean over references of these lengths
            sizes = [101, 113, 127, 131, 139, 149]
            gains = [sum(prod(sizes) // rng.choice(sizes, gain).astype(object)) for gain in gains]
            given["constants"] = (0, len(sizes) * prod(sizes))
        case 9:  # F1
            times = 1000 if odd else 1
            gains = [2 * gain * times for gain in gains]
            mass = [[0] * units, [times * length + int(rng.integers(3)) for length in lengths]]
            given = {"constants": (0, times * features), "mass": mass}
    return CoverageProblem.of(
        Coverage.of(lengths, sentences, [[int(gain)] for gain in gains], max_length=most, **given)
    )


def _program(
    objective: list[int], upper: list[int], rows: list[tuple[list[int], float, float]], units: int, sense: Sense
) -> LinearProblem:
    written = LinearRows()
    for values, low, high in rows:
        entry = np.flatnonzero(values)
        written.add(np.zeros(len(entry), np.int64), entry, np.array(values, np.int64)[entry])
        written.close(1, low, high)
    numbers = {"objective": np.array(objective), "upper": np.array(upper), "integral": np.ones(len(upper), np.bool_)}
    return LinearProblem(program=LinearModel(sense=sense, **numbers, **written.arrays(), units=units, denominator=1))


def linear_program(rng: np.random.Generator, odd: bool) -> Problem:
    """Return a feasible program with equality rows and negative coefficients.

    In programs that are maximized, the columns beside the units share rows.
    """
    units, others = 10, 4
    upper = [1] * units + [6] * others
    held = [*rng.integers(0, 2, units).tolist(), *rng.integers(0, 7, others).tolist()]
    rows = []
    for number in range(others + 3):
        values = rng.integers(-5, 6, units).tolist() + [0] * others
        if number < others:
            values[units + number] = int(rng.choice([-1, 1]))
            values[units + (number + 1) % others] = int(rng.integers(-2, 3)) if odd else 0
        sum_ = sum(value * here for value, here in zip(values, held, strict=True))
        rows.append((values, sum_ if number < others else sum_ - 4, sum_ if number % 2 == 0 else np.inf))
    costs = rng.integers(-20, 21, units + others).tolist()
    return _program(costs, upper, rows, units, Sense.MAXIMIZE if odd else Sense.MINIMIZE)


def distances(rng: np.random.Generator, odd: bool) -> Problem:
    """Return a p-median of two of six places, with distances of 14 digits or ones that are nearly equal."""
    places, each = rng.integers(0, 50, (6, 2)), range(6)
    far = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))
    if odd:
        far = 10 + rng.integers(0, 5, (6, 6)) * 1e-9
    served = [[0] * 6 + [int(place == row) for place in each for _ in each] for row in each]
    open_ = [
        [-int(at == place) for at in each] + [int(at == 6 * row + place) for at in range(36)]
        for row in each
        for place in each
    ]
    rows = [(values, 1, 1) for values in served] + [(values, -np.inf, 0) for values in open_]
    rows.append(([1] * 6 + [0] * 36, 2, 2))
    costs = [0] * 6 + [round(float(far[row, place]) * 1e12) for row in each for place in each]
    return _program(costs, [1] * 42, rows, 6, Sense.MINIMIZE)


@lru_cache(maxsize=128)
def truth(number: int) -> Any:
    """Return the optimum of an instance, or None if nothing is feasible."""
    found = search(instance(number), "branch-and-bound")
    assert found.status in {Status.OPTIMAL, Status.INFEASIBLE}
    return found.key


@dataclass(frozen=True)
class Watched(Milp):
    """The strategy `milp`, recording the answers of its solver."""

    answers: tuple[list[RawOutcome], ...] = ()

    def solver(self) -> Backend:
        """Return the solver, with a `solve` that records its answers."""
        made, answers = super().solver(), self.answers[0]
        solve = made.solve

        def listened(problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
            answers.append(solve(problem, limits, seed, start))
            return answers[-1]

        made.solve = listened  # type: ignore[method-assign]
        return made


def try_one(backend: str, options: Mapping[str, Value], number: int) -> str:
    """Return the outcome of options on an instance: "right", "refused", "false", "beyond" or "lost", and why."""
    problem, best, answers = instance(number), truth(number), []
    strategy = Watched(backend=backend, backend_options=tuple(options.items()), answers=(answers,))
    try:
        result = search(problem, strategy, Limits(time_s=LIMIT_S))
    except OptsumError as error:
        if isinstance(error, OptionError):
            return "refused"
        named = all(f"{name}={value}" in str(error) for name, value in options.items())
        return "failed" if named else f"lost: {error}"
    better = problem.sense.better
    if result.status in {Status.OPTIMAL, Status.INFEASIBLE} and result.key != best:
        return f"false: {result.status} {result.key}, not {best}"
    if best is not None and result.bound_key is not None and better(best, result.bound_key):
        return f"beyond: {result.bound_key}, not {best}"
    for answer in answers:
        if answer.selection is not None and set(answer.selection) <= set(range(problem.size)):
            had = problem.evaluate(answer.selection)
            if had.feasible and (result.key is None or better(had.key, result.key)):
                return f"lost: {result.key}, not {had.key}"
    if result.key is None and best is not None:
        return "right: no time" if result.termination is Termination.TIME_LIMIT else "lost: nothing is held"
    return f"right: {result.status}"


def options_of(backend: str) -> dict[str, tuple[Value, Value]]:
    """Return the options that a solver documents, each with two unusual values."""
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
    """Yield options, values and numbers of instances: each value on `each` instances, taken in turn."""
    turn = 0
    for name, values in options_of(backend).items():
        for value in dict.fromkeys(values):
            for _ in range(each) if re.search(only, name) else ():
                turn += 1
                yield name, value, turn % instances


def _work() -> None:
    """Answer requests, one line of JSON each, in a temporary folder to which solvers may write."""
    os.chdir(tempfile.mkdtemp())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        backend, name, value, number = json.loads(line)
        print(json.dumps(try_one(backend, {name: value}, number)), file=answers, flush=True)


class _Worker:
    """A process that tries options, and is started again after a crash."""

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


def rows(
    backend: str, *, instances: int = 50, each: int = 2, only: str = "", shown: Iterable[str] = ()
) -> Iterator[tuple[str, Counter[str]]]:
    """Yield the options with the counts of their outcomes."""
    worker = _Worker()
    bad = {"false", "beyond", "lost", "crashed", "no answer", *shown}
    asked = tasks(backend, instances=instances, each=each, only=only)
    try:
        for name, tries in groupby(asked, lambda task: task[0]):
            found = Counter[str]()
            for _, value, number in tries:
                words = worker.ask(backend, name, value, number)
                kind = words.partition(":")[0]
                found[words if kind == "right" else kind] += 1
                if kind in bad:
                    print(f"# {backend} {name}={value} on instance {number}: {words}", flush=True)
            yield name, found
    finally:
        worker.end()


RIGHT = ("right: optimal", "right: infeasible", "right: feasible", "right: no_solution", "right: no time")
OUTCOMES = (*RIGHT, "refused", "failed", "false", "beyond", "lost", "crashed", "no answer")


def said(counts: Counter[str]) -> str:
    """Return counts as one line of text."""
    return ", ".join(f"{kind} {counts[kind]}" for kind in OUTCOMES if counts[kind])


def main() -> None:
    """Run the tries from the command line and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    every = [*LISTS, *(f"pyomo:{name}" for name in LISTS if name != "cp-sat")]
    parser.add_argument("backends", nargs="*", default=every)
    parser.add_argument("--instances", type=int, default=50)
    parser.add_argument("--each", type=int, default=2, help="instances for each value")
    parser.add_argument("--only", default="", help="a regular expression for the names of options")
    parser.add_argument("--work", action="store_true")
    given = parser.parse_args()
    if given.work:
        _work()
        return
    for backend in given.backends:
        if not BACKENDS.load(backend)().available():
            print(f"{backend}: not installed")
            continue
        totals: dict[str, Counter[str]] = {}
        for name, counts in rows(backend, instances=given.instances, each=given.each, only=given.only):
            totals.setdefault(kind_of(name), Counter()).update({**counts, "options": 1})
            print(f"{backend:13} {name:45} {said(counts)}", flush=True)
        totals["all"] = sum(totals.values(), Counter())
        for kind, counts in totals.items():
            options = counts.pop("options")
            print(f"{backend}: {kind}: {options} options, {counts.total()} tried: {said(counts)}", flush=True)


if __name__ == "__main__":
    main()
