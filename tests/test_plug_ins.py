"""Test the example plug-ins, installed through entry points, on the command line and in Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from processes import answers_of
from spoken import spoken

import optsum

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = ROOT / "examples" / "plugins"
NEWS = str(ROOT / "examples" / "data" / "news.jsonl")
LONGEST = 60
Answers: TypeAlias = dict[str, subprocess.CompletedProcess[str]]

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


OPTIONS = ["--formulation", "headlines", "--max-length", str(LONGEST)]
LETTERS = ["--metric", "char-3", "--max-length", str(LONGEST), "--strategy"]
MILP = ["--max-length", str(LONGEST), "--strategy", "milp", "--backend"]
SEARCHES = {
    "branch-and-bound": [*LETTERS, "branch-and-bound"],
    "greedy": [*LETTERS, "greedy"],
    "narrow": [*OPTIONS, "--formulation-option", "first=1"],
    "wide": OPTIONS,
    "file": ["--config", "options.toml"],
    "second-highs": [*MILP, "second-highs"],
    "highs": [*MILP, "highs"],
}
REFUSED = {
    "and similarity, not char-4": ["--max-length", "9", "--formulation", "compressive", "--metric", "char"],
    "for rouge-1 and rouge-2, not for char-2": ["--max-length", "9", "--boundaries", "joined", "--metric", "char-2"],
    "there is no metric 'char-0'": ["--max-length", "9", "--metric", "char-0"],
    "The option first is 0; give at least 1": [*OPTIONS, "--formulation-option", "first=0"],
    "The option first is 'few'; give a whole number": [*OPTIONS, "--formulation-option", "first=few"],
    "did you mean first": [*OPTIONS, "--formulation-option", "frist=2"],
    "supports the metric rouge-N, rouge-suK or char, not rouge-l: change --metric": [*OPTIONS, "--metric", "rouge-l"],
}


@pytest.fixture(scope="module")
def answers(installed: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Run the commands above and two others in one process; return their answers by the names above."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "options.toml").write_text(
        f'formulation = "headlines"\nmax-length = {LONGEST}\n[formulation-options]\nfirst = 1\n'
    )
    commands = {name: ["solve", NEWS, *flags] for name, flags in (SEARCHES | REFUSED).items()}
    commands |= {"metrics": ["list", "metrics"], "shown": ["config", "show", *SEARCHES["narrow"]]}
    return dict(zip(commands, answers_of([*commands.values()], env=installed, cwd=folder), strict=True))


def python(environment: dict[str, str], program: str) -> str:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert went_well(done), done.stderr
    return done.stdout


def test_each_plug_in_is_short() -> None:
    for file in PLUGINS.glob("*.py"):
        assert len(file.read_text("utf-8").splitlines()) < 60


def test_plug_ins_are_listed(installed: dict[str, str], answers: Answers) -> None:
    shown = run(installed, "list", "formulations").stdout
    for name, lines in (("char", answers["metrics"].stdout), ("headlines", shown)):
        assert any(line.startswith(name) for line in lines.splitlines())
    (served,) = (line for line in shown.splitlines() if line.startswith("headlines"))
    assert "rouge-N, rouge-suK, A+B," in served


def grams(text: str, size: int) -> list[str]:
    letters = "".join(letter for letter in text.lower() if letter.isascii() and letter.isalnum())
    return [letters[start : start + size] for start in range(len(letters) - size + 1)]


@pytest.mark.parametrize("strategy", ["branch-and-bound", "greedy"])
def test_a_metric_is_searched_and_scored(answers: Answers, strategy: str) -> None:
    found = rows(answers[strategy])
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


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_searched_is_refused(answers: Answers, sentence: str) -> None:
    assert answers[sentence].returncode == 2
    assert sentence in answers[sentence].stderr


def test_a_formulation_has_options(answers: Answers) -> None:
    narrow, wide = rows(answers["narrow"]), rows(answers["wide"])
    topics = [json.loads(line) for line in Path(NEWS).read_text("utf-8").splitlines()]
    for one, three, topic in zip(narrow, wide, topics, strict=True):
        starts = [sum(map(len, topic["documents"][:number])) for number in range(len(topic["documents"]))]
        assert set(one["selection"]) <= set(starts)
        assert one["status"] == three["status"] == "optimal"
        assert one["objective"] <= three["objective"]
        assert one["config_hash"] != three["config_hash"]


def test_a_formulation_s_options_in_a_file(installed: dict[str, str], answers: Answers, tmp_path: Path) -> None:
    by_file, by_flags = rows(answers["file"]), rows(answers["narrow"])
    assert [row["selection"] for row in by_file] == [row["selection"] for row in by_flags]
    assert {row["config_hash"] for row in by_file} == {row["config_hash"] for row in by_flags}
    shown = tmp_path / "shown.toml"
    shown.write_text(answers["shown"].stdout)
    assert tomllib.loads(shown.read_text("utf-8"))["formulation-options"] == {"first": 1}
    assert rows(run(installed, "solve", NEWS, "--config", str(shown)))[0]["config_hash"] == by_file[0]["config_hash"]


def test_a_backend_solves(answers: Answers) -> None:
    mine, highs = rows(answers["second-highs"]), rows(answers["highs"])
    assert [row["objective"] for row in mine] == [row["objective"] for row in highs]
    assert {(row["backend"], row["status"]) for row in mine} == {("second-highs", "optimal")}


@pytest.mark.slow
def test_the_conformance_suites_accept_the_plug_ins(installed: dict[str, str]) -> None:
    program = f"""
import optsum
from optsum.testing import check_backend, check_problem
check_backend("second-highs")
spec = optsum.Spec(analyzer=optsum.Analyzer(), metric="char", max_length=40)
for topic in optsum.read_topics({NEWS!r}):
    check_problem(optsum.FORMULATIONS.create("headlines", {{"first": 2}}).task(topic, spec).problem)
"""
    python(installed, program)


def test_a_plain_declaration_is_refused_by_a_sentence() -> None:
    with pytest.raises(optsum.OptionError, match="needs a PyomoDeclaration"):

        class Mine(optsum.PyomoBackend):
            name, about = "mine", "mine"
            declaration = optsum.Declaration(install="pip install it", licence="free")
