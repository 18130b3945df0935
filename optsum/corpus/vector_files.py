"""Vectors of topics, in npz files of numpy."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from optsum.corpus.topic import Topic
from optsum.errors import InputError
from optsum.system.files import NPZ_ERRORS


def read_vectors(topic: Topic, path: str) -> Topic:
    """Return a topic with its vectors: ``ID.npz`` in a folder, or arrays ``ID/sentences`` and so on in one npz file."""
    from numpy.lib.format import read_array

    from optsum.corpus.vectors import NAMES, vectors_of  # loads numpy

    place = Path(path)
    if place.is_dir():
        if "/" in topic.id or "\\" in topic.id:
            raise InputError(
                f"the id {topic.id!r} cannot be the name of a file, and another id may look like it: give --vectors "
                f"one npz file, with arrays called {topic.id}/sentences and {topic.id}/references"
            )
        name = f"{topic.id}.npz"
        file, prefix = place / name, ""
        # As the folder spells it: some systems take A.npz for a.npz, and would say nothing.
        there = name in _names_in(str(place), place.stat().st_mtime_ns)
    else:
        file, prefix = place, f"{topic.id}/"
        there = file.is_file()
    if not there:
        raise InputError(f"there are no vectors of topic {topic.id!r}: {file} does not exist")
    try:
        held, found = _opened(str(file), file.stat().st_mtime_ns), {}
        for name in NAMES:
            if (array := f"{prefix}{name}.npy") in held.NameToInfo:
                with held.open(array) as stream:
                    found[name] = read_array(stream, allow_pickle=False)
    except NPZ_ERRORS as error:
        raise InputError(f"{file} cannot be read as numpy.savez writes it: {error}") from None
    if not found:
        raise InputError(
            f"{file} has no vectors of topic {topic.id!r}; name them {prefix}sentences, {prefix}references"
        )
    try:
        return replace(topic, vectors=vectors_of(found, len(topic.sentences), topic.references))
    except InputError as error:
        raise InputError(f"the vectors of topic {topic.id!r}, {file}: {error}") from None


@lru_cache(maxsize=2)
def _names_in(folder: str, _: int) -> frozenset[str]:
    return frozenset(os.listdir(folder))  # noqa: PTH208 - names


@lru_cache(maxsize=2)
def _opened(path: str, _: int) -> ZipFile:
    return ZipFile(path)


def digest_of_vectors(path: str) -> str:
    """Return a digest of a file or folder of vectors, made from the checksums in npz files."""
    place = Path(path)
    found = hashlib.sha256()
    for file in sorted(place.glob("*.npz")) if place.is_dir() else [place]:
        try:
            if not file.is_file():  # a pipe would be waited for
                raise FileNotFoundError
            with ZipFile(file) as held:
                for item in held.infolist():
                    found.update(f"{file.name} {item.filename} {item.CRC} {item.file_size}\n".encode())
        except (OSError, BadZipFile):
            found.update(file.name.encode())
    return found.hexdigest()
