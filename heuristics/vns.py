"""Variable neighbourhood search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from optsum.contracts.run import Run
from optsum.contracts.strategy import Strategy
from optsum.problem.problem import Capability, Problem, Selection

from .greedy import Greedy
from .plain import Plain
from .starting import (
    Slices,
    at_least,
    decisions,
    greedy_start,
    is_certified,
    on_arrays,
    raise_cheap_bound,
    random_start,
)

_WITH_KERNELS, _WITH_JOINTS, _WITHOUT = 400, 100, 20
_EASY = 2
"""Iterations without improvement after which the bound is asked for: it may take longer than all before it."""


@dataclass(frozen=True)
class Vns(Strategy):
    """General variable neighbourhood search from a random start (Mladenović & Hansen 1997).

    An iteration is a walk past local optima: each step drops the k units that cost least to lose, k from 1 to `k_max`
    in turn, and fills the room again; what moved in one step stays as it is in the next (strategic oscillation, Glover
    1989). After three walks without improvement the best is shaken (k random units are exchanged; k grows from 1 to
    `k_max`) and descended from, through the neighbourhoods add, drop, swap, swap by density. A best that ten iterations
    did not improve is searched through swaps of two units as well.

    With coverage arrays moves are evaluated in kernels, a million and more a second, otherwise one by one through
    `evaluate`, `moves` and `repair`.

    Parameters
    ----------
    k_max : int
        The most units that are exchanged at once.
    no_improvement : int, optional
        Iterations without improvement after which the search ends; by default 400, or 100 where several units decide
        occurrences together, or 20 without kernels.

    Raises
    ------
    OptionError
        If either is below 1.
    """

    name: ClassVar[str] = "vns"
    about: ClassVar[str] = "variable neighbourhood search from a random start"
    k_max: int = 5
    no_improvement: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        at_least(1, k_max=self.k_max)
        at_least(1, none=True, no_improvement=self.no_improvement)

    def prepare(self, problem: Problem | None = None) -> None:
        """Compile the kernels."""
        from . import vns_kernel

        if problem is None or problem.can(Capability.COVERAGE):
            vns_kernel.prepare()

    def start(self, run: Run) -> Selection:
        """Return where the search starts."""
        return random_start(run)

    def search(self, run: Run) -> None:
        """Search until nothing was improved for long enough, or the bound is reached."""
        run.see(())
        first = self.start(run)
        run.see(first)
        if (kernels := on_arrays(run)) is None:
            raise_cheap_bound(run)
            self._one_by_one(run, first)
        else:
            self._by_kernels(run, first, *kernels)

    def _by_kernels(self, run: Run, first: Selection, arrays: Any, moves: Any) -> None:
        from .moves.descent import EVALUATIONS
        from .vns_kernel import IDLE, ITERATIONS, LOCAL_OPTIMUM, begin, go_on

        vns = begin(arrays, decisions(run.problem, first), int(run.rng.integers(2**62)))
        patience = self.no_improvement or (_WITH_JOINTS if run.problem.coverage.joints else _WITH_KERNELS)
        slices = Slices(run)

        def held() -> Any:
            run.see(vns.best.nonzero()[0])
            return vns.descent.state.chosen.nonzero()[0]

        for pause in (min(_EASY, patience), patience):  # and the bound between them
            while vns.control[IDLE] < pause and not is_certified(run):
                better = slices.go(
                    partial(go_on, arrays, moves, vns, self.k_max, pause),
                    lambda: int(vns.descent.control[EVALUATIONS]),
                    held,
                )
                run.statistics["iterations"] = int(vns.control[ITERATIONS])
                if better:
                    run.see(vns.best.nonzero()[0])
            raise_cheap_bound(run)
        if vns.control[LOCAL_OPTIMUM]:
            run.statistics["local_optimum"] = True

    def _one_by_one(self, run: Run, first: Selection) -> None:
        plain = Plain(run)
        base = best = plain.descend(first)
        shake, idle = 1, 0
        while idle < (self.no_improvement or _WITHOUT) and not is_certified(run):
            run.check()
            found = plain.descend(plain.shake(base, shake))
            if plain.order(found, base) >= 0:
                base = found
            idle += 1
            run.statistics["iterations"] = run.statistics.get("iterations", 0) + 1
            shake = shake + 1 if shake < self.k_max else 1
            if plain.order(found, best) > 0:
                best, shake, idle = found, 1, 0


@dataclass(frozen=True)
class VnsFromGreedy(Vns):
    """`Vns` that starts from what greedy search finds, so that it is never worse."""

    name: ClassVar[str] = "vns+greedy"
    about: ClassVar[str] = "variable neighbourhood search from the greedy selection"

    def prepare(self, problem: Problem | None = None) -> None:
        """Compile the kernels, greedy search's too."""
        super().prepare(problem)
        Greedy().prepare(problem)

    def start(self, run: Run) -> Selection:
        """Return the greedy selection."""
        return greedy_start(run)
