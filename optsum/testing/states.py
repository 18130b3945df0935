"""The incremental state of the kernels against fresh evaluation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from optsum.coverage.evaluate import score
from optsum.coverage.instance import Sense
from optsum.problem.problem import Problem
from optsum.testing.failure import expect

_FLIPS = 60


def check_states(problem: Problem, rng: np.random.Generator, where: str) -> None:
    """Flip random units and compare everything the state holds with a fresh evaluation.

    Instances whose products need more than 64 bits have no arrays, and nothing to check.
    """
    from optsum.coverage.state import CHOSEN, LENGTH, MISSING, arrays_of, empty_state, flip, value_pair

    instance = problem.coverage
    arrays = arrays_of(instance)
    if arrays is None:
        return
    covering = instance.goal is Sense.MINIMIZE
    state = empty_state(arrays)
    chosen: set[int] = set()
    before = None
    for _ in range(_FLIPS):
        selection = tuple(sorted(chosen))
        text = f"the state after flips to {selection}"
        expect(tuple(np.flatnonzero(state.chosen).tolist()) == selection, where, f"{text} holds other units.")
        totals, length, violation = score(instance, selection)
        evaluation = problem.evaluate(selection)
        expect(evaluation.violation == violation, where, f"{text}: evaluate and the independent scorer disagree.")
        kept = state.totals.tolist()
        if instance.constant_denominator:  # 1 in the arrays
            kept[1] = totals[1]
        expect(tuple(kept) == totals, where, f"{text} has the totals {kept} instead of {totals}.")
        expect(int(state.scalars[LENGTH]) == length, where, f"{text} has another length than {length}.")
        expect(int(state.scalars[CHOSEN]) == len(selection), where, f"{text} counts other units.")
        if covering or instance.rows:
            orphans = sum(unit not in chosen for child in chosen for unit in instance.ancestors(child)[:1])
            missing = int(state.scalars[MISSING])
            missing += 0 if covering else problem.excess(selection)
            expect(missing + orphans == violation, where, f"{text} lacks {missing} copies, violation {violation}.")
        top, bottom = map(int, value_pair(arrays, state))
        value = Fraction(top, bottom)
        if before is not None:
            old_value, old_key = before
            key_change = evaluation.key - old_key
            change = (old_value - value) if covering else (value - old_value)
            expect((change > 0) - (change < 0) == (key_change > 0) - (key_change < 0), where, f"{text}: order is lost.")
        before = value, evaluation.key
        if problem.size == 0:
            return
        unit = int(rng.integers(0, problem.size))
        flip(arrays, state, unit)
        chosen ^= {unit}
