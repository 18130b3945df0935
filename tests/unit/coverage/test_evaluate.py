"""Test the evaluation of selections of an instance: totals, violations and keys."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from optsum.coverage.instance import Combination, Coverage, Joint, Sense, key_of, score, value_of
from optsum.errors import InputError
from optsum.problem.problem import CoverageProblem
from optsum.testing import KINDS, random_coverage, selections


def test_hirao_by_hand() -> None:
    """Evaluate the sentences "a a a", "b c", "d" against "a a b" and "a c": gains a 2, 1; b 1; c 1."""
    instance = Coverage.of(
        [3, 2, 1], [{0: 3}, {1: 1, 2: 1}, {}], [[2, 1], [1], [1]], constants=(0, 5), max_length=4, min_length=2
    )
    assert score(instance, ()) == ((0, 5), 0, 2)
    assert score(instance, (0,)) == ((3, 5), 3, 0), "the third a is clipped"
    assert score(instance, (1, 2)) == ((2, 5), 3, 0)
    assert score(instance, (0, 1)) == ((5, 5), 5, 1), "one word too long"
    assert score(instance, (2,)) == ((0, 5), 1, 1), "one word too short"
    evaluation = CoverageProblem.of(instance).evaluate((0,))
    assert (evaluation.key, evaluation.violation, evaluation.value) == (Fraction(3, 5), 0, 0.6)
    assert evaluation.feasible


def test_joint_occurrences_need_all_and_bear_no_veto() -> None:
    """Check that "dolphins swim" occurs if both chunks are chosen and the one between them is not."""
    instance = Coverage.of(
        [1] * 4, [{}] * 4, [[5, 1]], constants=(0, 6), joints=(Joint(0, (0, 2), (1,), 1), Joint(0, (3,), (), 2))
    )
    assert [score(instance, selection)[0][0] for selection in ((0,), (0, 2), (0, 1, 2), (3,), (0, 2, 3))] == [
        0, 5, 0, 6, 6,
    ]  # fmt: skip


def test_units_without_their_parents_count_as_violation() -> None:
    instance = Coverage.of([1] * 4, [{}] * 4, [], parents=[-1, 0, 1, -1])
    assert [score(instance, selection)[2] for selection in ((0, 1, 2), (1,), (2,), (1, 2), (0, 2, 3))] == [
        0, 1, 1, 1, 1,
    ]  # fmt: skip


def test_a_cover_lacks_copies_until_every_feature_is_full() -> None:
    instance = Coverage.of(
        [2, 1, 1], [{0: 1}, {1: 2}, {}], [[1], [1, 1], [1]], joints=(Joint(2, (1, 2)),), goal=Sense.MINIMIZE
    )
    assert [score(instance, chosen)[2] for chosen in ((), (0,), (1,), (0, 1), (1, 2), (0, 1, 2))] == [4, 3, 2, 1, 1, 0]
    totals, length, _ = score(instance, (0, 1, 2))
    assert key_of(instance, totals, length) == 4


@pytest.mark.parametrize(
    ("combination", "weights", "expected", "value"),
    [
        (Combination.SUM, (1, 1), Fraction(7, 12), 7 / 12),
        (Combination.SUM, (3, 1), Fraction(5, 8), 5 / 8),
        (Combination.PRODUCT, (1, 1), Fraction(1, 3), 3**-0.5),
        (Combination.PRODUCT, (2, 1), Fraction(2, 9), (2 / 9) ** (1 / 3)),
        (Combination.HARMONIC, (1, 1), Fraction(4, 7), 4 / 7),
        (Combination.HARMONIC, (3, 1), Fraction(8, 13), 8 / 13),
    ],
)
def test_ratios_are_combined(
    combination: Combination, weights: tuple[int, ...], expected: Fraction, value: float
) -> None:
    instance = Coverage.of(
        [1], [{0: 1, 1: 1}], [[2], [1]], slots=[0, 2], constants=(0, 3, 0, 2), weights=weights, combination=combination
    )
    key = key_of(instance, score(instance, (0,))[0], 1)
    assert key == expected
    assert value_of(instance, key) == pytest.approx(value, abs=1e-15)


def test_a_harmonic_mean_with_nothing_in_one_ratio_is_zero() -> None:
    instance = Coverage.of([], [], [], constants=(0, 3, 1, 2), weights=(1, 1), combination=Combination.HARMONIC)
    assert key_of(instance, (0, 3, 1, 2), 0) == 0
    assert key_of(instance, (1, 0, 1, 2), 0) == 0, "a ratio over nothing"
    assert key_of(instance, (1, 3, 1, 2), 0) == Fraction(2, 5)


def test_a_ratio_over_nothing_is_zero() -> None:
    precision = Coverage.of([1, 1], [{0: 1}, {}], [[1]], constants=(0, 0), mass=[[0, 0], [2, 0]])
    problem = CoverageProblem.of(precision)
    assert [problem.evaluate(selection).key for selection in ((), (0,), (1,), (0, 1))] == [
        0,
        Fraction(1, 2),
        0,
        Fraction(1, 2),
    ]
    below = Coverage.of([1], [{0: 1}], [[1]], constants=(0, -1), mass=[[0], [1]])
    assert CoverageProblem.of(below).evaluate((0,)).key == 0


def test_a_mean_of_tiny_or_large_powers_has_a_value() -> None:
    instance = Coverage.of([], [], [], constants=(1, 1000), weights=(200,), combination=Combination.PRODUCT)
    instance = Coverage.of(
        [], [], [], constants=(1, 1000, 1, 1000), weights=(200, 200), combination=Combination.PRODUCT
    )
    key = key_of(instance, (1, 1000, 1, 1000), 0)
    assert key == Fraction(1, 1000) ** 400
    assert value_of(instance, key) == pytest.approx(0.001)
    large = key_of(instance, (1000, 1, 1000, 1), 0)
    assert value_of(instance, large) == pytest.approx(1000)
    assert [value_of(instance, Fraction(key)) for key in (0, 1)] == [0, 1]


@pytest.mark.parametrize(
    ("constants", "weight", "said"),
    [((1, 1000), 1001, "weight of ratio 0"), ((1, 2**40), 400, "digits"), ((2**40, 1), 40, "floating point")],
)
def test_powers_of_any_size_are_refused(constants: tuple[int, int], weight: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Coverage.of([], [], [], constants=constants, weights=(weight,), combination=Combination.PRODUCT)


def test_a_count_beyond_64_bits_is_exact() -> None:
    instance = Coverage.of(
        [1],
        [
            {0: 2**62},
        ][:1],
        [[2**40]],
        constants=(0, 2**60),
        mass=[[2**61], [0]],
    )
    assert score(instance, (0,))[0] == (2**61 + 2**40, 2**60)


@pytest.mark.parametrize("kind", KINDS)
def test_evaluation_agrees_with_a_direct_count(kind: str) -> None:
    """Count copies occurrence by occurrence, and gains copy by copy, as the definition says."""
    for seed in range(25):
        instance = random_coverage(np.random.default_rng(seed), kind=kind, units=5)
        tables = [
            np.diff(instance.level[start:stop]).tolist()
            for start, stop in zip(instance.level_start, instance.level_start[1:], strict=False)
        ]
        singles = [
            (unit, int(instance.unit_feature[entry]), int(instance.unit_count[entry]))
            for unit in range(instance.size)
            for entry in range(instance.unit_start[unit], instance.unit_start[unit + 1])
        ]
        for selection in selections(instance.size):
            copies = [0] * instance.features
            for unit, feature, count in singles:
                copies[feature] += count * (unit in selection)
            for joint in instance.joints:
                active = set(joint.needs) <= set(selection) and not set(joint.vetoes) & set(selection)
                copies[joint.feature] += joint.count * active
            totals = [int(constant) + sum(int(instance.mass[number, unit]) for unit in selection)
                      for number, constant in enumerate(instance.constants)]  # fmt: skip
            for feature, table in enumerate(tables):
                totals[int(instance.slot[feature])] += sum(table[: copies[feature]])
            assert score(instance, reversed(selection))[0] == tuple(totals), (kind, seed, selection)


def test_keys_by_hand() -> None:
    """Check a ratio over one, and over zero."""
    instance = Coverage.of([1], [{0: 1}], [[1]], constants=(0, 1), max_length=1)
    assert key_of(instance, (1, 1), 5) == 1
    assert key_of(instance, (0, 1), 5) == 0
    assert key_of(instance, (1, 0), 5) == 0
