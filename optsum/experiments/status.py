"""The progress of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from optsum.corpus.rows.store import STORE, RowStore, is_run
from optsum.errors import InputError
from optsum.experiments.experiment import Shard
from optsum.experiments.folder import is_locked
from optsum.system.files import PathLike


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """The progress of a run.

    Attributes
    ----------
    folder : str
    shard : str
        ``1/1`` for a run of all topics.
    running : bool
        Whether a process is at it now.
    total : int or None
        Topics, once for each cell; None as long as nobody knows: the input is read as far as is needed.
    done, failed : int
        Topics that have rows, once for each cell, and those of them that are errors.
    rows : mapping of status to int
        A topic has several where each reference is a problem.
    per_second : float or None
        Topics, once for each cell, since this session of the run began; None where there is nothing to tell it by.
    left_s : float or None
        Seconds that the rest takes at this rate.
    first_error : str or None
    doubts : tuple of str
        Doubts about the whole run: damaged rows, topics that were changed meanwhile.
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
        """Return all of it as JSON has it."""
        return {**asdict(self), "complete": self.complete}


def status(folder: PathLike) -> RunStatus:
    """Look at a run, also while it is under way.

    Parameters
    ----------
    folder : path
        Of the run.

    Returns
    -------
    RunStatus

    Raises
    ------
    InputError
        If the folder holds no run.
    """
    if not is_run(folder):
        raise InputError(f"{folder} is no folder of a run: there is no {STORE} in it")
    with RowStore(Path(folder) / STORE) as store:
        facts = store.facts()
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
