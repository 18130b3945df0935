"""`check_problem`: whether a problem keeps the contract on which every strategy relies."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from numbers import Rational
from typing import Any

import numpy as np

from optsum.coverage.evaluate import score
from optsum.coverage.instance import Sense
from optsum.errors import UnsupportedError
from optsum.problem.problem import Capability, Evaluation, Problem, Selection
from optsum.program.highs import new_highs, pass_model
from optsum.program.model import LinearModel
from optsum.testing.instances import Enumeration, brute_force, expect

_ENUMERABLE = 12
_SAMPLES = 24


def check_problem(problem: Problem, *, name: str = "problem", seed: int = 0) -> None:
    """Check a problem and every capability that it declares.

    * evaluation: a selection always has the same value; values are ordered like keys; nothing is feasible outside the
      length limits;
    * moves: each flips distinct existing units; every unit can be reached; in the normal form only limits may be
      violated (no move drops just a parent);
    * repair: the result keeps the length limits (in the normal form all limits), or equals the input;
    * a normal form: the incremental state equals fresh evaluation after random flips;
    * bound: no feasible selection exceeds it;
    * linear model: it has the enumerated optimum, and agrees with `Problem.evaluate` at single selections;
    * an undeclared capability raises `UnsupportedError`.

    Problems of up to 12 units are enumerated; larger ones are sampled.

    Parameters
    ----------
    problem : Problem
    name : str
        Name of the problem in failures.
    seed : int
        Seed of the samples.

    Raises
    ------
    ConformanceError
        With a sentence that names the first check that failed.
    """
    where = f"{name} (seed {seed})"
    rng = np.random.default_rng(seed)
    expect(problem.size == len(problem.lengths), where, "size is not the number of lengths.")
    expect(all(length >= 0 for length in problem.lengths), where, "a length is negative.")
    expect(problem.length(range(problem.size)) == sum(problem.lengths), where, "length is not the sum of the lengths.")
    _evaluated(problem, (), where)
    truth = brute_force(problem) if problem.size <= _ENUMERABLE else None
    sample = _sample(problem, rng)
    evaluations = {selection: _evaluated(problem, selection, where) for selection in sample}
    _check_values(evaluations, where)
    _check_moves(problem, sample, where)
    _check_repair(problem, sample, rng, where)
    abilities: dict[Capability, Callable[[], object]] = {
        Capability.COVERAGE: lambda: problem.coverage,
        Capability.BOUND: problem.root_bound,
        Capability.LINEAR: lambda: problem.linear_model,
        Capability.COMPLETIONS: lambda: problem.bound((), ()),
    }
    for capability, ask in abilities.items():
        if capability not in problem.capabilities:
            with suppress(UnsupportedError):
                ask()
                expect(False, where, f"it offers {capability.value} that its capabilities do not declare.")
    if problem.can(Capability.COVERAGE):
        check_states(problem, rng, where)
    if problem.can(Capability.BOUND):
        _check_bound(problem, evaluations, truth, where)
    if problem.can(Capability.COMPLETIONS):
        _check_completions(problem, evaluations, rng, where)
    if problem.can(Capability.LINEAR):
        check_linear_model(problem, evaluations, truth, where)
    for selection, evaluation in evaluations.items():
        expect(problem.evaluate(selection) == evaluation, where, f"{selection} has another value after the checks.")


def _check_completions(
    problem: Problem, evaluations: dict[Selection, Evaluation], rng: np.random.Generator, where: str
) -> None:
    """Check that no selection exceeds the bound of a partial selection that it completes."""
    for selection, evaluation in evaluations.items():
        for _ in range(_SAMPLES if evaluation.feasible else 0):
            chosen = tuple(unit for unit in selection if rng.random() < 0.5)
            others = np.flatnonzero(rng.random(problem.size) < 0.5).tolist()
            rest = tuple(sorted({*others, *selection} - {*chosen}))
            bound = problem.bound(chosen, rest)
            passed = bound is None or problem.sense.better(evaluation.key, bound)
            expect(not passed, where, f"bound({chosen}, {rest}) is {bound}, and {selection} is worth {evaluation.key}.")


def _sample(problem: Problem, rng: np.random.Generator) -> list[Selection]:
    """Return the empty selection, the full one, single units, random ones and repaired ones."""
    n = problem.size
    found: dict[Selection, None] = {(): None, tuple(range(n)): None}
    for unit in rng.permutation(n)[:_SAMPLES].tolist():
        found[(unit,)] = None
    for _ in range(_SAMPLES):
        selection = tuple(np.flatnonzero(rng.random(n) < rng.random()).tolist())
        found[selection] = None
        found[problem.repair(selection, rng)] = None
    return list(found)


def _evaluated(problem: Problem, selection: Selection, where: str) -> Evaluation:
    evaluation = problem.evaluate(selection)
    expect(isinstance(evaluation, Evaluation), where, f"evaluate({selection}) returns no Evaluation.")
    expect(problem.evaluate(selection) == evaluation, where, f"evaluate({selection}) differs from call to call.")
    expect(evaluation.violation >= 0, where, f"the violation of {selection} is negative.")
    if evaluation.feasible:
        excess = problem.excess(selection)
        expect(excess == 0, where, f"{selection} is called feasible, {excess} outside the length limits.")
    return evaluation


def _check_values(evaluations: dict[Selection, Evaluation], where: str) -> None:
    ordered = sorted(evaluations.items(), key=lambda item: item[1].key)
    for (left, low), (right, high) in pairwise(ordered):
        rising = low.value < high.value or abs(low.value - high.value) <= 1e-9 * max(1.0, abs(low.value))
        expect(rising, where, f"the values of {left} and {right} are not ordered as their keys.")


def _only_limits(problem: Problem, selection: Selection) -> bool:
    rows = sum(row.excess(selection) for row in problem.coverage.rows)
    return problem.evaluate(selection).violation == problem.excess(selection) + rows


def _check_moves(problem: Problem, sample: list[Selection], where: str) -> None:
    limited = problem.sense is Sense.MAXIMIZE and problem.can(Capability.COVERAGE)  # others have limits of any kind
    for selection in sample:
        closed = limited and _only_limits(problem, selection)
        touched: set[int] = set()
        for move in problem.moves(selection):
            text = f"the move {move} from {selection}"
            expect(len(move) > 0, where, f"a move from {selection} flips nothing.")
            expect(len(set(move)) == len(move), where, f"{text} flips a unit twice.")
            expect(set(move) <= set(range(problem.size)), where, f"{text} flips a unit that does not exist.")
            touched.update(move)
            after = tuple(sorted(set(selection).symmetric_difference(move)))
            if closed:
                expect(_only_limits(problem, after), where, f"{text} violates more than limits.")
        expect(touched == set(range(problem.size)), where, f"the moves from {selection} do not reach every unit.")


def _check_repair(problem: Problem, sample: list[Selection], rng: np.random.Generator, where: str) -> None:
    for selection in sample:
        repaired = problem.repair(selection, rng)
        ordered = repaired == tuple(sorted(set(repaired)))
        expect(ordered, where, f"repair({selection}) is no sorted tuple: {repaired!r}.")
        kept = problem.evaluate(repaired).feasible or not (problem.can(Capability.COVERAGE) or problem.excess(repaired))
        kept = kept or repaired == selection
        expect(kept, where, f"repair({selection}) changed it to {repaired}, which violates limits too.")


def _check_bound(
    problem: Problem, evaluations: dict[Selection, Evaluation], truth: Enumeration | None, where: str
) -> None:
    bound = problem.root_bound()
    expect(bound is not None, where, "it declares a bound and returns none, with all the time there is.")
    assert bound is not None  # noqa: S101 - just expected
    exact = isinstance(bound, Rational) or all(not isinstance(e.key, Fraction) for e in evaluations.values())
    expect(exact, where, f"the bound {bound!r} is a float where objectives are exact.")
    for selection, evaluation in evaluations.items():
        passed = evaluation.feasible and problem.sense.better(evaluation.key, bound)
        expect(not passed, where, f"{selection} is worth {evaluation.key} and exceeds the bound {bound}.")
    if truth is not None and truth.best is not None:
        passed = problem.sense.better(truth.best, bound)
        expect(not passed, where, f"the optimum {truth.best} exceeds the bound {bound}.")


_TOLERANCE = 1e-5
_NEGLIGIBLE = 1e-9  # Relative; floating point is all that separates the two sides.


def check_linear_model(
    problem: Problem, evaluations: dict[Selection, Evaluation], truth: Enumeration | None, where: str
) -> None:
    """Check that the model has the problem's optimum, and its value for every checked selection.

    With the units fixed, the rest of the model must be feasible if and only if the selection is, and attain its value.
    """
    model = problem.linear_model
    expect(model.units == problem.size, where, "the linear model has another number of units.")
    expect(bool(model.integral[: model.units].all()), where, "a unit of the linear model is not integral.")
    expect(bool((model.upper[: model.units] == 1).all()), where, "a unit of the linear model is not a 0/1 decision.")
    expect(model.sense is problem.sense, where, "the linear model has the other sense.")
    if problem.size == 0:
        return
    if truth is not None:
        highs = new_highs()
        highs.setOptionValue("mip_rel_gap", 0.0)
        pass_model(highs, model)
        _compare(highs, model, truth.best, where, "the linear model's optimum")
    fixed = new_highs()
    pass_model(fixed, model, relaxed=not model.integral[model.units :].any())
    columns = np.arange(model.units, dtype=np.int32)
    for selection, evaluation in evaluations.items():
        values = np.zeros(model.units)
        values[list(selection)] = 1.0
        fixed.changeColsBounds(model.units, columns, values, values)
        expected = evaluation.key if evaluation.feasible else None
        _compare(fixed, model, expected, where, f"the linear model at {selection}")


def _compare(highs: Any, model: LinearModel, expected: Any, where: str, what: str) -> None:
    import highspy

    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        expect(expected is None, where, f"{what} is infeasible instead of {expected}.")
        return
    expect(expected is not None, where, f"{what} exists, but nothing is feasible there.")
    claimed = highs.getInfo().objective_function_value
    wanted = float(Fraction(expected) * model.denominator - model.offset)
    close = abs(claimed - wanted) <= max(_TOLERANCE, _NEGLIGIBLE * abs(wanted))
    expect(close, where, f"{what} is {claimed} instead of {wanted}, in the model's integers.")


_FLIPS = 60


def check_states(problem: Problem, rng: np.random.Generator, where: str) -> None:
    """Flip random units, and compare the whole state with a fresh evaluation.

    Instances whose products need more than 64 bits have no arrays, and nothing to check.
    """
    from optsum.coverage.state import CHOSEN, LENGTH, MISSING, arrays_of, empty_state, flip, true_totals, value_pair

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
        kept = true_totals(arrays, state).tolist()
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
