"""The format of an output, by the ending of its name, and rows as JSON text."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from optsum.corpus.formats.hf_datasets import is_dataset_folder
from optsum.errors import OptionError, unknown_name


def to_bytes(row: Mapping[str, Any]) -> bytes:
    """Return a row as one line of UTF-8, without its line break.

    Numbers that are not finite become null, whole numbers of more than 4,200 digits text.
    """
    try:
        return _dumps(row, ascii_only=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, such as in the path of a file whose name is not UTF-8
        return to_ascii(row).encode()


def to_ascii(row: Mapping[str, Any]) -> str:
    """Return a row with escapes for characters outside ASCII."""
    return _dumps(row, ascii_only=True)


def _dumps(row: Mapping[str, Any], *, ascii_only: bool) -> str:
    try:
        return json.dumps(dict(row), ensure_ascii=ascii_only, allow_nan=False, default=_default)
    except ValueError:
        return json.dumps(_plain(row), ensure_ascii=ascii_only, allow_nan=False)


def _default(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return value.tolist()
    raise TypeError(f"a row cannot hold a {type(value).__name__}")


def _plain(value: Any) -> Any:
    """Replace what JSON cannot hold: numbers that are not finite, and those too long for Python to print."""
    match value:
        case None | bool() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case int():
            # Of any size as digits in a string; json would refuse more than 4300 of them.
            return value if value.bit_length() < 14_000 else str(Decimal(value))
        case list() | tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
    return _plain(_default(value))


_KINDS: Final = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}
_PACKINGS: Final = {".gz", ".zst"}
_OF_LABELS: Final = ("bertsum", "datasets")
_NEEDS: Final = {"parquet": ("pyarrow", "report"), ".zst": ("zstandard", "report"), "datasets": ("datasets", "hf")}


@dataclass(frozen=True, slots=True)
class RowFormat:
    """A format of rows."""

    kind: str  # "jsonl", "csv" or "parquet"; of training labels also "datasets" or "bertsum".
    packing: str = ""  # ".gz", ".zst", or empty for none.

    @property
    def grows(self) -> bool:
        """Whether a row can be added to the file by itself, so that it is on disk at once."""
        return self.kind == "jsonl" and not self.packing


def format_of(path: str) -> RowFormat:
    """Return the format that a name asks for; a name without any ending is JSON Lines."""
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

    `path`: ends with a slash, or is a folder that `datasets` saved before, where one of these is to be written.
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
    for part in (form.kind, form.packing):
        package, extra = _NEEDS.get(part, ("", ""))
        if package and find_spec(package) is None:
            raise OptionError(
                f"the output {path} cannot be written without the package {package}: "
                f"pip install 'optsum[{extra}]', or name it .jsonl"
            )
    return form
