"""Files opened and decoded, and the one sentence that says why a file cannot be read."""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from contextlib import ExitStack
from io import BufferedReader
from typing import IO, Final, TypeAlias, cast

from optsum.errors import InputError, OptsumError

__all__ = ["READ_ERRORS", "PathLike", "describe_os_error", "name_of", "open_bytes", "read_text"]

PathLike: TypeAlias = str | os.PathLike[str]

READ_ERRORS: Final = (OSError, EOFError, ValueError, zlib.error)
"""All that a file, compressed or not, raises while it is opened and read."""

_GZIP = b"\x1f\x8b"


def name_of(path: PathLike) -> str:
    """Return what messages call a file; ``-`` is the standard input."""
    return "<stdin>" if path == "-" else os.fspath(path)


def open_bytes(path: PathLike, stack: ExitStack) -> IO[bytes]:
    """Open a file that `stack` closes, unpacked if it is compressed by gzip, whatever its name says.

    Raises
    ------
    OSError, EOFError, ValueError, zlib.error
        As they come (`READ_ERRORS`).
    """
    if path != "-":
        stream: IO[bytes] = stack.enter_context(open(path, "rb"))  # noqa: PTH123, SIM115 (the stack closes it)
    elif sys.stdin is None or not hasattr(sys.stdin, "buffer"):
        raise OSError("there is no standard input")
    else:
        stream = sys.stdin.buffer
    if isinstance(stream, BufferedReader) and stream.peek(2).startswith(_GZIP):
        return cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=stream)))
    return stream


def read_text(path: PathLike, what: str, *, error: type[OptsumError] = InputError) -> str:
    """Return what a UTF-8 file holds, plain or compressed by gzip, without a byte order mark.

    Parameters
    ----------
    path : str or path
        ``-`` is the standard input.
    what : str
        What the file is, for messages: "the table"; empty for its bare name.
    error : type
        What is raised.

    Raises
    ------
    error
        If the file cannot be read, or is not UTF-8.
    """
    name = f"{what} {name_of(path)}".lstrip()
    try:
        with ExitStack() as stack:
            return open_bytes(path, stack).read().decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        raise error(f"{name} is not UTF-8 ({reason.reason} at byte {reason.start + 1}); save it as UTF-8") from reason
    except READ_ERRORS as reason:
        raise error(f"{name} cannot be read: {describe_os_error(reason)}") from reason


def describe_os_error(error: Exception) -> str:
    """Return why a file cannot be used, without the numbers and the path that Python adds."""
    match error:
        case FileNotFoundError():
            return "there is no such file or folder; check the path"
        case IsADirectoryError():
            return "it is a folder; give a file"
        case PermissionError():
            return "you have no permission; check the owner and mode"
    reason = error.strerror if isinstance(error, OSError) else None
    return (reason or str(error) or type(error).__name__).rstrip(".")
