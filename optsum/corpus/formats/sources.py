"""The source that a path leads to: a file, a folder, two files, a name of the hub; recognised by its content, once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from optsum.corpus.folders.conllu import CONLLU_ENDINGS, read_conllu_folder
from optsum.corpus.folders.duc import duc_files, duc_topics, is_duc_file
from optsum.corpus.folders.texts import (
    line_pair,
    pair_topics,
    parallel_folders,
    parallel_topics,
    stories_in,
    story_topics,
)
from optsum.corpus.formats.columns import IDS
from optsum.corpus.formats.hf_datasets import PREFIX, folder_records, hub_records, is_dataset_folder
from optsum.corpus.formats.lines import Line, RawLine, decode
from optsum.corpus.formats.records import raw_records
from optsum.corpus.sentences import well_formed
from optsum.corpus.topic import Reading
from optsum.errors import InputError
from optsum.system.files import PathLike, begin_of, describe_os_error, is_meant, read_text

_DATA: Final = re.compile(r"(.+?)\.(jsonl|ndjson|json|csv|tsv|parquet)(?:\.(?:gz|zst|bz2|xz))?", re.IGNORECASE)
"""Names of files of records."""


def open_source(path: PathLike, reading: Reading) -> Iterator[Line | RawLine]:
    """Open whatever a path leads to.

    `path`: ``-`` is the standard input. `reading`: how texts are read that are no records; its columns are those that a
    table must have, so that its heading is recognised, and only records have some. The result: Lines hold the JSON form
    of topics, or records of another data set; those of JSON Lines are not decoded.
    """
    columns = () if reading.columns is None else reading.columns.names
    made = None if _has_records(path) else _made(Path(path), reading)
    if made is None:
        _say_what_is_left(path, reading)
        return open_records(path, what="topic", columns=columns)
    if columns:
        raise InputError(f"{path} has no columns, so there is nothing to map; leave --map out")
    return made


def open_records(path: PathLike, *, what: str, columns: Collection[str] = ()) -> Iterator[Line | RawLine]:
    """Open a file of records, a folder of them, or a dataset, as for `optsum.corpus.formats.records.raw_records`."""
    name = str(path)
    if name.startswith(PREFIX):
        return hub_records(name)
    if name != "-" and is_dataset_folder(Path(path)):
        return folder_records(Path(path))
    if name != "-" and Path(path).is_dir() and (shards := _shards(Path(path))):
        return _of_shards(shards, columns, what)
    return raw_records(path, what=what, columns=columns)


def _has_records(path: PathLike) -> bool:
    name = str(path)
    if name == "-" or name.startswith(PREFIX):
        return True
    return Path(path).is_dir() and (is_dataset_folder(Path(path)) or bool(_shards(Path(path))))


def _made(path: Path, reading: Reading) -> Iterator[Line] | None:
    """Return topics of what has no records; None for a file of records, and for what is not there."""
    if (pair := line_pair(path)) is not None:
        return pair_topics(pair, reading)
    if path.is_file():
        if path.suffix == ".story":
            return story_topics([path], reading)
        return duc_topics([path], reading) if is_duc_file(path) else None
    return _of_folder(path, reading) if path.is_dir() else None


def _of_folder(folder: Path, reading: Reading) -> Iterator[Line]:
    try:
        if any(file.name.endswith(CONLLU_ENDINGS) for file in folder.iterdir()):
            return read_conllu_folder(folder, reading=reading)
        if stories := stories_in(folder):
            return story_topics(stories, reading)
        if files := duc_files(folder):  # by content: its folders may be called as those of raw text are
            return duc_topics(files, reading)
        if (folders := parallel_folders(folder)) is not None:
            return parallel_topics(folders, reading)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be read: {describe_os_error(error)}") from error
    raise InputError(
        f"{folder} cannot be read: it is a folder; give a file, or a folder of files named *.conllu or *.story, of a "
        "saved dataset, of the parts of one file (*.jsonl, *.csv, *.parquet), of JSON files with a topic each, of "
        "documents and summaries in SGML, or with folders documents/ and references/"
    )


def _shards(folder: Path) -> list[Path]:
    """Return the files of records in a folder: the parts of one, or JSON files with a topic each."""
    try:
        files = sorted(
            file for file in folder.iterdir() if is_meant(file.name) and _DATA.fullmatch(file.name) and file.is_file()
        )
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be read: {describe_os_error(error)}") from error
    stems = {re.sub(r"\d+", "#", file.name) for file in files}
    if len(stems) > 1 and not all(_is_object(file) for file in files):
        names = ", ".join(file.name for file in files[:5])
        raise InputError(f"the folder {folder} holds the files {names}; give one of them, such as {files[0]}")
    return files


def _say_what_is_left(path: PathLike, reading: Reading) -> None:
    """Say which parts of a folder of records are not there, or lie deeper than it is read."""
    if str(path).startswith(PREFIX) or not (folder := Path(path)).is_dir() or is_dataset_folder(folder):
        return
    files = _shards(folder)
    number = re.search(r"-of-0*([1-9]\d*)\.", files[0].name) if files else None
    if number is not None and len(files) < int(number[1]):
        reading.notes(
            "parts", f"the folder has {len(files)} of {number[1]} parts; the topics of the others are left out"
        )
    deeper = (each for each in sorted(folder.iterdir()) if each.is_dir() and is_meant(each.name))
    if files and (left := next((each for each in deeper if any(map(_DATA.fullmatch, _names(each)))), None)) is not None:
        reading.notes("deeper", f"the files of records in {left} are left out; give that folder too, by itself")


def _names(folder: Path) -> list[str]:
    try:
        return [file.name for file in folder.iterdir() if is_meant(file.name)]
    except OSError:
        return []


def _is_object(file: Path) -> bool:
    if ".json" not in file.suffixes or not (begin_of(file, 64) or b"").lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    return _object_of(file).error is None


def _object_of(file: Path) -> Line:
    try:
        return decode(read_text(file, "").encode("utf-8", "surrogatepass"), well_formed(str(file)))
    except InputError as error:
        return Line(well_formed(str(file)), None, str(error))


def _of_shards(files: list[Path], columns: Collection[str], what: str) -> Iterator[Line | RawLine]:
    """Yield the records of all files; a topic that is a file, and has no id, is called after it."""
    if all(map(_is_object, files)):
        for file in files:
            line = _object_of(file)
            named = isinstance(line.value, dict) and not line.value.keys().isdisjoint(IDS)
            yield line if named or line.value is None else line._replace(value={"id": file.stem, **line.value})
        return
    for file in files:
        yield from raw_records(file, what=what, columns=columns)
