"""Define the program: the list of its commands, their help in groups, and `main`."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from itertools import chain
from typing import Annotated, Any, Final

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from optsum._version import __version__
from optsum.cli.flags import MORE, Debug, command
from optsum.cli.signals import DONE, FAILED, INTERRUPTED, UNUSABLE, Signals, tell
from optsum.errors import SPEAKS_OF_FLAGS, describe
from optsum.options.options import our_name
from optsum.system.processes.children import ONE_THREAD, environment, leave

_GROUPS: Final = {
    "Problem": (
        "formulation formulation_options metric vectors similarity_unit measure references model_units counts "
        "boundaries max_length min_length length_unit length_tokenizer keep_unmatched weights uncoverable "
        "chunk_profile chunk_rules at_least within within_steps best best_by max_words each_oracle oracles preset "
        "max_sentences max_characters per_document require forbid exclusive requires"
    ),
    "Text": "columns limit language splitter lines flat source_words tokenizer stem stemmer stopwords",
    "Search": (
        "strategy strategies exact exact_time_limit seeds strategy_options bound backend backends backend_options "
        "threads verify time_limit node_limit evaluation_limit gap target start seed workers executor scheduler "
        "memory_per_worker"
    ),
    "Output": (
        "output format format_ card resume overwrite details plot figures max_solutions count_only quiet verbose "
        "log_file minimal soft all_ diverse weighted sample table csv_safe"
    ),
}
"""Parameters of each group, in the order of the help; other parameters come last."""


class GroupedCommand(TyperCommand):
    """A command that shows its options in groups, and reports repeated ones."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        completing = ctx.resilient_parsing  # for a shell, which shows nothing else
        given = [] if completing else self.make_parser(ctx).parse_args(args=[*args])[2]
        left = super().parse_args(ctx, args)
        for param in self.get_params(ctx):
            several = any(getattr(param, name, True) for name in ("multiple", "count", "is_flag"))
            if not several and given.count(param) > 1 and not ctx.params.get("quiet"):
                tell(f"{param.opts[0]} is given {given.count(param)} times: only the last value counts", DONE)
        return left

    def format_options(self, ctx: Any, formatter: Any) -> None:
        arguments, left, more = [], {}, 0
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            if getattr(param, "rich_help_panel", None) == MORE and not ctx.meta.get(MORE):
                more += 1
            elif param.param_type_name == "argument":
                arguments.append(record)
            else:
                left[str(param.name)] = record
        groups = {title: [left.pop(name) for name in names.split() if name in left] for title, names in _GROUPS.items()}
        grouped = list(chain.from_iterable(groups.values()))
        if sum(map(bool, groups.values())) < 2 and len(left) + len(grouped) < 8:  # help is short without groups
            groups, left = {"Options": [*grouped, *left.values()]}, {}
        for title, records in {"Arguments": arguments, **groups, "More": list(left.values())}.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if more:
            formatter.write(f"\n{more} more options: {ctx.command_path} --help-all\n")


_COMMANDS: Final = {
    "solve": "Find the best summary of each topic, and prove it.",
    "enumerate": "Find all best summaries of each topic, and count them.",
    "frontier": "Find the best value at every length, and prove it.",
    "context": "Find the passages within a budget that support the most claims, and the loss of greedy packing.",
    "labels": "Make training labels: 1 for each sentence of the best summary, 0 for each other.",
    "compare": "Compare strategies with the proven optimum.",
    "run": "Search a whole corpus with a grid of options; an interrupted run can be resumed.",
    "status": "Show the progress of a run.",
    "merge": "Merge the shards of a run, or write its rows.",
    "report": "Show rows as one page, topic by topic, with chosen and missed content.",
    "score": "Score systems with ROUGE, and correlate their scores with human ones.",
    "align": "Make covers from texts: align references with source sentences.",
    "study": "Run a paper's experiment on your data, and print its tables.",
    "parse": "Parse the sentences of topics with spaCy, for compressions.",
    "chunks": "Show how parsed sentences are cut into chunks.",
    "config": "Show the options that a run would use, or the schema of a file of options.",
    "export": "Write the instances as files for other solvers.",
    "import-solution": "Read the solutions of other solvers for exported instances.",
    "warm-up": "Compile kernels in advance, for container images and clusters.",
    "list": "List strategies, formulations, backends, metrics or presets.",
}

_MODULES: Final = {"align": "texts", "parse": "texts", "chunks": "texts", "study": "study"}
"""The modules of the commands that are not in `optsum.cli.commands`, because they load more."""


class _Group(TyperGroup):
    """A group that loads a command only when it is run, so that help is quick, and shows full descriptions."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, " ".join((each.help or "").split())) for name, each in commands if each and not each.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # while a command is loaded; typer would print nothing
            return tell("interrupted", INTERRUPTED)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else self.load(name), rest

    def load(self, name: str) -> Any:
        """Return a command: the function ``run_NAME`` in its module, or a group of the `SUBCOMMANDS` of that module."""
        about = _COMMANDS[name]
        module = import_module(f"optsum.cli.{_MODULES.get(name, 'commands')}")
        run = getattr(module, f"run_{name.replace('-', '_')}", None)
        if run is None:
            return _subgroup(name, module, f"{about}\n\n{_more(module.subcommand)}")
        return _single(name, command(run), f"{about}\n\n{_more(run)}")


def _more(function: Any) -> str:
    return (inspect.getdoc(function) or "").partition("\n\n")[2]


def _single(name: str, function: Any, help_: str) -> Any:
    app = _typer()
    app.command(name, help=help_, cls=GroupedCommand)(function)
    return typer.main.get_command(app)


def _subgroup(name: str, module: Any, help_: str) -> Any:
    """Return a command with subcommands: `SUBCOMMANDS` lists them, and `subcommand` returns the function of each."""

    class Subcommands(_Group):
        def load(self, name: str) -> Any:
            return _single(name, *module.subcommand(name))

    app = _typer(cls=Subcommands, help=help_, name=name, invoke_without_command=True)
    app.callback()(_show_help)
    for each, about in module.SUBCOMMANDS.items():
        app.command(each, help=about)(_stub)
    return typer.main.get_command(app)


def _typer(*, completion: bool = False, **settings: Any) -> typer.Typer:
    # Plain help, because importing rich takes longer than everything else together.
    return typer.Typer(
        add_completion=completion,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"optsum {__version__}")
        raise typer.Exit


def _top(
    ctx: typer.Context,
    version: Annotated[bool, Option("--version", callback=_version, is_eager=True, help="show the version")] = False,
    debug: Debug = False,
) -> None:
    del version, debug  # their callbacks handle them
    _show_help(ctx)


def _app() -> Any:
    app = _typer(
        completion=True,
        cls=_Group,
        invoke_without_command=True,
        help="Exact oracle summaries: the best possible summaries of a text.",
        epilog="Exit status: 0; 1 if a topic failed; 2 for options or files that cannot be used; "
        "130 after Ctrl-C, 143 after SIGTERM.",
    )
    app.callback()(_top)
    group: Any = typer.main.get_command(app)
    for name, about in _COMMANDS.items():
        group.add_command(TyperCommand(name, help=about))
    return group


def _show_help(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def _stub() -> None:
    """Stand for a subcommand in the help of its group, until that is loaded."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run optsum and return the exit status; without `arguments`, take those of the process, and end the process."""
    if hasattr(sys.stdout, "reconfigure"):
        with suppress(OSError):  # a solver in another thread may have replaced it
            sys.stdout.reconfigure(errors="replace")  # characters that the console lacks are replaced
    threads = {name: os.environ.get(name, value) for name, value in ONE_THREAD.items()}
    with environment({**SPEAKS_OF_FLAGS, **threads}), Signals(last=arguments is None) as signals:
        try:
            status = _run(arguments)
        except KeyboardInterrupt:  # before or after the command's own handling
            status = tell("interrupted", INTERRUPTED)
        status = signals.status(status)
    if arguments is None and sys.getprofile() is None:  # a profiler reports at Python's normal end
        leave(status)
    return status


def _run(arguments: Sequence[str] | None) -> int:
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: tell(f"warning: {message}", DONE)  # type: ignore[assignment]
            status = _app().main(None if arguments is None else list(arguments), "optsum", standalone_mode=False)
    except Exception as error:  # noqa: BLE001 - typer's errors have no class that all versions share
        if hasattr(error, "format_message"):
            path = getattr(getattr(error, "ctx", None), "command_path", "optsum")
            ours = our_name(str(getattr(error, "option_name", ""))) or _wrong_value(error) or _misspelt(error)
            reason = error.format_message().rstrip(".") if ours is None else ours
            return tell(f"{reason} (see {path} --help)", UNUSABLE)
        return tell(describe(error), FAILED)
    except SystemExit as error:  # raised by third-party code, or by shell completion
        if "_OPTSUM_COMPLETE" in os.environ:
            raise
        return tell(describe(error), FAILED)
    return status if isinstance(status, int) else DONE


def _misspelt(error: Any) -> str | None:
    about, message = getattr(getattr(error, "param", None), "help", None), error.format_message().rstrip(".")
    if about and message.startswith("Missing argument"):
        return f"{message}: {about}"
    if message.startswith("Got unexpected extra argument"):
        return (
            f"{message}: quote a path that contains blanks, join several values of a flag with commas, and put the "
            "lines of several files into one"
        )
    ctx, name = getattr(error, "ctx", None), getattr(error, "option_name", None)
    if ctx is None or name is None:
        return None
    flags = [flag for param in ctx.command.get_params(ctx) for flag in param.opts if flag.startswith("--")]
    near = get_close_matches(name.replace("_", "-"), flags, n=1)
    return f"there is no option {name!r}; did you mean {near[0]}?" if near else None


def _wrong_value(error: Any) -> str | None:
    """Return a message for a flag with a wrong number, instead of pydantic's; None for other errors."""
    faults, flags = getattr(error.__cause__, "errors", None), getattr(getattr(error, "param", None), "opts", None)
    if faults is None or not flags:
        return None
    first = faults()[0]
    least = first.get("ctx", {}).get("ge")
    kind = "a number" if first["type"].startswith("float") else "a whole number"
    wanted = kind if least is None else f"{kind} of at least {least}"
    return f"The option {flags[0]} cannot be {first['input']!r:.80}: give {wanted}"
