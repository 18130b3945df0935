"""Prepare the test run (interrupts, kernels, hypothesis, order of tests) and define the fixtures of all tests."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from optsum.system.compiled import patience

ROOT = Path(__file__).resolve().parent.parent

gc.disable()  # no garbage collection while tests are collected
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts background jobs with SIGINT ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Kernels are compiled at once, so that no measurement or count depends on the tests that ran before. Processes that
# tests start interpret their kernels at first, as users' do: most end before numba would be imported.
if "OPTSUM_PATIENCE" not in os.environ:
    patience.end()

# Kernels compile on their first call, so hypothesis sets no deadline for an example.
settings.register_profile("default", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow tests first, so that no worker process is left with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    gc.freeze()  # spares the collector the thousands of test objects, half a second each time
    gc.enable()


@pytest.fixture(scope="session")
def project_root() -> Path:
    """Return the folder that holds pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real data, which is not part of the project; skip the test without it, but fail on CI."""
    folder = Path(os.environ.get("OPTSUM_DATA", ROOT.parent / "shared" / "data"))
    if folder.is_dir():
        return folder
    reason = f"no real data at {folder}: set OPTSUM_DATA to a folder that has it"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
