"""Check that worker processes keep freed memory instead of returning it to the system after each search."""

from __future__ import annotations

import os

import pytest

from optsum.running.executors import Dask, Local

NAMES = ["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"]


@pytest.mark.parametrize("executor", ["loky", "dask"])
def test_worker_processes_keep_free_memory(executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if executor == "dask":
        pytest.importorskip("distributed")
        pytest.importorskip("cryptography")
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    crew = Local(1) if executor == "loky" else Dask(None, 1)
    try:
        assert [int(crew.submit(os.getenv, name).result(60)) for name in NAMES] == [1 << 28, 1 << 25]
    finally:
        crew.end([])
