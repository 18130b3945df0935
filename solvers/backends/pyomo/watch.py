"""Solving through Pyomo in time: writing counts, programs keep the limit or are killed, and no file stays behind."""

from __future__ import annotations

import signal
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from optsum.errors import BackendError
from optsum.system.deadline import Deadline
from optsum.system.processes.supervised import run_supervised

from ..alarm import GRACE_S, Alarm, Overran

_ANSWER: Final = 4_000_000
_LINES: Final = 8
"""An answer takes no more bytes than this, and so many times as its program."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What ends one solve in time.

    Attributes
    ----------
    name : str
        The backend's, for sentences.
    deadline : Deadline
        When the solver is to end.
    alarm : Alarm
        Rings then; silenced as soon as the solver itself is at work.
    settings : callable
        Returns the solver's options as of now: those for its time hold what is left of it.
    """

    name: str
    deadline: Deadline
    alarm: Alarm
    settings: Callable[[], Mapping[str, Any]]

    def newer(self, solver: Any, time_is_ours: bool) -> None:
        """Have a solver of Pyomo's newer interface begin with what its writing left of the time.

        Parameters
        ----------
        solver : Any
            Pyomo's solver object. Those that are no programs have one of two methods that see its configuration when
            everything is handed over.
        time_is_ours : bool
            Whether the time limit is not among the options that were given.
        """
        limited = time_is_ours and self.deadline.left_s < float("inf")
        if (create := getattr(solver, "_create_solver_model", None)) is not None:

            def create_solver_model(model: Any, config: Any) -> Any:
                made = create(model, config)
                self._begin()
                config.time_limit = self.settings()["time_limit"] if limited else config.time_limit
                return made

            solver._create_solver_model = create_solver_model  # noqa: SLF001 - Pyomo has no other way to it
        elif (solve := getattr(solver, "_solve", None)) is not None:

            def solve_model() -> Any:
                self._begin()
                config = solver._active_config  # noqa: SLF001
                config.time_limit = self.settings()["time_limit"] if limited else config.time_limit
                return solve()

            solver._solve = solve_model  # noqa: SLF001
        else:
            self.alarm.silence()  # nobody knows when it begins

    @contextmanager
    def older(self, solver: Any) -> Iterator[None]:
        """Do the same for one of the older interface; where it is a program, it gets a supervisor.

        Raises
        ------
        Overran
            If the time is over before the program was started, or it had to be killed after `GRACE_S`.
        BackendError
            If it crashes.
        """
        from pyomo.common.tempfiles import TempfileManager

        with TemporaryDirectory(prefix="optsum-", ignore_cleanup_errors=True) as folder:
            before, TempfileManager.tempdir = TempfileManager.tempdir, folder
            try:
                with TempfileManager:  # leaves no contexts behind that a failing plug-in did not close
                    self._prepare(solver, Path(folder))
                    yield
            finally:
                TempfileManager.tempdir = before

    def _prepare(self, solver: Any, folder: Path) -> None:
        solver.options.update(self.settings())
        if not hasattr(solver, "create_command_line"):
            apply = getattr(solver, "_apply_solver", None)
            if apply is None:
                self.alarm.silence()  # nobody knows when it begins
                return

            def apply_solver() -> Any:
                self._begin()
                solver.options.update(self.settings())
                return apply()

            solver._apply_solver = apply_solver  # noqa: SLF001
            return
        command_line = solver.create_command_line

        def create_command_line(executable: str, files: Any) -> Any:
            self._begin()
            solver.options.update(self.settings())
            return command_line(executable, files)

        solver.create_command_line = create_command_line
        solver._execute_command = lambda command: self._execute(command, folder)  # noqa: SLF001

    def _begin(self) -> None:
        self.alarm.silence()
        if self.deadline.left_s <= 0:
            raise Overran("the time limit was over before the solver had its program")

    def _execute(self, command: Any, folder: Path) -> list[Any]:
        left = self.deadline.left_s
        ended = run_supervised(
            command.cmd,
            folder,
            seconds=None if left == float("inf") else left + GRACE_S,
            given=command.script if "script" in command else "",
            environment=command.env,
        )
        _check_files(self.name, folder)
        if ended.killed:
            raise Overran(f"{self.name} went on {GRACE_S:g} s after its time limit and was killed")
        if ended.status < 0:
            raise BackendError(f"{self.name} crashed ({_signal_name(-ended.status)}).")
        return [ended.status, ended.output]


def _check_files(name: str, folder: Path) -> None:
    """Refuse files that Pyomo could not read, or not soon: pipes, devices, links, and far more than an answer is."""
    files = [path for path in folder.rglob("*") if not (path.is_dir() and not path.is_symlink())]
    sizes = {path: path.lstat().st_size for path in files}
    programs = max((size for path, size in sizes.items() if path.suffix in {".lp", ".nl", ".mps"}), default=0)
    for path in files:
        if not stat.S_ISREG(path.lstat().st_mode):
            path.unlink()  # Pyomo can remove nothing but files
            raise BackendError(f"{name} left something in the place of its answer that is no plain file.")
        if sizes[path] > _ANSWER + _LINES * programs:
            raise BackendError(f"{name} wrote {sizes[path]:,} bytes, far more than an answer to its program can take.")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
