"""Read the solution files of solvers: values of columns by name, in the formats of CBC, GLPK, HiGHS, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from re import findall, search

from optsum.errors import InputError
from optsum.system.files import PathLike, read_text


@dataclass(frozen=True)
class SolutionFile:
    """A solver's answer, as its file has it.

    Attributes
    ----------
    program : str
        Whose format it is: "cbc", "cplex", "glpk", "highs", "scip", "gurobi", "maxsat" or "list".
    words : str
        What the solver says of it.
    objective : float or None
        As claimed.
    values : mapping of str to float
        Column name -> value; a column that is not there is 0.
    """

    program: str
    words: str
    objective: float | None
    values: dict[str, float]


def read_solution(path: PathLike, columns: Sequence[str]) -> SolutionFile:
    """Read a solution file.

    Parameters
    ----------
    path : path
        Of CBC (``-solu``), GLPK (``-o`` or ``-w``), HiGHS (``--solution_file``), SCIP (``write solution``), Gurobi
        (``ResultFile``), CPLEX (``write``), a MaxSAT solver's output, or lines ``name value``.
    columns : sequence of str
        Names of the columns in the order of the program: some formats have numbers instead.

    Raises
    ------
    InputError
        If the file cannot be read, or is of none of these formats.
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
    found = search(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*(?:\(.*\))?\s*$", line)
    return float(found.group().partition("(")[0]) if found else None


def _value(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"the value {text!r:.40} of {name:.40} is no number") from None


def _named(program: str, lines: list[str], words: str, objective: float | None) -> SolutionFile:
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
    words = lines[1].strip()
    values: dict[str, float] = {}
    objective, reading = None, False
    for line in lines[2:]:
        if line.startswith("# Columns"):
            reading = True
        elif line.startswith("#"):
            if reading:
                break
        elif line.startswith("Objective"):
            objective = _number_in(line)
        elif reading:
            name, value = line.split()[:2]
            values[name] = float(value)
    return SolutionFile("highs", words, objective, values)


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
    return dict(findall(r"(\w+)\s*=\s*\"([^\"]*)\"", text))


def _cbc(lines: list[str]) -> SolutionFile:
    """CBC: number, name, value and reduced cost, with two stars before what breaks a limit."""
    values: dict[str, float] = {}
    for line in lines[1:]:
        parts = line.replace("**", " ").split()
        values[parts[1]] = float(parts[2])
    whole = "infeasible" in lines[0].lower() or "no integer solution" in lines[0]
    return SolutionFile("cbc", lines[0].strip(), _number_in(lines[0]), {} if whole else values)


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
