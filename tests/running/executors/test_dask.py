"""A cluster of this machine, by dask.distributed."""

from __future__ import annotations

import logging

import pytest

from optsum.running.executors.dask import Dask


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
