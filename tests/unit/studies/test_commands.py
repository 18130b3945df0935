"""Test studies by name in Python and on the command line: options, missing data, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
from processes import wait_for
from pydantic import Field
from spoken import spoken

import optsum
import optsum.studies
from optsum.cli import main
from optsum.errors import OptionError, UnknownNameError
from optsum.options.options import Options, resolve
from optsum.report.figures import Figure
from optsum.report.tables import Column, Table
from optsum.studies import STUDIES, Entry, Row, Study, Submitted, load_study
from optsum.studies.tsc3 import BEST, LEAD, Tsc3Study

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TABLE = str(EXAMPLES / "tsc3.txt")
COVERS, SYSTEMS = str(EXAMPLES / "data" / "covers.jsonl"), str(EXAMPLES / "data" / "covers-systems.jsonl")

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the source tree is not beside the tests")

ONE = ["s10", "s11", "s5", "s17", "s60", "s61"]
TWO = ["s1", "s10", "s11", "s3", "s5", "s60"]


@dataclass(kw_only=True)
class Counting(Study):
    """Count topics.

    This is not shown.
    """

    name: ClassVar[str] = "count"

    most: Annotated[int, Field(ge=1, description="topics to count")] = 3
    loud: Annotated[bool, Field(description="shout")] = False
    workers: int = 1

    @property
    def _searches(self) -> dict[str, list[Options]]:
        return {"cover": [resolve({"formulation": "cover"})]}

    def work(self) -> Callable[[Submitted], list[Row]]:
        return lambda topic: [{"kind": "counted", "most": self.most, "loud": self.loud}]

    def wants(self, topic: optsum.Topic) -> bool:
        self.most -= 1
        return self.most >= 0

    def about(self) -> str:
        return f"{self.most} wanted"

    def tables(self) -> list[Table]:
        return [Table([Column("id")], [[row["id"]] for row in self.rows], title="Topics")]

    def figures(self) -> list[Figure]:
        return []


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        status = main(["study", *map(str, arguments)])
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return call


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a study from another module."""
    studies = {**STUDIES, "count": Entry(f"{__name__}:Counting", "Count them (by nobody, 2004)")}
    monkeypatch.setattr(optsum.studies, "STUDIES", studies)
    monkeypatch.setattr("optsum.cli.study.STUDIES", studies)
    monkeypatch.setattr("optsum.cli.study.SUBCOMMANDS", {name: entry.about for name, entry in studies.items()})


# --- the registry -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_can_be_loaded_and_has_help(name: str, run: Any) -> None:
    assert callable(load_study(name))
    status, out, _ = run(name, "--help")
    assert status == 0
    assert f"study {name} [OPTIONS]" in out
    status, out, _ = run()
    assert status == 0
    assert re.search(rf"^  {name} ", out, re.MULTILINE)


@pytest.mark.usefixtures("counting")
def test_a_study_is_a_class_and_a_line(run: Any, tmp_path: Path) -> None:
    status, out, _ = run("count", "--help-all")
    assert status == 0
    for shown in ("Count them (by nobody, 2004)", "Count topics.", "TOPICS", "--most N", "[3]", "--loud", "--config"):
        assert shown in out
    assert "not shown" not in out
    (tmp_path / "o.toml").write_text("most = 1\nworkers = 2\n")
    status, out, err = run("count", COVERS, "--most", "2", "--loud", "--config", tmp_path / "o.toml")
    assert (status, out.split(), err) == (0, ["Topics", "id", "─" * 11, "ferry-short", "ferry-long"], "")
    status, out, err = run("count", COVERS, "--config", tmp_path / "o.toml", "-o", "-")
    assert (status, err) == (0, "")
    row = json.loads(out)
    assert (row["id"], row["study"], row["rows"], row["loud"]) == ("ferry-short", "count", 1, False)
    report = optsum.study("count", optsum.read_topics(COVERS), most=4)
    assert [row["id"] for row in report.to_rows()][-1] == "orchard-long"
    status, _, err = run("count", COVERS, "--most", "0")
    assert (status, err.count("\n")) == (2, 1)
    assert "most cannot be 0" in err


def test_unknown_names_and_options_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean tsc3"):
        optsum.study("tsc", [])
    with pytest.raises(UnknownNameError, match="did you mean uncoverable"):
        optsum.study("tsc3", [], uncoverd="skip")
    with pytest.raises(OptionError, match="uncoverable cannot be 'ignore'"):
        optsum.study("tsc3", [], uncoverable="ignore")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["tcs3", TABLE], "tsc3"),
        (["tsc3"], "Missing argument 'TOPICS'"),
        (["tsc3", "nosuch.jsonl"], "nosuch.jsonl cannot be opened"),
        (["tsc3", TABLE, "--systems", "nosuch.jsonl"], "nosuch.jsonl cannot be opened"),
        (["tsc3", TABLE, "--uncoverable", "never"], "uncoverable cannot be 'never'"),
        (["tsc3", TABLE, "--time-limit", "-1"], "time-limit cannot be -1"),
        (["tsc3", TABLE, "-o", TABLE], "also an input"),
        (["tsc3", "-", "--systems", "-"], "The standard input can be read only once"),
        (["tsc3", TABLE, "--strategy", "greedy"], "must be proven"),
        (["tsc3", TABLE, "--strategy", "mlip"], "did you mean milp"),
        (
            ["tsc3", TABLE, "--seeds", "0:3"],
            "there is no option '--seeds' here: optsum compare and the studies akhmetov",
        ),
        (["lin-hovy", TABLE, "--exact-time-limit", "3"], "here the time limit applies to every search"),
        (["tsc3", TABLE, "--plot", "x.html"], "a format that optsum cannot draw"),
        (["akhmetov", TABLE, "--seeds", "0:3", "--seed", "1"], "leave out one of the two"),
    ],
)
def test_unusable_arguments_are_one_line(run: Any, arguments: list[str], reason: str) -> None:
    before = Path(TABLE).read_text()
    status, out, err = run(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert reason in err
    assert Path(TABLE).read_text() == before


@pytest.mark.parametrize(
    ("name", "topics", "shown"),
    [
        ("tsc3", COVERS, "LEAD"),
        ("gap", "news.jsonl", "extractive oracle"),
        ("akhmetov", "news.jsonl", "VNS_Greedy"),
        ("hirao", "news.jsonl", "Oracle (multi)"),
        ("lin-hovy", "news.jsonl", "E100"),
        ("compressive", "parsed.jsonl", "compressive SU0"),
    ],
)
def test_every_study_draws_a_figure(run: Any, tmp_path: Path, name: str, topics: str, shown: str) -> None:
    pytest.importorskip("matplotlib")
    plot = tmp_path / "plot.svg"
    status, _, err = run(
        name, EXAMPLES / "data" / topics, "--limit", "2", "--plot", plot, "--figures", tmp_path / "all"
    )
    assert (status, err) == (0, "")
    drawn = plot.read_text(encoding="utf-8")
    assert shown in drawn
    assert drawn in [each.read_text(encoding="utf-8") for each in (tmp_path / "all").glob("*.svg")]


# --- tsc3 ---------------------------------------------------------------------------------------------------------


def test_the_papers_systems_on_the_papers_table(run: Any, tmp_path: Path) -> None:
    systems, out = tmp_path / "systems.jsonl", tmp_path / "rows.jsonl"
    lines = [{"topic_id": "tsc3", "system": name, "selection": ids} for name, ids in (("one", ONE), ("two", TWO))]
    systems.write_text("\n".join(map(json.dumps, lines)))
    status, shown, err = run("tsc3", TABLE, "--systems", systems, "-o", out)
    assert (status, err) == (0, "")
    cells = {line.split()[0]: line.split()[-2:] for line in shown.splitlines() if line[:3] in {"one", "two", "min"}}
    assert cells == {"one": ["0.556", "0.667"], "two": ["0.778", "1.000"], "minimum": ["1.000", "1.000"]}
    rows = {row["system"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert rows["one"]["coverage"] == pytest.approx(5 / 9)
    assert (rows["one"]["correct"], rows["one"]["minimum"], rows["two"]["precision"]) == (4, 6, 1)
    assert rows["two"]["covered"] == pytest.approx([1, 2 / 3, 2 / 3])
    # Missing data is reported.
    for said in ("No topic has meta.condition", f"There is no row {LEAD}", "no topic has both meta.questions"):
        assert said in shown


def test_the_python_call_gives_the_same_tables(run: Any) -> None:
    report = optsum.study("tsc3", optsum.read_topics(COVERS), optsum.read_systems(SYSTEMS))
    status, shown, _ = run("tsc3", COVERS, "--systems", SYSTEMS)
    assert status == 0
    assert shown.strip() == str(report).strip()
    assert "Short Cov.  Short Prec.  Long Cov.  Long Prec." in shown
    assert "Short exact  Short edit  Long exact  Long edit" in shown
    assert "Not in this table: rewriter, which has no extract" in shown
    assert "scored on every topic" not in shown  # it is scored on all topics of a condition
    assert shown.count(f"\n{LEAD} ") == shown.count(f"\n{BEST} ") == 2


def test_a_missing_condition_is_reported() -> None:
    topics = [topic for topic in optsum.read_topics(COVERS) if isinstance(topic, optsum.Topic)]
    short = [topic for topic in topics if topic.meta["condition"] == "short"]
    assert "No topic has the condition long, so" in str(optsum.study("tsc3", short))
    neither = [optsum.as_topic({"id": "t", "cover": [[["a"]]], "meta": {"condition": "tiny"}})]
    shown = str(optsum.study("tsc3", neither))
    assert "No topic has the condition short or long, so" in shown
    assert "Tiny Cov." in shown
    mixed = str(optsum.study("tsc3", [*short, optsum.as_topic({"id": "t", "cover": [[["a"]]]})]))
    assert "Other Cov." in mixed
    assert "Only 2 of 3 topics have questions" in mixed


def test_errors_are_rows_and_one_line(run: Any, tmp_path: Path) -> None:
    topics, out = tmp_path / "topics.jsonl", tmp_path / "rows.jsonl"
    topics.write_text('not JSON\n{"id": "t", "cover": [[["a"]]]}\n{"id": "u", "cover": [[["a"]], []]}\n')
    status, shown, err = run("tsc3", topics, "-o", out)
    assert status == 1
    assert err.count("\n") == 1
    assert "2 parts of the input could not be used; the first: " in err
    assert f"{topics}:1: not JSON" in err
    assert "minimum cover" in shown
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row.get("status") for row in rows] == [None, "error", "error"]
    assert "--uncoverable skip" in rows[2]["error"]
    assert run("tsc3", topics, "--uncoverable", "skip")[0] == 1
    topics.write_text('{"id": "t", "cover": [[["a"]]]}\n{"id": "u", "cover": [[["a"]], []]}\n')
    status, shown, err = run("tsc3", topics, "--uncoverable", "skip")
    assert (status, err) == (0, "")
    assert "1 abstract sentence without any alternative" in shown


# --- Ctrl-C -------------------------------------------------------------------------------------------------------


def test_ctrl_c_gives_up_the_topic_under_way_and_topics_not_read_are_not_missing(run: Any, tmp_path: Path) -> None:
    topics, systems, out = tmp_path / "topics.jsonl", tmp_path / "systems.jsonl", tmp_path / "rows.jsonl"
    topics.write_text("\n".join(json.dumps({"id": name, "cover": [[["a"]]]}) for name in "tu"))
    systems.write_text(json.dumps({"topic_id": "v", "system": "one", "selection": ["a"]}))
    assert run("tsc3", topics, "--systems", systems, "-o", out)[::2] == (
        1, "optsum: 1 part of the input could not be used; There is no topic 'v', but systems have summaries of it.\n",
    )  # fmt: skip
    assert "There is no topic 'v'" in out.read_text()
    assert run("tsc3", topics, "--systems", systems, "--limit", 1, "-o", out, "--overwrite")[::2] == (0, "")
    assert "There is no topic" not in out.read_text()

    work = Tsc3Study.work

    def interrupted(self: Tsc3Study) -> Any:
        """Raise SIGINT in the middle of the second topic."""
        done, seen = work(self), []

        def rows(topic: Any) -> Any:
            seen.append(topic)
            if len(seen) == 2:
                signal.raise_signal(signal.SIGINT)
            return done(topic)

        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tsc3Study, "work", interrupted)
        status, shown, err = run("tsc3", topics, "--systems", systems, "-o", out, "--overwrite")
    assert (status, err) == (130, f"optsum: interrupted; 1 topic done in {out}.part\n")
    assert "minimum cover" in shown
    part = Path(f"{out}.part")  # the old output stays until all rows are written
    assert [json.loads(line).get("id") for line in part.read_text().splitlines()] == ["t"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_leaves_the_tables_of_what_was_done(tmp_path: Path) -> None:
    out, pipe = tmp_path / "rows.jsonl", tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())",
         "study", "tsc3", str(pipe), "-o", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with pipe.open("w") as topics:
        for number in range(3):
            print(json.dumps({"id": f"t{number}", "cover": [[["a"], ["b", "c"]]]}), file=topics, flush=True)
        part = Path(f"{out}.part")
        wait_for(lambda: part.exists() and part.read_text().count("\n") == 3)  # the command waits for more input
        process.send_signal(signal.SIGINT)
        shown, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert spoken(err) == f"optsum: interrupted; 3 topics done in {out}\n"
    assert "minimum cover  1.000  1.000" in shown
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["t0", "t1", "t2"]
