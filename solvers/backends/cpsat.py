"""CP-SAT of OR-Tools, in a separate process.

OR-Tools and highspy cannot be loaded into one process (their native libraries define the same symbols). So a child
process is started for the first problem, solves all of them, and ends with this process.
"""

from __future__ import annotations

import atexit
import json
import subprocess
from collections.abc import Sequence
from io import BytesIO
from math import inf
from threading import TIMEOUT_MAX, Lock
from time import perf_counter
from typing import Any, Final

import numpy as np

from optsum.contracts.backend import Backend, Declaration, Ending, OptionNames, RawOutcome, stated
from optsum.coverage.instance import Sense
from optsum.errors import OptionError
from optsum.problem.problem import Problem, Selection
from optsum.system.clock import Deadline, Limits, Stopped, Termination
from optsum.system.processes.children import python, run_in_thread
from optsum.system.processes.supervised import GRACE_S, TO_GO_S, Overran


class CpSat(Backend):
    """CP-SAT on the integer program; all columns are made integral, which loses no optimum."""

    name = "cp-sat"
    about = "CP-SAT of OR-Tools, in a separate process"
    access = "arrays, another process"
    declaration = Declaration(
        install="pip install ortools",
        licence="free (Apache 2.0)",
        module="ortools",
        names=OptionNames(
            time="max_time_in_seconds", gap="relative_gap_limit", threads="num_workers", seed="random_seed"
        ),
        # With one worker the default linearization omits most of the relaxation. This process handles Ctrl-C itself.
        fixed={"linearization_level": 2, "catch_sigint_signal": False},
        bound_keepers=(
            r"(relative|absolute)_gap_limit|stop_after_.*|max_.*(time|conflicts|memory).*|(num|interleave)_.*|.*seed.*"
            r"|cp_model_(presolve|probing_level)|symmetry_level|search_branching|log_.*"
        ),
        statuses={
            "OPTIMAL": Ending.OPTIMAL,
            "INFEASIBLE": Ending.INFEASIBLE,
            "FEASIBLE": Ending.LIMIT,
            "UNKNOWN": Ending.LIMIT,
            "MODEL_INVALID": Ending.FAILED,
        },
        warm_start=True,
    )

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        self.accept(limits)
        began, deadline = perf_counter(), Deadline(self.kept(limits).time_s)
        model, settings = problem.linear_model, self.settings(limits, seed)
        request = BytesIO()  # an archive of arrays, which `solvers.backends.cpsat_child` reads
        np.savez(
            request,
            maximize=np.array(model.sense is Sense.MAXIMIZE),
            **{name: getattr(model, name) for name in _ARRAYS},
            units=np.array(model.units),
            settings=np.array(json.dumps(dict(settings))),
            left=np.array(deadline.left_s),
            start=np.array([-1] if start is None else start, np.int64),
        )
        built = perf_counter()
        try:
            answer = _CHILD.ask(request.getvalue(), deadline)
        except Overran as over:
            return RawOutcome(termination=Termination.TIME_LIMIT, native="no answer in time", detail=str(over))
        except Stopped as stop:
            return RawOutcome(termination=stop.termination, native="died", detail=stop.detail or "")
        if "failed" in answer:
            said = str(answer["failed"]).rstrip(".")
            return RawOutcome(termination=Termination.FAILED, native="failed", detail=f"cp-sat failed: {said}")
        if "refused" in answer:
            raise OptionError(f"The backend cp-sat does not take the option {answer['refused']}.")
        statistics = {
            "build_s": built - began + answer["build_s"],
            "solve_s": answer["solve_s"],
            "hand_over_s": perf_counter() - built - answer["build_s"] - answer["solve_s"],
        }
        if answer["status"] == "MODEL_INVALID" and self.options:  # also reported for an option that is out of range
            why = answer["words"] or "a value is out of range"
            raise OptionError(f"The backend cp-sat does not take the options {self.given()}: {why}.")
        ending = self.declaration.statuses.get(answer["status"], Ending.FAILED)
        return RawOutcome(
            termination=self.ended(ending, limits, answer["solve_s"]),
            optimal=ending is Ending.OPTIMAL,
            infeasible=ending is Ending.INFEASIBLE,
            selection=None if answer["selection"] is None else tuple(answer["selection"]),
            objective=answer["objective"],
            bound=stated(answer["bound"]),
            native=answer["status"],
            nodes=answer["nodes"],
            statistics=statistics,
        )


_ANSWER: Final = 1 << 26  # Bytes of the longest answer that is read.
_ARRAYS: Final = ("objective", "upper", "row_start", "row_column", "row_value", "row_lower", "row_upper")


class _Child:
    """The process that loads OR-Tools, started when it is first needed, and restarted if it died."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def ask(self, request: bytes, deadline: Deadline) -> dict[str, Any]:
        last = Deadline(None if deadline.left_s == inf else deadline.left_s + GRACE_S)
        if not self._lock.acquire(timeout=min(last.left_s, TIMEOUT_MAX)):
            raise Overran("the time limit was over while another thread was using cp-sat")
        answers: list[dict[str, Any]] = []
        try:
            run_in_thread(
                lambda: answers.append(self._exchange(request)), self._kill, hears_s=TO_GO_S, passed=lambda: last.passed
            )
        except (OSError, ValueError) as error:  # a closed pipe, or an incomplete line of JSON
            status = self._stop()
            if last.passed:
                raise Overran(f"cp-sat went on {GRACE_S:g} s after its time limit and was killed") from error
            raise Stopped(
                Termination.FAILED,
                f"the process of cp-sat died (exit status {status}): see its messages on the standard error",
            ) from error
        except BaseException:  # after Ctrl-C nobody waits for the answer
            self._stop()
            raise
        finally:
            self._lock.release()
        return answers[0]

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _exchange(self, request: bytes) -> dict[str, Any]:
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        if self._process is None:
            atexit.register(self._stop)
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                self._command or python("optsum.solvers.backends.cpsat_child", "main"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._process.stdin.write(len(request).to_bytes(8) + request)
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline(_ANSWER))
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
