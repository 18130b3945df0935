"""Run programs with a time limit; all their processes end in time, and when this process ends, however it ends."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from optsum.system.processes import supervisor

TO_GO_S: Final = 3.0  # Seconds that a supervisor gets to end its program before it is killed.
OUTPUT: Final = "supervised.out"  # Name of the file with a program's output and error output.


def find_program(name: str) -> str | None:
    """Return the path of a program, given by its name on the PATH or by an absolute path; None if there is none.

    Unlike `shutil.which`, it ignores relative entries of the PATH (empty or "."), which mean the current folder.
    """
    if Path(name).name != name:
        return shutil.which(name) if Path(name).is_absolute() else None
    folders = filter(Path.is_absolute, map(Path, os.environ.get("PATH", os.defpath).split(os.pathsep)))
    return next(filter(shutil.which, (str(folder / name) for folder in folders)), None)


def read_whole(path: Path, most: int) -> bytes:
    """Return the bytes of a file that a program has written; if there are over `most`, only its beginning and end."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123 - of a descriptor
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise OSError(f"{path.name} is no plain file")
        if state.st_size <= most:
            return file.read(most)
        first = file.read(most // 4)
        file.seek(state.st_size - (most - most // 4))
        return first + b"\n" + file.read(most - most // 4)


GRACE_S: Final = 0.8  # Seconds beyond its time limit that a process gets to report its findings before it is killed.


class Overran(Exception):  # noqa: N818 - a signal to its caller, never an error
    """Raised if the time limit passed before there was an answer; the message describes it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome of a program."""

    status: int  # Its exit status; minus the number of the signal that ended it.
    output: str  # Its output and error output.
    killed: bool  # Whether it had to be ended, because its time was over.


def run_supervised(
    command: Sequence[str],
    folder: Path,
    *,
    seconds: float | None = None,
    given: str = "",
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run a program under a supervisor, a process that can outlive this one.

    The program and its children form a process group, which is ended (by SIGTERM, and by SIGKILL a second later) when
    its time is over, when an exception (Ctrl-C) ends this call, and when this process dies.

    `folder`: holds its input and output; the supervisor removes it if this process dies. `given`: its standard input.
    """
    source, output = folder / "supervised.in", folder / OUTPUT
    source.write_text(given, encoding="utf-8")
    arguments = [str("inf" if seconds is None else seconds), str(folder), str(source), str(output), *command]
    # -I -S: it imports only Python's own modules. A new session: no signal to our terminal or group ends it.
    process = subprocess.Popen(  # noqa: S603 - a solver that was found on the PATH
        [sys.executable, "-I", "-S", supervisor.__file__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=None if environment is None else dict(environment),
    )
    try:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        answer = process.stdout.readline().decode().split()
    finally:
        _dismiss(process)
    if len(answer) != 2:
        raise OSError(f"{command[0]} cannot be started")
    try:
        said = read_whole(output, 8_000_000).decode("utf-8", "replace")  # of longer output mostly the end is kept
    except OSError:  # the program has replaced the file
        said = ""
    return Ended(status=int(answer[1]), output=said, killed=answer[0] == "killed")


def ask(command: Sequence[str], seconds: float = 10.0) -> str | None:
    """Run a program that prints something (its version), and return its output; None if it fails to start or to end."""
    with TemporaryDirectory(prefix="optsum-", ignore_cleanup_errors=True) as folder:
        try:
            ended = run_supervised(command, Path(folder), seconds=seconds)
        except OSError:
            return None
    return None if ended.killed else ended.output


def _dismiss(process: subprocess.Popen[bytes]) -> None:
    """Make a supervisor end, with its program if that still runs; kill it if it does not."""
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(TO_GO_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    finally:
        process.stdout.close()
