"""Compare the engine on programs with joints and parents with brute force: values, counts, sets of optima."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from optsum.solvers.engine.core import Program, program_of
from optsum.solvers.engine.driver import DEFAULT, Driver, Effort
from programs import value_of, values_of

from optsum.coverage.instance import NO_LIMIT, Coverage, Joint
from optsum.errors import UnsupportedError
from optsum.optima.diagram import Diagram
from optsum.system.clock import Deadline, Limits, Stopped
from optsum.testing import random_coverage

CASES = ("compressive", "joined", "closed window", "negative", "ratio", "sum", "weighted", "coarse")


def solved(program: Program, effort: Effort = DEFAULT) -> tuple[int, Diagram, Driver]:
    """Return the optimum, all optima, and the engine."""
    engine = Driver(program, Limits(), effort=effort)
    assert engine.feasible
    target = engine.upper
    while True:
        node, reason = engine.all_of(target)
        assert reason is None
        if node:
            return target * engine.divisor + program.base, engine.store.diagram(node), engine
        target -= 1


def with_seams(instance: Coverage, rng: np.random.Generator) -> Coverage:
    """Add n-grams across sentence ends; some are not vetoed by empty sentences between."""
    seams = []
    empty = {unit for unit in range(instance.size) if rng.integers(0, 4) == 0}
    for _ in range(int(rng.integers(0, 12))):
        if instance.size > 1 and instance.features:
            i, j = sorted(rng.choice(instance.size, 2, replace=False).tolist())
            between = range(i + 1, j)
            kept = between if rng.integers(0, 3) else tuple(unit for unit in between if unit not in empty)
            if not rng.integers(0, 6):
                kept = tuple(unit for unit in between if rng.integers(0, 3))
            seams.append(Joint(int(rng.integers(0, instance.features)), (i, j), kept))
    return replace(instance, joints=tuple(seams))


def random_program(case: str, seed: int) -> Program:
    """Return a program of up to 9 units with the structure named by the case."""
    rng = np.random.default_rng(seed)
    units = int(rng.integers(3, 10))
    if case == "ratio":
        instance = random_coverage(rng, kind=("f1", "set", "precision")[seed % 3], units=units)
        if instance.features and seed % 2:
            instance = with_seams(instance, rng)
        return program_of(instance, (int(rng.integers(1, 9)), -int(rng.integers(0, 9))))
    if case == "sum":
        instance = random_coverage(rng, kind="sum", units=units)
        return program_of(instance, [sign * int(rng.integers(0, 5)) for _ in instance.weights for sign in (1, -1)])
    if case == "joined":
        return program_of(
            with_seams(random_coverage(rng, kind=("recall", "window")[seed % 2], units=units), rng), (1, 0)
        )
    program = program_of(random_coverage(rng, kind="compressive", units=units), (1, 0))
    if case == "closed window":
        total = int(program.lengths.sum())
        low = int(rng.integers(0, total // 2 + 1))
        return replace(program, min_length=low, max_length=low + int(rng.integers(0, 6)))
    if case == "negative":
        return replace(program, mass=rng.integers(-5, 4, program.size))
    if case == "weighted":
        return replace(
            program, table=program.table * int(rng.integers(10**6, 10**7)), mass=rng.integers(0, 10**6, program.size)
        )
    if case == "coarse":  # lengths too large for a knapsack table
        limit = program.max_length
        return replace(
            program, lengths=program.lengths * 10**7 + rng.integers(0, 9, program.size), max_length=limit * 10**7 + 12
        )
    return program


def check(case: str, seed: int, effort: Effort = DEFAULT) -> None:
    program = random_program(case, seed)
    values = values_of(program)
    if not values:
        assert not Driver(program, Limits()).feasible
        return
    best = max(values.values())
    value, diagram, engine = solved(program, effort) if case != "weighted" else closed_in(program, effort)
    found = list(diagram)
    assert value == best, (case, seed)
    assert len(found) == diagram.count == len(set(found))
    assert set(found) == {chosen for chosen, own in values.items() if own == best}, (case, seed)
    guess, guessed = engine.guess()
    assert guessed * engine.divisor + program.base == values[guess] <= best
    assert engine.value_of(found[0]) * engine.divisor + program.base == best
    assert engine.upper * engine.divisor + program.base >= best


def closed_in(program: Program, effort: Effort) -> tuple[int, Diagram, Driver]:
    """Return what `solved` returns, by bisection, for values too large to be tried one by one."""
    engine = Driver(program, Limits(), effort=effort)
    value, upper = engine.guess()[1], engine.upper
    while value < upper:
        middle = (value + upper + 1) // 2
        found = engine.one_of(middle)
        if found is None:
            upper = middle - 1
        else:
            value = engine.value_of(found)
            assert value >= middle
    node, reason = engine.all_of(value)
    assert reason is None
    return value * engine.divisor + program.base, engine.store.diagram(node), engine


@pytest.mark.parametrize("case", CASES)
def test_all_optima_are_those_of_brute_force(case: str) -> None:
    for seed in range(4 if case == "coarse" else 40):
        check(case, seed)


HASTY = Effort(start=2, first=4, longest=0, patient=30, patient_slice=3)
"""Searches give up at once, so that small instances are split as large ones are."""


@pytest.mark.parametrize("case", [case for case in CASES if case != "coarse"])
def test_splitting_changes_nothing(case: str) -> None:
    for seed in range(300, 340):
        check(case, seed, HASTY)


def test_chunks_of_a_discontinuous_gap() -> None:
    # "in a meeting" with "summer" between its parts: "a meeting" needs chunk 0 and is vetoed by chunk 1.
    instance = Coverage.of(
        [3, 1, 2],
        [{0: 1}, {1: 1}, {}],
        [[2], [1], [4]],
        constants=(0, 7),
        parents=[-1, 0, 0],
        joints=(Joint(2, (0, 2), (1,)),),
        max_length=6,
    )
    value, diagram, _ = solved(program_of(instance, (1, 0)))
    assert (value, list(diagram)) == (6, [(0, 2)])


def test_units_without_gain_are_counted_not_listed() -> None:
    # Any of 100 units may be added to the one that gains; their trees have parents.
    parents = [-1] + [unit - 1 if unit % 2 == 0 else -1 for unit in range(1, 101)]
    instance = Coverage.of([1] * 101, [{0: 1}, *[{}] * 100], [[7]], constants=(0, 7), parents=parents, max_length=101)
    value, diagram, engine = solved(program_of(instance, (1, 0)))
    assert (value, diagram.count) == (7, 3**50)
    assert engine.statistics.nodes < 1000


def test_limited_fillers_are_counted_by_length() -> None:
    instance = Coverage.of([5, *[1] * 40], [{0: 1}, *[{}] * 40], [[7]], constants=(0, 7), min_length=7, max_length=8)
    _, diagram, _ = solved(program_of(instance, (1, 0)))
    assert diagram.count == 40 * 39 // 2 + 40 * 39 * 38 // 6


def hard() -> Program:
    """Return a program of 60 units with loose bounds, in trees, with n-grams across sentences."""
    rng = np.random.default_rng(5)
    rows = [{int(f): 1 + int(rng.integers(0, 2)) for f in rng.choice(60, 6, replace=False)} for _ in range(60)]
    joints = tuple(Joint(int(rng.integers(0, 60)), (i, i + 2), (i + 1,)) for i in range(0, 56, 2))
    parents = [-1 if unit % 3 == 0 else unit - 1 for unit in range(60)]
    return program_of(
        Coverage.of(
            rng.integers(5, 15, 60).tolist(),
            rows,
            [[4, 3, 2, 1]] * 60,
            constants=(0, 1),
            parents=parents,
            joints=joints,
            max_length=200,
        ),
        (1, 0),
    )


@pytest.mark.parametrize(
    ("limits", "deadline", "reason"),
    [
        (Limits(nodes=2000), None, "node_limit"),
        (Limits(time_s=0.0), None, "time_limit"),
        (Limits(memory=0), None, "memory_limit"),
        (Limits(), Deadline(should_stop=lambda: True), "interrupted"),
    ],
)
def test_limits_stop_a_search(limits: Limits, deadline: Deadline | None, reason: str) -> None:
    program = hard()
    engine = Driver(program, limits, deadline)
    guess, value = engine.guess()
    assert value_of(program, guess) == value <= engine.upper
    with pytest.raises(Stopped) as stop:
        deque(map(engine.one_of, range(engine.upper, value, -1)), maxlen=0)
    assert stop.value.termination == reason
    node, why = engine.all_of(value)
    assert why == reason
    for chosen in list(engine.store.diagram(node))[:50]:
        assert value_of(program, chosen) >= value
    assert engine.finish().seconds["total"] > 0


def test_values_too_large_for_64_bits_are_refused() -> None:
    instance = Coverage.of(
        [1, 1], [{0: 1}, {1: 1}], [[2**59 + 1], [2**59]], constants=(0, 2**62), parents=[-1, 0], max_length=2
    )
    with pytest.raises(UnsupportedError, match="too large"):
        Driver(program_of(instance, (1, 0)), Limits())


def test_a_minimum_length_beyond_every_table_is_refused() -> None:
    instance = Coverage.of(
        [10**9] * 3, [{0: 1}] * 3, [[1]], constants=(0, 1), parents=[-1, 0, 0], min_length=5, max_length=2 * 10**9
    )
    with pytest.raises(UnsupportedError, match="minimum length"):
        Driver(program_of(instance, (1, 0)), Limits())


def test_nothing_to_choose() -> None:
    empty = Coverage.of([], [], [], constants=(0, 1), max_length=NO_LIMIT)
    value, diagram, _ = solved(program_of(empty, (1, 0)))
    assert (value, list(diagram)) == (0, [()])
