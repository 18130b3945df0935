"""Check that the examples run, and that the notebook shows what it computes."""

from __future__ import annotations

import io
import json
import os
import re
import runpy
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.plugins import load_place

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

if not EXAMPLES.is_dir():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)


def outputs(cell: Any) -> list[str]:
    """Return the output of a cell without times, alignment, and messages of slow machines."""
    shown = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        text = output.get("text") or data.get("text/html") or data["text/plain"]
        without = re.sub(r"\b[\d.e-]+ (ms|s|min)\b", "TIME", text)
        # Kernels are compiled once on a machine; progress is shown for long work only (system/test_notebook.py).
        if not text.startswith("Compiling kernels") and not re.fullmatch(r"<small>\d+ topics, TIME</small>", without):
            shown.append(re.sub(r"\s+|-{3,}", " ", without))
    return shown


def run(name: str) -> str:
    """Run an example in a process of its own, as users do."""
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_here(name: str, *arguments: str) -> str:
    """Run an example in this process, where all is imported and compiled."""
    printed, program = io.StringIO(), str(EXAMPLES / name)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setattr(sys, "argv", [program, *arguments])
        runpy.run_path(program, run_name="__main__")
    return printed.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("upper_bound.py", r"^ {3}75 +0\.5620 +0\.2945$"),
        ("heuristics_against_optimum.py", r"^vns +0\.5620 .*40/40"),
        ("swap_solver.py", r"^highs +optimal 78/157 in"),
        ("lin_hovy_baseline.py", r"^kettle-recall +best 1\.0000 +lead 0\.9773 +\(optimal\)$"),
        ("similarity.py", r"^bridge-closure +0\.4860 +\(16, 20, 26\) +0\.3949 \(0, 1\)$"),
        ("context.py", r"^in order +24 +0 +\d+\.\d +\d\d\.\d%"),
        ("oracle_gap.py", r"^system 0\.3000, oracle 0\.\d{4}, share 0\.\d{4}$"),
        ("datatrove_step.py", r"^bridge \[\d, \d, \d, \d\] 0\.\d{4}$"),
        ("own_solver.py", r"^bridge-closure +0\.4968 +scipy 0\.4968 +optimal$"),
        ("own_formulation.py", r"^bridge-closure +0\.4968 +with numbers 0\.\d{4} +\(\d+"),
    ],
)
def test_an_example_prints_its_result(name: str, shown: str) -> None:
    assert re.search(shown, run_here(name), re.MULTILINE)


@pytest.mark.slow
def test_a_strategy_of_ones_own_is_compared(tmp_path: Path) -> None:
    topics = tmp_path / "two.jsonl"
    lines = (EXAMPLES / "data" / "news.jsonl").read_text("utf-8").splitlines(keepends=True)
    topics.write_text("".join(lines[:2]), encoding="utf-8")
    shown = run_here("own_strategy.py", str(topics))
    assert re.search(r"^\S+own_strategy\.py:LateAcceptance +0\.48\d{2} .*\d/10", shown, re.MULTILINE)


def test_the_gap_is_what_scoring_and_searching_say() -> None:
    gap = load_place(f"{EXAMPLES / 'oracle_gap.py'}:oracle_gap")
    found = gap(["dogs bark", "a cat"], ["the cat sat", ""][:1] * 2, ["the cat sat. dogs bark."] * 2, max_length=3)
    assert (found["system"], found["oracle"]) == (pytest.approx(1 / 6), 1.0)
    assert found["shares"] == [0.0, pytest.approx(1 / 3)]


def test_a_step_labels_what_can_be_labelled_and_says_what_cannot() -> None:
    step, text = (load_place(f"{EXAMPLES / 'datatrove_step.py'}:{name}") for name in ("OracleLabels", "Text"))
    given = [text("a", "The cat sat. Dogs bark.", {"summary": "Dogs bark."}), text("b", "Dogs bark.", {"summary": ""})]
    one, other = step(max_length=3).run(given)
    assert (one.metadata["labels"], one.metadata["objective"], "error" in one.metadata) == ([0, 1], 1.0, False)
    assert (other.metadata["status"], "labels" in other.metadata) == ("error", False)


@pytest.mark.slow
def test_labels_are_of_all_topics() -> None:
    rows = [json.loads(line) for line in run("label_dataset.py").splitlines()]
    assert len(rows) == 8
    assert all(len(row["labels"]) == len(row["shares"]) and row["status"] == "optimal" for row in rows)


def test_every_example_is_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    names = [file.name for pattern in ("*.py", "*.ipynb") for file in EXAMPLES.glob(pattern)]
    assert len(names) >= 8
    assert [name for name in names if f"`{name}`" not in listed] == []


CALLS = """
import optsum

topic = {"id": "t", "documents": [["a"]], "references": [["a"]]}
optsum.solve(topic, max_length=3, measure="f1", metric="rouge-2", backend_options={"presolve": "off"})
optsum.solve("a b", "a", max_length=3)
optsum.solve(topic, max_lenght=3)
optsum.solve(topic, max_length="three")
optsum.compare([topic], ["greedy"], measure="f2", max_length=3)
optsum.enumerate_optima(topic, max_length=3).summaries()
optsum.score([topic], [], max_words=3, best_by="recall")
optsum.score([topic], [], max_word=3)
for result in optsum.solve_all([topic], max_length=3, workers=2):
    print(result.objective)
"""
WRONG = [7, 8, 9, 12]
"""Lines of `CALLS` that a type checker refuses: editors know the keywords of every function."""


SKIPPED = """
[mypy]
follow_imports = silent
ignore_missing_imports = True
[mypy-{}]
follow_imports = skip
"""
"""Settings of mypy that leave out packages that optsum uses inside; their analysis would take most of the time."""
INSIDE = (
    "IPython", "click", "dask", "distributed", "highspy", "loky", "matplotlib", "networkx", "numba", "pandas", "polars",
    "pydantic", "pyomo", "rich", "scipy", "tokenizers",
)  # fmt: skip


@pytest.mark.slow
def test_a_type_checker_takes_tutorials_and_examples_and_finds_what_is_wrong(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    pages = [ROOT / "README.md", *ROOT.glob("docs/tutorials/*.md"), *ROOT.glob("docs/how-to/*.md")]
    for page in pages:
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL))
        (tmp_path / f"page_{page.stem.replace('-', '_')}.py").write_text(code, encoding="utf-8")
    for example in EXAMPLES.glob("*.py"):
        (tmp_path / example.name).write_text(example.read_text("utf-8"), encoding="utf-8")
    (tmp_path / "calls.py").write_text(CALLS, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text(SKIPPED.format(",".join(f"{name}.*" for name in INSIDE)), encoding="utf-8")
    home = str(Path(optsum.__file__).parents[1])  # mypy does not follow the import hook of an editable install
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "."],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, **({} if "site-packages" in home else {"MYPYPATH": home})},
    )  # fmt: skip
    errors = re.findall(r"^(.+?):(\d+): error", done.stdout, re.MULTILINE)
    assert errors == [("calls.py", str(line)) for line in WRONG], done.stdout + done.stderr


@pytest.mark.slow
# The kernel listens on the local machine, and warns that it does not encrypt.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning", "ignore::UserWarning")
def test_the_notebook_shows_what_it_computes() -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    kept = nbformat.read(EXAMPLES / "oracles.ipynb", as_version=4)
    nbformat.validate(kept)
    fresh = nbformat.read(EXAMPLES / "oracles.ipynb", as_version=4)
    client.NotebookClient(fresh, timeout=120, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    code = [cell for cell in kept.cells if cell.cell_type == "code"]
    assert len(code) >= 8
    again = [cell for cell in fresh.cells if cell.cell_type == "code"]
    for before, after in zip(code, again, strict=True):
        assert outputs(before) == outputs(after), before.source
    everything = " ".join(text for cell in again for text in outputs(cell))
    assert "<mark" in everything


def test_a_changed_output_of_the_notebook_is_found() -> None:
    before = {"outputs": [{"text": "a  1.5 ms\n-----"}, {"data": {"text/html": "<b>"}}]}
    after = {"outputs": [{"text": "a 22 s\n--------"}, {"data": {"text/html": "<b>"}}]}
    assert outputs(before) == outputs(after)
    assert outputs(before) != outputs({"outputs": [{"text": "b 22 s\n---"}, {"data": {"text/html": "<b>"}}]})
    progress = {"data": {"text/html": "<small>8 topics, 1.2 s</small>"}}
    assert outputs({"outputs": [progress, *before["outputs"]]}) == outputs(before)
