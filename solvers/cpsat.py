"""CP-SAT of OR-Tools, in a process of its own.

OR-Tools and highspy cannot be loaded into one process (their native libraries define the same symbols). So a child
process is started with the first problem, is given one after another, and ends with this process.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from threading import Lock
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from optsum.backend import Availability, Backend, RawOutcome
from optsum.errors import BackendError, UnsupportedError
from optsum.linear import LinearModel
from optsum.problem import Problem, Sense
from optsum.result import Termination
from optsum.run import Limits

__all__ = ["CpSat"]


class CpSat(Backend):
    """CP-SAT on the integer program: every column of it is an integer at some optimum, so none may be a fraction."""

    name: ClassVar[str] = "cp-sat"
    about: ClassVar[str] = "CP-SAT of OR-Tools, in a process of its own"
    install: ClassVar[str] = "pip install ortools"

    def available(self) -> Availability:
        """Say whether OR-Tools is installed; it is not loaded."""
        try:
            return Availability(usable=True, version=version("ortools"))
        except PackageNotFoundError:
            return Availability(usable=False, reason="ortools is not installed")

    def solve(self, problem: Problem, limits: Limits, seed: int) -> RawOutcome:
        """Solve to proven optimality, or to a limit."""
        if limits.nodes is not None:
            raise UnsupportedError("The backend cp-sat takes no node limit: use a time limit.")
        began = perf_counter()
        request = _request(problem.linear_model, limits, seed)
        if not self.available():
            raise BackendError(f"The backend cp-sat cannot be used: {self.available().reason}; {self.install}.")
        built = perf_counter()
        answer = _CHILD.ask(request)
        statistics = {
            "build_s": built - began + answer["build_s"],
            "solve_s": answer["solve_s"],
            "hand_over_s": perf_counter() - built - answer["build_s"] - answer["solve_s"],
        }
        status = answer["status"]
        proven = status in {"OPTIMAL", "INFEASIBLE"}
        stopped = status in {"FEASIBLE", "UNKNOWN"} and limits.time_s is not None
        return RawOutcome(
            termination=(
                Termination.COMPLETED if proven else Termination.TIME_LIMIT if stopped else Termination.FAILED
            ),
            optimal=status == "OPTIMAL",
            infeasible=status == "INFEASIBLE",
            selection=None if answer["selection"] is None else tuple(answer["selection"]),
            objective=answer["objective"],
            bound=answer["bound"],
            native=status,
            nodes=answer["nodes"],
            statistics=statistics,
        )


def _request(model: LinearModel, limits: Limits, seed: int) -> bytes:
    """Return a model and limits as `solvers.cpsat_child` reads them: NumPy arrays in one archive."""
    file = BytesIO()
    np.savez(
        file,
        maximize=np.array(model.sense is Sense.MAXIMIZE),
        objective=model.objective,
        upper=model.upper,
        row_start=model.row_start,
        row_column=model.row_column,
        row_value=model.row_value,
        units=np.array(model.units),
        time_s=np.array(np.inf if limits.time_s is None else limits.time_s),
        gap=np.array(limits.gap or 0.0),
        seed=np.array(seed % 2**31),
        row_lower=model.row_lower,
        row_upper=model.row_upper,
    )
    return file.getvalue()


class _Child:
    """The process that has OR-Tools; started when it is needed, and again if it died."""

    def __init__(self, arguments: tuple[str, ...] = ("-m", "optsum.solvers.cpsat_child")) -> None:
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def ask(self, request: bytes) -> dict[str, Any]:
        """Return the answer to a request.

        Raises
        ------
        BackendError
            If the process cannot be started, or dies.
        """
        with self._lock:
            try:
                return self._exchange(request)
            except (OSError, ValueError) as error:  # a pipe that is closed, or no whole line of JSON
                raise BackendError(
                    f"The process of cp-sat died (exit status {self._stop()}): its own words are on the standard error."
                ) from error
            except BaseException:  # Ctrl-C: whatever the child is at, nobody waits for it
                self._stop()
                raise

    def _exchange(self, request: bytes) -> dict[str, Any]:
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        if self._process is None:
            atexit.register(self._stop)
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._process.stdin.write(len(request).to_bytes(8) + request)
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def _stop(self) -> int | None:
        atexit.unregister(self._stop)
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        process.communicate()
        return process.returncode


_CHILD = _Child()
