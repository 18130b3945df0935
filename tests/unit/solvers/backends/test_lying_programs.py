"""Check that false claims of programs become errors if they can be refuted, and never results."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fake_solvers import fake_cbc, fake_glpsol, first_on_path, forget_programs

import optsum
from optsum import BackendError, Coverage, CoverageProblem, Limits, Sense, Status, search

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are scripts")

MOST = CoverageProblem.of(
    Coverage.of([2, 2, 3], [{0: 1}, {1: 1}, {0: 1, 2: 1}], [[2], [2], [2]], constants=(0, 6), max_length=4)
)
"""Two of three sentences reach 4 of 6."""
LEAST = CoverageProblem.of(Coverage.of([2, 3, 4], [{0: 1}, {1: 1}, {0: 1, 1: 1}], [[1], [1]], goal=Sense.MINIMIZE))
"""The third sentence alone covers all, at length 4."""
RATIO = CoverageProblem.of(Coverage.of([1, 1], [{0: 1}, {1: 1}], [[2], [2]], constants=(0, 4), mass=[[0, 0], [1, 2]]))
"""F1: both sentences, 4/7."""

NONE = "answer({}, 0)"
ALL = "answer({name: 1 for name in units}, %s)"


@pytest.mark.parametrize(
    ("problem", "does", "match"),
    [
        (MOST, NONE, "cbc calls 0 optimal, but a selection worth 0.333333 is known"),
        (MOST, "answer({name: 'nan' for name in units}, 'nan')", "values that are not numbers|nan for its objective"),
        (MOST, "answer({}, 'nan')", "states nan for its objective"),
        (MOST, "answer({}, 'inf')", "states inf for its objective"),
        (MOST, "answer({units[0]: 1}, 6)", "claims an objective of 1, but its selection has 0.333333"),
        (MOST, "answer({units[0]: 1}, 0)", "claims an objective of 0, but its selection has 0.333333"),
        (MOST, "print('Result - Optimal solution found')", "without an answer that can be used"),
        (MOST, ALL % 6, "violates the limits by 3"),
        (MOST, "answer({}, 0, 'Infeasible - objective value')", "infeasible, but a feasible selection is known"),
        (LEAST, NONE, "violates the limits by"),
        (LEAST, ALL % 9, "calls 9 optimal, but a selection worth 5 is known|calls 9 optimal, but a selection worth"),
        (LEAST, ALL % 4, "claims an objective of 4, but its selection has 9"),
        (RATIO, NONE, "calls .* optimal, but a selection worth 0 is known|claims an objective"),
        (RATIO, "answer({units[0]: 1}, 99)", "claims an objective"),
        (RATIO, "answer({}, 'nan')", "states nan for its objective"),
        (RATIO, "answer({}, 0, 'Infeasible - objective value')", "calls the problem infeasible"),
    ],
)
def test_a_claim_that_is_refuted_is_an_error(
    problem: CoverageProblem, does: str, match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_cbc(tmp_path, does)
    first_on_path(monkeypatch, tmp_path)
    with pytest.raises(BackendError, match=match):
        search(problem, "milp", backend="cbc")


def test_a_claim_that_greedy_search_refutes_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test a claim that greedy search refutes, while adding a sentence would not, because none fits."""
    most = CoverageProblem.of(
        Coverage.of([4, 2, 2], [{2: 1}, {0: 1}, {1: 1}], [[2], [2], [1]], constants=(0, 5), max_length=4)
    )
    fake_cbc(tmp_path, "answer({units[0]: 1}, 1)")
    first_on_path(monkeypatch, tmp_path)
    with pytest.raises(BackendError, match=r"calls 0\.2 optimal, but a selection worth 0\.8 is known"):
        search(most, "milp", Limits(time_s=20), backend="cbc")


def test_a_consistent_lie_is_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept this because only a solution of the problem could refute it (docs/backends.md)."""
    two = CoverageProblem.of(Coverage.of([4, 4], [{0: 1}, {1: 1}], [[1], [2]], constants=(0, 3), max_length=4))
    fake_cbc(tmp_path, "answer({units[0]: 1}, 1)")
    first_on_path(monkeypatch, tmp_path)
    result = search(two, "milp", backend="cbc")
    assert (result.status, result.objective_exact) == (Status.OPTIMAL, "1/3")


@pytest.mark.parametrize(
    ("does", "match"),
    [
        ("answer('nan', lambda value: 'nan')", "not numbers|states nan"),
        ("answer(0, lambda value: 0)", "glpk calls 0 optimal, but a selection worth"),
        ("answer(99, lambda value: value)", "claims an objective of 16.5"),
        ("answer(4, lambda value: 0.5)", "without an answer that can be used"),
        ("answer(6, lambda value: 1)", "violates the limits"),
    ],
)
def test_glpk_is_not_believed_either(does: str, match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_glpsol(tmp_path, does)
    first_on_path(monkeypatch, tmp_path)
    with pytest.raises(BackendError, match=match):
        search(MOST, "milp", backend="glpk")


def test_a_false_claim_costs_its_topic_an_error_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_cbc(tmp_path, "answer_all() if len(units) == 3 else answer({}, 0)")
    first_on_path(monkeypatch, tmp_path)
    topic = {"id": "t", "documents": [["a b", "b c", "a c", "d c"]], "references": [["a b c"]]}
    (row,) = optsum.solve_all([topic], max_length=4, backend="cbc", strategy="milp")
    assert row.status is Status.ERROR
    assert row.error is not None
    assert "cbc calls 0 optimal" in row.error


def test_no_fake_is_left_for_other_tests(tmp_path: Path) -> None:
    from pyomo.common import Executable

    fake_cbc(tmp_path, NONE)
    with pytest.MonkeyPatch.context() as patched:
        first_on_path(patched, tmp_path)
        assert Executable("cbc").path() == str(tmp_path / "cbc")
    forget_programs()
    assert Executable("cbc").path() != str(tmp_path / "cbc")
