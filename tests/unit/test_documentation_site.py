"""Check that the site builds without warnings, loads nothing from other hosts, and can be searched from ``file://``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

ROOT = Path(__file__).resolve().parents[2]

if not (ROOT / "mkdocs.yml").is_file():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("material", "mkdocstrings", "latex2mathml"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert len(pages) > 40
    loaded = re.compile(r'<(?:script|img|iframe)[^>]+src="(?:https?:)?//|<link[^>]+stylesheet[^>]+href="(?:https?:)?//')
    assert [page.name for page, html in pages.items() if loaded.search(html)] == []
    assert [page.name for page, html in pages.items() if 'class="arithmatex"' in html] == []
    assert "<math" in (site / "formulations" / "rouge-l.html").read_text(encoding="utf-8")


def test_no_formula_holds_what_latex_would_have_read(site: Path) -> None:
    """Check for ampersands that separate columns, and for names of commands and environments."""
    formulas = {
        f"{page.relative_to(site)}: {formula}": re.sub(r"<[^>]*>", "", formula)
        for page in site.rglob("*.html")
        for formula in re.findall(r"<math.*?</math>", page.read_text(encoding="utf-8"), re.DOTALL)
    }
    assert len(formulas) > 50
    stray = re.compile(r"&(?!#x?\w+;|lt;|gt;)|&amp;|\\|aligned|#x0*26;")
    assert [where for where, shown in formulas.items() if stray.search(shown)] == []
    for name in ("extractive", "compressive"):  # the programs: an equation a row
        page = (site / "formulations" / f"{name}.html").read_text(encoding="utf-8")
        assert max(table.count("<mtr>") for table in re.findall(r"<mtable.*?</mtable>", page, re.DOTALL)) >= 5


def test_a_formula_that_cannot_be_typeset_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("latex2mathml")
    monkeypatch.syspath_prepend(ROOT / "docs")
    from site_hooks import mathml

    assert mathml(r"\begin{aligned} a & b && (1)\\ c & d && (2) \end{aligned}").count("<mtr>") == 2
    for formula in (r"a && b", r"\begin{nosuch} a & b \end{nosuch}", r"\nosuch{a}"):
        with pytest.raises(ValueError, match="does not know"):
            mathml(formula)


def test_the_reference_is_whole(site: Path) -> None:
    from optsum.cli.app import _COMMANDS, _app
    from optsum.options.options import Options
    from optsum.options.presets import PRESETS

    lines, options, presets = (
        (site / "reference" / f"{name}.html").read_text(encoding="utf-8")
        for name in ("command-line", "options", "presets")
    )
    assert [name for name in _COMMANDS if f"<code>optsum {name}</code>" not in lines] == []
    assert "optsum study hirao" in lines
    assert [name for name in Options.model_fields if f"<code>{name}</code>" not in options] == []
    assert [name for name in PRESETS if f"<code>{name}</code>" not in presets] == []
    main = _app()
    context = main.make_context("optsum", [], resilient_parsing=True)
    for name in _COMMANDS:
        command = main.load(name)
        flags = [flag for each in command.get_params(context) for flag in each.opts if flag.startswith("--")]
        assert [flag for flag in flags if not re.search(rf"<code>[^<]*{flag}\b", lines)] == [], name
    assert (
        max(Counter(re.findall(r"<td><code>-.*?</tr>", lines, re.DOTALL)).values()) <= 2
    )  # the three options that share a flag link to it


def test_every_public_name_has_an_entry_under_its_public_path(site: Path) -> None:
    from api import public_names

    import optsum.testing

    pages = "".join(page.read_text(encoding="utf-8") for page in (site / "reference" / "python").glob("*.html"))
    titles = " ".join(re.sub(r"<[^>]+>", "", title) for title in re.findall(r"<h3.*?</h3>", pages, re.DOTALL))
    public = [*(f"optsum.{name}" for name in public_names()), *(f"optsum.testing.{n}" for n in optsum.testing.__all__)]
    assert [name for name in public if not re.search(rf"{re.escape(name)}\b", titles) and "__" not in name] == []
    assert "summaries" in pages


TASKS = {
    "install": "how-to/install",
    "label parquet": "tutorials/label-a-data-set",
    "dataset map": "how-to/data-sets",
    "tokens of a model": "how-to/tokens",
    "gurobi": "how-to/swap-the-solver",
    "german": "how-to/other-languages",
    "chinese": "how-to/other-languages",
    "rouge-score": "how-to/rouge-score",
    "all optima": "how-to/all-optima",
    "data frame": "how-to/frames",
}
"""What people look for, and the page that tells it."""


def test_tasks_are_two_clicks_away(site: Path) -> None:
    start = re.search(r"<article.*</article>", (site / "index.html").read_text(encoding="utf-8"), re.DOTALL)
    assert start is not None
    assert [page for page in TASKS.values() if f'href="{page}.html' not in start[0]] == []


def test_search_finds_the_how_to_first_from_a_file(site: Path, chromium: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    result, found = "document.querySelector('a.md-search-result__link')", {}
    for words in TASKS:
        chromium.get("about:blank")
        chromium.get(f"file://{site}/index.html?q={quote(words)}")
        link = WebDriverWait(chromium, 60, 0.02).until(lambda each: each.execute_script(f"return {result}?.href"))
        found[words] = link.removeprefix(f"file://{site}/").partition(".html")[0]
    assert found == TASKS
