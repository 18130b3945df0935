"""Test the engine on units without joints or parents: against the baseline, and at its limits."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from held_against import check_search
from optsum.solvers.engine.driver import Effort
from optsum.solvers.objectives.one_ratio import solve_knapsack, solve_recall

from optsum.coverage.instance import NO_LIMIT, Coverage, Key, Sense
from optsum.errors import UnsupportedError
from optsum.optima.optima import Optima
from optsum.problem.problem import CoverageProblem, Selection
from optsum.system.clock import Deadline, Limits
from optsum.testing import random_coverage


def value_of(instance: Coverage, chosen: Selection) -> Key:
    return CoverageProblem.of(instance).evaluate(chosen).key


def test_hasty_searches_are_split() -> None:
    """Check on 10 units what `test_brute_force.py` checks on fewer."""
    splits = 0
    for seed in range(60):
        instance = random_coverage(np.random.default_rng(seed), kind=("recall", "window")[seed % 2], units=10)
        effort = Effort(start=2, first=3, longest=0)
        optima = check_search(solve_recall, instance, effort=effort)
        splits += optima.statistics.get("splits", 0)
    assert splits > 10


def medium_instance(seed: int, units: int = 60) -> Coverage:
    rng = np.random.default_rng(seed)
    rows = [
        {int(f): int(rng.integers(1, 3)) for f in rng.choice(90, int(rng.integers(2, 12)), replace=False)}
        for _ in range(units)
    ]
    gains = [sorted(rng.integers(1, 5, int(rng.integers(1, 4))).tolist(), reverse=True) for _ in range(90)]
    lengths = rng.integers(3, 30, units).tolist()
    return Coverage.of(lengths, rows, gains, constants=(0, 999), max_length=90)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_the_baseline(seed: int) -> None:
    instance = medium_instance(seed, 40)
    paper = solve_knapsack(instance, every=True)
    optima = solve_recall(instance, every=True)
    assert paper.complete
    assert (optima.value, sorted(optima)) == (paper.value, sorted(paper))


def test_counts_beyond_64_bits() -> None:
    # 100 units without gain and one with: the optima are all feasible supersets.
    instance = Coverage.of([1] * 101, [{0: 1}, *[{}] * 100], [[7]], constants=(0, 7), max_length=101)
    assert solve_recall(instance, every=True).count == 2**100


def test_constant_and_mass_of_the_numerator_count() -> None:
    instance = Coverage.of(
        [2, 2, 2], [{0: 1}, {0: 1}, {}], [[6]], constants=(5, 100), mass=[[0, 0, 3], [0, 0, 0]], max_length=4
    )
    optima = solve_recall(instance, every=True)
    assert (optima.value, sorted(optima)) == (Fraction(14, 100), [(0, 2), (1, 2)])


def test_values_too_large_for_64_bits_are_refused() -> None:
    instance = Coverage.of([1, 1], [{0: 1}, {1: 1}], [[2**59 + 1], [2**59]], constants=(0, 2**62), max_length=1)
    with pytest.raises(UnsupportedError, match="too large"):
        solve_recall(instance, every=True)


def test_gains_are_divided_by_their_common_factor() -> None:
    huge = 2**50 * 3 * 5
    instance = Coverage.of([1, 1, 1], [{0: 1}, {1: 1}, {0: 1}], [[huge], [2 * huge]], constants=(0, 9), max_length=2)
    optima = solve_recall(instance, every=True)
    assert (optima.value, sorted(optima)) == (Fraction(3 * huge, 9), [(0, 1), (1, 2)])


@pytest.mark.parametrize(
    "change",
    [
        {"goal": Sense.MINIMIZE, "max_length": NO_LIMIT},
        {"slots": [1, 0]},
    ],
)
def test_other_instances_are_refused(change: dict[str, object]) -> None:
    instance = Coverage.of([1, 1], [{0: 1}, {1: 1}], [[1], [1]], constants=(0, 2), **{"max_length": 1, **change})  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="only constant denominators"):
        solve_recall(instance, every=True)


@pytest.mark.parametrize(
    ("limits", "deadline", "reason"),
    [
        (Limits(nodes=2000), None, "node_limit"),
        (Limits(time_s=0.0), None, "time_limit"),
        (Limits(memory=0), None, "memory_limit"),
        (Limits(), Deadline(should_stop=lambda: True), "interrupted"),
    ],
)
def test_limits_keep_what_is_known(limits: Limits, deadline: Deadline | None, reason: str) -> None:
    instance = hard_instance()
    optima, one = (
        solve_recall(instance, limits, deadline, every=True),
        solve_recall(instance, limits, deadline, every=False),
    )
    assert (optima.complete, optima.termination) == (False, reason)
    assert optima.value <= optima.bound
    for chosen in islice(optima, 5):
        assert value_of(instance, chosen) == optima.value
        assert instance.lengths[list(chosen)].sum() <= instance.max_length
    assert one
    assert value_of(instance, next(iter(one))) == one.value <= one.bound
    assert one.proven == (one.termination == "completed")


def hard_instance() -> Coverage:
    """Return an instance that a few thousand nodes do not solve."""
    return medium_instance(5, 120)


def test_a_stopped_enumeration_has_only_optima() -> None:
    instance = hard_instance()
    whole = solve_recall(instance, every=True)
    assert whole.complete
    seen = 0
    nodes = whole.statistics["nodes"]
    for share in (0.5, 0.9, 0.99):
        part = solve_recall(instance, Limits(nodes=int(nodes * share)), every=True)
        if part.proven and not part.complete:
            assert set(part) <= set(whole)
            seen += 1
    assert seen


def test_the_same_answer_every_time() -> None:
    instance = medium_instance(3)
    assert list(solve_recall(instance, every=True)) == list(solve_recall(instance, every=True))


def test_an_instance_without_units() -> None:
    nothing = Coverage.of([], [], [[1]], constants=(0, 1), max_length=10)
    optima = solve_recall(nothing, every=True)
    assert isinstance(optima, Optima)
    assert (optima.value, list(optima)) == (0, [()])
    assert list(solve_recall(nothing, every=False)) == [()]


def test_long_lengths_use_a_coarser_table() -> None:
    # 12 units of about a million: a cell of the table holds several lengths, and the result stays exact.
    rng = random.Random(4)  # noqa: S311
    lengths = [rng.randint(900_000, 1_100_000) for _ in range(12)]
    rows = [{rng.randrange(10): 1, 10 + rng.randrange(10): 1} for _ in lengths]
    parts = {"constants": (0, 20), "max_length": 5_000_000}
    instance = Coverage.of(lengths, rows, [[1]] * 20, **parts)  # type: ignore[arg-type]
    check_search(solve_recall, instance)
    with pytest.raises(UnsupportedError, match="minimum length"):
        solve_recall(Coverage.of(lengths, rows, [[1]] * 20, min_length=1, **parts), every=True)  # type: ignore[arg-type]
