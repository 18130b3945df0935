"""Test figures of comparisons: early refusals, identical bytes for identical data, literal text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.errors import OptionError
from optsum.report import figures
from optsum.report.comparison import Comparison
from optsum.report.figures import checked_plot, plain, plot_comparison

TOPICS: list[dict[str, Any]] = [
    {"id": f"t{number}", "documents": [["a b c", f"a x{number}", "b c d y"]], "references": [["a b c d"]]}
    for number in range(3)
]


@pytest.fixture(scope="module")
def table() -> Comparison:
    pytest.importorskip("matplotlib")
    return optsum.compare(TOPICS, ["greedy", "lead", "random"], "exhaustive", seeds="0:3", max_length=5)


def test_the_same_comparison_is_the_same_file(table: Comparison, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        plot_comparison(table, checked_plot(tmp_path / name))
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert drawn == (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert all(name in drawn for name in ("exhaustive", "greedy", "lead", "random", "3 problems"))


@pytest.mark.parametrize(("name", "begin"), [("a.png", b"\x89PNG"), ("a.PDF", b"%PDF")])
def test_the_ending_says_the_format(table: Comparison, tmp_path: Path, name: str, begin: bytes) -> None:
    plot_comparison(table, checked_plot(tmp_path / name))
    assert (tmp_path / name).read_bytes().startswith(begin)


def test_a_comparison_without_any_ratio_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    empty = optsum.compare([{**TOPICS[0], "references": [[""]]}], ["greedy"], "exhaustive", max_length=5)
    plot_comparison(empty, checked_plot(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").stat().st_size


@pytest.mark.parametrize(
    ("name", "reason"), [("a.html", "a format that optsum cannot draw"), ("none/a.svg", "create it first")]
)
def test_impossible_figures_are_refused_at_once(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        checked_plot(tmp_path / name)


def test_without_matplotlib_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"pip install 'optsum\[plots\]'"):
        checked_plot("a.svg")


def test_a_formula_in_a_name_is_drawn_as_it_is() -> None:
    assert plain("$\\x_1$\x1b") == "\\$\\x_1\\$\\u001b"
