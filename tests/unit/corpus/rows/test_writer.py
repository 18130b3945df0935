"""Test the writer of rows, which loses no finished row, and the reading of rows."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from errno import ENOSPC
from io import FileIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.corpus.row_files import RowWriter, read_rows, to_bytes
from optsum.errors import InputError, OptionError


def run(program: str, *arguments: Path) -> list[str | Path]:
    return [sys.executable, "-c", program, *arguments]


# New processes import the same optsum as this one, installed or not.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def test_each_row_is_on_disk_at_once(path: Path) -> None:
    with RowWriter(path) as rows:
        part = path.with_name("rows.jsonl.part")
        rows.write({"id": "ä", "objective": 0.5})
        assert part.read_bytes() == '{"id": "ä", "objective": 0.5}\n'.encode()
        rows.write({"id": "b"})
        assert list(read_rows(part)) == [{"id": "ä", "objective": 0.5}, {"id": "b"}]
        assert not path.exists()
    assert list(read_rows(path)) == [{"id": "ä", "objective": 0.5}, {"id": "b"}]


def test_killed_process_leaves_its_rows(path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from optsum.corpus.row_files import RowWriter\n"
        "rows = RowWriter(sys.argv[1])\n"
        "rows.write({'id': 1})\n"
        "rows.write({'id': 2})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(run(program, path), env=ENVIRONMENT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not path.exists()
    assert [row["id"] for row in read_rows(path.with_name("rows.jsonl.part"))] == [1, 2]


def stop_after(path: Path, *rows: dict[str, Any], error: type[BaseException]) -> None:
    with RowWriter(path, existing="overwrite") as writer:
        for row in rows:
            writer.write(row)
        raise error


def test_interrupted_run_leaves_what_was_done_beside_the_older_result(path: Path) -> None:
    path.write_text('{"id": "older"}\n', encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        stop_after(path, {"id": 1}, error=KeyboardInterrupt)
    assert list(read_rows(path)) == [{"id": "older"}]
    with RowWriter(path, existing="resume") as rows:
        assert list(rows.kept()) == [{"id": 1}]
        rows.write({"id": 2})
    assert list(read_rows(path)) == [{"id": 1}, {"id": 2}]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_early_failure_keeps_the_older_result(path: Path) -> None:
    path.write_text('{"id": "older"}\n', encoding="utf-8")
    with pytest.raises(InputError):
        stop_after(path, error=InputError)
    assert list(read_rows(path)) == [{"id": "older"}]


def test_early_failure_leaves_no_file_where_there_was_none(path: Path) -> None:
    with pytest.raises(InputError):
        stop_after(path, error=InputError)
    assert not path.exists()


def test_early_failure_keeps_an_empty_file(path: Path) -> None:
    path.touch()
    with pytest.raises(InputError):
        stop_after(path, error=InputError)
    assert path.exists()


def test_older_rows_go_when_all_new_ones_are_there(path: Path) -> None:
    path.write_text('{"id": "older"}\n' * 3, encoding="utf-8")
    path.chmod(0o640)
    with RowWriter(path, existing="overwrite") as rows:
        rows.write({"id": "new"})
        assert len(list(read_rows(path))) == 3
    assert list(read_rows(path)) == [{"id": "new"}]
    assert path.stat().st_mode & 0o777 == 0o640


def test_run_without_rows_leaves_an_empty_file(path: Path) -> None:
    path.write_text('{"id": "older"}\n', encoding="utf-8")
    with RowWriter(path, existing="overwrite"):
        pass
    assert path.read_bytes() == b""
    assert list(read_rows(path)) == []


def test_close_twice(path: Path) -> None:
    rows = RowWriter(path)
    rows.write({"id": 1})
    rows.close()
    rows.close()
    assert list(read_rows(path)) == [{"id": 1}]


def test_unwritable_outputs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    outputs: list[tuple[str | Path, str]] = [
        (tmp_path, "it is a folder"),
        ("new/", "it is a folder, but rows are one file; name a file"),
        (tmp_path / "no" / "rows.jsonl", "there is no such file or folder"),
        (tmp_path / "file" / "rows.jsonl", "Not a directory"),
        ("", "no such file"),
        ("a\0b", "null"),
        (tmp_path / ("x" * 300), "too long"),
    ]
    for path, message in outputs:
        with pytest.raises(OptionError, match=message) as caught:
            RowWriter(path)
        assert "cannot be written: " in str(caught.value)


def test_no_permission(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    try:
        (folder / "probe").touch()
    except PermissionError:
        pass
    else:
        pytest.skip("this user may write everywhere")
    with pytest.raises(OptionError, match="you have no permission"):
        RowWriter(folder / "rows.jsonl")


def test_input_is_not_overwritten(tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text("{}\n", encoding="utf-8")
    link = tmp_path / "link.jsonl"
    link.symlink_to(topics)
    for output in (topics, link, tmp_path / "." / "topics.jsonl"):
        with pytest.raises(OptionError, match="is also an input; name another output"):
            RowWriter(output, inputs=["-", tmp_path / "missing", topics])
    assert topics.read_text(encoding="utf-8") == "{}\n"
    RowWriter(tmp_path / "rows.jsonl", inputs=[topics]).close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_full_disk() -> None:
    rows = RowWriter("/dev/full")
    with pytest.raises(OptionError, match="/dev/full cannot be written: No space left on device"):
        rows.write({"id": 1})
    rows.close()


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="this system has no null device")
def test_devices_are_not_truncated() -> None:
    with RowWriter("/dev/null") as rows:
        rows.write({"id": 1})


# --- the standard output ------------------------------------------------------------------------------------------


def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    with RowWriter("-") as rows:
        rows.write({"id": "ä"})
    assert capsys.readouterr().out == '{"id": "ä"}\n'
    assert not sys.stdout.closed


def test_standard_output_without_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(data, encoding="ascii"))
    RowWriter("-").write({"id": "ä"})
    assert data.getvalue() == b'{"id": "\\u00e4"}\n'


def test_no_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OptionError, match="there is no standard output"):
        RowWriter("-")


def test_a_closed_pipe_ends_the_writer() -> None:
    program = (
        "import sys\n"
        "from optsum.corpus.row_files import RowWriter\n"
        "rows = RowWriter('-')\n"
        "try:\n"
        "    while True: rows.write({'id': 1})\n"
        "except BrokenPipeError:\n"
        "    sys.stderr.write('left')\n"
        "    sys.stdout = None\n"
    )
    with subprocess.Popen(
        run(program), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == '{"id": 1}\n'
        process.stdout.close()
        assert process.stderr.read().startswith("left")


# --- values -------------------------------------------------------------------------------------------------------


def test_numbers_of_numpy_and_numbers_that_json_lacks(path: Path) -> None:
    with RowWriter(path) as rows:
        rows.write({"a": np.int64(3), "b": np.float32(0.5), "c": np.array([1, 2]), "d": MappingProxyType({"e": 1})})
        rows.write({"a": float("nan"), "b": [float("-inf"), np.float64("inf"), np.int64(3), True, None, "x"]})
        rows.write({"count": 10**6000, "small": 10**400})
    first, second, third = read_rows(path)
    assert first == {"a": 3, "b": 0.5, "c": [1, 2], "d": {"e": 1}}
    assert second == {"a": None, "b": [None, None, 3, True, None, "x"]}
    assert third == {"count": "1" + "0" * 6000, "small": 10**400}


def test_path_that_is_not_utf_8(path: Path) -> None:
    with RowWriter(path) as rows:
        rows.write({"error": "caf\udce9.jsonl:1: bad"})
    assert path.read_bytes() == b'{"error": "caf\\udce9.jsonl:1: bad"}\n'


def test_wrong_types_are_the_callers_mistake(path: Path) -> None:
    with RowWriter(path) as rows, pytest.raises(TypeError, match="a row cannot hold a set"):
        rows.write({"a": {1}})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(st.text(), values), max_size=4))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.jsonl"
    with RowWriter(path, existing="overwrite") as rows:
        for item in items:
            rows.write(item)
    assert list(read_rows(path)) == items


def test_of_rows_written_at_once_those_that_fit_on_the_disk_are_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(FileIO):
        def write(self, data: Any) -> int:
            if os.fstat(self.fileno()).st_size + len(data) > 25:
                raise OSError(ENOSPC, os.strerror(ENOSPC))
            return super().write(data)

    monkeypatch.setattr("optsum.corpus.row_files.FileIO", Full)
    with pytest.raises(OptionError, match="cannot be written"), RowWriter(path) as rows:
        rows.write_all([{"id": number} for number in range(4)])
    assert [row["id"] for row in read_rows(f"{path}.part")] == [0, 1]


# --- reading ------------------------------------------------------------------------------------------------------


_ESCAPED = st.text(st.sampled_from('a"\\\0\n\x1f\x7fé中\u2028,'), max_size=4)


@given(
    st.dictionaries(_ESCAPED, _ESCAPED | st.lists(_ESCAPED, min_size=6, max_size=12) | st.lists(st.none() | _ESCAPED))
)
def test_long_lists_of_texts_are_written_as_json_does(row: dict[str, Any]) -> None:
    assert to_bytes(row) == json.dumps(row, ensure_ascii=False).encode()


def test_only_an_unfinished_run_may_end_within_a_row(path: Path) -> None:
    for name in (path, path.with_name("rows.jsonl.part")):
        name.write_text('{"id": 1}\n{"id": 2', encoding="utf-8")
    assert list(read_rows(name)) == list(read_rows(path, unfinished=True)) == [{"id": 1}]
    with pytest.raises(InputError, match=r"rows.jsonl:2: not JSON: .*; the file is cut off here: copy it again, run"):
        list(read_rows(path))
    with RowWriter(path, existing="overwrite") as rows:
        rows.write({"id": 1})
    path.write_bytes(path.read_bytes() + b'{"id": ')
    with RowWriter(path, existing="resume") as rows:
        assert list(rows.kept()) == [{"id": 1}]
    assert list(read_rows(path)) == [{"id": 1}]


def test_last_row_without_line_break_is_read(path: Path) -> None:
    path.write_text('{"id": 1}\n{"id": 2}', encoding="utf-8")
    assert [row["id"] for row in read_rows(path)] == [1, 2]


def test_bad_rows(path: Path) -> None:
    path.write_text('{"id": 1}\n{"id": \n{"id": 3}\n', encoding="utf-8")
    rows = read_rows(path)
    assert next(rows) == {"id": 1}
    with pytest.raises(InputError, match=r"rows.jsonl:2: not JSON: .*; remove the line or run again"):
        next(rows)
    path.write_text("[1]\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"rows.jsonl:1: a row must be an object"):
        list(read_rows(path))


def test_missing_rows(path: Path) -> None:
    with pytest.raises(InputError, match=r"the row file .* cannot be opened: there is no such file"):
        read_rows(path)


def test_a_row_is_a_line(path: Path) -> None:
    with RowWriter(path) as rows:
        rows.write({"text": "line\nbreak\u2028and\x85more"})
        rows.write({"id": 2})
    first, second, rest = path.read_bytes().split(b"\n")
    assert json.loads(first) == {"text": "line\nbreak\u2028and\x85more"}
    assert json.loads(second) == {"id": 2}
    assert rest == b""
