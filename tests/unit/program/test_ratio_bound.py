"""Check that bounds of ratios by linear programs are never below the optimum, and near it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from optsum.solvers import branch_and_bound

from optsum.corpus.topic import as_topic
from optsum.coverage.greedy import climb
from optsum.coverage.instance import Combination, Coverage, Joint, Sense, key_of, score
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem
from optsum.program import ratio_bound as module
from optsum.program import sum_bound
from optsum.program.sum_bound import SumBound
from optsum.program.surrogate import reaches
from optsum.running.one_problem import build, setup_of
from optsum.system.clock import NEVER, Deadline, Limits, Stopped, Termination
from optsum.testing import HARMONIC, brute_force, random_coverage

TRIALS = 60
STEP = Fraction(1, 10**6)
# The least number of bounds that are tight, and the largest mean excess as a share of the optimum.
EXPECTED = {
    "precision": (22, 0.39),
    "f1": (22, 0.07),
    "set": (23, 0.41),
    "sum": (13, 0.35),
    "product": (14, 0.6),
    HARMONIC: (29, 0.13),
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_no_selection_is_above_and_most_bounds_are_near(kind: str) -> None:
    rng, reached, excess, tried = np.random.default_rng(5), 0, 0.0, 0
    while tried < TRIALS:
        instance = random_coverage(rng, kind=kind).relaxed
        best = brute_force(CoverageProblem.of(instance)).best
        if instance.goal is Sense.MINIMIZE or best is None:
            continue
        tried += 1
        bound = module.value_bound(instance)
        assert bound >= best, tried
        reached += bound == best
        excess += min(1.0, float((bound - best) / max(best, STEP)))
        if instance.combination is Combination.RATIO and instance.ratios == 1 and not instance.constant_denominator:
            assert best <= module.single_bound(instance, Fraction(best)) <= max(bound, Fraction(best)) + STEP
    least, most = EXPECTED[kind]
    assert reached >= least
    assert excess / tried <= most


@pytest.mark.parametrize("kind", EXPECTED)
def test_without_time_the_bound_is_valid(kind: str) -> None:
    rng = np.random.default_rng(6)
    for number in range(10):
        instance = random_coverage(rng, kind=kind).relaxed
        best = brute_force(CoverageProblem.of(instance)).best
        if instance.goal is Sense.MINIMIZE or best is None:
            continue
        assert best <= module.value_bound(instance, Deadline(0.0)), number
        assert best <= module.value_bound(instance, NEVER), number
        assert best <= module.quick_bound(instance), number
        assert CoverageProblem.of(instance).root_bound(Deadline(0.0)) == module.quick_bound(instance)


@pytest.mark.parametrize("kind", EXPECTED)
def test_time_that_ends_amid_the_programs_leaves_a_bound(kind: str) -> None:
    class Ending(Deadline):
        looks = 0

        def check(self) -> None:
            self.looks -= 1
            if self.looks < 0:
                raise Stopped(Termination.TIME_LIMIT)

    rng = np.random.default_rng(7)
    for number in range(8):
        instance = random_coverage(rng, kind=kind).relaxed
        best = brute_force(CoverageProblem.of(instance)).best
        if instance.goal is Sense.MINIMIZE or best is None:
            continue
        for looks in range(4):
            deadline = Ending(None)
            deadline.looks = looks
            assert best <= module.value_bound(instance, deadline), (number, looks)


@pytest.mark.parametrize("kind", ["joined", "sum", "product"])
def test_ratios_of_joints_are_bounded_without_them(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY_JOINTS", 0)
    rng, joined = np.random.default_rng(8), 0
    for number in range(60):
        instance = random_coverage(rng, kind=kind, units=6).relaxed
        if instance.goal is Sense.MINIMIZE:
            continue
        bounds = module.alone_bounds(instance, NEVER)
        joined += bool(instance.joints)
        for size in range(instance.size + 1):
            for units in combinations(range(instance.size), size):
                totals, _, violation = score(instance, units)
                pairs = zip(totals[0::2], totals[1::2], bounds, strict=True)
                assert violation or all(top <= bound * bottom for top, bottom, bound in pairs if bottom > 0), number
    assert joined >= 10


def _sum_of_ratios(rng: np.random.Generator, number: int) -> Coverage:
    """Return an instance with positive denominators; some have joints, equal or similar denominators, or rows."""
    while True:
        instance = random_coverage(rng, kind="sum", units=6).relaxed
        constants, mass = instance.constants.copy(), instance.mass.copy()
        constants[1::2] = rng.integers(1, 4) * np.maximum(constants[1::2], 1)
        if number % 2:
            mass[1::2] = instance.lengths
        if number % 4 == 1:
            mass[3::4] = np.maximum(instance.lengths - 1, 0)
        joints: list[Joint] = []
        above = np.flatnonzero(instance.slot % 2 == 0).tolist()
        for one, other in combinations(range(instance.size if above and number % 3 == 0 else 0), 2):
            if rng.random() < 0.5:
                joints.append(
                    Joint(int(rng.choice(above)), (one, other), range(one + 1, other), int(rng.integers(1, 3)))
                )
        rows = random_coverage(rng, kind="sided", units=instance.size).rows if number % 5 == 0 else ()
        if any(unit >= instance.size for row in rows for unit in row.units):
            continue
        made = replace(instance, constants=constants, mass=mass, joints=(*instance.joints, *joints), rows=rows)
        if brute_force(CoverageProblem.of(made)).best is not None:
            return made


@cache
def _sums_of_ratios() -> list[tuple[Coverage, Fraction]]:
    """Return instances, each with its optimum."""
    rng = np.random.default_rng(9)
    made = [_sum_of_ratios(rng, number) for number in range(20)]
    return [(instance, Fraction(brute_force(CoverageProblem.of(instance)).best)) for instance in made]


@pytest.mark.parametrize("enough", [0, Fraction(9, 10), 1])
@pytest.mark.parametrize("seconds", [None, 0.003])
@pytest.mark.parametrize("cells", [sum_bound._CELLS, 0])
def test_sums_are_bounded_by_prices_from_any_known_value(
    enough: Fraction, seconds: float | None, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sum_bound, "_CELLS", cells)  # 0: all side constraints are left out
    reached, excess = 0, 0.0
    for number, (instance, best) in enumerate(_sums_of_ratios()):
        weights = [Fraction(weight, sum(instance.weights)) for weight in instance.weights]
        known, totals = Fraction(10**6), reaches(instance)
        bound = module.sum_bound(instance, weights, totals, best * enough, known, Deadline(seconds))
        assert best <= bound <= known, number
        reached += bound - best <= best * STEP
        excess += min(1.0, float((bound - best) / max(best, STEP)))
    if seconds is None:
        assert reached >= 3
        assert excess / len(_sums_of_ratios()) <= 0.35


def test_no_row_asks_the_units_for_what_features_add_to_a_denominator() -> None:
    slots, constants = [1, 0, 2], (0, 1, 0, 1, 0, 1)
    instance = Coverage.of(
        [1, 1], [{0: 1, 1: 1}, {0: 1, 2: 1}], [[1], [3], [5]], slots=slots, constants=constants, weights=(1, 1, 1),
        combination=Combination.SUM, max_length=2,
    )  # fmt: skip
    bound = SumBound(instance, [Fraction(1, 3)] * 3, [1.0] * 3, Fraction(0))
    _, upper = bound._whole.halves()  # all selections except the empty one
    rows, limits = bound._rows_of(upper)
    assert len(rows) == 1
    assert limits[0, 0] <= rows[0].sum() <= limits[0, 1]


def test_greedy_selections_of_sums_beyond_64_bits() -> None:
    rng, tried = np.random.default_rng(10), 0
    for number in range(20):
        instance = _sum_of_ratios(rng, number)
        far = replace(instance, weights=tuple(weight * 10**18 for weight in instance.weights), rows=())
        totals, _, violation = score(far, units := module.greedy_units(far))
        assert not violation or far.min_length
        tried += climb(far) is None and bool(units) and min(totals[0::2]) > 0
    assert tried >= 3


@pytest.mark.parametrize("kind", EXPECTED)
def test_each_ratio_has_a_trivial_bound(kind: str) -> None:
    rng, tight = np.random.default_rng(7), 0
    for number in range(60):
        instance = random_coverage(rng, kind=kind, units=6).relaxed
        if instance.goal is Sense.MINIMIZE:
            continue
        every = (units for size in range(instance.size + 1) for units in combinations(range(instance.size), size))
        found = [totals for totals, _, violation in (score(instance, units) for units in every) if not violation]
        for h in range(instance.ratios):
            ratios = [Fraction(t[2 * h], t[2 * h + 1]) for t in found if t[2 * h + 1] > 0]
            bound = module.trivial_bound(instance, h)
            assert bound >= max(ratios, default=Fraction(0)), (number, h)
            tight += bool(ratios) and bound == max(ratios)
    assert tight >= 5


def test_an_f1_across_sentence_ends_is_bounded_by_about_one() -> None:
    """Check the trivial bound, and that of a stopped search, on texts of many joints."""
    rng = np.random.default_rng(2)
    words = [f"w{number}" for number in range(60)]
    sentences = [" ".join(rng.choice(words, 8)) for _ in range(60)]
    topic = {"id": "t", "documents": [sentences], "references": [[" ".join(rng.choice(words, 200))]]}
    options = resolve({"metric": "rouge-2", "measure": "f1", "boundaries": "joined"})
    instance = build(as_topic(topic), setup_of(options)).problem.coverage
    assert len(instance.joints) > module.MANY_JOINTS
    best = branch_and_bound._solve_ratios(instance, Limits(), NEVER, every=False)
    assert best.proven
    assert best.value <= module.value_bound(instance) <= 1.5 * best.value
    assert best.value <= module.quick_bound(instance) <= 1
    assert max(module.alone_bounds(instance, Deadline(0.0))) <= 1


def test_a_relaxed_denominator_never_becomes_zero() -> None:
    """Test this because a ratio over nothing is 0, and one over the contribution of two copies is not."""
    instance = Coverage.of(
        [1, 1], [{0: 1, 1: 1}, {}], [[1, 1], [1, 1]], slots=[3, 2], constants=(0, 0, 0, 0), weights=(1, 1),
        mass=[[0, 0], [0, 0], [0, 0], [0, 1]], combination=Combination.SUM, max_length=1,
    )  # fmt: skip
    problem = CoverageProblem.of(instance)
    assert brute_force(problem).best == Fraction(1, 2)
    bound = problem.root_bound()
    assert bound is not None
    assert bound >= Fraction(1, 2)


@pytest.mark.parametrize("combination", [Combination.SUM, Combination.HARMONIC])
def test_totals_near_64_bits_have_valid_bounds(combination: Combination) -> None:
    """Test totals whose multipliers are rounded to 0, and whose sums may exceed 64 bits."""
    rng, tried = np.random.default_rng(7), 0
    for number in range(60):
        ratios = int(rng.integers(2, 4))
        large = [[int(2 ** rng.uniform(0, 59)) * int(rng.integers(2)) for _ in range(5)] for _ in range(2 * ratios)]
        instance = Coverage.of(
            rng.integers(1, 9, 5).tolist(),
            [{int(rng.integers(3)): 1} for _ in range(5)],
            [[int(2 ** rng.uniform(0, 59))] for _ in range(3)],
            slots=rng.integers(0, 2 * ratios, 3).tolist(),
            constants=[int(2 ** rng.uniform(0, 59)) for _ in range(2 * ratios)],
            mass=large,
            weights=[int(10 ** rng.uniform(0, 20)) for _ in range(ratios)],
            combination=combination,
            max_length=15,
        )
        best = brute_force(CoverageProblem.of(instance)).best
        assert best is not None
        assert module.value_bound(instance) >= best, number
        tried += best > 0
    assert tried > 50


def test_a_sum_whose_programs_do_not_fit_64_bits_has_no_bound_below_its_optimum() -> None:
    mass = [[2**62, 0], [0, 0]] * 3 + [[0, 1], [0, 0]]
    given = {"constants": [0, 1] * 4, "mass": mass, "weights": (1, 1, 1, 2**62), "max_length": 1}
    instance = Coverage.of([1, 1], [{}, {}], [], combination=Combination.SUM, **given)
    best = max(key_of(instance, *score(instance, chosen)[:2]) for chosen in ((), (0,), (1,)))
    assert best > Fraction(29, 10)
    assert module.value_bound(instance) >= best


def test_programs_of_a_ratio_fit_64_bits_whatever_its_value() -> None:
    rng = np.random.default_rng(11)
    for number in range(100):
        mass = [[int(2 ** rng.uniform(0, 38)) * int(rng.integers(2)) for _ in range(4)] for _ in range(2)]
        constants = [0, int(2 ** rng.uniform(0, 4))]
        instance = Coverage.of([1] * 4, [{}] * 4, [], constants=constants, mass=mass, max_length=3)
        best = brute_force(CoverageProblem.of(instance)).best
        assert best is not None
        assert module.value_bound(instance) >= best, number


def test_a_denominator_is_complete_if_none_of_its_features_is_relaxed() -> None:
    """Check that denominators (slots 1 and 3) are complete only with tables of one step and without joints."""

    def whole(gains: list[list[int]], joints: tuple[Joint, ...] = ()) -> list[bool]:
        units = [{0: 1, 1: 1, 2: 1, 3: 1}, {1: 1, 3: 1}]
        constants, weights = (0, 1, 0, 1), (1, 1)
        instance = Coverage.of(
            [1, 1], units, gains, slots=[0, 1, 2, 3], constants=constants, weights=weights, joints=joints,
            combination=Combination.SUM,
        )  # fmt: skip
        return [module.keeps_denominator(instance, h) for h in range(2)]

    assert whole([[2, 1], [1], [2, 1], [1]]) == [True, True]
    assert whole([[1], [2, 1], [1], [1]]) == [False, True]
    assert whole([[1], [1], [1], [2, 1]]) == [True, False]
    assert whole([[1]] * 4, (Joint(1, (0, 1)),)) == [False, True]
    assert whole([[1]] * 4, (Joint(3, (0, 1)),)) == [True, False]
    assert whole([[1]] * 4, (Joint(0, (0, 1)),)) == [True, True]
