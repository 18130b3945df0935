"""Rows as a folder of Hugging Face `datasets`, which ``datasets.load_from_disk`` reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory


def to_datasets_folder(rows: Path, output: Path, to_parquet: Callable[[Path, Path], None]) -> None:
    """Write the rows of a JSON Lines file as a folder of Arrow files.

    Parameters
    ----------
    rows : path
        UTF-8, each line an object.
    output : path
        The folder; there is none yet.
    to_parquet : callable
        Writes the rows as a Parquet file, whose columns are those of the folder.

    Raises
    ------
    OSError
        If the output cannot be written.
    """
    import datasets

    datasets.disable_progress_bars()
    # Beside the output: there is room for the result, so there is for this.
    with TemporaryDirectory(dir=output.parent, prefix=f".{output.name}-") as folder:
        table = Path(folder) / "rows.parquet"
        to_parquet(rows, table)
        datasets.Dataset.from_parquet(str(table), cache_dir=folder).save_to_disk(str(output))
