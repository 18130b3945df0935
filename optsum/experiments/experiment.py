"""The work of a run: topics or a share of them, and a grid of options (cells), each searched on every topic."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Final, Self

from optsum._version import __version__
from optsum.contracts.backend import version_of_package
from optsum.corpus.folders import line_pair
from optsum.corpus.formats import PREFIX
from optsum.corpus.topic import BadTopic, Topic, parse_columns
from optsum.corpus.topics import is_program
from optsum.errors import InputError, OptionError, OptsumError, unknown_name
from optsum.options.options import OF_PROBLEMS, OF_WORKERS, Options, check_solver_is_used, described, resolve
from optsum.options.values import check_kinds, own_of_solver, read_table, solving, toml_of
from optsum.problem.formulation import Formulation
from optsum.registry import BACKENDS, STRATEGIES
from optsum.report.comparison import solvers_of
from optsum.running.each_topic import posed
from optsum.system.files import PathLike, describe_os_error


def fingerprint(path: str) -> dict[str, Any]:
    """Return the fingerprint of a file or folder of topics.

    The result: ``path``; ``sha256`` of the bytes (for a folder, of the names and bytes of all files in it); ``bytes``.
    A dataset of the hub has only a path, because the package `datasets` downloads it once.
    """
    if path.startswith(PREFIX):
        return {"path": path, "sha256": None, "bytes": None}
    if is_program(path):  # what it makes cannot be known by more than the file that it stands in
        home = path.rpartition(":")[0]
        held = fingerprint(home) if home.endswith(".py") else {"sha256": None, "bytes": None}
        return {**held, "path": path}
    try:
        pair = line_pair(path)
        if pair is None and Path(path).is_dir():
            files = sorted(each for each in Path(path).rglob("*") if each.is_file())
            names = [each.relative_to(path).as_posix() for each in files]
        else:
            files = [Path(path)] if pair is None else list(pair)
            names = [""] * len(files)
        return {"path": absolute(path), **_held(zip(files, names, strict=True))}
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


def files_beside(topics: Iterable[Topic | BadTopic], formulations: Iterable[Formulation]) -> dict[str, Any] | None:
    """Return the fingerprint of files named in topics, such as parses.

    The result: ``files``, their number; ``sha256`` and ``bytes`` of their contents, in the order of the topics; None if
    there are none. Unreadable files are skipped: they become error rows.
    """
    wanted = {type(each): each for each in formulations if type(each).files_of is not Formulation.files_of}
    if not wanted:
        return None
    found: dict[Path, None] = {}
    for topic in topics:
        for each in wanted.values():
            if isinstance(topic, Topic):
                with suppress(InputError):
                    found |= dict.fromkeys(each.files_of(topic))
    readable = [(file, "") for file in found if os.access(file, os.R_OK)]
    return {"files": len(readable), **_held(readable)} if readable else None


def absolute(path: str) -> str:
    """Return a path of topics that has the same meaning in another folder."""
    if path.startswith(PREFIX) or (is_program(path) and not path.rpartition(":")[0].endswith(".py")):
        return path
    two = not Path(path).exists() and line_pair(path) is not None
    return ",".join(map(os.path.abspath, path.split(",") if two else [path]))


_PACKAGES: Final = ("numpy", "numba", "highspy", "pyomo", "deap", "loky", "distributed")


def environment(cells: Iterable[Options]) -> dict[str, Any]:
    """Return the versions of all programs that can affect a result, and the machine, in JSON form."""
    solvers, memory, processor = {}, None, ""
    for cell in cells:
        if "backend" in STRATEGIES.load(cell.strategy).flags and cell.backend not in solvers:
            solvers[cell.backend] = ""
            with suppress(OptsumError):
                if cell.backend in BACKENDS.names():
                    solvers[cell.backend] = BACKENDS.create(cell.backend, {}).available().version
    with suppress(OSError):  # Linux says more
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    with suppress(AttributeError, ValueError, OSError):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "optsum": __version__,
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := version_of_package(name))},
        "solvers": solvers,
        "machine": {
            "host": platform.node(),
            "system": platform.platform(),
            "processor": processor or platform.processor(),
            "cores": os.cpu_count(),
            "memory_bytes": memory,
        },
        "process": os.getpid(),
        "command": sys.argv,
    }


_OWN: Final = ("topics", "map", "grid", "backends")  # What an experiment's file has beside options.

_IN_ROWS: Final = {"formulation", "strategy", "backend", "metric", "seed"}  # Options that every row names.

_MOST_CELLS: Final = 10_000


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A grid of options over topics."""

    topics: tuple[str, ...]  # Files or folders, as `optsum.read_topics` takes them.
    columns: Mapping[str, str] | None  # Which columns are what (``--map``).
    # All that each topic is searched with; no two are the same. They share what is said of workers.
    cells: tuple[Options, ...]

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """Names of the options that differ between cells."""
        dumps = [cell.model_dump() for cell in self.cells]
        return tuple(name for name in Options.model_fields if any(each[name] != dumps[0][name] for each in dumps))

    def said_of(self, cell: Options) -> dict[str, Any]:
        """Return the options that differ between cells, except those that every row states."""
        said = {name: getattr(cell, name) for name in self.varied if name not in _IN_ROWS}
        return {name: dict(value) if isinstance(value, tuple) else value for name, value in said.items()}

    def identity(self) -> dict[str, Any]:
        """Return the settings that must not change when a run is resumed, without the topics."""
        return {
            "map": None if self.columns is None else dict(self.columns),
            "cells": [
                {"hash": cell.config_hash, **cell.model_dump(exclude={*OF_WORKERS, "preset"})} for cell in self.cells
            ],
        }

    def to_toml(self) -> str:
        """Return the experiment as a TOML file with all options, from which it can be rebuilt."""
        fields = Options.model_fields
        shared = self.cells[0].model_copy(update={name: fields[name].default for name in ("preset", *self.varied)})
        of_texts = () if shared.formulated().reads_topics else fields.keys() - OF_PROBLEMS
        silent = {*OF_WORKERS, *self.varied, *of_texts}
        first = {name: value for name, value in described(shared).items() if name not in silent}
        given: dict[str, Any] = {"topics": [absolute(path) for path in self.topics], **first}
        if self.columns is not None:
            given["map"] = dict(self.columns)
        text = toml_of(given, {name: fields[name].description or "" for name in fields})
        if len(self.cells) == 1:
            return text
        for cell in self.cells:
            values = {name: getattr(cell, name) for name in self.varied}
            pairs = {name: each for name, each in values.items() if isinstance(each, tuple)}
            own = {name: [[f"{key}={one}" for key, one in each]] for name, each in pairs.items()}
            text += "\n[[grid]]\n" + toml_of(values | own)
        return text


def experiment_of(given: PathLike | Mapping[str, Any], options: Mapping[str, Any] | None = None) -> Experiment:
    """Return the experiment of a file, or of a mapping with the same names.

    `given`: ``topics`` is a path or a list of them, ``map`` names the columns, and ``grid`` is a table of options with
    lists of values, which are combined, or several such tables. ``backends`` are solvers as for `optsum.compare`, each
    a further value. Everything else is an option of `optsum.solve` for all cells. `options`: options of workers, which
    take precedence.
    """
    where, known = "The experiment", [*_OWN, *Options.model_fields]
    if isinstance(given, Mapping):
        table = {str(name).replace("-", "_"): value for name, value in given.items()}
        if strange := next((name for name in table if name not in known), None):
            raise unknown_name("option", strange, known)
    elif not isinstance(given, str | os.PathLike):
        raise OptionError(
            "An experiment is a file of options, or a mapping of the same names: topics are a file of them, and "
            "problems the function that makes them, as in module.py:FUNCTION."
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
    fields = Options.model_fields
    default = None if own["backends"] is None else solving()
    for values in _combinations(own["grid"], where):
        try:
            cell = resolve({**base, **values}, strategy=default, among_others=True)
            if "backend" not in STRATEGIES.load(cell.strategy).flags:
                cell = cell.model_copy(update={"backend": fields["backend"].default, "backend_options": ()})
            resolved.append(cell)
        except OptsumError as error:
            named = ", ".join(f"{name} = {value}" for name, value in values.items())
            raise OptionError(f"{where}{f', with {named}' if named else ''}: {error}") from error
    try:
        cells = {cell.config_hash: cell for cell in _on_solvers(resolved, own["backends"])}
    except OptsumError as error:
        raise OptionError(f"{where}: {error}") from error
    check_solver_is_used(options, *dict.fromkeys(cell.strategy for cell in cells.values()))
    columns = own["map"]
    if isinstance(columns, str):
        columns = dict(part.partition("=")[::2] for part in columns.split(","))
    if columns is not None:
        parse_columns(columns)
    return Experiment(topics=topics, columns=columns, cells=tuple(cells.values()))


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
    """Yield the settings of each cell, in the order of the file: the last axis changes first."""
    tables = [{}] if grid is None else grid if isinstance(grid, list | tuple) else [grid]
    made = 0
    for table in tables:
        if not isinstance(table, Mapping):
            raise OptionError(
                f"{where} has a grid that is not a table: write [grid], and below it NAME = [VALUE, ...]."
            )
        axes = {str(name).replace("-", "_"): value for name, value in table.items()}
        once = {"flat", "language", "splitter", *OF_WORKERS}  # topics are read once
        known = [name for name in Options.model_fields if name not in once]
        if strange := next((name for name in axes if name not in known), None):
            raise unknown_name("option of a grid", strange, known)
        lists = [value if isinstance(value, list | tuple) else [value] for value in axes.values()]
        if empty := next((name for name, values in zip(axes, lists, strict=True) if not values), None):
            raise OptionError(f"{where} has no value for {empty}: give at least one.")
        for values in product(*lists):
            made += 1
            if made > _MOST_CELLS:
                raise OptionError(f"{where} has a grid of more than {_MOST_CELLS} cells: split it into several runs.")
            yield dict(zip(axes, values, strict=True))


def _on_solvers(cells: list[Options], backends: object) -> Iterator[Options]:
    """Yield each cell with each of its solvers, and the options of that solver only."""
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
        takes = "backend" in STRATEGIES.load(cell.strategy).flags
        for name, own in solvers if takes else [(cell.backend, ())]:
            yield cell.model_copy(update={"backend": name, "backend_options": own})


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number` of `of`, from 1. Topics are dealt out in turn, because neighbours are often similar."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Return the shard of the text ``i/n``.

        Examples
        --------
        >>> Shard.parse("2/3").holds(4), str(Shard.parse("2/3"))
        (True, '2/3')
        """
        if text is None:
            return cls()
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip(), re.ASCII)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise OptionError(f"{text!r:.80} is not a shard: give I/N with I from 1 to N, such as 1/16.")
        return cls(int(match[1]), int(match[2]))

    def holds(self, topic: int) -> bool:
        """Return whether a topic, by its number from 0, is in the shard."""
        return topic % self.of == self.number - 1

    def count(self, topics: int) -> int:
        """Return how many of the first `topics` topics are in the shard."""
        return len(range(self.number - 1, topics, self.of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
