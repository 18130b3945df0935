"""Define the command `study`, which runs the experiments of papers."""

from __future__ import annotations

import inspect
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, create_model
from typer import Option

from optsum.cli.flags import Flags, Format, Plot, ResumedFiles, command, open_topics, reading_by
from optsum.cli.loop import Finished, Loop
from optsum.cli.signals import DONE, INTERRUPTED, tell
from optsum.corpus.topic import Reading, Topic
from optsum.errors import OptionError, counted
from optsum.options.options import READING, options_of
from optsum.report.figures import checked_plot, figure_folder
from optsum.report.tables import TableFormat, put_tables, table_format, written
from optsum.studies import STUDIES, Study, check_row_of, load_study, papers, prepared
from optsum.system.files import describe_os_error, replacing

ALL: Final = "all"
SUBCOMMANDS: Final = {
    **{name: entry.about for name, entry in STUDIES.items()},
    ALL: "every study that the data allow: a folder of rows, tables and figures, and one page",
}


@dataclass(frozen=True, kw_only=True)
class StudyFiles(ResumedFiles):
    """Files that a study reads and writes; each field is a flag."""

    systems: Annotated[
        str | None, Option("--systems", metavar="FILE", help="summaries as for optsum score, or rows of optsum solve")
    ] = None
    plot: Plot = None
    figures: Annotated[
        str | None,
        Option("--figures", metavar="DIR", help="folder for the figures: .svg, .pdf and .png, and .csv of their data"),
    ] = None


def subcommand(name: str) -> tuple[Callable[..., int], str]:
    """Return the function of `optsum study NAME`, and its help.

    Prints tables; -o writes the rows behind them. optsum study NAME --help lists the options of each study.
    """
    if name == ALL:
        return command(_run_all, Flags(_shared())), f"{SUBCOMMANDS[ALL]}.\n\n{inspect.getdoc(_run_all)}"
    made_by = load_study(name)
    model = create_model(made_by.__name__, __base__=(options_of(made_by), READING))

    def run(files: StudyFiles, options: dict[str, Any], format_: Format = "text") -> int:
        texts = reading_by(options, files.config, model)
        return _run(prepared(name, options, files.config), files, texts, table_format(format_))

    about = inspect.getdoc(made_by) or ""
    return command(run, Flags(model)), f"{STUDIES[name].about}.\n\n{about.partition(chr(10) * 2)[0]}"


def _shared() -> type[BaseModel]:
    """Return a model of the options for reading, and of options that several studies share, with equal defaults."""
    found: dict[str, list[Any]] = {}
    for name in STUDIES:
        for option, field in options_of(load_study(name)).model_fields.items():
            found.setdefault(option, []).append(field)
    alike = {
        option: (field.annotation, field)
        for option, (field, *others) in found.items()
        if others and all((one.annotation, one.default) == (field.annotation, field.default) for one in others)
    }
    made: type[BaseModel] = create_model("StudyOptions", __base__=READING, **alike)  # type: ignore[call-overload]
    return made


def _run_all(files: StudyFiles, options: dict[str, Any], format_: Format = "text") -> int:
    """With -o FOLDER, each study writes its rows, tables and figures to FOLDER/NAME; FOLDER/index.html shows all.

    Options are passed on to the studies that have them. Figures need matplotlib (extra plots).
    """
    form = table_format(format_)
    if files.output is None or files.output == "-" or "-" in {files.topics, files.systems}:
        raise OptionError(
            "`optsum study all` reads its files several times and writes a folder: give files instead of standard "
            "input, and -o FOLDER."
        )
    if files.plot is not None or files.figures is not None:
        raise OptionError(
            "`optsum study all` writes its figures into the folder of -o: leave out --plot and --figures."
        )
    reading = reading_by(options, files.config, _shared())
    unserved = set(STUDIES)
    for topic in open_topics(files.topics, files.columns, reading, files.limit):
        unserved -= {name for name in unserved if isinstance(topic, Topic) and load_study(name).serves(topic)}
    folder, statuses, page = Path(files.output), [DONE], []
    for name in STUDIES:
        if name in unserved:
            said = "no topic has all that this study needs"
            page.append(f"<h2>{name}</h2><p>Left out: {said}.</p>")
            tell(f"study {name} is left out: {said}", DONE)
            continue
        known = options_of(load_study(name)).model_fields
        given = {option: value for option, value in options.items() if option in known}
        if name not in papers():
            given.pop("paper", None)
        study, own = prepared(name, given, files.config), folder / name
        try:
            own.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OptionError(f"The folder {own} cannot be made: {describe_os_error(error)}.") from error
        drawn = str(own) if find_spec("matplotlib") is not None else None
        own_files = replace(files, output=str(own / "rows.jsonl"), figures=drawn)
        statuses.append(_run(study, own_files, reading, form, shown=False))
        with replacing(own / f"tables.{_SUFFIXES[form]}") as new:
            new.write_text(written(study, form), encoding="utf-8")
        page += [f"<h2>{name}</h2>", study._repr_html_()]
        for picture in [own / f"{figure.name}.svg" for figure in (study.figures() if drawn else ())]:
            data = b64encode(picture.read_bytes()).decode()
            page.append(f'<img alt="{picture.stem}" src="data:image/svg+xml;base64,{data}">')
        if statuses[-1] == INTERRUPTED:
            break
    if len(statuses) == 1:
        raise OptionError("No study can use these topics: give references, parses, or covers.")
    with replacing(folder / "index.html") as new:
        new.write_text(_PAGE + "\n".join(page), encoding="utf-8")
    return max(statuses)


_SUFFIXES: Final[dict[TableFormat, str]] = {"text": "txt", "markdown": "md", "csv": "csv", "latex": "tex"}
_PAGE: Final = (
    '<!DOCTYPE html><meta charset="utf-8"><title>Studies</title><style>body{font-family:sans-serif;margin:2em}'
    "table{border-collapse:collapse;margin-top:2em}td,th{padding:.1em .6em}caption{text-align:left;font-weight:bold}"
    "img{display:block;margin-top:2em}</style><h1>Studies</h1>\n"
)


def _run(study: Study, files: StudyFiles, reading: Reading, form: TableFormat, *, shown: bool = True) -> int:
    plot = None if files.plot is None else checked_plot(files.plot)
    systems, output, figures = files.systems, files.output, files.figures
    if figures is not None:
        with figure_folder(figures):  # refuse it now, not after hours of work
            pass
    finished = Finished(output or "", partial(check_row_of, study, output or ""))  # without an output it is not asked
    loop = Loop(files, output, list(filter(None, [systems])), keep=finished)
    given = loop.topics(reading) if output is None else finished.compared(loop.topics(reading))
    if systems is not None:
        study.reads(systems, reading)
    with loop:
        study.resumes(loop.rows.kept())
        study.run(
            given,
            lambda rows: loop.rows.write_all(finished.marked(rows)),
            partial(loop.iterate, parallel=study.searches()[0].elsewhere),
        )
        if files.limit is not None:  # their topics may be beyond the limit
            study.missing.clear()
        for error in study.errors:
            loop.write({"id": None, "status": "error", "error": error}, error)
        if study.interrupted:
            raise KeyboardInterrupt
    if output != "-" and shown:
        put_tables(study, form)
    if plot is not None and study.rows:
        study.figures()[0].draw(plot)
    for figure in study.figures() if figures is not None else ():
        figure.save(figures or "")
    lost = f"{counted(loop.errors, 'part')} of the input could not be used"
    return loop.status(f"{counted(study.topics, 'topic')} done", lost)
