"""Instances as files for other programs, one file a problem."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isinf
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, Unpack

from optsum.corpus.arguments import AnyTopics, topics_of
from optsum.corpus.topic import BadTopic, topic_of
from optsum.coverage.clauses import is_cover
from optsum.coverage.instance import Sense
from optsum.coverage.normal_form_json import json_of_coverage
from optsum.errors import InputError, OptionError, OptsumError, UnsupportedError, describe, unknown_name
from optsum.options.keywords import Keywords
from optsum.options.options import Options, resolve
from optsum.problem.formulation import Task
from optsum.problem.problem import Capability
from optsum.program.cover import wcnf_text
from optsum.program.model import LinearModel
from optsum.running.each_topic import problems, say_warned
from optsum.running.one_problem import Setup, build, setup_of
from optsum.running.posed import posed
from optsum.system.files import describe_os_error, replacing

_PER_LINE, _LINE = 8, 240  # Terms in a line, and characters: some readers stop at 255.

_LETTER = {"=": "E", ">=": "G", "<=": "L"}  # Kinds of rows in MPS files.

_WORDS: Final = "st free inf infinity end bounds bound binary binaries bin general generals gen integers semis sos obj"
"""Words of the LP format that no name may be."""


def plain_names(names: Sequence[str], taken: Sequence[str] = ()) -> list[str] | None:
    """Return names as every format can have them; None where some cannot be told apart by them, or there are none.

    >>> plain_names(["x[roof]", "x[yard]"]), plain_names(["x[1]", "x(1)"])
    (['x_roof', 'x_yard'], None)
    """
    plain = [re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") for name in names]
    free = not {name.lower() for name in plain} & {*_WORDS.split(), *(name.lower() for name in taken)}
    usable = all(re.fullmatch(r"(?![eE]\d)[A-Za-z]\w{0,99}", name, flags=re.ASCII) for name in plain)
    return plain if names and usable and free and len(set(plain)) == len(plain) else None


def column_names(model: LinearModel, units: Sequence[str]) -> list[str]:
    """Return the names of all columns: those of the units, then their owner's, or y with the column's number."""
    others = plain_names(model.column_names[model.units :], units)
    return [*units, *(others or (f"y{column}" for column in range(model.units, model.columns)))]


def _rows(model: LinearModel) -> Iterator[tuple[str, list[tuple[int, int]], str, int]]:
    """Yield name, entries (column, value), relation and right side; a row with two sides is two rows."""
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
        entries = entries or [(0, 0)]  # nothing can keep this row, and the file has to say so
        name = f"r{row}" if names is None else names[row]
        if low == high:
            yield name, entries, "=", int(low)
            continue
        # The left side is an integer.
        if not isinf(low) and (low > 0 or any(value < 0 for _, value in entries)):
            least = f"l{row}" if names is None else name if isinf(high) else f"{name}_least"
            yield least, entries, ">=", ceil(low)
        if not isinf(high):
            yield name, entries, "<=", floor(high)


def lp_text(model: LinearModel, units: Sequence[str], comments: Sequence[str] = ()) -> str:
    """Return an integer program in the LP format of CPLEX, which CBC, GLPK, HiGHS, SCIP and Gurobi read.

    Every unit is in the objective, with 0 if need be, so that readers that number columns as they come keep the order.
    `units`: names of the units: a letter, then letters, digits and underscores. `comments`: lines at the top.

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
    lines = [f"\\ {_one_line(comment)}" for comment in comments]
    lines.append("Maximize" if model.sense is Sense.MAXIMIZE else "Minimize")
    priced = [(c, v) for c, v in enumerate(model.objective.tolist()) if v or c < model.units]
    lines += _terms("obj", priced, names)
    lines.append("Subject To")
    for name, entries, relation, right in _rows(model):
        written = _terms(name, entries, names)
        written[-1] += f" {relation} {right}"
        lines += written
    lines.append("Bounds")
    integral, upper = model.integral.tolist(), model.upper.tolist()
    lines += [f" 0 <= {names[c]} <= {upper[c]}" for c in range(model.columns) if not (integral[c] and upper[c] == 1)]
    binary = [names[c] for c in range(model.columns) if integral[c] and upper[c] == 1]
    general = [names[c] for c in range(model.columns) if integral[c] and upper[c] != 1]
    for heading, members in (("Binaries", binary), ("Generals", general)):
        if members:
            lines.append(heading)
            lines += [f" {line}" for line in _lines(members)]
    lines.append("End")
    return "\n".join(lines) + "\n"


def _one_line(comment: str) -> str:
    return " ".join(comment.split())[:200]


def _terms(name: str, entries: Sequence[tuple[int, int]], names: Sequence[str]) -> list[str]:
    words = [f"{'-' if value < 0 else '+'} {abs(value)} {names[column]}" for column, value in entries]
    words[0] = f"{name}: {words[0].removeprefix('+ ')}"
    return [f" {line}" for line in _lines(words)]


def _lines(words: Sequence[str]) -> list[str]:
    size = max(1, min(_PER_LINE, _LINE // (1 + max(map(len, words)))))
    return [" ".join(words[k : k + size]) for k in range(0, len(words), size)]


def mps_text(model: LinearModel, units: Sequence[str], comments: Sequence[str] = ()) -> str:
    """Return an integer program in the MPS format, for which what is to be maximized is minimized with other signs."""
    names = column_names(model, units)
    flip = model.sense is Sense.MAXIMIZE
    lines = [f"* {_one_line(comment)}" for comment in comments]
    lines += ["* minimizes minus the objective"] if flip else []
    lines += ["NAME          OPTSUM", "ROWS", " N  obj"]
    columns: list[list[tuple[str, int]]] = [[] for _ in range(model.columns)]
    for column, value in enumerate(model.objective.tolist()):
        if value or column < model.units:
            columns[column].append(("obj", -value if flip else value))
    rights: list[tuple[str, int]] = []
    for name, entries, relation, right in _rows(model):
        lines.append(f" {_LETTER[relation]}  {name}")
        for column, value in entries:
            columns[column].append((name, value))
        if right:
            rights.append((name, right))
    lines.append("COLUMNS")
    integral = model.integral.tolist()
    for column, held in enumerate(columns):
        if integral[column] and (column == 0 or not integral[column - 1]):
            lines.append(f"    M{column:<8} 'MARKER'                 'INTORG'")
        lines += [f"    {names[column]:<8}  {row:<8}  {value:>12}" for row, value in held]
        if integral[column] and (column + 1 == model.columns or not integral[column + 1]):
            lines.append(f"    N{column:<8} 'MARKER'                 'INTEND'")
    lines.append("RHS")
    lines += [f"    RHS       {name:<8}  {value:>12}" for name, value in rights]
    lines.append("BOUNDS")
    lines += [f" UP BND       {name:<8}  {value:>12}" for name, value in zip(names, model.upper.tolist(), strict=True)]
    lines.append("ENDATA")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Exported:
    """One problem's file, or why there is none."""

    id: str | None
    path: Path | None = None
    error: str | None = None


def file_stem(name: str) -> str:
    """Return a file's name without its ending for a problem: its id, where that can be one."""
    # Neither hidden, nor read as an option by the program that solves it.
    safe = re.sub(r"[^\w.#-]", "_", name, flags=re.ASCII).strip(".-")[:80]
    # Two ids must not become one file, on systems that ignore case either.
    same = safe == name and name == name.lower()
    return safe if same else f"{safe or 'problem'}-{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"


def unit_labels(task: Task) -> list[str]:
    """Return a name for each unit that every format can have: its label, or s and its number in the input."""
    if (own := plain_names(task.problem.labels)) is not None:
        return own
    labels: list[str] = []
    for unit in range(task.problem.size):
        named = task.name_units((unit,))
        name = named[0] if len(named) == 1 else None
        parts = name if isinstance(name, tuple) else (name,)
        plain = all(isinstance(part, int) for part in parts)
        labels.append(f"s{'_'.join(map(str, parts))}" if plain else f"u{unit}")
    return labels if len(set(labels)) == len(labels) else [f"u{unit}" for unit in range(task.problem.size)]


def _program(task: Task, write: Callable[..., str]) -> str:
    problem = task.problem
    if not problem.can(Capability.LINEAR):
        why = (
            "its objective is no linear function of the units: use --format json"
            if problem.can(Capability.COVERAGE)
            else f"{type(problem).__name__} only tells what selections are worth: write it as an optsum.PyomoProblem"
        )
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
    value = f"the value for people is (objective + {model.offset}) / {model.denominator}"
    return write(model, labels, [f"problem {task.id}", *named, value])


def _normal_form(task: Task, kind: str) -> str:
    if kind == "wcnf" and task.problem.can(Capability.COVERAGE) and not is_cover(task.problem.coverage):
        raise UnsupportedError(
            f"The format wcnf works on covers only, and {task.id} is none: use --format lp, mps or json, or "
            "--formulation cover where these are texts."
        )
    if not task.problem.can(Capability.COVERAGE):
        instead = "use --format lp or mps" if task.problem.can(Capability.LINEAR) else "make it an optsum.Coverage"
        raise UnsupportedError(
            f"The problem {task.id} is not in the normal form, so it cannot be written as {kind}: {instead}."
        )
    units = [task.name_units((unit,)) for unit in range(task.problem.size)]
    if kind == "json":
        return json_of_coverage(task.problem.coverage, about={"id": task.id, "units": list(map(list, units))})
    names = [" ".join(map(str, unit)) for unit in units]
    return wcnf_text(task.problem.coverage, names, title=f"problem {task.id}")


FORMATS: Final[Mapping[str, Callable[[Task], str]]] = {
    "lp": lambda task: _program(task, lp_text),
    "mps": lambda task: _program(task, mps_text),
    "wcnf": lambda task: _normal_form(task, "wcnf"),
    "json": lambda task: _normal_form(task, "json"),
}


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
        Made if it is not there. A file is named by the problem's id.
    format : str
        "lp" or "mps" (the integer program), "wcnf" (covers, for MaxSAT), "json" (the normal form).
    config, **options
        As in `optsum.solve`.

    Returns
    -------
    list of Exported
        One a problem; what could not be written says why, and costs the others nothing.

    Raises
    ------
    OptsumError
        At once, if the options or the folder cannot be used.
    """
    topics, named = posed(topics, options, config)
    return list(export_topics(topics, folder, format, resolve(named, config=config)))


def export_topics(
    topics: AnyTopics,
    folder: str | Path,
    format: str,  # noqa: A002
    options: Options,
) -> Iterator[Exported]:
    """Write problems one after another, as `export` does."""
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    place = _folder(folder)
    for name, made in tasks_of(topics, setup_of(options)):
        if isinstance(made, str):
            yield Exported(name, error=made)
            continue
        path = place / f"{file_stem(made.id)}.{format}"
        try:
            with replacing(path) as new:
                new.write_text(FORMATS[format](made), encoding="utf-8")
        except OptsumError as error:
            yield Exported(name, error=str(error))
        except OSError as error:
            yield Exported(name, error=f"the file {path} cannot be written: {describe_os_error(error)}")
        else:
            yield Exported(name, path)


def _folder(folder: str | Path) -> Path:
    """Make the folder, check that it can be written to, and return it."""
    if str(folder) in {"", "-"}:
        raise OptionError("An export needs a folder, not the standard output: give --output DIR.")
    place = Path(folder)
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
    """Yield the id of each problem, and its task or why there is none."""
    seen: set[str] = set()
    of_files: dict[str, str] = {}
    warned: Counter[str | None] = Counter()
    for given in topics_of(topics, setup.options.reading):
        if isinstance(given, BadTopic):
            yield given.id, f"{given.source}: {given.error}"
            continue
        try:
            topic = topic_of(given, setup.options.reading)
        except OptsumError as error:
            yield None, str(error)
            continue
        if topic.id in seen:
            yield topic.id, f"the topic {topic.id!r} is there twice: give each an id of its own"
            continue
        seen.add(topic.id)
        if setup.best_of_references and len(topic.references) > 1:
            yield topic.id, "the best of several references is several problems: write them with --references each"
            continue
        warned[setup.warning_of(topic)] += 1
        for part in problems(topic, setup):
            try:
                built: Task | str = build(part, setup)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it costs the other topics nothing
                built = describe(error)
            if (other := of_files.setdefault(file_stem(part.id).lower(), part.id)) != part.id:
                built = f"its file would be that of {other!r}: give another id"
            yield part.id, built
    say_warned(warned)
