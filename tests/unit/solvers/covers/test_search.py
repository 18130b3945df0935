"""Compare branch and bound for covers and all exact strategies with brute force; test large instances and limits."""

from __future__ import annotations

import random
import sys
from functools import cached_property
from time import process_time

import numpy as np
import pytest
from cover_instances import CoverStrategy, brute_force, cover_of, random_clauses, random_lengths
from optsum.solvers.objectives.covers import Relaxer, enumerate_covers, minimum_covers, quick_cover, solve_cover

from optsum.contracts.result import Status
from optsum.contracts.strategy import Run
from optsum.coverage.instance import Coverage, Joint, Sense
from optsum.errors import UnsupportedError
from optsum.problem.problem import CoverageProblem
from optsum.program.model import LinearModel, canonical, clauses_of, coverage_model, interchangeable, members
from optsum.running.search import search
from optsum.system.clock import Deadline, Limits, Stopped, Termination


@pytest.mark.parametrize("seed", range(4))
def test_all_exact_strategies_equal_brute_force(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    for number in range(100):
        units = rng.randint(1, 12)
        lengths = [1] * units if number % 2 else random_lengths(rng, units)
        clauses = random_clauses(rng, units=units, clauses=rng.randint(1, 8))
        least, covers = brute_force(clauses, lengths)
        problem = CoverageProblem.of(cover_of(clauses, lengths))

        optima = enumerate_covers(problem.coverage)
        assert (optima.value, optima.bound, optima.complete) == (least, least, True), (seed, number)
        assert (optima.count, sorted(optima)) == (len(covers), covers), (seed, number)

        for strategy in (CoverStrategy(), "milp", "exhaustive"):
            result = search(problem, strategy)
            assert (result.status, result.objective) == (Status.OPTIMAL, least), (seed, number, strategy)
            assert result.selection in covers, (seed, number, strategy)
            if strategy == "exhaustive":
                # Exhaustive search does not count the empty selection, which is a cover only of nothing.
                assert result.statistics["best_selections"] == len(covers), (seed, number)


class General(CoverageProblem):
    """A cover solved by the program of the general normal form."""

    @cached_property
    def linear_model(self) -> LinearModel:
        return coverage_model(self.instance)


def test_the_milp_model_is_right_without_the_tighter_rows_too() -> None:
    rng = random.Random(5)  # noqa: S311
    for _ in range(40):
        clauses = random_clauses(rng, units=9, clauses=6)
        lengths = random_lengths(rng, 9)
        instance = cover_of(clauses, lengths)
        general, tight = search(General.of(instance), "milp"), search(CoverageProblem.of(instance), "milp")
        assert general.objective == tight.objective == brute_force(clauses, lengths)[0]
        bounds = General.of(instance).root_bound(), CoverageProblem.of(instance).root_bound()
        assert None not in bounds
        assert bounds[0] <= bounds[1] <= general.objective  # type: ignore[operator]


def test_counts_beyond_any_list() -> None:
    # A chain of overlapping neighbours: its parts depend on each other, and its covers are too many to list.
    clauses = [[(2 * i,), (2 * i + 1,)] for i in range(200)] + [[(i, i + 2), (i + 1, i + 3)] for i in range(0, 396, 4)]
    optima = enumerate_covers(cover_of(clauses, [1] * 400))
    # 99 blocks of two clauses, each met by either of two alternatives; two clauses remain.
    assert (optima.value, optima.count) == (200, 2**99 * 2**2)
    assert len(set(optima.sample(20))) == 20
    assert all(len(chosen) == 200 for chosen in optima.sample(20))


def test_units_without_length_multiply_the_minimum_covers() -> None:
    clauses = [[(0,)], [(1, 2), (3,)]]
    lengths = [1, 0, 1, 1, 0]
    least, covers = brute_force(clauses, lengths)
    optima = enumerate_covers(cover_of(clauses, lengths))
    assert (optima.value, sorted(optima)) == (least, covers)
    assert (0, 1, 4, 3) not in covers
    assert (0, 3) in covers
    assert (0, 1, 3, 4) in covers


def test_an_uncoverable_instance_is_infeasible() -> None:
    nothing = Coverage.of([1, 1], [{0: 1}, {}], [[1], [1]], goal=Sense.MINIMIZE)
    assert enumerate_covers(nothing).count == 0
    assert search(CoverageProblem.of(nothing), CoverStrategy()).status is Status.INFEASIBLE
    assert search(CoverageProblem.of(nothing), "milp").status is Status.INFEASIBLE


def test_with_nothing_to_cover_the_empty_selection_is_optimal() -> None:
    empty = Coverage.of([1, 1], [{}, {}], [], goal=Sense.MINIMIZE)
    assert list(enumerate_covers(empty)) == [()]
    assert search(CoverageProblem.of(empty), CoverStrategy()).selection == ()


@pytest.mark.parametrize(
    "instance",
    [
        Coverage.of([1], [{0: 1}], [[1]], max_length=1),
        Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1, 1]], goal=Sense.MINIMIZE),
        Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1]], parents=[-1, 0], goal=Sense.MINIMIZE),
        Coverage.of([1, 1], [{}, {}], [[1]], joints=(Joint(0, (0,), vetoes=(1,)),), goal=Sense.MINIMIZE),
    ],
    ids=["maximum", "two copies", "parents", "vetoes"],
)
def test_problems_that_are_no_covers_are_refused(instance: Coverage) -> None:
    with pytest.raises(UnsupportedError, match="only minimum covers"):
        enumerate_covers(instance)


def synthetic(rng: random.Random, sources: int, abstract: int) -> Coverage:
    """Return a cover of random clauses with 1 to 8 alternatives of 1 to 4 sentences each."""
    return cover_of(random_clauses(rng, units=sources, clauses=abstract, alternatives=8), [1] * sources)


@pytest.mark.parametrize("seed", range(3))
def test_a_large_topic_is_proven_in_five_seconds(seed: int) -> None:
    instance = synthetic(random.Random(seed), 1000, 60)  # noqa: S311
    problem = CoverageProblem.of(instance)
    began = process_time()
    one = search(problem, CoverStrategy())
    assert process_time() - began < 5
    began = process_time()
    every = enumerate_covers(instance)
    assert process_time() - began < 5
    began = process_time()
    milp = search(problem, "milp")
    assert process_time() - began < 5
    assert one.status is milp.status is Status.OPTIMAL
    assert one.objective == milp.objective == every.value
    assert every.complete


@pytest.mark.parametrize("seed", range(4))
def test_crowded_topics_agree_with_milp(seed: int) -> None:
    # With few sentences for many alternatives, the search has to branch.
    rng = random.Random(seed)  # noqa: S311
    lengths = [1] * 60 if seed % 2 else [rng.randint(1, 30) for _ in range(60)]
    instance = cover_of(random_clauses(rng, units=60, clauses=40, alternatives=8), lengths)
    optima = enumerate_covers(instance)
    assert optima.statistics["nodes"] > 5
    assert optima.value == search(CoverageProblem.of(instance), "milp").objective
    assert optima.count == len(set(optima))


@pytest.mark.parametrize("limits", [Limits(nodes=1), Limits(time_s=0.0)], ids=["nodes", "time"])
def test_a_limit_ends_the_search_with_what_is_proven(limits: Limits) -> None:
    rng = random.Random(1)  # noqa: S311
    instance = cover_of(random_clauses(rng, units=60, clauses=40, alternatives=8), [1] * 60)
    truth = enumerate_covers(instance)
    stopped = enumerate_covers(instance, limits)
    assert not stopped.complete
    assert stopped.termination == ("node_limit" if limits.nodes else "time_limit")
    assert stopped.bound <= truth.value <= stopped.value
    assert stopped.count == 1
    result = search(CoverageProblem.of(instance), CoverStrategy(), limits)
    assert result.termination.value == stopped.termination
    assert result.bound is None or result.bound <= truth.value


def test_all_covers_cut_short_keep_the_proven_minimum() -> None:
    rng = random.Random(3)  # noqa: S311
    instance = cover_of(random_clauses(rng, units=60, clauses=40, alternatives=8), [1] * 60)
    truth = enumerate_covers(instance)
    asked = 0

    def ask(_: object = None) -> bool:
        nonlocal asked
        asked += 1
        return True

    solve_cover(Run(CoverageProblem.of(instance), Limits(), np.random.default_rng(0), on_progress=ask))
    asked_for_one, asked = asked, 0
    stopped = enumerate_covers(instance, should_stop=lambda: ask() and asked > asked_for_one)
    assert (stopped.complete, stopped.termination) == (False, "interrupted")
    assert stopped.value == stopped.bound == truth.value
    assert next(iter(stopped)) in set(truth)


def test_an_interruption_keeps_a_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("optsum.solvers.objectives.covers.minimum_covers", interrupt)
    stopped = enumerate_covers(cover_of([[(0,), (1,)]], [1, 1]))
    assert (stopped.termination, stopped.count, stopped.complete) == ("interrupted", 1, False)


def test_a_stop_inside_the_search_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = synthetic(random.Random(0), 200, 40)  # noqa: S311
    run = Run(CoverageProblem.of(instance), Limits(nodes=2), rng=None)  # type: ignore[arg-type]
    with pytest.raises(Stopped):
        solve_cover(run)
    assert run.evaluation is not None
    assert run.evaluation.feasible
    assert not run.proven


def test_the_recursion_limit_is_put_back() -> None:
    before = sys.getrecursionlimit()
    # Excluding sentences one by one nests hundreds of calls.
    clauses = [[(i, i + 1) for i in range(200)], [(i, i + 300) for i in range(200)]]
    optima = enumerate_covers(cover_of(clauses, [1] * 500))
    assert optima.value == 3
    assert sys.getrecursionlimit() == before


def test_the_same_search_twice_gives_the_same_covers_in_the_same_order() -> None:
    instance = synthetic(random.Random(9), 100, 12)  # noqa: S311
    assert list(enumerate_covers(instance)) == list(enumerate_covers(instance))


def test_the_quick_cover_has_no_superfluous_unit() -> None:
    rng = random.Random(2)  # noqa: S311
    for _ in range(100):
        clauses = random_clauses(rng, units=12, clauses=8)
        lengths = [rng.randint(1, 5) for _ in range(12)]
        chosen = set(members(quick_cover(clauses_of(cover_of(clauses, lengths)), lengths, lambda: None)))

        def covers(units: set[int], clauses: list[list[tuple[int, ...]]] = clauses) -> bool:
            return all(any(units.issuperset(alternative) for alternative in clause) for clause in clauses)

        assert covers(chosen)
        assert not any(covers(chosen - {unit}) for unit in chosen)


def test_a_quick_cover_of_a_huge_topic_is_quick() -> None:
    # It took 13 s when every choice looked at every alternative.
    clauses = clauses_of(synthetic(random.Random(3), 6000, 900))  # noqa: S311
    began = process_time()
    chosen = quick_cover(clauses, [1] * 6000, lambda: None)
    assert process_time() - began < 1
    assert all(any(alternative & ~chosen == 0 for alternative in clause) for clause in clauses)
    assert chosen.bit_count() < 1200  # the minimum exceeds 1000


def test_many_classes_of_sentences_are_found_in_time() -> None:
    # 600 abstract sentences with 10 equivalent alternatives each.
    clauses = [[(20 * i + 2 * j, 20 * i + 2 * j + 1) for j in range(10)] for i in range(600)]
    instance = cover_of(clauses, [1] * 12_000)
    began = process_time()
    kept, _ = interchangeable(canonical(clauses_of(instance)), [1] * 12_000)
    assert process_time() - began < 4
    assert len(kept) == 600


def test_equivalent_sentences_are_searched_once() -> None:
    # Any two of 40 sentences, and any one of 30.
    clauses = [[(i, j) for i in range(40) for j in range(i)], [(40 + i,) for i in range(30)]]
    instance = cover_of([[tuple(sorted(a)) for a in clause] for clause in clauses], [1] * 70)
    kept, _ = interchangeable(canonical(clauses_of(instance)), [1] * 70)
    assert sorted(map(len, kept)) == [1, 1]
    optima = enumerate_covers(instance)
    assert (optima.value, optima.count) == (3, 40 * 39 // 2 * 30)


def test_of_equivalent_sentences_the_shortest_is_kept() -> None:
    instance = cover_of([[(0,), (1,), (2,)]], [5, 3, 3])
    assert sorted(enumerate_covers(instance)) == [(1,), (2,)]
    assert search(CoverageProblem.of(instance), "milp").objective == 3


def test_the_steps_before_the_search_can_be_interrupted() -> None:
    """Check this for clauses, duplicates and the quick cover, which take seconds on thousands of units."""
    instance = cover_of([[(0,), (1,), (3, 4)], [(3,), (0, 1)], [(4,), (0, 2)]], [1] * 5)
    clauses = clauses_of(instance)

    def stop() -> None:
        raise Stopped(Termination.TIME_LIMIT)

    for work in (
        lambda: clauses_of(instance, stop),
        lambda: canonical(clauses, stop),
        lambda: interchangeable(clauses, [1] * 5, check=stop),
        lambda: quick_cover(clauses, [1] * 5, stop),
        lambda: minimum_covers(instance, deadline=Deadline(0.0)),
    ):
        with pytest.raises(Stopped):
            work()
    assert Relaxer([1] * 5, Deadline(0.0)).shares(clauses).bound >= 0
