"""What a run was made with: versions, the machine, and its solvers."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from optsum._version import __version__
from optsum.errors import OptsumError
from optsum.options.options import Options
from optsum.registry import BACKENDS, STRATEGIES

_PACKAGES: Final = ("numpy", "numba", "highspy", "pyomo", "deap", "loky", "distributed")


def environment(cells: Iterable[Options]) -> dict[str, Any]:
    """Return the versions of all that can change a result, and the machine, as JSON has it."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "optsum": __version__,
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
        "solvers": _solvers(cells),
        "machine": {
            "host": platform.node(),
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_bytes": _memory(),
        },
        "process": os.getpid(),
        "command": sys.argv,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _solvers(cells: Iterable[Options]) -> dict[str, str]:
    """Return the version of each solver that a strategy uses."""
    names = dict.fromkeys(cell.backend for cell in cells if "backend" in STRATEGIES.load(cell.strategy).flags)
    found = {}
    for name in names:
        try:
            found[name] = BACKENDS.create(name, {}).available().version if name in BACKENDS.names() else ""
        except OptsumError:
            found[name] = ""
    return found


def _processor() -> str:
    if sys.platform == "linux":
        try:
            with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - no file of ours
                for line in file:
                    if line.startswith("model name"):
                        return line.partition(":")[2].strip()
        except OSError:
            pass
    return platform.processor()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
