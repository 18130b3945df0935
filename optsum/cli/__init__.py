"""The command line: parse, call the library, say how it went."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence

_BETWEEN = 250_000
"""Objects that are made before Python looks for garbage; with its own 700 that takes 4 % of the processor's time while
170,000 objects are loaded that all stay."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run optsum, and return the exit status, as `optsum.cli.app.main`; signals are heard from the first import on."""
    terminated = False

    def hear(*_: object) -> None:
        nonlocal terminated
        terminated = True
        raise KeyboardInterrupt

    if arguments is None:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, hear)
        gc.set_threshold(_BETWEEN, 10, 10)
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would ask every package installed for some
    try:
        from optsum.cli.app import main as run

        return run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("optsum: interrupted\n")
        status = 143 if terminated else 130
        if arguments is None:  # Python would end itself by the signal where it came amid a text that was executed
            sys.stderr.flush()
            os._exit(status)
        return status
