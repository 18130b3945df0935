"""Answers of other programs to exported instances: read, scored afresh, and reported as if they had been found here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import isnan
from pathlib import Path
from typing import ClassVar, Final, Unpack

from optsum.contracts.result import Result
from optsum.contracts.run import Run
from optsum.contracts.strategy import Strategy
from optsum.corpus.arguments import AnyTopics
from optsum.coverage.instance import Sense
from optsum.errors import InputError, describe
from optsum.exchange.export import file_stem, tasks_of, unit_labels
from optsum.options.keywords import Keywords
from optsum.options.options import Options, resolve
from optsum.problem.formulation import Task
from optsum.problem.problem import Capability
from optsum.running.each_topic import error_result
from optsum.running.one_problem import Setup, finished, setup_of
from optsum.running.posed import posed
from optsum.running.search import searched
from optsum.system.clock import clock
from optsum.system.files import PathLike, read_text


@dataclass(frozen=True)
class SolutionFile:
    """A solver's answer, as its file has it."""

    program: str  # Whose format it is: "cbc", "cplex", "glpk", "highs", "scip", "gurobi", "maxsat" or "list".
    words: str  # What the solver says of it.
    objective: float | None  # As claimed.
    values: dict[str, float]  # Column name -> value; a column that is not there is 0.


def read_solution(path: PathLike, columns: Sequence[str]) -> SolutionFile:
    """Read a solution file.

    `path`: of CBC (``-solu``), GLPK (``-o`` or ``-w``), HiGHS (``--solution_file``), SCIP (``write solution``), Gurobi
    (``ResultFile``), CPLEX (``write``), a MaxSAT solver's output, or lines ``name value``. `columns`: names of the
    columns in the order of the program: some formats have numbers instead.
    """
    text = read_text(path, "the solution")
    lines = [line.rstrip() for line in text.splitlines()]
    try:
        found = _read(lines, columns)
    except (IndexError, StopIteration) as error:
        raise InputError(
            f"The solution {path} cannot be understood: it ends, or a line of it does, too early."
        ) from error
    except ValueError as error:
        raise InputError(f"The solution {path} cannot be understood: {error}.") from error
    if found is None:
        raise InputError(
            f"The solution {path} is of no format that optsum knows: write it with CBC, GLPK, HiGHS, SCIP, Gurobi "
            "or CPLEX, or as lines of a name and a value."
        )
    return found


def _read(lines: list[str], columns: Sequence[str]) -> SolutionFile | None:
    filled = [line for line in lines if line.strip()]
    if not filled:
        return None
    first = filled[0]
    if any("<CPLEXSolution " in line for line in filled[:3]):
        return _cplex(lines)
    if any(line.startswith(("s OPTIMUM", "s SATISFIABLE", "s UNSAT", "s UNKNOWN")) for line in filled):
        return _maxsat(filled, columns)
    if first.startswith("Model status"):
        return _highs(filled)
    if first.startswith("solution status:"):
        return _named(
            "scip", filled[2:], first.partition(":")[2].strip(), _number_in(filled[1]) if filled[1:] else None
        )
    if first.startswith("objective value:"):
        return _named("scip", filled[1:], "", _number_in(first))
    if first.startswith("# ") and any("bjective value" in line for line in filled[:3]):
        value = next(_number_in(line) for line in filled[:3] if "bjective value" in line)
        return _named("gurobi", [line for line in filled if not line.startswith("#")], "", value)
    if any(line.startswith(("s mip", "s bas", "s ipt")) for line in filled[:20]):
        return _glpk_raw(filled, columns)
    if any(line.startswith("Rows:") for line in filled[:4]):
        return _glpk_table(filled)
    if "objective value" in first or first.split()[0] in {"Infeasible", "Integer", "Unbounded", "Optimal", "Stopped"}:
        return _cbc(filled)
    return _named("list", filled, "", None)


def _number_in(line: str) -> float | None:
    found = re.search(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*(?:\(.*\))?\s*$", line)
    return float(found.group().partition("(")[0]) if found else None


def _value(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"the value {text!r:.40} of {name:.40} is no number") from None


def _named(program: str, lines: Iterable[str], words: str, objective: float | None) -> SolutionFile:
    values: dict[str, float] = {}
    for line in lines:
        if line.startswith(("#", "*", "\\")):
            continue
        parts = line.split()
        if len(parts) < 2:
            raise ValueError(f"the line {line.strip()!r:.60} is no name and value")
        if parts[0] in values:
            raise ValueError(f"it gives {parts[0]} twice")
        values[parts[0]] = _value(parts[1], parts[0])
    return SolutionFile(program, words, objective, values)


def _highs(lines: list[str]) -> SolutionFile:
    """HiGHS: sections under headings; the primal columns come first."""
    stated = next((line for line in lines if line.startswith("Objective")), "")
    start = next((number for number, line in enumerate(lines) if line.startswith("# Columns")), len(lines))
    columns = takewhile(lambda line: not line.startswith("#"), lines[start + 1 :])
    return _named("highs", columns, lines[1].strip(), _number_in(stated))


def _cplex(lines: list[str]) -> SolutionFile:
    """CPLEX: XML, of which only attributes matter."""
    text = "\n".join(lines)
    head = _attributes(text.partition("<header")[2].partition("/>")[0])
    values: dict[str, float] = {}
    for part in text.partition("<variables>")[2].split("<variable ")[1:]:
        held = _attributes(part.partition("/>")[0])
        if not {"name", "value"} <= set(held):
            raise ValueError("a variable has no name or no value")
        values[held["name"]] = _value(held["value"], held["name"])
    objective = head.get("objectiveValue")
    return SolutionFile(
        "cplex", head.get("solutionStatusString", ""), None if objective is None else float(objective), values
    )


def _attributes(text: str) -> dict[str, str]:
    return dict(re.findall(r"(\w+)\s*=\s*\"([^\"]*)\"", text))


def _cbc(lines: list[str]) -> SolutionFile:
    """CBC: number, name, value and reduced cost, with two stars before violated columns."""
    none = "infeasible" in lines[0].lower() or "no integer solution" in lines[0]
    columns = () if none else (" ".join(line.replace("**", " ").split()[1:]) for line in lines[1:])
    return _named("cbc", columns, lines[0].strip(), _number_in(lines[0]))


def _glpk_table(lines: list[str]) -> SolutionFile:
    """GLPK's report for people: a table of columns after one of rows; a long name has a line of its own."""
    status = next((line.partition(":")[2].strip() for line in lines if line.startswith("Status:")), "")
    stated = next((line for line in lines if line.startswith("Objective:")), "")
    objective = _number_in(stated.partition("=")[2])
    values: dict[str, float] = {}
    start = next((number for number, line in enumerate(lines) if "Column name" in line), len(lines))
    name = None
    for line in lines[start + 2 :]:
        parts = line.split()
        if name is None:
            if not parts[0].isdigit():
                break
            name, parts = parts[1], parts[2:]
        if parts:
            values[name] = float(next(part for part in parts if part not in {"*", "B", "NL", "NU", "NS", "NF"}))
            name = None
    held = "UNDEFINED" not in status and "EMPTY" not in status
    return SolutionFile("glpk", status, objective if held else None, values if held else {})


_GLPK_STATUS = {"o": "optimal", "f": "feasible", "n": "no feasible solution", "u": "undefined"}


def _glpk_raw(lines: list[str], columns: Sequence[str]) -> SolutionFile:
    """GLPK's file for programs: columns by number."""
    head = next(line.split() for line in lines if line.startswith("s "))
    status = _GLPK_STATUS.get(head[4], head[4])
    values: dict[str, float] = {}
    for line in lines:
        parts = line.split()
        if parts[0] == "j" and int(parts[1]) <= len(columns):
            values[columns[int(parts[1]) - 1]] = float(parts[2 if head[1] != "bas" else 3])
    held = status in {"optimal", "feasible"}
    return SolutionFile("glpk", status, float(head[-1]) if held else None, values if held else {})


def _maxsat(lines: list[str], columns: Sequence[str]) -> SolutionFile:
    """Output of a MaxSAT solver: literals, or one digit a variable."""
    words = next(line[2:].strip() for line in lines if line.startswith("s "))
    costs = [float(line[2:]) for line in lines if line.startswith("o ")]
    tokens = [token for line in lines if line.startswith("v ") for token in line[2:].split()]
    if len(tokens) == 1 and set(tokens[0]) <= {"0", "1"} and len(tokens[0]) >= len(columns):
        chosen = {number for number, digit in enumerate(tokens[0], start=1) if digit == "1"}
    else:
        chosen = {int(token) for token in tokens if int(token) > 0}
    values = {name: 1.0 for number, name in enumerate(columns, start=1) if number in chosen}
    return SolutionFile("maxsat", words, costs[-1] if costs else None, values if tokens else {})


_ENDINGS: Final = (".sol", ".soln", ".solution", ".out", ".raw", ".txt", "")

_INTEGRAL: Final = 0.01  # How far a value may be from 0 or 1 and still be meant as one of them.


@dataclass(frozen=True)
class _Imported(Strategy):
    """A selection that is given, to be scored and held against the bound."""

    given: tuple[int, ...] | None

    name: ClassVar[str] = "import"
    about: ClassVar[str] = "what another program found"

    def search(self, run: Run) -> None:
        if self.given is None:
            return
        evaluation = run.see(self.given)
        if not evaluation.feasible:
            raise InputError(f"The selection breaks the limits by {evaluation.violation}: it is no solution.")
        if run.problem.can(Capability.BOUND):
            run.raise_root_bound()
            if evaluation.key == run.bound:  # then it is optimal, whoever found it
                run.prove()


def import_solutions(
    topics: AnyTopics, solutions: str | Path, *, config: str | Path | None = None, **options: Unpack[Keywords]
) -> list[Result]:
    """Read the solutions of other programs for problems that `optsum.export` wrote.

    Parameters
    ----------
    topics : iterable
        The same as were exported.
    solutions : path
        A folder with a file for each problem, named like the exported one but for its ending (.sol, .soln, .out,
        .raw, .txt), or the file of the only problem. Formats: `optsum.exchange.import_.read_solution`.
    config, **options
        The same options as for the export.

    Returns
    -------
    list of Result
        One a problem, as `optsum.solve_all` has them, with ``strategy`` "import". Every solution is scored afresh, and
        is "optimal" only where it attains the bound that is proven here; the other program's words are the `detail`.

    Raises
    ------
    OptsumError
        At once, if the options or the solutions cannot be used.
    """
    topics, named = posed(topics, options, config)
    return list(import_topics(topics, solutions, resolve(named, config=config)))


def import_topics(topics: AnyTopics, solutions: str | Path, options: Options) -> Iterator[Result]:
    """Read solutions one after another, as `import_solutions` does."""
    place = Path(solutions)
    if not place.exists():
        raise InputError(f"There is no file or folder {solutions} of solutions.")
    setup = setup_of(options)
    for number, (name, task) in enumerate(tasks_of(topics, setup)):
        try:
            row = _row(task, setup, place, first=not number)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it costs the other topics nothing
            row = error_result(name, describe(error), setup)
        yield row.changed(strategy=_Imported.name, backend=row.backend if row.error is None else None)


def _row(task: Task | str, setup: Setup, place: Path, *, first: bool) -> Result:
    if isinstance(task, str):
        raise InputError(task)
    if place.is_file() and not first:
        raise InputError(
            f"{place} is one solution file, which can only answer the first problem: give a folder of them."
        )
    began, path, labels = clock(), _file_of(place, task.id), unit_labels(task)
    found = read_solution(path, labels)
    try:
        given = _selection(found, labels, path)
        built = clock()
        result = searched(task.problem, _Imported(given), None, setup.options.seed, greedily=False)
        _check_claim(task, result, found, path)
    except InputError as error:
        if found.program != "cbc":
            raise
        raise InputError(
            f"{str(error).rstrip('.')}; the preprocessing of CBC is known to do so: solve it with cbc FILE.lp "
            "-preprocess off -solve -solu FILE.sol."
        ) from error
    done = finished(task, setup, result, began=began, built=built)
    words = f"{found.program}: {found.words}" if found.words else found.program
    return done.changed(backend=found.program, detail=words)


def _file_of(place: Path, name: str) -> Path:
    if place.is_file():
        return place
    paths = (place / f"{file_stem(name)}{ending}" for ending in _ENDINGS)
    if (found := next(filter(Path.is_file, paths), None)) is not None:
        return found
    raise InputError(f"There is no solution of {name}: it should be {place / file_stem(name)}.sol.")


def _selection(found: SolutionFile, labels: list[str], path: Path) -> tuple[int, ...] | None:
    """Return the chosen units, or nothing where the file holds no solution."""
    nothing = ("infeasible", "no feasible", "undefined", "unsat", "unknown", "not set", "no integer")
    if not found.values:
        # What is 0 is left out by some programs, so no value at all can be the empty selection.
        return None if not found.words or any(word in found.words.lower() for word in nothing) else ()
    known = set(labels)
    if labels and not known & set(found.values) and found.program in {"list", "highs", "cbc"}:
        raise InputError(f"{path} names no unit of this problem: was it exported with the same options?")
    for name, value in found.values.items():
        if value and name not in known and re.fullmatch(r"[su]\d+(_\d+)*", name):
            raise InputError(
                f"{path} chooses {name}, which is not a unit of this problem: was it exported with the same options?"
            )
    chosen: list[int] = []
    for unit, label in enumerate(labels):
        value = found.values.get(label, 0.0)
        if isnan(value) or min(abs(value), abs(value - 1.0)) > _INTEGRAL:
            raise InputError(f"{path} gives {label} the value {value:g}, which is neither 0 nor 1: it is no solution.")
        if value > 0.5:
            chosen.append(unit)
    return tuple(chosen)


def _check_claim(task: Task, result: Result, found: SolutionFile, path: Path) -> None:
    """Refuse a claimed objective that is better than the selection's."""
    problem = task.problem
    if found.objective is None or result.key is None or not problem.can(Capability.LINEAR):
        return
    model = problem.linear_model
    worth = float(result.key) * model.denominator - model.offset
    # An MPS file minimizes minus the objective.
    surplus = abs(found.objective) - abs(worth)
    surplus = surplus if problem.sense is Sense.MAXIMIZE else -surplus
    if surplus > max(0.5, 1e-6 * abs(worth)):
        raise InputError(
            f"{path} claims an objective of {found.objective:g}, but its selection has {worth:g}: it is no solution."
        )
