"""Test `Run`: the incumbent, the bounds, and the limits at which a search ends."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from optsum import Evaluation, InputError, Limits, OptionError, Problem, Run, Sense, Stopped, Termination
from optsum.contracts.strategy import is_certified


@dataclass(frozen=True, eq=False, kw_only=True)
class Listed(Problem):
    """A problem with listed values; a selection whose value is None is infeasible."""

    values: dict[tuple[int, ...], Any]

    def evaluate(self, selection: tuple[int, ...]) -> Evaluation:
        value = self.values.get(selection)
        return Evaluation(0 if value is None else value, int(value is None), 0.0 if value is None else float(value))


def run_of(values: dict[tuple[int, ...], Any], limits: Limits | None = None, **others: Any) -> Run:
    sense = others.pop("sense", Sense.MAXIMIZE)
    problem = Listed(lengths=(1,) * 4, values=values, sense=sense)
    return Run(problem, limits or Limits(), np.random.default_rng(0), **others)


VALUES = {(): 1, (0,): 3, (1,): 2, (0, 1): 3, (2,): 5}


@pytest.mark.parametrize(
    ("limits", "match"),
    [
        ({"time_s": -1.0}, "time_s is -1.0; it must be 0 or more"),
        ({"time_s": float("nan")}, "time_s is nan"),
        ({"time_s": "3"}, "time_s is '3'; give a number"),
        ({"evaluations": -1}, "evaluations is -1"),
        ({"evaluations": 1.5}, "evaluations is 1.5; give a whole number"),
        ({"nodes": True}, "nodes is True; give a whole number"),
        ({"gap": -0.1}, "gap is -0.1"),
        ({"target": float("nan")}, "target is nan"),
        ({"target": "best"}, "target is 'best'; give a number"),
    ],
)
def test_impossible_limits_are_refused(limits: dict[str, Any], match: str) -> None:
    with pytest.raises(OptionError, match=match):
        Limits(**limits)


def test_possible_limits_are_kept() -> None:
    limits = Limits(time_s=0, evaluations=np.int64(3), nodes=0, gap=0, target=-2.5)  # type: ignore[arg-type]
    assert (limits.time_s, limits.evaluations, limits.target) == (0, 3, -2.5)
    assert Limits(time_s=float("inf")).time_s is Limits(time_s=1e300).time_s is None


def test_the_incumbent_is_the_best_feasible_selection_seen_first() -> None:
    run = run_of(VALUES)
    for selection in ((3,), [1, 0, 0], np.array([0]), (1,)):
        run.see(selection)
    assert run.selection == (0, 1)
    assert run.evaluation == Evaluation(3, 0, 3.0)
    assert run.evaluations == 4
    assert [point.objective for point in run.trace] == [3.0]
    run.see([2])
    assert run.selection == (2,)
    assert [point.evaluations for point in run.trace] == [2, 5]


def test_minimizing_keeps_the_smallest() -> None:
    run = run_of(VALUES, sense=Sense.MINIMIZE)
    for selection in ((0,), (2,), (1,), (3,)):
        run.see(selection)
    assert run.selection == (1,)
    assert [point.objective for point in run.trace] == [3.0, 2.0]


@pytest.mark.parametrize("selection", [(4,), (-1,), (0, 7)])
def test_units_that_do_not_exist_are_refused(selection: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"names a unit outside 0\.\.3"):
        run_of(VALUES).see(selection)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), np.float32("nan"), True])
def test_objectives_that_are_not_finite_are_refused(value: float) -> None:
    """Check this because NaN as the incumbent would never be replaced."""
    with pytest.raises(InputError, match="which cannot be compared"):
        run_of({(): value}).see(())


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (Evaluation(1, -3, 1.0), "violation .* is -3"),
        (Evaluation(1, 0, float("nan")), r"value of the selection \(\) is nan"),
        (Evaluation(1, 0, float("inf")), "is inf: let evaluate of Odd return a number"),
    ],
)
def test_invalid_values_and_violations_are_refused(seen: Evaluation, said: str) -> None:
    class Odd(Problem):
        def evaluate(self, selection: tuple[int, ...]) -> Evaluation:
            return seen

    with pytest.raises(InputError, match=said):
        Run(Odd(lengths=(1,)), Limits(), np.random.default_rng(0)).see(())


def test_an_objective_beyond_floats_is_compared() -> None:
    run = run_of({(): Fraction(1, 10**400), (0,): Fraction(1, 10**399)})
    run.see(())
    run.see((0,))
    assert run.selection == (0,)


@pytest.mark.parametrize(
    ("limits", "termination"),
    [
        (Limits(evaluations=2), Termination.EVALUATION_LIMIT),
        (Limits(nodes=5), Termination.NODE_LIMIT),
        (Limits(time_s=0), Termination.TIME_LIMIT),
        (Limits(evaluations=2, nodes=5), Termination.NODE_LIMIT),
    ],
)
def test_limits_stop_at_the_next_check(limits: Limits, termination: Termination) -> None:
    run = run_of(VALUES, limits)
    run.count(evaluations=2, nodes=5)
    with pytest.raises(Stopped) as stopped:
        run.check()
    assert stopped.value.termination is termination


def test_below_the_limits_nothing_stops() -> None:
    run = run_of(VALUES, Limits(evaluations=2, nodes=5, time_s=1000))
    run.count(evaluations=1, nodes=4)
    run.check()
    assert 990 < run.remaining_s <= 1000
    assert run_of(VALUES).remaining_s == float("inf")
    assert run_of(VALUES, Limits(time_s=0)).remaining_s == 0


@pytest.mark.parametrize(
    ("answer", "stops"), [(False, True), (np.False_, True), (True, False), (np.True_, False), (None, False), (0, False)]
)
def test_a_callback_stops_by_false_alone(answer: Any, stops: bool) -> None:
    seen = []

    def on_progress(run: Run) -> bool | None:
        seen.append(run.evaluations)
        return answer

    run = run_of(VALUES, on_progress=on_progress)
    run.see(())
    if stops:
        with pytest.raises(Stopped, match="interrupted"):
            run.check()
    else:
        run.check()
    assert seen == [1]


def test_a_target_stops_as_soon_as_it_is_reached() -> None:
    run = run_of(VALUES, Limits(target=3))
    run.see((1,))
    with pytest.raises(Stopped) as stopped:
        run.see((0,))
    assert stopped.value.termination is Termination.TARGET_REACHED
    assert run.selection == (0,)
    run = run_of(VALUES, Limits(target=2), sense=Sense.MINIMIZE)
    run.see((0,))
    with pytest.raises(Stopped):
        run.see((1,))


def test_a_gap_stops_whichever_side_closes_it() -> None:
    run = run_of(VALUES, Limits(gap=0.5))
    run.see((1,))
    run.raise_bound(4)
    with pytest.raises(Stopped) as stopped:
        run.see((0,))
    assert stopped.value.termination is Termination.GAP_REACHED
    run = run_of(VALUES, Limits(gap=0.5))
    run.see((1,))
    with pytest.raises(Stopped):
        run.raise_bound(3)


def test_bounds_only_tighten() -> None:
    run = run_of(VALUES)
    for bound in (7, 9, 6, 8):
        run.raise_bound(bound)
    assert run.bound == 6
    run = run_of(VALUES, sense=Sense.MINIMIZE)
    for bound in (1, 0, 2, 1):
        run.raise_bound(bound)
    assert run.bound == 2


def test_a_proof_sets_the_bound_to_the_incumbent() -> None:
    run = run_of(VALUES)
    run.raise_bound(9)
    run.see((0,))
    assert not is_certified(run)
    run.prove()
    assert (run.proven, run.bound) == (True, 3)
    assert is_certified(run)
    empty = run_of({})
    empty.prove()
    assert (empty.proven, empty.bound) == (True, None)
    assert not is_certified(empty)
