"""Any solver that Pyomo knows: one driver, told by a declaration what is particular about each."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import cache
from io import StringIO, TextIOBase
from pathlib import Path
from re import search
from tempfile import TemporaryDirectory
from typing import Any, Final

from optsum.contracts.backend import Availability, Backend, RawOutcome
from optsum.contracts.declaration import Ending
from optsum.contracts.result import Termination
from optsum.contracts.run import Limits
from optsum.coverage.instance import Sense
from optsum.errors import BackendError, OptionError, OptsumError
from optsum.problem.problem import Problem, Selection
from optsum.system.clock import clock
from optsum.system.deadline import Deadline
from optsum.system.processes.supervised import find_program, run_supervised

from ..alarm import Alarm, Overran
from .declaration import PyomoDeclaration
from .model import pyomo_model
from .newer import nodes_newer, seconds_newer, solve_newer, told_newer
from .older import nodes_older, seconds_older, solve_older, told_older
from .watch import Watch

_SHORTEST = 0.01
"""Seconds; some solvers take 0 for no limit."""


class PyomoBackend(Backend):
    """A solver that Pyomo drives; subclasses declare which.

    Parameters
    ----------
    threads, options :
        As of `Backend`.
    readable : bool
        Whether it is given the readable model of the paper's equations, where the problem has one, instead of the
        merged program, which is smaller.
    """

    declaration: PyomoDeclaration
    access = "pyomo"

    readable: bool = False

    def __init_subclass__(cls) -> None:
        """Refuse a declaration that does not say how Pyomo knows the solver."""
        super().__init_subclass__()
        declared: object = getattr(cls, "declaration", None)
        if declared is not None and not isinstance(declared, PyomoDeclaration):
            raise OptionError(
                f"The backend {cls.__name__} needs a PyomoDeclaration, which says how Pyomo calls the solver (factory) "
                "and in which of its interfaces it is (newer): a Declaration does not."
            )

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return the solver's own status as it is declared, and in its own words."""
        del solver
        condition = results.termination_condition if self.declaration.newer else results.solver.termination_condition
        name = condition.name if self.declaration.newer else str(condition)
        return name, name

    def nodes(self, solver: Any, results: Any) -> int | None:
        """Return how many nodes were searched, where Pyomo says so."""
        del solver
        return nodes_newer(results) if self.declaration.newer else nodes_older(results)

    def check_options(self) -> None:
        """Refuse options that the solver does not have, where it would ignore them without a word."""

    def native_statuses(self) -> tuple[str, ...]:
        """Return the names of Pyomo's termination conditions."""
        if self.declaration.newer:
            from pyomo.contrib.solver.common.results import TerminationCondition

            return tuple(TerminationCondition.__members__)
        from pyomo.opt import TerminationCondition as Older

        return tuple(str(condition) for condition in Older)

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        """Build a Pyomo model, solve it, read it back."""
        self.accept(limits)
        self.check_options()
        began, deadline = clock(), Deadline(self.kept(limits).time_s)
        build = getattr(problem, "reference_model", None) if self.readable else None
        model: Any = None

        def settings() -> dict[str, Any]:
            if limits.time_s is None:
                return self.settings(limits, seed)
            left = limits.time_s - (clock() - began)  # building and writing count
            return self.settings(replace(limits, time_s=max(_SHORTEST, left)), seed)

        with pyomo_alone(deadline) as noise, interruptible():
            if noise is None:
                why = "the time limit was over while another thread was using Pyomo"
                return RawOutcome(termination=Termination.TIME_LIMIT, native="no answer in time", detail=why)
            try:
                with Alarm(deadline) as alarm:
                    model = build() if build is not None else pyomo_model(problem.linear_model)
                    _let_go_of_named_locks()
                    started = start is not None and build is None and self.declaration.warm_start
                    for unit, variable in model.x.items() if started else ():
                        variable.value = int(unit in (start or ()))
                    built = clock()
                    watch = Watch(self.name, deadline, alarm, settings)
                    outcome, solving = self._outcome(model, limits, watch, started, problem.sense)
            except Exception as error:  # solvers raise their own classes for licences, limits and crashes
                if (over := Overran.behind(error)) is not None:
                    return RawOutcome(termination=Termination.TIME_LIMIT, native="no answer in time", detail=str(over))
                if isinstance(error, RuntimeError) and "KeyboardInterrupt: " in str(error):
                    raise KeyboardInterrupt from error  # as Pyomo words one that comes while it puts away
                raise self._explained(error, noise.getvalue(), model) from error
        took = clock() - built
        solving = took if solving is None else min(took, solving)
        statistics = {"build_s": built - began, "hand_over_s": took - solving, "solve_s": solving}
        return replace(outcome, statistics=statistics)

    def _outcome(
        self, model: Any, limits: Limits, watch: Watch, started: bool, sense: Sense
    ) -> tuple[RawOutcome, float | None]:
        """Return what comes of a model, and the seconds that the solver itself took, if they are known."""
        declared, solver = self.declaration, self.factory()
        if declared.newer:
            results = solve_newer(solver, model, watch, self.options, started)
        else:
            results = solve_older(solver, model, watch, started)
        key, words = self.native(solver, results)
        ending = declared.statuses.get(key, Ending.FAILED)
        if declared.newer:
            seconds, told = seconds_newer(results), told_newer(results, model)
        else:
            seconds = seconds_older(results)
            told = told_older(results, model, ending, declared.bound, sense, gap=bool(limits.gap))
        outcome = RawOutcome(
            termination=self.ended(ending, limits, seconds or 0.0),
            optimal=ending is Ending.OPTIMAL,
            infeasible=ending is Ending.INFEASIBLE,
            native=words,
            nodes=self.nodes(solver, results),
            **told,
        )
        return outcome, seconds

    def _explained(self, error: Exception, noise: str, model: Any) -> OptsumError:
        """Return what a solver's own exception means."""
        given = self.given()
        if isinstance(error, BackendError) and given:
            return BackendError(f"{str(error).rstrip('.')}, with the options {given}.")
        if isinstance(error, OptsumError):
            return error
        declared, words = self.declaration, f"{error}\n{noise}"
        first = next((line.strip() for line in words.splitlines() if line.strip()), type(error).__name__)
        if self.options and (found := search(f".*(?:{declared.option_failures}).*", words)):
            return OptionError(f"The backend {self.name} does not take the options {given}: {found.group().strip()}")
        if declared.size is not None and search(declared.size_failures, words):
            return BackendError(
                f"The licence of {self.name} here allows {declared.size}, and this program has {model.nvariables():,} "
                f"variables and {model.nconstraints():,} rows: use a full licence, or --backend highs, which is free."
            )
        if search(declared.licence_failures, words):
            if given:
                return OptionError(
                    f"The backend {self.name} does not take the options {given} under its licence here: "
                    f"{first.rstrip('.')}."
                )
            return BackendError(
                f"The backend {self.name} finds no licence ({first.rstrip('.')}): use --backend highs, which is free."
            )
        return BackendError(f"{self.name} failed{f' with the options {given}' if given else ''}: {first}")

    def factory(self) -> Any:
        """Return Pyomo's solver object."""
        pyo = load_pyomo()
        if self.declaration.newer:
            from pyomo.contrib.solver.common.factory import SolverFactory as Newer

            return Newer(self.declaration.factory)
        return pyo.SolverFactory(self.declaration.factory)

    def found_by_pyomo(self) -> Availability:
        """Say whether Pyomo itself finds the solver: for solvers of which nothing is declared."""
        with hushed():
            solver = self.factory()
            if self.declaration.newer:
                state = solver.available()
                version = ".".join(map(str, solver.version() or ())) if state else ""
                reason = "" if state else f"Pyomo says {state.name} of it"
                return Availability(usable=bool(state), reason=reason, version=version)
            usable = bool(solver.available(exception_flag=False))
            return Availability(usable=usable, reason="" if usable else "Pyomo does not find it")


@cache
def load_pyomo() -> Any:
    """Return `pyomo.environ`, taught to run no program of the current folder and to read no endless output.

    Pyomo looks for programs and libraries in the current folder before the PATH, and for a version or an ability
    it reads whatever a program says.
    """
    import pyomo.environ as pyo
    from pyomo.common import Executable, Library

    Executable._manager._find = lambda name, **_: find_program(name)  # noqa: SLF001 - Pyomo has no other way to it
    find_library = Library._manager._find  # noqa: SLF001
    Library._manager._find = lambda name, **given: find_library(name, cwd=False, **given)  # noqa: SLF001
    Executable.rehash()
    for name, module in list(sys.modules.items()):
        if name.startswith("pyomo.") and vars(module).get("subprocess") is subprocess:
            module.subprocess = _Bounded()  # type: ignore[attr-defined]
    return pyo


class _Bounded:
    """The module `subprocess`, whose `run` keeps a bounded part of what a program says and ends all that it started."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def run(self, command: Any, **given: Any) -> Any:
        if given.get("stdout") != subprocess.PIPE or given.get("input") or not isinstance(command, list):
            return subprocess.run(command, check=False, **given)  # noqa: S603 - Pyomo's own call
        with TemporaryDirectory(prefix="optsum-", ignore_cleanup_errors=True) as folder:
            seconds = given.get("timeout")
            ended = run_supervised(command, Path(folder), seconds=seconds, environment=given.get("env"))
        if ended.killed:
            raise subprocess.TimeoutExpired(command, seconds or 0.0, ended.output)
        return subprocess.CompletedProcess(command, ended.status, ended.output, "")


def _let_go_of_named_locks() -> None:
    """Have Pyomo hold no lock that the system knows by a name.

    It makes one that processes which are forked share. In a process that was not forked but started, as those of loky
    and dask are, such a lock has a name, is shared with nobody, and is missed when the process is killed, as at Ctrl-C:
    Python's resource tracker then writes of leaked semaphores amid what optsum says.
    """
    if multiprocessing.get_start_method(allow_none=True) in {None, "fork"}:
        return
    from pyomo.common import dependencies

    if not isinstance(dependencies.capture_output_lock, type(threading.Lock())):
        dependencies.capture_output_lock = threading.Lock()


_ALONE: Final = threading.RLock()
"""Held by the thread that uses Pyomo, which redirects the whole process's output and has one folder for its files."""


@contextmanager
def pyomo_alone(deadline: Deadline) -> Iterator[StringIO | None]:
    """Do as `hushed` does once no other thread uses Pyomo; without it, and with None, if the deadline comes first."""
    if not _ALONE.acquire(timeout=min(deadline.left_s, threading.TIMEOUT_MAX)):
        yield None
        return
    try:
        with hushed() as noise:
            yield noise
    finally:
        _ALONE.release()


@contextmanager
def hushed() -> Iterator[StringIO]:
    """Keep what solvers, their modules and Pyomo print out of the rows, and at hand for an error's sentence."""
    with _ALONE:
        yield from _hushed()


class _Apart(TextIOBase):
    """A standard stream that keeps what one thread writes, and lets the others write where they did."""

    def __init__(self, noise: StringIO, before: Any) -> None:
        super().__init__()
        self._noise, self._before, self._thread = noise, before, threading.get_ident()

    def write(self, text: str) -> int:
        """Write it to the stream of the thread that does."""
        stream = self._noise if threading.get_ident() == self._thread else self._before
        return len(text) if stream is None else int(stream.write(text))

    def flush(self) -> None:
        """Flush the stream of the thread that does."""
        if threading.get_ident() != self._thread and self._before is not None:
            self._before.flush()


def _hushed() -> Iterator[StringIO]:
    noise = StringIO()
    out, err = _Apart(noise, sys.stdout), _Apart(noise, sys.stderr)
    logger = logging.getLogger("pyomo")
    handler, kept, level, spread = logging.StreamHandler(noise), logger.handlers[:], logger.level, logger.propagate
    logger.handlers, logger.propagate = [handler], False
    try:
        with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
            warnings.simplefilter("ignore")
            yield noise
    finally:
        logger.handlers, logger.propagate = kept, spread
        logger.setLevel(level)


@contextmanager
def interruptible() -> Iterator[None]:
    """Leave Ctrl-C to Python afterwards: Gurobi keeps the handler that it installs beneath Python's."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
