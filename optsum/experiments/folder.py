"""The folder of a run: configuration, environment and rows, with one writer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from io import FileIO
from logging import getLogger
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from optsum.corpus.rows import STORE, RowStore, is_run_folder
from optsum.errors import InputError, OptionError
from optsum.experiments.experiment import Shard, fingerprint
from optsum.report.messages import duration
from optsum.system.files import PathLike, check_no_link, describe_os_error, lock, open_own, read_text, replacing

CONFIG: Final = "config.toml"
ENVIRONMENT: Final = "environment.json"
_LOCK: Final = "lock"
_LEFT: Final = re.compile(r"\.[0-9a-f]{16}\.(?:toml|json)")
"""A temporary file that a killed process may leave."""
_PATIENCE_S: Final = 1.0


class RunFolder(AbstractContextManager["RunFolder"]):
    """The folder of a run in progress.

    `path`: created if necessary; a folder with other contents is refused. `resume`: whether an existing run may be
    continued. `fresh`: whether there was no run.
    """

    def __init__(self, path: PathLike, *, resume: bool) -> None:
        self.path = Path(path)
        self._stack = ExitStack()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            held = {each.name for each in self.path.iterdir() if not _LEFT.fullmatch(each.name)} - {_LOCK}
            self.fresh = STORE not in held
            if self.fresh and held - {CONFIG, ENVIRONMENT}:
                raise self._refused("has other contents than a run: name a new folder, or an empty one")
            if not self.fresh and not resume:
                raise self._refused("has a run already: --resume continues it, or name another folder")
            for name in (CONFIG, ENVIRONMENT, STORE, *(f"{STORE}-{part}" for part in ("wal", "shm", "journal"))):
                check_no_link(self.path / name)
            file = self._stack.enter_context(FileIO(open_own(self.path / _LOCK), "ab"))
        except OSError as error:
            raise self._unwritable(error) from error
        until = monotonic() + _PATIENCE_S
        while not lock(file.fileno(), self.path / _LOCK):  # `is_locked` may hold it for a moment
            if monotonic() > until:
                self._stack.close()
                raise self._refused("is being written by another run: wait for it, or name another")
            sleep(_PATIENCE_S / 20)

    def begin(self, config: str, facts: Mapping[str, Any], limit: int | None) -> None:
        """Record the settings of the run; refuse to continue a run with other settings.

        `config`: the experiment as TOML. `facts`: settings that must be the same, in JSON form, by name; ``inputs`` are
        the fingerprints of the topics, of which only the contents matter. `limit`: the number of topics, from the
        first; None for all. It may grow.
        """
        try:
            with ExitStack() as failing:
                self.store = failing.enter_context(RowStore(self.path / STORE, write=True))
                known = facts_of(self.store)
                now = json.loads(json.dumps(facts))  # as it is kept
                if "identity" in known:
                    if differing := _differing(known, now, limit):
                        raise self._refused(
                            f"has another run ({differing}): resume with the same, or name another folder"
                        )
                    if known.get("limit") != limit:
                        self.store.tell(limit=limit, topics=None)  # nobody has counted that far yet
                else:
                    self._check_rescued(now)
                    self._write(CONFIG, config)
                    self.store.tell(**now, limit=limit)
                failing.pop_all()
        except OSError as error:
            raise self._unwritable(error) from error
        self._stack.callback(self.store.close)

    def _check_rescued(self, now: Mapping[str, Any]) -> None:
        """Refuse rows rescued from a damaged store, whose own record is lost, if options or topics differ."""
        if not (found := self.store.config_hashes()):
            return
        if not found <= {cell["hash"] for cell in now["identity"]["cells"]}:
            raise self._refused("has rows of other options: name another folder")
        known = _noted(self.path, "inputs")
        if known and _are_inputs(known) and (differing := differing_inputs(known, now["inputs"])):
            raise self._refused(f"has another run ({'; '.join(differing)}): name another folder")

    def note(self, environment: Mapping[str, Any], inputs: list[dict[str, Any]]) -> None:
        """Add this session's versions and machine to ``environment.json``."""
        sessions = [*sessions_of(self.path), dict(environment)]
        try:
            self._write(ENVIRONMENT, json.dumps({"inputs": inputs, "sessions": sessions}, indent=1) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _write(self, name: str, text: str) -> None:
        with replacing(self.path / name) as new:
            new.write_text(text, encoding="utf-8", errors="surrogateescape")

    def _refused(self, why: str) -> OptionError:
        return OptionError(f"the folder {self.path} {why}")

    def _unwritable(self, error: OSError) -> OptionError:
        return self._refused(f"cannot be written: {describe_os_error(error)}")

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _are_objects(value: Any, *keys: str) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) and each.keys() >= {*keys} for each in value)


def _are_inputs(value: Any) -> bool:
    return _are_objects(value, "path", "sha256", "bytes")


_RECORD: Final[dict[str, Callable[[Any], bool]]] = {
    "identity": lambda value: isinstance(value, dict) and "map" in value and _are_objects(value.get("cells"), "hash"),
    "inputs": _are_inputs,
    "shard": lambda value: isinstance(value, str) and re.fullmatch(r"\d+/\d+", value) is not None,
    "details": lambda value: isinstance(value, bool),
}
"""Keys of a run's record, which is complete or absent."""

_OTHERS: Final[dict[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("topics", "expected", "limit"), lambda value: value is None or type(value) is int),
    "session": lambda value: isinstance(value, dict) and isinstance(value.get("began"), int | float),
    "changed": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
}


def facts_of(store: RowStore) -> dict[str, Any]:
    """Return the known facts of a run, without damaged ones, as if these had never been recorded."""
    kinds = {**_RECORD, **_OTHERS}
    found = {name: value for name, value in store.facts().items() if name in kinds and kinds[name](value)}
    whole = found.keys() >= _RECORD.keys()
    return {name: value for name, value in found.items() if whole or name not in _RECORD}


def _noted(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return a list stored beside the rows of a run; empty if it cannot be read, as no row depends on it."""
    path = folder / ENVIRONMENT
    if not path.exists():
        return []
    try:
        return [dict(each) for each in json.loads(_text_of(path))[name]]
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        getLogger("optsum").warning("%s is damaged, and its %s are lost: %s", path, name, describe_os_error(error))
        return []


def sessions_of(folder: Path) -> list[dict[str, Any]]:
    """Return the environment of each session of a run."""
    return _noted(folder, "sessions")


def _text_of(path: Path) -> str:
    """Return the contents of a file of a run; refuse endless ones such as pipes."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a plain file: remove it")
    return read_text(path, "")


def is_locked(folder: Path) -> bool:
    """Return whether a process is writing to a run."""
    if not (folder / _LOCK).is_file():  # a pipe in its place would be waited for
        return False
    try:
        with (folder / _LOCK).open("rb") as file:
            return not lock(file.fileno(), folder / _LOCK)
    except OSError:
        return False


def _differing(known: Mapping[str, Any], now: Mapping[str, Any], limit: int | None) -> str:
    """Return the options, topics and limit in which the existing run differs from the requested one."""
    said: list[str] = []
    for name in now:
        if name == "identity":
            said += _differing_cells(known["identity"], now["identity"])
        elif name == "inputs":
            said += differing_inputs(known["inputs"], now["inputs"])
        elif known.get(name) != now[name]:
            said.append(f"{name} {known.get(name)}, not {now[name]}")
    before = known.get("limit")
    if limit is not None and (before is None or before > limit):
        said.append(f"limit {'none' if before is None else before}, not {limit}, which is less")
    return "; ".join(said)


def differing_inputs(known: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    """Return a phrase for each difference between the topics of a run and the current files."""
    if len(known) != len(now):
        return [f"{len(known)} files of topics, not {len(now)}"]
    said = []
    for one, other in zip(known, now, strict=True):
        if one["sha256"] != other["sha256"] or (one["sha256"] is None and one["path"] != other["path"]):
            sizes = f"it had {one['bytes']} bytes, and has {other['bytes']}"
            what = "the bytes" if one["bytes"] == other["bytes"] else sizes
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


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """The progress of a run.

    Attributes
    ----------
    folder : str
    shard : str
        ``1/1`` for a run of all topics.
    running : bool
        Whether a process is working on it.
    total : int or None
        Topics, once for each cell; None while unknown, because the input is read only as far as necessary.
    done, failed : int
        Topics with rows, once for each cell, and those of them that are errors.
    rows : mapping of status to int
        A topic has several rows if each reference is a problem.
    per_second : float or None
        Topics, once for each cell, in this session of the run; None if unknown.
    left_s : float or None
        Estimated seconds for the rest.
    first_error : str or None
    doubts : tuple of str
        Doubts about the whole run: damaged rows, topics that changed meanwhile.
    """

    folder: str
    shard: str = "1/1"
    running: bool = False
    total: int | None = None
    done: int = 0
    failed: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)
    per_second: float | None = None
    left_s: float | None = None
    first_error: str | None = None
    doubts: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything is done."""
        return self.total is not None and self.done >= self.total

    def to_json(self) -> dict[str, Any]:
        """Return the progress in JSON form."""
        return {**asdict(self), "complete": self.complete}


def in_words(found: RunStatus) -> str:
    """Return the progress of a run in one line."""
    of = "" if found.total is None else f" of {found.total}"
    state = "running" if found.running else "complete" if found.complete else "stopped"
    parts = [f"{found.folder}: {state}"]
    if found.shard != "1/1":
        parts.append(f"shard {found.shard}")
    kinds = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in found.rows.items())
    parts.append(f"{found.done}{of} done" + (f" ({kinds})" if kinds else ""))
    if found.per_second is not None:
        parts.append(f"{found.per_second:.3g} a second")
    if found.left_s is not None and not found.complete:
        parts.append(f"{duration(found.left_s)} left")
    return "; ".join(parts)


def said_of_errors(found: RunStatus) -> str:
    """Describe the errors of a run, with the message of the first."""
    which = "it" if found.failed == 1 else "the first"
    return (
        f"{found.failed} of {found.done} could not be searched, and --resume tries again; {which}: {found.first_error}"
    )


def status(folder: PathLike) -> RunStatus:
    """Return the progress of a run, which may be in progress.

    Parameters
    ----------
    folder : path
        The folder of the run.

    Returns
    -------
    RunStatus

    Raises
    ------
    InputError
        If the folder has no run.
    """
    with _store(folder) as store:
        facts = facts_of(store)
        done, failed = store.answered()
        session = facts.get("session")
        times = None if session is None else store.since(session["began"])
        shard = Shard.parse(facts.get("shard"))
        topics = next((facts[name] for name in ("topics", "expected") if facts.get(name) is not None), None)
        cells = len(facts["identity"]["cells"]) if "identity" in facts else 1
        total = None if topics is None else shard.count(topics) * cells
        rate = None if times is None or not times[0] else times[0] / max(times[1], 1e-3)
        return RunStatus(
            folder=str(folder),
            shard=str(shard),
            running=is_locked(Path(folder)),
            total=total,
            done=done,
            failed=failed,
            rows=store.counts(),
            per_second=rate,
            left_s=None if rate is None or total is None else max(0, total - done) / rate,
            first_error=store.first_error(),
            doubts=(
                *filter(None, [store.damage]),
                *(f"{each} while they were searched" for each in facts.get("changed", ())),
            ),
        )


def _store(folder: PathLike) -> RowStore:
    if not is_run_folder(folder):
        raise InputError(f"{folder} is not the folder of a run: there is no {STORE} in it")
    return RowStore(Path(folder) / STORE)


def merge(folders: Iterable[PathLike], into: PathLike) -> RunStatus:
    """Merge the shards of a run into one folder, which is a run itself.

    Parameters
    ----------
    folders : iterable of path
        Folders of shards of the same run. ``optsum run --resume`` on the result searches missing topics.
    into : path
        A new folder, or the folder of an earlier merge, which grows.

    Returns
    -------
    RunStatus

    Raises
    ------
    InputError
        If a folder has no run.
    OptionError
        If they are not of the same run, a shard is repeated, or the result cannot be written.
    """
    paths = [Path(folder) for folder in folders]
    if not paths:
        raise OptionError("There is nothing to merge: name the folders of shards.")
    with ExitStack() as stack:
        stores = [stack.enter_context(_store(path)) for path in paths]
        facts = list(map(facts_of, stores))
        _check(paths, facts)
        doubts = [*filter(None, (store.damage for store in stores)), *_changed(paths, facts)]
        first = facts[0]
        target = stack.enter_context(RunFolder(into, resume=True))
        try:
            config = _text_of(paths[0] / CONFIG)
        except InputError as error:  # what the rows are of is in the store as well
            config = ""
            doubts.append(str(error))
        same = {name: first[name] for name in ("identity", "inputs", "shard", "details")}
        target.begin(config, {**same, "shard": "1/1"}, first.get("limit"))
        known = [each[name] for each in facts for name in ("topics", "expected") if each.get(name) is not None]
        for store in stores:
            target.store.take(store)
        if known:
            target.store.tell(topics=known[0])
        for path in paths:
            for session in sessions_of(path):
                target.note({**session, "folder": str(path)}, first["inputs"])
    for doubt in doubts:
        getLogger("optsum").warning("%s", doubt)
    return replace(status(into), doubts=tuple(doubts))


def _changed(paths: Sequence[Path], facts: Sequence[dict[str, Any]]) -> list[str]:
    """Return the runs whose topics changed during the search or since then."""
    said = []
    now: dict[str, dict[str, Any]] = {}
    for path, own in zip(paths, facts, strict=True):
        changed = list(own.get("changed", ()))
        for known in () if changed else own["inputs"]:
            with suppress(InputError):  # they need not be on this machine
                found = now.setdefault(known["path"], fingerprint(known["path"]))
                if found["sha256"] != known["sha256"]:
                    changed.append(f"the topics {known['path']} have changed")
        if changed:
            said.append(f"the run {path} may be of two versions of its topics ({'; '.join(changed)})")
    return said


def _check(paths: Sequence[Path], facts: Sequence[dict[str, Any]]) -> None:
    """Refuse to merge folders that are not different shards of one run."""
    seen: dict[Shard, Path] = {}
    for path, own in zip(paths, facts, strict=True):
        if "identity" not in own:
            raise InputError(f"the run {path} was stopped before it began, or is damaged: run it again with --resume")
        hashes = [each["sha256"] for each in own["inputs"]]
        same = own["identity"] == facts[0]["identity"] and own["details"] == facts[0]["details"]
        if not same or hashes != [each["sha256"] for each in facts[0]["inputs"]]:
            what = "topics" if same else "options"
            raise OptionError(f"the runs {paths[0]} and {path} are of different {what}: merge shards of the same run")
        if own.get("limit") != facts[0].get("limit"):
            one, other = (each.get("limit") or "none" for each in (facts[0], own))
            raise OptionError(
                f"the runs {paths[0]} and {path} are of different limits ({one} and {other}): merge shards of the same "
                "run"
            )
        shard = Shard.parse(own["shard"])
        if shard.of != Shard.parse(facts[0]["shard"]).of:
            apart = f"the run {path} is shard {shard}, and {paths[0]} is {facts[0]['shard']}"
            raise OptionError(f"{apart}: merge shards of the same division")
        if shard in seen:
            raise OptionError(f"the runs {seen[shard]} and {path} both are shard {shard}: name each shard once")
        seen[shard] = path
