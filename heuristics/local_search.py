"""Local search from the greedy selection, and variable neighbourhood search, which continues past local optima."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from optsum.contracts.strategy import Run, Strategy, is_certified
from optsum.coverage.instance import IntArray, decisions
from optsum.coverage.state import CHOSEN, Arrays
from optsum.problem.problem import Capability, Problem, Selection
from optsum.system.compiled import compiles, njit

from .baselines import (
    FromGreedy,
    Plain,
    at_least,
    raise_cheap_bound,
    random_start,
)
from .moves import (
    EVALUATIONS,
    PAIRS,
    Descent,
    Slices,
    add,
    ahead,
    become,
    below,
    descend,
    drop,
    exchange,
    on_arrays,
    overwrite,
    rank,
    refill,
    restart,
    start,
    tiny,
)
from .moves import prepare as prepare_descent


@dataclass(frozen=True)
class GreedyLocalSearch(FromGreedy):
    """Improve the greedy selection by moves until none helps, in milliseconds.

    Variable neighbourhood descent: add, drop, swap one unit for one or several (by gain, then by gain per length), and
    finally swap two. Selections are closed under parents, and comparisons are exact.

    Parameters
    ----------
    most_moves : int
        Largest number of evaluated moves, which only large instances reach.
    """

    name: ClassVar[str] = "greedy+ls"
    about: ClassVar[str] = "greedy, then local search: add, drop, swap, swap two"
    most_moves: int = 50_000

    def __post_init__(self) -> None:
        at_least(1, most_moves=self.most_moves)

    def prepare(self, problem: Problem | None = None) -> None:
        super().prepare(problem)
        if problem is None or problem.can(Capability.COVERAGE):
            prepare_descent()

    def search(self, run: Run) -> None:
        first = self.start(run)
        run.see(first)
        if (kernels := on_arrays(run)) is None:
            Plain(run).descend(first)
            return
        arrays, moves = kernels
        descent = start(arrays, decisions(run.problem.size, first))
        slices = Slices(run, descent)
        while slices.done < self.most_moves:
            if slices.go(lambda until: descend(arrays, moves, descent, min(until, self.most_moves))):
                run.statistics["local_optimum"] = True
                break
        run.see(descent.state.chosen.nonzero()[0])


IDLE, ITERATIONS, LOCAL_OPTIMUM, DESCENDING = 0, 1, 2, 3
_STRENGTH, _STEP, _BETTER, _SEARCHED = 4, 5, 6, 7
_WALKS = 3  # Walks without improvement after which the search returns to the best selection, shakes it and descends.
_SETTLED = 10  # Iterations without improvement after which swaps of two units are tried on the best selection.


class VnsState(NamedTuple):
    """The state of a variable neighbourhood search that can be paused."""

    descent: Descent
    best: IntArray  # (units,): the best selection so far.
    best_rank: IntArray  # (4,): its rank (`optsum.heuristics.moves.rank`).
    resting: IntArray  # (units,): 1 for units that moved in the last step of a walk.
    # (8,): iterations since the last improvement, all iterations, whether the best selection is known to be a local
    # optimum, whether the search descends, number of units that the next step of a walk drops, steps of this walk,
    # whether this iteration found a new best selection, whether swaps of two were begun on the best selection.
    control: IntArray


def begin(arrays: Arrays, chosen: IntArray, seed: int) -> VnsState:
    return VnsState(
        start(arrays, chosen, seed, pairs=False),
        chosen.copy(),
        np.array([2**62, 0, 1, 0], np.int64),
        np.zeros(len(chosen), np.int64),
        np.array([0, 0, 0, 0, 1, 0, 0, 0], np.int64),
    )


@compiles
def prepare() -> None:
    arrays, moves, chosen = tiny()
    go_on(arrays, moves, begin(arrays, chosen, 0), 1, 1, 1)


@njit(cache=True)
def go_on(arrays: Any, moves: Any, vns: Any, k_max: int, no_improvement: int, until: int) -> bool:
    """Continue until `vns.best` improves (then return True), the search ends, or `until` moves are evaluated."""
    descent, control = vns.descent, vns.control
    while control[IDLE] < no_improvement:
        if control[DESCENDING] == 1:
            if not descend(arrays, moves, descent, until):
                return False
            control[DESCENDING] = 0
            if _keep(arrays, vns):
                control[IDLE], control[_BETTER] = 0, 0
                control[LOCAL_OPTIMUM] = control[_SEARCHED] = descent.control[PAIRS]
                return True
            if descent.control[PAIRS] == 1 and _same(descent.state.chosen, vns.best):
                control[LOCAL_OPTIMUM] = 1
        while control[_STEP] < min(max(10, 2 * descent.state.scalars[CHOSEN]), 100):  # a walk, one iteration
            if descent.control[EVALUATIONS] >= until:
                return False
            exchange(arrays, moves, descent, vns.resting, control[_STRENGTH])
            control[_STRENGTH] = control[_STRENGTH] + 1 if control[_STRENGTH] < k_max else 1
            control[_STEP] += 1
            if _keep(arrays, vns):
                control[_BETTER] = 1
        control[_STEP] = 0
        control[ITERATIONS] += 1
        if control[_BETTER] == 1:
            control[IDLE], control[_BETTER] = 0, 0
            control[LOCAL_OPTIMUM] = control[_SEARCHED] = 0
            return True
        control[IDLE] += 1
        if control[IDLE] >= _SETTLED and control[_SEARCHED] == 0:  # swaps of two are many: once for each best selection
            control[_SEARCHED] = 1
            _return_to_best(arrays, vns, np.int64(1))
        elif control[IDLE] % _WALKS == 0:
            _return_to_best(arrays, vns, np.int64(0))
            _shake(arrays, moves, descent, (control[IDLE] // _WALKS - 1) % k_max + 1)
    return False


@njit(cache=True)
def _return_to_best(arrays: Any, vns: Any, pairs: int) -> None:
    become(arrays, vns.descent.state, vns.best)
    restart(vns.descent, pairs)
    vns.control[DESCENDING] = 1
    for unit in range(len(vns.resting)):
        vns.resting[unit] = 0


@njit(cache=True)
def _keep(arrays: Any, vns: Any) -> bool:
    found, row = rank(arrays, vns.descent.state), vns.best_rank
    if ahead(found, (row[0], row[1], row[2], row[3])) <= 0:
        return False
    row[0], row[1], row[2], row[3] = found[0], found[1], found[2], found[3]
    overwrite(vns.best, vns.descent.state.chosen)
    return True


@njit(cache=True)
def _same(one: Any, other: Any) -> bool:
    differing = 0
    for unit in range(len(one)):
        differing += one[unit] != other[unit]
    return differing == 0


@njit(cache=True)
def _shake(arrays: Any, moves: Any, descent: Any, strength: int) -> None:
    state, barred, draws = descent.state, descent.barred, descent.draws
    n = len(state.chosen)
    for _ in range(strength):
        held = state.scalars[CHOSEN]
        if held > 0:
            wanted = below(draws, held)
            for unit in range(n):
                if state.chosen[unit] == 1:
                    if wanted == 0:
                        drop(arrays, moves, state, unit, barred, np.int64(1))
                        break
                    wanted -= 1
        if n > 0 and below(draws, np.int64(2)) == 0:
            move = below(draws, len(moves.add_start) - 1)
            allowed = True
            for entry in range(moves.add_start[move], moves.add_start[move + 1]):
                allowed = allowed and barred[moves.add_unit[entry]] == 0
            if allowed:
                add(arrays, moves, state, move)
    descent.control[EVALUATIONS] += 1 + refill(arrays, moves, descent, np.bool_(True), 0.3)
    for unit in range(n):
        barred[unit] = 0


_EASY = 2  # Iterations without improvement before the bound is computed, which may take longer than iterations.


@dataclass(frozen=True)
class Vns(Strategy):
    """General variable neighbourhood search from a random start (Mladenović & Hansen 1997).

    An iteration is a walk past local optima: each step drops the k units of smallest loss, k from 1 to `k_max` in turn,
    and refills the length; units that moved in one step do not move in the next (strategic oscillation, Glover 1989).
    After every three walks without improvement the best selection is shaken (k random units are exchanged; k grows from
    1 to `k_max`) and improved by add, drop, swap and swap by density. After ten iterations without improvement, swaps
    of two units are also tried on the best selection.

    In the normal form, kernels evaluate a million moves or more per second; otherwise moves are evaluated one by one
    through `evaluate`, `moves` and `repair`.

    Parameters
    ----------
    k_max : int
        Largest number of units that are exchanged at once.
    no_improvement : int, optional
        Iterations without improvement after which the search ends; by default 400; 100 if occurrences need several
        units; 20 without kernels.
    """

    name: ClassVar[str] = "vns"
    about: ClassVar[str] = "variable neighbourhood search from a random start"
    k_max: int = 5
    no_improvement: int | None = None

    def __post_init__(self) -> None:
        at_least(1, k_max=self.k_max)
        at_least(1, none=True, no_improvement=self.no_improvement)

    def prepare(self, problem: Problem | None = None) -> None:
        if problem is None or problem.can(Capability.COVERAGE):
            prepare()

    def start(self, run: Run) -> Selection:
        return random_start(run)

    def search(self, run: Run) -> None:
        run.see(())
        first = self.start(run)
        run.see(first)
        if (kernels := on_arrays(run)) is None:
            raise_cheap_bound(run)
            self._one_by_one(run, first)
        else:
            self._by_kernels(run, first, *kernels)

    def _by_kernels(self, run: Run, first: Selection, arrays: Any, moves: Any) -> None:
        vns = begin(arrays, decisions(run.problem.size, first), int(run.rng.integers(2**62)))
        patience = self.no_improvement or (100 if run.problem.coverage.joints else 400)
        slices = Slices(run, vns.descent)

        def held() -> Any:
            run.see(vns.best.nonzero()[0])
            return vns.descent.state.chosen.nonzero()[0]

        for pause in (min(_EASY, patience), patience):  # after each, the bound is computed
            while vns.control[IDLE] < pause and not is_certified(run):
                better = slices.go(partial(go_on, arrays, moves, vns, self.k_max, pause), held)
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
        while idle < (self.no_improvement or 20) and not is_certified(run):
            run.check()
            found = plain.descend(plain.shake(base, shake))
            if plain.merit(found)[:2] >= plain.merit(base)[:2]:
                base = found
            idle += 1
            run.statistics["iterations"] = run.statistics.get("iterations", 0) + 1
            shake = shake + 1 if shake < self.k_max else 1
            if plain.merit(found)[:2] > plain.merit(best)[:2]:
                best, shake, idle = found, 1, 0


@dataclass(frozen=True)
class VnsFromGreedy(FromGreedy, Vns):
    """`Vns` that starts from the greedy selection, so that it is never worse than greedy."""

    name: ClassVar[str] = "vns+greedy"
    about: ClassVar[str] = "variable neighbourhood search from the greedy selection"
