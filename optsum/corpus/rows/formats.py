"""In which format an output is written: what the ending of its name says."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from optsum.corpus.formats.hf_datasets import is_dataset_folder
from optsum.errors import OptionError, unknown_name

__all__ = ["RowFormat", "format_of", "format_of_labels"]

_KINDS: Final = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}
_PACKINGS: Final = {".gz", ".zst"}
_OF_LABELS: Final = ("bertsum", "datasets")
_NEEDS: Final = {"parquet": ("pyarrow", "report"), ".zst": ("zstandard", "report"), "datasets": ("datasets", "hf")}


@dataclass(frozen=True, slots=True)
class RowFormat:
    """A format of rows.

    Attributes
    ----------
    kind : str
        "jsonl", "csv" or "parquet"; of training labels also "datasets" or "bertsum".
    packing : str
        ".gz", ".zst", or empty for none.
    """

    kind: str
    packing: str = ""

    @property
    def grows(self) -> bool:
        """Whether a row can be added to the file by itself, so that it is on disk at once."""
        return self.kind == "jsonl" and not self.packing


def format_of(path: str) -> RowFormat:
    """Return the format that a name asks for; a name without any ending is JSON Lines.

    Raises
    ------
    OptionError
        If optsum writes no such format, or a package that it needs is missing.
    """
    *_, last = ["", *Path(path).suffixes]
    packing = last.lower() if last.lower() in _PACKINGS else ""
    ending = Path(path[: -len(packing)]).suffix if packing else last
    kind = _KINDS.get(ending.lower(), "" if ending else "jsonl")
    if not kind or (packing and (kind == "parquet" or not ending)):
        raise OptionError(
            f"the output {path} is of no format that optsum writes: name it .jsonl, .jsonl.gz, .jsonl.zst, .csv, "
            ".csv.gz, .csv.zst or .parquet"
        )
    return _with_packages(RowFormat(kind, packing), path)


def format_of_labels(path: str, name: str | None) -> RowFormat:
    """Return the format of training labels: `name`, a folder of `datasets` where the path is one, or as `format_of`.

    Parameters
    ----------
    path : str
        Ends with a slash, or is a folder that `datasets` saved before, where one of these is to be written.
    name : str or None
        "bertsum" or "datasets".

    Raises
    ------
    OptionError
        As `format_of`, or if there is no format of that name, or the standard output cannot have it.
    """
    if name is not None and name not in _OF_LABELS:
        raise unknown_name("format of labels", name, _OF_LABELS)
    if name is None and path != "-" and (path.endswith(("/", os.sep)) or is_dataset_folder(Path(path))):
        name = "datasets"
    if name is not None and path == "-":
        raise OptionError(f"The format {name} cannot be written to the standard output: give -o.")
    if name is None:
        return RowFormat("jsonl") if path == "-" else format_of(path)
    return _with_packages(RowFormat(name), path)


def _with_packages(form: RowFormat, path: str) -> RowFormat:
    """Return a format, if the packages that it needs are there."""
    for part in (form.kind, form.packing):
        package, extra = _NEEDS.get(part, ("", ""))
        if package and find_spec(package) is None:
            raise OptionError(
                f"the output {path} cannot be written without the package {package}: "
                f"pip install 'optsum[{extra}]', or name it .jsonl"
            )
    return form
