"""The tables are printed; -o writes the rows they are made of. optsum study NAME --help has the options of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from optsum.cli.exits import DONE, FAILED, INTERRUPTED, tell
from optsum.cli.flags import Config, Flags, Format, Output, Overwrite, command, existing
from optsum.cli.topics import FlatLists, Limit, Map, checked_flat, count_topics, open_topics
from optsum.errors import OptionError
from optsum.options.options import options_of, read_config, resolve_as
from optsum.report.table_formats import TableFormat, table_format
from optsum.rows.writer import Existing
from optsum.studies import STUDIES, load_study

if TYPE_CHECKING:
    from optsum.corpus.topic import Flat

SUBCOMMANDS: Final = {name: entry.about for name, entry in STUDIES.items()}

_INPUTS: Final = {
    "topics": "JSON Lines file of topics; - for the standard input",
    "systems": 'JSON Lines file of summaries: {"topic_id", "system", "selection" or "summary"}',
}
"""What a study may read; the names of its positional parameters."""


def subcommand(name: str) -> tuple[Callable[..., int], str]:
    """Return what typer runs for a study, and its help."""
    function = load_study(name)
    flags = Flags(options_of(function))
    own = inspect.signature(function).parameters.values()
    inputs = [each for each in own if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]

    def run(
        *,
        options: dict[str, Any],
        output: str | None,
        overwrite: bool,
        columns: str | None,
        limit: int | None,
        flat: str | None,
        config: str | None,
        format_: str,
        **paths: str | None,
    ) -> int:
        form = table_format(format_)
        flat = flat if flat is not None or config is None else read_config(config).get("flat")
        return _run(
            name, paths, options, (output, existing(overwrite)), config, (columns, checked_flat(flat), limit), form
        )

    run.__annotations__ = {}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *map(_argument, inputs),
            _keyword("options", dict),
            _keyword("format_", Format, default="text"),
            _keyword("output", Output),
            _keyword("overwrite", Overwrite, default=False),
            _keyword("columns", Map),
            _keyword("limit", Limit),
            _keyword("flat", FlatLists),
            _keyword("config", Config),
        ]
    )
    about = inspect.getdoc(function) or ""
    return command(run, flags), f"{STUDIES[name].about}.\n\n{about.partition(chr(10) * 2)[0]}"


def _argument(given: inspect.Parameter) -> inspect.Parameter:
    """Return the parameter of a file."""
    argument = typer.Argument(metavar=given.name.upper(), help=_INPUTS[given.name])
    if given.default is inspect.Parameter.empty:
        return inspect.Parameter(given.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[str, argument])
    return _keyword(given.name, Annotated[str | None, argument])


def _keyword(name: str, annotation: Any, default: object = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _run(
    name: str,
    paths: Mapping[str, str | None],
    options: Mapping[str, Any],
    to: tuple[str | None, Existing],
    config: str | None,
    reading: tuple[str | None, Flat | None, int | None],
    form: TableFormat,
) -> int:
    (output, mode), (columns, flat, limit) = to, reading
    from optsum.cli.stopping import Stopping
    from optsum.corpus.systems import read_systems
    from optsum.report.progress import bar
    from optsum.report.tables import counted, put_tables
    from optsum.rows.writer import RowWriter

    if len([path for path in paths.values() if path == "-"]) > 1:
        raise OptionError(f"Only one of {' and '.join(paths)} can be the standard input: give a file for the other.")
    function = load_study(name)
    given = resolve_as(options_of(function), options, config=config).model_dump()
    readers: dict[str, Callable[[str], Any]] = {
        "topics": lambda path: open_topics(path, columns, flat, limit),
        "systems": read_systems,
    }
    read = {each: readers[each](path) for each, path in paths.items() if path is not None}
    inputs = [path for path in (*paths.values(), config) if path]
    with ExitStack() as stack:
        rows = stack.enter_context(RowWriter(output, inputs=inputs, existing=mode)) if output else None
        stopping = stack.enter_context(Stopping())
        with bar("topics", lambda: count_topics(paths["topics"] or "-", limit)) as advance:
            read["topics"] = stopping.until(read["topics"], advance)
            report = function(**read, **given)
        errors = list(report.errors)
        stopped = stopping.stopped or report.interrupted
        if stopped:  # who knows what the topics that were not read have
            errors = [error for error in errors if error not in report.unmatched]
        if rows is not None:
            for row in report.to_rows():
                rows.write(row)
            for error in errors:
                rows.write({"id": None, "status": "error", "error": error})
    if output != "-":
        put_tables(report, form)
    if stopped:
        return tell(f"interrupted; {counted(stopping.done, 'topic')} done", INTERRUPTED)
    if errors:
        first = f"the first: {errors[0]}" if len(errors) > 1 else errors[0]
        return tell(f"{counted(len(errors), 'part')} of the input could not be used; {first}", FAILED)
    return DONE
