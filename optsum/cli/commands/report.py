"""Rows with --details (optsum compare, solve) show texts: every strategy's choice, all optima, what is covered.

ROWS are files as -o writes them, in any format, one or more; the page needs no server and no network.
"""

from __future__ import annotations

from itertools import chain
from typing import Annotated

import typer

from optsum.cli.flags import Overwrite

FLAGS = None


def run(
    rows: Annotated[list[str], typer.Argument(metavar="ROWS...", help="files of rows; - for standard input")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.html", help="the page")],
    title: Annotated[str, typer.Option(metavar="TEXT", help="its heading [the names of the files]")] = "",
    overwrite: Overwrite = False,
) -> int:
    """Write rows as one HTML file."""
    from optsum.cli.exits import DONE, put
    from optsum.page.write import write_page
    from optsum.rows.reading import read_rows

    write_page(chain.from_iterable(map(read_rows, rows)), output, title=title, overwrite=overwrite)
    put(f"{output}")
    return DONE
