"""Test tables as text, Markdown, LaTeX, CSV, data frames and in notebooks."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pytest

import optsum
from optsum.errors import UnknownNameError
from optsum.report.tables import (
    Column,
    Table,
    as_csv,
    as_html,
    as_latex,
    as_markdown,
    number,
    put_tables,
    seconds,
    share,
    table_format,
)

HOSTILE = "<script>\x1b[2J|a_b\\ & 50% {#1} `x` $y$ ~^\u202e"


def small() -> Table:
    columns = [Column("name"), Column("value", numeric=True), Column("time", numeric=True)]
    rows = [["a", number(1 / 3), seconds(0.25)], ["b, c", number(None)]]
    return Table(columns, rows, title="T", caption=["One.", "Two."])


def test_a_table_prints_as_a_table() -> None:
    table = Table([Column("name"), Column("value", numeric=True)], [["a", "1"], ["b", "10"]], title="T")
    assert str(table) == f"{table}" == table.text()
    assert "Column(" not in str(table)
    assert str(table).splitlines()[0] == "T"


def test_files_and_frames_get_values_and_not_what_is_shown_of_them() -> None:
    assert list(csv.reader(io.StringIO(small().to_csv()))) == [
        ["name", "value", "time"], ["a", repr(1 / 3), "0.25"], ["b, c", "", ""],
    ]  # fmt: skip
    pytest.importorskip("pandas")
    frame = small().to_pandas()
    assert list(frame.columns) == ["name", "value", "time"]
    assert frame["value"][0] == 1 / 3
    assert frame["value"].isna()[1]


def test_cells_have_a_text_and_a_value() -> None:
    assert [number(0.5), number(2, 0), number(None), share(0.5), share(None)] == ["0.5000", "2", "-", "50%", "-"]
    assert [cell.value for cell in (number(2, 0), share(0.5), seconds(1.5), seconds(None))] == [2, 0.5, 1.5, None]


def test_markdown_is_a_table_of_as_many_cells_as_there_are_headings() -> None:
    table = small()
    table.rows.append([HOSTILE, "1", "2"])
    lines = [line for line in as_markdown(table).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {4}
    assert lines[1].split() == ["|", "-" * (len(lines[0].split("|")[1]) - 2), "|", "-----:", "|", "-----:", "|"]
    assert "\\<script\\>" in lines[-1]
    assert "\x1b" not in lines[-1]


def test_latex_has_no_sign_that_latex_would_obey() -> None:
    table = small()
    table.rows.append([HOSTILE, "1", "≥ 2"])
    (row,) = [line for line in as_latex(table).splitlines() if "script" in line]
    cell = row.removesuffix(r" & 1 & $\geq$ 2 \\")
    left = re.sub(r"\\textbackslash\{\}|\\textascii(tilde|circum)\{\}|\\[&%$#_{}]|\$[<>|]\$", "", cell)
    assert not re.search(r"[\\&%$#_{}~^]", left)
    assert as_latex(small()).count(r"\toprule") == as_latex(small()).count(r"\midrule") == 1


def test_latex_has_the_rules_of_booktabs() -> None:
    text = as_latex(small())
    assert text.startswith("\\begin{table}\n\\centering\n\\caption{T}\n\\begin{tabular}{lrr}\n\\toprule\n")
    assert r"a & 0.3333 & 250 ms \\" in text
    assert text.endswith("\\bottomrule\n\\end{tabular}\n\\par\\smallskip\\footnotesize\nOne. Two.\n\\end{table}\n")


def test_notes_are_sentences_of_one_paragraph() -> None:
    table = small()
    table.caption = ["a: at most 3", "b: <= 5."]
    assert "a: at most 3. b: \\<= 5.\n" in as_markdown(table)
    assert "\na: at most 3. b: $\\leq$ 5.\n" in as_latex(table)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.data: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.data.append(data)


def test_a_notebook_gets_a_table_and_nothing_else_of_the_data() -> None:
    table = small()
    table.rows.append([HOSTILE, "1", "2"])
    parser = _Tags()
    parser.feed(as_html(table))
    assert parser.tags.count("td") == 9
    assert "script" not in parser.tags
    assert any(text.startswith("<script>") for text in parser.data)
    assert "\x1b" not in as_html(table)
    assert "\u202e" not in as_html(table)
    assert small()._repr_html_() == as_html(small())


def test_printed_tables_have_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table([Column("a")], [["\x1b[2J"]])
    assert "\x1b" in as_csv(table)  # a file keeps the characters
    for form in ("text", "markdown", "csv", "latex"):
        put_tables([table], table_format(form))
    assert "\x1b" not in capsys.readouterr().out


def test_several_tables_are_parted_by_a_blank_line(capsys: pytest.CaptureFixture[str]) -> None:
    put_tables([small(), small()], "csv")
    assert capsys.readouterr().out == f"{small().to_csv()}\n{small().to_csv()}"


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean markdown"):
        table_format("markdwon")


def test_a_comparison_has_every_form() -> None:
    topic = {"id": "t", "documents": [["a b c", "a b d", "d"]], "references": [["a b c d"]]}
    table = optsum.compare([topic], strategies=["greedy"], exact="exhaustive", max_length=4)
    assert table.to_csv().splitlines()[1].startswith("exhaustive,1.0,1.0,1.0,1,")
    assert "<td" in table._repr_html_()
    assert r"\toprule" in table.to_latex()
    assert table.to_markdown().count("| greedy") == 1


NAMES = ["大桥已关闭", "カタカナ", "한국어", "e\u0301clair", "a\u200bb", "plain"]
"""Names whose letters take two places in a terminal, or none."""


def test_columns_are_aligned_by_what_letters_take_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.cells import cell_len

    table = Table([Column("name"), Column("value", numeric=True)], [[name, number(0.5)] for name in NAMES])
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdout", shown)
    monkeypatch.setenv("COLUMNS", "22")
    table.show()
    for text in (table.text(), as_markdown(table), shown.getvalue()):
        lines = [line.removesuffix(" |").rstrip() for line in text.splitlines() if "0.5000" in line]
        assert len(lines) == len(NAMES)
        assert len({cell_len(line) for line in lines}) == 1
    assert "大桥已关闭" in shown.getvalue()
