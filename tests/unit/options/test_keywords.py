"""Editors know the keywords of every function: they are those of the options, and a type checker checks them."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest

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


if __name__ == "__main__":
    HOME.write_text(made(), encoding="utf-8")
