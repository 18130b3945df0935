"""A formulation that logs each topic that is searched: the time, the process and the id."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, ClassVar

from optsum.formulations.extractive import Extractive

from optsum.corpus.topic import Topic
from optsum.problem.formulation import Spec

LOG = "OPTSUM_SEARCHED"
"""The environment variable that names the file."""


class Searched(Extractive):
    """The formulation ``extractive``, with a log."""

    name: ClassVar[str] = "searched"

    def build(self, topic: Topic, spec: Spec) -> Any:
        """Append a line with the time, the process and the id to the log, and return the problem."""
        if topic.id != "warm-up":
            file = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, f"{time.time()} {os.getpid()} {topic.id}\n".encode())
            os.close(file)
        return super().build(topic, spec)


def searches(path: str) -> list[tuple[float, int, str]]:
    """Return the lines of the log: time, process, id."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(" ", 2) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []
    return [(float(moment), int(process), name) for moment, process, name in lines]
