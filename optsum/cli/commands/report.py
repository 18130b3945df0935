"""Rows with --details (optsum compare, solve, run) show texts: every strategy's choice, all optima, what is covered.

ROWS are files as -o writes them, in any format; the page needs no server and no network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from optsum.cli.exits import DONE, put
from optsum.cli.flags import Overwrite
from optsum.report.messages import bar, count_lines


def run(
    rows: Annotated[
        list[str], typer.Argument(metavar="ROWS|DIR...", help="files of rows, or folders of runs; - for standard input")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.html", help="the page")],
    title: Annotated[str, typer.Option(metavar="TEXT", help="its heading")] = "",
    overwrite: Overwrite = False,
) -> int:
    """Write rows as one HTML file."""
    from optsum.corpus.rows.reading import read_rows
    from optsum.report.page.write import checked_output, write_page

    def count() -> int | None:
        counts = [count_lines(path) for path in rows]
        return None if None in counts else sum(filter(None, counts))

    checked_output(output, overwrite=overwrite, inputs=rows)
    with bar("rows", count) as advance:
        read = chain.from_iterable(map(read_rows, rows))
        write_page(_passed(read, advance), output, title=title, overwrite=overwrite)
    put(f"{output} ({Path(output).stat().st_size / 1e6:.1f} MB)")
    return DONE


def _passed(rows: Iterable[dict[str, Any]], advance: Callable[..., None]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield row
        advance()
