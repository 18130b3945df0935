"""Commands on existing results and summaries."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from optsum.cli.exits import DONE, put
from optsum.cli.flags import Files, Flags, Format, Overwrite, open_topics
from optsum.cli.loop import Loop
from optsum.options.options import ScoreOptions, resolve_score
from optsum.report.messages import advancing, bar, count_lines
from optsum.report.tables.table import counted, put_tables, table_format


def run_score(
    files: Files,
    systems: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEMS",
            help="a file of summaries: JSON Lines, CSV, or text with a summary a line; or a folder SYSTEM/TOPIC.txt",
        ),
    ],
    options: Annotated[dict[str, Any], Flags(ScoreOptions)],
    format_: Format = "text",
) -> int:
    """Score all summaries of a file.

    Prints the means of each system, and correlations if there are human scores. -o writes a row for each summary.

    TOPICS is as for optsum solve. SYSTEMS holds one summary a line: {"topic_id": ..., "system": ..., "summary":
    [sentence, ...], "human": {name: number}}; an extract may have "selection", a list of sentence numbers, instead.
    """
    resolved, form = resolve_score(options, config=files.config), table_format(format_)

    from optsum.corpus.systems import systems_read
    from optsum.report.system_scores import SystemScores, score_rows

    scores = SystemScores(resolved)
    of_topics = open_topics(files.topics, files.columns, resolved.reading)
    of_systems = systems_read(systems, resolved.reading)
    with Loop(files, files.output, [systems, resolved.stopwords]) as loop:
        for rows in loop.iterate(score_rows(of_topics, of_systems, scores, files.limit)):
            scores.add(rows)
            for row in rows:
                loop.write(row, row["error"])
            loop.advance()
    if files.output != "-" and not loop.interrupted:
        put_tables(scores, form)
    done = f"{counted(scores.summaries, 'summary')} scored"
    return loop.status(done, f"{counted(loop.errors, 'summary')} could not be scored")


def run_report(
    rows: Annotated[
        list[str], typer.Argument(metavar="ROWS|DIR...", help="files of rows, or folders of runs; - for standard input")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.html", help="the page")],
    title: Annotated[str, typer.Option(metavar="TEXT", help="its heading")] = "",
    overwrite: Overwrite = False,
) -> int:
    """Write rows as one HTML file.

    Rows made with --details (optsum compare, solve, run) show texts: the choice of every strategy, all optima, and the
    covered n-grams.

    ROWS are files as -o writes them, in any format; the page needs no server and no network.
    """
    from optsum.corpus.rows.writer import read_rows
    from optsum.report.page.write import checked_output, write_page

    def count() -> int | None:
        counts = [count_lines(path) for path in rows]
        return None if None in counts else sum(filter(None, counts))

    checked_output(output, overwrite=overwrite, inputs=rows)
    with bar("rows", count) as advance:
        read = chain.from_iterable(map(read_rows, rows))
        write_page(advancing(read, advance), output, title=title, overwrite=overwrite)
    put(f"{output} ({Path(output).stat().st_size / 1e6:.1f} MB)")
    return DONE
