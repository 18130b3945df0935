"""The site is built without a warning, needs no other host, and can be searched from ``file://``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

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
    """Neither an ampersand that parts columns, nor the name of a command or of an environment."""
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
    from optsum.cli.app import _COMMANDS
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
    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert "optsum.running.topics.solve" in python
    assert "summaries" in python


def test_it_is_searched_from_a_file(site: Path, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium here")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom",
         "--virtual-time-budget=10000", f"file://{site}/index.html?q=knapsack"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "md-search-result__article" in done.stdout, done.stderr[-2000:]
