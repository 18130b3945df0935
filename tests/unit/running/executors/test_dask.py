"""Test the local cluster that optsum starts with dask.distributed."""

from __future__ import annotations

import logging
import os
import socket
from contextlib import suppress

import pytest

from optsum.running.executors import Dask


def test_dask_logs_nothing() -> None:
    """Check this because distributed logged the end of a connection with a traceback when its scheduler ended."""
    pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    spoken = ["distributed", "distributed.batched", "distributed.client", "distributed.core", "distributed.comm.tcp"]
    before = [logging.getLogger(name).level for name in spoken]
    crew = Dask(None, 1)
    try:
        heard = [name for name in spoken if logging.getLogger(name).isEnabledFor(logging.ERROR)]
    finally:
        crew.end()
    assert heard == []
    assert [logging.getLogger(name).level for name in spoken] == before


def test_our_cluster_refuses_connections_without_the_key_of_the_run() -> None:
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    crew = Dask(None, 1)
    try:
        addresses = [crew._client.scheduler.address, *crew._client.scheduler_info(n_workers=-1)["workers"]]
        assert len(addresses) == 2
        for address in addresses:
            assert address.startswith("tls://127.0.0.1:")
            for scheme, security in (("tcp", None), ("tls", distributed.Security.temporary())):
                there = address.replace("tls", scheme, 1)
                with pytest.raises((OSError, TimeoutError)):
                    distributed.Client(there, security=security, timeout=2, set_as_default=False)
        assert crew.submit(abs, -3).result(timeout=30) == 3
    finally:
        crew.end()


@pytest.mark.filterwarnings("error")
def test_taken_ports_and_another_cluster_do_no_harm() -> None:
    pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # another program holds the port, which serves as well
            taken.bind(("127.0.0.1", 8787))
            taken.listen()
        one, other = Dask(None, 1), Dask(None, 1)
        try:
            assert [crew.submit(abs, -2).result(timeout=30) for crew in (one, other)] == [2, 2]
            assert 8786 not in _listening(os.getpid())
        finally:
            one.end()
            other.end()


def _listening(process: int) -> set[int]:
    """Return the ports on which a process listens, except the one that the test has taken."""
    psutil = pytest.importorskip("psutil")
    found = psutil.Process(process).net_connections("tcp")
    return {each.laddr.port for each in found if each.status == "LISTEN"} - {8787}
