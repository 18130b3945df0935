"""How long a subtree is searched before it is split.

A search begins with few frames. If they do not suffice, the subtree is split at its first unit and the halves get
prices of their own, which tightens their bounds: right where the search mostly fails. Where it mostly succeeds
(frames become diagram nodes) splitting would only cut the diagram in parts that share less, so the search goes on,
with a larger memo, as long as it stays fruitful.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .search import PAUSED, Walk

__all__ = ["Effort"]

START: Final = 300
FIRST: Final = 1_500
SLICE: Final = 100_000
LONGEST: Final = 150_000
FRUITFUL: Final = 0.3


class Effort:
    """The frames one subtree may use.

    Parameters
    ----------
    endless : bool
        Never give up.
    """

    def __init__(self, *, endless: bool = False) -> None:
        self._endless = endless

    def _worthwhile(self, search: Walk) -> bool:
        return self._endless or (search.frames < LONGEST and search.fruitful > FRUITFUL * search.frames)

    def run(self, search: Walk, check: Callable[[], None]) -> int:
        """Run a search until it is done or its effort is used; `check` may raise."""
        check()
        answer = search.run(START)
        if answer != PAUSED:
            return answer
        search.grow_memo(1 << 15)
        answer = search.run(FIRST - START)
        while answer == PAUSED and self._worthwhile(search):
            check()
            search.grow_memo(1 << 18)
            answer = search.run(SLICE)
        return answer
