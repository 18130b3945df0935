"""Test `Optima`, which holds all optima of a problem and computes statistics of them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optsum.solvers.objectives.one_ratio import solve_recall

from optsum.coverage.instance import Coverage
from optsum.errors import InputError, OptsumError, UnsupportedError
from optsum.optima.diagram import minimal_sets
from optsum.optima.optima import Optima, UnitNames

families = st.sets(st.frozensets(st.integers(0, 8), max_size=6), min_size=1, max_size=25)
PAPER = [(1, 2, 5, 6), (1, 2, 3)]


def test_the_example_of_the_paper() -> None:
    # Hirao et al. 2017, section 6.2.3.
    optima = Optima.of_sets(PAPER, 7)
    found = optima.agreement({1, 2, 3, 4})
    assert (found.precision, found.recall) == (Fraction(5, 8), Fraction(3, 4))
    assert optima.f_measure({1, 2, 3, 4}) == pytest.approx(0.6818, abs=5e-5)
    assert [Optima.of_sets([o], 7).f_measure({1, 2, 3, 4}) for o in PAPER] == pytest.approx([0.5, 6 / 7])


@pytest.mark.parametrize(
    "wrong",
    [{"sets": each} for each in ([[1.5]], ["01"], [b"ab"], [[-1]], [[True]], [["a"]], [None], [[10**30]], None, "01")]
    + [{"value": each} for each in ("1", None, b"1", [1], float("inf"), float("nan"), True)]
    + [{"bound": each} for each in ("1", float("nan"), [1])]
    + [{"complete": "no"}, {"termination": 5}, {"termination": "xyz"}, {"statistics": 5}],
)  # fmt: skip
def test_sets_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptsumError):
        Optima.of_sets(**{"sets": [[0]], "value": 1, **wrong})


def test_numbers_of_other_types_are_units() -> None:
    optima = Optima.of_sets((each for each in [np.array([2, 0]), {1.0}]), Fraction(1, 2), termination="time_limit")
    assert sorted(optima) == [(0, 2), (1,)]


@pytest.mark.parametrize("wrong", [None, 5, "07", b"0", ["0"], [-1], [True], [1.5], [None], {0: 1}])
def test_selections_that_are_none_are_refused(wrong: Any) -> None:
    optima = Optima.of_sets(PAPER, 7)
    named = replace(optima, names=UnitNames(tuple(range(10, 17))))
    for one in (optima, named):
        for method in (one.agreement, one.f_measure, one.missing):
            with pytest.raises(InputError, match=r"[Uu]nit .*(give a|must be 0)|give a list of|There is no"):
                method(wrong)


@pytest.mark.parametrize("wrong", [-1, "3", None, 1.5, True, float("nan")])
def test_numbers_of_sets_are_checked(wrong: Any) -> None:
    with pytest.raises(InputError, match="The number of sets is"):
        Optima.of_sets(PAPER, 7).diverse(wrong)


def test_a_file_that_cannot_be_written_is_refused_by_a_sentence(tmp_path: Path) -> None:
    optima = Optima.of_sets(PAPER, 7)
    for path in (tmp_path, tmp_path / "no" / "x", "", "a\0b", tmp_path / ("x" * 5000), __file__ + "/x"):
        with pytest.raises(OptsumError, match=r"(?s)The file of the optima .* cannot be written: .*\."):
            optima.save(path)
    assert not [*tmp_path.iterdir()]


@given(families)
def test_a_list_of_sets_comes_back(family: set[frozenset[int]]) -> None:
    optima = Optima.of_sets([tuple(chosen) for chosen in family], 3)
    listed = list(optima)
    assert sorted(listed) == sorted(tuple(sorted(chosen)) for chosen in family)
    assert optima.count == len(family)
    assert list(optima) == listed


@given(families, st.frozensets(st.integers(0, 8), max_size=5))
def test_sums_over_the_diagram_equal_sums_over_the_list(family: set[frozenset[int]], other: frozenset[int]) -> None:
    optima = Optima.of_sets([tuple(chosen) for chosen in family], 3)
    n = len(family)
    held = Counter(unit for chosen in family for unit in chosen)
    assert optima.share() == {unit: Fraction(count, n) for unit, count in held.items()}
    assert optima.always == tuple(sorted(unit for unit, count in held.items() if count == n))
    assert optima.missing(range(9)) == tuple(unit for unit in range(9) if unit not in held)
    found = optima.agreement(other)

    def mean(ratios: list[tuple[int, int]]) -> Fraction:
        return sum((Fraction(a, b) if b else Fraction(0) for a, b in ratios), Fraction(0)) / n

    if other and frozenset() not in family:
        assert found.precision == mean([(len(o & other), len(other)) for o in family])
        assert found.recall == mean([(len(o & other), len(o)) for o in family])
        assert found.jaccard == mean([(len(o & other), len(o | other)) for o in family])
    if n > 1:
        two = list(combinations(family, 2))
        assert optima.jaccard() == sum(Fraction(len(a & b), len(a | b)) if a | b else 1 for a, b in two) / len(two)


@given(families)
def test_minimal_sets_contain_no_other(family: set[frozenset[int]]) -> None:
    optima = Optima.of_sets([tuple(chosen) for chosen in family], 3).minimal()
    assert set(map(frozenset, optima)) == {a for a in family if not any(b < a for b in family)}


def test_minimal_optima_of_the_engine() -> None:
    # The engine's diagram decides units in an order of its own.
    rng = random.Random(8)  # noqa: S311
    rows = [{rng.randrange(12): 1 for _ in range(rng.randint(0, 3))} for _ in range(14)]
    instance = Coverage.of([rng.randint(1, 4) for _ in rows], rows, [[1, 1]] * 12, constants=(0, 24), max_length=20)
    optima = solve_recall(instance, every=True)
    sets = list(map(frozenset, optima))
    assert len(sets) > 20
    assert set(map(frozenset, optima.minimal())) == {a for a in sets if not any(b < a for b in sets)}


def test_samples_are_uniform_and_repeatable() -> None:
    family = [tuple(c) for size in (1, 2, 3) for c in combinations(range(5), size)]
    optima = Optima.of_sets(family, 1)
    drawn = optima.sample(25_000, seed=4)
    assert drawn == optima.sample(25_000, seed=4)
    assert drawn[:50] != optima.sample(50, seed=5)
    counts = Counter(drawn)
    assert set(counts) == set(family)
    expected = 25_000 / len(family)
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < 60  # 24 degrees of freedom: beyond 60 once in 10,000 seeds


def huge() -> Optima:
    """Return 2^80 sets: one unit with any of 80 that add nothing."""
    instance = Coverage.of([1] * 81, [{0: 1}, *[{}] * 80], [[1]], constants=(0, 1), max_length=81)
    return solve_recall(instance, every=True)


def test_sums_of_any_size() -> None:
    optima = huge()
    assert optima.count == 2**80
    assert optima.always == (0,)
    assert optima.share()[17] == Fraction(1, 2)
    # |O and S| = 1 + Binomial(1, 1/2) for S = {0, 17}.
    assert optima.agreement({0, 17}).precision == Fraction(3, 4)
    assert len(set(optima.sample(20, seed=0))) == 20
    assert next(iter(optima)) == tuple(range(81))
    assert list(optima.minimal()) == [(0,)]
    assert 1 / 3 < optima.jaccard() < 0.36


def test_saving_and_loading(tmp_path: Path) -> None:
    stopped = Optima.of_sets(PAPER, 7, 8, complete=False, termination="time_limit")
    for optima in (stopped, replace(stopped, bound=None), huge()):
        optima.save(tmp_path / "optima.npz")
        again = Optima.load(tmp_path / "optima.npz")
        assert (again.count, again.value, again.bound) == (optima.count, optima.value, optima.bound)
        assert (again.complete, again.termination) == (optima.complete, optima.termination)
        assert again.statistics == optima.statistics
        assert [a for a, _ in zip(again, range(50), strict=False)] == [
            a for a, _ in zip(optima, range(50), strict=False)
        ]


@pytest.mark.parametrize(
    ("value", "bound"), [(0.5, None), (0.1, inf), (3, 10**40), (Fraction(1, 3), Fraction(2, 3)), (-2, 1e-300)]
)
def test_every_kind_of_value_is_saved(value: Any, bound: Any, tmp_path: Path) -> None:
    optima = Optima.of_sets([[0, 1]], value, bound)
    optima.save(tmp_path / "optima.npz")
    again = Optima.load(tmp_path / "optima.npz")
    assert (again.value, again.bound, type(again.value)) == (value, optima.bound, type(value))


def test_a_file_of_another_kind_is_named_in_the_error(tmp_path: Path) -> None:
    strange = tmp_path / "strange.npz"
    strange.write_text("no archive")
    with pytest.raises(InputError, match=r"strange\.npz does not hold optima"):
        Optima.load(strange)
    np.savez(strange, nodes=np.zeros(3))
    with pytest.raises(InputError, match=r"strange\.npz does not hold optima"):
        Optima.load(strange)


def test_no_optimum_at_all() -> None:
    nothing = Optima.of_sets([], 0)
    assert (nothing.count, list(nothing), bool(nothing), nothing.always) == (0, [], False, ())
    for ask in (lambda: nothing.sample(1), lambda: nothing.agreement({1}), nothing.jaccard):
        with pytest.raises(InputError, match="no optimum"):
            ask()


def test_memory_stays_bounded() -> None:
    # All pairs of 20 units need few nodes in any order, but more than are allowed.
    diagram = Optima.of_sets([tuple(p) for p in combinations(range(20), 2)], 1).diagram
    with pytest.raises(UnsupportedError, match="more than 10 nodes: take a random sample"):
        minimal_sets(diagram, max_nodes=10)
