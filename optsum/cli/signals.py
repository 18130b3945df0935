"""Define exit statuses of commands, print the line on standard error that explains one, and handle signals.

Ctrl-C and SIGTERM both end a command with the rows done so far, and never in the middle of writing one.
`optsum.running.search` keeps the best selection of the search that they end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self, TypeVar

from optsum.errors import OptsumError, describe, visible
from optsum.report.messages import is_quiet, note
from optsum.system.processes.signal_guard import is_postponed, send_again

DONE: Final = 0
FAILED: Final = 1  # A topic became an error row, or something unexpected happened.
UNUSABLE: Final = 2  # Options or files that cannot be used.
INTERRUPTED: Final = 130  # Ctrl-C; after SIGTERM `Signals.status` makes 143 of it.
BROKEN_PIPE: Final = 141  # The reader of standard output has ended, as ``head`` does.


def tell(message: object, status: int) -> int:
    """Print one line on standard error, and return the status; with --quiet, print it only for a failure."""
    line = " ".join(str(message).split())
    note(line, failed=status != DONE)
    if sys.stderr is not None and not (status == DONE and is_quiet()):
        print("optsum:", visible(line), file=sys.stderr, flush=True)  # noqa: T201
    return status


def failed(what: str, errors: int, first: str) -> int:
    return tell(f"{what}; {'the first: ' if errors > 1 else ''}{first}", FAILED)


def put(text: str = "") -> None:
    print(visible(text, keep="\n"))  # noqa: T201


def guarded(command: Callable[[], int]) -> int:
    """Run a command and return its status; an error prints one line, and never a traceback."""
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
    except BaseException as error:  # noqa: BLE001 - any error becomes one line instead of a traceback
        return tell(describe(error), FAILED)
    return status


def _discard_output() -> None:
    # Standard output may be no real file.
    with suppress(OSError, ValueError, AttributeError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


_HEARD: Final = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """A context in which Ctrl-C and SIGTERM call `hear`; an enclosing context also records the signal's number.

    `last`: whether the process ends afterwards. Later signals are then ignored, because Python would print a traceback
    for them.
    """

    number: int | None  # The number of the last signal, if any came.

    def __init__(self, *, last: bool = False) -> None:
        self._last = last
        self.number = None
        self._before: dict[int, Any] = {}
        self._report = sys.unraisablehook

    def hear(self) -> None:
        raise KeyboardInterrupt

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in _HEARD}
            self._report, sys.unraisablehook = sys.unraisablehook, self._lost
        return self

    def __exit__(self, *_: object) -> None:
        before, self._before = self._before, {}
        if before:
            sys.unraisablehook = self._report
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if self._last else handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if is_postponed(number, frame):
            return
        outer = getattr(self._before.get(number), "__self__", None)
        if isinstance(outer, Signals):
            outer.number = number
        self.number = number
        if self._before:  # otherwise the context is being left
            self.hear()

    def _lost(self, unraisable: Any) -> None:
        """Send a signal again whose exception was lost, because it came while Python deleted a generator."""
        if unraisable.exc_type is KeyboardInterrupt and self.number is not None:
            send_again(self.number)
        else:
            self._report(unraisable)

    def status(self, status: int) -> int:
        """Return a command's exit status; after an interruption, 130 for Ctrl-C or 143 for SIGTERM."""
        return status if status != INTERRUPTED or self.number is None else 128 + self.number


T = TypeVar("T")


class Interrupts(Signals):
    """A context in which Ctrl-C ends an iteration, but never while the caller handles an item."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = self._raised = self._iterating = False

    def hear(self) -> None:
        self._seen = True
        if self._iterating:
            self._raised = True
            raise KeyboardInterrupt

    def iterate(self, source: Generator[T, None, None], *, parallel: bool) -> Generator[T, None, None]:
        """Yield from a generator; Ctrl-C raises KeyboardInterrupt in it, only once if worker processes do the work."""
        with self:
            while True:
                try:  # in this process it is repeated: a solver that is just ending may lose it
                    self._iterating = True
                    if self._seen and not (parallel and self._raised):
                        self._raised = True
                        item = source.throw(KeyboardInterrupt())
                    else:
                        item = next(source)
                except StopIteration:
                    return
                finally:
                    self._iterating = False
                yield item
