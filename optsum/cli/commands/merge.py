"""-o names a folder, which becomes a run like any other, or a file of rows: .jsonl, .csv or .parquet.

Rows come in the order of the topics, and of the grid's cells for each, whoever has searched them.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from optsum.cli.exits import DONE, put
from optsum.cli.flags import Overwrite, existing


def run(
    folders: Annotated[list[str], typer.Argument(metavar="DIR...", help="folders of runs")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="DIR|FILE", help="a folder, or a file of rows")],
    overwrite: Overwrite = False,
) -> int:
    """Merge runs."""
    from optsum.cli.commands.status import in_words
    from optsum.corpus.rows.store import stored_rows
    from optsum.corpus.rows.writer import RowWriter
    from optsum.experiments.merge import merge
    from optsum.report.tables.table import counted

    if output != "-" and not Path(output).suffix:
        put(in_words(merge(folders, output)))
        return DONE
    with RowWriter(output, existing=existing(overwrite)) as rows:
        written = 0
        # Where the output is there is room for the rows, so there is for this.
        with TemporaryDirectory(dir=None if output == "-" else Path(output).parent, prefix=".optsum-") as place:
            one = folders[0]
            if len(folders) > 1:
                merge(folders, one := str(Path(place) / "run"))
            for row in stored_rows(one):
                rows.write(row)
                written += 1
    if output != "-":
        put(f"{counted(written, 'row')} in {output}")
    return DONE
