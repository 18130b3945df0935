"""Test `optsum report`: one page from rows of any format, and one sentence for rows or pages that cannot be."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from page_rows import SCRIPT, TOPICS, rows_of

from optsum.cli import main


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return rows_of()


@pytest.fixture
def run(
    rows: list[dict[str, Any]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("topics.jsonl").write_text("".join(json.dumps(topic) + "\n" for topic in TOPICS[:2]))

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(list(arguments))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err + captured.out
        return status, captured.out, captured.err

    return run


def test_a_page_loads_nothing(run: Any) -> None:
    status, out, err = run("report", "rows.jsonl", "-o", "page.html", "--title", "Mine & yours")
    assert (status, out, err) == (0, "page.html (0.1 MB)\n", "")
    page = Path("page.html").read_text()
    assert "<title>Mine &amp; yours</title>" in page
    assert not re.findall(r'(?:src|href)="[^#]', page.partition("<script")[0])  # no resource is loaded
    assert SCRIPT not in page
    assert "</script> one" not in page


def test_the_content_policy_allows_only_the_page_s_own_script_and_styles(run: Any) -> None:
    run("report", "rows.jsonl", "-o", "page.html")
    page = Path("page.html").read_text()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)

    def hashed(text: str) -> str:
        return f"&#39;sha256-{b64encode(sha256(text.encode()).digest()).decode()}&#39;"

    assert policy.split("; ") == [
        "default-src &#39;none&#39;",
        f"script-src {hashed(script)}",
        f"style-src {hashed(style)}",
        "base-uri &#39;none&#39;",
        "form-action &#39;none&#39;",
    ]


@pytest.mark.slow
def test_rows_of_compare_and_of_a_run_make_the_same_page(run: Any) -> None:
    asked = ("--max-length", "4", "--details")
    compare = ("compare", "topics.jsonl", "--strategies", "greedy", "--exact", "branch-and-bound", *asked)
    for output in ("out.jsonl", "out.csv"):
        assert run(*compare, "-o", output)[0] == 0
    Path("grid.toml").write_text(
        'topics = "topics.jsonl"\nmax_length = 4\n[grid]\nstrategy = ["branch-and-bound", "greedy"]\n'
    )
    assert run("run", "grid.toml", "folder", "--details")[0] == 0
    pages = []
    for rows in ("out.jsonl", "out.csv", "folder"):
        assert run("report", rows, "-o", f"{rows}.html")[0] == 0
        page = Path(f"{rows}.html").read_text()
        (data,) = re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)
        topics = json.loads(data)["topics"]
        for topic in topics:
            for result in topic["results"]:
                del result[4]  # seconds
        pages.append(topics)
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.jsonl", "-o", "p.html"], "nothing.jsonl"),
        (["empty.jsonl", "-o", "p.html"], "no rows to report"),
        (["topics.jsonl", "-o", "p.html"], "topics.jsonl:1: this is not a result row of optsum"),
        (["rows.jsonl", "rows.jsonl", "-o", "p.html"], "two rows of 'ties'"),
        (["rows.jsonl", "-o", "topics.jsonl"], "exists already"),
        (["rows.jsonl", "-o", "."], "a folder"),
        (["rows.jsonl", "-o", "rows.jsonl", "--overwrite"], "also an input"),
        (["rows.jsonl", "-o", "no/folder/p.html"], "cannot be written"),
        (["rows.jsonl"], "--output"),
    ],
)
def test_a_failure_is_one_sentence_and_leaves_no_file(run: Any, arguments: list[str], words: str) -> None:
    Path("empty.jsonl").write_text("")
    before = sorted(Path().iterdir())
    status, out, err = run("report", *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_an_output_is_replaced_if_that_is_asked_for(run: Any) -> None:
    Path("page.html").write_text("old")
    assert run("report", "rows.jsonl", "-o", "page.html")[0] == 2
    assert Path("page.html").read_text() == "old"
    assert run("report", "rows.jsonl", "-o", "page.html", "--overwrite")[0] == 0
    assert "<!doctype html>" in Path("page.html").read_text()
