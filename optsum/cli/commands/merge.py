"""-o names a folder, which becomes a run like any other, or a file of rows: .jsonl, .csv or .parquet.

Rows come in the order of the topics, and of the grid's cells for each, whoever has searched them.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from optsum.cli.exits import DONE, FAILED, put
from optsum.cli.flags import CsvSafe, Overwrite, existing


def run(
    folders: Annotated[list[str], typer.Argument(metavar="DIR...", help="folders of runs")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="DIR|FILE", help="a folder, or a file of rows")],
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
) -> int:
    """Merge runs."""
    from optsum.cli.commands.status import in_words
    from optsum.corpus.rows.store import stored_rows
    from optsum.corpus.rows.writer import RowWriter
    from optsum.experiments.merge import merge
    from optsum.report.tables.table import counted

    if output != "-" and not Path(output).suffix:
        put(in_words(merged := merge(folders, output)))
        return FAILED if merged.doubts else DONE
    with RowWriter(output, existing=existing(overwrite), csv_safe=csv_safe, derived=True) as rows:
        written = 0
        # Where the output is there is room for the rows, so there is for this.
        with TemporaryDirectory(dir=None if output == "-" else Path(output).parent, prefix=".optsum-") as place:
            merged = merge(folders, Path(place) / "run")
            for row in stored_rows(merged.folder):
                rows.write(row)
                written += 1
    if output != "-":
        put(f"{counted(written, 'row')} in {output}")
    return FAILED if merged.doubts else DONE
