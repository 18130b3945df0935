"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from optsum.system.compiled import patience

ROOT = Path(__file__).resolve().parent.parent

gc.disable()  # until all tests are there
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what it runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
# What a test measures or counts here shall not depend on whether kernels are compiled by then. Processes that it starts
# begin in plain Python, as those of users do: most are done before numba would be imported.
if "OPTSUM_PATIENCE" not in os.environ:
    patience.end()

# Kernels compile on their first call, so no example may be judged by its time.
settings.register_profile("default", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no process is left alone with it in the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    gc.freeze()  # thousands of tests stay: to look through them for garbage would take half a second each time
    gc.enable()


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The folder that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data for tests: not part of the project; CI always has it, a user's machine need not."""
    folder = Path(os.environ.get("OPTSUM_DATA", ROOT.parent / "shared" / "data"))
    if folder.is_dir():
        return folder
    reason = f"no real data at {folder}: set OPTSUM_DATA to a folder that has it"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
