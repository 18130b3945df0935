"""Check that limits end every long part of the engine (root, relaxations, guesses) and do not stay for later runs."""

from __future__ import annotations

import weakref
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from optsum.solvers.engine import core
from optsum.solvers.engine.bound import IMPOSSIBLE, Session, decide, linear_program, priced
from optsum.solvers.engine.core import core_of, program_of
from optsum.solvers.engine.driver import Budget, Effort, Statistics
from optsum.solvers.engine.search import Search, good_set
from optsum.solvers.objectives.one_ratio import solve_ratio, solve_recall
from optsum.solvers.objectives.sums import solve_sum

from optsum.coverage.instance import Combination, Coverage, Joint
from optsum.system.clock import NEVER, Deadline, Limits, Stopped, Termination


def seams(units: int, ratios: int = 1) -> Coverage:
    """Return a joined text in which pairs of sentences form a bigram across all sentences between them."""
    rng = np.random.default_rng(1)
    pairs = [(one, other) for one in range(units) for other in range(one + 1, units) if rng.random() < 0.06]
    joints = tuple(Joint(int(rng.integers(0, 300)), pair, range(pair[0] + 1, pair[1])) for pair in pairs)
    return Coverage.of(
        rng.integers(5, 30, units).tolist(),
        [{int(f): 1 for f in rng.choice(300, 8, replace=False)} for _ in range(units)],
        [[1, 1]] * 300,
        slots=[2 * int(f) for f in rng.integers(0, ratios, 300)],
        constants=[0, 300] * ratios,
        mass=[row for _ in range(ratios) for row in ([0] * units, rng.integers(5, 30, units).tolist())],
        weights=(1,) * ratios,
        combination=Combination.SUM if ratios > 1 else Combination.RATIO,
        joints=joints,
        max_length=250,
    )


@pytest.mark.parametrize("parents", [(), (-1, -1, 0)])
def test_a_time_limit_of_one_run_does_not_stay_with_its_session(parents: tuple[int, ...]) -> None:
    rows = [{0: 1}, {0: 1, 1: 1}, {1: 1}]
    instance = Coverage.of([2, 3, 4], rows, [[3], [5]], constants=(0, 8), parents=parents, max_length=6)
    core, _ = core_of(program_of(instance, (1, 0)), NEVER)
    assert core.tied == bool(parents)
    program = linear_program(core)
    assert program is not None
    session = Session()
    session.load(program, core.scale, core)
    multipliers = session.multipliers(NEVER)
    assert multipliers is not None
    session.load(program, core.scale, core)
    session.multipliers(Deadline(0.0))
    again = session.multipliers(NEVER)
    assert again is not None
    assert (again == multipliers).all()


def test_prices_of_an_unfinished_relaxation_give_a_valid_bound() -> None:
    program = program_of(seams(60), (1, 0))
    core, _ = core_of(program, NEVER)
    relaxation = linear_program(core)
    assert relaxation is not None
    assert relaxation.most is not None
    rng = np.random.default_rng(2)
    best = good_set(core)[1]
    for _ in range(5):
        multipliers = np.minimum((rng.random(len(relaxation.most)) * core.scale).astype(np.int64), relaxation.most)
        bound, _, _ = decide(priced(core, multipliers), None)
        assert bound > IMPOSSIBLE // 2
        assert bound >= best * core.scale


@pytest.mark.parametrize("seconds", [0.0, 0.3])
@pytest.mark.parametrize("ratios", [1, 2])
def test_a_large_topic_ends_soon_after_its_limit(seconds: float, ratios: int) -> None:
    instance = seams(250, ratios)
    solve = solve_ratio if ratios == 1 else solve_sum
    solve(instance, Limits(nodes=1), every=False)  # compiles the kernels before the clock starts
    began = perf_counter()
    found = solve(instance, Limits(time_s=seconds), every=False)
    assert perf_counter() - began < seconds + 5.0
    assert (found.termination, found.proven) == (Termination.TIME_LIMIT, False)


def test_a_deadline_at_once_leaves_no_result() -> None:
    rows = seams(250)
    instance = Coverage.of(
        rows.lengths.tolist(), [{0: 1}] * 250, [[1]] * 300, constants=(0, 300), joints=rows.joints, max_length=250
    )
    assert sum(len(joint.vetoes) for joint in instance.joints) > 150_000
    with pytest.raises(Stopped):
        solve_recall(instance, Limits(time_s=0.0), every=False)
    optima = solve_recall(instance, Limits(time_s=0.0), every=True)
    assert (optima.count, optima.complete, optima.termination) == (0, False, "time_limit")
    assert optima.bound >= solve_recall(instance, Limits(nodes=100), every=True).value
    assert not optima.proven


class Looks(Deadline):
    """A deadline that passes after it was checked `looks` times."""

    def __init__(self, looks: int) -> None:
        super().__init__(should_stop=lambda: True)
        self.looks = looks

    @property
    def reason(self) -> Termination | None:
        self.looks -= 1
        return None if self.looks >= 0 else Termination.TIME_LIMIT


def test_a_root_can_be_left_at_every_step() -> None:
    program = program_of(seams(250), (1, 0))
    for looks in range(100):
        try:
            core_of(program, Looks(looks))
        except Stopped as stopped:
            assert stopped.termination is Termination.TIME_LIMIT  # noqa: PT017 - one round raises nothing
        else:
            break
    assert 15 < looks < 99  # the steps, and the checks within the longest


def test_a_root_that_cannot_be_made_in_time_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test ten million vetoes, which take seconds in steps that are long themselves."""
    program = program_of(seams(250), (1, 0))
    wide = replace(program.joints[0], vetoes=range(10_000_000))
    large = replace(program, joints=(*program.joints, wide))
    monkeypatch.setattr(core, "_preorder", lambda _: pytest.fail("begun"))
    with pytest.raises(Stopped) as stopped:
        core_of(large, Deadline(0.5))
    assert stopped.value.termination is Termination.TIME_LIMIT


def test_interrupts_reach_an_engine_by_its_deadline() -> None:
    asked = 0

    def third_time() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    found = solve_ratio(seams(60), Limits(), Deadline(should_stop=third_time), every=True)
    assert found.termination == Termination.INTERRUPTED
    assert found


def test_a_budget_checks_every_limit() -> None:
    with pytest.raises(Stopped) as stop:
        Budget(Limits(nodes=0)).check()
    assert stop.value.termination is Termination.NODE_LIMIT
    with pytest.raises(Stopped) as stop:
        Budget(Limits(memory=10)).check(memory=11)
    assert stop.value.termination is Termination.MEMORY_LIMIT
    Budget(Limits(memory=10)).check(memory=10)
    with pytest.raises(Stopped) as stop, Budget(Limits()).phase("search"):
        raise KeyboardInterrupt
    assert stop.value.termination is Termination.INTERRUPTED
    whole = Statistics(nodes=2, core=3)
    whole.add(Statistics(nodes=5, core=1))
    assert (whole.nodes, whole.core) == (7, 3)


def test_a_split_search_does_not_keep_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test this because tables of every depth at once took most of the memory on large topics."""
    alive: weakref.WeakSet[Search] = weakref.WeakSet()
    most = 0
    made = Search.__init__

    def counted(self: Search, *given: Any, **named: Any) -> None:
        nonlocal most
        alive.add(self)
        most = max(most, len(alive))
        made(self, *given, **named)

    monkeypatch.setattr(Search, "__init__", counted)
    hasty = Effort(start=2, first=3, longest=0)
    split = [0, 0]  # for one optimum, and for all
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = [{int(f): 1 for f in rng.choice(90, int(rng.integers(2, 12)), replace=False)} for _ in range(40)]
        gains = [sorted(rng.integers(1, 5, 2).tolist(), reverse=True) for _ in range(90)]
        instance = Coverage.of(rng.integers(3, 30, 40).tolist(), rows, gains, constants=(0, 999), max_length=90)
        split[0] += solve_recall(instance, effort=hasty, every=False).statistics["splits"]
        split[1] += int(solve_recall(instance, effort=hasty, every=True).statistics["splits"])
    assert min(split) > 5
    assert most <= 2  # a search, and the one that replaces it
