"""A cluster of this machine, by dask.distributed."""

from __future__ import annotations

import logging
import os

import pytest

from optsum.running.executors.dask import Dask


def test_workers_of_a_cluster_of_ours_keep_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or they hand it back after each search, and are given it again by the next, at a price."""
    pytest.importorskip("distributed")
    names = ["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"]
    for name in names:
        monkeypatch.delenv(name, raising=False)
    crew = Dask(None, 1)
    try:
        assert [int(crew.submit(os.getenv, name).result(60)) for name in names] == [1 << 28, 1 << 25]
    finally:
        crew.end()


def test_dask_says_nothing_of_its_own() -> None:
    """A scheduler that is ended had distributed log the end of a connection, with its traceback."""
    pytest.importorskip("distributed")
    spoken = ["distributed", "distributed.batched", "distributed.client", "distributed.core", "distributed.comm.tcp"]
    before = [logging.getLogger(name).level for name in spoken]
    crew = Dask(None, 1)
    try:
        heard = [name for name in spoken if logging.getLogger(name).isEnabledFor(logging.ERROR)]
    finally:
        crew.end()
    assert heard == []
    assert [logging.getLogger(name).level for name in spoken] == before
