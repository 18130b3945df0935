"""How long a subtree is searched before it is split.

A search begins with few frames. If they do not suffice, the subtree is split at its first unit and the halves get
prices of their own, which tightens their bounds: right where the search mostly fails. Where it mostly succeeds
(frames become diagram nodes) splitting would only cut the diagram in parts that share less, so the search goes on,
with a larger memo, as long as it stays fruitful.

Where the bound does not see the length (`joints.flat`) splitting does not help, and merging does: there a search is
run far, with a memo that grows with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .search import PAUSED, Search

_SMALL_MEMO = 1 << 15
_MEMO = 1 << 18
_PATIENT_MEMO = 1 << 16
_LARGEST_MEMO = 1 << 22


@dataclass(frozen=True, slots=True)
class Effort:
    """The frames one subtree may use.

    Attributes
    ----------
    start, first : frames before the memo grows, and before a search must be fruitful to go on
    slice, longest : frames between two looks at the limits, and at most
    fruitful : share of the frames that become nodes, from which on a search goes on
    deepest : splits on one way; deeper down no search gives up
    patient, patient_slice, patient_fruitful : the same for searches with a blind bound
    shrink : a relaxation is made anew once a core has this many times fewer units
    brief, brief_shrink : frames, and the same, in a search for one set that was split often: relaxations decide it
    """

    start: int = 300
    first: int = 1_500
    slice: int = 100_000
    longest: int = 150_000
    fruitful: float = 0.3
    deepest: int = 200
    patient: int = 600_000
    patient_slice: int = 60_000
    patient_fruitful: float = 0.1
    shrink: float = 1.6
    brief: int = 100
    brief_shrink: float = 2.5

    def run(self, search: Search, check: Callable[[], None], *, endless: bool, brief: bool = False) -> int:
        """Run a search until it is done or has used its effort; `check` may raise."""
        check()
        answer = search.run(min(self.start, self.brief) if brief else self.start)
        if answer != PAUSED or (brief and not endless):
            return answer
        search.grow_memo(_SMALL_MEMO)
        answer = search.run(self.first - self.start)
        while answer == PAUSED and (
            endless or (search.frames < self.longest and search.fruitful > self.fruitful * search.frames)
        ):
            check()
            search.grow_memo(_MEMO)
            answer = search.run(self.slice)
        return answer

    def run_far(self, search: Search, check: Callable[[], None], frames: int) -> int:
        """Run a search for so many frames, and to its end if it finds much; `check` may raise."""
        slots = _PATIENT_MEMO
        answer = PAUSED
        while answer == PAUSED and (search.frames < frames or search.fruitful > self.patient_fruitful * search.frames):
            check()
            while slots < min(_LARGEST_MEMO, 4 * search.frames):
                slots *= 2
            search.grow_memo(slots)
            answer = search.run(self.patient_slice)
        return answer


DEFAULT: Final = Effort()
"""What proved quickest on topics of all kinds."""
