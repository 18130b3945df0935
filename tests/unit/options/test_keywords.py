"""Check that the typed keywords of every function are its options, and that a type checker checks them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from optsum.options import keywords
from optsum.options.options import Options, ScoreOptions

HOME = Path(keywords.__file__).with_suffix(".pyi")
HEAD = '''"""Keyword arguments of the functions of `optsum`, made from the options, for editors and type checkers.

``python tests/unit/options/test_keywords.py`` writes this file; run as a test, the same module compares both.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from optsum.metrics.rouge import Metric
from optsum.options.options import Scalar

'''


def said(field: str, info: Any) -> str:
    sentence = (info.description or "").strip()
    default = "" if info.default in {None, ()} else f" [{info.default}]"
    lines = textwrap.wrap(f"{sentence[:1].upper()}{sentence[1:]}{default}.", 110)
    ending = '"""' if len(lines) == 1 else '\n    """'
    body = "\n    ".join(lines)
    return f'    {field}: {keywords.hint(field, info)}\n    """{body}{ending}\n'


def made() -> str:
    text = HEAD
    own = {"executor": Options.model_fields["executor"]}
    search, score = (
        {name: said(name, info) for name, info in each.model_fields.items()} for each in (Options, ScoreOptions)
    )
    both = {name for name in search if search[name] == score.get(name)}
    for name, base, about, fields in (
        ("TextKeywords", "TypedDict", "Keyword arguments that searching and scoring share.", both),
        (
            "SolveKeywords",
            "TextKeywords",
            "Keyword arguments of a search, for functions with their own parameter `executor`.",
            {*search} - both - {*own},
        ),
        ("Keywords", "SolveKeywords", "Keyword arguments of a search.", own),
        ("ScoreKeywords", "TextKeywords", "Keyword arguments of scoring.", {*score} - both),
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


if __name__ == "__main__":
    HOME.write_text(made(), encoding="utf-8")
