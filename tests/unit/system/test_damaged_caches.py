"""Check that damaged or unwritable caches of kernels cost time and one warning, but never a wrong answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from damage import KERNEL, copied_cache, damaged_caches, run_kernel


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache with the kernel; tests change a copy."""
    folder = tmp_path_factory.mktemp("whole")
    assert run_kernel(folder).returncode == 0
    return folder


@pytest.fixture
def kept(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of the cache with the kernel."""
    return copied_cache(whole, tmp_path / "kept")


def test_every_kind_of_damage_is_recovered_from(whole: Path) -> None:
    assert [each for each in damaged_caches(whole=whole) if each[1]] == []


@pytest.mark.skipif(sys.platform == "win32", reason="a limit as POSIX has it")
def test_a_full_disk_costs_time_only(tmp_path: Path) -> None:
    full = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n{KERNEL}"
    done = run_kernel(tmp_path, program=full)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Compiled kernels cannot be kept") == 1
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.rglob("*.tmp.*"))


def test_where_nothing_may_be_written_kernels_are_compiled(tmp_path: Path) -> None:
    nowhere = (
        "from numba.core import caching\n"
        "def none(*_): raise OSError(30, 'Read-only file system')\n"
        "caching._CacheLocator.ensure_cache_path = none\n"
        f"{KERNEL}"
    )
    done = run_kernel(tmp_path, program=nowhere)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Compiled kernels cannot be kept") == 1
    assert len(done.stderr.splitlines()) == 1


def test_a_cache_of_another_version_is_made_again(kept: Path) -> None:
    older = f"import numba\nnumba.__version__ = '0.1'\n{KERNEL}"
    for program in (older, KERNEL, KERNEL):
        done = run_kernel(kept, program=program)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_checksum_is_looked_at_before_machine_code_is_run(kept: Path) -> None:
    (file,) = kept.rglob("core.gcd*.1.nbc")
    held = file.read_bytes()
    assert held[-32:-16] == b"optsum checksum "
    file.write_bytes(held.replace(b"gcd", b"lcm"))
    done = run_kernel(kept)
    assert done.returncode == 0
    assert "the checksum does not match" in done.stderr


def test_code_of_another_kernel_is_not_run(kept: Path) -> None:
    """Test code with a right checksum but of another kernel, as if files were mixed up or two shared a name."""
    done = run_kernel(kept, program=f"{KERNEL}\nfrom optsum.studies.tsc3 import answer_score\nanswer_score('a', 'b')")
    assert done.returncode == 0, done.stderr
    (file,), (other,) = (kept.rglob(f"{name}*.1.nbc") for name in ("core.gcd", "tsc3._distance"))
    file.write_bytes(other.read_bytes())
    done = run_kernel(kept)
    assert done.returncode == 0, done.stderr
