"""Which columns of the topics are what, where a file of options says it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from optsum.errors import OptionError
from optsum.options.options import read_config

__all__ = ["columns_of"]


def columns_of(config: str | Path, also: Iterable[str] = ()) -> str | Mapping[str, str] | None:
    """Return which columns of the topics are what, as a file of options says it: ``map``, a text or a table.

    `also` are options of the command that reads it.

    Raises
    ------
    OptionError
        As `read_config`, or if it is neither.
    """
    said = read_config(config, also=also).get("map")
    if isinstance(said, Mapping) and all(isinstance(path, str) for path in said.values()):
        return dict(said)
    if said is not None and not isinstance(said, str):
        raise OptionError(f'{config}: map is no text and no table of texts: write map = "documents=COLUMN,..."')
    return said
