"""Jobs for the worker processes of tests, in a module that these can import as well."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from optsum.contracts.result import Result
from optsum.errors import describe
from optsum.options.options import resolve
from optsum.running.each_topic import error_result
from optsum.running.one_problem import setup_of, unsolved
from optsum.system.clock import Termination

OPTIONS = resolve({"max_length": 3})


def row(item: Any) -> list[Result]:
    return [error_result(str(item), f"process {os.getpid()}", setup_of(OPTIONS))]


def lost(item: Any) -> list[Result]:
    return [error_result(str(item), "lost", setup_of(OPTIONS))]


def dies_of(item: int, deadly: tuple[int, ...]) -> list[Result]:
    if item in deadly:
        os._exit(3)
    return row(item)


def dies_sending(item: int, folder: Path, deadly: int, sent: int) -> list[Result]:
    """Return a row, but the first time be killed when `sent` bytes of the results have been sent."""
    mark = folder / f"died-{item}"
    if item == deadly and not mark.exists():
        mark.touch()

        def send(self: Connection, data: bytes) -> None:
            os.write(self.fileno(), data[:sent])
            os.kill(os.getpid(), signal.SIGKILL)

        Connection._send = send  # type: ignore[attr-defined]
    return row(item)


def waits(item: int, folder: Path) -> list[Result]:
    (folder / f"began-{item}").touch()
    if item:
        time.sleep(60)
    return row(item)


def text_of(batch: object, items: list[int], found: list[list[Result]]) -> list[tuple[int, str | None]]:
    del batch
    return [(item, results[0].error) for item, results in zip(items, found, strict=True)]


def dies_first(item: int, folder: Path, deadly: tuple[int, ...], times: int = 1) -> list[Result]:
    """Return a row, but exit the first `times` times that a deadly item is tried."""
    marks = [folder / f"died-{item}-{number}" for number in range(times)]
    if item in deadly and (left := [mark for mark in marks if not mark.exists()]):
        left[0].touch()
        os._exit(3)
    return row(item)


def takes(item: int) -> list[Result]:
    """Allocate `item` MB and return a row, or an error row without memory."""
    try:
        held = bytearray(item * 10**6)
    except MemoryError as error:
        return [error_result(str(item), describe(error), setup_of(OPTIONS))]
    del held
    return [unsolved(str(item), setup_of(OPTIONS), Termination.TIME_LIMIT)]


def slow_first(item: int) -> list[Result]:
    if item == 0:
        time.sleep(60)
    return row(item)


def deadly_search(item: Any, settings: Any) -> list[Result]:
    """Search as a run does, but exit at the fourth topic."""
    if item.topic == 3:
        os._exit(9)
    found: list[Result] = settings.search(item)
    return found
