"""Topics from a JSON Lines file, or from a cover's table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from optsum.corpus.formats.conllu_folder import read_conllu_folder
from optsum.corpus.formats.lines import Line
from optsum.corpus.formats.records import read_records
from optsum.corpus.once import topics_once
from optsum.corpus.sentences import check_language
from optsum.corpus.topic import BadTopic, Topic, as_id, as_topic
from optsum.errors import InputError
from optsum.files import PathLike

__all__ = ["read_topics"]


def read_topics(path: PathLike, *, language: str = "en") -> Iterator[Topic | BadTopic]:
    """Open a JSON Lines file of topics and iterate over them.

    Parameters
    ----------
    path : str or path
        UTF-8, plain or compressed by gzip; ``-`` is the standard input. A file whose name ends in ``.txt`` or ``.tsv``
        and that does not begin as JSON does is a cover's table, one topic (`optsum.corpus.formats.cover_table`).
        A folder is one of CoNLL-U files, each a topic (`optsum.corpus.formats.conllu_folder`).
    language : str
        By whose rules raw texts are split into sentences.

    Returns
    -------
    iterator of Topic or BadTopic
        One for each line that is not blank, in order; it never raises. One line is in memory at a time,
        beside the ids of those before it.

    Raises
    ------
    InputError
        At once, before any topic is read, if the file cannot be opened, is empty or is no JSON Lines file; if a line
        of a table is none.
    OptionError
        If `language` is no language code.
    """
    check_language(language)
    if path != "-" and Path(path).is_dir():
        return topics_once(read_conllu_folder(path, language=language))
    return topics_once(_topic(line, language) for line in read_records(path, what="topic"))


def _topic(line: Line, language: str) -> Topic | BadTopic:
    if line.error is not None:
        return BadTopic(None, line.source, line.error)
    if isinstance(line.value, dict) and line.value.get("status") == "error":  # what `optsum align` could not use
        return BadTopic(_id_of(line.value), line.source, str(line.value.get("error")))
    try:
        return as_topic(line.value, language=language, source=line.source)
    except InputError as error:
        return BadTopic(_id_of(line.value), line.source, str(error))


def _id_of(value: object) -> str | None:
    """Return the id of a topic that is wrong elsewhere."""
    try:
        return as_id(value["id"], "") if isinstance(value, dict) and "id" in value else None
    except InputError:
        return None
