"""The folder of a run: what was asked for, what with, and the rows; one writer, and nothing changes below it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from io import FileIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from optsum.corpus.rows.store import STORE, RowStore
from optsum.errors import InputError, OptionError
from optsum.system.files import PathLike, check_no_link, describe_os_error, lock, open_own, replacing

CONFIG: Final = "config.toml"
ENVIRONMENT: Final = "environment.json"
_LOCK: Final = "lock"
_LEFT: Final = re.compile(r"\.[0-9a-f]{16}\.(?:toml|json)")
"""What a process that was killed may leave of a file that it was replacing."""
_PATIENCE_S: Final = 1.0


class RunFolder(AbstractContextManager["RunFolder"]):
    """The folder, while it is written.

    `path`: made if there is none; one that holds other things than a run is refused. `resume`: whether a run that is
    there may go on. `fresh`: whether nothing was there.
    """

    def __init__(self, path: PathLike, *, resume: bool) -> None:
        self.path = Path(path)
        self._stack = ExitStack()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            held = {each.name for each in self.path.iterdir() if not _LEFT.fullmatch(each.name)} - {_LOCK}
            self.fresh = STORE not in held
            if self.fresh and held - {CONFIG, ENVIRONMENT}:
                raise OptionError(
                    f"the folder {self.path} holds other things than a run: name a new one, or an empty one"
                )
            if not self.fresh and not resume:
                raise OptionError(
                    f"the folder {self.path} holds a run already: --resume does what is missing, or name another folder"
                )
            for name in (CONFIG, ENVIRONMENT, STORE, *(f"{STORE}-{part}" for part in ("wal", "shm", "journal"))):
                check_no_link(self.path / name)
            file = self._stack.enter_context(FileIO(open_own(self.path / _LOCK), "ab"))
        except OSError as error:
            raise self._unwritable(error) from error
        if not _locked_soon(file.fileno(), self.path / _LOCK):
            self._stack.close()
            raise OptionError(f"the folder {self.path} is being written by another run: wait for it, or name another")

    def begin(
        self,
        config: str,
        identity: Mapping[str, Any],
        inputs: list[dict[str, Any]],
        facts: Mapping[str, Any],
        limit: int | None,
    ) -> None:
        """Keep what the run is, or refuse to go on with another one.

        `config`: the experiment as TOML. `identity`: what must be the same, as JSON has it. `inputs`: fingerprints of
        the topics; what matters is the content, not the path. `facts`: what else must be the same, by its name.
        `limit`: how many topics, from the first on, the run is of; None for all. It may grow.
        """
        try:
            with ExitStack() as failing:
                self.store = failing.enter_context(RowStore(self.path / STORE, write=True))
                known = self.store.facts()
                now = json.loads(json.dumps({"identity": identity, "inputs": inputs, **facts}))  # as it is kept
                if "identity" in known:
                    if differing := "; ".join([*_differing(known, now), *_fewer(known.get("limit"), limit)]):
                        raise OptionError(
                            f"the folder {self.path} holds another run ({differing}): resume with the same, or name "
                            "another folder"
                        )
                    if known.get("limit") != limit:
                        self.store.tell(limit=limit, topics=None)  # nobody has counted so many yet
                else:
                    self._check_rescued(now)
                    self._write(CONFIG, config)
                    self.store.tell(**now, limit=limit)
                failing.pop_all()
        except OSError as error:
            raise self._unwritable(error) from error
        self._stack.callback(self.store.close)

    def _check_rescued(self, now: Mapping[str, Any]) -> None:
        """Refuse to go on with rows whose run nobody knows any more, if they are of other options or topics."""
        if not (found := self.store.config_hashes()):
            return
        if not found <= {cell["hash"] for cell in now["identity"]["cells"]}:
            raise OptionError(f"the folder {self.path} holds rows of other options: name another folder")
        known = noted_inputs(self.path)
        if known is not None and (differing := differing_inputs(known, now["inputs"])):
            raise OptionError(f"the folder {self.path} holds another run ({'; '.join(differing)}): name another folder")

    def note(self, environment: Mapping[str, Any], inputs: list[dict[str, Any]]) -> None:
        """Add to ``environment.json`` what this session of the run is made with."""
        sessions = [*sessions_of(self.path), dict(environment)]
        try:
            self._write(ENVIRONMENT, json.dumps({"inputs": inputs, "sessions": sessions}, indent=1) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _write(self, name: str, text: str) -> None:
        with replacing(self.path / name) as new:
            new.write_text(text, encoding="utf-8", errors="surrogateescape")

    def _unwritable(self, error: OSError) -> OptionError:
        return OptionError(f"the folder {self.path} cannot be written: {describe_os_error(error)}")

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _locked_soon(descriptor: int, path: Path) -> bool:
    """Lock the run; `is_locked` may hold it for a moment."""
    until = monotonic() + _PATIENCE_S
    while not lock(descriptor, path):
        if monotonic() > until:
            return False
        sleep(_PATIENCE_S / 20)
    return True


def noted_inputs(folder: Path) -> list[dict[str, Any]] | None:
    """Return the topics of a run as they are noted beside its rows."""
    try:
        return list(json.loads((folder / ENVIRONMENT).read_text(encoding="utf-8"))["inputs"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def sessions_of(folder: Path) -> list[dict[str, Any]]:
    """Return what each session of a run was made with."""
    try:
        held = json.loads((folder / ENVIRONMENT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / ENVIRONMENT} cannot be read: {error}") from error
    return list(held.get("sessions", []))


def is_locked(folder: Path) -> bool:
    """Return whether a run is being written."""
    try:
        with (folder / _LOCK).open("rb") as file:
            return not lock(file.fileno(), folder / _LOCK)
    except OSError:
        return False


def _fewer(known: int | None, now: int | None) -> list[str]:
    if now is None or (known is not None and known <= now):
        return []
    return [f"limit {'none' if known is None else known}, not {now}, which is less"]


def _differing(known: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return what differs between a run and what is asked for."""
    said: list[str] = []
    for name in now:
        if name == "identity":
            said += _differing_cells(known["identity"], now["identity"])
        elif name == "inputs":
            said += differing_inputs(known["inputs"], now["inputs"])
        elif known.get(name) != now[name]:
            said.append(f"{name} {known.get(name)}, not {now[name]}")
    return said


def differing_inputs(known: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    """Return what differs between the topics of a run, and what is there now."""
    if len(known) != len(now):
        return [f"{len(known)} files of topics, not {len(now)}"]
    said = []
    for one, other in zip(known, now, strict=True):
        if one["sha256"] != other["sha256"] or (one["sha256"] is None and one["path"] != other["path"]):
            what = (
                f"it had {one['bytes']} bytes, and has {other['bytes']}"
                if one["bytes"] != other["bytes"]
                else "the bytes"
            )
            said.append(f"the topics {other['path']} have changed: {what}")
        elif one.get("beside") != other.get("beside"):
            had, has = (each.get("beside") or {"files": 0, "bytes": 0} for each in (one, other))
            units = [unit for unit in ("files", "bytes") if had[unit] != has[unit]]
            what = " and ".join(f"{had[unit]} {unit}, not {has[unit]}" for unit in units)
            said.append(f"the files that the topics {other['path']} name (parses) have changed: {what or 'the bytes'}")
    return said


def _differing_cells(known: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    if known["map"] != now["map"]:
        return [f"map {known['map']}, not {now['map']}"]
    one, other = known["cells"], now["cells"]
    if len(one) != len(other):
        return [f"a grid of {len(one)} cells, not {len(other)}"]
    said: dict[str, None] = {}
    for left, right in zip(one, other, strict=True):
        names = [name for name in {**left, **right} if name != "hash" and left.get(name) != right.get(name)]
        if not names and left["hash"] != right["hash"]:
            said["a file that an option names has changed"] = None
        said |= dict.fromkeys(f"{name} {left.get(name)}, not {right.get(name)}" for name in names)
    return list(said)[:4]
