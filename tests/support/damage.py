"""Damage caches of kernels and stores of runs in many ways, and count the damages that optsum recovers from.

    python tests/support/damage.py [caches] [stores]

A cache has recovered if the next process gives the right answer with one warning at most, and the one after it gives no
warning. A store has recovered if `status` reports the damage, and `--resume` gives the rows of an undamaged run.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from typing import TypeAlias

from timeless import timeless

from optsum.corpus.row_files import read_rows

Damage: TypeAlias = Callable[[Path], object]

KERNEL = """
import sys
from optsum.solvers.engine.core import gcd
assert gcd(12, 18) == 6 and gcd(35, 14) == 7
"""

_EACH = f"""
import json, os, signal, sys, traceback
from numba import njit
from numba.core import config
import optsum.coverage.instance, optsum.system.compiled
njit("int64(int64)")(lambda number: number + 1)
assert "optsum.solvers.engine.core" not in sys.modules
for folder, log in json.loads(sys.argv[1]):
    if not (child := os.fork()):
        os.dup2(os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 2)
        signal.alarm(60)
        try:
            config.CACHE_DIR = folder
            exec({KERNEL!r})
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        sys.stderr.flush()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def of_bytes(change: Callable[[bytes], bytes]) -> Damage:
    """Return a damage that replaces the bytes of a file."""

    def damage(file: Path) -> None:
        file.write_bytes(change(file.read_bytes()))

    return damage


def flipped(at: float) -> Damage:
    """Return a damage that flips a bit at the given share of a file."""

    def change(held: bytes) -> bytes:
        place = min(len(held) - 1, int(at * len(held)))
        return held[:place] + bytes([held[place] ^ 0x10]) + held[place + 1 :]

    return of_bytes(change)


def cut(at: float) -> Damage:
    """Return a damage that truncates a file at the given share of its size."""
    return of_bytes(lambda held: held[: int(at * len(held))])


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


FILES: dict[str, Damage] = {
    "empty": of_bytes(lambda _: b""),
    "garbage": of_bytes(lambda held: bytes((7 * at) % 251 for at in range(len(held)))),
    "text": of_bytes(lambda _: b"not a kernel\n"),
    "zeros": of_bytes(lambda held: bytes(len(held))),
    "longer": of_bytes(lambda held: held + held),
    "gone": Path.unlink,
    "pipe": _pipe,
    "folder": _folder,
    "another's": of_bytes(lambda held: held.replace(b"gcd", b"lcm")),
    **{f"cut at {at:.2f}": cut(at) for at in (0.02, 0.6, 0.999)},
    **{f"bit at {at:.2f}": flipped(at) for at in (0.0, 0.05, 0.4, 0.8, 0.97, 1.0)},
}


def run_kernel(kept: Path | str, program: str = KERNEL, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a process that calls a kernel from the cache in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kept), "OPTSUM_PATIENCE": "0"}
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def run_kernels(folders: list[Path]) -> list[subprocess.CompletedProcess[str]]:
    """Call the kernel of each folder's cache in a fork, so that slow imports are made once."""
    logs = [folder.with_suffix(".log") for folder in folders]
    given = json.dumps([[str(folder), str(log)] for folder, log in zip(folders, logs, strict=True)])
    done = run_kernel("", _EACH, given)
    assert done.returncode == 0, done.stderr
    return [
        subprocess.CompletedProcess([], int(status), "", log.read_text())
        for status, log in zip(done.stdout.split(), logs, strict=True)
    ]


def damaged_caches(
    names: list[str] | None = None, kinds: tuple[str, ...] = ("nbi", "nbc"), whole: Path | None = None
) -> Iterator[tuple[str, str]]:
    """Yield a description of each damage of a cache, and the failure; an empty text if the cache has recovered."""
    with TemporaryDirectory() as place:
        if whole is None:
            whole = Path(place) / "whole"
            first = run_kernel(whole)
            assert first.returncode == 0, first.stderr
        tried = [(kind, name) for kind in kinds for name in (FILES if names is None else names)]
        folders = [Path(place) / str(number) for number in range(len(tried))]
        for (kind, name), folder in zip(tried, folders, strict=True):
            copied_cache(whole, folder)
            (file,) = folder.rglob(f"core.gcd*.{kind}")
            FILES[name](file)
        again, after = run_kernels(folders), run_kernels(folders)
        for (kind, name), one, other in zip(tried, again, after, strict=True):
            yield f"{kind} {name}", _wrong(one, 1) or _wrong(other, int(name == "folder"))


def copied_cache(whole: Path, folder: Path) -> Path:
    """Copy a cache to a folder, which is returned."""
    return Path(copytree(whole, folder, copy_function=_copied))


def _copied(source: str, target: str) -> str:
    """Copy the bytes of a file only: the copy has times of its own."""
    held = Path(source).read_bytes()
    Path(target).write_bytes(held)
    return target


def _wrong(done: subprocess.CompletedProcess[str], warnings: int) -> str:
    if done.returncode:
        return f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return f"said {len(said)} lines: {said[:3]}" if len(said) > warnings else ""


# --- stores -------------------------------------------------------------------------------------------------------

TOPIC = {"documents": [["a b", "b c", "a c d", "d"]], "references": [["a b c"], ["c d"]]}


def _statement(text: str) -> Damage:
    def damage(file: Path) -> None:
        with closing(sqlite3.connect(file)) as database, database:
            database.executescript(text)

    return damage


def _page(number: int, change: Callable[[bytes], bytes]) -> Damage:
    """Return a damage that changes one page of 4096 bytes; negative numbers count from the end of the file."""

    def damage(file: Path) -> None:
        held = file.read_bytes()
        pages = [held[at : at + 4096] for at in range(0, len(held), 4096)]
        pages[number] = change(pages[number])
        file.write_bytes(b"".join(pages))

    return damage


def _beside(ending: str, content: bytes) -> Damage:
    return lambda file: file.with_name(file.name + ending).write_bytes(content)


def _in_place_of_log(change: Damage) -> Damage:
    def damage(file: Path) -> None:
        (log := file.with_name(f"{file.name}-wal")).touch()
        change(log)

    return damage


STORES: dict[str, Damage] = {
    **{name: FILES[name] for name in FILES if name not in {"gone", "pipe", "folder", "another's"}},
    **{f"page {number} zeros": _page(number, lambda page: bytes(len(page))) for number in (-7, -3, 1, 3, 7)},
    **{f"page {number} ones": _page(number, lambda page: b"\xff" * len(page)) for number in (-2, 0, 2, 6)},
    **{f"page {number} cut": _page(number, lambda page: page[:1000]) for number in (0, 1, 5, -1)},
    **{f"page {number} text": _page(number, lambda page: (b"x y z " * 700)[: len(page)]) for number in (1, 4)},
    "row no JSON": _statement("UPDATE rows SET row = '{' WHERE topic = 3"),
    "row no JSON, without checksum": _statement("UPDATE rows SET row = '{', sum = NULL WHERE topic = 3"),
    "row of another": _statement("UPDATE rows SET row = (SELECT row FROM rows WHERE topic = 1) WHERE topic = 3"),
    "row with another digit": _statement("UPDATE rows SET row = replace(row, '0.', '1.') WHERE topic = 3"),
    "row of bytes": _statement("UPDATE rows SET row = X'ff00fe' WHERE topic = 3"),
    "another status": _statement("UPDATE rows SET status = 'error' WHERE topic = 3"),
    "topic a text": _statement("UPDATE rows SET topic = 'x' WHERE topic = 3"),
    "facts no JSON": _statement("UPDATE facts SET value = '['"),
    "facts changed": _statement("UPDATE facts SET value = replace(value, 'lead', 'leaf')"),
    "facts lost": _statement("UPDATE facts SET sum = 'x'"),
    **{
        f"fact {name} lost": _statement(f"UPDATE facts SET sum = 'x' WHERE name = '{name}'")  # noqa: S608 - of ours
        for name in ("identity", "inputs", "shard", "details", "topics", "session")
    },
    "row from the end of time": _statement("UPDATE rows SET at = 9e999 WHERE topic = 3"),
    "damaged before": lambda file: (flipped(0.3)(file), file.with_name(f"{file.name}.damaged").mkdir()),
    "log is a pipe": _in_place_of_log(_pipe),
    "log is a folder": _in_place_of_log(_folder),
    "rows a view": _statement("ALTER TABLE rows RENAME TO kept; CREATE VIEW rows AS SELECT * FROM kept"),
    "trigger": _statement("CREATE TRIGGER ours AFTER INSERT ON rows BEGIN DELETE FROM rows; END"),
    "another table's view": _statement("CREATE VIEW other AS SELECT * FROM rows"),
    "no table of rows": _statement("DROP TABLE rows"),
    "no table of facts": _statement("DROP TABLE facts"),
    "log of another": _beside("-wal", bytes(range(256)) * 40),
    "empty log": _beside("-wal", b""),
    "journal of another": _beside("-journal", bytes(range(256)) * 40),
    "old journal": _beside("-journal", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(600)),
}


def damaged_stores(names: list[str] | None = None) -> Iterator[tuple[str, str]]:
    """Yield a description of each damage of a store, and the failure; an empty text if the store has recovered."""
    import optsum

    with TemporaryDirectory() as place:
        topics = Path(place) / "t.jsonl"
        lines = [json.dumps({"id": f"t{number}", **TOPIC}) for number in range(40)]
        topics.write_text("\n".join(lines))
        given = {"topics": str(topics), "strategy": "lead", "grid": {"max_length": [2, 4]}}
        whole = Path(place) / "whole"
        optsum.run(given, whole, progress=False)
        wanted = timeless(read_rows(whole))
        for name in STORES if names is None else names:
            folder, merged = Path(place) / "run", Path(place) / "merged"
            copytree(whole, folder)
            STORES[name](folder / "rows.sqlite")
            yield name, _wrong_store(given, folder, merged, wanted)
            rmtree(folder)
            rmtree(merged, ignore_errors=True)


def _wrong_store(given: dict[str, object], folder: Path, merged: Path, wanted: list[str]) -> str:
    import optsum

    try:
        silent = not optsum.status(folder).doubts
        silent = silent and timeless(read_rows(folder)) != wanted
    except optsum.OptsumError as error:
        silent = "damaged" not in str(error) and "unreadable" not in str(error)
    if silent:
        return "status says nothing"
    try:
        silent = not optsum.merge([folder], merged).doubts and timeless(read_rows(merged)) != wanted
    except optsum.OptsumError as error:
        silent = "damaged" not in str(error) and "unreadable" not in str(error)
    if silent:
        return "merged in silence"
    optsum.run(given, folder, resume=True, progress=False)
    return "" if timeless(read_rows(folder)) == wanted else "other rows"


def main(what: list[str]) -> None:
    """Print each damage with its outcome, and the counts."""
    for name, tried in {"caches": damaged_caches, "stores": damaged_stores}.items():
        if what and name not in what:
            continue
        found = []
        for damage, wrong in tried():
            found.append(wrong)
            print(f"{name}: {damage}: {wrong or 'healed'}", flush=True)
        print(f"{name}: {len(found)} tried, {sum(not wrong for wrong in found)} healed")


if __name__ == "__main__":
    main(sys.argv[1:])
