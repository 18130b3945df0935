"""Check the documentation: Python blocks run and print what is shown, commands run, and doctests hold."""

from __future__ import annotations

import doctest
import io
import json
import pkgutil
import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from processes import answers_of

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / "docs").is_dir():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block; `adjoins` says that only blank lines separate it from the one before."""

    line: int
    kind: str
    body: str
    adjoins: bool


def blocks(page: str) -> Iterator[Block]:
    end = 0
    for match in FENCE.finditer(page):
        line = page.count("\n", 0, match.start("body"))
        yield Block(line, match["kind"].strip(), match["body"], not page[end : match.start()].strip())
        end = match.end()


def run_page(page: str, name: str) -> int:
    """Run the Python blocks of a page in one namespace, compare their output with the page, and return their number."""
    namespace = {"__name__": "__main__"}
    printed: str | None = None
    ran = 0
    for block in blocks(page):
        if block.kind == "python":
            output = io.StringIO()
            # blank lines, so that tracebacks have the line numbers of the page
            code = compile("\n" * block.line + block.body, name, "exec")
            with redirect_stdout(output):
                exec(code, namespace)  # noqa: S102 - our own documentation
            printed = output.getvalue()
            ran += 1
        elif block.kind == "text" and block.adjoins and printed is not None:
            assert printed == block.body, f"{name}:{block.line}: the code above prints something else"
            printed = None
        else:
            printed = None
    return ran


def run_console(block: str, name: str, folder: Path = ROOT) -> None:
    """Run the commands of a console block (``$ optsum ...``), and compare their output with the block."""
    parts = [part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    printed = run_programs([command for command, _, _ in parts], name, folder)
    for (command, _, shown), said in zip(parts, printed, strict=True):
        assert _timeless(said) == _timeless(shown), f"{name}: {command} prints something else"


def run_programs(commands: list[str], name: str, folder: Path) -> list[str]:
    """Run commands of a page in a folder, check that each succeeds, and return their outputs."""
    given = [shlex.split(command) for command in commands]
    assert [program for program, *_ in given] == ["optsum"] * len(given), name
    answers = answers_of([arguments for _, *arguments in given], cwd=folder)
    for command, done in zip(commands, answers, strict=True):
        assert done.returncode == 0, f"{name}: {command}: {done.stderr}"
    return [done.stdout for done in answers]


def _timeless(output: str) -> list[str]:
    """Return lines without durations, and without the blanks that align their columns."""
    without = re.sub(r"\b[\d.]+ (µs|ms|s|min|a second)\b", "TIME", output)
    return [re.sub(r"\s+|[─-]{3,}", " ", line).strip() for line in without.strip().splitlines()]


def _modules() -> list[str]:
    """Return the names of all modules, including those of the folders beside the core."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = []
    for package in project["tool"]["setuptools"]["packages"]:
        names.append(package)
        found = pkgutil.iter_modules(import_module(package).__path__, f"{package}.")
        names += [module.name for module in found if not module.ispkg]
    return names


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in page.read_text("utf-8")], ids=_name)
def test_a_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert run_page(page.read_text(encoding="utf-8"), _name(page)) > 0


@pytest.mark.parametrize("page", [page for page in PAGES if "```console" in page.read_text("utf-8")], ids=_name)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    for held in ROOT.iterdir():
        if held.name != "demo-output":  # the output of the commands
            (tmp_path / held.name).symlink_to(held)
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind == "console":
            run_console(block.body, f"{_name(page)}:{block.line}", tmp_path)


def test_the_commands_of_the_readme_run_on_a_file_of_ones_own(tmp_path: Path) -> None:
    """Run each command as written, in a folder with two files in the columns of CNN/DM."""
    topics = [json.loads(line) for line in (ROOT / "examples/data/news.jsonl").read_text("utf-8").splitlines()]
    rows = [
        {
            "id": topic["id"],
            "article": " ".join(sentence for document in topic["documents"] for sentence in document),
            "highlights": "\n".join(topic["references"][0]),
        }
        for topic in topics
    ]
    for name in ("train.jsonl", "test.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "program.mps").write_text(
        "NAME cover\nROWS\n N cost\n G r0\n G r1\nCOLUMNS\n x0 cost 2 r0 1\n x1 cost 2 r1 1\n x2 cost 3 r0 1\n"
        " x2 r1 1\nRHS\n RHS r0 1 r1 1\nBOUNDS\n BV BND x0\n BV BND x1\n BV BND x2\nENDATA\n",
        encoding="utf-8",
    )
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [
        line
        for block in blocks(page)
        if block.kind == "sh"
        for line in block.body.splitlines()
        if line.startswith("optsum ")
    ]
    assert [command.split()[1] for command in commands] == ["labels", "solve", "compare", "compare"]
    run_programs(commands, "README.md", tmp_path)
    labels = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text("utf-8").splitlines()]
    assert [(row["id"], row["status"]) for row in labels] == [(row["id"], "optimal") for row in rows]
    assert all(sum(row["labels"]) == 3 for row in labels)
    assert (tmp_path / "oracles.jsonl").read_text("utf-8").count('"optimal"') == len(rows)


def test_the_readme_is_one_screen() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(page.split()) < 700
    tables = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
    assert all(table.count("\n") - 2 <= 8 for table in tables)


def test_the_tutorials_are_run() -> None:
    tutorials = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    assert tutorials
    for page in tutorials:
        kinds = [block.kind for block in blocks(page.read_text(encoding="utf-8"))]
        assert kinds.count("python") >= 3
        assert kinds.count("text") >= 3


def test_a_page_that_lies_is_found() -> None:
    good = "```python\nx = 1\n```\nwords\n```python\nprint(x)\n```\n\n```text\n1\n```\n"
    assert run_page(good, "good.md") == 2
    assert [block.line for block in blocks(good)] == [1, 5, 9]
    with pytest.raises(AssertionError, match=r"bad\.md:9"):
        run_page(good.replace("\n1\n", "\n2\n"), "bad.md")
    with pytest.raises(NameError):
        run_page(good.replace("print(x)", "print(y)"), "bad.md")
    assert run_page(good.replace("\n1\n", "\n2\n").replace("```\n\n```text", "```\nwords\n```text"), "apart.md") == 2


def test_a_command_that_prints_something_else_is_found() -> None:
    from optsum import __version__

    run_console(f"$ optsum --version\noptsum {__version__}\n", "good")
    with pytest.raises(AssertionError, match="something else"):
        run_console("$ optsum --version\noptsum 9.9.9\n", "bad")
    with pytest.raises(AssertionError, match="no-such"):
        run_console("$ optsum no-such-command\n", "bad")
    assert _timeless("a   1.5 ms\n─────\n") == _timeless("a 22 s\n──────────") == ["a TIME", ""]
    assert _timeless("a 1.5") != _timeless("a 1.6")


@pytest.mark.parametrize("name", _modules())
def test_the_doctests_of_a_module_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = doctest.testmod(import_module(name))
    assert result.failed == 0


def test_there_are_doctests() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [test for name in _modules() for test in finder.find(import_module(name)) if test.examples]
    assert len(examples) >= 10


def test_every_strategy_is_documented() -> None:
    from optsum.registry import STRATEGIES

    pages = {page: page.read_text(encoding="utf-8").splitlines()[0] for page in (ROOT / "docs/strategies").glob("*.md")}
    titles = " ".join(pages.values())
    assert [name for name in STRATEGIES.names() if f"`{name}`" not in titles] == []
    assert [page.name for page, title in pages.items() if not re.match(r"# (`[\w+-]+`(, | and )?)+$", title)] == []


def test_every_benchmark_is_listed() -> None:
    listed = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert [file.name for file in (ROOT / "benchmarks").glob("*.py") if f"`{file.name}`" not in listed] == []
