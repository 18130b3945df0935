"""Compare the search of few units with brute force; test its limits and the instances that it leaves to others."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import count, islice

import numpy as np
import pytest
from optsum.solvers import few_units
from optsum.solvers.few_units import Found, search_few_units

from optsum import enumerate_optima, search, solve
from optsum.contracts.result import Status
from optsum.corpus.topic import as_topic
from optsum.coverage.instance import Combination, Coverage
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem
from optsum.running.one_problem import build, setup_of
from optsum.system.clock import Limits, Stopped, Termination
from optsum.testing import brute_force, random_coverage


def searched(instance: Coverage, **options: int) -> Found | None:
    return search_few_units(instance, lambda: None, **options)


def assert_same_as_brute_force(instance: Coverage, name: object) -> int:
    """Compare with brute force, and return the number of optima, or 0 for an instance that is not searched here."""
    found = searched(instance)
    if found is None:
        return 0
    truth = brute_force(CoverageProblem.of(instance))
    assert found.done, name
    if truth.best is None:
        assert found.selection is None, name
    else:
        assert found.selection in truth.optima, name
        assert found.key == truth.best, name
    return max(1, len(truth.optima))


def two_of_f1(rng: np.random.Generator, *, distinct: bool, most: int = 0) -> Coverage:
    """Return a sum of two F1s with varying denominators, as of ROUGE-1 + ROUGE-2.

    `most` limits the number of chosen units, and all features then count once; with 0 their length is limited.
    """
    units, features = range(10), 8
    copies: list[dict[int, int]] = [{} for _ in units]
    for row in copies:
        for feature in rng.permutation(2 * features)[: int(rng.integers(2, 8))].tolist():
            row[feature] = 1 if distinct else int(rng.integers(1, 3))
    gains = [[2] * (1 if most and distinct else int(rng.integers(1, 4))) for _ in range(2 * features)]
    slots = [0] * features + [2] * features
    mass = rng.integers(0, 6, (4, len(units)))
    mass[0::2] = 0
    if distinct:  # denominators count features once, including those of the references
        copies = [{**row, **{2 * features + f: 1 for f in row}, 4 * features + u: 1} for u, row in enumerate(copies)]
        gains += [[1]] * (2 * features) + [[1]] * len(units)
        slots += [1] * features + [3] * features + [1 + 2 * (u % 2) for u in units]
        mass[:] = 0
    made = Coverage.of(
        rng.integers(1, 9, len(units)).tolist(), copies, gains, slots=slots, mass=mass.tolist(),
        constants=(0, int(rng.integers(5, 20)), 0, int(rng.integers(5, 20))), weights=(1, int(rng.integers(1, 3))),
        combination=Combination.SUM, max_length=int(rng.integers(4, 40)), min_length=int(rng.integers(0, 4)),
    )  # fmt: skip
    ones, low = np.ones(len(units), np.int64), min(made.min_length, most)
    return replace(made, lengths=ones, weights=(1, 1), min_length=low, max_length=most) if most else made


@pytest.mark.parametrize("distinct", [False, True])
def test_two_denominators_that_vary(distinct: bool) -> None:
    rng = np.random.default_rng(0)
    assert all(assert_same_as_brute_force(two_of_f1(rng, distinct=distinct), number) for number in range(10))


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_at_most_three_units_need_no_nodes_but_for_ties(
    most: int, distinct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, tied, others = np.random.default_rng(most), 0, few_units.advance
    asked: list[object] = []
    monkeypatch.setattr(few_units, "advance", lambda *given: asked.append(0) or others(*given))
    for number in range(12):
        instance, before = two_of_f1(rng, distinct=distinct, most=most), len(asked)
        optima = assert_same_as_brute_force(instance, number)
        assert optima
        assert (len(asked) > before) == (optima > 1), number
        tied += optima > 1
    assert tied < 7
    assert tied or not distinct


@pytest.mark.parametrize("metric", ["rouge-l", "rouge-1+rouge-2+rouge-l", "rouge-l+rouge-1+rougeL"])
def test_at_most_three_units_of_common_subsequences(metric: str) -> None:
    rng = np.random.default_rng(7)
    for number in range(30):
        texts = [[" ".join(rng.choice(list("abcdefg"), size)) for size in rng.integers(1, 8, 6)] for _ in range(2)]
        document = [*texts[0], " ".join(texts[0][:2]), "a b a b a b"]
        topic = {"id": str(number), "documents": [document], "references": [texts[1][:3]]}
        options = {"metric": metric, "measure": "f1", "length_unit": "sentences", "max_length": 3}
        found = solve(topic, strategy="branch-and-bound", **options)
        truth = solve(topic, strategy="exhaustive", **options)
        assert found.status is truth.status is Status.OPTIMAL
        assert found.objective_exact == truth.objective_exact, number


@pytest.mark.parametrize("references", [1, 12])
def test_features_of_many_units_and_of_few_add_up(references: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table holds frequent n-grams as bits, of at most 16 contributions, and lists the rare ones."""
    rng, asked = np.random.default_rng(references), list[object]()
    others = few_units.advance
    solve("A cat sat.", "A cat.", max_length=3)  # loads other modules, which must not import the double
    monkeypatch.setattr(few_units, "advance", lambda *given: asked.append(0) or others(*given))
    words = [*"abcdef"] * 8 + [f"rare{number}" for number in range(60)]
    options = {"metric": "rouge-1+rouge-2", "measure": "f1", "length_unit": "sentences", "max_length": 3}
    setup = setup_of(resolve({**options, "counts": "set"}))
    for number in range(4):
        made = [
            [" ".join(rng.choice(words, size)) for size in rng.integers(3, 9, count)] for count in (150, references)
        ]
        document, summaries = made
        for unit in range(3):  # three good sentences with a rare word
            document[unit] = " ".join([*summaries[0].split()[unit::3], "shared"])
        topic = {"id": str(number), "documents": [document], "references": [[text] for text in summaries]}
        instance = build(as_topic(topic), setup).problem.coverage
        before, found = len(asked), searched(instance)
        truth = enumerate_optima(CoverageProblem.of(instance), strategy="exhaustive")
        assert found is not None
        assert (found.done, found.key) == (True, Fraction(truth.result.objective_exact or "")), number
        assert (len(asked) > before) == (truth.count > 1), number


def test_totals_that_overflow_their_part_of_a_number_are_searched_otherwise() -> None:
    gains, slots = [[21846]] * 3 + [[100], [1]], [0, 0, 0, 0, 1]
    copies = [{0: 1, 1: 1, 2: 1, 4: 1}, {3: 1, 4: 1}]
    assert assert_same_as_brute_force(
        Coverage.of([1, 1], copies, gains, slots=slots, constants=(0, 400), max_length=1), "the first total"
    )
    rng = np.random.default_rng(3)
    for number in range(40):
        rows = [{int(one): 1 for one in rng.choice(12, 7, replace=False)} for _ in range(6)]
        gains = [[int(gain)] for gain in rng.integers(1, 2**15, 12)]
        instance = Coverage.of(
            [1] * 6, rows, gains, slots=[0, 0, 0, 2, 2, 2, 1, 1, 1, 3, 3, 3], constants=(0, 50, 0, 60), weights=(1, 1),
            combination=Combination.SUM, max_length=3,
        )  # fmt: skip
        assert_same_as_brute_force(instance, number)


def test_units_without_room_in_the_table_are_searched_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    instances = [two_of_f1(rng, distinct=True, most=3) for _ in range(20)]
    found = [searched(instance) for instance in instances]
    monkeypatch.setattr(few_units, "_TABLE_WORK", 10)
    assert [(one.key, one.done) for one in map(searched, instances) if one] == [(one.key, True) for one in found if one]
    large = replace(instances[0], constants=np.add(instances[0].constants, [0, 2**15, 0, 0]))
    assert assert_same_as_brute_force(large, "large")


def hard(units: int = 40) -> Coverage:
    """Return an instance of recall with a loose bound."""
    copies = [{(7 * unit + 11 * step) % 30: 1 + unit % 2 for step in range(5)} for unit in range(units)]
    lengths = [5 + unit * unit % 7 for unit in range(units)]
    return Coverage.of(lengths, copies, [[3, 2, 1]] * 30, constants=(0, 180), max_length=60)


def test_an_unfinished_search_proves_nothing() -> None:
    found = searched(hard(), work=2_000)
    assert found is not None
    assert found.selection is not None
    assert not found.done
    result = search(CoverageProblem.of(hard()), "branch-and-bound")  # continues with another search
    assert result.status is Status.OPTIMAL
    assert result.objective is not None
    assert Fraction(result.objective_exact) >= found.key


def sum_of_f1s(fitting: int, units: int = 60) -> Coverage:
    """Return a sum of two F1s with a loose bound, where `fitting` units fit."""
    copies = [
        {
            **{(7 * unit + 11 * step) % 30: 1 for step in range(4)},
            **{30 + (5 * unit + 3 * step) % 40: 1 for step in range(4)},
        }
        for unit in range(units)
    ]
    mass = [[0] * units, [6 + unit % 3 for unit in range(units)], [0] * units, [5 + unit % 4 for unit in range(units)]]
    return Coverage.of(
        [1] * units, copies, [[2]] * 70, slots=[0] * 30 + [2] * 40, mass=mass, constants=(0, 30, 0, 40), weights=(1, 1),
        combination=Combination.SUM, max_length=fitting,
    )  # fmt: skip


def test_sums_of_few_units_are_given_more_work(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (searched(sum_of_f1s(fitting), work=10**9) for fitting in (4, 8))
    assert few is not None
    assert many is not None
    assert few.done
    assert many.nodes > few.nodes
    monkeypatch.setattr(few_units, "_WORK", dict.fromkeys(few_units._WORK, 20_000))
    few, many = (searched(sum_of_f1s(fitting)) for fitting in (4, 8))
    assert few is not None
    assert many is not None
    assert (few.done, many.done) == (True, False)


def test_the_answer_does_not_depend_on_the_strides() -> None:
    whole = searched(hard(20), work=10**9)
    assert whole is not None
    assert whole.done
    nodes = [found.nodes for limit in (1, 7, 100) if (found := searched(hard(20), node_limit=limit, work=10**9))]
    assert nodes == [1, 7, 100]
    again = searched(hard(20), node_limit=whole.nodes + 1, work=10**9)
    assert again is not None
    assert (again.selection, again.done) == (whole.selection, True)


def test_a_limit_of_nodes_ends_the_run() -> None:
    result = search(CoverageProblem.of(hard()), "branch-and-bound", Limits(nodes=5))
    assert (result.status, result.termination, result.nodes) == (Status.FEASIBLE, Termination.NODE_LIMIT, 5)


def test_the_search_checks_whether_to_stop() -> None:
    asked = count()
    assert search_few_units(hard(), lambda: next(asked), work=10**7) is not None
    assert next(asked) > 2


def test_instances_that_need_another_bound_are_left_to_others() -> None:
    plain = hard(8)
    assert searched(plain) is not None
    assert searched(replace(plain, combination=Combination.PRODUCT)) is None
    assert searched(replace(plain, parents=np.array([-1, 0, 0, 0, 0, 0, 0, 0]))) is None
    long = replace(hard(), max_length=10**6)
    assert searched(long) is None  # recall of many units has a better search
    rng = np.random.default_rng(5)
    assert all(searched(random_coverage(rng, kind=kind)) is None for kind in ("cover", "product") for _ in range(5))


def test_lengths_are_kept_exactly() -> None:
    rng = np.random.default_rng(11)
    windows = (random_coverage(rng, kind="window", units=8) for _ in count())
    for instance in islice((one for one in windows if one.size == 8), 60):
        found = searched(instance)
        assert found is not None
        if found.selection is not None:
            length = int(instance.lengths[list(found.selection)].sum())
            assert instance.min_length <= length <= instance.max_length


def test_sums_that_wrap_are_left_to_others() -> None:
    large = Coverage.of([1, 1], [{0: 1}, {}], [[2**61]], constants=(0, 1), mass=[[2**61, 5], [0, 0]], max_length=1)
    assert searched(large) is None


def test_numbers_beyond_64_bits_do_no_harm() -> None:
    plain = Coverage.of([1, 1], [{0: 1}, {}], [[1]], constants=(0, 1), weights=(2**70,), max_length=1)
    assert searched(plain) is None
    endless = searched(Coverage.of([1, 2], [{0: 1}, {}], [[1]], constants=(0, 1), max_length=2**70))
    assert endless is not None
    assert (endless.selection, endless.done) == ((0,), True)


def test_too_many_units_are_not_searched() -> None:
    n = 50_000
    many = Coverage.of([1] * n, [{}] * n, [], mass=[list(range(n)), [0] * n], constants=(0, 10), max_length=1)
    assert searched(many) is None
    some = Coverage.of([1] * 900, [{}] * 900, [], mass=[list(range(900)), [0] * 900], constants=(0, 10), max_length=3)
    found = searched(some)
    assert found is not None
    assert (found.selection, found.done) == ((897, 898, 899), True)


def test_a_ratio_over_nothing_is_left_to_others() -> None:
    assert searched(Coverage.of([1] * 8, [{0: 1}] * 8, [[1]], constants=(0, 0))) is None


def test_the_selection_is_kept_when_the_search_is_stopped() -> None:
    def stop() -> None:
        raise Stopped(Termination.INTERRUPTED)

    found = search_few_units(hard(), stop, work=10**7)
    assert found is not None
    assert found.stopped is not None
    assert found.nodes > 0
    assert found.selection

    asked = count()
    result = search(CoverageProblem.of(hard()), "branch-and-bound", on_progress=lambda _: next(asked) < 2)
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.INTERRUPTED)
    assert result.nodes > 0
