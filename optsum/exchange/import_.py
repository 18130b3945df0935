"""Answers of other programs to exported instances: read, scored afresh, and reported as if they had been found here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from re import fullmatch
from typing import ClassVar, Final, Unpack

from optsum.contracts.result import Result
from optsum.contracts.run import Run
from optsum.contracts.strategy import Strategy
from optsum.corpus.given import AnyTopics
from optsum.coverage.instance import Sense
from optsum.errors import InputError, describe
from optsum.exchange.export import file_stem, tasks_of, unit_labels
from optsum.exchange.solution_files import SolutionFile, read_solution
from optsum.options.keywords import Keywords
from optsum.options.options import Options, resolve
from optsum.problem.formulation import Task
from optsum.problem.problem import Capability
from optsum.running.each_topic import error_result
from optsum.running.posed import posed
from optsum.running.results import finished
from optsum.running.search import search
from optsum.running.setup import Setup, setup_of
from optsum.system.clock import clock

__all__ = ["import_solutions", "import_topics"]

_ENDINGS: Final = (".sol", ".soln", ".solution", ".out", ".raw", ".txt", "")

_INTEGRAL: Final = 0.01
"""How far a value may be from 0 or 1 and still be meant as one of them."""


@dataclass(frozen=True)
class _Imported(Strategy):
    """A selection that is given, to be scored and held against the bound."""

    given: tuple[int, ...] | None

    name: ClassVar[str] = "import"
    about: ClassVar[str] = "what another program found"
    # It proves nothing, but an answer that attains the root bound is optimal, whoever found it.
    exact: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        if self.given is None:
            return
        evaluation = run.see(self.given)
        if not evaluation.feasible:
            raise InputError(f"The selection breaks the limits by {evaluation.violation}: it is no solution.")


def import_solutions(
    topics: AnyTopics, solutions: str | Path, *, config: str | Path | None = None, **options: Unpack[Keywords]
) -> list[Result]:
    """Read what other programs found for the problems that `optsum.export` wrote.

    Parameters
    ----------
    topics : iterable
        The same as were exported.
    solutions : path
        A folder with a file for each problem, named like the exported one but for its ending (.sol, .soln, .out,
        .raw, .txt), or the file of the only problem. Formats: `optsum.exchange.solution_files.read_solution`.
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
    of_files: dict[str, str] = {}
    for number, (name, task) in enumerate(tasks_of(topics, setup)):
        try:
            row = _row(_own_file(task, of_files), setup, place, first=not number)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it costs the other topics nothing
            row = error_result(name, describe(error), setup)
        yield row.changed(strategy=_Imported.name, backend=row.backend if row.error is None else None)


def _own_file(task: Task | str, of_files: dict[str, str]) -> Task | str:
    """Return a task whose file is that of no other, or what is wrong with it."""
    if isinstance(task, str) or (other := of_files.setdefault(file_stem(task.id).lower(), task.id)) == task.id:
        return task
    return f"its solution would be that of {other!r}: give another id"


def _row(task: Task | str, setup: Setup, place: Path, *, first: bool) -> Result:
    if isinstance(task, str):
        raise InputError(task)
    if place.is_file() and not first:
        raise InputError(f"{place} is one file, for the first problem: give a folder with a file for each.")
    began, path, labels = clock(), _file_of(place, task.id), unit_labels(task)
    found = read_solution(path, labels)
    given = _selection(found, labels, path)
    built = clock()
    result = search(task.problem, _Imported(given), seed=setup.options.seed)
    _check_claim(task, result, found, path)
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
        if value and name not in known and fullmatch(r"[su]\d+(_\d+)*", name):
            raise InputError(
                f"{path} chooses {name}, which is no unit of this problem: was it exported with the same options?"
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
    """Refuse an objective that is better than what the selection is worth."""
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
