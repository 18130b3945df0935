"""Rows read back, from every format that they are written in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from optsum.corpus.formats.hf_datasets import folder_records, is_dataset_folder
from optsum.corpus.formats.lines import Cells, decoded
from optsum.corpus.formats.tables import row_of
from optsum.corpus.rows.store import is_run, stored_rows
from optsum.corpus.topics import raw_records
from optsum.errors import InputError
from optsum.system.files import PathLike


def read_rows(path: PathLike) -> Iterator[dict[str, Any]]:
    """Open a file of rows and iterate over them.

    `path`: as `optsum.corpus.rows.writer.RowWriter` leaves it, whatever its format; the folder of a run; ``-`` is
    standard input. A file without rows is fine. A last row that was not written to its end, because the machine or the
    process died, is passed over.
    """
    if is_run(path):
        return stored_rows(path)
    if path != "-" and is_dataset_folder(Path(path)):
        records = folder_records(Path(path))
    else:
        records = map(decoded, raw_records(path, what="row", empty=True))
    return (
        row_of(record.value) if isinstance(record.value, Cells) else record.value
        for record in records
        if _check(record.value, record.error, record.ended, record.source)
    )


def _check(value: object, error: str | None, ended: bool, source: str) -> bool:
    """Return whether there is a row; only what was not written to its end may be none."""
    if error is None and isinstance(value, dict):
        return True
    if ended:
        raise InputError(f"{source}: {error or 'a row is an object'}; remove the line or run again")
    return False
