"""Test `search`: status, limits, bounds, seeds, Ctrl-C, preparation."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from optsum import compare, enumerate_optima, solve, solve_all
from optsum.contracts.result import Result, Status
from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import BackendError, InputError, OptionError, UnknownNameError, UnsupportedError
from optsum.options.options import resolve
from optsum.problem.problem import Capability, CoverageProblem, Evaluation, Problem
from optsum.running import search as running_search
from optsum.running.one_problem import setup_of, unsolved
from optsum.running.search import search, searched
from optsum.system.clock import NEVER, Deadline, Limits, Termination
from optsum.testing import OwnMetric, check_strategy, random_topic, watched

# The relaxation's bound is 5/6 and the optimum 4/6, so that a bound alone proves nothing.
INSTANCE = Coverage.of([3, 3, 3], [{0: 1}, {1: 1}, {2: 1}], [[2], [2], [2]], constants=(0, 6), max_length=8)


@dataclass(frozen=True)
class Scripted(Strategy):
    """A strategy that runs a given function."""

    name: ClassVar[str] = "scripted"
    about: ClassVar[str] = "a test"
    steps: Callable[[Run], None] = lambda run: None

    def search(self, run: Run) -> None:
        self.steps(run)


@dataclass(frozen=True)
class ScriptedExact(Scripted):
    exact: ClassVar[bool] = True


@pytest.mark.parametrize("name", ["exhaustive", "milp", "greedy", "lead", "random"])
def test_built_in_strategies_keep_the_contract(name: str) -> None:
    check_strategy(name, instances=2, seed=1)  # of seed 0, the bounds of two instances take seconds


def test_a_heuristic_carries_a_proven_bound() -> None:
    result = search(CoverageProblem.of(INSTANCE), "greedy")
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.COMPLETED)
    assert (result.objective_exact, result.bound_exact) == ("2/3", "2/3")
    assert result.gap == 0.0
    assert result.timing.bound_s >= 0


def test_an_exact_strategy_proves() -> None:
    for name in ("milp", "exhaustive"):
        result = search(CoverageProblem.of(INSTANCE), name)
        assert (result.status, result.objective_exact, result.bound_exact, result.gap) == (
            Status.OPTIMAL, "2/3", "2/3", 0.0,
        )  # fmt: skip


def test_a_result_that_a_strategy_did_not_prove_is_not_optimal() -> None:
    problem = CoverageProblem.of(INSTANCE)

    def see_one(run: Run) -> None:
        run.see((0, 1))

    def prove_it(run: Run) -> None:
        run.see((0, 1))
        run.prove()

    seen = search(problem, Scripted(see_one))
    assert (seen.status, seen.selection) == (Status.FEASIBLE, (0, 1))
    proven = search(problem, ScriptedExact(prove_it))
    assert proven.status is Status.OPTIMAL
    nothing = search(problem, Scripted())
    assert (nothing.status, nothing.selection, nothing.objective) == (Status.NO_SOLUTION, None, None)
    assert nothing.bound_exact == "2/3"


def test_only_a_proof_before_a_limit_counts() -> None:
    def then_stop(run: Run) -> None:
        run.see((0, 1))
        run.count(evaluations=10)
        run.check()
        run.prove()

    result = search(CoverageProblem.of(INSTANCE), ScriptedExact(then_stop), Limits(evaluations=10))
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.EVALUATION_LIMIT)


def test_an_exact_search_that_reaches_the_bound_within_a_gap_is_optimal() -> None:
    easy = Coverage.of([3, 2], [{0: 1}, {1: 1}], [[5], [4]], constants=(0, 9), max_length=5)
    result = search(CoverageProblem.of(easy), "milp", Limits(gap=0.1))
    assert (result.status, result.gap) == (Status.OPTIMAL, 0.0)
    assert result.termination in {Termination.GAP_REACHED, Termination.COMPLETED}
    greedy = search(CoverageProblem.of(easy), "greedy")
    assert (greedy.status, greedy.gap) == (Status.FEASIBLE, 0.0), "a heuristic never says optimal"


def test_ctrl_c_inside_a_strategy_keeps_the_incumbent() -> None:
    def interrupted(run: Run) -> None:
        run.see((0,))
        raise KeyboardInterrupt

    result = search(CoverageProblem.of(INSTANCE), ScriptedExact(interrupted))
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.INTERRUPTED)
    assert (result.selection, result.bound_exact) == ((0, 1), "5/6")  # greedy search's selection, which is better


def test_ctrl_c_while_the_bound_is_computed() -> None:
    class Interrupted(CoverageProblem):
        def root_bound(self, deadline: Deadline = NEVER) -> Fraction:
            raise KeyboardInterrupt

    problem = Interrupted(instance=INSTANCE, lengths=(3, 3, 3), max_length=8)
    result = search(problem, "greedy")
    assert (result.termination, result.bound) == (Termination.INTERRUPTED, None)
    assert result.objective_exact == "2/3"


@pytest.mark.parametrize("strategy", ["milp", "exhaustive", "greedy", "lead", "random"])
def test_the_limit_that_ended_a_search_is_named(strategy: str) -> None:
    problem = CoverageProblem.of(INSTANCE)
    stopped = search(problem, strategy, on_progress=lambda run: False)
    assert stopped.termination is Termination.INTERRUPTED
    assert search(problem, strategy, Limits(time_s=0)).termination is Termination.TIME_LIMIT
    assert search(problem, strategy, Limits(nodes=0)).termination is Termination.NODE_LIMIT
    assert search(problem, strategy, Limits(evaluations=0)).termination is Termination.EVALUATION_LIMIT
    reached = search(problem, strategy, Limits(target=0.3))
    assert (reached.termination, reached.status) == (Termination.TARGET_REACHED, Status.FEASIBLE)
    assert search(problem, strategy, Limits(target=0.7)).termination is Termination.COMPLETED
    close = search(problem, strategy, Limits(gap=0.3))
    assert close.gap is not None
    assert close.gap <= 0.3
    assert close.termination in {Termination.GAP_REACHED, Termination.COMPLETED}


def test_long_searches_end_at_their_time_limit() -> None:
    rng = np.random.default_rng(0)
    big = Coverage.of(
        rng.integers(1, 9, 60).tolist(),
        [{int(f): 1 for f in rng.integers(0, 40, 6)} for _ in range(60)],
        [[1]] * 40,
        constants=(0, 40),
        max_length=120,
    )
    result = search(CoverageProblem.of(big), "exhaustive", Limits(time_s=0.3))
    assert result.termination is Termination.TIME_LIMIT
    assert 0.3 <= result.seconds < 3
    assert "feasible" not in result.statistics, "a count that is not complete is no count"
    counted = search(CoverageProblem.of(big), "exhaustive", Limits(evaluations=1000))
    assert counted.termination is Termination.EVALUATION_LIMIT
    assert 1000 <= counted.evaluations <= 1002


def test_refusals_come_before_any_evaluation() -> None:
    problem = watched(Coverage.of([1], [{0: 1}], [[1]], constants=(0, 1, 0, 1), weights=(1, 1),
                                  combination=_product()))  # fmt: skip
    assert Capability.LINEAR not in problem.capabilities
    with pytest.raises(UnsupportedError, match="integer programs cannot express"):
        search(problem, "milp")
    assert problem.calls == []
    with pytest.raises(UnknownNameError):
        search(problem, "milk")
    with pytest.raises(UnknownNameError):
        search(problem, "greedy", depth=3)
    with pytest.raises(UnknownNameError, match="backend"):
        search(CoverageProblem.of(INSTANCE), "milp", backend="gurobbi")
    with pytest.raises(OptionError, match="only with the name of a strategy"):
        search(problem, Scripted(), backend="highs")
    assert problem.calls == []


def _product() -> object:
    from optsum.coverage.instance import Combination

    return Combination.PRODUCT


def test_a_missing_solver_is_an_error_with_a_sentence() -> None:
    with pytest.raises(BackendError, match="no_such_solver"):
        search(CoverageProblem.of(INSTANCE), "milp", backend="pyomo:no_such_solver")
    with pytest.raises(OptionError, match="needs a solver's name after the colon"):
        search(CoverageProblem.of(INSTANCE), "milp", backend="pyomo:")


@pytest.mark.parametrize("number", [np.float32(0.25), np.float64(0.25), 0.25, np.int64(2), 2, Fraction(1, 4)])
def test_keys_of_any_numeric_type_make_a_result(number: float) -> None:
    class Constant(OwnMetric):
        def evaluate(self, selection: tuple[int, ...]) -> Evaluation:
            return Evaluation(number, 0, number)  # type: ignore[arg-type]

    result = search(Constant(lengths=(1, 1), words=()), "exhaustive")
    assert result.objective == float(number)
    assert (result.objective_exact is None) == (type(number).__name__.startswith("float"))
    assert Result.from_row(json.loads(json.dumps(result.to_row()))) == result


def test_the_seed_decides_and_nothing_else_does() -> None:
    from optsum import solve

    topic = random_topic(np.random.default_rng(5), sentences=12)
    first = [solve(topic, strategy="random", max_length=8, seed=seed).selection for seed in range(12)]
    second = [solve(topic, strategy="random", max_length=8, seed=seed).selection for seed in range(12)]
    assert first == second
    assert len(set(first)) > 1


def test_limits_go_by_the_names_that_solve_has() -> None:
    problem = CoverageProblem.of(INSTANCE)
    assert search(problem, "random", evaluation_limit=0).termination is Termination.EVALUATION_LIMIT
    assert search(problem, "greedy", time_limit=0).termination is Termination.TIME_LIMIT
    assert search(problem, "greedy", time_limit=60, gap=None).termination is Termination.COMPLETED
    with pytest.raises(OptionError, match=r"given as limits= or by their names \(time_limit\)"):
        search(problem, "greedy", Limits(time_s=1), time_limit=1)
    with pytest.raises(OptionError, match="The limit time_s is -1"):
        search(problem, "greedy", time_limit=-1)
    with pytest.raises(OptionError, match="no option 'k_max' of the strategy lead; none exists"):
        search(problem, "lead", k_max=3)


def test_a_known_root_bound_is_not_computed_again() -> None:
    class Counted(CoverageProblem):
        def root_bound(self, deadline: Deadline = NEVER) -> Fraction:
            raise AssertionError("computed")

    problem = Counted(instance=INSTANCE, lengths=(3, 3, 3), max_length=8)
    assert search(problem, "greedy", root_bound=Fraction(1)).bound_exact == "1"


def test_the_bound_of_a_search_that_used_up_its_limit_is_held_to_half_a_second() -> None:
    class Slow(CoverageProblem):
        def root_bound(self, deadline: Deadline = NEVER) -> None:
            assert 0.4 < deadline.left_s <= 0.5

    result = search(Slow(instance=INSTANCE, lengths=(3, 3, 3), max_length=8), "greedy", time_limit=0)
    assert (result.bound, result.gap, result.termination) == (None, None, Termination.TIME_LIMIT)


def test_after_ctrl_c_a_bound_is_held_to_a_fifth_of_a_second_without_a_limit_too() -> None:
    class Slow(CoverageProblem):
        def root_bound(self, deadline: Deadline = NEVER) -> None:
            assert 0.0 < deadline.left_s <= 0.2

    def interrupted(run: Run) -> None:
        run.see((0,))
        raise KeyboardInterrupt

    result = search(Slow(instance=INSTANCE, lengths=(3, 3, 3), max_length=8), ScriptedExact(interrupted))
    assert (result.termination, result.selection, result.bound) == (Termination.INTERRUPTED, (0, 1), None)


def test_no_two_results_share_what_can_be_added_to() -> None:
    first, second = (search(CoverageProblem.of(INSTANCE), "greedy") for _ in range(2))
    assert first.extra is not second.extra
    assert first.statistics is not second.statistics
    setup = setup_of(resolve({"max_length": 5}))
    one, other = (unsolved("t", setup, Termination.TIME_LIMIT) for _ in range(2))
    assert one.extra is not other.extra
    assert one.statistics is not other.statistics


@dataclass(frozen=True)
class Preparing(Scripted):
    """A strategy that records the problems that it is prepared for."""

    seen: list[Problem | None] = field(default_factory=list)

    def prepare(self, problem: Problem | None = None) -> None:
        self.seen.append(problem)


class PreparedAlone(CoverageProblem):
    """A problem with preparation of its own."""

    def prepare(self) -> None:
        """Prepare nothing."""


def test_problems_that_are_prepared_alike_are_prepared_for_once() -> None:
    strategy, ready = Preparing(), set[Hashable]()
    f1 = Coverage.of([3, 3], [{0: 1}, {1: 1}], [[2], [2]], constants=(0, 6), mass=[[0, 0], [1, 1]], max_length=5)
    linear, ratio = (CoverageProblem.of(instance) for instance in (INSTANCE, f1))
    for problem in (linear, ratio, linear, linear.within(3), ratio):
        searched(problem, strategy, Limits(), 0, ready=ready)
    assert strategy.seen == [linear, ratio]
    searched(linear, strategy, Limits(), 0)
    assert len(strategy.seen) == 3, "nobody has said what is ready"


def test_problems_that_say_nothing_are_prepared_for_each_by_itself() -> None:
    strategy, ready = Preparing(), set[Hashable]()
    covers = CoverageProblem.of(Coverage.of([1, 1], [{0: 1}, {1: 1}], [[1], [1]], goal=Sense.MINIMIZE))
    for problem in (OwnMetric(lengths=(1,), words=[["a"]]), PreparedAlone.of(INSTANCE), covers):
        assert problem.prepared_as is None
        for _ in range(2):
            searched(problem, strategy, Limits(), 0, ready=ready)
    assert len(strategy.seen) == 6


def test_topics_of_one_way_are_prepared_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    setup_of.cache_clear()
    prepared: list[tuple[int, ...]] = []
    monkeypatch.setattr(running_search, "get_ready", lambda problem, *_: prepared.append(problem.lengths))
    topics = [{"id": f"t{k}", "documents": [["a b", "b"]], "references": [["a b"]]} for k in range(3)]
    assert [found.objective for found in solve_all(topics, max_length=2, time_limit=60)] == [1.0] * 3
    assert prepared.count((2, 1)) == 1


def test_a_search_that_returns_its_selection_is_told_how_to_report_it() -> None:
    problem = CoverageProblem.of(Coverage.of([1], [{0: 1}], [[1]], constants=(0, 1)))

    class Returns(Strategy):
        name, about = "returns", "returns its selection"
        returned: object = (0,)

        def search(self, run: Run) -> object:  # type: ignore[override]
            return self.returned

    with pytest.raises(UnsupportedError, match=r"returned \(0,\), which is ignored.*call run\.see"):
        search(problem, Returns())
    for Returns.returned in ("0", {0}, np.array([0]), (unit for unit in ())):
        with pytest.raises(UnsupportedError, match="which is ignored"):
            search(problem, Returns())
    with pytest.raises(OptionError, match=r"the class Returns: give an object of it, Returns\(\)"):
        search(problem, Returns)  # type: ignore[arg-type]


def _then(act: Callable[[Run], None], *units: int) -> Callable[[Run], None]:
    """Return a search that sees a selection first."""

    def steps(run: Run) -> None:
        run.see(units)
        act(run)

    return steps


LIES = {
    "is not exact": Scripted(_then(Run.prove, 0, 1)),
    "calls 0.333.* optimal, but a selection worth 0.666": ScriptedExact(_then(Run.prove, 0)),
    "calls the problem infeasible, but": ScriptedExact(Run.prove),
    "states a bound of 1/6, but": Scripted(_then(lambda run: run.raise_bound(Fraction(1, 6)), 0)),
    "which no value can reach": Scripted(_then(lambda run: run.raise_bound(-(10**500)), 0)),
}
NO_BOUNDS = ["x", float("nan"), [1], -float("inf")]


@pytest.mark.parametrize("said", LIES)
def test_claims_of_a_strategy_that_contradict_known_selections_are_refused(said: str) -> None:
    with pytest.raises((BackendError, InputError), match=said):
        search(CoverageProblem.of(INSTANCE), LIES[said])


@pytest.mark.parametrize("bound", NO_BOUNDS)
@pytest.mark.parametrize("strategy", ["greedy", "exhaustive"])
def test_bounds_that_are_no_bounds_are_refused(bound: object, strategy: str) -> None:
    problem = CoverageProblem.of(INSTANCE)
    with pytest.raises((BackendError, InputError), match="bound"):
        search(problem, strategy, root_bound=bound)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="bound"):
        search(problem, Scripted(_then(lambda run: run.raise_bound(bound))))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="root_bound is 0, but a selection worth"):
        search(problem, strategy, root_bound=0)


def test_bounds_beyond_floats_say_nothing() -> None:
    class Vast(OwnMetric):
        def bound(self, chosen: tuple[int, ...], open: tuple[int, ...]) -> int:  # noqa: A002
            return 10**500

    problem = Vast(lengths=(1, 1), words=[["a"], ["b"]])
    for strategy in ("auto", "greedy", "branch-and-bound"):
        assert search(problem, strategy).objective == 2
    assert search(problem, "greedy", root_bound=float("inf")).bound is None


def test_a_bound_that_is_not_known_and_a_proof_under_a_limit_of_evaluations() -> None:
    def proven(run: Run) -> None:
        run.raise_bound(None)  # type: ignore[arg-type]  # as `Problem.root_bound` may return
        run.see((0, 1))
        run.prove()

    problem = OwnMetric(lengths=(1,) * 6, words=[[f"w{unit}"] for unit in range(6)], max_length=2)
    calls: list[Any] = []
    evaluate = problem.evaluate
    object.__setattr__(problem, "evaluate", lambda units: calls.append(units) or evaluate(units))
    assert search(problem, ScriptedExact(proven), Limits(evaluations=3)).status is Status.OPTIMAL
    assert len(calls) <= 3


def test_what_is_no_strategy_is_refused_before_the_search() -> None:
    class Nameless(Strategy):
        def search(self, run: Run) -> None:
            raise AssertionError("searched")

    for strategy in (None, 5, Nameless()):
        with pytest.raises(OptionError, match=r"no optsum\.Strategy with a name"):
            search(CoverageProblem.of(INSTANCE), strategy)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"limits": "x"}, "give an optsum.Limits"),
        ({"on_progress": 5}, "give a function of the run"),
        ({"time_limit": 5, "on_progress": "x"}, "give a function of the run"),
    ],
)
def test_arguments_of_other_types_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        search(CoverageProblem.of(INSTANCE), "greedy", **given)


@pytest.mark.parametrize("name", ["grace_s", "memory"])
def test_limits_that_must_be_numbers_are_not_none(name: str) -> None:
    with pytest.raises(OptionError, match=f"The limit {name} is None"):
        Limits(**{name: None})


def test_starts_of_other_types_are_refused() -> None:
    problem = CoverageProblem.of(INSTANCE)
    for start in (5, {0: 1}, "0"):
        with pytest.raises(InputError, match="give a list of units"):
            solve(problem, start=start)  # type: ignore[arg-type]
    for start in (5, [1], {0}):
        with pytest.raises(InputError, match="give units by id, results"):
            compare([problem], ["greedy"], start=start)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="A strategy to compare is 5"):
        compare([problem], ["greedy"], exact=5)  # type: ignore[arg-type]


FAMILIES = {
    "let it return optsum.Optima": "None",
    "calls 0.333.* optimal": "Optima.of_sets([(0,)], 2)",
    "value 6, but .* is worth 4": "Optima.of_sets([(0, 1)], 6)",
    "value 4, but .* is worth 2": "Optima.of_sets([(0, 1), (2,)], 4)",
    "violates the limits": "Optima.of_sets([(0, 1), (0, 1, 2)], 4)",
    "unit that does not exist": "Optima.of_sets([(0, 1), (9,)], 4)",
    "calls the problem infeasible": "Optima.of_sets([], 4)",
    "states a bound of 3": "Optima.of_sets([(0,)], 2, 3, complete=False, termination='time_limit')",
    "": "Optima.of_sets([(0, 1), (0, 2), (1, 2)], 4)",
}


@pytest.mark.parametrize("said", FAMILIES)
def test_sets_of_a_strategy_that_contradict_what_it_says_are_refused(said: str, tmp_path: Path) -> None:
    place = tmp_path / "own.py"
    place.write_text(
        "from optsum import Optima, Strategy\n\n\nclass Own(Strategy):\n"
        "    name, about, exact, enumerates = 'own', 'sets', True, True\n\n"
        "    def search(self, run):\n        run.see(())\n\n"
        f"    def enumerate(self, problem, limits, should_stop=None):\n        return {FAMILIES[said]}\n"
    )
    if not said:
        assert enumerate_optima(CoverageProblem.of(INSTANCE), strategy=f"{place}:Own").count == 3
        return
    with pytest.raises(BackendError, match=said):
        enumerate_optima(CoverageProblem.of(INSTANCE), strategy=f"{place}:Own")


def test_units_of_a_selection_are_whole_numbers() -> None:
    problem = CoverageProblem.of(Coverage.of([1, 1], [{0: 1}, {}], [[1]], constants=(0, 1)))

    class Rounds(Strategy):
        name, about = "rounds", "names units by floats"

        def search(self, run: Run) -> None:
            run.see([1.7])  # type: ignore[list-item]

    with pytest.raises(InputError, match=r"\[1\.7\] is not a list of unit numbers"):
        search(problem, Rounds())


def test_a_denominator_far_below_zero_is_refused_instead_of_filling_the_memory() -> None:
    problem = CoverageProblem.of(
        Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1]], constants=(0, -2_000_000_000), mass=[[0, 0], [3_000_000_000, 5]])
    )
    with pytest.raises(UnsupportedError, match="a denominator begins at -2000000000; use exhaustive"):
        enumerate_optima(problem, strategy="branch-and-bound", max_length=2)
