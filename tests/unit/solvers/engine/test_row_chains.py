"""Check that rows split into chains give the same relaxation and bound as whole rows."""

from __future__ import annotations

import numpy as np
import pytest
from optsum.solvers.engine.bound import (
    IMPOSSIBLE,
    LinearProgram,
    Session,
    chains_of,
    decide,
    linear_program,
    priced,
)
from optsum.solvers.engine.core import DROPPED, FREE, TAKEN, Core, core_of, program_of, reduced
from trying import blocks

from optsum.coverage.instance import Facility
from optsum.system.clock import NEVER


def _core(seed: int) -> Core:
    """Return a core of levels; some of them have fixed units."""
    rng = np.random.default_rng(seed)
    units, tokens = int(rng.integers(20, 60)), int(rng.integers(2, 30))
    similar = rng.integers(0, int(rng.choice([4, 30, 10_000])), (tokens, units))
    lengths = rng.integers(1, 20, units)
    weights = rng.integers(1, 4, tokens)
    most = int(rng.integers(20, 200))
    instance = Facility.given(similar, weights, lengths, full=10_000 * int(weights.sum()), max_length=most)
    kept = np.full(len(instance.similar), int(rng.choice([8, 15, 60])))
    core, _ = core_of(program_of(instance.truncated(kept), (1, 0)))
    if seed % 2:
        state = np.full(core.size, np.int8(FREE))
        for place in rng.choice(core.size, 6, replace=False):
            changed = state.copy()
            changed[place] = rng.choice([TAKEN, DROPPED])
            if int(core.lengths[changed == TAKEN].sum()) <= core.high:
                state = changed
        core = reduced(core, state)
    return core


def _solved(program: LinearProgram, core: Core) -> tuple[float, int]:
    """Return the optimum of a relaxation, and the bound from its prices."""
    session = Session()
    session.load(program, core.scale, core)
    found = session.multipliers(NEVER)
    assert found is not None
    bound, _, _ = decide(priced(core, found), None)
    assert bound > IMPOSSIBLE // 2
    return -session._highs.getInfo().objective_function_value, bound


@pytest.mark.parametrize("seeds", blocks(60, size=20))
def test_the_relaxation_by_chains_is_as_tight(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds:
        core = _core(seed)
        with monkeypatch.context() as patch:
            patch.setattr("optsum.solvers.engine.bound._MANY", 2)
            chained = linear_program(core)
            patch.setattr("optsum.solvers.engine.bound.chains_of", lambda _: None)
            whole = linear_program(core)
        assert whole is not None
        assert chained is not None
        assert len(chained.value) <= len(whole.value)
        value, bound = _solved(chained, core)
        plain_value, plain_bound = _solved(whole, core)
        assert value == pytest.approx(plain_value, rel=1e-7, abs=1e-5)
        # Prices are rounded to 1 / scale for each copy; a bound may use that selections are integral.
        slack = len(core.feature) + len(core.price) + 1e-6 * core.scale * plain_value
        assert plain_bound <= core.scale * (plain_value + core.base) + slack
        assert bound <= core.scale * (plain_value + core.base) + slack


def test_chains_are_found_and_spare_entries() -> None:
    sizes = []
    for seed in range(0, 60, 2):
        core = _core(seed)
        found = chains_of(core)
        if found is None:
            continue
        holds, saved = found
        held = [set() for _ in core.price]  # type: ignore[var-annotated]
        entries = [
            (unit, feature)
            for unit in range(core.size)
            for feature in core.feature[core.start[unit] : core.start[unit + 1]].tolist()
        ]
        for unit, feature in entries:
            held[feature].add(unit)
        assert holds.tolist() == [place > 0 and held[place - 1] <= held[place] for place in range(len(held))]
        assert saved.tolist() == [bool(holds[feature]) and unit in held[feature - 1] for unit, feature in entries]
        sizes.append((len(saved), int(saved.sum())))
    assert sum(saved for _, saved in sizes) > sum(entries for entries, _ in sizes) / 2
