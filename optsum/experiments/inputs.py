"""What the topics of a run are made from, so that a change is noticed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Final

from optsum.corpus.folders.line_pairs import line_pair
from optsum.corpus.formats.hf_datasets import PREFIX
from optsum.errors import InputError
from optsum.files import describe_os_error

__all__ = ["absolute", "fingerprint"]

_BLOCK: Final = 1 << 20


def fingerprint(path: str) -> dict[str, Any]:
    """Return what a file or folder of topics is recognised by.

    Returns
    -------
    dict
        ``path``; ``sha256`` of the bytes, for a folder of the names and bytes of all files in it; ``bytes``. A name of
        the hub has its path alone: what lies there is fetched once, and kept by the package `datasets`.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    if path.startswith(PREFIX):
        return {"path": path, "sha256": None, "bytes": None}
    seen, size = hashlib.sha256(), 0
    try:
        pair = line_pair(path)
        if pair is None and Path(path).is_dir():
            files = sorted(each for each in Path(path).rglob("*") if each.is_file())
            names = [each.relative_to(path).as_posix() for each in files]
        else:
            files = [Path(path)] if pair is None else list(pair)
            names = [""] * len(files)
        for name, file in zip(names, files, strict=True):
            if name:
                seen.update(f"{name}\0".encode("utf-8", "surrogateescape"))
            with file.open("rb", buffering=0) as stream:
                while block := stream.read(_BLOCK):
                    seen.update(block)
                    size += len(block)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {describe_os_error(error)}") from error
    return {"path": absolute(path), "sha256": seen.hexdigest(), "bytes": size}


def absolute(path: str) -> str:
    """Return a path of topics that means the same in another folder."""
    if path.startswith(PREFIX):
        return path
    two = not Path(path).exists() and line_pair(path) is not None
    return ",".join(map(os.path.abspath, path.split(",") if two else [path]))
