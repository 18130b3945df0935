"""Open and decode files, parse TOML, lock files for one writer, and explain why a file cannot be read."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import stat
import sys
import tomllib
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader, RawIOBase
from lzma import LZMAError
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias, TypeVar, cast
from zipfile import BadZipFile, ZipFile

from optsum.errors import InputError, OptsumError

PathLike: TypeAlias = str | os.PathLike[str]
READ_ERRORS: Final = (OSError, EOFError, ValueError, zlib.error, LZMAError)
"""All exceptions of opening and reading a file, compressed or not."""

NPZ_ERRORS: Final = (*READ_ERRORS, BadZipFile, LookupError, MemoryError, OverflowError, RuntimeError)
"""All exceptions of numpy for a damaged npz file."""

_DEEPEST = 64  # Most levels of nested lists and objects.
_LARGEST = 1 << 29  # Bytes of the largest text file, unpacked.
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BZIP2 = b"BZh"
_XZ = b"\xfd7zXZ\0"
_ZIP = b"PK\x03\x04"
_NO_FILE = b"PK\x05\x06"  # Begins a zip archive without files.
_POINTER = b"version https://git-lfs.github.com/"
_OTHERS = {b"7z\xbc\xaf": "7z", b"Rar!": "rar"}
PACKED: Final = (_GZIP, _ZSTD, _BZIP2, _XZ, _ZIP, *_OTHERS)  # First bytes of archives and compressed files.
_LEFT_BY_SYSTEMS: Final = frozenset({"thumbs.db", "desktop.ini", "__macosx", "_success"})


def is_meant(name: str) -> bool:
    """Return whether a file or folder was made on purpose: not hidden, no backup, not left by an operating system."""
    backup = name.endswith("~") or (name[:1] == name[-1:] == "#")
    return not (backup or name.startswith(".") or name.casefold() in _LEFT_BY_SYSTEMS)


def as_path(given: Any, what: str) -> Path:
    """Return a path; raise an `InputError` for anything else, because `open` takes a number for an open file."""
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"{what} is {given!r:.60}: give its path, as a text or as a pathlib.Path.")
    return Path(given)


def name_of(path: PathLike) -> str:
    """Return the name of a file for messages; ``-`` is the standard input."""
    return "<stdin>" if path == "-" else os.fspath(path)


def open_bytes(path: PathLike, stack: ExitStack) -> BufferedReader:
    """Open a file, or the only file of a zip or tar archive, decompressed; `stack` closes it.

    The first bytes tell the format, not the name. Other archives, Git LFS pointers and UTF-16 or UTF-32 are refused.
    """
    if path != "-":
        opened: BufferedReader = stack.enter_context(open(path, "rb"))  # noqa: PTH123, SIM115 (the stack closes it)
    elif sys.stdin is None or not hasattr(sys.stdin, "buffer"):
        raise OSError("there is no standard input")
    elif isinstance(sys.stdin.buffer, BufferedReader):
        opened = sys.stdin.buffer
    else:
        opened = BufferedReader(cast("RawIOBase", sys.stdin.buffer))
        stack.callback(opened.detach)
    stream = _unpacked(opened, stack)
    begin = _begin(stream)
    if begin[_TAR_AT:].startswith(_TAR):
        stream = stack.enter_context(BufferedReader(cast("RawIOBase", _of_tar(path, stack))))
        begin = _begin(stream)
    if stream is not opened and begin.startswith(PACKED):
        raise OSError("it is an archive in an archive; unpack the outer one")
    if begin.startswith(_POINTER):
        raise OSError("it is a Git LFS pointer instead of the file; fetch the file by git lfs pull")
    if begin.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or any(
        len(half) > 1 and not half.strip(b"\0") for half in (begin[:8:2], begin[1:8:2])
    ):
        raise OSError("it is not UTF-8 but looks like UTF-16 or UTF-32; save it as UTF-8")
    return stream


def _begin(stream: BufferedReader) -> bytes:
    """Return the first bytes without consuming them; empty for a damaged file, which its reader reports."""
    try:
        return stream.peek(_TAR_AT + len(_TAR))
    except READ_ERRORS:
        return b""


def _unpacked(stream: BufferedReader, stack: ExitStack) -> BufferedReader:
    begin = stream.peek(len(_XZ))
    if begin.startswith((_ZIP, _NO_FILE)):
        return stack.enter_context(BufferedReader(cast("RawIOBase", _of_zip(stream, stack))))
    if (other := _OTHERS.get(begin[:4])) is not None:
        raise OSError(f"it is compressed by {other}, which optsum does not support; unpack it first")
    if begin.startswith(_GZIP):
        unpacked: Any = gzip.GzipFile(fileobj=stream)
    elif begin.startswith(_BZIP2) and begin[3:4].isdigit():
        unpacked = bz2.BZ2File(stream)
    elif begin.startswith(_XZ):
        unpacked = lzma.LZMAFile(stream)  # noqa: SIM115
    elif begin.startswith(_ZSTD):
        unpacked = _Unpacked(stream)
    else:
        return stream
    return stack.enter_context(BufferedReader(cast("RawIOBase", stack.enter_context(unpacked))))


_TAR_AT: Final = 257
_TAR: Final = b"ustar"


def _of_zip(stream: BufferedReader, stack: ExitStack) -> Any:
    if not stream.seekable():
        raise OSError("a zip archive cannot be read from a pipe; unpack it")
    try:
        archive = stack.enter_context(ZipFile(stream))
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if "[Content_Types].xml" in names:
            raise OSError("it is a document of an office program; save it as CSV")
        return stack.enter_context(archive.open(_only(names)))
    except (BadZipFile, RuntimeError) as error:
        raise OSError(f"it is a zip archive that cannot be unpacked ({error}); unpack it by other means") from error


def _of_tar(path: PathLike, stack: ExitStack) -> Any:
    import tarfile

    if path == "-":
        raise OSError("a tar archive cannot be read from a pipe; unpack it")
    try:
        archive = stack.enter_context(tarfile.open(path))  # noqa: SIM115
        found = archive.extractfile(_only([member.name for member in archive if member.isfile()]))
    except tarfile.TarError as error:
        raise OSError(f"it is a tar archive that cannot be unpacked ({error}); unpack it by other means") from error
    return stack.enter_context(cast("Any", found))


def _only(names: list[str]) -> str:
    """Return the name of the only file of an archive, ignoring hidden files and files that operating systems add."""
    meant = [name for name in names if all(is_meant(part) for part in name.split("/") if part != ".")]
    if len(meant) != 1:
        listed = f" ({', '.join(meant[:3])}{', ...' if len(meant) > 3 else ''})" if meant else ""
        raise OSError(f"it is an archive of {len(meant)} files{listed}; unpack it, and give a file or its folder")
    return meant[0]


def begin_of(path: PathLike, size: int) -> bytes | None:
    """Return the first `size` bytes of a file, decompressed; None if it is unreadable."""
    try:
        with ExitStack() as stack:
            return open_bytes(path, stack).read(size)
    except READ_ERRORS:
        return None


class _Unpacked(RawIOBase):
    """The decompressed content of a zstandard file; damage raises an `OSError`."""

    def __init__(self, stream: BufferedReader) -> None:
        try:
            import zstandard
        except ImportError:
            raise OSError(
                "it is compressed by zstandard, which needs a package: pip install 'optsum[report]'"
            ) from None
        self._error = zstandard.ZstdError
        self._reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True, closefd=False)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self._reader.readinto(buffer))
        except self._error as error:
            raise OSError(f"zstandard says: {error}") from error


def read_text(path: PathLike, what: str, *, error: type[OptsumError] = InputError) -> str:
    """Return the text of a UTF-8 file, plain or compressed, without a byte order mark; `what`: its name in messages."""
    name = f"{what} {name_of(path)}".lstrip()
    try:
        with ExitStack() as stack:
            held = open_bytes(path, stack).read(_LARGEST + 1)
        if len(held) > _LARGEST:
            raise error(f"{name} holds more than {_LARGEST >> 20} MiB, unpacked; give only the part that is needed")
        return held.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        raise error(f"{name} is not UTF-8 ({reason.reason} at byte {reason.start + 1}); save it as UTF-8") from reason
    except READ_ERRORS as reason:
        raise error(f"{name} cannot be read: {describe_os_error(reason)}") from reason


def parse_toml(text: str, what: str, *, error: type[OptsumError] = InputError) -> dict[str, Any]:
    try:
        table = tomllib.loads(text)
    except ValueError as reason:  # a TOML error, or a number with thousands of digits
        raise error(f"{what} is not TOML: {reason}") from reason
    except RecursionError:
        table = None
    if table is None or is_deep(table):
        raise error(f"{what} is nested too deeply; give values, lists and few levels of tables")
    return table


def is_deep(value: object) -> bool:
    """Return whether lists and objects are nested in more than `_DEEPEST` levels."""
    level = [value]
    for _ in range(_DEEPEST):
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list | tuple):
                inner += each
        if not inner:
            return False
        level = inner
    return True


def describe_os_error(error: Exception) -> str:
    """Return why a file cannot be used, without error number and path."""
    match error:
        case FileNotFoundError():
            return "there is no such file or folder; check the path"
        case IsADirectoryError():
            return "it is a folder; give a file"
        case PermissionError():
            return "you have no permission; check the owner and mode"
    reason = error.strerror if isinstance(error, OSError) else None
    return (reason or str(error) or type(error).__name__).rstrip(".")


def stamp(path: PathLike) -> tuple[object, ...] | None:
    """Return a value that changes when a file, folder, or one of files joined by commas is written; None for ``-``."""
    if path == "-":
        return None
    found: list[object] = []
    for name in [path] if Path(path).exists() else os.fspath(path).split(","):
        try:
            for each in [Path(name), *(sorted(Path(name).rglob("*")) if Path(name).is_dir() else ())]:
                held = each.stat()
                if stat.S_ISREG(held.st_mode):
                    found += [str(each), held.st_ino, held.st_size, held.st_mtime_ns, held.st_ctime_ns]
        except (OSError, ValueError):
            found.append(None)
    return tuple(found)


_memories: Final[list[Any]] = []
_seen: Final[dict[str, object]] = {}
"""Path -> a value that changes when the file is written; module and name of a metric -> the class that was given."""
M = TypeVar("M")


def of_files(memory: M) -> M:
    """Register a cache (`lru_cache`) that depends on files or classes, so that `forget` empties it."""
    _memories.append(memory)
    return memory


def forget_changed(paths: Iterable[str]) -> None:
    """Empty the caches of file contents if a file or folder has been written or removed since the last call."""
    for path in paths:
        try:
            held = Path(path).stat()
        except (OSError, ValueError):  # no file; reading it raises the error
            if _seen.pop(path, None) is not None:
                forget()
            continue
        if not stat.S_ISREG(held.st_mode) and not stat.S_ISDIR(held.st_mode):
            continue  # a pipe, which can be read once
        forget_former(path, (held.st_dev, held.st_ino, held.st_size, held.st_mtime_ns, held.st_ctime_ns))


def forget_former(name: str, now: object) -> None:
    """Empty the caches if a name stood for another file or class before, as when a cell of a notebook runs again."""
    if _seen.setdefault(name, now) != now:
        _seen[name] = now
        forget()


def forget() -> None:
    for memory in _memories:
        memory.cache_clear()


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """Provide the path of a new file that replaces `path`, completely or not at all, when the block succeeds.

    The new file has an unpredictable name in the same folder, and the mode of the old one. A link is refused.
    """
    target = Path(path)
    if is_stream(target):  # a pipe or a device cannot be replaced
        with TemporaryDirectory() as folder:
            whole = Path(folder, target.name)
            whole.touch()
            yield whole
            with open(whole, "rb") as source, open(open_stream(target), "wb") as stream:  # noqa: PTH123
                copyfileobj(source, stream)
        return
    check_no_link(target)
    new = target.with_name(f".{token_hex(8)}{target.suffix}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        with suppress(OSError):  # there is no old file, or its mode cannot be set
            new.chmod(stat.S_IMODE(target.stat().st_mode))
        yield new
        os.fsync(descriptor)
        os.close(descriptor)
        descriptor = -1
        new.replace(target)
    finally:
        if descriptor >= 0:
            os.close(descriptor)
        with suppress(OSError):
            new.unlink()


def check_no_link(path: Path) -> None:
    if path.is_symlink():
        raise OSError(errno.ELOOP, f"it is a symbolic link to {path.readlink()}; name that file, or remove the link")


def is_stream(path: Path) -> bool:
    """Return whether a path is a device, a pipe, or an open file of this process, such as /dev/stdout."""
    if path.parent.as_posix() in _STREAMS:
        return True
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


_STREAMS: Final = {"/dev", "/dev/fd", "/proc/self/fd"}


def open_stream(path: Path) -> int:
    """Open a device, a pipe, or an open file of this process for writing.

    An open file is duplicated, so that all writers share its position; opened by name, it would be overwritten.
    """
    number = {"/dev/stdout": "1", "/dev/stderr": "2"}.get(path.as_posix(), path.name)
    if path.parent.as_posix() in _STREAMS and number.isdecimal():
        return os.dup(int(number))
    return os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))


def open_own(path: Path) -> int:
    """Open a file for appending, or create it; refuse links, files with another hard link, pipes, devices, folders."""
    check_no_link(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags, 0o666)
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EEXIST, f"{path} is not a regular file, or has another hard link; remove it")


_FAR = 1 << 40  # Place of the byte that Windows locks: beyond all rows, because a locked byte is unreadable.


def lock(descriptor: int, path: PathLike) -> bool:
    """Lock an open file until it is closed; return False if another process has locked it, or `path` is not this file.

    `path` is another file if a run that has just ended replaced it. A file system without locks counts as success.
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
            # Not lockf, whose lock is lost when any other descriptor of the file is closed, as after reading it.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}:
                return False
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), Path(path).stat())
    return False
