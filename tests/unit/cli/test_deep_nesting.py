"""Check that deeply nested files are refused by one sentence, in every format and with every flag that reads one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from optsum.cli import main
from optsum.coverage.instance import coverage_of_json
from optsum.errors import InputError
from optsum.system.files import is_deep

DEPTHS = [100, 950, 5_000]
GOOD = '{"id": "a", "documents": [["a"]], "references": [["a"]]'


def nested(depth: int, begin: str = "[", end: str = "]") -> str:
    return begin * depth + end * depth


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("topics.jsonl").write_text(f"{GOOD}}}\n")
    Path("parsed.conllu").write_text("1\ta\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        *product(["metric = {list}", "strategy-options = {table}"], DEPTHS),
        ("metric.{dots} = 1", 950),
        ("backend.options.{dots} = 1", 100),
        ("strategy-options.{dots} = 1", 5_000),
        ("[{dots}]", 100),
    ],
)
@pytest.mark.usefixtures("here")
def test_deeply_nested_options_are_refused(text: str, depth: int, capsys: pytest.CaptureFixture[str]) -> None:
    table = "{ a = " * depth + "1" + " }" * depth
    filled = text.replace("{list}", nested(depth)).replace("{dots}", ".".join("a" * depth)).replace("{table}", table)
    Path("options.toml").write_text(filled)
    assert main(["solve", "topics.jsonl", "--max-length", "3", "--config", "options.toml"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "the configuration options.toml is nested too deeply" in err


@pytest.mark.parametrize(("text", "depth"), [*product(["rule = {list}"], DEPTHS), ("lexicon.{dots} = 1", 950)])
@pytest.mark.usefixtures("here")
def test_deeply_nested_chunk_rules_are_refused(text: str, depth: int, capsys: pytest.CaptureFixture[str]) -> None:
    filled = text.replace("{list}", nested(depth)).replace("{dots}", ".".join("a" * depth))
    Path("rules.toml").write_text(filled)
    assert main(["chunks", "parsed.conllu", "--chunk-rules", "rules.toml"]) == 2
    assert "the file of chunk rules rules.toml is nested too deeply" in capsys.readouterr().err


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(
    "line",
    [
        f'{GOOD}, "meta": {{"a": LIST}}}}',
        f'{GOOD}, "meta": OBJECT}}',
        f'{GOOD}, "cover": LIST}}',
        '{"id": "b", "documents": LIST, "references": LIST}',
        '{"id": LIST}',
    ],
)
@pytest.mark.usefixtures("here")
def test_deeply_nested_topics_are_refused(depth: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    deep = line.replace("LIST", nested(depth)).replace("OBJECT", nested(depth, '{"a":').replace(":}", ":1}", 1))
    Path("deep.jsonl").write_text(f"{GOOD.replace('a', 'z', 1)}}}\n{deep}\n")
    assert main(["align", "deep.jsonl", "-o", "out.jsonl"]) == 1
    err = capsys.readouterr().err
    assert "unexpected" not in err
    assert "deep.jsonl:2: " in err


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.usefixtures("here")
def test_deeply_nested_systems_and_rows_are_refused(depth: int, capsys: pytest.CaptureFixture[str]) -> None:
    Path("systems.jsonl").write_text(f'{{"topic_id": "a", "system": {nested(depth)}, "summary": {nested(depth)}}}\n')
    assert main(["score", "topics.jsonl", "systems.jsonl"]) == 1
    assert "systems.jsonl:1: " in capsys.readouterr().err
    Path("rows.jsonl").write_text(f'{{"id": "a", "status": {nested(depth)}, "config_hash": {nested(depth)}}}\n')
    assert main(["solve", "topics.jsonl", "--max-length", "3", "-o", "rows.jsonl", "--resume"]) == 2
    err = capsys.readouterr().err
    assert "unexpected" not in err


@pytest.mark.parametrize("depth", DEPTHS)
def test_deeply_nested_instances_are_refused(depth: int) -> None:
    with pytest.raises(InputError, match="not optsum's normal form"):
        coverage_of_json(nested(depth))


def test_depth() -> None:
    deep: list[object] = []
    for _ in range(63):
        deep = [deep]
    assert not is_deep(deep)
    assert is_deep([deep])
    assert is_deep({"a": [1, [], deep]})
    assert not is_deep([list(range(1000))] * 100)
