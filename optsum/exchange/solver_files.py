"""Write each problem as a file for other programs, and read their solutions, which are scored again."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, islice, takewhile
from math import ceil, floor, isinf, isnan
from pathlib import Path
from tempfile import TemporaryFile
from typing import ClassVar, Final, Unpack

from optsum.contracts.result import Result
from optsum.contracts.strategy import Run, Strategy, is_certified
from optsum.corpus.topic import BadTopic
from optsum.corpus.topics import AnyTopics, topics_of
from optsum.coverage.instance import Sense, json_of_coverage
from optsum.errors import InputError, OptionError, OptsumError, UnsupportedError, describe, located, unknown_name
from optsum.options.keywords import Keywords
from optsum.options.options import Options, reading_of, resolve
from optsum.problem.formulation import Task
from optsum.problem.problem import Capability
from optsum.program.model import LinearModel, is_cover, wcnf_text
from optsum.running.each_topic import error_result, posed, say_warned
from optsum.running.one_problem import Setup, build, finished, problems, setup_of
from optsum.running.search import searched
from optsum.system.clock import Limits, clock
from optsum.system.files import PathLike, as_path, describe_os_error, read_text, replacing

_PER_LINE, _LINE = 8, 240  # Most terms and characters in a line; some readers stop at 255 characters.
_LETTER = {"=": "E", ">=": "G", "<=": "L"}  # Kinds of rows in MPS files.
# Reserved words of the LP format.
_WORDS: Final = "st free inf infinity end bounds bound binary binaries bin general generals gen integers semis sos obj"
_GLPK_STATUS = {"o": "optimal", "f": "feasible", "n": "no feasible solution", "u": "undefined"}
_ENDINGS: Final = (".sol", ".soln", ".solution", ".out", ".raw", ".txt", "")
_INTEGRAL: Final = 0.01  # Largest distance from 0 or 1 of a value that is read as 0 or 1.


def plain_names(names: Sequence[str], taken: Sequence[str] = ()) -> list[str] | None:
    """Return the names in a unique form that every file format accepts; None if that is impossible, or without names.

    >>> plain_names(["x[roof]", "x[yard]"]), plain_names(["x[1]", "x(1)"])
    (['x_roof', 'x_yard'], None)
    """
    plain = [re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") for name in names]
    free = not {name.lower() for name in plain} & {*_WORDS.split(), *(name.lower() for name in taken)}
    usable = all(re.fullmatch(r"(?![eE]\d)[A-Za-z]\w{0,99}", name, flags=re.ASCII) for name in plain)
    return plain if names and usable and free and len(set(plain)) == len(plain) else None


def column_names(model: LinearModel, units: Sequence[str]) -> list[str]:
    others = plain_names(model.column_names[model.units :], units)
    return [*units, *(others or (f"y{column}" for column in range(model.units, model.columns)))]


def _rows(model: LinearModel) -> Iterator[tuple[str, list[tuple[int, int]], str, int]]:
    """Yield name, entries (column, value), relation and right side; a row with two limits becomes two rows."""
    lows = [f"{name}_least" for name in model.row_names]
    names = plain_names(model.row_names, plain_names(lows) or ())
    for row in range(model.rows):
        part = slice(model.row_start[row], model.row_start[row + 1])
        held: dict[int, int] = {}
        for column, value in zip(model.row_column[part].tolist(), model.row_value[part].tolist(), strict=True):
            held[column] = held.get(column, 0) + value
        entries = [(column, value) for column, value in held.items() if value]
        low, high = float(model.row_lower[row]), float(model.row_upper[row])
        if not entries and low <= 0 <= high:
            continue
        entries = entries or [(0, 0)]  # no selection satisfies this row, and the file must say so
        name = f"r{row}" if names is None else names[row]
        if low == high:
            yield name, entries, "=", int(low)
            continue
        # Limits are rounded to integers, because the left side is one.
        if not isinf(low) and (low > 0 or any(value < 0 for _, value in entries)):
            least = f"l{row}" if names is None else name if isinf(high) else f"{name}_least"
            yield least, entries, ">=", ceil(low)
        if not isinf(high):
            yield name, entries, "<=", floor(high)


def lp_text(model: LinearModel, units: Sequence[str], comments: Sequence[str] = ()) -> str:
    """Return an integer program in CPLEX's LP format, which CBC, GLPK, HiGHS, SCIP and Gurobi read.

    Every unit is in the objective, if necessary with coefficient 0, so that readers number the units in their order.

    >>> from optsum.coverage.instance import Coverage
    >>> from optsum.program.model import coverage_model
    >>> tiny = Coverage.of([3, 2], [{0: 1}, {0: 1}], [[1]], max_length=4)
    >>> print(lp_text(coverage_model(tiny), ["s0", "s1"]), end="")
    Maximize
     obj: 0 s0 + 0 s1 + 1 y2
    Subject To
     r0: - 1 s0 - 1 s1 + 1 y2 <= 0
     r1: 3 s0 + 2 s1 <= 4
    Bounds
     0 <= y2 <= 1
    Binaries
     s0 s1
    End
    """
    names = column_names(model, units)
    priced = [(c, v) for c, v in enumerate(model.objective.tolist()) if v or c < model.units]
    lines = [*_commented(comments, "\\"), "Maximize" if model.sense is Sense.MAXIMIZE else "Minimize"]
    lines += [*_terms("obj", priced, names), "Subject To"]
    for name, entries, relation, right in _rows(model):
        lines += _terms(name, entries, names)
        lines[-1] += f" {relation} {right}"
    columns = list(zip(names, model.integral.tolist(), model.upper.tolist(), strict=True))
    bounded = (f" 0 <= {name} <= {upper}" for name, integral, upper in columns if not integral or upper != 1)
    lines += ["Bounds", *bounded]
    for heading, is_binary in (("Binaries", True), ("Generals", False)):
        if members := [name for name, integral, upper in columns if integral and (upper == 1) is is_binary]:
            lines += [heading, *(f" {line}" for line in _lines(members))]
    return "\n".join([*lines, "End"]) + "\n"


def _commented(comments: Sequence[str], mark: str) -> list[str]:
    return [f"{mark} {' '.join(comment.split())[:200]}" for comment in comments]


def _terms(name: str, entries: Sequence[tuple[int, int]], names: Sequence[str]) -> list[str]:
    words = [f"{'-' if value < 0 else '+'} {abs(value)} {names[column]}" for column, value in entries]
    words[0] = f"{name}: {words[0].removeprefix('+ ')}"
    return [f" {line}" for line in _lines(words)]


def _lines(words: Sequence[str]) -> list[str]:
    size = max(1, min(_PER_LINE, _LINE // (1 + max(map(len, words)))))
    return [" ".join(words[k : k + size]) for k in range(0, len(words), size)]


def mps_text(model: LinearModel, units: Sequence[str], comments: Sequence[str] = ()) -> str:
    """Return an integer program in the MPS format, which minimizes; the objective of a maximization is negated."""
    names = column_names(model, units)
    flip = model.sense is Sense.MAXIMIZE
    lines = _commented([*comments, *["minimizes minus the objective"] * flip], "*")
    lines += ["NAME          OPTSUM", "ROWS", " N  obj"]
    columns: list[list[tuple[str, int]]] = [
        [("obj", -value if flip else value)] if value or column < model.units else []
        for column, value in enumerate(model.objective.tolist())
    ]
    rights: list[tuple[str, int]] = []
    for name, entries, relation, right in _rows(model):
        lines.append(f" {_LETTER[relation]}  {name}")
        for column, value in entries:
            columns[column].append((name, value))
        if right:
            rights.append((name, right))
    lines.append("COLUMNS")
    integral = [False, *model.integral.tolist(), False]  # of the column before, of each, of the one behind
    for column, held in enumerate(columns):
        before, own, behind = integral[column : column + 3]
        if own and not before:
            lines.append(f"    M{column:<8} 'MARKER'                 'INTORG'")
        lines += [f"    {names[column]:<8}  {row:<8}  {value:>12}" for row, value in held]
        if own and not behind:
            lines.append(f"    N{column:<8} 'MARKER'                 'INTEND'")
    lines += ["RHS", *(f"    RHS       {name:<8}  {value:>12}" for name, value in rights)]
    uppers = zip(names, model.upper.tolist(), strict=True)
    lines += ["BOUNDS", *(f" UP BND       {name:<8}  {value:>12}" for name, value in uppers), "ENDATA"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Exported:
    """The file of a problem, or the reason why it was not written."""

    id: str | None
    path: Path | None = None
    error: str | None = None


def file_stem(name: str) -> str:
    """Return the stem of a problem's file name: its id if that is valid, else its valid characters and a checksum."""
    # A file that is not hidden, and that no program takes for an option.
    safe = re.sub(r"[^\w.#-]", "_", name, flags=re.ASCII).strip(".-")[:80]
    # Two ids must not become one file, not even on systems that ignore case.
    same = safe == name and name == name.lower()
    return safe if same else f"{safe or 'problem'}-{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"


def unit_labels(task: Task) -> list[str]:
    """Return, for each unit, a name that is valid in every format: its label, or ``s`` or ``u`` with a number."""
    if (own := plain_names(task.problem.labels)) is not None:
        return own
    numbered, labels = [f"u{unit}" for unit in range(task.problem.size)], []
    for unit, number in enumerate(numbered):
        named = task.name_units((unit,))
        parts = named[0] if named and isinstance(named[0], tuple) else named
        plain = len(named) == 1 and all(isinstance(part, int) for part in parts)
        labels.append(f"s{'_'.join(map(str, parts))}" if plain else number)
    return labels if len(set(labels)) == len(labels) else numbered


def file_text(task: Task, kind: str) -> str:
    problem = task.problem
    if kind in {"wcnf", "json"}:
        return _normal_form(task, kind)
    if not problem.can(Capability.LINEAR):
        why = f"{type(problem).__name__} only evaluates selections: write it as an optsum.PyomoProblem"
        if problem.can(Capability.COVERAGE):
            why = "its objective is not a linear function of the units: use --format json"
        raise UnsupportedError(f"The problem {task.id} has no integer linear program to write, as {why}.")
    if not problem.size:
        raise InputError(f"The problem {task.id} has no units, so there is nothing to write: its optimum is empty.")
    model = problem.linear_model
    labels = unit_labels(task)
    called = problem.labels or [
        " ".join(map(str, task.name_units((unit,)))) if label.startswith("u") else label
        for unit, label in enumerate(labels)
    ]
    named = [f"{label} is {name}" for label, name in zip(labels, called, strict=True) if name != label]
    value = f"the reported value is (objective + {model.offset}) / {model.denominator}"
    write = lp_text if kind == "lp" else mps_text
    return write(model, labels, [f"problem {task.id}", *named, value])


def _normal_form(task: Task, kind: str) -> str:
    if not task.problem.can(Capability.COVERAGE):
        instead = "use --format lp or mps" if task.problem.can(Capability.LINEAR) else "make it an optsum.Coverage"
        fault = f"is not in the normal form, so it cannot be written as {kind}"
        raise UnsupportedError(f"The problem {task.id} {fault}: {instead}.")
    if kind == "wcnf" and not is_cover(task.problem.coverage):
        instead = "use --format lp, mps or json, or, for topics, --formulation=cover"
        raise UnsupportedError(f"The format wcnf is for covers only, and {task.id} is not one: {instead}.")
    units = [task.name_units((unit,)) for unit in range(task.problem.size)]
    if kind == "json":
        return json_of_coverage(task.problem.coverage, about={"id": task.id, "units": list(map(list, units))})
    names = [" ".join(map(str, unit)) for unit in units]
    return wcnf_text(task.problem.coverage, names, title=f"problem {task.id}")


def export(
    topics: AnyTopics,
    folder: str | Path,
    format: str = "lp",  # noqa: A002 - the flag's name
    *,
    config: str | Path | None = None,
    **options: Unpack[Keywords],
) -> list[Exported]:
    """Write each problem as a file for other programs.

    Parameters
    ----------
    topics : iterable
        As for `optsum.solve_all`.
    folder : path
        Created if necessary. A file is named by the problem's id.
    format : str
        "lp" or "mps" (the integer program), "wcnf" (covers, for MaxSAT), "json" (the normal form).
    config, **options
        As in `optsum.solve`.

    Returns
    -------
    list of Exported
        One for each problem; if a problem cannot be written, its `error` says why, and the others are written.

    Raises
    ------
    OptsumError
        At once, if the options or the folder cannot be used.
    """
    topics, named = posed(topics, options, config)
    return list(export_topics(topics, folder, format, resolve(named, config=config)))


def export_topics(topics: AnyTopics, folder: str | Path, kind: str, options: Options) -> Iterator[Exported]:
    if kind not in (known := ("lp", "mps", "wcnf", "json")):
        raise unknown_name("format", kind, known)
    place = _folder(folder)
    for name, made in tasks_of(topics, setup_of(options)):
        if isinstance(made, str):
            yield Exported(name, error=made)
            continue
        path = place / f"{file_stem(made.id)}.{kind}"
        try:
            with replacing(path) as new:
                new.write_text(file_text(made, kind), encoding="utf-8")
            yield Exported(name, path)
        except OptsumError as fault:
            yield Exported(name, error=str(fault))
        except OSError as fault:
            yield Exported(name, error=f"the file {path} cannot be written: {describe_os_error(fault)}")


def _folder(folder: str | Path) -> Path:
    if str(folder) in {"", "-"}:
        raise OptionError("An export needs a folder, not the standard output: give --output DIR.")
    place = as_path(folder, "The folder of the export")
    try:
        place.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=place):
            pass
    except FileExistsError:
        raise OptionError(f"{folder} is a file, and an export needs a folder: give it another name.") from None
    except OSError as error:
        raise OptionError(f"The folder {folder} cannot be made or written to: {error.strerror or error}.") from error
    return place


def tasks_of(topics: AnyTopics, setup: Setup) -> Iterator[tuple[str | None, Task | str]]:
    seen: set[str] = set()
    of_files: dict[str, str] = {}
    warned: Counter[str | None] = Counter()
    for topic in topics_of(topics, reading_of(setup.options)):
        if isinstance(topic, BadTopic):
            yield topic.id, located(topic.source, topic.error)
            continue
        if topic.id in seen:
            yield topic.id, f"the topic {topic.id!r} occurs twice: give each its own id"
            continue
        seen.add(topic.id)
        if setup.best_of_references and len(topic.references) > 1:
            yield topic.id, "the best of several references means several problems: export them with --references each"
            continue
        warned[setup.faults_of(topic)[1]] += 1
        for part in problems(topic, setup):
            try:
                built: Task | str = build(part, setup)
            except BaseException as error:  # noqa: BLE001 - other topics go on after any error
                built = describe(error)
            if (other := of_files.setdefault(file_stem(part.id).lower(), part.id)) != part.id:
                built = f"its file would be that of {other!r}: give another id"
            yield part.id, built
    say_warned(warned)


@dataclass(frozen=True)
class SolutionFile:
    """A solver's answer in a file."""

    program: str  # Program of the format: "cbc", "cplex", "glpk", "highs", "scip", "gurobi", "maxsat" or "list".
    words: str  # The solver's status, as written.
    objective: float | None  # Claimed by the solver.
    values: dict[str, float]  # Column name -> value; missing columns are 0.


def read_solution(path: PathLike, columns: Sequence[str]) -> SolutionFile:
    """Read a solution file; `columns`: the names of the program's columns, in order, for formats that number them.

    Formats are those of CBC (``-solu``), GLPK (``-o`` or ``-w``), HiGHS (``--solution_file``), SCIP (``write
    solution``), Gurobi (``ResultFile``), CPLEX (``write``), the output of MaxSAT solvers, and lines ``name value``.
    """
    lines = [line.rstrip() for line in read_text(path, "the solution").splitlines()]
    try:
        found = _read(lines, columns)
    except (IndexError, StopIteration) as error:
        raise InputError(f"The solution {path} cannot be understood: the file or a line ends too early.") from error
    except ValueError as error:
        raise InputError(f"The solution {path} cannot be understood: {error}.") from error
    if found is None:
        how = "write it with CBC, GLPK, HiGHS, SCIP, Gurobi or CPLEX, or as lines of a name and a value"
        raise InputError(f"The solution {path} has an unknown format: {how}.")
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
    if first.startswith("Model status"):  # HiGHS: sections under headings; the primal columns come first
        stated = next((line for line in filled if line.startswith("Objective")), "")
        below = islice(dropwhile(lambda line: not line.startswith("# Columns"), filled), 1, None)
        return _named("highs", takewhile(lambda line: line[0] != "#", below), filled[1].strip(), _number_in(stated))
    if first.startswith("solution status:"):
        value = _number_in(filled[1]) if filled[1:] else None
        return _named("scip", filled[2:], first.partition(":")[2].strip(), value)
    if first.startswith("objective value:"):
        return _named("scip", filled[1:], "", _number_in(first))
    values = [_number_in(line) for line in filled[:3] if "bjective value" in line]
    if first.startswith("# ") and values:
        return _named("gurobi", filled, "", values[0])
    if any(line.startswith(("s mip", "s bas", "s ipt")) for line in filled[:20]):
        return _glpk_raw(filled, columns)
    if any(line.startswith("Rows:") for line in filled[:4]):
        return _glpk_table(filled)
    if "objective value" in first or first.split()[0] in {"Infeasible", "Integer", "Unbounded", "Optimal", "Stopped"}:
        # CBC: number, name, value and reduced cost, with two stars before violated columns.
        none = "infeasible" in first.lower() or "no integer solution" in first
        rows = (" ".join(line.replace("**", " ").split()[1:]) for line in (() if none else filled[1:]))
        return _named("cbc", rows, first.strip(), _number_in(first))
    return _named("list", filled, "", None)


def _number_in(line: str) -> float | None:
    found = re.search(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*(?:\(.*\))?\s*$", line)
    return float(found.group().partition("(")[0]) if found else None


def _value(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"the value {text!r:.40} of {name:.40} is not a number") from None


def _named(program: str, lines: Iterable[str], words: str, objective: float | None) -> SolutionFile:
    values: dict[str, float] = {}
    for line in lines:
        if line.startswith(("#", "*", "\\")):
            continue
        parts = line.split()
        if len(parts) < 2:
            raise ValueError(f"the line {line.strip()!r:.60} is not a name and a value")
        if parts[0] in values:
            raise ValueError(f"it gives {parts[0]} twice")
        values[parts[0]] = _value(parts[1], parts[0])
    return SolutionFile(program, words, objective, values)


def _cplex(lines: list[str]) -> SolutionFile:
    """Parse a solution of CPLEX: XML in which only attributes matter."""

    def attributes(tag: str) -> dict[str, str]:
        return dict(re.findall(r"(\w+)\s*=\s*\"([^\"]*)\"", tag.partition("/>")[0]))

    text = "\n".join(lines)
    head = attributes(text.partition("<header")[2])
    values: dict[str, float] = {}
    for held in map(attributes, text.partition("<variables>")[2].split("<variable ")[1:]):
        if not {"name", "value"} <= set(held):
            raise ValueError("a variable has no name or no value")
        values[held["name"]] = _value(held["value"], held["name"])
    objective = float(head["objectiveValue"]) if "objectiveValue" in head else None
    return SolutionFile("cplex", head.get("solutionStatusString", ""), objective, values)


def _glpk_table(lines: list[str]) -> SolutionFile:
    """Parse GLPK's printed report: tables of rows and of columns; a long name has a line of its own."""
    status = next((line.partition(":")[2].strip() for line in lines if line.startswith("Status:")), "")
    stated = next((line for line in lines if line.startswith("Objective:")), "")
    objective = _number_in(stated.partition("=")[2])
    values: dict[str, float] = {}
    name = None
    for line in islice(dropwhile(lambda line: "Column name" not in line, lines), 2, None):
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


def _glpk_raw(lines: list[str], columns: Sequence[str]) -> SolutionFile:
    """Parse GLPK's raw file, which names columns by number."""
    head = next(line.split() for line in lines if line.startswith("s "))
    status = _GLPK_STATUS.get(head[4], head[4])
    values: dict[str, float] = {}
    for parts in map(str.split, lines):
        if parts[0] == "j" and int(parts[1]) <= len(columns):
            values[columns[int(parts[1]) - 1]] = float(parts[2 if head[1] != "bas" else 3])
    held = status in {"optimal", "feasible"}
    return SolutionFile("glpk", status, float(head[-1]) if held else None, values if held else {})


def _maxsat(lines: list[str], columns: Sequence[str]) -> SolutionFile:
    """Parse a MaxSAT solver's output: literals, or one digit for each variable."""
    words = next(line[2:].strip() for line in lines if line.startswith("s "))
    costs = [float(line[2:]) for line in lines if line.startswith("o ")]
    tokens = [token for line in lines if line.startswith("v ") for token in line[2:].split()]
    if len(tokens) == 1 and set(tokens[0]) <= {"0", "1"} and len(tokens[0]) >= len(columns):
        chosen = {number for number, digit in enumerate(tokens[0], start=1) if digit == "1"}
    else:
        chosen = {int(token) for token in tokens if int(token) > 0}
    values = {name: 1.0 for number, name in enumerate(columns, start=1) if number in chosen}
    return SolutionFile("maxsat", words, costs[-1] if costs else None, values if tokens else {})


@dataclass(frozen=True)
class _Imported(Strategy):
    """A strategy that reports a given selection, so that it is evaluated and compared with the bound."""

    given: tuple[int, ...] | None

    name: ClassVar[str] = "import"
    about: ClassVar[str] = "the answer of another program"

    def search(self, run: Run) -> None:
        if self.given is None:
            return
        evaluation = run.see(self.given)
        if not evaluation.feasible:
            fault = f"violates the limits by {evaluation.violation}"
            raise InputError(f"The selection {fault}: it is not a valid solution.")
        if run.problem.can(Capability.BOUND):
            run.raise_root_bound()
            if is_certified(run):  # optimal, whoever found it
                run.prove()


def import_solutions(
    topics: AnyTopics, solutions: str | Path, *, config: str | Path | None = None, **options: Unpack[Keywords]
) -> list[Result]:
    """Read the solutions of other programs for problems that `optsum.export` wrote.

    Parameters
    ----------
    topics : iterable
        The exported topics.
    solutions : path
        A folder with a file for each problem, named like the exported one with another ending (.sol, .soln, .out, .raw,
        .txt), or the file of the only problem. Formats: `optsum.exchange.solver_files.read_solution`.
    config, **options
        The same options as for the export.

    Returns
    -------
    list of Result
        One for each problem, like those of `optsum.solve_all`, with ``strategy`` "import". Every solution is scored
        again, and is "optimal" only if it attains a bound that optsum proves; `detail` quotes the other program.

    Raises
    ------
    OptsumError
        At once, if the options or the solutions cannot be used.
    """
    topics, named = posed(topics, options, config)
    return list(import_topics(topics, solutions, resolve(named, config=config)))


def import_topics(topics: AnyTopics, solutions: str | Path, options: Options) -> Iterator[Result]:
    place = as_path(solutions, "The file or folder of solutions")
    if not place.exists():
        raise InputError(f"There is no file or folder {solutions} of solutions.")
    setup = setup_of(options)
    for number, (name, task) in enumerate(tasks_of(topics, setup)):
        try:
            row = _row(task, setup, place, first=not number)
        except BaseException as error:  # noqa: BLE001 - other topics go on after any error
            row = error_result(name, describe(error), setup)
        yield row.changed(strategy=_Imported.name, backend=row.backend if row.error is None else None)


def _row(task: Task | str, setup: Setup, place: Path, *, first: bool) -> Result:
    if isinstance(task, str):
        raise InputError(task)
    if place.is_file() and not first:
        fault = "is one solution file, which can only be for the first problem"
        raise InputError(f"{place} {fault}: give a folder of them.")
    began, labels, stem = clock(), unit_labels(task), place / file_stem(task.id)
    files = (place, *(stem.with_name(f"{stem.name}{ending}") for ending in _ENDINGS))
    if (path := next((file for file in files if file.is_file()), None)) is None:
        raise InputError(f"There is no solution of {task.id}: put it at {stem}.sol.")
    found = read_solution(path, labels)
    try:
        given = _selection(found, labels, path)
        built = clock()
        result = searched(task.problem, _Imported(given), Limits(), setup.options.seed, greedily=False)
        _check_claim(task, result, found, path)
    except InputError as error:
        if found.program != "cbc":
            raise
        how = "solve it with cbc FILE.lp -preprocess off -solve -solu FILE.sol"
        fault = f"{str(error).rstrip('.')}; the preprocessing of CBC is known to cause this"
        raise InputError(f"{fault}: {how}.") from error
    done = finished(task, setup, result, began=began, built=built)
    words = f"{found.program}: {found.words}" if found.words else found.program
    return done.changed(backend=found.program, detail=words)


def _selection(found: SolutionFile, labels: list[str], path: Path) -> tuple[int, ...] | None:
    if not found.values:
        # Some programs leave out zeros, so a file without values may mean the empty selection.
        nothing = ("infeasible", "no feasible", "undefined", "unsat", "unknown", "not set", "no integer")
        return None if not found.words or any(word in found.words.lower() for word in nothing) else ()
    known = set(labels)
    if labels and not known & set(found.values) and found.program in {"list", "highs", "cbc"}:
        raise InputError(f"{path} has no unit of this problem: was it exported with the same options?")
    for name, value in found.values.items():
        if value and name not in known and re.fullmatch(r"[su]\d+(_\d+)*", name):
            fault = f"chooses {name}, which is not a unit of this problem"
            raise InputError(f"{path} {fault}: was it exported with the same options?")
    values = [found.values.get(label, 0.0) for label in labels]
    for label, value in zip(labels, values, strict=True):
        if isnan(value) or min(abs(value), abs(value - 1.0)) > _INTEGRAL:
            fault = f"gives {label} the value {value:g}, which is neither 0 nor 1"
            raise InputError(f"{path} {fault}: it is not a valid solution.")
    return tuple(unit for unit, value in enumerate(values) if value > 0.5)


def _check_claim(task: Task, result: Result, found: SolutionFile, path: Path) -> None:
    """Refuse a claimed objective that is better than that of the selection."""
    problem = task.problem
    if found.objective is None or result.key is None or not problem.can(Capability.LINEAR):
        return
    worth = float(result.key) * problem.linear_model.denominator - problem.linear_model.offset
    surplus = abs(found.objective) - abs(worth)  # an MPS file minimizes minus the objective
    surplus = surplus if problem.sense is Sense.MAXIMIZE else -surplus
    if surplus > max(0.5, 1e-6 * abs(worth)):
        fault = f"claims an objective of {found.objective:g}, but its selection has {worth:g}"
        raise InputError(f"{path} {fault}: it is not a valid solution.")
