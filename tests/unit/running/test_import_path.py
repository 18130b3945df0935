"""Check that no process imports modules from the current folder, whatever its files are called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

# The installed command has the folder of the program on its import path, not the current folder. `python -P` would make
# every process that Python starts ignore the current folder as well, which the command does not.
OPTSUM = [str(Path(sys.executable).parent / "optsum")]
NAMES = ("numpy", "pickle", "signal", "optsum", "ortools", "loky", "json", "selectors", "subprocess", "multiprocessing")


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """Return a folder with modules that leave a mark when they are imported."""
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'seen')!r}, 'a').write('{name} ')\n")
    (tmp_path / "optsum").mkdir()
    (tmp_path / "optsum" / "__init__.py").write_text(f"open({str(tmp_path / 'seen')!r}, 'a').write('optsum/ ')\n")
    topics = [{"id": f"t{number}", "documents": [["a b", "b c"]], "references": [["a b c"]]} for number in range(4)]
    (tmp_path / "topics.jsonl").write_text("".join(json.dumps(topic) + "\n" for topic in topics))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "topics.jsonl", "--max-length", "3", "--backend", "cp-sat"],
        ["solve", "topics.jsonl", "--max-length", "3", "--backend", "cp-sat", "--workers", "2"],
        ["solve", "topics.jsonl", "--max-length", "3", "--backend", "cbc"],
        pytest.param(["list", "backends"], marks=pytest.mark.slow),
    ],
    ids=["cp-sat", "cp-sat in workers", "cbc", "list backends"],
)
def test_the_current_folder_is_not_imported_from(trapped: Path, arguments: list[str]) -> None:
    if "cp-sat" in arguments and find_spec("ortools") is None:
        pytest.skip("ortools is not installed")
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONSAFEPATH"}}
    environment["OPTSUM_PATIENCE"] = "0"  # compiling and loading kernels import more
    done = subprocess.run(
        [*OPTSUM, *arguments], cwd=trapped, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert not (trapped / "seen").exists(), (trapped / "seen").read_text()
    if arguments[-1] != "cbc":
        assert done.returncode == 0, done.stderr
