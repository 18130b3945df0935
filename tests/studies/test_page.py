"""docs/studies.md: every command of its tables runs, and everything that the papers number has a row."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from optsum.cli import main
from optsum.studies import STUDIES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "studies.md"
DATA = ROOT / "examples" / "data"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="the source tree is not beside the tests")

NUMBERED = {
    "Hirao et al. 2017: all oracles": {"eq.": 12, "Table": 7, "Figure": 1, "Algorithm": 3, "Theorem": 1},
    "Hirao et al. 2017: compressive oracles": {"eq.": 12, "Table": 2, "Figure": 2},
    "Lin & Hovy 2003: potential and limitations": {"eq.": 2, "Figure": 9},
    "Akhmetov et al. 2022: upper bounds by heuristics": {"eq.": 6, "Table": 5, "Figure": 3},
    "Hirao et al. 2004: TSC3": {"eq.": 7, "Table": 7},
}
"""How many of each the papers have."""


def sections() -> dict[str, list[list[str]]]:
    """Return the rows of the tables below each heading; the cells of each."""
    parts = re.split(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {
        heading: [
            [cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines() if line.startswith("| ")
        ]
        for heading, body in zip(parts[::2], parts[1::2], strict=True)
    }


def commands() -> list[str]:
    rows = [row for rows in sections().values() for row in rows if len(row) == 3]
    return sorted({found for row in rows for found in re.findall(r"`(optsum [^`]+)`", row[2])})


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What stands for the words in capitals."""
    monkeypatch.chdir(tmp_path)
    lines = (DATA / "news.jsonl").read_text(encoding="utf-8").splitlines()[:1]
    Path("topics.jsonl").write_text("\n".join(lines), encoding="utf-8")
    rows = [
        {"topic_id": json.loads(line)["id"], "system": f"s{unit}", "selection": [unit], "human": {"quality": unit}}
        for line in lines
        for unit in range(3)
    ]
    Path("systems.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return {"TOPICS": "topics.jsonl", "FILE": "systems.jsonl", "SYSTEMS": "systems.jsonl", "DIR": "figures"}


@pytest.mark.slow
@pytest.mark.parametrize("command", commands() if PAGE.is_file() else [])
def test_a_command_runs(command: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    if "--figures" in command:
        pytest.importorskip("matplotlib")
    words = shlex.split(command)[1:]
    if "tsc3" in words:
        files = {**files, "TOPICS": str(DATA / "covers.jsonl"), "FILE": str(DATA / "covers-systems.jsonl")}
    elif "chunks" in words:
        files = {**files, "TOPICS": str(DATA / "parsed.conllu")}
    elif "compressive" in words:
        parses = (DATA / "parsed.conllu").read_text(encoding="utf-8").strip().split("\n\n")
        texts = [re.findall("^# text = (.*)$", parse, re.MULTILINE)[0] for parse in parses]
        topic = {"id": "t", "documents": [texts], "references": [texts[:1]], "parses": parses}
        Path("topics.jsonl").write_text(json.dumps(topic), encoding="utf-8")
        row = {"topic_id": "t", "system": "compressive R1", "human": {"readability": 3}}
        Path("systems.jsonl").write_text(json.dumps(row), encoding="utf-8")
    given = [files.get(word, str(ROOT / word) if word.startswith("examples/") else word) for word in words]
    assert main(given) == 0, capsys.readouterr().err
    assert capsys.readouterr().out or any(Path(files[word]).exists() for word in {"DIR"} & set(words))


def test_every_equation_algorithm_table_and_figure_has_a_row() -> None:
    found = sections()
    assert {heading.partition(":")[0] for heading in NUMBERED} <= {heading.partition(":")[0] for heading in found}
    for heading, kinds in NUMBERED.items():
        items = [row[0] for row in found[heading] if len(row) == 3]
        for kind, count in kinds.items():
            named: set[int] = set()
            for item in items:
                for match in re.findall(rf"{re.escape(kind)}s? ((?:\d+(?:-\d+)?(?:, | and )?)+)", item):
                    for part in re.findall(r"\d+(?:-\d+)?", match):
                        first, _, last = part.partition("-")
                        named |= set(range(int(first), int(last or first) + 1))
            assert named >= set(range(1, count + 1)), (heading, kind, sorted(set(range(1, count + 1)) - named))


def test_every_study_is_on_the_page() -> None:
    assert all(f"optsum study {name}" in PAGE.read_text(encoding="utf-8") for name in STUDIES)
