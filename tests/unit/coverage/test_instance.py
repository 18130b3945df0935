"""Test the normal form: its construction, its checks, and its properties."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.coverage.instance import (
    NO_LIMIT,
    Combination,
    Coverage,
    Joint,
    Sense,
    coverage_of_json,
    decisions,
    grouped,
    json_of_coverage,
    pack,
    packed_rows,
)
from optsum.errors import InputError, OptionError
from optsum.testing import KINDS, random_coverage


def tiny(**others: Any) -> Coverage:
    """Return an instance of two units and two features, the second of which gains 2, then 1."""
    return Coverage.of([3, 2], [{0: 1, 1: 2}, {1: 1}], [[1], [2, 1]], **{"constants": (0, 4), **others})


def array(*values: int) -> Any:
    return np.array(values, np.int64)


def test_pack_keeps_rows_apart() -> None:
    starts, values = pack([[3, 1], [], [2]])
    assert starts.tolist() == [0, 2, 2, 3]
    assert values.tolist() == [3, 1, 2]
    assert packed_rows(starts).tolist() == [0, 0, 2]
    starts, values = pack([])
    assert starts.tolist() == [0]
    assert values.tolist() == []


def test_entries_are_grouped_by_their_owners_in_their_order() -> None:
    start, order = grouped(np.array([2, 0, 2, 0]), 4)
    assert start.tolist() == [0, 2, 2, 4, 4]
    assert order.tolist() == [1, 3, 0, 2]


def test_decisions_are_1_at_the_selection() -> None:
    assert decisions(4, (3, 1)).tolist() == [0, 1, 0, 1]
    assert decisions(2, ()).tolist() == [0, 0]


def test_levels_are_sums_of_gains() -> None:
    instance = tiny()
    assert instance.level_start.tolist() == [0, 2, 5]
    assert instance.level.tolist() == [0, 1, 0, 2, 3]
    assert instance.unit_start.tolist() == [0, 2, 3]
    assert instance.unit_count.tolist() == [1, 2, 1]
    assert (instance.size, instance.features, instance.ratios) == (2, 2, 1)
    assert all(getattr(instance, name).dtype == np.int64 for name in ("lengths", "level", "mass", "constants"))


def test_an_instance_may_be_empty() -> None:
    empty = Coverage.of([], [], [])
    assert (empty.size, empty.features) == (0, 0)
    assert empty.max_length == NO_LIMIT


WRONG: dict[str, dict[str, Any]] = {
    "a length is negative": {"lengths": array(3, -2)},
    "beyond NO_LIMIT": {"lengths": array(3, NO_LIMIT)},
    "unit_start does not divide the features among the units": {"unit_start": array(0, 3)},
    "unit_start does not divide": {"unit_start": array(0, 2, 4)},
    "unit_start": {"unit_start": array(0, 4, 3)},
    "entries name a feature that does not exist": {"unit_feature": array(0, 1, 2)},
    "name a feature that does not exist": {"unit_feature": array(0, -1, 1)},
    "each entry needs one count": {"unit_count": array(1, 2)},
    "counts of occurrences must be positive": {"unit_count": array(1, 0, 1)},
    "level_start does not divide the levels among the features": {"level_start": array(0, 2, 4)},
    "level_start": {"level_start": array(0, 5)},
    "a feature has no level 0": {"level_start": array(0, 0, 5)},
    "a feature has a gain without a copy": {"level": array(1, 1, 0, 2, 3)},
    "a copy of a feature gains more than the copy before": {"level": array(0, 1, 0, 1, 3)},
    "a gain is negative": {"level": array(0, 1, 0, 2, 1)},
    "each ratio needs two totals and a positive weight": {"weights": (1, 1), "combination": Combination.SUM},
    "a positive weight": {"weights": (0,)},
    "needs two totals": {"weights": ()},
    "the combination RATIO has several weights": {
        "weights": (1, 1),
        "constants": array(0, 4, 0, 4),
        "mass": np.zeros((4, 2), np.int64),
    },
    "a feature feeds a total that does not exist": {"slot": array(0, 2)},
    "mass must have a row per total and a column per unit": {"mass": np.zeros((2, 3), np.int64)},
    "a numerator is negative": {"constants": array(-1, 4)},
    "numerator is negative": {"mass": np.array([[0, -1], [0, 0]])},
    "there must be no parent, or one": {"parents": array(-1)},
    "a parent must come before its children": {"parents": array(1, -1)},
    "parent must come before": {"parents": array(-1, -2)},
    "a joint occurrence has no needed unit": {"joints": (Joint(0, ()),)},
    "a joint occurrence has no copy": {"joints": (Joint(0, (0, 1), (), 0),)},
    "a joint occurrence names a unit that does not exist": {"joints": (Joint(0, (0, 2)),)},
    "names a unit that does not exist": {"joints": (Joint(0, (0,), (-1,)),)},
    "a joint occurrence names a feature that does not exist": {"joints": (Joint(2, (0, 1)),)},
    "the length is minimized and also limited": {"goal": Sense.MINIMIZE, "max_length": 5},
    "is minimized and also limited": {"goal": Sense.MINIMIZE, "min_length": 5},
    "a length limit is negative": {"max_length": -1, "min_length": -2},
    "the minimum length is above the maximum": {"max_length": 3, "min_length": 4},
}


@pytest.mark.parametrize("reason", WRONG)
def test_contradictions_are_refused_with_their_reason(reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        replace(tiny(), **WRONG[reason])


def test_generators_and_lists_that_change_lose_no_constraint() -> None:
    row, joint = optsum.Row((0, 1), (1, 1), high=1), Joint(0, iter((0, 1)), [])  # type: ignore[arg-type]
    for given in ((one for one in (row,)), [row]):
        instance = tiny(rows=given)
        if isinstance(given, list):
            given.clear()
        assert instance.rows == (row,) == instance.with_rows(iter([row])).rows
    joined = tiny(joints=filter(None, [joint]), ceilings=iter(()))
    assert (joined.joints, joined.ceilings) == ((Joint(0, (0, 1)),), ())
    exact = tiny(joints=[Joint(1.0, [0.0, np.uint8(1)], range(0), 2.0)])  # type: ignore[list-item, arg-type]
    assert exact.joints == (Joint(1, (0, 1), range(0), 2),)
    assert {type(number) for number in (exact.joints[0].feature, exact.joints[0].count, *exact.joints[0].needs)} == {
        int
    }


@pytest.mark.parametrize(
    "given",
    [
        {"rows": [((0, 1), (1, 1))]},
        {"rows": None},
        {"rows": optsum.Row((0,), (1,))},
        {"joints": [(0, (1, 2))]},
        {"joints": [Joint(0, (0.5, 1))]},  # type: ignore[arg-type]
        {"joints": [Joint(0, None)]},  # type: ignore[arg-type]
        {"ceilings": ["rouge-l"]},
        {"goal": "minimize"},
        {"combination": "sum"},
    ],
)
def test_fields_of_other_types_are_refused(given: Any) -> None:
    with pytest.raises(InputError, match=f"{next(iter(given))}|joint 0"):
        tiny(**given)


def test_what_a_normal_form_lacks_is_named() -> None:
    data = json.loads(json_of_coverage(tiny()))
    del data["mass"]
    with pytest.raises(InputError, match="it has no 'mass'"):
        coverage_of_json(data)
    with pytest.raises(InputError, match="its format is not"):
        coverage_of_json([1])  # type: ignore[arg-type]


def test_a_recall_is_recognised() -> None:
    assert tiny().constant_denominator
    assert not tiny(constants=(0, 0)).constant_denominator, "a ratio over nothing is 0, whatever T is"
    assert not tiny(mass=[[0, 0], [0, 1]]).constant_denominator
    assert tiny(mass=[[0, 1], [0, 0]]).constant_denominator
    assert not tiny(slots=[0, 1]).constant_denominator
    assert not tiny(goal=Sense.MINIMIZE).constant_denominator
    assert not tiny(combination=Combination.PRODUCT).constant_denominator


def test_one_varying_ratio_is_recognised() -> None:
    assert tiny(mass=[[0, 0], [0, 1]]).single_ratio
    assert not tiny().single_ratio, "a recall is something simpler"
    assert tiny(slots=[1, 0]).single_ratio, "a feature below that counts once"
    assert not tiny(slots=[0, 1]).single_ratio, "a feature below that counts twice"
    assert not tiny(slots=[1, 0], joints=(Joint(0, (0, 1)),)).single_ratio
    assert not tiny(slots=[1, 0], constants=(0, -1)).single_ratio
    assert tiny(constants=(0, -1), mass=[[0, 0], [2, 2]]).single_ratio


def test_singletons_have_neither_parents_nor_joints() -> None:
    assert tiny().singletons
    assert tiny(parents=[-1, -1]).singletons
    assert not tiny(parents=[-1, 0]).singletons
    assert not tiny(joints=(Joint(0, (0, 1)),)).singletons


def test_closure_follows_parents_to_the_root() -> None:
    forest = Coverage.of([1] * 5, [{}] * 5, [], parents=[-1, 0, 1, -1, 3])
    assert forest.ancestors(2) == (1, 0)
    assert forest.ancestors(3) == ()
    assert forest.closure((2, 4)) == (0, 1, 2, 3, 4)
    assert forest.closure(()) == ()
    assert tiny().closure((1,)) == (1,)


def test_a_seam_joins_two_units_across_all_between() -> None:
    assert Joint(0, (1, 4), range(2, 4)).seam
    assert not Joint(0, (1, 4), (2,)).seam
    assert not Joint(0, (1, 2, 4), range(2, 4)).seam


@pytest.mark.parametrize("kind", KINDS)
def test_random_instances_hold_every_corner(kind: str) -> None:
    made = [random_coverage(np.random.default_rng(seed), kind=kind) for seed in range(150)]
    assert {0, 7} <= {instance.size for instance in made}
    assert any(instance.features == 0 for instance in made)
    assert any((instance.lengths == 0).any() for instance in made)
    assert any((instance.lengths > 0).any() for instance in made)
    with_limits = [instance for instance in made if instance.goal is Sense.MAXIMIZE]
    assert (kind == "cover") == (not with_limits)
    if kind in {"window", "precision", "f1", "set", "sum", "product", "huge"}:
        assert any(instance.min_length > 0 for instance in with_limits)
    if kind in {"compressive", "sum", "product"}:
        assert any((instance.parents >= 0).any() for instance in made)
        assert any(joint.vetoes for instance in made for joint in instance.joints)


def test_random_instances_are_made_again_from_their_seed() -> None:
    for kind in KINDS:
        left, right = (random_coverage(np.random.default_rng(5), kind=kind) for _ in range(2))
        assert left.level.tolist() == right.level.tolist()
        assert left.lengths.tolist() == right.lengths.tolist()
        assert left.joints == right.joints
    with pytest.raises(OptionError, match="kind of instance 'recal'"):
        random_coverage(np.random.default_rng(0), kind="recal")


@pytest.mark.parametrize(
    ("gains", "occurrences", "lengths", "chosen"),
    [
        ([[3, 2, 0]], [{0: 1}] * 3, [1, 2, 3], (0, 1)),
        ([[5], [0]], [{0: 1}, {1: 1}], [1, 4], (0,)),
        ([[5], [0, 0]], [{0: 1}, {}], [1, 4], (0,)),
        ([[0]], [{0: 1}], [1], ()),
    ],
)
def test_copies_without_gain_are_not_needed(
    gains: list[list[int]], occurrences: list[dict[int, int]], lengths: list[int], chosen: tuple[int, ...]
) -> None:
    instance = Coverage.of(lengths, occurrences, gains, goal=Sense.MINIMIZE)
    for strategy in ("auto", "exhaustive", "milp"):
        result = optsum.search(optsum.CoverageProblem.of(instance, name="p"), strategy)
        assert (result.status, result.selection) == ("optimal", chosen)
    with pytest.raises(InputError, match="leave their levels out"):
        replace(Coverage.of([1, 1], [{0: 1}, {0: 1}], [[2, 0]]), goal=Sense.MINIMIZE)
