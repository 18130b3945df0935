"""Search whole corpora: an experiment (topics and a grid of options), the folder of a run, its work and merging."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from io import FileIO
from itertools import islice, product
from logging import getLogger
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any, Final, NamedTuple, Self, TypeAlias

from optsum._version import __version__
from optsum.contracts.backend import version_of_package
from optsum.contracts.result import Result
from optsum.corpus.folders import line_pair
from optsum.corpus.formats import PREFIX, are_objects
from optsum.corpus.row_files import STORE, CellRows, RowStore, is_run_folder, to_bytes
from optsum.corpus.topic import BadTopic, Topic, parse_columns
from optsum.corpus.topics import is_program, topics_read
from optsum.errors import InputError, OptionError, OptsumError, spoken, unknown_name
from optsum.options.options import (
    OF_PROBLEMS,
    OF_WORKERS,
    Options,
    check_kinds,
    check_solver_is_used,
    described,
    idle_options,
    in_our_names,
    our_name,
    own_of_solver,
    read_table,
    resolve,
    solving,
    toml_of,
    with_underscores,
)
from optsum.problem.formulation import Formulation
from optsum.registry import BACKENDS, STRATEGIES
from optsum.report.comparison import solvers_of
from optsum.report.messages import Advance, bar, count_lines, duration
from optsum.running.each_topic import lost_topic, posed, say_warned, search_topic
from optsum.running.executors import AnyExecutor, crew_of
from optsum.running.one_problem import Setup, answer, setup_of, warm_up
from optsum.running.solve import work_of
from optsum.running.workers import as_done, is_interrupted
from optsum.system.files import (
    PathLike,
    as_path,
    check_no_link,
    describe_os_error,
    forget,
    lock,
    open_own,
    read_text,
    replacing,
)
from optsum.system.notebook import tracked
from optsum.whole import flag, is_list, whole

_LOG: Final = getLogger("optsum")


def fingerprint(path: str) -> dict[str, Any]:
    """Return path, size and hash of a file or folder of topics; for a dataset of the hub, size and hash are None."""
    if path.startswith(PREFIX):
        return {"path": path, "sha256": None, "bytes": None}
    if is_program(path):  # its problems are identified only by the file with its source
        home = path.rpartition(":")[0]
        held = fingerprint(home) if home.endswith(".py") else {"sha256": None, "bytes": None}
        return {**held, "path": path}
    try:
        files = [(each, "") for each in line_pair(path) or [Path(path)]]
        if Path(path).is_dir():
            inside = sorted(each for each in Path(path).rglob("*") if each.is_file())
            files = [(each, each.relative_to(path).as_posix()) for each in inside]
        return {"path": absolute(path), **_held(files)}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {describe_os_error(error)}") from error


def _held(files: Iterable[tuple[Path, str]]) -> dict[str, Any]:
    seen, size = hashlib.sha256(), 0
    for file, name in files:
        if name:
            seen.update(f"{name}\0".encode("utf-8", "surrogateescape"))
        with file.open("rb", buffering=0) as stream:
            hashlib.file_digest(stream, lambda: seen)
            size += stream.tell()
    return {"sha256": seen.hexdigest(), "bytes": size}


def files_beside(topics: Iterable[Topic | BadTopic], formulations: Iterable[Formulation]) -> dict[str, Any]:
    """Return as ``beside`` number, total size and hash of the readable files that topics name, such as parses."""
    wanted = {type(each): each for each in formulations if type(each).files_of is not Formulation.files_of}
    found: dict[Path, None] = {}
    for topic in topics if wanted else ():
        for each in wanted.values():
            if isinstance(topic, Topic):
                with suppress(InputError):
                    found |= dict.fromkeys(each.files_of(topic))
    readable = [(file, "") for file in found if os.access(file, os.R_OK)]
    return {"beside": {"files": len(readable), **_held(readable)}} if readable else {}


def absolute(path: str) -> str:
    """Return a path of topics that has the same meaning in another folder."""
    if path.startswith(PREFIX) or (is_program(path) and not path.rpartition(":")[0].endswith(".py")):
        return path
    two = not Path(path).exists() and line_pair(path) is not None
    return ",".join(map(os.path.abspath, path.split(",") if two else [path]))


def environment(cells: Iterable[Options]) -> dict[str, Any]:
    """Return the versions of all programs that can affect a result, and the machine, in JSON form."""
    memory, processor = None, ""
    packages = ("numpy", "numba", "highspy", "pyomo", "deap", "loky", "distributed")
    solvers = {cell.backend: "" for cell in cells if "backend" in STRATEGIES.load(cell.strategy).flags}
    for name in solvers.keys() & BACKENDS.names():
        with suppress(OptsumError):
            solvers[name] = BACKENDS.create(name, {}).available().version
    with suppress(OSError):  # on Linux, a better name
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    with suppress(AttributeError, ValueError, OSError):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    versions = {name: found for name in packages if (found := version_of_package(name))}
    machine: dict[str, Any] = {"host": platform.node(), "system": platform.platform()}
    machine |= {"processor": processor or platform.processor(), "cores": os.cpu_count(), "memory_bytes": memory}
    began, python = datetime.now(UTC).isoformat(timespec="seconds"), platform.python_version()
    about = {"time": began, "optsum": __version__, "python": python, "packages": versions, "solvers": solvers}
    return {**about, "machine": machine, "process": os.getpid(), "command": sys.argv}


_OWN: Final = ("topics", "map", "grid", "backends")  # Names in an experiment's file that are not options.

_IN_ROWS: Final = {"formulation", "strategy", "backend", "metric", "seed"}  # Options that every row names.

_IN_PYTHON: Final = "The experiment"  # Its name in messages; one of a file has the name of the file, too.
_MOST_CELLS: Final = 10_000


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """The topics of a run, and the options with which each of them is searched (`cells`, for example a grid)."""

    topics: tuple[str, ...]  # Files, folders or other sources, as for `optsum.read_topics`.
    columns: Mapping[str, str] | None  # Columns of data sets by their meaning (``--map``).
    # Every topic is searched with the options of each cell. All cells differ, but have the same options of workers.
    cells: tuple[Options, ...]

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """Names of the options that differ between cells."""
        dumps = [cell.model_dump() for cell in self.cells]
        return tuple(name for name in Options.model_fields if any(each[name] != dumps[0][name] for each in dumps))

    def said_of(self, cell: Options) -> dict[str, Any]:
        """Return a cell's values of the options in `varied`, except options that every row states."""
        said = {name: getattr(cell, name) for name in self.varied if name not in _IN_ROWS}
        return {name: dict(value) if isinstance(value, tuple) else value for name, value in said.items()}

    def read(self, path: str) -> Iterator[Topic | BadTopic]:
        return topics_read(path, self.cells[0].reading.of_input(path, self.columns))

    def inputs(self) -> list[dict[str, Any]]:
        """Return the `fingerprint` of each file of topics, and in ``beside`` that of files that its topics name."""
        formulations = [cell.formulated() for cell in self.cells]
        return [fingerprint(path) | files_beside(self.read(path), formulations) for path in self.topics]

    def identity(self) -> dict[str, Any]:
        """Return the settings that must not change when a run is resumed, without the topics."""
        return {
            "map": None if self.columns is None else dict(self.columns),
            "cells": [
                {"hash": cell.config_hash, **cell.model_dump(exclude={*OF_WORKERS, "preset"})} for cell in self.cells
            ],
        }

    def to_toml(self) -> str:
        """Return the experiment as TOML text with all options, from which it can be rebuilt."""
        fields = Options.model_fields
        shared = self.cells[0].model_copy(update={name: fields[name].default for name in ("preset", *self.varied)})
        of_texts = () if shared.formulated().reads_topics else fields.keys() - OF_PROBLEMS
        silent = {*OF_WORKERS, *self.varied, *of_texts}
        first = {name: value for name, value in described(shared).items() if name not in silent}
        given: dict[str, Any] = {"topics": [absolute(path) for path in self.topics], **first}
        if self.columns is not None:
            given["map"] = dict(self.columns)
        text = toml_of(given, {name: fields[name].description or "" for name in fields})
        for cell in self.cells if self.varied else ():
            values = {name: getattr(cell, name) for name in self.varied}
            pairs = {name: each for name, each in values.items() if isinstance(each, tuple)}
            own = {name: [[f"{key}={one}" for key, one in each]] for name, each in pairs.items()}
            text += "\n[[grid]]\n" + toml_of(values | own)
        return text


def experiment_of(given: PathLike | Mapping[str, Any], options: Mapping[str, Any] | None = None) -> Experiment:
    """Return the experiment of a file, or of a mapping with the same names.

    `given`: ``topics`` is a path or a list of them, ``map`` names the columns, and ``grid`` is a table of options with
    lists of values, which are combined, or several such tables. ``backends`` are solvers as for `optsum.compare`: a
    cell whose strategy needs a solver is run with each of them. All other names are options of `optsum.solve` for all
    cells. `options`: options of workers, which take precedence.
    """
    where, known = _IN_PYTHON, [*_OWN, *Options.model_fields]
    if isinstance(given, Mapping):
        table = with_underscores(given, where)
        if strange := next((name for name in table if name not in known), None):
            raise our_name(strange) or unknown_name("option", strange, known)
    elif not isinstance(given, str | os.PathLike):
        raise OptionError(
            "An experiment is a file of options, or a mapping with the same names, in which topics names a file of "
            "topics, or a function that makes problems, as in module.py:FUNCTION."
        )
    else:
        where = f"The experiment {given}"
        table = read_table(Path(given), known)
        check_kinds(Options, table, Path(given))
    own = {name: table.pop(name, None) for name in _OWN}
    topics = _topics(own["topics"], where)
    base = {**table, **{name: value for name, value in (options or {}).items() if value is not None}}
    _, base = posed(topics[0], base, map=own["map"])
    resolved: list[Options] = []
    idle: list[dict[str, str]] = []
    fields = Options.model_fields
    default = None if own["backends"] is None else solving()
    every = list(_combinations(own["grid"], where))
    for values in every:
        try:
            cell = resolve({**base, **values}, strategy=default, among_others=True)
            idle.append(idle_options({**base, **values}, cell))
            if "backend" not in STRATEGIES.load(cell.strategy).flags:
                cell = cell.model_copy(update={"backend": fields["backend"].default, "backend_options": ()})
            resolved.append(cell)
        except OptsumError as error:
            named = ", ".join(f"{_written(name, where)} = {value}" for name, value in values.items())
            raise OptionError(f"{where}{f', with {named}' if named else ''}: {error}") from error
    if over := [name for name in table if table[name] is not None and all(name in values for values in every)]:
        raise OptionError(f"{where} has {_written(over[0], where)} both above the grid and in it: leave out one.")
    try:
        cells = {cell.config_hash: cell for cell in _on_solvers(resolved, own["backends"])}
    except OptsumError as error:
        raise OptionError(f"{where}: {error}") from error
    for name, why in idle[0].items():
        if all(name in each for each in idle):
            said = spoken(why) if {each[name] for each in idle} == {why} else "the options of any cell"
            _LOG.warning("%s: %s changes nothing with %s", where, name.replace("_", "-"), said)
    check_solver_is_used(options, *dict.fromkeys(cell.strategy for cell in cells.values()))
    columns = own["map"]
    if isinstance(columns, str):
        columns = dict(part.partition("=")[::2] for part in columns.split(","))
    if columns is not None:
        parse_columns(columns)
    return Experiment(topics=topics, columns=columns, cells=tuple(cells.values()))


def _written(name: str, where: str) -> str:
    """Return the name of an option as it is written in a file, or in a mapping of Python."""
    return name if where == _IN_PYTHON else name.replace("_", "-")


def _topics(given: object, where: str) -> tuple[str, ...]:
    paths = [given] if isinstance(given, str | Path) else given
    if not isinstance(paths, list | tuple) or not paths or not all(isinstance(path, str | Path) for path in paths):
        raise OptionError(f'{where} names no topics: give topics = "FILE", or a list of files.')
    named = tuple(map(str, paths))
    if "-" in named:
        raise OptionError(f"{where} takes topics from the standard input, which cannot be resumed: give a file.")
    if len(set(named)) < len(named):
        raise OptionError(f"{where} names the same topics twice: name each file once.")
    return named


def _combinations(grid: object, where: str) -> Iterator[dict[str, Any]]:
    """Yield the options of each cell in the order of the file; values of a table's last option change first."""
    tables = [{}] if grid is None else grid if isinstance(grid, list | tuple) else [grid]
    if not tables:
        raise OptionError(f"{where} has an empty grid: give at least one table of options, or leave out the grid.")
    made = 0
    for table in tables:
        if not isinstance(table, Mapping):
            raise OptionError(
                f"{where} has a grid that is not a table: write [grid], and below it NAME = [VALUE, ...]."
            )
        axes = with_underscores(table, f"{where}, in its grid,")
        once = {"flat", "language", "splitter", *OF_WORKERS}  # topics are read once
        known = [name for name in Options.model_fields if name not in once]
        if strange := next((name for name in axes if name not in known), None):
            if strange in Options.model_fields:
                raise OptionError(
                    f"{where} has {_written(strange, where)} in the grid, but it is one for all cells: write it above "
                    "[grid]."
                )
            raise unknown_name("option for a grid", strange, [_written(name, where) for name in known])
        lists = [value if isinstance(value, list | tuple) else [value] for value in axes.values()]
        if empty := next((name for name, values in zip(axes, lists, strict=True) if not values), None):
            raise OptionError(f"{where} has no value for {_written(empty, where)}: give at least one.")
        for values in product(*lists):
            made += 1
            if made > _MOST_CELLS:
                raise OptionError(f"{where} has a grid of more than {_MOST_CELLS} cells: split it into several runs.")
            yield dict(zip(axes, values, strict=True))


def _on_solvers(cells: list[Options], backends: object) -> Iterator[Options]:
    """Yield each cell once for each of its solvers, with only the options of that solver."""
    solved = [cell for cell in cells if "backend" in STRATEGIES.load(cell.strategy).flags]
    if backends is None:
        among = {cell.backend for cell in solved}
        for cell in cells:
            own = own_of_solver(cell.backend_options, cell.backend, among, shared=True)
            yield cell.model_copy(update={"backend_options": own})
        return
    if not solved:
        raise OptionError(f"Backends apply only to the strategy {solving()}: name it as strategy.")
    if any("backend" in cell.model_fields_set for cell in solved):
        raise OptionError("One solver is named by backend, and several by backends: leave out one of the two.")
    solvers = solvers_of(backends, solved[0])
    for cell in cells:
        for name, own in solvers if "backend" in STRATEGIES.load(cell.strategy).flags else [(cell.backend, ())]:
            yield cell.model_copy(update={"backend": name, "backend_options": own})


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number` of `of`, from 1. It holds every `of`-th topic, because neighbours are often similar."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: Any) -> Self:
        """Return the shard of the text ``i/n``.

        Examples
        --------
        >>> Shard.parse("2/3").holds(4), str(Shard.parse("2/3"))
        (True, '2/3')
        """
        if text is None:
            return cls()
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip(), re.ASCII) if isinstance(text, str) else None
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise OptionError(f"{text!r:.80} is not a shard: give I/N with I from 1 to N, such as 1/16.")
        return cls(int(match[1]), int(match[2]))

    def holds(self, topic: int) -> bool:
        return topic % self.of == self.number - 1

    def count(self, topics: int) -> int:
        """Return how many of the first `topics` topics are in the shard."""
        return len(range(self.number - 1, topics, self.of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


CONFIG: Final = "config.toml"
ENVIRONMENT: Final = "environment.json"
_LOCK: Final = "lock"
_LEFT: Final = re.compile(r"\.[0-9a-f]{16}\.(?:toml|json)")  # A temporary file that a killed process may leave.
_PATIENCE_S: Final = 1.0


class RunFolder(ExitStack):
    """The locked folder of a run in progress, created if necessary; a folder with other contents is refused."""

    def __init__(self, path: PathLike, *, resume: bool) -> None:
        super().__init__()
        self.path = as_path(path, "The folder of the run")
        with self._writing():
            self.path.mkdir(parents=True, exist_ok=True)
            held = {each.name for each in self.path.iterdir() if not _LEFT.fullmatch(each.name)} - {_LOCK}
            self.fresh = STORE not in held
            if self.fresh and held - {CONFIG, ENVIRONMENT}:
                raise self._refused("holds files that are not of a run: name a new folder, or an empty one")
            if not self.fresh and not resume:
                raise self._refused("has a run already: --resume continues it, or name another folder")
            for name in (CONFIG, ENVIRONMENT, STORE, *(f"{STORE}-{part}" for part in ("wal", "shm", "journal"))):
                check_no_link(self.path / name)
            file = self.enter_context(FileIO(open_own(self.path / _LOCK), "ab"))
        until = monotonic() + _PATIENCE_S
        while not lock(file.fileno(), self.path / _LOCK):  # `is_locked` may hold it for a moment
            if monotonic() > until:
                self.close()
                raise self._refused("is being written by another run: wait for it, or name another")
            sleep(_PATIENCE_S / 20)

    def begin(self, config: str, facts: Mapping[str, Any], limit: int | None) -> None:
        """Record the settings of the run; refuse to continue a run with other settings, except for a larger limit."""
        with self._writing():
            self.store = self.enter_context(RowStore(self.path / STORE, write=True))
            known = facts_of(self.store)
            now = json.loads(json.dumps(facts))  # as it is read back
            if "identity" in known:
                if differing := _differing(known, now, limit):
                    raise self._refused(f"has another run ({differing}): resume with the same, or name another folder")
                if known.get("limit") != limit:
                    self.store.tell(limit=limit, topics=None)  # the number of topics is unknown again
            else:
                self._check_rescued(now)
                self._write(CONFIG, config)
                self.store.tell(**now, limit=limit)

    def _check_rescued(self, now: Mapping[str, Any]) -> None:
        """Refuse to continue with rows rescued from a damaged store if their options or topics are not the run's."""
        if not (found := self.store.config_hashes()):
            return
        if not found <= {cell["hash"] for cell in now["identity"]["cells"]}:
            raise self._refused("has rows of other options: name another folder")
        known = _noted(self.path, "inputs")
        if known and _RECORD["inputs"](known) and (differing := differing_inputs(known, now["inputs"])):
            raise self._refused(f"has another run ({'; '.join(differing)}): name another folder")

    def note(self, environment: Mapping[str, Any], inputs: list[dict[str, Any]]) -> None:
        """Add this session's versions and machine to ``environment.json``."""
        sessions = [*_noted(self.path, "sessions"), dict(environment)]
        with self._writing():
            self._write(ENVIRONMENT, json.dumps({"inputs": inputs, "sessions": sessions}, indent=1) + "\n")

    def _write(self, name: str, text: str) -> None:
        with replacing(self.path / name) as new:
            new.write_text(text, encoding="utf-8", errors="surrogateescape")

    def _refused(self, why: str) -> OptionError:
        return OptionError(f"the folder {self.path} {why}")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._refused(f"cannot be written: {describe_os_error(error)}") from error


_RECORD: Final[dict[str, Callable[[Any], bool]]] = {
    "identity": lambda value: isinstance(value, dict) and "map" in value and are_objects(value.get("cells"), "hash"),
    "inputs": lambda value: are_objects(value, "path", "sha256", "bytes"),
    "shard": lambda value: isinstance(value, str) and re.fullmatch(r"\d+/\d+", value) is not None,
    "details": lambda value: isinstance(value, bool),
}
"""Facts that a run records when it begins, all or none of them, each with a check of its form."""

_OTHERS: Final[dict[str, Callable[[Any], bool]]] = {  # Facts that are recorded later.
    **dict.fromkeys(("topics", "expected", "limit"), lambda value: value is None or type(value) is int),
    "session": lambda value: isinstance(value, dict) and isinstance(value.get("began"), int | float),
    "changed": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
}


def facts_of(store: RowStore) -> dict[str, Any]:
    """Return the facts recorded for a run; damaged facts are left out, as if they had never been recorded."""
    kinds = {**_RECORD, **_OTHERS}
    found = {name: value for name, value in store.facts().items() if name in kinds and kinds[name](value)}
    whole = found.keys() >= _RECORD.keys()
    return {name: value for name, value in found.items() if whole or name not in _RECORD}


def _noted(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the list `name` in the file `ENVIRONMENT` of a run; empty if it cannot be read (no row depends on it)."""
    path = folder / ENVIRONMENT
    if not path.exists():
        return []
    try:
        return [dict(each) for each in json.loads(_text_of(path))[name]]
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        _LOG.warning("%s is damaged, and its %s are lost: %s", path, name, describe_os_error(error))
        return []


def _text_of(path: Path) -> str:
    """Return the text of a file of a run; refuse anything but a plain file, such as a pipe."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a plain file: remove it")
    return read_text(path, "")


def is_locked(folder: Path) -> bool:
    path = folder / _LOCK
    with suppress(OSError):
        if path.is_file():  # opening a pipe would block
            with path.open("rb") as file:
                return not lock(file.fileno(), path)
    return False


def _differing(known: Mapping[str, Any], now: Mapping[str, Any], limit: int | None) -> str:
    """Return a text about settings in which an existing run differs from the requested run; empty if none differs."""
    said = [*_differing_cells(known["identity"], now["identity"]), *differing_inputs(known["inputs"], now["inputs"])]
    if known["shard"] != now["shard"]:
        shares = ["all topics" if each["shard"] == "1/1" else f"shard {each['shard']}" for each in (known, now)]
        said.append(f"of {shares[0]}, not of {shares[1]}")
    if known["details"] != now["details"]:
        said.append(f"made {'with' if known['details'] else 'without'} --details")
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
        Topics with rows, once for each cell, and those among them whose rows are errors.
    rows : mapping of status to int
        Number of rows; a topic has several if each reference is a problem.
    per_second : float or None
        Topics per second, counted once for each cell, in this session of the run; None if unknown.
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
    of = "" if found.total is None else f" of {found.total}"
    state = "running" if found.running else "complete" if found.complete else "stopped"
    kinds = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in found.rows.items())
    parts = [
        f"{found.folder}: {state}",
        "" if found.shard == "1/1" else f"shard {found.shard}",
        f"{found.done}{of} done" + (f" ({kinds})" if kinds else ""),
        "" if found.per_second is None else f"{found.per_second:.3g} a second",
        "" if found.left_s is None or found.complete else f"{duration(found.left_s)} left",
    ]
    return "; ".join(filter(None, parts))


def said_of_errors(found: RunStatus) -> str:
    first = f"{'the error' if found.failed == 1 else 'the first error'}: {found.first_error}"
    return f"{found.failed} of {found.done} could not be searched, and --resume tries again; {first}"


def warn_of_missing(found: RunStatus, name: str) -> None:
    """Say what the rows of a run, given by its name, lack."""
    if not found.complete:
        many = f"{found.done}" if found.total is None else f"{found.done} of {found.total}"
        how = "optsum run with --resume does the others, and optsum merge takes the folders of all shards"
        _LOG.warning("%s has only %s searches: %s", name, many, how)
    elif found.shard != "1/1":
        _LOG.warning("%s is only shard %s: optsum merge takes the folders of all shards", name, found.shard)


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
        known: dict[str, Any] = {"total": total, "done": done, "failed": failed, "rows": store.counts()}
        known["left_s"] = None if rate is None or total is None else max(0, total - done) / rate
        known |= {"per_second": rate, "first_error": store.first_error(), "running": is_locked(Path(folder))}
        changed = (f"{each} while they were searched" for each in facts.get("changed", ()))
        doubts = (*filter(None, [store.damage]), *changed)
        return RunStatus(folder=str(folder), shard=str(shard), doubts=doubts, **known)


def _store(folder: PathLike) -> RowStore:
    if not is_run_folder(as_path(folder, "The folder of a run")):
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
    if not is_list(folders, ordered=False):
        raise OptionError(f"The folders to merge are {folders!r:.60}: give a list of paths.")
    paths = [as_path(folder, "A folder to merge") for folder in folders]
    as_path(into, "The folder of the merged run")
    if not paths:
        raise OptionError("There is nothing to merge: name the folders of shards.")
    with ExitStack() as stack:
        stores = [stack.enter_context(_store(path)) for path in paths]
        facts = list(map(facts_of, stores))
        _check_shards(paths, facts)
        doubts = [*filter(None, (store.damage for store in stores)), *_changed(paths, facts)]
        first = facts[0]
        target = stack.enter_context(RunFolder(into, resume=True))
        try:
            config = _text_of(paths[0] / CONFIG)
        except InputError as error:  # the store also records what its rows are of
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
            for session in _noted(path, "sessions"):
                target.note({**session, "folder": str(path)}, first["inputs"])
    for doubt in doubts:
        _LOG.warning("%s", doubt)
    return replace(status(into), doubts=tuple(doubts))


def _changed(paths: Sequence[Path], facts: Sequence[dict[str, Any]]) -> Iterator[str]:
    now = cache(fingerprint)  # shards of one run have the same topics
    for path, own in zip(paths, facts, strict=True):
        changed = list(own.get("changed", ()))
        for known in () if changed else own["inputs"]:
            with suppress(InputError):  # they need not be on this machine
                if now(known["path"])["sha256"] != known["sha256"]:
                    changed.append(f"the topics {known['path']} have changed")
        if changed:
            yield f"the run {path} may be of two versions of its topics ({'; '.join(changed)})"


def _check_shards(paths: Sequence[Path], facts: Sequence[dict[str, Any]]) -> None:
    """Refuse to merge folders that are not different shards of one run."""
    seen: dict[Shard, Path] = {}
    for path, own in zip(paths, facts, strict=True):
        if "identity" not in own:
            raise InputError(f"the run {path} was stopped before it began, or is damaged: run it again with --resume")
        hashes = [each["sha256"] for each in own["inputs"]]
        same = own["identity"] == facts[0]["identity"] and own["details"] == facts[0]["details"]
        if not same or hashes != [each["sha256"] for each in facts[0]["inputs"]]:
            what = "topics" if same else "options"
            raise OptionError(f"the runs {paths[0]} and {path} have different {what}: merge shards of the same run")
        if own.get("limit") != facts[0].get("limit"):
            one, other = ("none" if each.get("limit") is None else each["limit"] for each in (facts[0], own))
            raise OptionError(
                f"the runs {paths[0]} and {path} were given different numbers of topics (--limit: {one} and {other}): "
                "merge shards of the same run"
            )
        shard = Shard.parse(own["shard"])
        if shard.of != Shard.parse(facts[0]["shard"]).of:
            apart = f"the run {path} is shard {shard}, and {paths[0]} is {facts[0]['shard']}"
            raise OptionError(f"{apart}: merge shards with the same N of --shard I/N")
        if shard in seen:
            raise OptionError(f"the runs {seen[shard]} and {path} both are shard {shard}: name each shard once")
        seen[shard] = path


Answers: TypeAlias = list[CellRows | None]  # Rows of topics finished together; None for a search that Ctrl-C ended.


def run(
    experiment: PathLike | Mapping[str, Any],
    folder: PathLike,
    *,
    resume: bool = False,
    shard: str | None = None,
    limit: int | None = None,
    details: bool = False,
    executor: str | AnyExecutor | None = None,
    progress: bool = True,
    **workers: Any,
) -> RunStatus:
    """Search every topic in every cell of a grid, and store each result at once.

    Parameters
    ----------
    experiment : path or mapping
        A TOML file, or the same names in Python: ``{"topics": "t.jsonl", "grid": {"max_length": [50, 100]}, "metric":
        "rouge-2"}``.
    folder : path
        The folder of the run; created if necessary.
    resume : bool
        Whether to continue an existing run: missing topics and errors are searched.
    shard : str, optional
        ``I/N``: the I-th of N shares of the topics.
    limit : int, optional
        Search only the first N topics of all files together; shards are shares of these. When a run is resumed, the
        limit may grow, but not shrink.
    details : bool
        Whether rows include the text, the covered n-grams and all optima, for the page of a report.
    executor : {"local", "dask"}, `concurrent.futures.Executor`, or a function that makes one
        As for `optsum.solve_all`.
    progress : bool
        Whether to show progress: a bar on a terminal or in a notebook, otherwise a line in the log from time to time.
    **workers
        ``workers``, ``scheduler``, ``memory_per_worker``, as in `optsum.solve_all`.

    Returns
    -------
    RunStatus

    Raises
    ------
    OptionError
        If the options or the folder cannot be used; if the folder has a different run.
    InputError
        If the topics cannot be read.
    ExecutorError
        If no worker is left.
    KeyboardInterrupt
        After Ctrl-C, when finished work has been stored.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> experiment = {"topics": "examples/data/news.jsonl", "strategy": "lead", "grid": {"max_length": [50, 100]}}
    >>> with TemporaryDirectory() as folder:
    ...     done = run(experiment, folder + "/run", progress=False)
    >>> done.done, done.total, done.failed
    (16, 16, 0)
    """
    workers = in_our_names(workers)
    known = [name for name in OF_WORKERS if name != "executor"]
    if strange := next((name for name in workers if name not in known), None):
        if strange in Options.model_fields:
            raise OptionError(f"The option {strange} is of the experiment: write it there, and not beside it.")
        raise our_name(strange) or unknown_name("option of a run", strange, known)
    if isinstance(executor, str):
        workers["executor"], executor = executor, None
    asked = {"resume": resume, "details": details, "progress": progress}
    how: dict[str, Any] = {name: flag(value, f"The option {name}") for name, value in asked.items()}
    carry_out(experiment, folder, workers, executor, shard=shard, limit=limit, **how)
    return status(folder)


class Item(NamedTuple):
    """A topic to be searched with the options of one cell, as it is sent to a worker."""

    topic: int
    cell: int
    given: Topic | BadTopic
    file: int


class RunSettings(NamedTuple):
    """The data that all items of a run share, which are sent once with each batch, and the functions for workers."""

    setups: Sequence[Setup]  # The setup of each cell.
    said: Sequence[Mapping[str, Any]]  # Fields that the rows of each cell have besides the result.
    files: Sequence[str]  # Files of topics, if there are several: each row names its own.
    details: bool  # Whether rows have details (`optsum.running.enumerate`).

    def search(self, item: Item) -> list[Result]:
        setup = self.setups[item.cell]
        return search_topic(item.given, [setup], work_of(setup, answer, details=self.details))

    def lost(self, item: Item) -> list[Result]:
        return lost_topic(item.given, [self.setups[item.cell]])

    def rows(self, batch: Any, items: list[Item], found: list[list[Result]]) -> Answers:
        """Return the rows of items for the store: None for a search that Ctrl-C ended, which resuming repeats."""
        del batch
        answers: Answers = []
        for item, results in zip(items, found, strict=False):
            own = {**({"topics": self.files[item.file]} if self.files else {}), **self.said[item.cell]}
            rows = [result.changed(extra={**result.extra, **own}).to_row() for result in results]
            kept = tuple((row["status"], to_bytes(row).decode()) for row in rows)
            answers.append(None if is_interrupted(results) else (item.topic, item.cell, kept))
        return answers


def carry_out(
    experiment: PathLike | Mapping[str, Any],
    folder: PathLike,
    workers: Mapping[str, Any],
    executor: AnyExecutor | None = None,
    iterate: Callable[[Generator[Answers, None, None]], Iterable[Answers]] = iter,
    *,
    resume: bool,
    shard: str | None,
    limit: int | None,
    details: bool,
    progress: bool = True,
) -> None:
    """Do the missing searches of a `run`, and show progress; `iterate` passes results on, or raises at Ctrl-C."""
    plan = experiment_of(experiment, workers)
    if limit is not None:
        limit = whole(limit, "The limit of topics", least=0, error=OptionError)
    cells, own = plan.cells, Shard.parse(shard)
    readers = list(map(plan.read, plan.topics))  # unreadable topics are refused first
    inputs, hashes = plan.inputs(), [cell.config_hash for cell in cells]
    with RunFolder(folder, resume=resume) as held:
        facts = {"identity": plan.identity(), "inputs": inputs, "shard": str(own), "details": details}
        held.begin(plan.to_toml(), facts, limit)
        if before := {each.get("optsum") for each in _noted(held.path, "sessions")} - {__version__}:
            how = "the run was begun with optsum %s, and this is %s: each row states its version"
            _LOG.warning(how, ", ".join(sorted(map(str, before))), __version__)
        held.note(environment(cells), inputs)
        store = held.store
        done, failed = store.answered()
        kept, topics = done - failed, facts_of(store).get("topics")
        if topics is None:
            topics = _expected(plan, limit)
            store.tell(expected=topics)
        total = None if topics is None else own.count(topics) * len(cells)
        unit = "topics" if len(cells) == 1 else "searches"

        def missing() -> Iterator[Item]:
            read = 0
            given = ((file, topic) for file, reader in enumerate(readers) for topic in reader)
            for number, (file, topic) in enumerate(islice(given, limit)):
                read = number + 1
                if own.holds(number):
                    found = store.finished(number) if kept else set()
                    yield from (Item(number, cell, topic, file) for cell in range(len(cells)) if cell not in found)
            store.tell(topics=read)

        def each_done() -> Generator[None, None, None]:
            """Search, and yield once for each pair of a topic and a cell when its rows are safely stored."""
            _LOG.info("run %s: %d of %s done before", held.path, kept, total or "an unknown number")
            setups = list(map(setup_of, cells))
            for setup in setups:  # refuses what works on no topic
                warm_up(setup)
            crew = crew_of(cells[0], executor, apart=True, copied=all(setup.may_be_copied for setup in setups))
            assert crew is not None  # noqa: S101 - apart
            store.tell(session={"began": time(), "kept": kept})
            files = plan.topics if len(readers) > 1 else ()
            settings = RunSettings(setups, [plan.said_of(setup.options) for setup in setups], files, details)
            warned: Counter[str | None] = Counter()
            with closing(as_done(settings.search, missing(), crew, settings.lost, settings.rows)) as rounds:
                for answers in iterate(rounds):
                    finished = [answer for answer in answers if answer is not None]
                    store.add(finished)
                    for _, _, stored in finished:
                        rows = [json.loads(text) for _, text in stored if '"warning"' in text]
                        warned[next((row["statistics"].get("warning") for row in rows), None)] += 1
                        yield
            say_warned(warned, unit)

        advance: Advance = lambda _=1: None  # noqa: E731 - without a bar
        with bar(unit, lambda: total, in_logs=True) if progress else nullcontext(advance) as advance:
            advance(kept)
            left = total - kept if progress and total is not None else None
            for _ in tracked(each_done(), left, unit):
                advance()
        changed = differing_inputs(inputs, plan.inputs())
        if any(cell.files for cell in cells):
            forget()
        if [cell.config_hash for cell in cells] != hashes:
            changed.append("a file that an option names has changed")
        if changed:
            store.tell(changed=changed)
            _LOG.warning("%s; rows may be of two versions: run it again in another folder", "; ".join(changed))


def _expected(plan: Experiment, limit: int | None) -> int | None:
    """Return the number of topics of all files, at most `limit`; None if it is unknown without reading everything."""
    several = any("[]" in path for path in (plan.columns or {}).values())  # a line may hold several topics
    if several or not all(path.endswith((".jsonl", ".ndjson")) for path in plan.topics):
        return None
    known = count_lines(*plan.topics)
    return known if known is None or limit is None else min(known, limit)
