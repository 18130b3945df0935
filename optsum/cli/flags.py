"""Make flags from the fields of options, which give names, defaults and help, and define other shared flags."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import partial
from importlib import import_module
from itertools import chain, islice
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args, get_origin, get_type_hints

import typer
from typer import Argument, Option

from optsum.cli.signals import DONE, guarded, tell
from optsum.corpus.topic import AS_IS, Reading
from optsum.errors import OptionError, show_tracebacks
from optsum.options.options import (
    READING,
    FlagHint,
    Options,
    OwnOptions,
    columns_in,
    read_config,
    reading_of,
    resolve_as,
)
from optsum.report.messages import count_lines, telling
from optsum.system.files import PathLike, name_of

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    from optsum.corpus.row_files import Existing, RowWriter
    from optsum.optima.optima import Nearness

Topics: TypeAlias = Annotated[
    str,
    Argument(
        metavar="TOPICS",
        help="a file of topics in any supported format, a folder with documents/ and references/, a problem (.mps, "
        ".lp, FILE.py:FUNCTION; only if the command needs no text) or hf:NAME from the Hugging Face hub; - for "
        "standard input",
    ),
]

Map: TypeAlias = Annotated[
    str | None,
    Option(
        "--map", metavar="KEY=COLUMN,...", help="columns of a data set: documents=article,references=highlights,id=id"
    ),
]


def reading_by(options: dict[str, Any], config: str | None = None, model: type[Any] = READING) -> Reading:
    """Remove the options of reading from `options`, and return them; `config`: a file with options of `model`."""
    return reading_of(resolve_as(model, {name: options.pop(name) for name in READING.model_fields}, config=config))


Limit: TypeAlias = Annotated[int | None, Option("--limit", metavar="N", min=0, help="only the first N topics [all]")]


def open_topics(
    path: str,
    columns: str | Mapping[str, str] | None,
    reading: Reading = AS_IS,
    limit: int | None = None,
    *,
    read: bool = True,
) -> Iterator[Any]:
    """Read topics, at most `limit`, and report recognised columns; without `read`, workers decode the lines."""
    from optsum.corpus.topics import topics_read, unread_topics

    def told(sentence: str) -> None:
        tell(sentence, DONE)

    reading = reading.of_input(name_of(path), columns, told)
    return islice(topics_read(path, reading), limit) if read else unread_topics(path, reading, limit)


def count_topics(path: str, limit: int | None) -> int | None:
    return min((number for number in (count_lines(path), limit) if number is not None), default=None)


MORE: Final = "More"  # Panel of the flags that only --help-all shows.
_more: Final = partial(Option, rich_help_panel=MORE)

NAMES: Final = {
    "strategies": "optsum.registry:STRATEGIES",
    "formulations": "optsum.registry:FORMULATIONS",
    "backends": "optsum.registry:BACKENDS",
    "metrics": "optsum.metrics.rouge:METRICS",
    "presets": "optsum.options.presets:PRESETS",
    "tokenizers": "optsum.text.analyzer:TOKENIZERS",
    "stemmers": "optsum.text.analyzer:STEMMERS",
    "splitters": "optsum.corpus.sentences:SPLITTERS",
    "languages": "optsum.corpus.sentences:LANGUAGES",
}
"""Module and variable with the names of each list."""

LISTED: Final = [kind for kind in NAMES if kind != "languages"]  # Lists that ``optsum list`` prints.


def offered(names: str | Iterable[str]) -> Callable[[str], list[str]]:
    """Return a function for shell completion of a name, or the last of several; `names`: a key of `NAMES` or a list."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        known = names
        if isinstance(names, str):
            module, _, name = NAMES[names].partition(":")
            known = [each for form in getattr(import_module(module), name) for each in _FORMS.get(form, [form])]
        return [f"{before}{comma}{name}" for name in known if name.startswith(last)]

    return complete


def named(kind: str, about: str, metavar: str = "NAME") -> Any:
    return Option(metavar=metavar, autocompletion=offered(kind), help=about)


_FORMS: Final = {"rouge-N": ["rouge-1", "rouge-2"], "rouge-suK": ["rouge-su4"], "ngram-I-J": ["ngram-1-4"]}
"""Completions of names with a variable part."""


def _debug(asked: bool) -> None:
    if asked:
        show_tracebacks()


Debug: TypeAlias = Annotated[bool, _more("--debug", callback=_debug, is_eager=True, help="show tracebacks")]


def _help_all(ctx: typer.Context, asked: bool) -> None:
    if asked:
        ctx.meta[MORE] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


@dataclass(frozen=True, kw_only=True)
class Saying:
    """Flags that every command has, for its messages and its help."""

    verbose: Annotated[bool, _more("--verbose", "-v", help="report progress, also in a pipe")] = False
    quiet: Annotated[bool, _more("--quiet", "-q", help="print only results and errors")] = False
    log_file: Annotated[str | None, _more(metavar="FILE", help="also write messages to a file, with times")] = None
    debug: Debug = False
    help_all: Annotated[
        bool, Option("--help-all", callback=_help_all, is_eager=True, help="show every option, and exit")
    ] = False


Config: TypeAlias = Annotated[
    str | None,
    _more(
        metavar="FILE.toml",
        help="file of options, named without the dashes; options of the command line take precedence",
    ),
]
Output: TypeAlias = Annotated[
    str | None,
    Option(
        "--output", "-o", metavar="FILE", help="rows: .jsonl, .csv (also .gz, .zst) or .parquet; - for standard output"
    ),
]
Overwrite: TypeAlias = Annotated[bool, _more("--overwrite", help="replace an existing output")]
CsvSafe: TypeAlias = Annotated[
    bool, _more("--csv-safe", help="write an apostrophe before .csv cells that a spreadsheet would run as formulas")
]
Start: TypeAlias = Annotated[
    str | None, _more(metavar="FILE", help="rows of an earlier run, whose selections are the starting points")
]
Details: TypeAlias = Annotated[
    bool, Option("--details", help="include texts and all optima in the rows, for optsum report")
]
Format: TypeAlias = Annotated[
    str,
    Option(
        "--format", metavar="text|markdown|csv|latex", help="format of tables; latex needs the package booktabs [text]"
    ),
]
Plot: TypeAlias = Annotated[
    str | None, Option("--plot", metavar="FILE.svg|pdf|png", help="also draw a plot (extra plots)")
]


def existing(overwrite: bool, resume: bool = False) -> Existing:
    if overwrite and resume:
        raise OptionError("An output cannot be both kept and replaced: give either --resume or --overwrite.")
    return "overwrite" if overwrite else "resume" if resume else "refuse"


def output_or_pipe(output: str | None) -> str | None:
    return output or (None if sys.stdout is not None and sys.stdout.isatty() else "-")


@dataclass(frozen=True)
class Flags:
    """The fields of a model of options, except `without`, as flags of a command."""

    model: type[BaseModel]
    without: Collection[str] = ()

    def parameters(self) -> list[inspect.Parameter]:
        return [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(name, field))
            for name, field in self.model.model_fields.items()
            if name not in self.without
        ]


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and is_dataclass(annotation)


def _flags_of(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """Return the flags of a parameter of a command's function: one, or one for each field of a dataclass."""
    keyword, group = inspect.Parameter.KEYWORD_ONLY, parameter.annotation
    if not _is_group(group):
        return [parameter.replace(kind=keyword)]
    hints = get_type_hints(group, include_extras=True)
    defaults = {field.name: parameter.empty if field.default is MISSING else field.default for field in fields(group)}
    return [inspect.Parameter(name, keyword, default=defaults[name], annotation=hints[name]) for name in defaults]


def _hint(name: str, field: FieldInfo) -> FlagHint:
    """Return how a field is displayed; a field without a hint takes the hint of the option with the same name."""
    known = [*field.metadata, *(Options.model_fields[name].metadata if name in Options.model_fields else [])]
    return next((each for each in known if isinstance(each, FlagHint)), FlagHint(name not in Options.model_fields))


def _annotation(name: str, field: FieldInfo) -> Any:
    if field.annotation == OwnOptions:
        flag = f"--{name.replace('_', '-').removesuffix('s')}"
        return Annotated[list[str] | None, _more(flag, help=field.description or "", metavar="NAME=VALUE")]
    about_flag = _hint(name, field)
    inner = () if get_origin(field.annotation) is Literal else get_args(field.annotation)
    kinds: list[Any] = [each for each in inner if each is not NoneType] or [field.annotation]
    kind, words = kinds[0], [word for each in kinds[1:] if get_origin(each) is Literal for word in get_args(each)]
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    # A value that is no number is passed to the model, whose error says what it takes.
    more: dict[str, Any] = {"parser": partial(_number, kind)} if kind in {int, float} else {}
    if words:  # a number, or one of some words
        metavar = "|".join(["N", *words])
    elif get_origin(kind) is Literal:
        kind, metavar = str, "|".join(get_args(kind))
    else:
        metavar = {int: "N", float: "X"}.get(kind, name.rpartition("_")[2].upper())
    more["rich_help_panel"] = None if about_flag.brief else MORE
    if about_flag.names or "|" in metavar:
        more["autocompletion"] = offered(about_flag.names or [word for word in metavar.split("|") if word.islower()])
    flag, about = f"--{name.replace('_', '-')}", field.description or ""
    if kind is bool:
        flag, metavar = f"{flag}/--no-{flag[2:]}", ""
    elif field.default is not None:
        about += f" [{field.default}]"
    short = ["-j"] if name == "workers" else []
    return Annotated[kind | None, Option(flag, *short, help=about, metavar=metavar or None, **more)]


def _number(kind: Callable[[str], int | float], given: str) -> int | float | str:
    try:
        return kind(given)
    except ValueError:
        return given


_STANDARD_INPUT: Final = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def command(run: Callable[..., int], flags: Flags | None = None) -> Callable[..., int]:
    """Return a function for typer that runs a command and returns its exit status.

    Its flags are the parameters of `run`, every option of `flags`, and those of all commands (`Saying`). By default,
    `flags` are those in the annotation of the parameter ``options`` of `run`. A parameter that is a dataclass, such as
    `optsum.cli.flags.Files`, is replaced by its fields.
    """
    own = inspect.signature(run, eval_str=True).parameters
    if flags is None and "options" in own:
        flags = next(each for each in own["options"].annotation.__metadata__ if isinstance(each, Flags))
    extra = flags.parameters() if flags is not None else []
    groups = {name: each.annotation for name, each in own.items() if _is_group(each.annotation)}
    said = _flags_of(inspect.Parameter("saying", inspect.Parameter.KEYWORD_ONLY, annotation=Saying))

    def function(**values: Any) -> int:
        verbose, quiet, log_file, *_ = (values.pop(each.name) for each in said)
        given = {"options": {each.name: values.pop(each.name) for each in extra}} if flags is not None else {}

        def told() -> int:
            if {"columns", "config"} <= values.keys() and values["columns"] is None and values["config"] is not None:
                known = flags.model.model_fields if flags is not None else ()
                values["columns"] = columns_in(read_config(values["config"], also=known), values["config"])
            named = {**values, **given.get("options", {}), "output": None}.values()
            held = chain.from_iterable(each if isinstance(each, list) else [each] for each in named)
            if sum(isinstance(each, str) and each in _STANDARD_INPUT for each in held) > 1:
                raise OptionError("The standard input can be read only once: give a file in place of the second one.")
            if verbose and quiet:
                raise OptionError("A command cannot be both verbose and quiet: give either --verbose or --quiet.")
            with telling(log_file, verbose=verbose, quiet=quiet):
                grouped = {
                    name: group(**{field.name: values.pop(field.name) for field in fields(group)})
                    for name, group in groups.items()
                }
                return guarded(lambda: run(**values, **grouped, **given))

        return guarded(told)

    function.__annotations__ = {}
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*(flag for name, each in own.items() if name != "options" for flag in _flags_of(each)), *extra, *said]
    )
    return function


@dataclass(frozen=True)
class NearFlags:
    """Flags of near-optimal selections, of which at most one may be given."""

    within: Annotated[
        str | None,
        Option(metavar="SHARE", help="all selections that lose at most this share of the best value, such as 1%"),
    ] = None
    at_least: Annotated[
        str | None,
        Option("--at-least", metavar="VALUE", help="all selections whose objective is at least this (covers: at most)"),
    ] = None
    within_steps: Annotated[
        int | None, Option(metavar="K", min=0, help="all selections at most K integer steps below the best")
    ] = None
    best: Annotated[int | None, Option(metavar="K", min=1, help="all selections with one of the K best values")] = None

    def nearness(self) -> Nearness | None:
        from optsum.optima.optima import Nearness

        return Nearness.given(self.within, self.at_least, self.within_steps, self.best)


@dataclass(frozen=True, kw_only=True)
class Files:
    """The file of topics that a command reads, and the file of its rows; each field is a flag."""

    topics: Topics
    output: Output = None
    overwrite: Overwrite = False
    csv_safe: CsvSafe = False
    columns: Map = None
    limit: Limit = None
    config: Config = None

    @property
    def existing(self) -> Existing:
        return existing(self.overwrite, getattr(self, "resume", False))

    def writer(self, output: str | None, inputs: Iterable[PathLike] = (), **options: Any) -> RowWriter:
        """Return the writer of the rows, which overwrites none of the command's files, nor any of `inputs`."""
        from optsum.corpus.row_files import RowWriter

        held = [self.topics, *filter(None, [self.config]), *inputs]
        return RowWriter(output, inputs=held, existing=self.existing, csv_safe=self.csv_safe, **options)


@dataclass(frozen=True, kw_only=True)
class ResumedFiles(Files):
    """Files of a command that can continue the rows of an earlier run."""

    resume: Annotated[
        bool, _more("--resume", help="keep the finished rows of the output, and add the missing ones")
    ] = False
