"""The command line: parse arguments, call the library, report the outcome."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence

_BETWEEN = 250_000
"""Objects between two garbage collections; Python's default of 700 costs 4 % of the processor time of a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run optsum like `optsum.cli.app.main`, but handle signals from the first import on."""
    terminated = False

    def hear(*_: object) -> None:
        nonlocal terminated
        terminated = True
        raise KeyboardInterrupt

    if arguments is None:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, hear)
        gc.set_threshold(_BETWEEN, 10, 10)
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # its search of all installed packages is slow
    try:
        from optsum.cli.app import main as run

        return run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("optsum: interrupted\n")
        status = 143 if terminated else 130
        if arguments is None:  # after exec, Python would end by the signal instead
            sys.stderr.flush()
            os._exit(status)
        return status
