"""Test `solve` and `solve_all`: order, errors as rows, seeds, times, interruptions."""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.contracts.result import Result, Status
from optsum.corpus.topic import BadTopic
from optsum.errors import (
    BackendError,
    InputError,
    OptionError,
    UnknownNameError,
    UnsupportedError,
    describe,
    show_tracebacks,
    tracebacks_are_shown,
)
from optsum.options.options import resolve
from optsum.running import one_problem
from optsum.running.one_problem import setup_of, unsolved, warm_up
from optsum.system.clock import Termination


def topic(name: str = "t", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "documents": [["a b c", "c d", "e"], ["b b d", "x y z"]],
        "references": [["b c d"], ["a d"]],
        **more,
    }


TOPICS = [topic(f"t{number}", references=[["b c d"][: number + 1], ["e", "x"]]) for number in range(5)]


def told(results: Iterator[Result] | list[Result]) -> list[tuple[str | None, str, Any, Any]]:
    """Return the parts of results that do not depend on the machine."""
    return [(result.id, result.status.value, result.selection, result.objective_exact) for result in results]


def test_a_topic_is_solved() -> None:
    result = optsum.solve(topic(), max_length=5)
    assert (result.id, result.status, result.termination) == ("t", Status.OPTIMAL, Termination.COMPLETED)
    assert (result.numerator, result.denominator, result.selection, result.length) == (5, 5, (0, 1), 5)
    assert result.summary == ("a b c", "c d")
    assert result.rouge is not None
    assert result.rouge["rouge-1"]["recall"] == 1.0
    assert (result.strategy, result.backend, result.metric, result.formulation) == (
        "auto", None, "rouge-1", "extractive",
    )  # fmt: skip
    assert result.config_hash == resolve({"max_length": 5}).config_hash


def test_nothing_that_fits_is_an_optimum_too() -> None:
    result = optsum.solve(topic(), max_length=0)
    assert (result.status, result.selection, result.objective, result.gap) == (Status.OPTIMAL, (), 0.0, 0.0)


def test_options_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "options.toml"
    path.write_text('max-length = 2\nstrategy = "exhaustive"')
    assert optsum.solve(topic(), config=path).strategy == "exhaustive"
    assert optsum.solve(topic(), config=path, strategy="greedy").strategy == "greedy"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"strategy": "gredy"}, UnknownNameError),
        ({"formulation": "extractiv"}, UnknownNameError),
        ({"backend": "hihgs"}, UnknownNameError),
        ({"backend": "pyomo:nosuch"}, BackendError),
        ({"backend": "pyomo:cbc"}, BackendError),
        ({"backend": "pyomo:"}, OptionError),
        ({"metric": "rouge-l", "counts": "set"}, UnsupportedError),
        ({"max_length": None}, OptionError),
    ],
    ids=str,
)
def test_options_that_fail_on_any_topic_are_refused_before_any_work(options: dict[str, Any], error: type) -> None:
    def untouched() -> Iterator[dict[str, Any]]:
        raise AssertionError("a topic was read")
        yield

    if options.get("backend") == "pyomo:cbc":
        import shutil

        if shutil.which("cbc"):
            pytest.skip("cbc is installed here")
    with pytest.raises(error):
        optsum.solve_all(untouched(), **{"max_length": 3, **options})
    with pytest.raises(error):
        optsum.solve(topic(), **{"max_length": 3, **options})


def test_results_come_in_the_order_of_the_input_and_one_by_one() -> None:
    endless = (topic(f"t{number}") for number in count())
    results = optsum.solve_all(endless, max_length=3)
    assert [next(results).id for _ in range(3)] == ["t0", "t1", "t2"]


def test_a_broken_topic_costs_the_others_nothing() -> None:
    given = [
        topic("first"),
        {"id": "lacks"},
        5,
        BadTopic("bad", "file.jsonl:4", "not JSON"),
        topic("blank", references=[[" "]]),
        {"documents": []},
        topic("last"),
    ]
    results = list(optsum.solve_all(given, max_length=3))  # type: ignore[arg-type]
    assert [result.id for result in results] == ["first", "lacks", None, "bad", "blank", "5", "last"]
    assert [result.status is Status.ERROR for result in results] == [False, True, True, True, True, True, False]
    assert results[3].error == "file.jsonl:4: not JSON"
    assert 'no "documents"' in str(results[1].error)
    assert "an object" in str(results[2].error)
    for result in results:
        assert Result.from_row(result.to_row()) == result
        assert result.config_hash == resolve({"max_length": 3}).config_hash


def test_solve_raises_where_solve_all_has_rows() -> None:
    with pytest.raises(InputError, match="n-gram"):
        optsum.solve(topic(references=[[" "]]), max_length=3)


def test_each_reference_is_a_problem() -> None:
    results = list(optsum.solve_all([topic("s"), topic("t")], max_length=2, references="each"))
    assert [result.id for result in results] == ["s#0", "s#1", "t#0", "t#1"]
    assert [(result.numerator, result.denominator) for result in results[:2]] == [(2, 3), (1, 2)]
    with pytest.raises(OptionError, match="solve_all"):
        optsum.solve(topic(), max_length=2, references="each")


def test_an_unexpected_exception_is_the_row_of_its_topic(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = one_problem.build

    def fails(part: Any, options: Any, *others: Any) -> Any:
        if part.id == "t1":
            raise ZeroDivisionError("division\nby zero")
        return real(part, options, *others)

    monkeypatch.setattr(one_problem, "build", fails)
    with caplog.at_level("DEBUG", logger="optsum"):
        results = list(optsum.solve_all(iter([topic("t0"), topic("t1"), topic("t2")]), max_length=3))
    assert [result.status.value for result in results] == ["optimal", "error", "optimal"]
    assert str(results[1].error).startswith("ZeroDivisionError (division by zero) in fails, test_topics.py:")
    assert "Traceback" in caplog.text


def test_errors_of_optsum_speak_for_themselves() -> None:
    assert describe(InputError("This is wrong.")) == "This is wrong."
    assert describe(KeyError()).startswith("unexpected KeyError:")


def test_tracebacks_are_shown_to_who_asks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import logging

    log = logging.Logger("apart")  # noqa: LOG001 - one that no other test sees
    monkeypatch.setattr("optsum.errors._log", log)
    assert not tracebacks_are_shown()
    show_tracebacks()
    show_tracebacks()
    assert tracebacks_are_shown()
    assert len(log.handlers) == 1
    describe(KeyError("x"))
    assert "KeyError" in capsys.readouterr().err


def test_the_seed_of_a_topic_does_not_depend_on_the_others() -> None:
    options: dict[str, Any] = {"max_length": 4, "strategy": "random", "seed": 3}
    forward = told(optsum.solve_all(TOPICS, **options))
    assert sorted(told(optsum.solve_all(TOPICS[::-1], **options)), key=str) == sorted(forward, key=str)
    assert len({selection for _, _, selection, _ in forward}) > 1


def test_getting_ready_is_reported_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.running.one_problem._ready", set())
    setup_of.cache_clear()
    options: dict[str, Any] = {"max_length": 4, "metric": "rouge-3", "min_length": 1}
    results = list(optsum.solve_all([topic(f"t{number}", references=[["a b c d"]]) for number in range(3)], **options))
    assert [result.status for result in results] == [Status.OPTIMAL] * 3
    assert results[0].timing.warm_up_s
    assert all(result.timing.warm_up_s is None for result in results[1:])
    same = resolve({**options, "max_length": 3, "seed": 7, "workers": 2})
    assert warm_up(setup_of(same)) == 0.0  # already warmed up


def test_seconds_are_text_and_search_but_not_getting_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.running.one_problem._ready", set())
    setup_of.cache_clear()
    slow = one_problem.searched

    def first_is_slow(*given: Any, **named: Any) -> Any:
        if one_problem.searched is not slow:
            monkeypatch.setattr(one_problem, "searched", slow)
            time.sleep(0.3)
        return slow(*given, **named)

    monkeypatch.setattr(one_problem, "searched", first_is_slow)
    result = optsum.solve(topic(), max_length=4, strategy="greedy")
    timing = result.timing
    assert timing.warm_up_s > 0.3
    assert result.seconds < 0.3
    assert 0 < timing.text_s < result.seconds
    assert 0 < timing.search_s < result.seconds
    assert result.to_row()["statistics"]["text_s"] == timing.text_s
    assert Result.from_row(result.to_row()) == result


def test_interrupted_searches_that_hold_a_selection_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    real = one_problem.searched

    def interrupted(problem: Any, *given: Any, **named: Any) -> Any:
        from optsum.contracts.strategy import Strategy

        class Stopped(Strategy):
            name = "stopped"
            about = "a test"

            def search(self, run: Any) -> None:
                run.see(())
                raise KeyboardInterrupt

        return real(problem, Stopped(), optsum.Limits(), 0)

    results = optsum.solve_all(iter(TOPICS), max_length=4)
    assert next(results).termination is Termination.COMPLETED
    monkeypatch.setattr(one_problem, "searched", interrupted)
    last = next(results)
    assert (last.id, last.termination, last.selection) == ("t1", Termination.INTERRUPTED, ())
    with pytest.raises(KeyboardInterrupt):
        next(results)


@pytest.mark.parametrize("where", ["running.one_problem.build", "problem.objective.official_scores"])
def test_an_interruption_outside_the_search_leaves_what_was_done(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pkgutil.resolve_name(f"optsum.{where}")
    calls = count()

    def interrupted(*given: Any, **named: Any) -> Any:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return real(*given, **named)

    alone: dict[str, Any] = {"max_length": 4, "references": "each", "time_limit": 600.0}  # one by one
    warm_up(setup_of(resolve(alone)))
    monkeypatch.setattr(f"optsum.{where}", interrupted)
    results = optsum.solve_all([topic("s"), topic("t"), topic("u")], **alone)
    assert [result.id for result in islice(results, 3)] == ["s#0", "s#1", "t#0"]
    with pytest.raises(KeyboardInterrupt):
        next(results)


def test_an_interruption_of_the_warm_up_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.running.one_problem._ready", set())
    setup_of.cache_clear()

    def interrupted(task: Any, setup: Any, **_: Any) -> Result:
        return unsolved(task.id, setup, Termination.INTERRUPTED)

    monkeypatch.setattr(one_problem, "run_task", interrupted)
    with pytest.raises(KeyboardInterrupt):
        optsum.solve_all([], max_length=3)
