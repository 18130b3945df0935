"""What the searches of a run stand on: cores with prices, what those decide, and subtrees searched so far.

Relaxations are warm. That of a subtree is the one of an ancestor with bounds changed, until the core is much smaller,
and begins where its parent's ended; one of which no more is asked than that nothing reaches a target ends there.
"""

from __future__ import annotations

from math import inf
from typing import Final, Generic

import numpy as np
from numpy.typing import NDArray

from optsum.contracts.run import Limits
from optsum.coverage.instance import IntArray
from optsum.errors import UnsupportedError
from optsum.system.deadline import Deadline

from .effort import Effort
from .monitor import Monitor
from .operations import C, Node, Open, Operations
from .program import Program
from .reduction import TAKEN, States
from .relaxation import POOL, Session
from .search import Search
from .store import NodeStore

__all__ = ["Bounding"]

_CLEAR: Final = 655
"""How far below a target, in units of prices, a relaxation need not be solved further: more than rounding them does."""

_NODE_BYTES: Final = 400
"""Memory of a diagram node while everything is done with it that can be done."""


class Bounding(Monitor, Generic[C]):
    """The root of a program, and the bounds of its subtrees; parameters and attributes are those of `Driver`."""

    def __init__(
        self,
        program: Program,
        ops: Operations[C],
        limits: Limits,
        deadline: Deadline | None,
        effort: Effort,
        root: tuple[C, int] | None,
    ) -> None:
        super().__init__(limits, deadline)
        self._effort = effort
        self.store = NodeStore()
        self._ops = ops
        self._size = program.size
        self._solved = -1
        self._seen: tuple[NDArray[np.float64], object] | None = None
        self._core, self.divisor = ops.root(program, self.deadline) if root is None else root
        if self._core.low > 0 and self._core.high >= 0 and ops.grain(self._core) > 1:
            raise UnsupportedError(
                f"A minimum length needs an exact table of {self._core.size} units by {self._core.high} lengths, which "
                "is too large; measure the length in words or use the strategy milp."
            )
        self._root = self._priced(self._core) if root is None else self._core
        bound = ops.upper_bound(self._root) if self._core.high >= 0 else None
        self.feasible = bound is not None
        self.upper = 0 if bound is None else bound // self._core.scale

    def _opened(self, now: Open[C], target: int) -> C:
        """Return what is left of a subtree, with prices of its own, or with some that show it to miss a target."""
        enough = float(target - now.relaxed.base) - _CLEAR / now.relaxed.scale
        if now.near is not None:
            with self.phase("relaxation"):
                self._session(now.relaxed, now.rank, now.near)
        return self._child(Node(now.relaxed, now.relaxed, now.rank, ()), now.state[now.relaxed.ids], now.basis, enough)

    def _halves(self, now: Open[C], core: C, unit: int, shrink: float, *, root: bool) -> list[Open[C]]:
        """Return both halves of what is left of a subtree; `unit` parts them where no relaxation was solved."""
        sessions = POOL.sessions
        session = sessions[now.rank] if now.rank < len(sessions) and sessions[now.rank].owner is now.relaxed else None
        values = None if session is None else session.values(now.relaxed.size)
        seen = None if session is None or values is None else (values, session.basis())
        if root:
            if session is not None and session.solved == self._solved:
                self._seen = seen
            seen = self._seen
        if seen is not None:
            whole = np.zeros(self._size)
            whole[now.relaxed.ids] = seen[0]
            seen = whole[core.ids], seen[1]
            if self._ops.halver is not None:
                unit = self._ops.halver(core, seen[0])
        return now.halves(self._ops, core, unit, shrink, seen)

    def _whole(self, core: C) -> Node[C]:
        return Node(core, self._core if core is self._root else core, 0, ())

    def _check(self) -> None:
        self.check(self.store.used * _NODE_BYTES)

    def _session(self, core: C, rank: int, near: NDArray[np.float64] | None = None) -> Session | None:
        """Relaxation number `rank`, with the model of a core; None if the core has no use for prices.

        A model that is loaded begins where there is about so much of each unit, if `near` says so.
        """
        sessions = POOL.sessions
        if rank < len(sessions) and sessions[rank].owner is core:
            return sessions[rank]
        program = self._ops.relaxation(core)
        if program is None:
            return None
        while len(sessions) <= rank:
            sessions.append(Session())
        sessions[rank].load(program, core.scale, core)
        standing = None if near is None else self._ops.columns_and_rows(core, program, near)
        if standing is not None:
            sessions[rank].begin_near(*standing)
        return sessions[rank]

    def _multipliers(self, session: Session, enough: float = -inf) -> IntArray | None:
        self.statistics.relaxations += 1
        return session.multipliers(self.deadline, enough)

    def _priced(self, core: C) -> C:
        """Return a core with the prices of its relaxation."""
        with self.phase("relaxation"):
            session = self._session(core, 0) if core.high >= 0 else None
            found = None if session is None else self._multipliers(session)
            self._solved = -1 if session is None else session.solved
        return core if found is None else self._ops.priced(core, found)

    def _fixed(self, core: C, target: int) -> tuple[C | None, list[int]]:
        """Decide what the bound decides, again and again; None if nothing reaches the target."""
        taken: list[int] = []
        while True:
            if core.high < 0 or core.low > core.high:
                return None, taken
            bound, state, moved = self._ops.decide(core, target)
            if bound < target * core.scale:
                return None, taken
            if not moved:
                return core, taken
            taken += core.ids[state == TAKEN].tolist()
            core = self._ops.reduced(core, state)

    def _squeezed(self, node: Node[C], core: C, target: int) -> tuple[C | None, list[int]]:
        """Decide what the bound decides with prices that see the length (`Session.squeezed`)."""
        with self.phase("relaxation"):
            session = self._session(core, node.rank + 1)
            if session is None:
                return core, []
            self.statistics.relaxations += 1
            found = session.squeezed(target - core.base, max(0, core.low), self.deadline)
        return self._fixed(core if found is None else self._ops.priced(core, found), target)

    def _child(self, node: Node[C], state: States, basis: object = None, enough: float = -inf) -> C:
        """Return what is left of the relaxed core, with prices of its own; see `Session` for the rest."""
        core = node.relaxed
        with self.phase("relaxation"):
            session = self._session(core, node.rank)
            if session is not None:
                session.begin_at(basis)
                session.decide(state)
                found = self._multipliers(session, enough)
                core = core if found is None else self._ops.priced(core, found)
            return self._ops.reduced(core, state)

    def _run(self, search: Search, depth: int, *, far: bool = False, brief: bool = False) -> int:
        """Run a search until it is done or has used its effort, and count what it did."""
        frames, merged, effort = search.frames, search.hits, self._effort
        try:
            with self.phase("search"):
                if far:
                    return effort.run_far(search, self._check, effort.patient if depth == 0 else effort.patient // 10)
                return effort.run(search, self._check, endless=depth >= effort.deepest, brief=brief)
        finally:
            self.statistics.nodes += search.frames - frames
            self.statistics.merged += search.hits - merged
