"""Check items.md: the command of every item of the papers runs and shows it, and every numbered item has a row."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from vectors import draw_only_vectors

from optsum.cli import main
from optsum.studies import STUDIES

ROOT = Path(__file__).resolve().parents[3]
ITEMS = ROOT / "tests" / "unit" / "studies" / "items.md"
DATA = ROOT / "examples" / "data"

pytestmark = pytest.mark.skipif(not ITEMS.is_file(), reason="the source tree is not beside the tests")

NUMBERED = {
    "Hirao et al. 2017: all oracles": {"eq.": 12, "Table": 7, "Figure": 1, "Algorithm": 3, "Theorem": 1},
    "Hirao et al. 2017: compressive oracles": {"eq.": 12, "Table": 2, "Figure": 2},
    "Lin & Hovy 2003: potential and limitations": {"eq.": 2, "Figure": 9},
    "Akhmetov et al. 2022: upper bounds by heuristics": {"eq.": 6, "Table": 5, "Figure": 3},
    "Hirao et al. 2004: TSC3": {"eq.": 7, "Table": 7},
}
"""How many of each the papers have."""


def sections() -> dict[str, list[list[str]]]:
    """Return the table rows, as cells, below each heading."""
    parts = re.split(r"^## (.*)$", ITEMS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {
        heading: [
            [cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines() if line.startswith("| ")
        ]
        for heading, body in zip(parts[::2], parts[1::2], strict=True)
    }


def items() -> list[list[str]]:
    """Return the items of the papers: item, command (that of the row above if empty), output and verdict."""
    found: list[list[str]] = []
    for item, command, *rest in (row for rows in sections().values() for row in rows if len(row) == 4):
        if item != "item":
            found.append([item, command or found[-1][1], *rest])
    return found


def commands() -> dict[str, list[str]]:
    """Return the commands of the items, each with all outputs that it shows."""
    found: dict[str, list[str]] = {}
    for _, command, shows, _ in items():
        if command != "-":
            found.setdefault(command.strip("`"), []).append(shows.strip("`"))
    return found


VERDICTS = (
    "as printed", "reading: ", "corrected: ", "silent: ", "imported", "added: ", "a drawing of terms",
    "nothing is computed",
)  # fmt: skip


def test_every_item_has_a_command_and_a_verdict() -> None:
    found = items()
    assert len(found) >= 137
    for item, command, shows, verdict in found:
        assert verdict.startswith(VERDICTS), item
        assert (command == shows == "-") == verdict.startswith(("a drawing", "nothing")), item
        if verdict.startswith("reading: "):  # one of several readings of the paper
            assert "`--" in verdict or "in a column beside it" in verdict, item


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the files that replace the words in capitals."""
    monkeypatch.chdir(tmp_path)
    topic = json.loads((DATA / "news.jsonl").read_text(encoding="utf-8").splitlines()[0])
    topic["documents"] = [document[:4] for document in topic["documents"]]  # for quick searches
    lines = [json.dumps(topic)]
    Path("topics.jsonl").write_text("\n".join(lines), encoding="utf-8")
    rows = [
        {"topic_id": json.loads(line)["id"], "system": f"s{unit}", "selection": [unit], "human": {"quality": unit}}
        for line in lines
        for unit in range(3)
    ]
    Path("systems.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return {"TOPICS": "topics.jsonl", "FILE": "systems.jsonl", "SYSTEMS": "systems.jsonl", "DIR": "figures"}


LONG = [" ".join(f"w{number}" for number in range(first, first + 50)) for first in (0, 50, 100, 150)]
AGREEING = {"a": ["w0 w1", "w0 w1"], "b": ["w0 w1 w2", "w0 w1 y"], "c": ["w0 w1", "w0 y"], "d": ["w0 w1 w2", "w0 y z"]}
"""References of documents of the sets A, B and C of Lin & Hovy, and of none."""


@pytest.mark.slow
@pytest.mark.parametrize("command", commands() if ITEMS.is_file() else [])
def test_a_command_shows_its_items(
    command: str, files: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--figures" in command:
        pytest.importorskip("matplotlib")
        draw_only_vectors(monkeypatch)
    words = shlex.split(command)[1:]
    if "tsc3" in words:
        files = {**files, "TOPICS": str(DATA / "covers.jsonl")}
        rows = list(map(json.loads, (DATA / "covers-systems.jsonl").read_text(encoding="utf-8").splitlines()))
        people = [{**row, "system": "HUMAN"} for row in rows if row["system"] == rows[0]["system"]]
        rated = [{**row, "human": {"content": 0.4, "q00": 1, "q15": 0}} for row in rows + people]
        Path("systems.jsonl").write_text("\n".join(map(json.dumps, rated)), encoding="utf-8")
    elif "study" in words and "lin-hovy" in words:
        texts = [
            {"id": name, "documents": [LONG], "references": [[one] for one in of]} for name, of in AGREEING.items()
        ]
        rows = [{"topic_id": name, "system": "s0", "selection": [0]} for name in AGREEING]
        for path, written in (("topics.jsonl", texts), ("systems.jsonl", rows)):
            Path(path).write_text("\n".join(map(json.dumps, written)), encoding="utf-8")
    elif "compressive" in words:
        parses = (DATA / "parsed.conllu").read_text(encoding="utf-8").strip().split("\n\n")
        texts = [re.findall("^# text = (.*)$", parse, re.MULTILINE)[0] for parse in parses]
        topic = {"id": "t", "documents": [texts], "references": [texts[:1]], "parses": parses}
        Path("topics.jsonl").write_text(json.dumps(topic), encoding="utf-8")
        row = {"topic_id": "t", "system": "compressive R1", "human": {"readability": 3}}
        Path("systems.jsonl").write_text(json.dumps(row), encoding="utf-8")
    given = [files.get(word, str(ROOT / word) if word.startswith("examples/") else word) for word in words]
    assert main(given) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    if Path("rows.jsonl").exists():
        shown += Path("rows.jsonl").read_text("utf-8")
    if Path("figures").exists():
        shown += "DIR " + " ".join(path.name for path in Path("figures").iterdir())
    for item in commands()[command]:
        assert item in shown, item


def test_every_equation_algorithm_table_and_figure_has_a_row() -> None:
    found = sections()
    assert {heading.partition(":")[0] for heading in NUMBERED} <= {heading.partition(":")[0] for heading in found}
    for heading, kinds in NUMBERED.items():
        items = [row[0] for row in found[heading] if len(row) == 4]
        for kind, count in kinds.items():
            named: set[int] = set()
            for item in items:
                for match in re.findall(rf"{re.escape(kind)}s? ((?:\d+(?:-\d+)?(?:, | and )?)+)", item):
                    for part in re.findall(r"\d+(?:-\d+)?", match):
                        first, _, last = part.partition("-")
                        named |= set(range(int(first), int(last or first) + 1))
            assert named >= set(range(1, count + 1)), (heading, kind, sorted(set(range(1, count + 1)) - named))


def test_every_study_is_on_the_page() -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    assert all(f"optsum study {name}" in page for name in STUDIES)
