"""Commands on results, summaries and runs over whole corpora: score, report, run, status and merge."""

from __future__ import annotations

import json
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from optsum.cli.exits import DONE, FAILED, INTERRUPTED, Interrupts, put, tell
from optsum.cli.flags import CsvSafe, Files, Flags, Format, Limit, Overwrite, existing, open_topics
from optsum.cli.loop import Loop
from optsum.options.options import OF_WORKERS, Options, ScoreOptions, resolve_score
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

    from optsum.corpus.topics import systems_read
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
    from optsum.corpus.rows import read_rows
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


def run_run(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="TOML file: topics, options and a grid")],
    folder: Annotated[str, typer.Argument(metavar="DIR", help="folder of the run")],
    options: Annotated[dict[str, Any], Flags(Options, without=set(Options.model_fields) - set(OF_WORKERS))],
    resume: Annotated[bool, typer.Option("--resume", help="continue an existing run")] = False,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="the I-th of N shares of the topics, for arrays of jobs")
    ] = None,
    limit: Limit = None,
    details: Annotated[
        bool, typer.Option("--details", help="include text, options and all optima in rows, for optsum report")
    ] = False,
) -> int:
    """Start a run over a corpus, or continue it.

    EXPERIMENT.toml names topics and options; all combinations of the lists of values in [grid] are searched.

    DIR stores the configuration, versions and every row as soon as it is computed. After a crash, Ctrl-C, a full disk
    or a reboot, --resume continues the run. To get the rows: optsum merge DIR -o rows.parquet.
    """
    from optsum.corpus.rows import is_run_folder
    from optsum.experiments.folder import in_words, said_of_errors, status
    from optsum.experiments.run import carry_out

    how: dict[str, Any] = {"resume": resume, "shard": shard, "limit": limit, "details": details}
    try:
        carry_out(experiment, folder, options, iterate=partial(Interrupts().iterate, parallel=True), **how)
    except KeyboardInterrupt:
        if not is_run_folder(folder):
            raise
        put(in_words(status(folder)))
        return tell(f"interrupted; --resume continues {folder}", INTERRUPTED)
    now = status(folder)
    put(in_words(now))
    return tell(said_of_errors(now), FAILED) if now.failed else DONE


def run_status(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="folder of a run")],
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object, for programs")] = False,
) -> int:
    """Show the progress of a run.

    Prints how many topics are done or failed, the speed and the time left, also during the run.
    """
    from optsum.experiments.folder import in_words, said_of_errors, status

    found = status(folder)
    put(json.dumps(found.to_json(), ensure_ascii=False) if as_json else in_words(found))
    if not as_json and found.failed:
        put(said_of_errors(found))
    for doubt in () if as_json else found.doubts:
        put(doubt)
    return DONE


def run_merge(
    folders: Annotated[list[str], typer.Argument(metavar="DIR...", help="folders of runs")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="DIR|FILE", help="a folder, or a file of rows")],
    overwrite: Overwrite = False,
    csv_safe: CsvSafe = False,
) -> int:
    """Merge runs.

    -o names a folder, which becomes a run itself, or a file of rows: .jsonl, .csv or .parquet.

    Rows are ordered by topic, then by the cells of the grid, whichever process searched them.
    """
    from optsum.corpus.rows import RowWriter, stored_rows
    from optsum.experiments.folder import in_words, merge

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
