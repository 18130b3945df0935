"""Check that interpreted kernels give the answers of compiled ones, whenever compiling happens."""

from __future__ import annotations

import json
from math import inf
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from every_formulation import BUDGETS, strategies_for
from every_formulation import OBJECTIVES as COMMON
from optsum.solvers.engine.core import mix
from optsum.solvers.exhaustive.meet_in_the_middle import field_bits
from processes import printed_by

from optsum.system.clock import clock, standing
from optsum.system.compiled import TooLongError, call_plainly, njit, patience, plain_of

FOREVER = "inf"

OBJECTIVES = COMMON | {
    "product": {"metric": "ngram-1-2", "max_length": 20},
    "su4": {"metric": "rouge-su4", "max_length": 20},
}


def said(seconds: str, cells: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the results of searches whose kernels are interpreted for so many seconds."""
    given = [(strategy, {**OBJECTIVES[objective], **BUDGETS.get(strategy, {})}) for strategy, objective in cells]
    found: dict[str, Any] = printed_by("both_ways.py", seconds, json.dumps(given))
    return found


def assert_alike(cells: list[tuple[str, str]], *seconds: str) -> list[dict[str, Any]]:
    ways = [said(each, cells) for each in seconds]
    for way in ways[1:]:
        for cell, one, other in zip(cells, ways[0]["answers"], way["answers"], strict=True):
            assert one == other, cell
    return ways


def test_a_search_says_the_same_with_plain_kernels() -> None:
    cells = [("branch-and-bound", "recall"), ("vns", "recall"), ("exhaustive", "recall")]
    compiled, plain = assert_alike(cells, "0", FOREVER)
    assert compiled["interpreted"] == plain["compiled"] == []
    assert {"run_search", "go_on", "advance_pairs", "number_words"} <= set(plain["interpreted"])


def test_a_search_goes_on_when_its_kernels_are_compiled_on_the_way() -> None:
    cells = [("branch-and-bound", "recall"), ("vns", "joined"), ("genetic", "f1")]
    _, later, mixed = assert_alike(cells, "0", "0.02", "0.2")
    assert later["interpreted"]
    assert mixed["interpreted"]
    assert later["compiled"]


@pytest.mark.slow
def test_every_search_says_the_same_with_plain_kernels() -> None:
    cells = [(strategy, objective) for objective in OBJECTIVES for strategy in strategies_for(objective)]
    assert_alike(cells, "0", FOREVER)


@njit(cache=False)
def _count(values: Any, turns: int) -> Any:
    for turn in range(turns):
        values[turn % 2] += 1
    return values[0] * 2**62, turns, 0.5


def test_numbers_have_the_types_of_kernels() -> None:
    assert call_plainly(plain_of(field_bits), (np.array([[0, 0, 1, 63, 63]]), 0, 63, 0), 9.0) == -1 & (2**63 - 1)
    values = np.zeros(2, np.int64)
    found = call_plainly(plain_of(_count), (values, 5), 9.0)
    assert found == (-(2**62), 5, 0.5)  # 3 * 2^62 wraps around
    assert [type(one) for one in found] == [int, int, float]
    assert values.tolist() == [3, 2]
    assert call_plainly(plain_of(mix), (np.uint64(3),), 9.0) == int(mix(np.uint64(3)))


@pytest.mark.parametrize("error", [TooLongError, KeyboardInterrupt])
def test_an_abandoned_call_leaves_its_arguments_unchanged(error: type[BaseException]) -> None:
    def interrupted(values: Any, _: int) -> None:
        values[0] = 9
        raise KeyboardInterrupt

    values, fixed = np.zeros(2, np.int64), np.ones(1, np.int64)
    fixed.flags.writeable = False
    function = plain_of(_count) if error is TooLongError else interrupted
    with pytest.raises(error):
        call_plainly(function, ((values,)[0], 10**12), 0.01)
    assert values.tolist() == [0, 0]


def test_a_rehearsal_interprets_for_a_moment_and_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "left_s", 60.0)
    kernel = njit(cache=False)(_count.py_func)
    values = np.zeros(2, np.int64)
    with patience.rehearsing():
        kernel(values, 3)
        assert values.tolist() == [2, 1]
        kernel(values, 10**12)
        raise AssertionError("it went on")
    assert values.tolist() == [2, 1]
    assert kernel.compiled is None
    assert kernel(values, 2)[1] == 2  # afterwards it can be called as before


def test_the_clock_of_searches_stops_in_a_pause() -> None:
    before = clock()
    with standing():
        stood = clock()
        with standing():
            assert clock() == stood
        assert clock() == stood
    assert before <= stood <= clock()


def test_a_rehearsal_is_of_its_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "left_s", 60.0)
    kernel = njit(cache=False)(_count.py_func)
    rehearses, ends = Event(), Event()

    def rehearse() -> None:
        with patience.rehearsing():
            rehearses.set()
            ends.wait(60.0)

    other = Thread(target=rehearse)
    other.start()
    rehearses.wait(60.0)
    for _ in range(20):  # longer than a rehearsal may take
        assert kernel(np.zeros(2, np.int64), 2_000)[1] > 0
    with patience.rehearsing():  # it began before the other, and ends after it
        ends.set()
        other.join()
    assert patience.thread.rehearsal_s == inf
