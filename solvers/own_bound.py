"""Branch and bound in plain Python, by the bound that a problem brings itself (`optsum.Problem.bound`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from math import isfinite, isnan
from numbers import Rational
from typing import Final

from optsum.contracts.run import Run, Stopped
from optsum.coverage.instance import Key
from optsum.errors import InputError
from optsum.problem.problem import Evaluation, Problem, Selection

_MOMENTS_S: Final = 0.02
"""Seconds without a proof after which a greedy selection is worth its time."""

_ROUNDED: Final = 1e-9
"""Relative error of a bound in floating point that does not refute it."""


def search_by_own_bound(run: Run) -> None:
    """Find one optimum of a problem that bounds its completions, and prove it.

    Raises
    ------
    Stopped
        At a limit; the run then has the best bound of what was left.
    InputError
        If a selection is worth more than a bound of it.
    """
    better = run.problem.sense.better

    def is_hopeless(bound: Key) -> bool:
        return run.evaluation is not None and not better(bound, run.evaluation.key)

    for _ in visit(run, is_hopeless):
        if run.elapsed > _MOMENTS_S:
            run.begin()
    run.prove()


def visit(run: Run, is_hopeless: Callable[[Key], bool]) -> Iterator[tuple[Selection, Evaluation]]:
    """Yield the selections of which no bound says that nothing is gained, each once, with what they are worth.

    Units are decided in the order of what each is worth by itself: with a unit first, then without it.

    Parameters
    ----------
    run : Run
        Sees each selection and counts the nodes.
    is_hopeless : callable
        Whether selections of at most such a value need not be visited; may say so of more the longer the search takes.
    """
    problem, better = run.problem, run.problem.sense.better
    run.check()
    yield (), run.see(())
    order = _order(run)
    tree: list[tuple[Selection, int, Key | None]] = [((), 0, _checked(problem.bound((), tuple(range(problem.size)))))]
    left: list[Key | None] = [tree[0][2]]
    try:
        _take_note(run, left)
        while tree:
            run.check()
            chosen, place, bound = tree.pop()
            if bound is None or is_hopeless(bound) or place == problem.size:
                continue
            left = [bound]  # until both branches are in the tree
            run.count(nodes=1)
            wider, rest = tuple(sorted((*chosen, order[place]))), tuple(sorted(order[place + 1 :]))
            without = _tighter(problem, bound, problem.bound(chosen, rest))
            fits = problem.fits(wider)
            within = _tighter(problem, bound, problem.bound(wider, rest)) if fits else None
            tree.append((chosen, place + 1, without))
            if fits:
                tree.append((wider, place + 1, within))
            left = []
            if fits:
                evaluation = run.see(wider)
                if evaluation.feasible and (within is None or better(evaluation.key, within)):
                    _refuse(evaluation.key, within, wider, rest)
                yield wider, evaluation
    except (Stopped, KeyboardInterrupt):
        with suppress(Stopped):
            _take_note(run, [*left, *(bound for _, _, bound in tree)])
        raise


def _take_note(run: Run, bounds: Iterable[Key | None]) -> None:
    """Tell a run what is proven if these bound all that is left to visit."""
    known = [bound for bound in bounds if bound is not None]
    if run.evaluation is not None:
        known.append(run.evaluation.key)
    if known:
        loosest = max(known) if run.problem.sense.better(1, 0) else min(known)
        if isinstance(loosest, Rational) or isfinite(loosest):
            run.raise_bound(Fraction(loosest))


def _order(run: Run) -> list[int]:
    """Return the units, those that are worth most by themselves first; feasible or not."""
    problem = run.problem
    worth = []
    for unit in range(problem.size):
        run.check()
        run.count(evaluations=1)
        worth.append(problem.evaluate((unit,)).key)
    return sorted(range(problem.size), key=worth.__getitem__, reverse=problem.sense.better(1, 0))


def _checked(bound: Key | None) -> Key | None:
    if bound is not None and not isinstance(bound, Rational) and isnan(bound):
        raise InputError("The bound of this problem is NaN, which says nothing: let it return a number, or None.")
    return bound


def _tighter(problem: Problem, known: Key, bound: Key | None) -> Key | None:
    """Return the better of a bound and that of the node above, which holds here too; None where nothing is feasible."""
    bound = _checked(bound)
    return known if bound is not None and problem.sense.better(bound, known) else bound


def _refuse(key: Key, bound: Key | None, chosen: Selection, rest: Selection) -> None:
    """Refuse a bound that a selection passes, by more than floating point may be off."""
    exact = isinstance(key, Rational) and isinstance(bound, Rational)
    if bound is not None and not exact and abs(float(key) - float(bound)) <= _ROUNDED * max(1.0, abs(float(key))):
        return
    said = "that no completion is feasible" if bound is None else f"{bound}"
    raise InputError(
        f"The bound of this problem is refuted: of the units {list(chosen)} with {list(rest)} open it says {said}, and "
        f"those units by themselves are worth {key}."
    )
