"""Check that every function and command takes a problem in place of a topic."""

from __future__ import annotations

import json
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optsum.solvers.milp import backend_of

import optsum
from optsum.cli import main


class Weighed(optsum.Problem):
    """A problem that can only evaluate: the value of each unit, less one for each pair of neighbours."""

    def __init__(self, worth: tuple[int, ...], **known: Any) -> None:
        super().__init__(lengths=(1,) * len(worth), **known)
        object.__setattr__(self, "worth", worth)

    worth: tuple[int, ...]

    def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
        """Sum the values."""
        chosen = set(selection)
        key = sum(self.worth[unit] for unit in chosen) - sum(unit + 1 in chosen for unit in chosen)
        return optsum.Evaluation(key, self.excess(selection), key)


def knapsack(seed: int, size: int = 9, **known: Any) -> optsum.CoverageProblem:
    """Return a random knapsack."""
    rng = np.random.default_rng(seed)
    lengths, worth = rng.integers(1, 20, size), rng.integers(1, 20, size)
    instance = optsum.Coverage.of(
        lengths, [{}] * size, [], mass=[worth, [0] * size], max_length=int(lengths.sum() // 2)
    )
    return optsum.CoverageProblem.of(instance, **known)


def cover(**known: Any) -> optsum.CoverageProblem:
    """Return a set cover whose minimum is 3."""
    rows = [{0: 1}, {0: 1, 1: 1}, {2: 1}, {1: 1, 2: 1}, {3: 1}]
    return optsum.CoverageProblem.of(optsum.Coverage.of([1] * 5, rows, [[1]] * 4, goal=optsum.Sense.MINIMIZE), **known)


def best_of(problem: optsum.Problem) -> tuple[Any, set[tuple[int, ...]]]:
    """Return the best value and all selections that reach it, by brute force."""
    every = chain.from_iterable(combinations(range(problem.size), count) for count in range(problem.size + 1))
    found = [(problem.evaluate(selection), selection) for selection in every]
    keys = [(evaluation.key, selection) for evaluation, selection in found if evaluation.feasible]
    best = (max if problem.sense is optsum.Sense.MAXIMIZE else min)(key for key, _ in keys)
    return best, {selection for key, selection in keys if key == best}


PROBLEMS = {
    "coverage": lambda: knapsack(1),
    "cover": cover,
    "evaluates": lambda: Weighed((3, 1, 4, 1, 5, 9, 2, 6), max_length=4),
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_solve_and_enumerate_give_what_trying_everything_gives(kind: str) -> None:
    problem = PROBLEMS[kind]()
    best, every = best_of(problem)
    result = optsum.solve(problem)
    assert (result.id, result.status) == ("problem", optsum.Status.OPTIMAL)
    assert result.objective == best
    assert tuple(result.selection or ()) in every
    optima = optsum.enumerate_optima(problem)
    assert optima.complete
    assert set(optima) == every
    near = optsum.enumerate_optima(problem, best=2)
    assert set(near) >= every


def test_names_are_those_of_rows_and_numbers_where_there_are_none() -> None:
    given = [knapsack(1, name="first"), PROBLEMS["evaluates"](), knapsack(2)]
    for workers in (1, 2):
        found = list(optsum.solve_all(given[::2], workers=workers))
        assert [row.id for row in found] == ["first", "1"]
    assert [row.id for row in optsum.solve_all(iter(given))] == ["first", "1", "2"]
    assert optsum.solve(cover(labels=list("abcde"))).summary == ("a", "d", "e")


def test_strategies_are_compared_on_problems() -> None:
    table = optsum.compare([PROBLEMS["evaluates"](), knapsack(3)], strategies=["greedy", "vns"], seeds=range(2))
    assert [(row.strategy, row.problems, row.failed) for row in table.rows] == [
        ("auto", 2, 0),
        ("greedy", 4, 0),
        ("vns", 4, 0),
    ]
    assert table.rows[2].mean_ratio == 1
    small = optsum.compare([cover()], strategies=["greedy", "genetic"])
    assert all(row.mean_ratio is not None and row.mean_ratio <= 1 for row in small.rows)


def test_a_frontier_has_the_best_value_at_every_length() -> None:
    dear = Weighed((-3, 1, -4, 1, -5, 9), max_length=3, sense=optsum.Sense.MINIMIZE)
    for problem in (knapsack(4), Weighed((3, 1, 4, 1, 5, 9), max_length=3), dear):
        for step in optsum.frontier(problem).frontier.steps:  # type: ignore[union-attr]
            assert step.objective == best_of(problem.within(step.last))[0]
    for step in optsum.frontier(dear, time_limit=0).frontier.steps:  # type: ignore[union-attr]
        assert step.bound is None or step.bound <= best_of(dear.within(step.last))[0]
    with pytest.raises(optsum.InputError, match="it takes no maximum length"):
        optsum.frontier(cover())


def test_a_length_limits_what_is_minimized_as_well() -> None:
    assert optsum.solve(Weighed((-3, 1, -4, -5), sense=optsum.Sense.MINIMIZE), max_length=2).objective == -10
    with pytest.raises(optsum.InputError, match="it takes no maximum length"):
        optsum.solve(cover(), max_length=2)


def test_options_add_to_the_side_constraints_that_a_problem_has() -> None:
    instance = optsum.Coverage.of([1] * 4, [{unit: 1} for unit in range(4)], [[9], [8], [7], [1]], max_length=3)
    own = optsum.CoverageProblem.of(instance.with_rows((optsum.Row((0, 1), (1, 1), high=1, name="not both"),)))
    for told, best in (({"require": "1"}, (1, 2, 3)), ({"forbid": "2"}, (0, 3)), ({"requires": [[0, 3]]}, (0, 2, 3))):
        assert optsum.solve(own, **told).selection == best  # type: ignore[arg-type]


def test_an_objective_below_zero_is_a_threshold() -> None:
    problem = Weighed((-3, 1, -4, -5), min_length=2)
    assert optsum.enumerate_optima(problem, at_least=-4).count == 3
    with pytest.raises(optsum.UnsupportedError, match="no steps of one size"):
        optsum.enumerate_optima(problem, within_steps=1)


def test_exported_problems_are_solved_from_their_files(tmp_path: Path) -> None:
    given = [knapsack(5, name="a"), knapsack(6, name="b")]
    paths = [one.path for one in optsum.export(given, tmp_path, format="json") if one.path is not None]
    lines = tmp_path / "instances.jsonl"
    lines.write_text("".join(path.read_text(encoding="utf-8") for path in paths), encoding="utf-8")
    values = [optsum.solve(problem).objective for problem in given]
    assert [row.objective for row in optsum.solve_all(lines)] == values
    assert [one.error for one in optsum.export(given, tmp_path, format="lp")] == [None, None]
    rows, page = tmp_path / "rows.jsonl", tmp_path / "page.html"
    for command in (
        ["solve", str(lines), "-o", str(rows)],
        ["solve", str(lines), "-o", str(rows), "--resume"],
        ["compare", str(lines), "--strategies", "greedy", "-o", str(rows), "--overwrite", "--details"],
        ["report", str(rows), "-o", str(page)],
        ["enumerate", str(lines), "-o", str(tmp_path / "all.jsonl")],
        ["frontier", str(lines), "--lengths", "0:20:5", "-o", str(tmp_path / "frontier.jsonl")],
        ["export", str(lines), "--format", "mps", "-o", str(tmp_path / "mps")],
    ):
        assert main(command) == 0, command
    written = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["id"], row["objective"], row["complete"]) for row in written] == [
        ("a", values[0], True),
        ("b", values[1], True),
    ]
    experiment = {"topics": str(lines), "grid": {"strategy": ["greedy", "auto"]}}
    assert optsum.run(experiment, tmp_path / "run").complete


def test_a_function_makes_problems(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(
        "import optsum\n\n\ndef make():\n"
        "    for size in (2, 3):\n"
        "        rows = [{0: 1}] * size\n"
        "        yield optsum.CoverageProblem.of(optsum.Coverage.of([1] * size, rows, [[1] * size], max_length=2))\n",
        encoding="utf-8",
    )
    place = f"{tmp_path / 'made.py'}:make"
    assert [(row.id, row.objective) for row in optsum.solve_all(place)] == [("0", 2.0), ("1", 2.0)]
    assert main(["solve", place]) == 0
    with pytest.raises(optsum.InputError, match="does not make problems"):
        optsum.solve_all(f"{tmp_path / 'made.py'}:nothing")
    (tmp_path / "wrong.py").write_text(
        "import pyomo.environ as pyo\n\n\ndef none():\n    return None\n\n\n"
        "table = {'a': 1}\nbare = pyo.ConcreteModel()\n",
        encoding="utf-8",
    )
    with pytest.raises(
        optsum.InputError,
        match=r"bare does not make problems: this is a Pyomo model: "
        r"optsum.PyomoProblem",
    ):
        optsum.solve_all(f"{tmp_path / 'wrong.py'}:bare")
    for name in ("none", "table"):
        with pytest.raises(optsum.InputError, match=f"{name} does not make problems: "):
            optsum.solve_all(f"{tmp_path / 'wrong.py'}:{name}")


MADE = """
from dataclasses import dataclass

import pyomo.environ as pyo

import optsum


@dataclass(frozen=True, eq=False, kw_only=True)
class Counted(optsum.Problem):
    worth: tuple[int, ...]

    def evaluate(self, selection):
        value = sum(self.worth[unit] for unit in selection)
        return optsum.Evaluation(value, self.excess(selection), value)


def own():
    for seed in range(3):
        worth = tuple((7 * unit + 5 * seed) % 11 for unit in range(8))
        yield Counted(worth=worth, lengths=(3, 4, 5, 2, 6, 3, 4, 5), max_length=12, name=f"own{seed}")


def linear():
    for seed in range(2):
        model = pyo.ConcreteModel()
        model.x = pyo.Var(range(5), within=pyo.Binary)
        model.worth = pyo.Objective(expr=sum((unit + seed) * model.x[unit] for unit in range(5)), sense=pyo.maximize)
        model.room = pyo.Constraint(expr=sum((unit + 1) * model.x[unit] for unit in range(5)) <= 7)
        yield optsum.PyomoProblem(model, units=[model.x[unit] for unit in range(5)], name=f"linear{seed}")


def ended():
    yield next(own())
    raise KeyError("no more")


def nothing():
    raise ValueError("no data")


def one():
    return next(own())


several = list(own())
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made.py").write_text(MADE)
    return tmp_path


@pytest.mark.parametrize("kind", ["own", "linear"])
def test_every_command_takes_problems_of_ones_own(made: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = f"made.py:{kind}"
    values = [float(best_of(topic.problem)[0]) for topic in optsum.read_topics(place)]  # type: ignore[union-attr]

    def rows(*command: str) -> list[dict[str, Any]]:
        assert main([*command, "-o", "rows.jsonl", "--overwrite"]) == 0, command
        return [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]

    solved = rows("solve", place, "--details")
    assert [(row["objective"], row["status"]) for row in solved] == [(value, "optimal") for value in values]
    assert {row["units"] for row in solved} == {8 if kind == "own" else 5}
    assert {"rouge", "metric", "numerator", "denominator", "sentence_count"}.isdisjoint(solved[0])
    assert main(["report", "rows.jsonl", "-o", "page.html"]) == 0
    assert all(row["id"] in Path("page.html").read_text() for row in solved)
    assert [row["objective"] for row in rows("solve", place, "--workers", "2", "--start", "rows.jsonl")] == values
    compared = rows("compare", place, "--strategies", "vns,random", "--seeds", "0:2", "--time-limit", "5,10")
    assert len(compared) == len(values) * (1 + 2 * 2 * 2)
    every = rows("enumerate", place)
    assert all(optsum.Result.from_row(row).to_row() == row for row in (*compared, *every))
    assert [(row["objective"], row["complete"]) for row in every] == [(value, True) for value in values]
    assert all(
        row["count"] >= other["count"]
        for row, other in zip(rows("enumerate", place, "--best", "2"), every, strict=True)
    )
    frontiers = rows("frontier", place)
    assert [row["frontier"]["steps"][-1]["objective"] for row in frontiers] == values
    experiment = f'topics = "{place}"\n[grid]\nstrategy = ["greedy", "auto"]\n'
    Path("run.toml").write_text(experiment)
    assert main(["run", "run.toml", "run", "--workers", "2"]) == 0
    assert main(["run", "run.toml", "run", "--resume"]) == 0
    assert optsum.to_frame("run")["objective"].max() == max(values)
    assert main(["labels", place, "--overwrite", "-o", "rows.jsonl"]) == 2
    for verb in ("solve", "enumerate", "frontier", "compare", "export"):
        for option, value in (("--metric", "rouge-2"), ("--map", "id=x"), ("--preset", "hirao-r1")):
            assert main([verb, place, option, value, "-o", "new.jsonl"]) == 2
            assert f"leave out {option}" in capsys.readouterr().err
    exported = main(["export", place, "-o", "files", "--format", "mps"])
    if kind == "own":
        assert exported == 1
        return
    assert exported == 0
    solved = rows("solve", "files/linear1.mps")
    assert [(row["id"], abs(row["objective"])) for row in solved] == [("linear1", values[1])]
    on_all = rows("compare", place, "--backends", "usable")
    assert {"highs", "pyomo:highs"} <= {row["backend"] for row in on_all}
    assert {row["objective"] for row in on_all} == set(values)


def test_an_enumeration_ended_by_a_limit_is_incomplete(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limited = ["enumerate", "made.py:own", "--within", "50%", "--time-limit", "0"]
    assert main([*limited, "-o", "rows.jsonl"]) == 0
    said = capsys.readouterr()
    assert "3 ended by the time limit" in said.out
    assert "3 counts of sets are lower limits: the search ended after 0 s; give more with --time-limit" in said.err


def test_errors_of_a_function_are_reported(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "made.py:one", "-o", "one.jsonl"]) == 0
    assert main(["solve", "made.py:several", "-o", "several.jsonl"]) == 0
    assert len(Path("several.jsonl").read_text().splitlines()) == 3
    capsys.readouterr()
    for place, code, said in (
        ("made.py:ended", 1, "ended after 1 problems: KeyError('no more')"),
        ("made.py:nothing", 2, "does not make problems: ValueError('no data')"),
        ("made.py:missing", 2, "made.py has no missing"),
        ("other.py:missing", 2, "there is no Python file other.py"),
        ("missing.mps", 2, "missing.mps"),
    ):
        assert main(["solve", place, "-o", "rows.jsonl", "--overwrite"]) == code
        error = capsys.readouterr().err
        assert said in error
        assert "a fault of optsum" not in error


OWN = """
import optsum
from beside import WORTH


class Own(optsum.Problem):
    def evaluate(self, selection):
        return {}


def made():
    return Own(lengths=(1,) * 4, max_length=2)
"""


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("optsum.Evaluation(sum(WORTH[unit] for unit in selection), self.excess(selection), 0.0)", None),
        ("WORTH[9]", "IndexError (list index out of range) in evaluate, own.py:8; correct it there"),
        ("len(selection)", "let it return an optsum.Evaluation"),
        ("None", "let it return an optsum.Evaluation"),
        ("optsum.Evaluation('much', 0, 0.0)", "is much, which cannot be compared"),
    ],
)
def test_errors_of_a_problem_from_a_file_are_reported(
    returned: str, said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Include modules beside the file, which are found."""
    monkeypatch.chdir(tmp_path)
    Path("beside.py").write_text("WORTH = [1, 2, 3, 4]\n")
    Path("own.py").write_text(OWN.format(returned))
    assert main(["solve", "own.py:made", "-o", "rows.jsonl"]) == (said is not None)
    error = capsys.readouterr().err
    assert said is None or said in error
    assert "a fault of optsum" not in error
    assert main(["solve", "own.py", "-o", "rows.jsonl", "--overwrite"]) == 2
    assert "as in own.py:FUNCTION" in capsys.readouterr().err


def test_mixed_input_and_unsupported_functions_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    topic = {"id": "t", "documents": [["a b"]], "references": [["a"]]}
    mixed = list(optsum.solve_all([knapsack(1), topic, cover()]))
    assert [row.status.value for row in mixed] == ["optimal", "error", "error"]
    assert "text among problems" in str(mixed[1].error)
    assert "minimize" in str(mixed[2].error)
    other = list(optsum.solve_all([topic, knapsack(1)], max_length=3))
    assert "takes texts" in str(other[1].error)
    for verb in (
        lambda problem: optsum.study("gap", [problem]),
        lambda problem: optsum.score([problem], [{"topic_id": "problem", "system": "s", "summary": "a"}]),
        lambda problem: list(optsum.align([problem])),
        lambda problem: optsum.context(problem, max_length=3),
        lambda problem: optsum.run([problem], "nowhere"),
        lambda problem: list(optsum.labels([problem])),
    ):
        with pytest.raises(optsum.OptsumError, match="problem"):
            verb(knapsack(1))
    (row,) = [found for found in optsum.align([topic, knapsack(1)]) if getattr(found, "error", None)]
    assert "is a problem, and align takes texts" in row.error
    with caplog.at_level("WARNING"):
        optsum.score([topic, knapsack(1)], [{"topic_id": topic["id"], "system": "s", "summary": ["a"]}])
    assert "the first: '' is a problem, and score takes texts" in caplog.text
    for verb in (optsum.solve, optsum.enumerate_optima, lambda given, **told: list(optsum.solve_all([given], **told))):
        with pytest.raises(optsum.OptionError, match="leave out columns"):
            verb(knapsack(1), columns={"documents": "text"})
    with pytest.raises(optsum.OptionError, match=r"with metric = rouge-2: .*leave out metric"):
        optsum.run({"topics": f"{__file__}:cover", "grid": {"metric": ["rouge-2"]}}, "nowhere")
    with pytest.raises(optsum.UnsupportedError, match="let the problem itself keep them"):
        optsum.solve(PROBLEMS["evaluates"](), requires=[[0, 1]])
    with pytest.raises(optsum.UnsupportedError, match="define its bound, or use auto or exhaustive"):
        optsum.solve(PROBLEMS["evaluates"](), strategy="branch-and-bound")
    assert optsum.search(knapsack(1, name="own"), "greedy").id == "own"
    with pytest.raises(optsum.UnsupportedError, match="integer linear program"):
        optsum.solve(PROBLEMS["evaluates"](), strategy="milp")
    assert optsum.solve(knapsack(1), max_length=5).length <= 5  # type: ignore[operator]


def test_wrong_arguments_are_answered_with_how_to_make_a_problem(tmp_path: Path) -> None:
    pyomo = pytest.importorskip("pyomo.environ")
    model = pyomo.ConcreteModel()
    model.x = pyomo.Var([0], domain=pyomo.Binary)
    instance = optsum.Coverage.facility([[1, 2]], 1)
    for given, words in ((model, r"PyomoProblem\(model, units="), (instance, r"CoverageProblem\.of\(")):
        with pytest.raises(optsum.InputError, match=words):
            optsum.solve(given)
        with pytest.raises(optsum.InputError, match=words):
            list(optsum.solve_all([given], max_length=3))
    place = tmp_path / "made.py"
    text = "import optsum\n\ndef made():\n    return optsum.Coverage.facility([[1, 2]], 1)\n"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(optsum.InputError, match=r"made\.py:made does not make problems: .*CoverageProblem\.of\("):
        list(optsum.solve_all(f"{place}:made"))


@pytest.mark.parametrize("backend", ["glpk", "cp-sat"])
def test_a_limit_that_a_solver_lacks_is_refused_before_any_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], backend: str
) -> None:
    if not backend_of(backend).available():
        pytest.skip(f"{backend} is not installed")
    path, out = tmp_path / "k.lp", tmp_path / "rows.jsonl"
    path.write_text("Maximize\n obj: 2 a + 3 b\nSubject To\n c: a + b <= 1\nBinary\n a b\nEnd\n")
    assert main(["solve", str(path), "--backend", backend, "--node-limit", "5", "-o", str(out)]) == 2
    assert not out.exists()
    assert f"The backend {backend} takes no node limit" in capsys.readouterr().err
    assert main(["solve", str(path), "--backend", backend, "-o", str(out)]) == 0


def test_a_function_is_named_without_parentheses() -> None:
    with pytest.raises(
        optsum.InputError, match=r"'mine\.py:made\(\)' calls a function: give only its name, as in mine\.py:made"
    ):
        list(optsum.solve_all("mine.py:made()"))
