"""A file of options is TOML with the names of the flags, without the dashes; --config FILE reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from optsum.cli.exits import DONE, put
from optsum.cli.flags import Config, Flags, command
from optsum.options.files.toml import toml_of
from optsum.options.options import Options, resolve

SUBCOMMANDS: Final = {
    "show": "Print the options that a search would have, as a file that reads back to the same.",
    "schema": "Print the JSON schema of a file of options.",
}


def subcommand(name: str) -> tuple[Callable[..., int], str]:
    """Return what typer runs for a name, and its help."""
    if name == "show":
        return command(_show, Flags(Options)), f"{SUBCOMMANDS[name]}\n\n{_show.__doc__}"
    return command(_schema, None), f"{SUBCOMMANDS[name]}\n\n{_schema.__doc__}"


def _show(options: dict[str, Any], config: Config = None) -> int:
    """Defaults, preset, file and flags are merged as for optsum solve; what is impossible is refused."""
    from optsum.options.files.schema import described

    resolved = resolve(options, config=config)
    fields = type(resolved).model_fields
    put(toml_of(described(resolved), {name: fields[name].description or "" for name in fields}).rstrip("\n"))
    return DONE


def _schema() -> int:
    """Editors check a file against it; names may have underscores for hyphens."""
    from optsum.options.files.schema import schema

    put(json.dumps(schema(), indent=2, ensure_ascii=False))
    return DONE
