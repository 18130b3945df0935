"""Test greedy search: Algorithm 2 of Hirao et al. 2017, its guarantee, and covers."""

from __future__ import annotations

from fractions import Fraction
from math import e, inf

import numpy as np
import pytest
from optsum.heuristics.baselines import Greedy

from optsum import OptionError, UnsupportedError, solve
from optsum.contracts.result import Status
from optsum.coverage.instance import Coverage, Joint, Sense
from optsum.problem.problem import CoverageProblem, Evaluation, Problem, Selection
from optsum.running.search import search
from optsum.testing import KINDS, OwnMetric, brute_force, check_problem, random_coverage


def greedy(instance: Coverage) -> Selection:
    result = search(CoverageProblem.of(instance), "greedy")
    assert result.selection is not None
    return result.selection


def algorithm_2(problem: Problem, *, idle: bool = False) -> Selection:
    """Algorithm 2 of Hirao et al. 2017 as intended, without shortcuts; `idle` also takes units that gain nothing."""
    oracle: list[int] = []
    left = list(range(problem.size))
    length = 0
    while left:
        before = problem.evaluate(tuple(sorted(oracle))).key

        def density(unit: int, before: Fraction = before) -> float | Fraction:  # type: ignore[assignment]
            gain = Fraction(problem.evaluate(tuple(sorted([*oracle, unit]))).key) - before
            return gain / problem.lengths[unit] if problem.lengths[unit] else (inf if gain else 0)

        best = max(left, key=lambda unit: (density(unit), -unit))
        left.remove(best)
        if length + problem.lengths[best] <= problem.max_length and (idle or density(best) > 0):
            oracle.append(best)
            length += problem.lengths[best]
    fitting = [unit for unit in range(problem.size) if problem.lengths[unit] <= problem.max_length]
    single = max(fitting, key=lambda unit: (problem.evaluate((unit,)).key, -unit), default=None)
    whole = tuple(sorted(oracle))
    if single is not None and problem.evaluate((single,)).key > problem.evaluate(whole).key:
        return (single,)
    return whole


def test_units_that_gain_nothing_are_taken_if_they_are_wanted() -> None:
    seen = 0
    for seed in range(200):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind="recall", units=9))
        if problem.instance.constants[0] or problem.instance.mass.any():
            continue  # the paper does not have values without features
        wanted = algorithm_2(problem, idle=True)
        assert search(problem, Greedy(idle=True)).selection == wanted, seed
        seen += wanted != algorithm_2(problem)
    assert seen > 20


def test_invalid_values_of_the_option_idle_are_refused() -> None:
    with pytest.raises(OptionError, match="idle is 1; give true or false"):
        Greedy(idle=1)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="leave out the option idle"):
        solve({"id": "t", "cover": [[["a"]]]}, formulation="cover", strategy="greedy", strategy_options=["idle=true"])


def test_a_search_of_two_rounds_by_hand() -> None:
    """Trace the rounds for gains a 2 1, b 3, c 2, d 2 and at most 5 words.

    Round 1: {a, b} 5/3, {b} 3/2, {c, d} 4/3, {a} 2/2, so unit 0. Round 2, 2 words left: unit 1 gains 0, unit 3 gains
    1/2, and unit 2 would gain 4/3 but needs 3 words. So 0 and 3, worth 6 of 10; the optimum is 1 and 2, worth 7.
    """
    instance = Coverage.of(
        [3, 2, 3, 2], [{0: 1, 1: 1}, {1: 1}, {2: 1, 3: 1}, {0: 1}], [[2, 1], [3], [2], [2]],
        constants=(0, 10), max_length=5,
    )  # fmt: skip
    result = search(CoverageProblem.of(instance), "greedy")
    assert (result.selection, result.objective_exact) == ((0, 3), "3/5")
    assert search(CoverageProblem.of(instance), "exhaustive").objective_exact == "7/10"


def test_a_rejected_sentence_uses_up_no_length() -> None:
    """Test a densest sentence that does not fit; as printed, its words would count and the last be rejected too."""
    instance = Coverage.of([4, 5, 2], [{0: 1}, {1: 1}, {2: 1}], [[8], [9], [1]], constants=(0, 18), max_length=6)
    assert greedy(instance) == (0, 2)


def test_a_single_better_sentence_replaces_the_greedy_ones() -> None:
    """Test a word worth 2 that leaves no room for a sentence of 10 words worth 10."""
    instance = Coverage.of([1, 10], [{0: 1}, {1: 1}], [[2], [10]], constants=(0, 12), max_length=10)
    result = search(CoverageProblem.of(instance), "greedy")
    assert (result.selection, result.objective_exact) == ((1,), "5/6")
    assert [point.objective for point in result.trace] == [0, pytest.approx(2 / 12), pytest.approx(10 / 12)]


def test_ties_go_to_the_lowest_unit() -> None:
    alike = Coverage.of([2] * 5, [{0: 1}] * 5, [[1] * 5], constants=(0, 5), max_length=6)
    assert greedy(alike) == (0, 1, 2)
    # The densities 2/4, 3/6 and 1/2 are equal in floating point as well.
    halves = Coverage.of([4, 6, 2], [{0: 1}, {1: 1}, {2: 1}], [[2], [3], [1]], constants=(0, 6), max_length=4)
    assert greedy(halves) == (0,)


def test_units_without_gain_are_left_out_unless_a_minimum_needs_them() -> None:
    instance = Coverage.of([2, 2, 2], [{0: 1}, {0: 1}, {}], [[3]], constants=(0, 3), max_length=6)
    assert greedy(instance) == (0,)
    filled = Coverage.of([2, 2, 2], [{0: 1}, {0: 1}, {}], [[3]], constants=(0, 3), max_length=6, min_length=3)
    assert greedy(filled) == (0, 1)


def test_units_without_length_come_first() -> None:
    """Check this, since otherwise the long sentence (density 9/3) would take the place of the blank one (gain 2)."""
    instance = Coverage.of([3, 0, 3], [{0: 1}, {1: 1}, {2: 1}], [[9], [2], [9]], constants=(0, 20), max_length=3)
    assert greedy(instance) == (0, 1)
    order = Coverage.of([1, 0], [{0: 1, 1: 1}, {0: 1, 1: 1}], [[3], [3]], constants=(0, 6), max_length=1)
    assert greedy(order) == (1,)


def test_the_kernel_is_algorithm_2() -> None:
    compared = 0
    for seed in range(600):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind="recall", units=9))
        if problem.instance.constants[0] or problem.instance.mass.any():
            continue  # the paper does not have values without features
        assert search(problem, "greedy").selection == algorithm_2(problem), seed
        compared += 1
    assert compared > 150


def test_recall_is_at_least_half_of_one_minus_one_over_e_of_the_optimum() -> None:
    """Test the guarantee of Khuller et al. 1999 for recall without minimum length, some units having length zero."""
    worst = Fraction(1)
    for seed in range(200):
        instance = random_coverage(np.random.default_rng(seed), kind="recall", units=6)
        problem = CoverageProblem.of(instance)
        optimum, result = brute_force(problem).best, search(problem, "greedy")
        assert optimum is not None
        assert result.key is not None
        assert float(result.key) >= 0.5 * (1 - 1 / e) * float(optimum), seed
        if optimum:
            worst = min(worst, Fraction(result.key) / Fraction(optimum))
    assert 0.5 < worst < 0.95, "the instances are hard enough to tell"


@pytest.mark.parametrize("kind", KINDS)
def test_the_selection_of_greedy_search_is_feasible(kind: str) -> None:
    """Check this with minimum lengths, parents, rows with negative coefficients, and covers."""
    for seed in range(10):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        result, truth = search(problem, "greedy"), brute_force(problem)
        assert result.status is (Status.NO_SOLUTION if truth.best is None else Status.FEASIBLE), (kind, seed)


@pytest.mark.parametrize("kind", ["recall", "window", "f1"])
def test_without_kernels_the_answer_is_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [
        CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=6)) for seed in range(80)
    ]
    problems = [problem for problem in problems if not problem.instance.min_length or kind == "window"]
    found = [search(problem, "greedy") for problem in problems]
    monkeypatch.setattr(Greedy, "_on_arrays", lambda *_: None)
    for problem, result in zip(problems, found, strict=True):
        other = search(problem, "greedy")
        # All candidates are evaluated one by one, so the result may be better, but never worse.
        assert result.key is None or (other.key is not None and other.key >= result.key)


def test_a_cover_is_bought_by_what_is_missing() -> None:
    """Test unit 2 with 2 of 4 copies for 2 against units 0 and 1 with 1 for 1 each, and 3 with the last by a joint."""
    instance = Coverage.of(
        [1, 1, 2, 1],
        [{0: 1}, {1: 1}, {0: 1, 1: 1}, {}],
        [[1], [1], [1]],
        joints=(Joint(2, (0, 3)),),
        goal=Sense.MINIMIZE,
    )
    result = search(CoverageProblem.of(instance), "greedy")
    assert (result.selection, result.objective) == ((0, 1, 3), 3.0)


def test_moves_bring_parents_and_partners_along() -> None:
    chunks = Coverage.of(
        [1, 1, 1, 1], [{}, {}, {0: 1}, {}], [[1], [5]], constants=(0, 6), max_length=4,
        parents=[-1, 0, 1, -1], joints=(Joint(1, (2, 3)),),
    )  # fmt: skip
    assert greedy(chunks) == (0, 1, 2, 3)


def test_a_cover_by_a_metric_of_one_s_own() -> None:
    """Test a minimization problem without arrays: fewer missing words first, then less length."""
    from dataclasses import dataclass

    from optsum.coverage.instance import Sense

    @dataclass(frozen=True, eq=False, kw_only=True)
    class Cover(OwnMetric):
        def evaluate(self, selection: Selection) -> Evaluation:
            missing = {"a", "b", "c"} - {word for unit in selection for word in self.words[unit]}
            return Evaluation(self.length(selection), len(missing), float(self.length(selection)))

    problem = Cover(lengths=(2, 1, 1, 9), words=[["a", "b"], ["b"], ["c"], ["a", "b", "c"]], sense=Sense.MINIMIZE)
    check_problem(problem, name="cover of one's own")
    result = search(problem, "greedy")
    assert (result.selection, result.objective) == ((0, 2), 3.0), "three densities of 1: the lowest unit is taken"
    assert search(problem, "exhaustive").objective == 3.0


def test_infeasible_moves_are_taken_only_if_no_other_gains() -> None:
    class Conflicts(Problem):
        """A problem with the values 9, 5, 5, 1, in which the first unit excludes all others."""

        def evaluate(self, selection: Selection) -> Evaluation:
            broken = len(selection) - 1 if 0 in selection else 0
            return Evaluation(sum((9, 5, 5, 1)[unit] for unit in selection), broken, 0.0)

    class Bundle(Problem):
        """A problem in which the second unit costs 1, and the first, worth 5, requires it."""

        def evaluate(self, selection: Selection) -> Evaluation:
            return Evaluation(sum((5, -1)[unit] for unit in selection), int(selection == (0,)), 0.0)

    conflicts = search(Conflicts(lengths=(2, 1, 1, 1)), "greedy")
    assert (conflicts.selection, conflicts.key) == ((1, 2, 3), 11)
    assert search(Bundle(lengths=(1, 1)), "greedy").selection == (0, 1)


class Covering(Problem):
    """A vertex cover of a path, at a cost that is minimized, or whose negative is maximized."""

    def evaluate(self, selection: Selection) -> Evaluation:
        missed = sum(unit not in selection and unit + 1 not in selection for unit in range(self.size - 1))
        cost = sum(1 + unit % 3 for unit in selection)
        key = cost if self.sense is Sense.MINIMIZE else -cost
        return Evaluation(key, missed + self.excess(selection), key)


def test_maximization_is_made_feasible_like_minimization() -> None:
    for size in (2, 5, 9):
        least, most = (search(Covering(lengths=(1,) * size, sense=sense), "greedy") for sense in Sense)
        assert least.status is most.status is Status.FEASIBLE
        assert least.selection == most.selection
