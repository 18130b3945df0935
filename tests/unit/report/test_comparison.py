"""Test comparisons of strategies: ratios, contradictions, failures, times, the exact strategy."""

from __future__ import annotations

import importlib
import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest
from optsum.solvers import certificate

import optsum
from optsum.contracts.result import Result, Status, Timing
from optsum.corpus.topic import BadTopic, as_topic
from optsum.errors import OptionError, OptsumError, UnknownNameError
from optsum.options.options import resolve
from optsum.report import comparison as side_by_side
from optsum.report import tables
from optsum.report.comparison import Comparison, compare, compare_topics, plan_of
from optsum.running.one_problem import Setup, build, setup_of
from optsum.system.clock import Stopped, Termination

OPTIONS: dict[str, Any] = {"metric": "rouge-2", "max_length": 50}
GREEDY_MISSES = {"id": "t", "documents": [["a b c", "a x", "b c d y"]], "references": [["a b c d"]]}


@pytest.fixture(scope="module")
def news() -> list[Any]:
    return list(optsum.read_topics(Path(__file__).parents[3] / "examples" / "data" / "news.jsonl"))


def result(strategy: str, key: Fraction | int | None, bound: Fraction | int | None = None, **more: Any) -> Result:
    """Return the result of a search that found `key` and proved `bound`."""
    status = Status.NO_SOLUTION if key is None else Status.OPTIMAL if key == bound else Status.FEASIBLE
    holds = key is not None
    return Result(
        **{
            "id": "t",
            "strategy": strategy,
            "status": status,
            "termination": Termination.COMPLETED,
            "objective": float(key) if holds else None,
            "objective_exact": str(Fraction(key)) if holds else None,
            "bound": None if bound is None else float(bound),
            "bound_exact": None if bound is None else str(Fraction(bound)),
            "selection": () if holds else None,
            "timing": Timing(1.0, 4.0, 3.0),
            **more,
        }
    )


def table_of(*problems: list[Result], exact: str = "milp") -> Comparison:
    table = Comparison(plan_of(["greedy"], exact, max_length=3))
    for results in problems:
        table.add(results)
    return table


def test_the_table_is_what_single_runs_give(news: list[Any]) -> None:
    strategies = ["greedy", "lead", "random"]
    table = compare(news, strategies, **OPTIONS)
    single = {name: list(optsum.solve_all(news, strategy=name, **OPTIONS)) for name in ("auto", *strategies)}
    assert [row.strategy for row in table.rows] == list(single)
    for row in table.rows:
        keys = [(found.key, best.key) for found, best in zip(single[row.strategy], single["auto"], strict=True)]
        ratios = [float(key / best) for key, best in keys]
        assert row.mean_objective == pytest.approx(fmean(float(key) for key, _ in keys))
        assert row.mean_ratio == pytest.approx(fmean(ratios))
        assert row.min_ratio == pytest.approx(min(ratios))
        assert (row.reached, row.optima) == (sum(key == best for key, best in keys), len(news))
        assert (row.problems, row.solved, row.failed, row.guaranteed) == (len(news), len(news), 0, 0)
    assert table.rows[0].reached == len(news)
    assert table.rows[1].reached < len(news)  # greedy search is not optimal on some
    for found in table.results:
        alone = next(each for each in single[found.strategy] if each.id == found.id)
        assert (found.selection, found.key, found.bound_key, found.config_hash) == (
            alone.selection, alone.key, alone.bound_key, alone.config_hash,
        )  # fmt: skip


def test_the_exact_strategy_comes_first_and_once() -> None:
    assert plan_of(["greedy", "auto", "lead"], max_length=3).strategies == ["auto", "greedy", "lead"]
    assert plan_of(["greedy", "milp", "exhaustive"], max_length=3).strategies == ["milp", "greedy", "exhaustive"]
    timed = plan_of(["greedy", "milp"], max_length=3, exact_time_limit=9)  # the exact strategy's limit
    assert timed.strategies == ["auto", "greedy", "milp"]
    assert plan_of("lead, greedy", "exhaustive", max_length=3).strategies == ["exhaustive", "lead", "greedy"]
    assert plan_of(["lead"], "none", max_length=3).strategies == ["lead"]
    assert plan_of(max_length=3).strategies == ["auto", "greedy", "lead", "random"]


@pytest.mark.parametrize(
    ("given", "error", "reason"),
    [
        ({"strategies": ["gredy"]}, UnknownNameError, "did you mean greedy"),
        ({"exact": "milb"}, UnknownNameError, "did you mean milp"),
        ({"exact": "greedy"}, OptionError, "greedy is not exact: for exact choose auto, milp"),
        ({"strategies": "greedy,greedy"}, OptionError, "named twice"),
        ({"strategies": " , "}, OptionError, "no strategy to compare"),
        ({"strategies": 3}, OptionError, "not a list of names"),
        ({"max_length": None}, OptionError, "needs a limit"),
        ({"max_lenght": 3}, UnknownNameError, "max_length"),
    ],
)
def test_impossible_comparisons_are_refused(given: dict[str, Any], error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=reason):
        compare([], **{"max_length": 3, **given})


def test_strategies_and_the_exact_one_can_stand_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text('max-length = 3\nstrategies = ["lead"]\nexact = "exhaustive"\nstrategy = "greedy"')
    assert plan_of(config=file).strategies == ["exhaustive", "lead"]
    assert plan_of(["random"], "none", config=file).strategies == ["random"]


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        ({"max_length": 3}, "auto"),
        ({"preset": "presumm"}, "auto"),
        ({"metric": "rouge-l", "measure": "f1"}, "auto"),
        ({"formulation": "cover"}, "auto"),
        ({"max_length": 3, "backend": "highs"}, "milp"),
        ({"metric": "ngram-1-2", "max_length": 3, "backend": "highs"}, "auto"),
        ({"max_length": 3, "strategy": "exhaustive"}, "exhaustive"),
        ({"metric": "rouge-l", "measure": "f1", "strategy": "branch-and-bound"}, "branch-and-bound"),
    ],
)
def test_the_exact_strategy_is_one_that_serves(given: dict[str, Any], exact: str) -> None:
    plan = plan_of(["greedy"], **given)
    assert (plan.exact, plan.strategies) == (exact, [exact, "greedy"])


def test_a_strategy_that_cannot_prove_says_which_can() -> None:
    with pytest.raises(OptsumError, match=r"geometric mean.* use branch-and-bound or exhaustive\.$"):
        compare([GREEDY_MISSES], ["greedy"], "milp", metric="ngram-1-2", max_length=6)
    table = compare([GREEDY_MISSES], ["greedy"], metric="rouge-1+rouge-2", measure="f1")
    assert [row.strategy for row in table.rows] == ["auto", "greedy"]
    assert table.optima == 1


def test_the_backend_is_that_of_milp() -> None:
    table = compare([GREEDY_MISSES], ["greedy"], max_length=6, backend="pyomo:highs")
    assert [found.backend for found in table.results] == ["pyomo:highs", None]


def test_ratios_are_exact_and_one_where_both_are_zero() -> None:
    table = table_of(
        [result("milp", Fraction(2, 3), Fraction(2, 3)), result("greedy", Fraction(1, 2), Fraction(9, 10))],
        [result("milp", 0, 0), result("greedy", 0, 1)],
        [result("milp", 1, 1), result("greedy", 0, 1)],
    )
    row = table.rows[1]
    assert row.mean_ratio == pytest.approx((0.75 + 1 + 0) / 3)
    assert (row.min_ratio, row.reached, row.optima, row.ratios, row.guaranteed) == (0.0, 1, 3, 3, 0)


@pytest.mark.parametrize(("best", "value", "ratio"), [(-6, -8, 0.75), (-6, -6, 1), (6, -8, 0), (0, -8, 0)])
def test_ratios_below_zero(best: int, value: int, ratio: float) -> None:
    assert table_of([result("milp", best, best), result("greedy", value, 9)]).rows[1].mean_ratio == ratio


def test_values_that_are_equal_only_as_floats_differ() -> None:
    best, close = Fraction(10**17, 10**17 + 1), Fraction(10**17 - 1, 10**17)
    assert float(best) == float(close)
    assert table_of([result("milp", best, best), result("greedy", close, 1)]).rows[1].reached == 0


@pytest.mark.parametrize("strategies", [("greedy", "milp"), ("milp", "lead"), ("milp", "greedy", "greedy"), ("lead",)])
def test_results_of_other_strategies_are_refused(strategies: tuple[str, ...]) -> None:
    with pytest.raises(optsum.InputError, match=r"problem 't' are of .* the comparison is of milp, greedy: give one"):
        table_of([result(strategy, 1, 1) for strategy in strategies])


def test_minimizing_inverts_the_ratio() -> None:
    table = table_of([result("milp", 6, 6), result("greedy", 8, 5)])
    assert table.rows[1].min_ratio == 0.75
    assert table.contradictions == []
    limited = table_of([result("milp", 7, 5), result("greedy", 8, 4)])
    assert limited.rows[1].min_ratio == 5 / 8  # against the tighter of the two bounds
    assert limited.rows[1].guaranteed == 1


def test_cover_is_compared_by_inverted_ratios() -> None:
    topic = {"id": "t", "cover": [[["a"], ["b", "c"]], [["b", "c"], ["d"]], [["b"], ["c"]]]}
    table = compare([topic], ["greedy"], "exhaustive", formulation="cover")
    best, greedy = table.results
    assert (best.status, best.objective) == (Status.OPTIMAL, 2.0)
    assert table.rows[1].mean_ratio == pytest.approx(2.0 / (greedy.objective or 0))


def test_without_an_optimum_the_ratio_is_a_guaranteed_lower_limit(news: list[Any]) -> None:
    exact = compare(news, ["greedy", "lead"], **OPTIONS)
    bounded = compare(news, ["greedy", "lead"], "none", **OPTIONS)
    for with_optimum, with_bound in zip(exact.rows[1:], bounded.rows, strict=True):
        assert with_bound.guaranteed > 0
        assert with_bound.guaranteed + bounded.optima == with_bound.ratios == len(news)
        assert 0 < (with_bound.mean_ratio or 0) <= (with_optimum.mean_ratio or 0)
    assert "≥ ratio" in str(bounded)
    assert "guaranteed lower limit" in str(bounded)
    assert "≥" not in str(exact)


def test_a_bound_above_the_optimum_makes_the_ratio_lower() -> None:
    found = result("greedy", Fraction(1, 3), Fraction(2, 3))
    with_optimum = table_of([result("milp", Fraction(1, 2), Fraction(1, 2)), found]).rows[1]
    (with_bound,) = table_of([found], exact="none").rows
    assert (with_bound.mean_ratio, with_bound.guaranteed) == (1 / 2, 1)
    assert (with_optimum.mean_ratio, with_optimum.guaranteed) == (pytest.approx(2 / 3), 0)


def test_a_selection_that_attains_a_bound_is_optimal() -> None:
    table = table_of([result("milp", Fraction(1, 3), Fraction(1, 2)), result("greedy", Fraction(1, 2), 1)])
    assert (table.optima, [row.reached for row in table.rows]) == (1, [0, 1])


@pytest.mark.parametrize(
    "claims",
    [
        [result("milp", Fraction(1, 2), Fraction(1, 2)), result("greedy", Fraction(2, 3), 1)],
        [result("milp", 1, 1), result("greedy", 2, 2)],
        [result("milp", None, status=Status.INFEASIBLE), result("greedy", 1, 2)],
        [result("milp", 3, 5), result("greedy", 6, 7)],
    ],
)
def test_contradictory_claims_are_reported(claims: list[Result]) -> None:
    table = table_of(claims)
    (said,) = table.contradictions
    assert said.startswith("t: milp ")
    assert ", greedy " in said
    assert "CONTRADICTION on 1 problem: " in str(table)
    assert all(row.mean_ratio is None and row.guaranteed == 0 for row in table.rows)
    assert said in str(table).replace("\n", " ")


def test_proven_infeasibility_is_reported() -> None:
    nothing = result("milp", None, status=Status.INFEASIBLE)
    table = table_of([nothing, result("greedy", None, status=Status.NO_SOLUTION)])
    assert [row.infeasible for row in table.rows] == [1, 0]
    assert any("(milp)" in line and " infeasible " in line for line in str(table).splitlines())
    assert "No selection keeps all limits in 1 of 1, as milp has proven." in str(table)


def test_failures_are_counted_and_leave_the_means_alone() -> None:
    error = result("greedy", None, status=Status.ERROR, termination=Termination.FAILED, error="no")
    table = table_of(
        [result("milp", 2, 2), result("greedy", 1, 2)],
        [result("milp", 4, 4), error],
        [result("milp", 3, 3), result("greedy", None, 4)],
        [result("milp", None, status=Status.INFEASIBLE), result("greedy", None, 4)],
    )
    milp, greedy = table.rows
    assert (milp.solved, milp.failed, milp.mean_objective) == (4, 0, 3.0)
    assert (greedy.solved, greedy.failed, greedy.mean_objective, greedy.mean_ratio) == (1, 3, 1.0, 0.5)
    assert "Means are over the problems that a strategy solved." in str(table)


def test_broken_topics_fail_for_all() -> None:
    table = compare([BadTopic("b", "f:1", "not JSON"), GREEDY_MISSES], ["greedy"], max_length=6)
    assert [(row.problems, row.solved, row.failed) for row in table.rows] == [(2, 1, 1), (2, 1, 1)]
    assert [found.error for found in table.results[:2]] == ["f:1: not JSON"] * 2


def test_one_strategy_that_fails_costs_the_others_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = side_by_side.run_task

    def fails(task: Any, setup: Setup, **named: Any) -> Result:
        if setup.strategy.name == "greedy":
            raise MemoryError
        return real(task, setup, **named)

    monkeypatch.setattr(side_by_side, "run_task", fails)
    table = compare([GREEDY_MISSES], ["greedy", "lead"], max_length=6)
    assert [row.failed for row in table.rows] == [0, 1, 0]
    assert "memory ran out" in str(table.results[1].error)


def test_time_is_from_text_to_answer_without_the_certificate() -> None:
    table = table_of([result("milp", 2, 2), result("greedy", 1, 2)])
    assert table.rows[1].mean_seconds == table.rows[1].median_seconds == 1.0 + 4.0 - 3.0
    empty = table_of()
    assert empty.rows[0].mean_seconds is None
    assert "0 problems" in str(empty)


def test_median_and_mean_are_of_all_problems() -> None:
    times = [Timing(0.0, value) for value in (1.0, 2.0, 9.0)]
    table = table_of(*([result("milp", 1, 1), result("greedy", 1, 1, timing=each)] for each in times))
    assert (table.rows[1].mean_seconds, table.rows[1].median_seconds) == (4.0, median([1.0, 2.0, 9.0]))


def test_a_problem_is_built_once_for_each_set_of_units_and_bounded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()
    real_build, real_bound = side_by_side.build, certificate.certify

    def counted_build(topic: Any, setup: Setup, *others: Any) -> Any:
        calls[f"build {setup.strategy.all_units}"] += 1
        return real_build(topic, setup, *others)

    def counted_bound(problem: Any, deadline: Any) -> Any:
        calls["bound"] += 1
        return real_bound(problem, deadline)

    compare([], ["greedy", "lead", "random"], max_length=6)  # warm up
    monkeypatch.setattr(side_by_side, "build", counted_build)
    monkeypatch.setattr(certificate, "certify", counted_bound)
    table = compare([GREEDY_MISSES], ["greedy", "lead", "random"], max_length=6)
    assert table.rows[0].failed == 0
    assert calls == {"build False": 1, "build True": 1, "bound": 2}


def test_no_strategy_profits_from_what_another_computed() -> None:
    problem = build(as_topic(GREEDY_MISSES), setup_of(resolve({"max_length": 6}))).problem
    _ = problem.linear_model
    fresh = replace(problem)
    assert "linear_model" in vars(problem)
    assert "linear_model" not in vars(fresh)
    assert fresh.root_bound() == problem.root_bound()
    assert fresh.evaluate((0,)) == problem.evaluate((0,))


def test_building_counts_for_every_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    real = side_by_side.build

    def slow(topic: Any, options: Any, *others: Any) -> Any:
        import time

        time.sleep(0.05)
        return real(topic, options, *others)

    monkeypatch.setattr(side_by_side, "build", slow)
    table = compare([GREEDY_MISSES], ["greedy", "lead"], max_length=6)
    assert all((row.mean_seconds or 0) > 0.05 for row in table.rows)
    assert all(found.seconds > 0.05 for found in table.results)


def test_a_stop_while_building_keeps_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any) -> Any:
        raise Stopped(Termination.MEMORY_LIMIT, "the text is too large")

    monkeypatch.setattr(side_by_side, "build", stopped)
    for found in compare([GREEDY_MISSES], ["greedy", "lead"], max_length=6).results:
        assert (found.termination, found.detail) == (Termination.MEMORY_LIMIT, "the text is too large")


def test_results_need_not_be_kept() -> None:
    assert compare([GREEDY_MISSES], ["greedy"], max_length=6, keep_results=False).results == []


def test_each_reference_is_a_problem() -> None:
    topic = {**GREEDY_MISSES, "references": [["a b"], ["c d"]]}
    table = compare([topic], ["greedy"], max_length=6, references="each")
    assert [found.id for found in table.results] == ["t#0", "t#0", "t#1", "t#1"]
    assert table.problems == 2


def test_processes_change_nothing_but_times(news: list[Any]) -> None:
    one, two = (compare(news[:4], ["greedy", "random"], workers=workers, **OPTIONS) for workers in (1, 2))
    for left, right in zip(one.rows, two.rows, strict=True):
        assert (left.mean_objective, left.mean_ratio, left.reached) == (
            right.mean_objective, right.mean_ratio, right.reached,
        )  # fmt: skip
    assert [found.selection for found in one.results] == [found.selection for found in two.results]


def test_an_interruption_leaves_the_problems_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = side_by_side.run_task

    def interrupted(task: Any, setup: Setup, **named: Any) -> Result:
        if (task.id, setup.strategy.name) == ("u", "greedy"):
            raise KeyboardInterrupt
        return real(task, setup, **named)

    plan = plan_of(["greedy", "lead"], max_length=6)
    table = Comparison(plan)
    stream = compare_topics([GREEDY_MISSES, {**GREEDY_MISSES, "id": "u"}], plan)
    monkeypatch.setattr(side_by_side, "run_task", interrupted)
    table.add(next(stream))
    done = next(stream)
    assert [(found.id, found.strategy) for found in done] == [("u", "auto")]
    table.add(done)
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    assert (table.problems, len(table.results)) == (1, 4)


def test_print_gives_aligned_lines(news: list[Any]) -> None:
    table = compare(news, ["greedy"], **OPTIONS)
    lines = str(table).split("\n")
    assert lines[0] == "8 problems: rouge-2 recall, at most 50 words"
    start = next(number for number, line in enumerate(lines) if line.startswith("strategy"))
    assert [line.split()[0] for line in lines[start + 2 : start + 4]] == ["optimum", "greedy"]
    assert lines[start + 2].startswith("optimum (auto) ")
    assert len({len(line) for line in lines[start : start + 4]}) == 1
    assert all(line == line.rstrip() for line in lines)


def test_a_data_frame_needs_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def missing(name: str, *more: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(tables, "import_module", missing)
    with pytest.raises(OptsumError, match=r"needs pandas: pip install 'optsum\[report\]'"):
        table_of().to_pandas()


def test_a_data_frame_has_the_rows() -> None:
    pytest.importorskip("pandas")
    table = table_of([result("milp", 2, 2), result("greedy", 1, 2)])
    frame = table.to_pandas()
    assert list(frame["strategy"]) == ["milp", "greedy"]
    assert list(frame["mean_ratio"]) == [1.0, 0.5]


def test_a_comparison_can_be_pickled() -> None:
    topic = {"id": "t", "documents": [["a b", "c d"]], "references": [["a b"]]}
    made = compare([topic], strategies=["greedy", "lead"], max_length=2)
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    assert again.results == made.results
    assert list(map(str, again.tables())) == list(map(str, made.tables()))


def test_a_comparison_and_its_tables_have_a_short_repr() -> None:
    topic = {"id": "t", "documents": [["a b", "b c"]], "references": [["a b c"]]}
    compared = optsum.compare([topic], ["lead"], max_length=2)
    assert repr(compared).startswith("<Comparison: 2 rows of strategy, objective, ")
    assert repr(compared.tables()[0]).startswith("<Table: 2 rows of strategy, objective, ")


def test_options_that_no_strategy_uses_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    topic = {"id": "t", "documents": [["a b", "c d"]], "references": [["a b"]]}
    for strategies, exact, said in (
        (("greedy", "vns"), "none", ["bound changes nothing with the strategies greedy and vns"]),
        (("greedy",), "none", ['bound changes nothing with strategy="greedy"']),
        (("greedy",), "branch-and-bound", []),
    ):
        caplog.clear()
        optsum.compare([topic], strategies=strategies, exact=exact, max_length=2, bound="knapsack")
        assert [record.getMessage() for record in caplog.records] == said


def test_solver_options_of_a_comparison_without_a_solver_name_its_own_option() -> None:
    topic = {"id": "t", "documents": [["a"]], "references": [["a"]]}
    with pytest.raises(OptionError, match="leave it out, or add milp to"):
        compare([topic], ["lead"], exact="none", backend="cbc", max_length=3)


def test_a_single_strategy_is_refused_and_one_of_a_file_that_is_not_run_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(OptionError, match="name them by strategies, and leave out strategy"):
        compare([GREEDY_MISSES], ["greedy"], max_length=3, strategy="vns")
    file = tmp_path / "options.toml"
    for name, said in (("vns", 1), ("greedy", 0), ("milp", 0)):  # milp, which is exact, proves the optima
        caplog.clear()
        file.write_text(f'max-length = 3\nstrategy = "{name}"')
        compare([GREEDY_MISSES], ["greedy"], config=file)
        assert sum("strategy changes nothing in a comparison" in each.getMessage() for each in caplog.records) == said
