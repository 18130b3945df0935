"""Test branch and bound for sums and products of ratios: programs, denominator boxes, prices, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from held_against import check_search
from optsum.solvers.engine.core import program_of
from optsum.solvers.engine.driver import Budget, Driver
from optsum.solvers.objectives import sums as module
from optsum.solvers.objectives.sums import BoxPrices, SumSearch, solve_sum

from optsum.contracts.strategy import Run
from optsum.corpus.topic import as_topic
from optsum.coverage.greedy import climb
from optsum.coverage.instance import Combination, Coverage, Facility, Joint
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem
from optsum.program.model import LinearModel, Relaxation
from optsum.program.surrogate import DenominatorBox, Weighted, box_of, programs, within
from optsum.registry import STRATEGIES
from optsum.running.one_problem import build, setup_of
from optsum.system.clock import NEVER, Deadline, Limits, Stopped, Termination
from optsum.testing import brute_force, random_coverage, random_topic, selections

BOTH: dict[str, Any] = {"metric": "rouge-1+rouge-2", "measure": "f1"}


def instance_of(seed: int, given: Mapping[str, Any], sentences: int = 7) -> Coverage:
    rng = np.random.default_rng(seed)
    topic = as_topic(random_topic(rng, sentences=sentences))
    limits = ({}, {"max_length": 12}, {"max_length": 14, "min_length": 5})[int(rng.integers(0, 3))]
    options = resolve({**given, **limits, "strategy": "branch-and-bound"})
    return build(topic, setup_of(options)).problem.coverage


@pytest.mark.parametrize("boundaries", ["sentence", "joined"])
@pytest.mark.parametrize("strategy", ["branch-and-bound", "milp"])
def test_selections_no_better_than_a_cutoff_are_left_out(strategy: str, boundaries: str) -> None:
    for seed in range(8):
        problem = CoverageProblem.of(instance_of(seed, BOTH | {"boundaries": boundaries}))
        truth = brute_force(problem).best
        if truth is None:
            continue
        for times in (Fraction(1, 2), Fraction(99, 100), 1, Fraction(101, 100), 2):
            run = Run(problem, Limits())
            run.cutoff = truth * times
            STRATEGIES.create(strategy, {}).search(run)
            assert run.bound == max(truth, run.cutoff), (seed, times)
            assert run.proven == (times <= 1), (seed, times)


def test_joints_are_left_out_that_no_good_selection_has() -> None:
    fewer = 0
    for seed in range(30):
        instance = instance_of(seed, BOTH | {"boundaries": "joined"}, sentences=8)
        search = SumSearch(instance, Budget(), every=True)
        search.best.see_first(None, NEVER)
        if search.best.key <= 0:
            continue
        search._leave_out_joints()
        fewer += len(search.instance.joints) < len(instance.joints)
        left, whole = (CoverageProblem.of(each) for each in (search.instance, instance))
        for units in selections(instance.size):
            if (worth := whole.evaluate(units)).feasible and worth.key >= search.best.key:
                assert left.evaluate(units).key == worth.key, (seed, units)
    assert fewer >= 5


def test_recall_and_precision_of_similarity_by_windows() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        tokens, top = int(rng.integers(1, 6)), int(rng.choice([3, 50, 10_000]))
        weights, words = rng.integers(1, 4, tokens), rng.integers(1, 9, 7)
        own = np.vstack([[rng.integers(0, top * count + 1) for count in words.tolist()], words * top])
        facility = Facility.given(
            rng.integers(0, top + 1, (tokens, 7)),
            weights,
            words if seed % 2 else rng.integers(0, 9, 7),
            full=int(weights.sum()) * top,
            own=own,
            max_length=int(rng.integers(5, 30)),
        )
        every_level = np.full(len(facility.similar), 7)
        check_search(solve_sum, facility.truncated(every_level), few=0)


def test_products_by_programs_alone() -> None:
    # Ngram(1, 2) of Lin & Hovy 2003: constant denominators, one tangent
    for seed in range(30):
        instance = instance_of(seed, {"metric": "rouge-1+rouge-2", "measure": "f1"})
        product = replace(
            instance,
            mass=np.vstack([instance.mass[0], 0 * instance.mass[0], instance.mass[2], 0 * instance.mass[0]]),
            combination=Combination.PRODUCT,
            weights=(1, 2),
            max_length=min(instance.max_length, 12),
        )
        check_search(solve_sum, product, few=0)


def test_every_selection_that_meets_a_condition_is_in_a_program() -> None:
    covered = 0
    for seed in range(60):
        instance = instance_of(seed, {"metric": "rouge-1+rouge-2", "measure": "f1"}, sentences=6)
        problem = CoverageProblem.of(instance)
        keys = {chosen: problem.evaluate(chosen) for chosen in selections(problem.size)}
        feasible = sorted(found.key for found in keys.values() if found.feasible)
        if not feasible or instance.ratios == 1:
            continue
        wanted = Fraction(feasible[-(len(feasible) // 4 + 1)])
        wish = Weighted((0, 1), (Fraction(1), Fraction(1)), 2 * wanted, (2.0, 1.0))
        held = list(programs(instance, box_of(instance, wish), wish))
        for chosen, found in keys.items():
            totals = problem.totals(chosen)
            worth = [a[0] * totals[0] + a[1] * totals[2] - b[0] * totals[1] - b[1] * totals[3] for a, b in held]
            if found.feasible and found.key >= wanted:
                assert max(worth) >= 0, (seed, chosen)
                covered += 1
    assert covered > 100


def tenth(instance: Coverage) -> Weighted:
    """Return the condition that the ratios sum to a tenth."""
    many = instance.ratios
    return Weighted(tuple(range(many)), (Fraction(1),) * many, Fraction(1, 10), (2.0,) * many)


def dozen(box: DenominatorBox) -> list[DenominatorBox]:
    """Return the parts of a box, split until there are about twelve."""
    boxes = [box]
    while len(boxes) < 12 and (halves := boxes[0].halves()):
        boxes = [*boxes[1:], *halves]
    return boxes


def test_cells_and_their_windows_lose_no_selection() -> None:
    # Three metrics over two references give three coordinates, two of them quotients by the first.
    covered = 0
    for seed in range(6):
        given = {"metric": "rouge-1+rouge-2+rouge-3", "measure": "f1", "references": "mean"}
        instance = instance_of(seed, given, sentences=6)
        ratios, wish = tuple(range(instance.ratios)), tenth(instance)
        boxes = dozen(box_of(instance, wish))
        problem = CoverageProblem.of(instance)
        every = {chosen: problem.totals(chosen) for chosen in selections(problem.size)}
        wanted = {
            chosen
            for chosen, totals in every.items()
            if problem.evaluate(chosen).feasible
            and sum(Fraction(totals[2 * h], totals[2 * h + 1]) for h in ratios) >= 0.1
        }
        for least in (False, True):
            found = set()
            for box in boxes:
                inside = within(instance, box, wish, least=least)
                for tops, bottoms in programs(instance, box, wish) if inside else ():
                    found |= {
                        chosen
                        for chosen in wanted
                        if CoverageProblem.of(inside).evaluate(chosen).feasible
                        and sum(tops[h] * every[chosen][2 * h] - bottoms[h] * every[chosen][2 * h + 1] for h in ratios)
                        >= 0
                    }
            assert found == wanted, seed
        covered += len(wanted) if boxes[0].outlines else 0
    assert covered > 50


def _in(box: DenominatorBox, denominators: list[int]) -> bool:
    held = [Fraction(d - constant) for d, constant in zip(denominators, box.constants, strict=True)]
    if box.quotient:
        found = [held[1] / held[0]]
    else:
        found = [held[box.part.index(number)] for number in range(len(box.low))]
        if box.outlines:
            found[1:] = [mass / (found[0] or 1) for mass in found[1:]]
    return all(Fraction(a) <= x <= Fraction(b) for a, x, b in zip(box.low, found, box.high, strict=True))


def test_prices_take_nothing_from_what_is_in_the_cell() -> None:
    inside, outside = 0, 0
    metrics = ["rouge-1+rouge-2", "rouge-1+rouge-2+rouge-3"]
    for seed in range(12):
        references = "mean" if seed % 3 else "pooled"  # pooled references give two ratios and their quotient
        given = {"metric": metrics[seed % 2], "measure": "f1", "references": references}
        instance = instance_of(seed, given, sentences=6)
        ratios, wish = tuple(range(instance.ratios)), tenth(instance)
        boxes = dozen(box_of(instance, wish))
        problem, prices = CoverageProblem.of(instance), BoxPrices(instance)
        every = [problem.totals(chosen) for chosen in selections(problem.size)]
        for box in boxes:
            for tops, bottoms in programs(instance, box, wish):
                (a, b), constant = prices.added(box, ratios, (tops, bottoms), NEVER)
                assert tuple(a) == tops
                for totals in every:
                    more = constant + sum((bottoms[h] - b[h]) * totals[2 * h + 1] for h in ratios)
                    if _in(box, totals[1::2]):
                        assert more >= 0, (seed, box)
                        inside += more > 0
                    else:
                        outside += more < 0
    assert inside > 50
    assert outside > 500


@pytest.mark.parametrize("metric", ["rouge-1", "rouge-1+rouge-2"])
def test_boxes_that_are_not_listed_at_once_are_priced_and_split(monkeypatch: pytest.MonkeyPatch, metric: str) -> None:
    whole, cut = Driver.hold, 0

    def short(self: Driver, nodes: int | None, search: Any) -> Any:
        nonlocal cut
        if nodes is None or int(rng.integers(0, 3)) == 0:
            return whole(self, nodes, search)
        self.short, cut = True, cut + 1
        return None

    monkeypatch.setattr(Driver, "hold", short)
    for seed in range(3 if "+" in metric else 10):
        rng = np.random.default_rng(seed)
        instance = instance_of(seed, {"metric": metric, "measure": "f1", "references": "mean"}, sentences=6)
        if instance.combination is Combination.SUM:
            check_search(solve_sum, instance, few=0)
    assert cut > 30


@pytest.mark.parametrize("price", [1e3, 1e6, 1e9, 1e12, 1e300, np.inf, np.nan])
def test_prices_stay_within_64_bits(monkeypatch: pytest.MonkeyPatch, price: float) -> None:
    # A linear program may return any price; the base of a program with such prices exceeds the masses.
    def any_price(model: LinearModel, deadline: Deadline) -> Relaxation:
        del deadline
        return Relaxation(np.full(model.rows, price), np.zeros(model.columns))

    monkeypatch.setattr("optsum.solvers.objectives.sums.relax", any_price)
    given = {"metric": "rouge-1+rouge-2", "measure": "f1", "references": "mean"}
    instance = instance_of(1, given)
    instance = replace(instance, constants=instance.constants * 40_000)
    ratios, wish = tuple(range(instance.ratios)), tenth(instance)
    box = box_of(instance, wish)
    for corner in programs(instance, box, wish):
        (tops, bottoms), constant = BoxPrices(instance).added(box, ratios, corner, NEVER)
        weights = [weight for top, bottom in zip(tops, bottoms, strict=True) for weight in (top, -bottom)]
        base = sum(weight * held for weight, held in zip(weights, instance.constants.tolist(), strict=True))
        assert program_of(instance, weights).base == base
        assert (abs(base + constant) < 2**53 and bottoms != corner[1]) or (bottoms, constant) == (corner[1], 0)


def test_the_base_of_a_program_is_exact() -> None:
    instance = Coverage.of(
        [1], [{}], [], constants=(0, 90_000, 0, 51_000), weights=(1, 1), combination=Combination.SUM, max_length=1
    )
    assert program_of(instance, [1, -(2**50), 1, 2**50]).base == 2**50 * (51_000 - 90_000)


def test_limits_and_ties() -> None:
    instance = Coverage.of(
        [1] * 14,
        [{unit // 2: 1} for unit in range(14)],
        [[1]] * 7,
        slots=[0, 0, 0, 0, 2, 2, 2],
        constants=(0, 101, 0, 103),
        weights=(1, 1),
        combination=Combination.SUM,
        max_length=7,
    )
    found = solve_sum(instance, every=True)
    assert (found.count, found.value) == (2**7, (Fraction(4, 101) + Fraction(3, 103)) / 2)
    stopped = solve_sum(instance, Limits(nodes=0), every=True)
    assert (stopped.proven, stopped.termination) == (False, "node_limit")
    assert stopped


@pytest.mark.parametrize("kind", ["sum", "product"])
def test_a_search_that_time_ends_is_bounded_by_relaxations(kind: str) -> None:
    bounds = 0
    for seed in range(25):
        instance = random_coverage(np.random.default_rng(seed), kind=kind, units=7)
        best = brute_force(CoverageProblem.of(instance)).best
        held = climb(instance)
        if best is None or held is None or instance.ratios < 2:
            continue
        ended = solve_sum(instance, Limits(time_s=0.0, grace_s=5.0), every=False, few=0, start=held.units)
        if ended.complete or ended.bound is None:
            continue
        assert ended.bound >= best >= ended.value > 0
        bounds += 1
    assert bounds >= 5


SEAMS: dict[str, Any] = {
    "slots": [0, 2, 0],
    "constants": [0, 4, 0, 4],
    "mass": [[0] * 4, [1] * 4] * 2,
    "weights": (1, 1),
    "combination": Combination.SUM,
    "joints": (Joint(2, (0, 1)), Joint(2, (1, 2))),
    "max_length": 4,
}


@pytest.mark.parametrize("times", [1, Fraction(5, 4), 2])
def test_a_stopped_search_for_what_beats_a_cutoff_bounds_everything(times: Fraction) -> None:
    instance = Coverage.of([2] * 4, [{0: 1}, {1: 1}, {0: 1}, {1: 1}], [[3], [3], [2, 2]], **SEAMS)
    best = Fraction(brute_force(CoverageProblem.of(instance)).best)
    search = SumSearch(instance, Budget(), every=False, cutoff=best * times)
    search.best.see((0,))
    search._leave_out_joints()
    bound = module._bound_of_stopped(search, Deadline(5.0))
    assert bound is not None
    assert bound >= best


def test_ctrl_c_while_a_stopped_search_is_bounded_keeps_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    def stopped(*_: object) -> None:
        raise Stopped(Termination.TIME_LIMIT)

    monkeypatch.setattr(module, "_bound_of_stopped", interrupted)
    monkeypatch.setattr(SumSearch, "_cover_all", stopped)
    monkeypatch.setattr(SumSearch, "_all_evaluated", lambda *_: False)
    deadline = Deadline(None)
    found = solve_sum(Coverage.of([2] * 4, [{0: 1}] * 4, [[3], [3], [2, 2]], **SEAMS), None, deadline, every=False)
    assert found.termination == "interrupted"
    assert list(found) != []
    assert deadline.reason == "interrupted"
