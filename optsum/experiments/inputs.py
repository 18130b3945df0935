"""The inputs of a run: versions, the machine, and its topics, so that a change is noticed."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from optsum._version import __version__
from optsum.corpus.folders.texts import line_pair
from optsum.corpus.formats.hf_datasets import PREFIX
from optsum.corpus.topic import BadTopic, Topic
from optsum.corpus.topics import is_program
from optsum.errors import InputError, OptsumError
from optsum.options.options import Options
from optsum.problem.formulation import Formulation
from optsum.registry import BACKENDS, STRATEGIES
from optsum.system.files import describe_os_error

_BLOCK: Final = 1 << 20


def fingerprint(path: str) -> dict[str, Any]:
    """Return what a file or folder of topics is recognised by.

    The result: ``path``; ``sha256`` of the bytes, for a folder of the names and bytes of all files in it; ``bytes``. A
    name of the hub has its path alone: what lies there is fetched once, and kept by the package `datasets`.
    """
    if path.startswith(PREFIX):
        return {"path": path, "sha256": None, "bytes": None}
    if is_program(path):  # what it makes cannot be known by more than the file that it stands in
        home = path.rpartition(":")[0]
        held = fingerprint(home) if home.endswith(".py") else {"sha256": None, "bytes": None}
        return {**held, "path": path}
    try:
        pair = line_pair(path)
        if pair is None and Path(path).is_dir():
            files = sorted(each for each in Path(path).rglob("*") if each.is_file())
            names = [each.relative_to(path).as_posix() for each in files]
        else:
            files = [Path(path)] if pair is None else list(pair)
            names = [""] * len(files)
        return {"path": absolute(path), **_held(zip(files, names, strict=True))}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {describe_os_error(error)}") from error


def _held(files: Iterable[tuple[Path, str]]) -> dict[str, Any]:
    """Return the digest of files, and of names that they have, and the bytes that they hold together."""
    seen, size = hashlib.sha256(), 0
    for file, name in files:
        if name:
            seen.update(f"{name}\0".encode("utf-8", "surrogateescape"))
        with file.open("rb", buffering=0) as stream:
            while block := stream.read(_BLOCK):
                seen.update(block)
                size += len(block)
    return {"sha256": seen.hexdigest(), "bytes": size}


def files_beside(topics: Iterable[Topic | BadTopic], formulations: Iterable[Formulation]) -> dict[str, Any] | None:
    """Return what the files that topics name, such as parses, are recognised by.

    The result: ``files``, how many there are; ``sha256`` and ``bytes`` of what they hold, in the order of the topics;
    None if there are none. What cannot be read is passed over: it will be an error row.
    """
    wanted = {type(each): each for each in formulations if type(each).files_of is not Formulation.files_of}
    if not wanted:
        return None
    found: dict[Path, None] = {}
    for topic in topics:
        for each in wanted.values():
            if isinstance(topic, Topic):
                with suppress(InputError):
                    found |= dict.fromkeys(each.files_of(topic))
    readable = [(file, "") for file in found if os.access(file, os.R_OK)]
    return {"files": len(readable), **_held(readable)} if readable else None


def absolute(path: str) -> str:
    """Return a path of topics that means the same in another folder."""
    if path.startswith(PREFIX) or (is_program(path) and not path.rpartition(":")[0].endswith(".py")):
        return path
    two = not Path(path).exists() and line_pair(path) is not None
    return ",".join(map(os.path.abspath, path.split(",") if two else [path]))


_PACKAGES: Final = ("numpy", "numba", "highspy", "pyomo", "deap", "loky", "distributed")


def environment(cells: Iterable[Options]) -> dict[str, Any]:
    """Return the versions of all programs that can change a result, and the machine, as JSON."""
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
