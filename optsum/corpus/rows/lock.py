"""One writer a file: a lock that ends with the process that holds it."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

from optsum.system.files import PathLike

__all__ = ["lock"]

_FAR = 1 << 40
"""Where Windows locks a byte: beyond all rows, because what it locks nobody else can read."""


def lock(descriptor: int, path: PathLike) -> bool:
    """Lock an open file until it is closed, and return whether that was possible.

    Where a file system has no locks (some network drives), it is taken as locked.

    Parameters
    ----------
    descriptor : int
    path : str or path
        Where it was opened. If another file lies there by now, a run that has just ended put it there, and what is
        open is nobody's any more.
    """
    if sys.platform == "win32":
        import msvcrt

        at = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, at, os.SEEK_SET)
    else:
        import fcntl

        try:
            # Not lockf: that one is given up when any other descriptor of the file is closed, as after reading it.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}:
                return False
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), Path(path).stat())
    return False
