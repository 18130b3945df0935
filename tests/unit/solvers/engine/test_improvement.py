"""Test the improvement of sets found where a search is split, and searches that use them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from optsum.solvers.engine.core import TAKEN, Core, core_of, program_of, reduced
from optsum.solvers.engine.driver import Driver, Effort
from optsum.solvers.engine.search import good_set, polished

from optsum.problem.problem import CoverageProblem
from optsum.system.clock import Limits
from optsum.testing import brute_force, random_coverage

SPLITTING = Effort(start=2, first=3, longest=0)


def random_core(rng: np.random.Generator) -> Core:
    """Return the core of a recall, or of a sum of ratios minus a multiple of its denominators (linear costs)."""
    while True:
        instance = random_coverage(rng, kind="recall" if rng.random() < 0.3 else "sum", units=12)
        above = [(3, -int(rng.integers(1, 3)))[place % 2] for place in range(len(instance.constants))]
        program = program_of(instance, (1, 0) if instance.constant_denominator else above)
        if program.singletons:
            return core_of(program)[0]


def value_of(core: Core, units: tuple[int, ...]) -> int:
    return reduced(core, np.where(np.isin(core.ids, units), np.int8(TAKEN), np.int8(0))).base


def test_improved_sets_have_no_better_exchange_and_true_values() -> None:
    rng = np.random.default_rng(17)
    better = with_costs = looked = 0
    for _ in range(400):
        core = random_core(rng)
        found = polished(core) if core.high >= 0 else None
        if found is None:
            continue
        looked += 1
        units, value = found
        length = dict(zip(core.ids.tolist(), core.lengths.tolist(), strict=True))
        assert sum(length[unit] for unit in units) <= core.high
        assert value == value_of(core, units)
        first = good_set(core)
        assert value >= first[1]
        better += value > first[1]
        with_costs += len(core.costs.weight) > 0
        for out, into in product(units, set(length) - set(units)):
            other = tuple((set(units) - {out}) | {into})
            if sum(length[unit] for unit in other) <= core.high:
                assert value_of(core, other) <= value
    assert looked > 200
    assert better > 5
    assert with_costs > 20


def test_a_least_length_is_left_to_the_search() -> None:
    rng = np.random.default_rng(3)
    core = random_core(rng)
    assert polished(core._replace(low=1)) is None


@pytest.mark.parametrize("seed", range(5))
def test_one_search_that_rises_ends_with_the_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.solvers.engine.driver._SHORT", -1)  # forces splits, which small instances rarely need
    rng = np.random.default_rng(seed)
    met = 0
    for number in range(40):
        instance = random_coverage(rng, kind="recall")
        program = program_of(instance, (1, 0))
        engine = Driver(program, Limits(), effort=SPLITTING)
        best: list[int] = []

        def judge(units: tuple[int, ...], engine: Driver = engine, best: list[int] = best) -> int | None:
            best.append(engine.value_of(units))
            return best[-1] + 1

        assert engine.rising(0, judge) == []
        truth = brute_force(CoverageProblem.of(instance))
        value = CoverageProblem.of(instance).totals(truth.optima[0])[0]
        assert best[-1] * engine.divisor + program.base == value, (seed, number)
        assert best == sorted(set(best))
        if engine.met is not None:
            met += 1
            assert engine.value_of(engine.met[0]) == engine.met[1] <= best[-1]
    assert met > 5
