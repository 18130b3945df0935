"""Check that a full disk and a read-only one give one sentence, lose nothing, and allow a run to be resumed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import optsum
from optsum.cli import main
from optsum.corpus.row_files import read_rows

NEWS = Path(__file__).parents[3] / "examples" / "data" / "news.jsonl"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Callable[[str], None]]]:
    """Yield a small disk, and a function that mounts it with other options."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", place], check=True)

    if sys.platform != "linux" or os.geteuid():
        pytest.skip("only root of Linux makes a small disk")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", place], check=False)
    if made.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield place, mount
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_and_a_read_only_one(
    disk: tuple[Path, Callable[[str], None]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, mount = disk
    experiment = tmp_path / "e.toml"
    lengths = list(range(10, 200, 10))
    experiment.write_text(f'topics = "{NEWS}"\nstrategy = "lead"\n[grid]\nmax-length = {lengths}\n')
    command = ["run", str(experiment), str(place / "run"), "-q"]
    assert main(command) == 2
    said = capsys.readouterr()
    assert "cannot be written (database or disk is full): check free space" in said.err
    assert said.err.count("\n") == 1
    done = optsum.status(place / "run").done
    assert 0 < done < 8 * len(lengths)
    kept = [json.dumps(row) for row in read_rows(place / "run")]
    assert len(kept) == done

    mount("size=20m")
    assert main([*command, "--resume"]) == 0
    whole = [json.dumps(row) for row in read_rows(place / "run")]
    assert len(whole) == 8 * len(lengths)
    assert set(kept) <= set(whole)

    mount("ro")
    capsys.readouterr()
    for folder in ("run", "other"):
        assert main(["run", str(experiment), str(place / folder), "--resume"]) == 2
        assert f"{folder} cannot be written: Read-only file system" in capsys.readouterr().err
    assert main(["status", str(place / "run")]) == 0
    assert [json.dumps(row) for row in read_rows(place / "run")] == whole
