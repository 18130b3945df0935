"""Commands about what is installed and which options apply: list, config and warm-up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import import_module
from time import perf_counter
from typing import Annotated, Any, Final

import typer

from optsum.cli.exits import DONE, put
from optsum.cli.flags import LISTED, Config, Flags, command, named, offered
from optsum.errors import OptionError, unknown_name
from optsum.options.options import Options, described, resolve, schema
from optsum.options.values import toml_of
from optsum.registry import CERTIFICATE, DEFAULT_STRATEGY, STRATEGIES
from optsum.report.messages import bar

SUBCOMMANDS: Final = {
    "show": "Print the options that a search would use, as a file of options.",
    "schema": "Print the JSON schema of a file of options.",
}


def subcommand(name: str) -> tuple[Callable[..., int], str]:
    """Return the function of a subcommand of `optsum config`, and its help.

    A file of options is TOML with the names of the flags, without the dashes; --config FILE reads it.
    """
    runs: dict[str, Callable[..., int]] = {"show": _show, "schema": _schema}
    run = runs[name]
    return command(run), f"{SUBCOMMANDS[name]}\n\n{run.__doc__}"


def _show(options: Annotated[dict[str, Any], Flags(Options)], config: Config = None) -> int:
    """Defaults, preset, file and flags are merged as for optsum solve; invalid combinations are refused."""
    resolved = resolve(options, config=config)
    fields = type(resolved).model_fields
    put(toml_of(described(resolved), {name: fields[name].description or "" for name in fields}).rstrip("\n"))
    return DONE


def _schema() -> int:
    """Editors can check a file of options against it; names may have underscores instead of hyphens."""
    put(json.dumps(schema(), indent=2, ensure_ascii=False))
    return DONE


def run_list(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", autocompletion=offered(LISTED), help=f"{', '.join(LISTED[:-1])} or {LISTED[-1]}"
        ),
    ],
) -> int:
    """List the available strategies, solvers, presets and so on.

    Solvers are tested on a tiny problem, so that "usable" means that they work here.
    """
    from optsum.report.listing import LISTS

    kind = "backends" if kind == "solvers" else kind
    if kind not in LISTS:
        raise unknown_name("list", kind, LISTS)
    LISTS[kind]().show()
    return DONE


def run_warm_up(
    strategy: Annotated[str | None, named("strategies", "strategies that will be used [auto]", "NAME,NAME")] = None,
    all_: Annotated[bool, typer.Option("--all", help="all strategies")] = False,
) -> int:
    """Compile kernels.

    Kernels are compiled when they are first needed, which takes seconds, and cached on disk. This command compiles them
    now.

    The cache is NUMBA_CACHE_DIR if that is set, else beside the sources if that folder is writable, else the user's
    cache folder. Each kind of processor has its own.
    """
    from numba import config

    from optsum.report.tables.table import seconds
    from optsum.system.compiled import compile_at_once
    from optsum.system.parallel_compile import compile_parts

    if strategy is not None and all_:
        raise OptionError("Strategies to warm up are named by --strategy, or all by --all: leave out one of the two.")
    names = list(STRATEGIES.builtin) if all_ else (strategy or DEFAULT_STRATEGY).split(",")
    compile_at_once()
    parts = kernels_of(names)
    with bar("kernels", lambda: len(parts)) as advance:
        began = perf_counter()
        compile_parts(parts, advance)
    where = f"kept in {config.CACHE_DIR}" if config.CACHE_DIR else "cached beside the sources, or in your cache folder"
    put(f"kernels of {', '.join(names)} are ready after {seconds(perf_counter() - began)}; {where}")
    return DONE


def kernels_of(strategies: Iterable[str]) -> list[Callable[[], object]]:
    """Return the functions that load all kernels of some strategies, for all kinds of problems."""
    from optsum.coverage import climb
    from optsum.problem.objective import prepare_text
    from optsum.running.enumerate import prepare_families
    from optsum.system.compiled import collected

    chosen = [STRATEGIES.create(name.strip(), {}) for name in strategies]

    def prepare() -> None:
        prepare_text()
        climb.prepare()
        for strategy in chosen:
            strategy.prepare()
            if not strategy.exact:  # whose bounds the exact ones prove
                import_module(CERTIFICATE).prepare()
            if strategy.enumerates:
                prepare_families()

    return collected(prepare)
