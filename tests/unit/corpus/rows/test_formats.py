"""Test rows in every format that an output's name can ask for: writing, reading back, resuming."""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optsum.contracts.result import Result
from optsum.corpus.row_files import Existing, RowFormat, RowWriter, format_of, read_rows
from optsum.errors import InputError, OptionError

NAMES = ["jsonl", "jsonl.gz", "jsonl.zst", "csv", "csv.gz", "csv.zst", "parquet"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

RESULT = {
    "id": "7", "strategy": "lead", "status": "feasible", "termination": "completed", "objective": 0.5, "bound": 1.0,
    "gap": 1.0, "numerator": 1, "denominator": 2, "selection": [0, 3], "summary": ["a, \"b\"\nc", "é ="],
    "seconds": 0.25,
    "rouge": {"rouge-1": {"recall": 0.5, "precision": 0.25, "f1": 1 / 3}}, "statistics": {}, "trace": [[0.1, 3, 0.5]],
    "objective_exact": "1/2", "config_hash": "123456789012", "error": None, "evaluations": 3, "count": 2**80,
}  # fmt: skip
ERROR = {
    "id": None, "strategy": "lead", "status": "error", "termination": "failed", "error": "t:1: bad", "extra": True,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_read_back_as_they_were_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{name}"
    with RowWriter(path) as rows:
        rows.write(RESULT)
        rows.write(ERROR)
    first, second = read_rows(path)
    assert {key: value for key, value in first.items() if value is not None} == {
        key: value for key, value in RESULT.items() if value is not None
    }
    assert {key: value for key, value in second.items() if value is not None} == {
        key: value for key, value in ERROR.items() if value is not None
    }
    assert Result.from_row(first).selection == (0, 3)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


@settings(max_examples=40)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "optima"]), values), max_size=4))
def test_parquet_holds_any_rows(tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    with RowWriter(path, existing="overwrite") as rows:
        for item in items:
            rows.write(item)
    found = [{key: value for key, value in row.items() if value is not None} for row in read_rows(path)]
    if any(items):
        assert found == [{key: value for key, value in item.items() if value is not None} for item in items]


def test_parquet_has_native_lists(tmp_path: Path) -> None:
    from pyarrow import parquet

    with RowWriter(tmp_path / "rows.parquet") as rows:
        rows.write({"id": "a", "selection": [1, 2], "optima": [[1], [2]], "objective": 1, "rouge": {"x": 1}})
        rows.write({"id": "b", "selection": None, "optima": [], "objective": 0.5, "rouge": None})
    table = parquet.read_table(tmp_path / "rows.parquet").to_pydict()
    assert table == {
        "id": ["a", "b"],
        "selection": [[1, 2], None],
        "optima": [[[1], [2]], []],
        "objective": [1.0, 0.5],
        "rouge": ['{"x": 1}', None],
    }


def test_csv_is_read_by_others(tmp_path: Path) -> None:
    with RowWriter(tmp_path / "rows.csv.gz") as rows:
        rows.write({"id": "é,\n", "selection": [1], "error": None})
        rows.write({"id": "b", "more": 2.5})
    with gzip.open(tmp_path / "rows.csv.gz", "rt", encoding="utf-8", newline="") as text:
        found = list(csv.DictReader(text))
    assert found == [
        {"id": "é,\n", "selection": "[1]", "error": "", "more": ""},
        {"id": "b", "selection": "", "error": "", "more": "2.5"},
    ]


def test_gzip_is_read_by_others(tmp_path: Path) -> None:
    with RowWriter(tmp_path / "rows.jsonl.gz") as rows:
        rows.write({"id": "a"})
    assert gzip.decompress((tmp_path / "rows.jsonl.gz").read_bytes()) == b'{"id": "a"}\n'


@pytest.mark.parametrize("name", NAMES)
def test_a_file_without_rows_is_read_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{name}"
    RowWriter(path).close()
    assert path.exists()
    assert list(read_rows(path)) == []


@pytest.mark.parametrize(
    "name", ["rows.xlsx", "rows.json", "rows.gz", "rows.parquet.gz", "rows.jsonl.bz2", "rows.tsv", "rows.v2", "x.txt"]
)
def test_other_endings_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"has a format that optsum cannot write: name it \.jsonl, "):
        RowWriter(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_formats_by_name() -> None:
    assert format_of("a/rows") == RowFormat("jsonl")
    assert format_of("a.b/ROWS.v2.NDJSON.GZ") == RowFormat("jsonl", ".gz")
    assert format_of("rows.Parquet") == RowFormat("parquet")


@pytest.mark.parametrize(("name", "package"), [("rows.parquet", "pyarrow"), ("rows.csv.zst", "zstandard")])
def test_missing_packages_are_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.corpus.row_files.find_spec", lambda name: None)
    with pytest.raises(OptionError, match=rf"without the package {package}: pip install 'optsum\[report\]'"):
        format_of(name)


# Outputs that exist already.


@pytest.mark.parametrize("name", NAMES)
def test_an_output_that_exists_is_kept_unless_told_otherwise(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{name}"
    with RowWriter(path) as rows:
        rows.write({"id": "a"})
    before = path.read_bytes()
    with pytest.raises(OptionError, match="exists already: overwrite replaces it; or name another output"):
        RowWriter(path)
    with pytest.raises(OptionError, match=r"exists already: resume keeps .*, overwrite starts again"):
        RowWriter(path, keep=lambda _: lambda _: True)
    assert path.read_bytes() == before
    with RowWriter(path, existing="resume") as rows:
        assert list(rows.kept()) == [{"id": "a"}]
        rows.write({"id": "b"})
    assert [row["id"] for row in read_rows(path)] == ["a", "b"]
    with RowWriter(path, existing="overwrite") as rows:
        rows.write({"id": "c"})
    assert [row["id"] for row in read_rows(path)] == ["c"]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def _zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize("name", ["csv", "csv.gz", "csv.zst"])
def test_half_a_last_row_of_a_table_is_no_row(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{name}"
    held: list[dict[str, Any]] = [
        {"id": "a", "objective": 0.25, "summary": ["one", "two"]},
        {"id": "b", "objective": 0.4568, "summary": ["x"]},
    ]
    with RowWriter(tmp_path / "rows.csv") as rows:
        for row in held:
            rows.write({**row, "text": 'one\ntwo, "three"', "last": 0.4568})
    whole = (tmp_path / "rows.csv").read_bytes()
    pack = {"csv": bytes, "csv.gz": gzip.compress, "csv.zst": _zstd}[name]
    second = whole.rindex(b"\nb,") + 1
    for end in range(second, len(whole) - 1):
        path.write_bytes(pack(whole[:end]))
        assert [row["id"] for row in read_rows(path, unfinished=True)] == ["a"], whole[second:end]
        if end == second:
            continue
        with pytest.raises(InputError, match=rf"rows\.{name}:\d+: .*; the file is cut off here: copy it again"):
            list(read_rows(path))
    path.write_bytes(pack(whole[: len(whole) - 3]))
    with RowWriter(path, existing="resume") as rows:
        assert [row["id"] for row in rows.kept()] == ["a"]
        rows.write({**held[1], "text": "", "last": 1.0})
    assert [(row["id"], row["last"]) for row in read_rows(path)] == [("a", 0.4568), ("b", 1.0)]
    path.write_bytes(pack(whole[:-20] + whole[second - 1 :]))  # damage within the file
    with pytest.raises(InputError, match="remove the line or run again"):
        list(read_rows(path))


KILLED = """
import os, signal, sys
from optsum.corpus.row_files import RowWriter
rows = RowWriter(sys.argv[1])
rows.write({"id": "a"})
rows.write({"id": "b"})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_killed_run_is_resumed(name: str, tmp_path: Path) -> None:
    path, held = tmp_path / f"rows.{name}", tmp_path / f"rows.{name}.part"
    if name in {"jsonl", "csv.gz", "parquet"}:
        done = subprocess.run([sys.executable, "-c", KILLED, path], env=ENVIRONMENT, check=False)
        assert done.returncode == -signal.SIGKILL
    else:  # what such a process leaves
        held.write_bytes(b'{"id": "a"}\n{"id": "b"}\n')
    assert list(tmp_path.iterdir()) == [held]
    assert held.read_bytes() == b'{"id": "a"}\n{"id": "b"}\n'
    with held.open("ab") as stream:
        stream.write('{"id": "é'.encode()[:-1])  # half a row that ends within a character
    with pytest.raises(OptionError, match="exists already"):
        RowWriter(path)

    def only_a(rows: Any) -> Any:
        assert [row["id"] for row in rows] == ["a", "b"]
        return lambda row: row["id"] == "a"

    with RowWriter(path, existing="resume", keep=only_a) as rows:
        rows.write({"id": "c"})
    assert [row["id"] for row in read_rows(path)] == ["a", "c"]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_whole_last_row_without_line_break_stays(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a"}\n{"id": "b"}')
    with RowWriter(path, existing="resume") as rows:
        rows.write({"id": "c"})
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["a", "b", "c"]


def test_a_file_that_cannot_be_resumed_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("{}\nnonsense\n{}\n")
    with pytest.raises(InputError, match=r"rows\.jsonl:2: not JSON"):
        RowWriter(path, existing="resume")
    assert path.read_text() == "{}\nnonsense\n{}\n"


@pytest.mark.parametrize("name", ["jsonl", "csv"])
def test_a_second_writer_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{name}"
    with RowWriter(path) as rows:
        for existing in get_args(Existing):
            with pytest.raises(OptionError, match="is being written by another run; name another output"):
                RowWriter(path, existing=existing)
        rows.write({"id": "a"})
        list(rows.kept())
        with pytest.raises(OptionError, match="is being written by another run"):
            RowWriter(path, existing="overwrite")
    with RowWriter(path, existing="resume") as rows, pytest.raises(OptionError, match="by another run"):
        RowWriter(path, existing="resume")
    assert [row["id"] for row in read_rows(path)] == ["a"]


FULL = """
import resource, sys
from optsum.errors import OptionError
from optsum.corpus.row_files import RowWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with RowWriter(sys.argv[1]) as rows:
        for number in range(100):
            rows.write({"id": number, "text": "x" * 100})
except OptionError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a limit as POSIX has it")
def test_a_full_disk_leaves_no_half_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL, path], env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    assert "cannot be written: File too large" in done.stdout
    assert not path.exists()
    left = path.with_name("rows.jsonl.part")
    assert [json.loads(line)["id"] for line in left.read_text().splitlines()] == list(range(8))


def test_a_full_disk_at_the_end_keeps_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "rows.csv"
    monkeypatch.setattr("optsum.corpus.row_files.convert", full)
    with (
        pytest.raises(OptionError, match=r"No space left on device; its rows are in .*rows\.csv\.part"),
        RowWriter(path) as rows,
    ):
        rows.write({"id": "a"})
    monkeypatch.undo()
    RowWriter(path, existing="resume").close()
    assert [row["id"] for row in read_rows(path)] == ["a"]


def test_standard_output_cannot_be_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OptionError, match="give a file, -o FILE"):
        RowWriter("-", existing="resume")
