"""Test solvers through Pyomo: the paper's model, agreement with other strategies, failures."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pytest
from optsum.formulations.extractive import Extractive
from optsum.solvers.backends.pyomo import Turn, load_pyomo
from optsum.solvers.backends.through_pyomo import PyomoHighs
from optsum.solvers.milp import backend_of

from optsum.contracts.result import Status
from optsum.corpus.topic import Topic, as_topic
from optsum.coverage.instance import Coverage
from optsum.errors import BackendError, InputError, UnsupportedError
from optsum.metrics.rouge import rouge
from optsum.problem.formulation import Spec
from optsum.problem.problem import CoverageProblem, Problem
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import brute_force, check_strategy, hard_instance, random_coverage, random_topic
from optsum.text.analyzer import Analyzer

METRICS = ("rouge-1", "rouge-2", "rouge-su0")
UNITS = {"words": 3, "sentences": 1, "characters": 7}
"""Length units, and how long a sentence of the random topics is in each, or so."""


def random_spec(rng: np.random.Generator) -> Spec:
    unit = str(rng.choice(list(UNITS)))
    longest = UNITS[unit] * int(rng.integers(1, 6))
    shortest = int(rng.integers(1, longest + 1)) if rng.random() < 0.4 else 0
    return Spec(
        analyzer=Analyzer(),
        metric=str(rng.choice(METRICS)),
        max_length=longest,
        min_length=shortest,
        length_unit=unit,
    )


def tasks(seed: int) -> list[Any]:
    """Return a task of pooled references, or a task for each reference."""
    rng = np.random.default_rng(seed)
    topic = as_topic(random_topic(rng, name=f"seed {seed}"))
    spec = random_spec(rng)
    parts: list[Topic] = [topic]
    if rng.random() < 0.3:
        parts = [replace(topic, references=(reference,)) for reference in topic.references]
    made = []
    for part in parts:
        with suppress(InputError):  # a reference with nothing to count
            made.append((Extractive().build(part, spec), spec))
    return made


def agree(seed: int, seen: Counter[str]) -> int:
    """Compare HiGHS through Pyomo with brute force; return the number of problems."""
    compared = 0
    for task, spec in tasks(seed):
        name = f"seed {seed}: {spec.metric}, {spec.min_length} to {spec.max_length} {spec.length_unit}"
        truth = brute_force(task.problem)
        result = search(task.problem, "milp", backend="pyomo:highs")
        assert result.key == truth.best, name
        assert result.status is (Status.INFEASIBLE if truth.best is None else Status.OPTIMAL), name
        if result.selection is not None:
            assert result.selection in truth.optima, name
            text = task.decode(result.selection)
            score = rouge(text, task.references, spec.metric, boundaries="sentence", last_unigram=True)
            assert score.exact("recall") == result.key, name
        seen.update([spec.metric, spec.length_unit, "window" if spec.min_length else "maximum",
                     "infeasible" if truth.best is None else "positive" if truth.best else "zero",
                     f"{len(task.references)} references", f"{task.problem.size} units"])  # fmt: skip
        compared += 1
    return compared


def test_pyomo_agrees_with_brute_force_on_random_topics() -> None:
    seen: Counter[str] = Counter()
    assert sum(agree(seed, seen) for seed in range(10_000, 10_070)) >= 70
    for what in (*METRICS, *UNITS, "window", "maximum", "infeasible", "positive", "zero", "1 references",
                 "3 references", "0 units", "8 units"):  # fmt: skip
        assert seen[what] >= 3, (what, seen)


@pytest.mark.slow
def test_the_strategy_keeps_the_contract_on_text() -> None:
    problems: dict[str, Problem] = {}
    for seed in range(3):
        for number, (task, _) in enumerate(tasks(seed)):
            problems[f"seed {seed}, part {number}"] = task.problem
    check_strategy("milp", instances=0, problems=problems, backend="pyomo:highs")


def test_the_paper_s_model_by_hand() -> None:
    """Check z_kj for reference k and n-gram j in Eq. 3-8."""
    topic = as_topic({"id": "t", "documents": [["a a a", "b c", "x"]], "references": [["a a b"], ["a", "c"]]})
    task = Extractive().build(topic, Spec(analyzer=Analyzer(), max_length=4, min_length=2))
    assert isinstance(task.problem, CoverageProblem)
    assert task.problem.reference_model is not None
    model = task.problem.reference_model()
    assert len(model.x) == 3, "a minimum keeps the sentence that matches nothing"
    assert len(model.z) == 4, "a and b of the first reference, a and c of the second"
    bounds = sorted(str(constraint.expr) for constraint in model.clipped.values())
    assert len(bounds) == 4
    assert sum(text.endswith("<=  2") for text in bounds) == 1
    result = search(task.problem, "milp", backend="pyomo:highs")
    assert (result.objective_exact, result.backend) == ("3/5", "pyomo:highs")
    assert result.selection in {(0,), (0, 2)}
    assert {"build_s", "solve_s", "native_status"} <= set(result.statistics)


@pytest.mark.parametrize(
    "topic",
    [
        {"documents": [["", "  ", ""]], "references": [["a"]]},
        {"documents": [[""]], "references": [["a"]]},
        {"documents": [["b", "c"]], "references": [["a"]]},
        {"documents": [["a", ""]], "references": [["a"]]},
    ],
    ids=["blank", "one blank", "nothing in common", "one of each"],
)
@pytest.mark.parametrize("limits", [{"max_length": 0}, {"max_length": 3}, {"max_length": 3, "min_length": 1}, {}])
def test_degenerate_models(topic: dict[str, Any], limits: dict[str, int]) -> None:
    """Test zero lengths, no common n-gram and no limit, which give constraints without variables."""
    try:
        made = as_topic({"id": "t", **topic})
    except InputError:
        pytest.skip("the reader refuses it")
    for keep in (True, False):
        task = Extractive().build(made, Spec(analyzer=Analyzer(), keep_unmatched=keep, **limits))
        direct = search(task.problem, "milp")
        through = search(task.problem, "milp", backend="pyomo:highs")
        assert (through.status, through.key) == (direct.status, direct.key)
        assert direct.key == brute_force(task.problem).best


def test_limits_are_passed_on_or_refused() -> None:
    ((task, _),) = tasks(4)[:1]
    with pytest.raises(UnsupportedError, match="takes no node limit"):
        search(task.problem, "milp", Limits(nodes=5), backend="pyomo:glpk")
    assert search(task.problem, "milp", Limits(time_s=60), backend="pyomo:highs").status is Status.OPTIMAL
    result = search(CoverageProblem.of(hard_instance()), "milp", Limits(time_s=0.5), backend="pyomo:highs")
    assert result.termination is Termination.TIME_LIMIT
    assert result.bound is not None
    assert result.objective is None or result.objective <= result.bound


def test_availability_has_a_reason() -> None:
    assert PyomoHighs().available()
    assert PyomoHighs().available().version.startswith("1.")
    with pytest.raises(BackendError, match="Pyomo knows no solver 'nonsense'"):
        backend_of("pyomo:nonsense")
    missing = backend_of("pyomo:baron").available()
    assert missing or missing.reason == "Pyomo does not find it"


def test_a_solver_that_is_missing_is_an_error() -> None:
    if backend_of("pyomo:baron").available():
        pytest.skip("BARON is here")
    with pytest.raises(BackendError, match="The backend pyomo:baron cannot be used, because Pyomo does not find it"):
        search(CoverageProblem.of(Coverage.of([1], [{0: 1}], [[1]])), "milp", backend="pyomo:baron")


def test_no_process_that_holds_the_output_is_waited_for() -> None:
    from pyomo.common import tee

    load_pyomo()
    assert all(vars(module).get("TeeStream", tee.TeeStream) is tee.TeeStream for module in [*sys.modules.values()])
    said = StringIO()
    with Turn(), tee.capture_output(said, capture_fd=True):
        child = subprocess.Popen(["sleep", "600"])
        os.write(1, b"native ")
        print("Python's", flush=True)
    try:
        assert said.getvalue() == "native Python's\n"
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_ctrl_c_that_pyomo_turned_into_text_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def factory(_: PyomoHighs) -> Any:
        raise RuntimeError("KeyboardInterrupt:  (4: <pyomo.common.tee.TeeStream object>)")  # as capture_output does

    monkeypatch.setattr(PyomoHighs, "factory", factory)
    result = search(CoverageProblem.of(random_coverage(np.random.default_rng(0))), "milp", backend="pyomo:highs")
    assert result.termination is Termination.INTERRUPTED
