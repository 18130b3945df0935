"""Editors know the keywords of every function: they are those of the options, and a type checker checks them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest

import optsum
from optsum.options import keywords
from optsum.options.options import Options, ScoreOptions
from optsum.options.values import OwnOptions

HOME = Path(keywords.__file__)
OTHER = {
    "metric": "str | Metric | type[Metric]",
    "require": "str | Sequence[int]",
    "forbid": "str | Sequence[int]",
    "exclusive": "str | float",
    "requires": "str | Sequence[Sequence[int]]",
    "length_tokenizer": "str | Callable[[str], object]",
    "splitter": "str | Callable[..., Iterable[str]]",
    "tokenizer": "str | Callable[[str], Iterable[str]]",
    "stemmer": "str | Callable[[str], str]",
}
HEAD = '''"""Keywords that the functions of `optsum` take, for editors and type checkers; made from the options.

Made by ``python tests/unit/options/test_keywords.py``, and compared with them by the same file as a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from optsum.metrics.metric import Metric
from optsum.options.values import Scalar

__all__ = ["Keywords", "ScoreKeywords", "SolveKeywords"]
'''


def hint(name: str, annotation: Any) -> str:
    if name in OTHER:
        return f"{OTHER[name]} | None"
    if annotation == OwnOptions:
        return "Mapping[str, Scalar] | Sequence[str] | None"
    parts = [annotation] if get_origin(annotation) is Literal else [*(get_args(annotation) or [annotation])]
    words = []
    for part in parts:
        if get_origin(part) is Literal:
            words.append(f"Literal[{', '.join(json.dumps(each) for each in get_args(part))}]")
        elif get_origin(part) is Annotated:
            words.append(get_args(part)[0].__name__)
        elif part is not NoneType:
            words.append(part.__name__)
    return " | ".join([*words, "None"])


def said(field: str, info: Any) -> str:
    sentence = (info.description or "").strip()
    default = "" if info.default in {None, ()} else f" [{info.default}]"
    lines = textwrap.wrap(f"{sentence[:1].upper()}{sentence[1:]}{default}.", 110)
    ending = '"""' if len(lines) == 1 else '\n    """'
    body = "\n    ".join(lines)
    kind = "float | Sequence[float] | None" if "several in a comparison" in sentence else hint(field, info.annotation)
    return f'    {field}: {kind}\n    """{body}{ending}\n'


def made() -> str:
    text = HEAD
    own = {"executor": Options.model_fields["executor"]}
    search, score = (
        {name: said(name, info) for name, info in each.model_fields.items()} for each in (Options, ScoreOptions)
    )
    both = {name for name in search if search[name] == score.get(name)}
    for name, base, about, fields in (
        ("TextKeywords", "TypedDict", "Keywords of searches and scores, which read texts alike.", both),
        (
            "SolveKeywords",
            "TextKeywords",
            "Keywords of a search that takes an executor of the caller's own.",
            {*search} - both - {*own},
        ),
        ("Keywords", "SolveKeywords", "Keywords of a search.", own),
        ("ScoreKeywords", "TextKeywords", "Keywords of scoring.", {*score} - both),
    ):
        text += f'\n\nclass {name}({base}, total=False):\n    """{about}"""\n\n'
        said_of = score if name == "ScoreKeywords" else search
        text += "".join(said_of[field] for field in said_of if field in fields)
    return subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(HOME), "-"],
        input=text, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_the_keywords_are_those_of_the_options() -> None:
    pytest.importorskip("ruff")
    assert HOME.read_text(encoding="utf-8") == made(), "run: python tests/unit/options/test_keywords.py"


PROGRAM = """
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
WRONG = {7, 8, 9, 12}


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["pyright", "mypy"])
def test_a_type_checker_finds_what_is_wrong_and_nothing_else(checker: str, tmp_path: Path) -> None:
    pytest.importorskip(checker)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    home = str(Path(optsum.__file__).parents[1])  # an editable install is an import hook, which checkers do not follow
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [home]}), encoding="utf-8")
    path = {} if "site-packages" in home else {"MYPYPATH": home}
    arguments = (
        ["--outputjson", "--pythonpath", sys.executable] if checker == "pyright" else ["--follow-imports=silent"]
    )
    done = subprocess.run(
        [sys.executable, "-m", checker, *arguments, program.name], capture_output=True, text=True, check=False,
        cwd=tmp_path, env={**os.environ, **path},
    )  # fmt: skip
    if checker == "pyright":
        if not done.stdout.startswith("{"):
            pytest.skip("pyright cannot be started here: it fetches itself when it first runs")
        found = {each["range"]["start"]["line"] + 1 for each in json.loads(done.stdout)["generalDiagnostics"]}
    else:
        found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "error:" in line}
    assert found == WRONG, done.stdout


if __name__ == "__main__":
    HOME.write_text(made(), encoding="utf-8")
