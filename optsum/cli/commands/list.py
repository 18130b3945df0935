"""Solvers are tried on a tiny problem, so that "usable" means that they work here."""

from __future__ import annotations

from typing import Annotated

import typer

from optsum.cli.exits import DONE
from optsum.errors import unknown_name


def run(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="strategies, formulations, backends, metrics or presets")],
) -> int:
    """List what there is."""
    from optsum.report.listing import LISTS

    if kind not in LISTS:
        raise unknown_name("list", kind, LISTS)
    LISTS[kind]().show()
    return DONE
