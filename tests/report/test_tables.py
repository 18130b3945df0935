from __future__ import annotations

from optsum.report.tables import Column, TextTable


def test_a_table_prints_as_a_table() -> None:
    table = TextTable([Column("name"), Column("value", numeric=True)], [["a", "1"], ["b", "10"]], title="T")
    assert str(table) == f"{table}" == table.text()
    assert "Column(" not in str(table)
    assert str(table).splitlines()[0] == "T"
