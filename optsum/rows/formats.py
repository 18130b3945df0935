"""In which format an output is written: what the ending of its name says."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from optsum.errors import OptionError

__all__ = ["RowFormat", "format_of"]

_KINDS: Final = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}
_PACKINGS: Final = {".gz", ".zst"}
_NEEDS: Final = {"parquet": "pyarrow", ".zst": "zstandard"}


@dataclass(frozen=True, slots=True)
class RowFormat:
    """A format of rows.

    Attributes
    ----------
    kind : str
        "jsonl", "csv" or "parquet".
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
    for part in (kind, packing):
        if part in _NEEDS and find_spec(_NEEDS[part]) is None:
            raise OptionError(
                f"the output {path} cannot be written without the package {_NEEDS[part]}: "
                "pip install 'optsum[report]', or name it .jsonl"
            )
    return RowFormat(kind, packing)
