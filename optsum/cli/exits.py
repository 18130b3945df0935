"""Exit statuses, and the one line on the standard error output that goes with those that are not 0."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from optsum.errors import OptsumError, describe, visible
from optsum.report.messages import is_quiet, note

DONE: Final = 0
FAILED: Final = 1  # A topic became an error row, or something unexpected happened.
UNUSABLE: Final = 2  # Options or files that cannot be used.
INTERRUPTED: Final = 130  # Ctrl-C; after SIGTERM `Signals.status` makes 143 of it.
BROKEN_PIPE: Final = 141  # Who read the standard output has left, as ``head`` does.


def tell(message: object, status: int) -> int:
    """Print one line on the standard error output, and return the status; with --quiet only what failed."""
    line = " ".join(str(message).split())
    note(line, failed=status != DONE)
    if sys.stderr is not None and not (status == DONE and is_quiet()):
        print("optsum:", visible(line), file=sys.stderr, flush=True)  # noqa: T201
    return status


def put(text: str = "") -> None:
    """Print lines on the standard output."""
    print(visible(text, keep="\n"))  # noqa: T201


def guarded(command: Callable[[], int]) -> int:
    """Run a command; whatever happens, answer with a status and at most one line, never with a traceback."""
    try:
        status = command()
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return tell("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except OptsumError as error:
        if isinstance(error.__cause__, OSError):
            _discard_output()
        return tell(describe(error), UNUSABLE)
    except OSError as error:
        _discard_output()
        describe(error)
        where = f" {error.filename}" if error.filename else ""
        return tell(f"a file or the output{where} cannot be used: {error.strerror or error}", UNUSABLE)
    except BaseException as error:  # noqa: BLE001 - nobody wants a traceback who did not ask for it, or no word at all
        return tell(describe(error), FAILED)
    return status


def _discard_output() -> None:
    # It may be no real file.
    with suppress(OSError, ValueError, AttributeError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
