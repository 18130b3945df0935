"""Run one program in its own process group, and end the group in time; a script that `supervised` starts.

It imports nothing of optsum and little of Python, because it is started for every solve. Its standard input is a pipe
without data: when the other end is closed, the parent has died, or wants this process to end.

    supervisor.py SECONDS FOLDER INPUT OUTPUT PROGRAM [ARGUMENT ...]

SECONDS is the time limit of the program ("inf" for none), INPUT and OUTPUT are files for its standard streams, and
FOLDER is removed if this process outlives its parent. At the end it prints "ended" or "killed", and the exit status.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time

_LARGEST = 1 << 30  # Bytes of the largest file that the program may write; the system ends it when it writes more.
_TO_GO_S = 1.0  # Seconds between SIGTERM and SIGKILL.


def main(arguments: list[str]) -> None:
    seconds, folder, source, output, *command = arguments
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # only the pipe ends this process early
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
    _signal(child, signal.SIGKILL)  # also processes that it left behind
    if status is None:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        os.write(1, f"{'killed' if killed else 'ended'} {status}\n".encode())
    except BrokenPipeError:
        from shutil import rmtree

        rmtree(folder, ignore_errors=True)


def _wait(child: int, wake: int, seconds: float, *, deaf: bool = False) -> int | None:
    """Return the exit status of the program; None if time is over, or, unless `deaf`, standard input was closed."""
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
    except (ProcessLookupError, PermissionError):  # no process is left; macOS then raises the second
        return


if __name__ == "__main__":
    main(sys.argv[1:])
