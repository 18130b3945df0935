"""Solvers within this process that hear Ctrl-C and SIGTERM, as Python handles them, while they search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from optsum.system.processes.apart import run_apart

_HEARS_S: Final = 0.5
"""Seconds that a solver may take to end; one in the middle of a linear program can take many, and is left to itself."""


def make_stoppable(solver: Any, optimize: Callable[..., object], interrupt: Callable[[Any], object]) -> None:
    """Have a solver of Pyomo's newer interface search in a thread of its own.

    In Python's main thread it would keep every handler of a signal waiting until it has ended.

    Parameters
    ----------
    solver : Any
        Pyomo's solver object, which makes the native model in `_create_solver_model`.
    optimize : callable
        Searches, given the native model and what Pyomo gives; it releases Python's lock.
    interrupt : callable
        Ends the search of a native model, from another thread.
    """
    create = solver._create_solver_model  # noqa: SLF001 - Pyomo has no other way to it

    def create_solver_model(model: Any, config: Any) -> Any:
        native, *others = create(model, config)
        return (_Stoppable(native, optimize, interrupt), *others)

    solver._create_solver_model = create_solver_model  # noqa: SLF001


class _Stoppable:
    """A native model with another way to optimize it: classes written in C take no new methods."""

    def __init__(self, native: Any, optimize: Callable[..., object], interrupt: Callable[[Any], object]) -> None:
        self._native, self._optimize, self._interrupt = native, optimize, interrupt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def optimize(self, *given: Any) -> None:
        """Search; what is held after Ctrl-C can be asked for.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, if the solver does not end soon: what it holds cannot be asked for.
        """
        ended = run_apart(
            lambda: self._optimize(self._native, *given),
            lambda: self._interrupt(self._native),
            hears_s=_HEARS_S,
            heard=lambda: None,  # the solver's answer says it
        )
        if not ended:
            raise KeyboardInterrupt
