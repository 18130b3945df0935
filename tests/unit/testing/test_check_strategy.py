"""Check that `check_strategy` fails on strategies that break the contract, each in its own way."""

from __future__ import annotations

import dataclasses
import importlib.util
import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from optsum.contracts.result import Result, Status, TracePoint
from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import UnsupportedError
from optsum.problem.problem import CoverageProblem, Problem
from optsum.running import search as searching
from optsum.system.clock import Termination
from optsum.testing import ConformanceError, check_strategy, random_coverage

INSTANCE = Coverage.of(
    [3, 2, 4, 1],
    [{0: 1, 1: 2}, {1: 1}, {2: 2}, {0: 2, 2: 1}],
    [[2, 1], [3, 1], [2]],
    constants=(0, 12),
    max_length=7,
    parents=[-1, 0, -1, 2],
)


@dataclass(frozen=True)
class Walk(Strategy):
    """A valid exact strategy, from which the broken ones derive."""

    name: ClassVar[str] = "walk"
    about: ClassVar[str] = "a test"
    exact: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        from optsum.testing import selections

        for selection in selections(run.problem.size):
            run.check()
            run.see(selection)
        run.prove()


class Early(Walk):
    """A strategy that claims a proof too early."""

    def search(self, run: Run) -> None:
        run.see(())
        run.prove()


class Claiming(Walk):
    exact: ClassVar[bool] = False


class Unproven(Walk):
    def search(self, run: Run) -> None:
        run.see(())


class Fickle(Walk):
    """A strategy that counts differently in each run."""

    exact: ClassVar[bool] = False
    state: ClassVar[list[int]] = [0]

    def search(self, run: Run) -> None:
        self.state[0] += 1
        run.count(evaluations=self.state[0])
        run.see(())


class Deaf(Walk):
    """A strategy that ignores limits."""

    def search(self, run: Run) -> None:
        from optsum.system.clock import Stopped

        try:
            super().search(run)
        except Stopped:
            run.see(())


class Swallowing(Walk):
    """A strategy that swallows Ctrl-C."""

    exact: ClassVar[bool] = False

    def search(self, run: Run) -> None:
        try:
            run.see(())
            run.see(range(run.problem.size))
        except KeyboardInterrupt:
            run.selection, run.evaluation, run.trace = None, None, []


class Changing(Walk):
    def search(self, run: Run) -> None:
        super().search(run)
        if isinstance(run.problem, CoverageProblem) and run.problem.size:
            run.problem.coverage.lengths[0] = 0


class Wishful(Walk):
    """A strategy that states a false bound."""

    exact: ClassVar[bool] = False

    def search(self, run: Run) -> None:
        run.see(())
        run.raise_bound(0 if run.problem.sense is Sense.MAXIMIZE else 10**6)


class Peeking(Walk):
    """A strategy that evaluates before it refuses."""

    def accept(self, problem: Problem) -> None:
        problem.evaluate(())
        raise UnsupportedError("no")


class Speechless(Walk):
    def accept(self, problem: Problem) -> None:
        raise UnsupportedError("")


class Hesitant(Walk):
    """A strategy that refuses in its search."""

    def search(self, run: Run) -> None:
        raise UnsupportedError("not this one")


class Forging(Walk):
    """A strategy that writes a selection into the run without evaluating it."""

    exact: ClassVar[bool] = False

    def search(self, run: Run) -> None:
        run.see(())
        if run.evaluation is not None and run.problem.size:
            run.selection = (0,)


class Infeasible(Forging):
    def search(self, run: Run) -> None:
        run.see(())
        run.selection = tuple(range(run.problem.size))
        run.evaluation = replace(run.problem.evaluate(run.selection), violation=0)
        run.trace = [TracePoint(0.0, 0, float(run.evaluation.value))]


class Backwards(Walk):
    def search(self, run: Run) -> None:
        super().search(run)
        run.trace.reverse()


class Unwritable(Walk):
    def search(self, run: Run) -> None:
        super().search(run)
        run.statistics["rng"] = run.rng


class Late2(Walk):
    """A strategy that claims to have stopped at a limit that was not set."""

    def search(self, run: Run) -> None:
        from optsum.system.clock import Stopped

        super().search(run)
        raise Stopped(Termination.NODE_LIMIT)


BROKEN_STRATEGIES: list[tuple[type[Walk], str]] = [
    (Early, "calls .* optimal, but a selection|calls the problem infeasible, but|is called infeasible"),
    (Claiming, "but is not exact"),
    (Unproven, "an exact strategy completed with"),
    (Fickle, "seed 0 gives another result the second time"),
    (Deaf, "an exact strategy completed with|it ended with completed"),
    (Swallowing, "Ctrl-C after . evaluations: it ended with completed"),
    (Changing, "the search changed the problem|is not .* long|seed 0 gives another result"),
    (Wishful, "states a bound of 0, but|exceeds the bound 0"),
    (Peeking, "evaluated before it is refused"),
    (Hesitant, "accept does not refuse it, but the search does"),
    (Speechless, "refused without a message"),
    (Forging, "the objective is 0, but"),
    (Infeasible, "is not feasible"),
    (Backwards, "the trace falls back|the trace does not end with the result"),
    (Unwritable, "the result is not JSON"),
    (Late2, "without limits the search ended with node_limit"),
]


def test_the_strategy_that_is_broken_below_is_whole() -> None:
    check_strategy(Walk(), instances=2, problems={"mine": CoverageProblem.of(INSTANCE)})


@pytest.mark.parametrize(
    ("broken", "match"), BROKEN_STRATEGIES, ids=[broken.__name__ for broken, _ in BROKEN_STRATEGIES]
)
def test_broken_strategies_fail(broken: type[Walk], match: str) -> None:
    with pytest.raises(ConformanceError, match=match) as failure:
        check_strategy(broken(), instances=2)
    assert str(failure.value).startswith("walk on ")


def test_failures_name_an_instance_that_can_be_made_again() -> None:
    class Never(Walk):
        """A strategy that fails on random instances only."""

        exact: ClassVar[bool] = False

        def search(self, run: Run) -> None:
            run.see(())
            if run.problem.size == 7:
                run.bound = Fraction(-1)

    with pytest.raises(ConformanceError) as failure:
        check_strategy(Never(), instances=5, seed=3)
    name = str(failure.value).removeprefix("walk on ").partition(":")[0]
    instance = eval(name, {"random_coverage": random_coverage, "default_rng": np.random.default_rng})  # noqa: S307
    with pytest.raises(ConformanceError, match=r"walk on again: .* states a bound of -1"):
        check_strategy(Never(), instances=0, problems={"again": CoverageProblem.of(instance)})


def test_a_strategy_that_searches_what_it_refuses_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    real = searching.search

    def forgetful(problem: Problem, strategy: Strategy, *others: Any, **named: Any) -> Result:
        return real(problem, Walk())

    class Refusing(Walk):
        def accept(self, problem: Problem) -> None:
            raise UnsupportedError("no")

    monkeypatch.setattr("optsum.testing.search", forgetful)
    with pytest.raises(ConformanceError, match="but it was searched all the same"):
        check_strategy(Refusing(), instances=1)


def test_problems_too_large_to_enumerate_are_refused() -> None:
    big = CoverageProblem.of(Coverage.of([1] * 15, [{}] * 15, []))
    with pytest.raises(ConformanceError, match="walk on big: 15 units are too many for this suite"):
        check_strategy(Walk(), instances=0, problems={"big": big})


def test_a_result_that_only_looks_right_fails() -> None:
    """Test the checks of a result one by one, on results that no search returns."""
    from optsum.testing import brute_force, check_claims

    problem = CoverageProblem.of(INSTANCE)
    truth, good = brute_force(problem), searching.search(problem, Walk())
    check_claims(Walk(), problem, good, truth, "good")
    twisted: dict[str, dict[str, Any]] = {
        "names the strategy": {"strategy": "other"},
        "took negative time": {"seconds": -1.0},
        "a counter is negative": {"nodes": -1},
        "is not sorted": {"selection": (good.selection or ())[::-1]},
        "long": {"length": 99},
        "there is no bound": {"bound": None, "bound_exact": None},
        "do not match": {"trace": ()},
        "goes back in time": {"trace": (TracePoint(9.0, 1, 0.0), *good.trace)},
        "counts evaluations backwards": {"trace": (TracePoint(0.0, 999, 0.0), *good.trace)},
        "goes on after the end": {"seconds": 0.0},
        "it failed": {"status": Status.ERROR, "termination": Termination.FAILED, "error": "x", "selection": None,
                      "objective": None, "trace": ()},
        "is called infeasible": {"status": Status.INFEASIBLE, "selection": None, "objective": None, "trace": ()},
    }  # fmt: skip
    for match, change in twisted.items():
        with pytest.raises(ConformanceError, match=match):
            check_claims(Walk(), problem, dataclasses.replace(good, **change), truth, "twisted")


def test_the_suites_need_nothing_that_only_developers_have() -> None:
    code = (
        "import sys; from optsum.testing import check_strategy; check_strategy('greedy', instances=1);"
        "print([name for name in ('pytest', 'hypothesis') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found.strip() == "[]"
    assert importlib.util.find_spec("hypothesis") is not None, "or the line above proves nothing"
