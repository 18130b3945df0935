"""Shards of a run put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from logging import getLogger
from pathlib import Path
from typing import Any

from optsum.corpus.rows.store import STORE, RowStore, is_run
from optsum.errors import InputError, OptionError
from optsum.experiments.experiment import Shard
from optsum.experiments.folder import CONFIG, RunFolder, sessions_of
from optsum.experiments.inputs import fingerprint
from optsum.experiments.status import RunStatus, status
from optsum.system.files import PathLike, read_text


def merge(folders: Iterable[PathLike], into: PathLike) -> RunStatus:
    """Put the shards of a run together in one folder, which is a run like any other.

    Parameters
    ----------
    folders : iterable of path
        Folders of shards of the same run. ``optsum run --resume`` on the result does missing topics.
    into : path
        A new folder, or the folder of an earlier merge, which grows.

    Returns
    -------
    RunStatus

    Raises
    ------
    InputError
        If a folder holds no run.
    OptionError
        If they are not of the same run, a shard is there twice, or the result cannot be written.
    """
    paths = [Path(folder) for folder in folders]
    if not paths:
        raise OptionError("There is nothing to merge: name the folders of shards.")
    for path in paths:
        if not is_run(path):
            raise InputError(f"{path} is no folder of a run: there is no {STORE} in it")
    with ExitStack() as stack:
        stores = [stack.enter_context(RowStore(path / STORE)) for path in paths]
        facts = [store.facts() for store in stores]
        _check(paths, facts)
        doubts = [*filter(None, (store.damage for store in stores)), *_changed(paths, facts)]
        first = facts[0]
        target = stack.enter_context(RunFolder(into, resume=True))
        config = read_text(paths[0] / CONFIG, "the configuration")
        same = {"shard": "1/1", "details": first["details"]}
        target.begin(config, first["identity"], first["inputs"], same, first.get("limit"))
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
    """Return which runs are of topics that were changed while they were searched, or have been since."""
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
    """Refuse to merge what is not the same run in different shards."""
    seen: dict[Shard, Path] = {}
    for path, own in zip(paths, facts, strict=True):
        if "identity" not in own:
            raise InputError(f"the run {path} was stopped before it began, or is damaged: run it again with --resume")
        hashes = [each["sha256"] for each in own["inputs"]]
        same = own["identity"] == facts[0]["identity"] and own["details"] == facts[0]["details"]
        if not same or hashes != [each["sha256"] for each in facts[0]["inputs"]]:
            what = "topics" if same else "options"
            raise OptionError(f"the runs {paths[0]} and {path} are of different {what}: merge shards of one run")
        if own.get("limit") != facts[0].get("limit"):
            raise OptionError(
                f"the runs {paths[0]} and {path} are of different limits ({facts[0].get('limit') or 'none'} and "
                f"{own.get('limit') or 'none'}): merge shards of one run"
            )
        shard = Shard.parse(own["shard"])
        if shard.of != Shard.parse(facts[0]["shard"]).of:
            raise OptionError(
                f"the run {path} is shard {shard}, and {paths[0]} is {facts[0]['shard']}: merge one division"
            )
        if shard in seen:
            raise OptionError(f"the runs {seen[shard]} and {path} both are shard {shard}: name each shard once")
        seen[shard] = path
