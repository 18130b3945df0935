"""A run: search every topic in every cell of a grid, and store each result at once."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from functools import partial
from itertools import islice, repeat
from time import time
from typing import Any, NamedTuple, TypeAlias

from optsum._version import __version__
from optsum.contracts.result import Result
from optsum.corpus.rows import CellRows, RowStore, to_bytes
from optsum.corpus.topic import BadTopic, Reading, Topic
from optsum.corpus.topics import topics_read
from optsum.errors import OptionError
from optsum.experiments.experiment import Experiment, Shard, environment, experiment_of, files_beside, fingerprint
from optsum.experiments.folder import RunFolder, RunStatus, differing_inputs, facts_of, sessions_of, status
from optsum.report.messages import Advance, bar, count_lines
from optsum.running.each_topic import lost_topic, say_warned, search_part, search_topic
from optsum.running.enumerate import detailed
from optsum.running.executors import AnyExecutor, crew_of
from optsum.running.one_problem import Setup, answer, setup_of, warm_up
from optsum.running.workers import as_done, is_interrupted
from optsum.system.files import PathLike, forget, name_of
from optsum.system.notebook import tracked

_LOG = logging.getLogger("optsum")


Answers: TypeAlias = list[CellRows | None]
"""Rows of the topics finished since the last call; None for a topic that Ctrl-C ended."""


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
    if isinstance(executor, str):
        workers["executor"], executor = executor, None
    how: dict[str, Any] = {"resume": resume, "shard": shard, "limit": limit, "details": details}
    carry_out(experiment, folder, workers, executor, progress=progress, **how)
    return status(folder)


def carry_out(
    experiment: PathLike | Mapping[str, Any],
    folder: PathLike,
    workers: Mapping[str, Any],
    executor: AnyExecutor | None = None,
    iterate: Callable[[Generator[Answers, None, None]], Iterable[Answers]] = iter,
    *,
    progress: bool = True,
    **how: Any,
) -> None:
    """Carry out the missing part of a run (see `run`), and show progress.

    `iterate`: yields from a generator, and may raise `KeyboardInterrupt` after finished work was collected. `how`: as
    for `RunWork`.
    """
    with RunWork(experiment_of(experiment, workers), folder, **how) as work, ExitStack() as stack:
        missing = work.total - work.kept if progress and work.total is not None else None
        advance: Advance = (
            stack.enter_context(bar(work.unit, lambda: work.total, in_logs=True)) if progress else lambda _: None
        )
        advance(work.kept)
        for done in tracked(work.each_done(executor, iterate), missing, work.unit):
            advance(done)


class Item(NamedTuple):
    """One topic in one cell, as sent to a worker."""

    topic: int
    cell: int
    given: Topic | BadTopic
    file: int


class RunSettings(NamedTuple):
    """The data sent once with all items of a batch."""

    setups: Sequence[Setup]  # Of each cell.
    said: Sequence[Mapping[str, Any]]  # What rows of each cell say beside their result.
    files: Sequence[str]  # Of the topics, where there are several: rows say which.
    details: bool  # Whether rows carry them (`optsum.running.enumerate`).


class RunWork(AbstractContextManager["RunWork"]):
    """A run in progress. `total`: topics to be searched, once for each cell; None while unknown."""

    def __init__(
        self,
        experiment: Experiment,
        folder: PathLike,
        *,
        resume: bool,
        shard: str | None,
        limit: int | None = None,
        details: bool = False,
    ) -> None:
        if limit is not None and limit < 0:
            raise OptionError(f"A limit of {limit} topics is negative: give a limit of 0 or more.")
        self._experiment, self._limit, self._details = experiment, limit, details
        self._shard = Shard.parse(shard)
        # What cannot be read is refused first.
        self._readers = [topics_read(path, self._reading(path)) for path in experiment.topics]
        inputs = [self._fingerprint(path) for path in experiment.topics]
        self._hashes = [cell.config_hash for cell in experiment.cells]
        self._stack = ExitStack()
        self._folder = self._stack.enter_context(RunFolder(folder, resume=resume))
        try:
            facts = {"identity": experiment.identity(), "inputs": inputs, "shard": str(self._shard), "details": details}
            self._folder.begin(experiment.to_toml(), facts, limit)
            before = {each.get("optsum") for each in sessions_of(self._folder.path)} - {__version__}
            if before:
                how = "the run was begun with optsum %s, and this is %s: each row states its version"
                _LOG.warning(how, ", ".join(sorted(map(str, before))), __version__)
            self._folder.note(environment(experiment.cells), inputs)
            self.store: RowStore = self._folder.store
            self._inputs = inputs
            done, failed = self.store.answered()
            self.kept = done - failed
            self.total = self._count()
        except BaseException:
            self._stack.close()
            raise

    def _reading(self, path: str) -> Reading:
        return self._experiment.cells[0].reading.of_input(name_of(path), self._experiment.columns)

    def _fingerprint(self, path: str) -> dict[str, Any]:
        formulations = [cell.formulated() for cell in self._experiment.cells]
        beside = files_beside(topics_read(path, self._reading(path)), formulations)
        return {**fingerprint(path), **({} if beside is None else {"beside": beside})}

    def _count(self) -> int | None:
        """Return the amount of work, as far as it can be known without reading everything."""
        facts = facts_of(self.store)
        topics = facts.get("topics")
        if topics is None:
            paths, columns = self._experiment.topics, self._experiment.columns or {}
            counts = [count_lines(path) if path.endswith((".jsonl", ".ndjson")) else None for path in paths]
            several = any("[]" in path for path in columns.values())  # topics in a line
            topics = None if several or None in counts else sum(filter(None, counts))
            if topics is not None and self._limit is not None:
                topics = min(topics, self._limit)
            self.store.tell(expected=topics)
        return None if topics is None else self._shard.count(topics) * len(self._experiment.cells)

    @property
    def unit(self) -> str:
        """The word for the unit of progress."""
        return "topics" if len(self._experiment.cells) == 1 else "searches"

    def each_done(
        self, executor: AnyExecutor | None, iterate: Callable[[Generator[Answers, None, None]], Iterable[Answers]]
    ) -> Generator[int, None, None]:
        """Yield 1 for each topic (once for each cell) when its rows are durable."""
        _LOG.info("run %s: %d of %s done before", self._folder.path, self.kept, self.total or "an unknown number")
        setups = list(map(setup_of, self._experiment.cells))
        for setup in setups:  # what cannot work on any topic is refused here
            warm_up(setup)
        copied = all(setup.may_be_copied for setup in setups)
        crew = crew_of(self._experiment.cells[0], executor, apart=True, copied=copied)
        assert crew is not None  # noqa: S101 - apart
        self.store.tell(session={"began": time(), "kept": self.kept})
        said = [self._experiment.said_of(setup.options) for setup in setups]
        files = self._experiment.topics if len(self._readers) > 1 else ()
        settings = RunSettings(setups, said, files, self._details)
        search, lost = (partial(each, settings=settings) for each in (_search, _lost))
        rounds = as_done(search, self._missing(len(setups)), crew, lost, partial(_answer, settings=settings))
        warned: Counter[str | None] = Counter()
        with closing(rounds):
            for answers in iterate(rounds):
                finished = [answer for answer in answers if answer is not None]
                self.store.add(finished)
                for answer in finished:
                    rows = [json.loads(text) for _, text in answer[2] if '"warning"' in text]
                    warned[next((row["statistics"].get("warning") for row in rows), None)] += 1
                yield from repeat(1, len(finished))
        say_warned(warned, self.unit)
        now = [self._fingerprint(path) for path in self._experiment.topics]
        changed = differing_inputs(self._inputs, now)
        if any(cell.files for cell in self._experiment.cells):
            forget()
        if [cell.config_hash for cell in self._experiment.cells] != self._hashes:
            changed.append("a file that an option names has changed")
        if changed:
            self.store.tell(changed=changed)
            _LOG.warning("%s; rows may be of two versions: run it again in another folder", "; ".join(changed))

    def _missing(self, cells: int) -> Iterator[Item]:
        read = 0
        topics = ((file, topic) for file, reader in enumerate(self._readers) for topic in reader)
        for number, (file, topic) in enumerate(islice(topics, self._limit)):
            read = number + 1
            if not self._shard.holds(number):
                continue
            done = self.store.finished(number) if self.kept else set()
            yield from (Item(number, cell, topic, file) for cell in range(cells) if cell not in done)
        self.store.tell(topics=read)

    def __exit__(self, *_: object) -> None:
        self._stack.close()


# Where the work is done.


def _search(item: Item, settings: RunSettings) -> list[Result]:
    setups = [settings.setups[item.cell]]
    work = partial(search_part, setup=setups[0], search=answer)
    return search_topic(item.given, setups, detailed(work, setups, settings.details))


def _lost(item: Item, settings: RunSettings) -> list[Result]:
    return lost_topic(item.given, [settings.setups[item.cell]])


def _answer(item: Item, results: list[Result], settings: RunSettings) -> CellRows | None:
    """Return the rows of a topic for the store; None if Ctrl-C ended its search, which is then repeated."""
    if is_interrupted(results):
        return None
    own = {"topics": settings.files[item.file]} if settings.files else {}
    own.update(settings.said[item.cell])
    said = [result.changed(extra={**result.extra, **own}).to_row() for result in results]
    return item.topic, item.cell, tuple((row["status"], to_bytes(row).decode()) for row in said)
