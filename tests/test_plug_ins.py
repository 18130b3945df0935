"""Test the example plug-ins, installed through entry points, on the command line and in Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest
from spoken import spoken

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = ROOT / "examples" / "plugins"
NEWS = str(ROOT / "examples" / "data" / "news.jsonl")
LONGEST = 60

if not PLUGINS.is_dir():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which the plug-ins are on the import path with the metadata that pip writes."""
    folder = tmp_path_factory.mktemp("site")
    project: dict[str, Any] = tomllib.loads((PLUGINS / "pyproject.toml").read_text("utf-8"))
    info = folder / "optsum_example_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: optsum-example-plugins\nVersion: 1.0\n")
    groups = project["project"]["entry-points"]
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {of}\n" for name, of in each.items()) for group, each in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(PLUGINS)])}


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sysconfig.get_path("scripts")) / "optsum"), *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def went_well(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a command succeeded without any message but those about compiling kernels."""
    complaints = spoken(done.stderr)
    return (done.returncode, complaints) == (0, "")


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert went_well(done), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def python(environment: dict[str, str], program: str) -> str:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert went_well(done), done.stderr
    return done.stdout


def test_each_plug_in_is_short() -> None:
    for file in PLUGINS.glob("*.py"):
        assert len(file.read_text("utf-8").splitlines()) < 60


def test_plug_ins_are_listed(installed: dict[str, str]) -> None:
    for kind, name in (("metrics", "char"), ("formulations", "headlines")):
        shown = run(installed, "list", kind).stdout
        assert any(line.startswith(name) for line in shown.splitlines())
    (served,) = (line for line in shown.splitlines() if line.startswith("headlines"))
    assert "rouge-N, rouge-suK, A+B," in served


def grams(text: str, size: int) -> list[str]:
    letters = "".join(letter for letter in text.lower() if letter.isascii() and letter.isalnum())
    return [letters[start : start + size] for start in range(len(letters) - size + 1)]


@pytest.mark.parametrize("strategy", ["branch-and-bound", "greedy"])
def test_a_metric_is_searched_and_scored(installed: dict[str, str], strategy: str) -> None:
    options = ("--metric", "char-3", "--max-length", str(LONGEST), "--strategy", strategy)
    found = rows(run(installed, "solve", NEWS, *options))
    topics = [json.loads(line) for line in Path(NEWS).read_text("utf-8").splitlines()]
    assert len(found) == len(topics)
    for row, topic in zip(found, topics, strict=True):
        hits = total = 0
        for reference in topic["references"]:
            wanted = grams("".join(reference), 3)
            held = [gram for sentence in row["summary"] for gram in grams(sentence, 3)]
            total += len(wanted)
            hits += sum(min(wanted.count(gram), held.count(gram)) for gram in set(wanted))
        assert (row["metric"], row["numerator"], row["denominator"]) == ("char-3", hits, total)
        assert {"char-3", "rouge-1"} <= row["rouge"].keys()


def test_a_metric_is_compared_in_sums_and_in_processes(installed: dict[str, str]) -> None:
    options = ("--metric", "char+rouge-2", "--measure", "f1", "--max-length", "40", "--workers", "2")
    done = run(installed, "compare", NEWS, "--strategies", "greedy", "--exact", "branch-and-bound", *options)
    assert went_well(done), done.stderr
    assert "char-4+rouge-2 f1" in done.stdout.replace("char+", "char-4+")
    assert any(line.startswith("optimum (branch-and-bound)") and "8/8" in line for line in done.stdout.splitlines())


def test_a_metric_is_refused_where_it_cannot_be_searched(installed: dict[str, str]) -> None:
    for options, sentence in (
        (("--formulation", "compressive", "--metric", "char"), "and similarity, not char-4"),
        (("--boundaries", "joined", "--metric", "char-2"), "for rouge-1 and rouge-2, not for char-2"),
        (("--metric", "char-0"), "there is no metric 'char-0'"),
    ):
        done = run(installed, "solve", NEWS, "--max-length", "9", *options)
        assert done.returncode == 2
        assert sentence in done.stderr


def test_a_formulation_has_options_and_refuses(installed: dict[str, str]) -> None:
    options = ("--formulation", "headlines", "--max-length", str(LONGEST))
    narrow = rows(run(installed, "solve", NEWS, *options, "--formulation-option", "first=1"))
    wide = rows(run(installed, "solve", NEWS, *options))
    topics = [json.loads(line) for line in Path(NEWS).read_text("utf-8").splitlines()]
    for one, three, topic in zip(narrow, wide, topics, strict=True):
        starts = [sum(map(len, topic["documents"][:number])) for number in range(len(topic["documents"]))]
        assert set(one["selection"]) <= set(starts)
        assert one["status"] == three["status"] == "optimal"
        assert one["objective"] <= three["objective"]
        assert one["config_hash"] != three["config_hash"]
    for given, sentence in (
        (("--formulation-option", "first=0"), "The option first is 0; give at least 1"),
        (("--formulation-option", "first=few"), "The option first is 'few'; give a whole number"),
        (("--formulation-option", "frist=2"), "did you mean first"),
        (
            ("--metric", "rouge-l"),
            "supports the metric rouge-N, rouge-suK or char, not rouge-l: change --metric",
        ),
    ):
        done = run(installed, "solve", NEWS, *options, *given)
        assert done.returncode == 2
        assert sentence in done.stderr


def test_a_formulation_s_options_in_a_file(installed: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text('formulation = "headlines"\nmax-length = 60\n[formulation-options]\nfirst = 1\n')
    given = ("--formulation", "headlines", "--formulation-option", "first=1", "--max-length", "60")
    by_file, by_flags = (rows(run(installed, "solve", NEWS, *each)) for each in (("--config", str(file)), given))
    assert [row["selection"] for row in by_file] == [row["selection"] for row in by_flags]
    assert {row["config_hash"] for row in by_file} == {row["config_hash"] for row in by_flags}
    shown = tmp_path / "shown.toml"
    shown.write_text(run(installed, "config", "show", *given).stdout)
    assert tomllib.loads(shown.read_text("utf-8"))["formulation-options"] == {"first": 1}
    assert rows(run(installed, "solve", NEWS, "--config", str(shown)))[0]["config_hash"] == by_file[0]["config_hash"]


def test_a_backend_solves(installed: dict[str, str]) -> None:
    options = ("--max-length", str(LONGEST), "--strategy", "milp", "--backend")
    mine, highs = (rows(run(installed, "solve", NEWS, *options, name)) for name in ("second-highs", "highs"))
    assert [row["objective"] for row in mine] == [row["objective"] for row in highs]
    assert {(row["backend"], row["status"]) for row in mine} == {("second-highs", "optimal")}


@pytest.mark.slow
def test_the_conformance_suites_accept_the_plug_ins(installed: dict[str, str]) -> None:
    python(installed, "from optsum.testing import check_backend; check_backend('second-highs')")
    program = f"""
import optsum
from optsum.testing import check_problem
spec = optsum.Spec(analyzer=optsum.Analyzer(), metric="char", max_length=40)
for topic in optsum.read_topics({NEWS!r}):
    check_problem(optsum.FORMULATIONS.create("headlines", {{"first": 2}}).task(topic, spec).problem)
"""
    python(installed, program)


def test_a_plain_declaration_is_refused_by_a_sentence(installed: dict[str, str]) -> None:
    program = """
import optsum
try:
    class Mine(optsum.PyomoBackend):
        name, about = "mine", "mine"
        declaration = optsum.Declaration(install="pip install it", licence="free")
except optsum.OptionError as error:
    print(error)
"""
    assert "needs a PyomoDeclaration" in python(installed, program)
