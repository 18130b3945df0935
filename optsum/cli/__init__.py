"""The command line: parse, call the library, say how it went."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

_BETWEEN = 250_000
"""Objects that are made before Python looks for garbage; with its own 700 that takes 4 % of the processor's time while
170,000 objects are loaded that all stay."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run optsum, and return the exit status, as `optsum.cli.app.main`; Ctrl-C is heard from the first import on."""
    if arguments is None:
        gc.set_threshold(_BETWEEN, 10, 10)
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would ask every package installed for some
    try:
        from optsum.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("optsum: interrupted\n")
        if arguments is None:  # Python would end itself by the signal where it came amid a text that was executed
            sys.stderr.flush()
            os._exit(130)
        return 130
    return run(arguments)
