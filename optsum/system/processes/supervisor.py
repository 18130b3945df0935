"""Run one program in its own process group, and end the group in time: a script, started by `supervised`.

It imports nothing of optsum and little of Python, because it is started for every solve. Its standard input is a pipe
without data: when the other end closes, the parent is gone, or wants this process to end.

    supervisor.py SECONDS FOLDER INPUT OUTPUT PROGRAM [ARGUMENT ...]

SECONDS ("inf" for no limit) is the time limit of the program, and FOLDER is removed if this process outlives its
parent. One line is written at the end: "ended" or "killed", and the exit status.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time

_LARGEST = 1 << 30  # Bytes of the largest file that the program may write: one that goes on is ended by a signal.
_TO_GO_S = 1.0  # Seconds between SIGTERM and SIGKILL.


def main(arguments: list[str]) -> None:
    seconds, folder, source, output, *command = arguments
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the pipe alone says when to end
        signal.signal(ignored, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    most = _LARGEST if hard == resource.RLIM_INFINITY else min(hard, _LARGEST)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setpgroup=0,
        setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE],
    )
    status = _wait(child, wake, float(seconds))
    killed = status is None
    if status is None:
        _signal(child, signal.SIGTERM)
        status = _wait(child, wake, _TO_GO_S, deaf=True)
    _signal(child, signal.SIGKILL)  # what it left behind, too
    if status is None:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        os.write(1, f"{'killed' if killed else 'ended'} {status}\n".encode())
    except BrokenPipeError:
        from shutil import rmtree

        rmtree(folder, ignore_errors=True)


def _wait(child: int, wake: int, seconds: float, *, deaf: bool = False) -> int | None:
    """Return the exit status; None if the time is over, or the other end of the standard input was closed."""
    until = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        left = until - time.monotonic()
        if left <= 0:
            return None
        heard = [wake] if deaf else [wake, 0]
        ready, _, _ = select.select(heard, [], [], None if left == float("inf") else left)
        if 0 in ready:
            return None
        if wake in ready:
            os.read(wake, 64)


def _signal(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # nobody is left; macOS says so by the second
        return


if __name__ == "__main__":
    main(sys.argv[1:])
