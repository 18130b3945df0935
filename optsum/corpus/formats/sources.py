"""What a path leads to: a file, a folder, two files, a name of the hub; recognised by its content, once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

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
from optsum.corpus.formats.hf_datasets import PREFIX, folder_records, hub_records, is_dataset_folder
from optsum.corpus.formats.lines import Line, RawLine
from optsum.corpus.formats.records import raw_records
from optsum.corpus.sentences import Splitter
from optsum.corpus.topic import BadTopic, Topic
from optsum.errors import InputError
from optsum.system.files import PathLike, describe_os_error


def open_source(
    path: PathLike, *, split: Splitter, columns: Collection[str] = ()
) -> Iterator[Line | RawLine] | Iterator[Topic | BadTopic]:
    """Open whatever a path leads to.

    Parameters
    ----------
    path : str or path
        ``-`` is the standard input.
    split : Splitter
        By whose rules raw texts are split.
    columns : collection of str
        Those that a table must have, so that its heading is recognised; only records have columns.

    Returns
    -------
    iterator of Line or RawLine, or of Topic or BadTopic
        Lines hold the JSON form of topics, or records of another data set; those of JSON Lines are not decoded.

    Raises
    ------
    InputError
        At once, if nothing that can be read is there, or `columns` are wanted and there are none.
    """
    name = str(path)
    if name.startswith(PREFIX):
        return hub_records(name)
    if name == "-":
        return raw_records(path, what="topic", columns=columns)
    if is_dataset_folder(Path(path)):
        return folder_records(Path(path))
    made = _made(Path(path), split)
    if made is None:
        return raw_records(path, what="topic", columns=columns)
    if columns:
        raise InputError(f"{name} has no columns, so there is nothing to map; leave --map out")
    return made


def _made(path: Path, split: Splitter) -> Iterator[Line] | Iterator[Topic | BadTopic] | None:
    """Return topics of what has no records; None for a file of records, and for what is not there."""
    if (pair := line_pair(path)) is not None:
        return pair_topics(pair, split)
    if path.is_file():
        if path.suffix == ".story":
            return story_topics([path], split)
        return duc_topics([path], split) if is_duc_file(path) else None
    return _of_folder(path, split) if path.is_dir() else None


def _of_folder(folder: Path, split: Splitter) -> Iterator[Line] | Iterator[Topic | BadTopic]:
    try:
        if any(file.name.endswith(CONLLU_ENDINGS) for file in folder.iterdir()):
            return read_conllu_folder(folder, split=split)
        if stories := stories_in(folder):
            return story_topics(stories, split)
        if files := duc_files(folder):  # by content: its folders may be called as those of raw text are
            return duc_topics(files, split)
        if (folders := parallel_folders(folder)) is not None:
            return parallel_topics(folders, split)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be read: {describe_os_error(error)}") from error
    raise InputError(
        f"{folder} cannot be read: it is a folder; give a file, or a folder of files named *.conllu or *.story, of a "
        "saved dataset, of documents and summaries in SGML, or with folders documents/ and references/"
    )
