"""Test setups: options are resolved once, and a setup sent to another process is made there from its options."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from optsum.contracts.strategy import Run, Strategy
from optsum.corpus.topic import as_topic
from optsum.coverage.instance import Coverage
from optsum.errors import BackendError, OptionError
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem, Problem
from optsum.running import one_problem as warm
from optsum.running.one_problem import setup_of
from optsum.running.search import searched
from optsum.running.solve import solve
from optsum.system.clock import Limits


def test_equal_options_share_a_setup_after_pickling_as_well() -> None:
    setup = setup_of(resolve({"max_length": 5, "strategy": "vns", "strategy_options": {"k_max": 3}}))
    assert setup_of(resolve({"max_length": 5, "strategy": "vns", "strategy_options": {"k_max": 3}})) is setup
    assert pickle.loads(pickle.dumps(setup)) is setup  # noqa: S301 - made here
    assert len(pickle.dumps(setup)) < 5000


def test_a_setup_holds_what_each_part_takes() -> None:
    setup = setup_of(resolve({"max_length": 5, "metric": "rouge-2+rouge-su4", "strategy": "milp", "time_limit": 3}))
    assert (setup.spec.max_length, setup.limits.time_s, setup.strategy.name) == (5, 3, "milp")
    assert [metric.name for metric in setup.scores] == ["rouge-2", "rouge-su4", "rouge-1", "rouge-l"]
    assert (setup.blank.metric, setup.blank.backend) == ("rouge-2+rouge-su4", "highs")
    assert setup_of(resolve({"formulation": "cover"})).blank.metric is None


@pytest.mark.parametrize(("given", "tokenizer"), [({}, "tokens"), ({"tokenizer": "unicode"}, "unicode")])
def test_tokens_are_taken_as_they_are_unless_a_tokenizer_is_asked_for(given: dict[str, Any], tokenizer: str) -> None:
    setup = setup_of(resolve({"max_length": 5, **given}))
    raw = as_topic({"id": "t", "documents": [["a b"]], "references": [["a b"]]})
    split = as_topic({"id": "t", "documents": [[["a", "b"]]], "references": [[["a", "b"]]]})
    assert setup.spec_for(raw).analyzer.tokenizer == given.get("tokenizer", "rouge")
    assert setup.spec_for(split).analyzer.tokenizer == tokenizer


def test_an_own_option_that_has_a_flag_is_refused() -> None:
    with pytest.raises(OptionError, match="has a flag of its own: give threads"):
        setup_of(resolve({"max_length": 5, "strategy": "milp", "strategy_options": {"threads": 2}}))


@dataclass(frozen=True)
class Keeps(Strategy):
    """A strategy that keeps data of the problem that it is prepared for."""

    name: ClassVar[str] = "keeps"
    about: ClassVar[str] = "a test"
    sizes: dict[str, int] = field(default_factory=dict)

    def prepare(self, problem: Problem | None = None) -> None:
        self.sizes["last"] = 0 if problem is None else problem.size

    def search(self, run: Run) -> None:
        run.see((self.sizes["last"] - 1,))


def test_a_strategy_of_others_is_prepared_for_each_problem() -> None:
    for size in (3, 2, 4):
        topic = {"id": "t", "documents": [[f"a{unit}" for unit in range(size)]], "references": [["a0 a1 a2 a3"]]}
        assert solve(topic, strategy=f"{__name__}:Keeps", max_length=1).selection == (size - 1,)


def test_a_problem_that_is_prepared_in_its_own_way_is_so_each_time() -> None:
    prepared = []

    class Own(CoverageProblem):
        def prepare(self) -> None:
            prepared.append(self.size)

    ready = {CoverageProblem.of(Coverage.of([1], [{0: 1}], [[1]], max_length=1)).prepared_as}
    for size in (1, 2, 3):
        instance = Coverage.of([1] * size, [{0: 1}] * size, [[1]], constants=(0, 1), max_length=1)
        searched(Own.of(instance), setup_of(resolve({"max_length": 1})).strategy, Limits(), 0, ready=ready)
    assert prepared == [1, 2, 3]


def test_a_setup_is_warmed_up_once_and_again_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def fails_at_first(*given: Any) -> float:
        asked.append(given)
        if len(asked) == 1:
            raise BackendError("no solver")
        return 0.25

    monkeypatch.setattr(warm, "_ready", set())
    monkeypatch.setattr(warm, "_made_ready", fails_at_first)
    setup_of.cache_clear()
    setup = setup_of(resolve({"max_length": 5}))
    with pytest.raises(BackendError):
        warm.warm_up(setup)
    assert [warm.warm_up(setup) for _ in range(3)] == [0.25, 0.0, 0.0]
    assert len(asked) == 2
    setup_of.cache_clear()


def test_readiness_is_not_sent_to_other_processes() -> None:
    setup = setup_of(resolve({"max_length": 5}))
    setup.ready.add("whatever is loaded in this process")
    sent = pickle.dumps(setup)
    setup_of.cache_clear()
    assert not pickle.loads(sent).ready  # noqa: S301 - our own
