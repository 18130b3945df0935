"""What processes are given to do in tests: here, where they too can import it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from optsum.contracts.result import Result
from optsum.options.options import resolve
from optsum.running.each_topic import error_result
from optsum.running.setup import setup_of

OPTIONS = resolve({"max_length": 3})


def row(item: Any) -> list[Result]:
    return [error_result(str(item), f"process {os.getpid()}", setup_of(OPTIONS))]


def lost(item: Any) -> list[Result]:
    return [error_result(str(item), "lost", setup_of(OPTIONS))]


def dies_of(item: int, deadly: tuple[int, ...]) -> list[Result]:
    if item in deadly:
        os._exit(3)
    return row(item)


def waits(item: int, folder: Path) -> list[Result]:
    (folder / f"began-{item}").touch()
    if item:
        time.sleep(60)
    return row(item)
