"""Local processes: results in the order of the input, a bounded number of topics under way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from optsum.config import Options

__all__ = ["map_ordered"]

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_BATCH = 8
"""Topics a task: what is sent costs little beside the work."""


def map_ordered(work: Callable[[Item, Options], Answer], items: Iterable[Item], options: Options) -> Iterator[Answer]:
    """Yield ``work(item, options)`` for each item, in order, computed by `options.workers` processes.

    At most four batches a worker are under way, so memory does not grow with the input.
    """
    from loky import get_reusable_executor

    executor = get_reusable_executor(max_workers=options.workers)
    source = iter(items)
    under_way: deque[Any] = deque()
    try:
        while True:
            while len(under_way) < 4 * options.workers and (batch := list(islice(source, _BATCH))):
                under_way.append(executor.submit(_work_on, work, batch, options))
            if not under_way:
                return
            yield from under_way.popleft().result()
    finally:
        for future in under_way:
            future.cancel()


def _work_on(work: Callable[[Item, Options], Answer], batch: list[Item], options: Options) -> list[Answer]:
    return [work(item, options) for item in batch]
