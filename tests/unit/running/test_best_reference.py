"""Test --references best: one problem for each reference, one answer, and the union of the optima."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optsum.solvers.milp import Milp

import optsum
from optsum.contracts.result import Result, Status
from optsum.corpus.topic import as_topic
from optsum.errors import InputError, OptionError, UnsupportedError
from optsum.metrics.rouge import agreed_reference, parse_metric, rouge_all
from optsum.optima.diagram import Diagram
from optsum.options.options import resolve
from optsum.registry import STRATEGIES
from optsum.running import one_problem
from optsum.running.enumerate import union_of
from optsum.running.one_problem import best_result, build, setup_of
from optsum.running.solve import solve_topics
from optsum.system.clock import Deadline, Limits, Stopped, Termination
from optsum.testing import random_topic

TOPIC: dict[str, Any] = {
    "id": "t",
    "documents": [["a b c d", "a a b", "c d e f", "x y", "a b c d e f"]],
    "references": [["a b x q"], ["a e f a"], ["c d e f g"], ["q"]],
}

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "data"

WAYS = ["each searched", "bounded first"]
WAYS_OF = [(name, way) for name in STRATEGIES.names() for way in WAYS[: 1 + STRATEGIES.load(name).exact]]
"""Nothing is bounded first for a strategy that proves nothing."""


@pytest.fixture(params=WAYS)
def bounded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Search small topics normally, and again as if they were large, where bounds rule out references first."""
    large = request.param == "bounded first"
    if large:
        monkeypatch.setattr("optsum.running.one_problem._LARGE", 0)
    return large


def topics() -> Iterator[dict[str, Any]]:
    for seed in range(20):
        topic = random_topic(np.random.default_rng(seed), sentences=6)
        yield topic | {"references": [text for text in topic["references"] if " ".join(text).split()]}


def apart(topic: dict[str, Any], **options: Any) -> list[optsum.Oracles]:
    """Return all optima of each reference by itself."""
    singles = [topic | {"references": [reference]} for reference in topic["references"]]
    return [optsum.enumerate_optima(single, strategy="exhaustive", **options) for single in singles]


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize(
    ("options", "ties"),
    [
        ({"max_length": 7}, 0),
        ({"max_length": 9, "min_length": 7}, 0),
        ({"measure": "f1"}, 0),
        ({"max_length": 12, "metric": "rouge-1", "counts": "set"}, 3),
    ],
)
def test_the_best_of_all_references_and_the_union_of_its_optima(options: dict[str, Any], ties: int) -> None:
    several = 0
    for topic in topics():
        try:
            single = apart(topic, **options)
        except InputError:
            continue  # the reference has no bigram
        keys = [oracles.result.key for oracles in single]
        known = [key for key in keys if key is not None]
        result = optsum.solve(topic, references="best", strategy="exhaustive", **options)
        assert result.key == max(known, default=None)
        if not known:
            assert result.status is Status.INFEASIBLE
            continue
        assert result.status is Status.OPTIMAL
        assert result.extra["reference"] == keys.index(max(known))
        reaching = [oracles for oracles, key in zip(single, keys, strict=True) if key == max(known)]
        expected = {frozenset(optimum) for oracles in reaching for optimum in oracles}
        several += len(reaching) > 1 and len(expected) > reaching[0].count
        optima = optsum.enumerate_optima(topic, references="best", strategy="exhaustive", **options)
        assert [*map(frozenset, optima)] == [*dict.fromkeys(map(frozenset, optima))]
        assert {frozenset(optimum) for optimum in optima} == expected
        assert (optima.count, optima.complete) == (len(expected), True)
        assert optima.always == tuple(sorted(frozenset.intersection(*expected)))
        if options.get("measure") != "f1":
            again = optsum.enumerate_optima(topic, references="best", strategy="branch-and-bound", **options)
            assert {frozenset(optimum) for optimum in again} == expected
        assert optsum.solve(topic, references="best", strategy="milp", **options).key == max(known)
    assert several >= ties


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("strategy", ["auto", "branch-and-bound", "milp"])
def test_references_that_give_no_more_are_not_searched_to_the_end(strategy: str) -> None:
    options: dict[str, Any] = {"metric": "rouge-1+rouge-2", "measure": "f1", "boundaries": "joined"}
    for topic in [*topics()][:8]:
        try:
            keys = [oracles.result.key or 0 for oracles in apart(topic, **options)]
        except InputError:
            continue  # the reference has no bigram
        result = optsum.solve(topic, references="best", strategy=strategy, **options)
        assert (result.status, result.key) == (Status.OPTIMAL, max(keys))
        assert result.extra["reference"] == keys.index(max(keys))


@pytest.mark.usefixtures("bounded")
def test_a_row_says_which_reference_it_was() -> None:
    result = optsum.solve(TOPIC, references="best", max_length=6)
    assert (result.objective, result.extra["reference"], result.id) == (0.8, 2, "t")
    assert result.statistics["reference_objectives"] == {"0": 0.75, "1": 0.75, "2": 0.8, "3": 0.0}
    row = json.loads(json.dumps(result.to_row()))
    assert row["reference"] == 2
    assert Result.from_row(row).extra["reference"] == 2


def test_one_reference_is_the_best_of_one() -> None:
    result = optsum.solve(TOPIC | {"references": [["a b"]]}, references="best", max_length=6)
    assert (result.status, result.extra["reference"]) == (Status.OPTIMAL, 0)


@pytest.mark.usefixtures("bounded")
def test_a_reference_with_nothing_to_count_costs_nothing_and_several_are_refused() -> None:
    blank = TOPIC | {"references": [["?!"], ["a b"]]}
    assert optsum.solve(blank, references="best", max_length=6).extra["reference"] == 1
    with pytest.raises(InputError, match="no rouge-1 n-gram"):
        optsum.solve(TOPIC | {"references": [["?!"], ["--"]]}, references="best", max_length=6)
    (row,) = optsum.solve_all([TOPIC | {"references": [["?!"], ["--"]]}], references="best", max_length=6)
    assert row.status is Status.ERROR


@pytest.mark.usefixtures("bounded")
def test_a_result_not_proven_for_every_reference_is_not_optimal() -> None:
    """Check that limits stop every reference early, and that the bound is the largest of theirs."""
    words = " ".join("abcdefghij")
    topic = {"id": "t", "documents": [list("abcdefghij") * 3], "references": [[words[:9]], [words]]}
    free = optsum.solve(topic, references="best", strategy="exhaustive", max_length=6)
    short = optsum.solve(topic, references="best", strategy="exhaustive", max_length=6, evaluation_limit=40)
    assert free.status is Status.OPTIMAL
    assert (short.status, short.termination) == (Status.FEASIBLE, Termination.EVALUATION_LIMIT)
    assert short.bound is not None
    assert short.objective is not None
    assert short.bound >= (free.objective or 0) >= short.objective
    greedy = optsum.solve(topic, references="best", strategy="greedy", max_length=6)
    assert greedy.status is Status.FEASIBLE
    assert (greedy.bound or 0) >= (free.objective or 0)
    optima = optsum.enumerate_optima(topic, references="best", strategy="exhaustive", max_length=6, evaluation_limit=40)
    row = optima.to_result()
    assert (optima.complete, optima.proven, row.status) == (False, True, Status.OPTIMAL)  # by greedy search and a bound
    assert [*optima] == [row.selection] == row.enumeration.optima


def single(key: str | None, bound: str | None, status: Status, termination: Termination) -> Result:
    return Result(
        strategy="s", status=status, termination=termination, selection=None if key is None else (0,),
        objective=None if key is None else float(eval_fraction(key)), objective_exact=key,
        bound=None if bound is None else float(eval_fraction(bound)), bound_exact=bound,
    )  # fmt: skip


def eval_fraction(text: str) -> float:
    top, _, bottom = text.partition("/")
    return int(top) / int(bottom or 1)


def test_a_bound_that_is_not_above_the_best_is_proof_enough() -> None:
    best = single("1/2", "1/2", Status.OPTIMAL, Termination.COMPLETED)
    late = single("1/3", "1/2", Status.FEASIBLE, Termination.TIME_LIMIT)
    found = best_result([(0, late), (1, best)])
    assert (found.status, found.termination, found.extra["reference"]) == (Status.OPTIMAL, Termination.COMPLETED, 1)
    above = single("1/3", "2/3", Status.FEASIBLE, Termination.TIME_LIMIT)
    found = best_result([(0, above), (1, best)])
    assert (found.status, found.termination) == (Status.FEASIBLE, Termination.TIME_LIMIT)
    assert found.bound_exact == "2/3"
    unknown = single(None, None, Status.NO_SOLUTION, Termination.TIME_LIMIT)
    found = best_result([(0, unknown), (1, best)])
    assert (found.status, found.bound) == (Status.FEASIBLE, None)
    nothing = single(None, None, Status.INFEASIBLE, Termination.COMPLETED)
    assert best_result([(0, nothing), (1, best)]).status is Status.OPTIMAL
    assert best_result([(0, nothing), (1, nothing)]).status is Status.INFEASIBLE
    assert best_result([(0, nothing), (1, unknown)]).status is Status.NO_SOLUTION


@pytest.mark.usefixtures("bounded")
def test_ctrl_c_ends_all_references(monkeypatch: pytest.MonkeyPatch) -> None:
    from optsum.solvers.exhaustive.strategy import Exhaustive

    calls: list[int] = []

    def interrupted(self: Any, run: Any) -> None:
        calls.append(1)
        if len(calls) == 3:  # one call belongs to the warm-up
            raise KeyboardInterrupt
        run.see((0,))
        run.prove()

    monkeypatch.setattr(Exhaustive, "search", interrupted)
    result = optsum.solve(TOPIC, references="best", strategy="exhaustive", max_length=7)
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.INTERRUPTED)
    assert len(calls) == 3


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("place", ["search", "building"])
@pytest.mark.parametrize("strategy", ["exhaustive", "branch-and-bound", "greedy"])
def test_nothing_is_claimed_of_references_that_were_not_searched(
    monkeypatch: pytest.MonkeyPatch, strategy: str, place: str
) -> None:
    """Test a best reference that comes last, and Ctrl-C before it is searched."""
    topic = TOPIC | {"references": TOPIC["references"][:3]}
    options: dict[str, Any] = {"references": "best", "strategy": strategy, "max_length": 6}
    best = optsum.solve(topic, **options).objective
    for last in (1, 2):
        calls: list[int] = []
        homes, name = (["search"], "_result") if place == "search" else (["one_problem", "enumerate"], "build")
        modules = [import_module(f"optsum.running.{home}") for home in homes]
        real = getattr(modules[0], name)

        def broken(*given: Any, real: Any = real, calls: list[int] = calls, last: int = last, **named: Any) -> Any:
            calls.append(1)
            if len(calls) == last + 1:
                raise KeyboardInterrupt
            return real(*given, **named)

        with monkeypatch.context() as patched:
            for module in modules:
                patched.setattr(module, name, broken)
            result = optsum.solve(topic, **options)
            optima = None
            if strategy != "greedy":
                calls.clear()
                optima = optsum.enumerate_optima(topic, **options)
        assert (result.status, result.termination) == (Status.FEASIBLE, Termination.INTERRUPTED)
        assert result.bound is None
        assert result.objective is not None
        assert best is not None
        assert result.objective <= best
        assert result.statistics["reference_objectives"].keys() == {"0", "1", "2"}
        if optima is not None:
            assert (optima.complete, optima.proven, optima.result.bound) == (False, False, None)
            assert (optima.result.status, optima.termination) == (Status.FEASIBLE, "interrupted")


def test_a_topic_of_which_nothing_fits_is_complete_in_every_mode() -> None:
    for references in ("pooled", "mean", "best", "first", "agreed"):
        for near in ({}, {"within": 0.1}, {"at_least": 0.5}, {"best": 2}):
            found = optsum.enumerate_optima(TOPIC, references=references, max_length=90, min_length=80, **near)  # type: ignore[arg-type]
            row = found.to_result().to_row()
            assert (found.count, found.complete, row["count"], row["complete"]) == (0, True, 0, True), references
            assert row["status"] == "infeasible"


@pytest.mark.usefixtures("bounded")
def test_comparisons_take_the_best_reference_of_each_strategy() -> None:
    table = optsum.compare([TOPIC], ["greedy", "lead"], "milp", references="best", max_length=6)
    assert [row.optima for row in table.rows] == [1, 1, 1]
    assert table.contradictions == []
    assert table.results[0].extra["reference"] == 2
    assert "best reference" in str(table)


def test_workers_give_the_same(shared_data: Path) -> None:
    given = list(optsum.read_topics(shared_data / "gum" / "topics.jsonl"))[:3]
    options = {"references": "best", "max_length": 50}
    one, two = (solve_topics(given, optsum_options({**options, "workers": workers})) for workers in (1, 2))
    assert [result.objective_exact for batch in one for result in batch] == [
        result.objective_exact for batch in two for result in batch
    ]


def optsum_options(options: dict[str, Any]) -> Any:
    from optsum.options.options import resolve

    return resolve(options)


def test_each_is_never_better_than_best_and_best_is_one_of_each(shared_data: Path) -> None:
    for topic in list(optsum.read_topics(shared_data / "gum" / "topics.jsonl"))[:5]:
        each = list(optsum.solve_all([topic], references="each", max_length=50))
        best = optsum.solve(topic, references="best", max_length=50)  # type: ignore[arg-type]
        assert best.key == max(result.key for result in each if result.key is not None)
        assert each[best.extra["reference"]].key == best.key


def test_the_first_reference_alone() -> None:
    first = optsum.solve(TOPIC, references="first", max_length=6)
    alone = optsum.solve(TOPIC | {"references": [["a b x q"]]}, max_length=6)
    assert (first.id, first.objective_exact) == ("t", alone.objective_exact)
    with pytest.raises(OptionError, match="references"):
        optsum.solve(TOPIC, references="last", max_length=6)
    with pytest.raises(OptionError, match="leave out references"):
        optsum.solve({"id": "t", "cover": [[[0]]]}, formulation="cover", references="best")


def test_families_of_different_units_are_united() -> None:
    one = Diagram.of_sets([(0,), (0, 1)])  # units 3 and 7
    two = Diagram.of_sets([(0,), (1,), ()])  # units 5 and 7
    names = (3, 5, 7)
    diagram = union_of([(one, (3, 7)), (two, (5, 7))], names)
    assert {tuple(names[unit] for unit in chosen) for chosen in diagram} == {(3,), (3, 7), (5,), (7,), ()}
    assert diagram.count == 5


def under(topic: dict[str, Any], reference: Any, selection: tuple[int, ...], **options: Any) -> Fraction | None:
    """Return the value of a selection for one reference, or None if it is infeasible."""
    every = resolve({**options, "strategy": "lead"})  # a strategy that sees all sentences
    task = build(as_topic(topic | {"references": [reference]}), setup_of(every))
    evaluation = task.problem.evaluate(tuple(task.units.index(number) for number in selection))
    return Fraction(evaluation.key) if evaluation.feasible else None


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize(("strategy", "bounded"), WAYS_OF, indirect=["bounded"])
@pytest.mark.parametrize("options", [{"max_length": 8}, {"measure": "f1"}, {"max_length": 9, "metric": "rouge-2"}])
def test_a_selection_is_worth_what_the_best_reference_gives(strategy: str, options: dict[str, Any]) -> None:
    """Check this whichever strategy and reference found the selection."""
    for topic in list(topics())[:4]:
        try:
            result = optsum.solve(topic, references="best", strategy=strategy, evaluation_limit=60, **options)
        except (InputError, UnsupportedError):
            continue  # no bigram, or not served by the strategy
        if result.selection is None:
            continue
        worth = [under(topic, reference, result.selection, **options) for reference in topic["references"]
                 if options.get("metric") != "rouge-2" or any(len(text.split()) > 1 for text in reference)]  # fmt: skip
        assert result.key == max(value for value in worth if value is not None)
        assert result.key == worth[result.extra["reference"]] or "metric" in options


def test_a_compression_found_for_one_reference_may_be_the_best_of_another() -> None:
    """Check it where a unit has several chunks, all of which a result names."""
    topic = next(optsum.read_topics(EXAMPLES / "parsed.jsonl"))
    references = [(f"About to 1962, in {words}",) for words in ("didn't bought", "fire to", "carry", "a third")]
    options: dict[str, Any] = {"formulation": "compressive", "max_length": 16, "strategy": "greedy"}
    singles = [optsum.solve(replace(topic, references=(one,)), **options) for one in references]
    best = optsum.solve(replace(topic, references=tuple(references)), references="best", **options)
    assert best.key == Fraction(3, 5) > max(Fraction(one.key or 0) for one in singles)


def test_large_topics_are_searched_with_the_references_that_may_be_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a reference whose bound is below a known value is skipped, and that the result is proven."""
    rng = np.random.default_rng(5)
    words = [f"w{number}" for number in range(60)]
    sentences = [" ".join(rng.choice(words, 5)) for _ in range(120)]
    hopeless = ["w0 " + " ".join(f"v{number}" for number in range(50))]
    near = [" ".join(rng.choice(words, 30)) for _ in range(2)]
    topic = {"id": "t", "documents": [sentences], "references": [hopeless, [near[0]], hopeless, [near[1]]]}
    options: dict[str, Any] = {"max_length": 30, "strategy": "milp", "measure": "f1"}
    alone = [optsum.solve(topic | {"references": [given]}, **options) for given in topic["references"]]
    searched: list[Any] = []
    search = Milp.search

    def counted(self: Milp, run: Any) -> None:
        searched.append(run.problem)
        search(self, run)

    monkeypatch.setattr(Milp, "search", counted)
    result = optsum.solve(topic, references="best", **options)
    assert (result.status, result.key) == (Status.OPTIMAL, max(one.key or 0 for one in alone))
    assert result.strategy == "milp"
    assert 1 <= len(searched) <= 2
    assert result.statistics["reference_objectives"].keys() == {"0", "1", "2", "3"}


def test_the_better_selection_and_the_tighter_bound_of_two_searches_are_kept() -> None:
    """Check it for a search that was stopped, and one that only proves that nothing better is left."""
    first = optsum.solve(TOPIC, max_length=6).changed(
        status=Status.FEASIBLE, objective=0.6, objective_exact="3/5", bound=0.7, bound_exact="7/10"
    )
    second = first.changed(objective=0.5, objective_exact="1/2", bound=0.65, bound_exact="13/20", nodes=1)
    for quick, result in ((first, second), (second, first)):
        merged = one_problem._merged(quick, result)
        assert (merged.objective_exact, merged.bound_exact, merged.bound) == ("3/5", "13/20", 0.65)


@pytest.mark.parametrize(
    ("left_s", "searches", "given_s", "share_s"),
    [(10.0, 1, None, 10.0), (10.0, 2, None, 2.5), (7.5, 2, 2.5, 5.0), (5.0, 4, 3.0, 5.0), (8.0, 2, 1.0, 4.0)],
)
def test_shares_of_the_limit_leave_time_for_the_last(
    left_s: float, searches: int, given_s: float | None, share_s: float
) -> None:
    assert one_problem._next_share(left_s, searches, given_s) == share_s


def test_a_reference_stopped_at_its_share_of_the_limit_is_searched_again(
    monkeypatch: pytest.MonkeyPatch, bounded: bool
) -> None:
    shares: list[float] = []
    search = Milp.search

    def ended(self: Milp, run: Any) -> None:
        shares.append(run.limits.time_s)
        if len(shares) == 1:
            raise Stopped(Termination.TIME_LIMIT)
        search(self, run)

    twice = TOPIC | {"references": [["c d e f g"], ["c d e f g"]]}
    options: dict[str, Any] = {"references": "best", "strategy": "milp", "max_length": 6, "time_limit": 60}
    optsum.solve(twice, **options)  # what a process does only once
    monkeypatch.setattr(Milp, "search", ended)
    result = optsum.solve(twice, **options)
    assert len(shares) == (3 if bounded else 2)
    assert (result.status, result.objective) == (Status.OPTIMAL if bounded else Status.FEASIBLE, 0.8)
    if bounded:
        assert shares[0] < 31 < shares[-1]


@pytest.mark.usefixtures("bounded")
def test_nothing_is_claimed_of_references_without_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topic = {
        "documents": [["a cat sat down", "dogs ran away"]],
        "references": [["the cat sat"], ["dogs ran far away"], ["all dogs ran away"]],
    }
    module = import_module("optsum.running.one_problem")
    monkeypatch.setattr(module, "too_late", lambda setup: Deadline(0.0))
    monkeypatch.setattr("optsum.running.enumerate.too_late", module.too_late)
    result = optsum.solve(topic, max_length=4, references="best", time_limit=60)
    assert (result.status.value, result.termination.value, result.bound) == ("feasible", "time_limit", None)
    assert result.selection is not None
    optima = optsum.enumerate_optima(topic, max_length=4, references="best", time_limit=60)
    assert not optima.proven
    assert not optima.complete


def test_a_limit_may_come_before_the_agreed_reference_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = {"id": "t", "documents": [["a b", "b c"]], "references": [["a b"], ["b c"], ["c"]]}
    given: dict[str, Any] = {"max_length": 2, "references": "agreed"}
    known = optsum.solve(topic, **given)
    assert (known.status, known.detail) == (Status.OPTIMAL, None)
    monkeypatch.setattr(Limits, "building", lambda self: Deadline(0.0))
    late = [
        optsum.solve(topic, **given),
        *optsum.solve_all([topic], **given),
        optsum.enumerate_optima(topic, **given).to_result(),
        optsum.frontier(topic, **given),
    ]
    for result in late:
        assert (result.id, result.status, result.termination) == ("t", Status.NO_SOLUTION, Termination.TIME_LIMIT)
        assert str(result.detail).startswith("the time limit was reached before it was known which of the 3 references")


@pytest.mark.parametrize("metric", ["rouge-1", "ngram-1-2", "rouge-1+rouge-2", "rouge-su4"])
def test_the_reference_that_another_agrees_with_best_is_that_of_all_pairs(metric: str) -> None:
    rng, parts = np.random.default_rng(1), parse_metric(metric).components
    references = [[" ".join(rng.choice(list("abcde"), 6)), "b a"] for _ in range(4)]

    def agreement(model: int, summary: int) -> Fraction:
        scores = rouge_all(references[summary], [references[model]], parts, last_unigram=True)
        values = [scores[part.name].exact("f1") for part in parts]
        return prod(values) if metric.startswith("ngram") else sum(values, Fraction(0))

    best = {model: max(agreement(model, other) for other in range(4) if other != model) for model in range(4)}
    assert agreed_reference(references, metric, "f1", last_unigram=True) == max(best, key=best.__getitem__)


@pytest.mark.parametrize("near", [{}, {"best": 2}, {"best": 3}, {"within": "40%"}, {"at_least": 0.2}])
@pytest.mark.parametrize("metric", ["rouge-1", "rouge-2"])
def test_the_best_of_one_reference_is_that_of_a_single_reference(near: dict[str, Any], metric: str) -> None:
    for topic in topics():
        one = topic | {"references": topic["references"][:1]}
        best, first = (
            optsum.enumerate_optima(one, metric=metric, max_length=5, references=references, **near)
            for references in ("best", "first")
        )
        assert (best.units, set(best), best.complete) == (first.units, set(first), True)
        assert best.value_counts() == first.value_counts()
        assert best.never == first.never
        if best.count:
            assert best.weighted_share() == pytest.approx(first.weighted_share())
            assert best.irredundant().share == first.irredundant().share


@pytest.mark.parametrize("near", [{"within": "20%"}, {"at_least": "0.2"}, {"best": 2}])
@pytest.mark.parametrize("limit", [{"node_limit": 0}, {"node_limit": 1}, {"time_limit": 0.0005}])
def test_stopped_near_optima_are_incomplete(near: dict[str, Any], limit: dict[str, Any]) -> None:
    topics = [
        {"id": "a", "documents": [["c c"]], "references": [["f"], ["c d f d"]]},
        {"id": "b", "documents": [["d d a"]], "references": [["f"], ["f e a f"]]},
        TOPIC,
    ]
    for topic in topics:
        for options in ({"max_length": 6}, {"max_length": 0, "measure": "precision"}):
            whole = optsum.enumerate_optima(topic, references="best", **options, **near)
            found = optsum.enumerate_optima(topic, references="best", **options, **near, **limit)
            assert whole.complete
            assert set(found) <= set(whole)
            assert not found.complete or found.count == whole.count


@pytest.mark.parametrize(
    ("given", "seeds"),
    # Searches of several nodes. Each of three faults (thresholds of worse references, sets of searches that had stopped
    # called known, stops that are not noted) fails in at least two of these cases.
    [
        ({"within": "0%", "measure": "f1"}, (1, 2)),
        ({"within": "20%", "measure": "f1"}, (1, 2)),
        ({"within": "20%", "max_length": 12}, (1, 3)),
        ({"within": "20%", "measure": "f1", "metric": "rouge-1+rouge-2"}, (0,)),
        ({"at_least": "0.3"}, (0, 3)),
        ({"best": 3, "measure": "precision"}, (0,)),
    ],
)
def test_the_threshold_of_stopped_near_optima_is_that_of_the_best_reference(
    given: dict[str, Any], seeds: tuple[int, ...]
) -> None:
    stopped = 0
    for seed in seeds:
        draw = np.random.default_rng(seed)
        texts = [[" ".join(draw.choice(list("abcdefghij"), draw.integers(1, 6))) for _ in range(14)] for _ in range(4)]
        topic = {"id": "t", "documents": [texts[0]], "references": [each[:4] for each in texts[1:]]}
        options = {"max_length": 9, "references": "best", **given}
        whole = optsum.enumerate_optima(topic, **options)
        for limit in (0, 1, 2, 5, 20):
            found = optsum.enumerate_optima(topic, **options, node_limit=limit)
            assert found.least in {None, whole.least}
            assert set(found) <= set(whole)
            assert found.to_result().enumeration.count <= whole.count
            assert not found.complete or set(found) == set(whole)
            assert found.complete == (found.termination == "completed")
            stopped += not found.complete
    assert stopped > len(seeds)


def test_near_optima_of_references_that_share_nothing() -> None:
    topic = {"id": "t", "documents": [["x y", "z"]], "references": [["c d c"], ["e f"]]}
    for near in ({}, {"best": 2}, {"within": "50%"}):
        found = optsum.enumerate_optima(topic, metric="rouge-2", max_length=9, references="best", **near)
        assert (found.units, list(found), found.never) == ((), [()], ())
