"""The command that runs studies."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Final

import typer

from optsum.cli.exits import DONE, FAILED, INTERRUPTED, tell
from optsum.cli.flags import Config, CsvSafe, Flags, Format, Output, Overwrite, Plot, Resume, command, existing
from optsum.cli.topics import Limit, Map, ReadingFlags, Topics, count_topics, open_topics
from optsum.corpus.rows.writer import Row, RowWriter
from optsum.errors import OptionError
from optsum.options.options import options_of, read_config
from optsum.report.figures.figure import figure_folder
from optsum.report.figures.plots import checked_plot
from optsum.report.messages import bar
from optsum.report.tables.formats import TableFormat, table_format
from optsum.report.tables.table import counted, put_tables
from optsum.studies import STUDIES, Study, load_study, prepared
from optsum.studies.base import done_topics

SUBCOMMANDS: Final = {name: entry.about for name, entry in STUDIES.items()}


_READING: Final = tuple(field.name for field in fields(ReadingFlags))


@dataclass(frozen=True, kw_only=True)
class StudyFiles(ReadingFlags):
    """Files that a study reads and writes; each field is a flag."""

    topics: Topics
    systems: Annotated[
        str | None,
        typer.Option("--systems", metavar="FILE", help="summaries as for optsum score, or rows of optsum solve"),
    ] = None
    output: Output = None
    overwrite: Overwrite = False
    csv_safe: CsvSafe = False
    resume: Resume = False
    plot: Plot = None
    figures: Annotated[
        str | None,
        typer.Option(
            "--figures", metavar="DIR", help="write the figures there: .svg, .pdf, .png, and .csv of their data"
        ),
    ] = None
    columns: Map = None
    limit: Limit = None
    config: Config = None


def subcommand(name: str) -> tuple[Callable[..., int], str]:
    """Return what typer runs for a study, and its help.

    The tables are printed; -o writes the rows they are made of. optsum study NAME --help has the options of each.
    """
    made_by = load_study(name)

    def run(files: StudyFiles, options: dict[str, Any], format_: Format = "text") -> int:
        study, form = prepared(name, options, files.config), table_format(format_)
        if files.config is not None:
            said = read_config(files.config, also=options_of(made_by).model_fields)
            read: dict[str, Any] = {name: said.get(name) for name in _READING if getattr(files, name) is None}
            files = replace(files, **read)
        return _run(study, files, form)

    about = inspect.getdoc(made_by) or ""
    return command(run, Flags(options_of(made_by))), f"{STUDIES[name].about}.\n\n{about.partition(chr(10) * 2)[0]}"


def _run(study: Study, files: StudyFiles, form: TableFormat) -> int:
    plot = None if files.plot is None else checked_plot(files.plot)
    reading, mode = files.reading(), existing(files.overwrite, files.resume)
    from optsum.cli.signals import Stopping

    topics, systems, output, figures = files.topics, files.systems, files.output, files.figures
    if topics == systems == "-":
        raise OptionError("Only one of topics and systems can be the standard input: give a file for the other.")
    if files.resume and output is None:
        raise OptionError("Without an output there is nothing to resume: give -o FILE.")
    if figures is not None:
        with figure_folder(figures):  # not after hours of work
            pass
    given = open_topics(topics, files.columns, reading, files.limit)
    if systems is not None:
        study.reads(systems, reading)
    with ExitStack() as stack:
        rows = None
        if output is not None:
            held = [path for path in (topics, systems, files.config) if path]
            keep = done_topics(output, study) if files.resume else None
            rows = stack.enter_context(
                RowWriter(output, inputs=held, existing=mode, keep=keep, csv_safe=files.csv_safe)
            )
            study.resumes(rows.kept())
        stopping = stack.enter_context(Stopping())

        def write(found: list[Row]) -> None:
            if rows is not None:
                for row in found:
                    rows.write(row)

        with bar("topics", lambda: count_topics(topics, files.limit)) as advance:
            study.run(stopping.until(given, advance), write)
        errors = list(study.errors)
        stopped = stopping.stopped or study.interrupted
        if stopped:  # who knows what the topics that were not read have
            errors = [error for error in errors if error not in study.unmatched]
        write([{"id": None, "status": "error", "error": error} for error in errors])
        if stopped and rows is not None:
            rows.stop()
    if output != "-":
        put_tables(study, form)
    if plot is not None and study.rows:
        study.main_figure().draw(plot)
    for figure in study.figures() if figures is not None else ():
        figure.save(figures or "")
    if stopped:
        return tell(f"interrupted; {counted(stopping.done, 'topic')} done", INTERRUPTED)
    if errors:
        first = f"the first: {errors[0]}" if len(errors) > 1 else errors[0]
        return tell(f"{counted(len(errors), 'part')} of the input could not be used; {first}", FAILED)
    return DONE
