"""Test relaxations that start from the basis of another, end at a bound, and choose where a search is split."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from optsum.solvers.engine.bound import IMPOSSIBLE, Session, columns_and_rows, decide, linear_program, priced
from optsum.solvers.engine.core import DROPPED, FREE, TAKEN, Core, core_of, program_of, reduced
from optsum.solvers.engine.driver import Driver, Effort, Subtree, branching_order

from optsum.coverage.instance import Coverage, Joint
from optsum.problem.problem import CoverageProblem
from optsum.system.clock import NEVER, Limits
from optsum.testing import brute_force, random_coverage

UNITS = 16
SUBSETS = (np.arange(2**UNITS)[:, None] >> np.arange(UNITS)) & 1


def loose(seed: int) -> tuple[Coverage, int]:
    """Return an instance with a fractional relaxation, and its optimum over all subsets."""
    rng = np.random.default_rng(seed)
    copies = np.where(rng.random((UNITS, 20)) < 0.3, rng.integers(1, 3, (UNITS, 20)), 0)
    lengths = rng.integers(5, 9, UNITS)
    rows = [{int(f): int(row[f]) for f in np.flatnonzero(row)} for row in copies]
    instance = Coverage.of(lengths.tolist(), rows, [[1, 1]] * 20, constants=(0, 40), max_length=34)
    worth = np.minimum(SUBSETS @ copies, 2).sum(axis=1)
    return instance, int(worth[SUBSETS @ lengths <= 34].max())


def any_instance(rng: np.random.Generator) -> tuple[Coverage, int]:
    """Return a random instance of recall, and its optimum."""
    instance = random_coverage(rng, kind="recall", units=10)
    problem = CoverageProblem.of(instance)
    return instance, problem.totals(brute_force(problem).optima[0])[0]


def core_and_session(seed: int) -> tuple[Core, Session]:
    core = core_of(program_of(loose(seed)[0], (1, 0)))[0]
    program = linear_program(core)
    assert program is not None
    session = Session()
    session.load(program, core.scale, core)
    return core, session


def bound_of(core: Core, session: Session, enough: float = -np.inf) -> float:
    found = session.multipliers(NEVER, enough)
    assert found is not None
    bound, _, _ = decide(priced(core, found), None)
    assert bound > IMPOSSIBLE // 2
    return bound / core.scale


@pytest.mark.parametrize("seed", range(15))
def test_a_relaxation_that_ends_at_a_bound_is_below_it_and_not_below_the_truth(seed: int) -> None:
    core, session = core_and_session(seed)
    best, whole = loose(seed)[1], bound_of(core, session)
    assert whole >= best
    for target in range(best - 2, int(whole) + 4):
        bound = bound_of(core, session, target - 0.01)
        assert bound >= best
        assert (bound < target) == (whole < target), (target, bound, whole)
    assert bound_of(core, session) == pytest.approx(whole, abs=1e-3)  # the session keeps no bound


def solution(session: Session) -> tuple[NDArray[np.float64], object]:
    found = session.solution()
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(10))
def test_a_basis_of_before_leads_to_the_same_optimum(seed: int) -> None:
    core, session = core_and_session(seed)
    rng = np.random.default_rng(seed)
    whole = bound_of(core, session)
    basis, solved = solution(session)[1], session.solved
    assert solution(session)[1] is basis
    state = rng.choice(np.array([FREE, FREE, DROPPED, TAKEN], np.int8), core.size)
    session.decide(state)
    session.multipliers(NEVER)
    assert session.solved == solved + 1
    assert solution(session)[1] is not basis
    session.begin_at(basis)
    session.decide(np.full(core.size, np.int8(FREE)))
    assert bound_of(core, session) == pytest.approx(whole, abs=1e-3)
    values = solution(session)[0]
    assert values.shape == (core.size,)
    assert values @ core.lengths <= core.high + 1e-6


def halving_unit(core: Core, values: Any) -> int:
    size = int(core.ids.max()) + 1
    driver: Any = SimpleNamespace(_size=size, _effort=SimpleNamespace(shrink=1.6), _seen=(values, None))
    whole = Subtree(core, 0, np.full(size, np.int8(FREE)), 0)
    without = Driver._halves(driver, whole, core, 0, root=True)[0]
    return int(np.flatnonzero(without.state[core.ids] == DROPPED)[0])


def test_a_unit_that_is_in_part_comes_before_one_that_is_in_or_out() -> None:
    core = core_of(program_of(loose(3)[0], (1, 0)))[0]
    session = core_and_session(3)[1]
    found = session.multipliers(NEVER)
    assert found is not None
    core = priced(core, found)
    order, _ = branching_order(core)
    last = int(order[-1])
    values = np.zeros(core.size)
    assert halving_unit(core, values) == int(order[0])
    values[last] = 0.5
    ahead = halving_unit(core, values)
    assert ahead == last or list(order).index(ahead) < list(order).index(last)
    values[:] = np.nan  # the values of a solver are not trusted
    assert 0 <= halving_unit(core, values) < core.size


@pytest.mark.parametrize("brief", [-1, 7, 10**9])
def test_searches_that_are_split_all_the_time_find_the_optimum(brief: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.solvers.engine.driver._SHORT", brief)
    effort = Effort(start=1, first=2, longest=0, brief=1, shrink=1.2, brief_shrink=1.5)
    rng = np.random.default_rng(0)
    splits = 0
    for number in range(36):  # bounds close many of them without a split
        instance, best = any_instance(rng) if number % 4 == 0 else loose(number)
        program = program_of(instance, (1, 0))
        engine = Driver(program, Limits(), effort=effort)
        if not engine.feasible:
            continue
        value = (best - program.base) // engine.divisor
        for target in (value + 1, value, value + 2, value - 1):  # one engine, with its root, for all targets
            found = engine.one_of(target)
            assert (found is None) == (target > value), (number, target)
            assert found is None or engine.value_of(found) >= target
        splits += engine.statistics.splits
    assert splits > 25


def test_halves_of_another_relaxation_begin_near_the_one_before() -> None:
    core, session = core_and_session(1)
    session.multipliers(NEVER)
    values, basis = solution(session)
    whole = Subtree(core, 0, np.full(99, np.int8(FREE)), 0)

    def halves(now: Subtree, shrink: float, seen: Any) -> list[Subtree]:
        driver: Any = SimpleNamespace(_size=99, _effort=SimpleNamespace(shrink=shrink), _seen=seen)
        return Driver._halves(driver, now, core, 2, root=True, every=True)

    kept = halves(whole, 2.0, (values, basis))
    anew = halves(replace(whole, relaxed=core._replace(ids=np.arange(99))), 2.0, (np.arange(99.0), basis))
    assert [(half.basis, half.near, half.rank) for half in kept] == [(basis, None, 0)] * 2
    assert [(half.basis, half.rank) for half in anew] == [(None, 1)] * 2
    assert all((half.near == core.ids).all() for half in anew)
    assert [half.near for half in halves(whole, 0.5, None)] == [None, None]


def test_wherever_a_relaxation_begins_its_optimum_is_the_same() -> None:
    iterations = np.zeros(2, int)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        core, session = core_and_session(seed)
        program = linear_program(core)
        assert program is not None
        found = session.multipliers(NEVER)
        values = solution(session)[0]
        assert found is not None
        value = session._highs.getInfo().objective_function_value
        iterations[0] += session._highs.getInfo().simplex_iteration_count
        for guess, prices in [(values, priced(core, found)), (rng.random(core.size), core), (values * 0, core)]:
            standing = columns_and_rows(prices, program, guess)
            assert standing is not None
            session.load(program, core.scale, core)
            session.begin_near(*standing)
            assert session.multipliers(NEVER) is not None
            assert session._highs.getInfo().objective_function_value == pytest.approx(value)
            if guess is values:
                iterations[1] += session._highs.getInfo().simplex_iteration_count
    assert iterations[1] < 0.7 * iterations[0]


def joined_text(rng: np.random.Generator) -> Coverage:
    """Return an extract of a joined text, in which neighbours may form a bigram across the sentences left out."""
    pairs = [(one, other) for one in range(40) for other in range(one + 1, 40) if rng.random() < 0.5]
    return Coverage.of(
        rng.integers(5, 9, 40).tolist(),
        [{int(rng.integers(60)): 1} for _ in range(40)],
        [[1]] * 60,
        constants=(0, 60),
        joints=tuple(Joint(int(rng.integers(60)), pair, range(pair[0] + 1, pair[1])) for pair in pairs),
        max_length=80,
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_rest_of_joints_has_the_bound_of_the_relaxation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    core = core_of(program_of(joined_text(rng), (1, 0)))[0]
    program, session, state = linear_program(core), Session(), np.full(core.size, np.int8(FREE))
    assert program is not None
    session.load(program, core.scale, core)
    for _ in range(12):
        state[rng.integers(core.size)] = TAKEN if rng.random() < 0.35 else DROPPED
        session.decide(state)
        found = session.multipliers(NEVER)
        assert found is not None
        bound = decide(reduced(priced(core, found), state), None)[0]
        relaxed = core.base - session._highs.getInfo().objective_function_value * session._divisor
        assert bound / core.scale <= relaxed + 0.01  # prices are rounded


def test_relaxations_are_solved_with_the_costs_as_they_are() -> None:
    # From its own last basis, a relaxation of squality took HiGHS 28 s with perturbed costs, and .05 s without.
    status, factor = Session()._highs.getOptionValue("dual_simplex_cost_perturbation_multiplier")
    assert (str(status), factor) == ("HighsStatus.kOk", 0.0)
