"""Compare the engine with brute force on programs with costs: negative masses, decreasing gains, windows."""

from __future__ import annotations

import random

import numpy as np
import pytest
from optsum.solvers.engine.core import Program
from optsum.solvers.engine.driver import DEFAULT, Driver, Effort
from programs import values_of

from optsum.coverage.instance import NO_LIMIT, pack
from optsum.system.clock import Limits


def random_program(rng: random.Random) -> Program:
    """Return a program of up to 9 units, with increasing, decreasing and mixed tables, some of the same units."""
    units, features = rng.randint(0, 9), rng.randint(0, 7)
    lengths = [rng.randint(0, 7) for _ in range(units)]
    rows = [{f: rng.randint(1, 3) for f in rng.sample(range(features), rng.randint(0, features))} for _ in lengths]
    tables = []
    for _ in range(features):
        steps = [rng.randint(-5, 5) for _ in range(rng.randint(0, 3))]
        kind = rng.randrange(4)
        if kind == 0:
            steps = sorted(map(abs, steps), reverse=True)
        elif kind == 1:
            steps = [-abs(step) for step in steps[:1]]
        elif kind == 2:
            steps = [-step for step in sorted(map(abs, steps), reverse=True)]
        tables.append([sum(steps[:count]) for count in range(len(steps) + 1)])
    if features > 1 and rng.random() < 0.5:  # two features with the same units
        for row in rows:
            row.pop(1, None)
            if 0 in row:
                row[1] = row[0]
    start, feature = pack([list(row) for row in rows])
    _, count = pack([list(row.values()) for row in rows])
    table_start, table = pack(tables)
    high = rng.choice([NO_LIMIT, rng.randint(0, 25), rng.randint(5, 25)])
    low = rng.randint(0, min(high, 20)) if rng.random() < 0.3 else 0
    return Program(
        lengths=np.array(lengths, np.int64),
        unit_start=start,
        unit_feature=feature,
        unit_count=count,
        table_start=table_start,
        table=table,
        mass=np.array([rng.choice([0, rng.randint(-6, 3)]) for _ in lengths], np.int64),
        base=rng.randint(-9, 9),
        parents=np.full(units, -1, np.int64),
        joints=(),
        min_length=low,
        max_length=high,
    )


def assert_same_as_brute_force(program: Program, name: object, effort: Effort = DEFAULT) -> int:
    values = values_of(program)
    solver = Driver(program, Limits(), effort=effort)
    assert solver.feasible == bool(values), name
    if not values:
        return 0
    best = max(values.values())
    assert solver.upper * solver.divisor + program.base >= best, name
    for value in sorted({best + 1, best, best - 1, best - 4, min(values.values())}):
        target = -((program.base - value) // solver.divisor)
        wanted = {chosen for chosen, has in values.items() if has >= value}
        node, reason = solver.all_of(target)
        found = [] if node == 0 else list(solver.store.diagram(node))
        assert reason is None
        assert len(found) == len(set(found)), name
        assert set(found) == wanted, (name, value)
        one = solver.one_of(target)
        assert (one is None) == (not wanted), (name, value)
        if one is not None:
            assert tuple(sorted(one)) in wanted, (name, value)
            assert solver.value_of(one) * solver.divisor + program.base == values[tuple(sorted(one))], name
    chosen, value = solver.guess()
    assert values[tuple(sorted(chosen))] == value * solver.divisor + program.base, name
    return solver.statistics.splits


@pytest.mark.parametrize("seed", range(10))
def test_optima_equal_brute_force(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    for number in range(60):
        assert_same_as_brute_force(random_program(rng), (seed, number))


def test_optima_equal_brute_force_when_every_search_is_split() -> None:
    effort = Effort(start=2, first=3, longest=0, slice=4, deepest=3)
    rng = random.Random(77)  # noqa: S311
    splits = sum(assert_same_as_brute_force(random_program(rng), number, effort) for number in range(80))
    assert splits > 50
