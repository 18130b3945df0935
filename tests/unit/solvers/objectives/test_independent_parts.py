"""Compare instances that fall into independent parts with brute force, however small the parts are."""

from __future__ import annotations

from itertools import chain, combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optsum.solvers.objectives import one_ratio

import optsum
from optsum.system.clock import Deadline, Limits


def instance(rng: Random, parts: int, units: int) -> optsum.Coverage:
    """Return a shuffled instance of at least `parts` independent parts."""
    size = parts * units
    order = rng.sample(range(size), size)
    held: list[dict[int, int]] = [{} for _ in range(size)]
    gains, rows = [], []
    for own in (order[part * units : (part + 1) * units] for part in range(parts)):
        for _ in range(rng.randint(0, 3)):
            for unit in rng.sample(own, rng.randint(1, units)):
                held[unit][len(gains)] = rng.randint(1, 2)
            gains.append(sorted([rng.randint(0, 5) for _ in range(rng.randint(1, 2))], reverse=True))
        for _ in range(rng.randint(0, 2)):
            some = tuple(rng.sample(own, rng.randint(1, units)))
            values = tuple(rng.choice([-2, -1, 1, 1, 2]) for _ in some)
            low = {} if rng.random() < 0.5 else {"low": rng.randint(-1, 1)}
            rows.append(optsum.Row(some, values, high=rng.choice([None, 0, 1, 1, 2]), **low))
    mass = [[rng.choice([0, 0, 1, 2]) for _ in range(size)], [0] * size]
    constants = (rng.randint(0, 3), rng.randint(1, 4))
    lengths = [rng.randint(0, 3) for _ in range(size)]
    return optsum.Coverage.of(lengths, held, gains, mass=mass, constants=constants, rows=tuple(rows))


SIZES = [(2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2)]
"""Parts, and units of each: few enough to try all sets."""


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.integers(1, 3))
def test_optima_are_those_of_brute_force(seed: int, size: tuple[int, int], least: int) -> None:
    made = instance(Random(seed), *size)  # noqa: S311 - nothing secret
    problem = optsum.CoverageProblem.of(made)
    every = chain.from_iterable(combinations(range(made.size), count) for count in range(made.size + 1))
    worth = {each: seen.key for each in every if (seen := problem.evaluate(each)).feasible}
    best = max(worth.values(), default=None)
    optima = sorted(each for each, key in worth.items() if key == best)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_ratio, "_LEAST", least)
        found, one = (one_ratio.solve_by_parts(made, Limits(), Deadline(), every=every) for every in (True, False))
    assert found.complete
    assert sorted(found) == optima
    assert found.count == len(optima)
    if best is not None:
        assert found.value == best
        assert found.bound == found.value == one.value == one.bound
    assert [each in optima for each in one] == [True] * bool(optima)


def test_optima_of_parts_are_counted_as_products() -> None:
    """Check ten paths of eight vertices, each with 5 independent sets of four vertices."""
    rows = tuple(
        optsum.Row((8 * path + place, 8 * path + place + 1), (1, 1), high=1) for path in range(10) for place in range(7)
    )
    made = optsum.Coverage.of([1] * 80, [{unit: 1} for unit in range(80)], [[1]] * 80, rows=rows)
    assert len(one_ratio.parts_of(made)) == 10
    optima = optsum.enumerate_optima(optsum.CoverageProblem.of(made), strategy="branch-and-bound")
    assert (optima.value, optima.count, optima.complete) == (40, 5**10, True)
    assert one_ratio.parts_of(made.at_most(79)) == []
    assert len(one_ratio.parts_of(made.with_rows((*rows, optsum.Row(tuple(range(80)), (1,) * 80, high=20))))) == 1


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_search_at_a_limit_claims_nothing_false(seconds: float) -> None:
    rng = Random(1)  # noqa: S311 - nothing secret
    edges = [
        (16 * part + i, 16 * part + j) for part in range(9) for i, j in rng.sample(list(combinations(range(16), 2)), 30)
    ]
    rows = tuple(optsum.Row(edge, (1, 1), high=1) for edge in edges)
    worth = [[rng.randint(1, 9)] for _ in range(144)]
    problem = optsum.CoverageProblem.of(optsum.Coverage.of([1] * 144, [{u: 1} for u in range(144)], worth, rows=rows))
    best = optsum.search(problem, "milp")
    found = optsum.search(problem, "branch-and-bound", time_limit=seconds)
    assert best.objective is not None
    assert found.objective is not None
    assert found.objective <= best.objective <= (found.bound or best.objective)
    assert found.status is not optsum.Status.OPTIMAL or found.objective == best.objective
