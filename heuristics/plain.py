"""Local search through the small part of a problem alone: `evaluate`, `moves` and `repair`."""

from __future__ import annotations

from collections.abc import Iterator

from optsum.contracts.run import Run
from optsum.problem.problem import Evaluation, Selection

_REMEMBERED = 200_000


class Plain:
    """Evaluates each selection once, and descends from it."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._known: dict[Selection, Evaluation] = {}

    def see(self, selection: Selection) -> Evaluation:
        """Evaluate a selection, or remember what it is worth."""
        self.run.check()
        known = self._known.get(selection)
        if known is None:
            known = self.run.see(selection)
            if len(self._known) < _REMEMBERED:
                self._known[selection] = known
        return known

    def better(self, one: Selection, other: Selection) -> bool:
        """Whether a selection violates less, or is worth more, or is worth the same and shorter."""
        order = self.order(one, other)
        return order > 0 or (order == 0 and self.run.problem.length(one) < self.run.problem.length(other))

    def order(self, one: Selection, other: Selection) -> int:
        """Return 1 if a selection is better than another, -1 if worse, 0 if it is as good."""
        left, right = self.see(one), self.see(other)
        if left.violation != right.violation:
            return 1 if left.violation < right.violation else -1
        if left.key == right.key:
            return 0
        return 1 if self.run.problem.sense.better(left.key, right.key) else -1

    def descend(self, selection: Selection) -> Selection:
        """Take the first move or swap, in random order, that helps, until none does."""
        while True:
            for candidate in self._neighbours(selection):
                if self.better(candidate, selection):
                    selection = candidate
                    break
            else:
                return selection

    def _neighbours(self, selection: Selection) -> Iterator[Selection]:
        """Yield what one move leads to, then what a drop and an addition lead to; nothing that violates length more."""
        problem, rng, chosen = self.run.problem, self.run.rng, set(selection)
        moves = list(problem.moves(selection))
        excess = problem.excess(selection)
        for place in rng.permutation(len(moves)).tolist():
            candidate = chosen.symmetric_difference(moves[place])
            if problem.excess(candidate) <= excess:
                yield tuple(sorted(candidate))
        drops = [move for move in moves if chosen.issuperset(move)]
        adds = [move for move in moves if chosen.isdisjoint(move)]
        for place in rng.permutation(len(drops) * len(adds)).tolist():
            candidate = chosen.difference(drops[place // len(adds)]).union(adds[place % len(adds)])
            if problem.excess(candidate) <= excess:
                yield tuple(sorted(candidate))

    def shake(self, selection: Selection, strength: int) -> Selection:
        """Drop and add at random, `strength` times each, and repair."""
        problem, rng = self.run.problem, self.run.rng
        chosen = set(selection)
        for _ in range(strength):
            for dropping in (True, False):
                moves = [
                    move
                    for move in problem.moves(tuple(sorted(chosen)))
                    if (chosen.issuperset(move) if dropping else chosen.isdisjoint(move))
                ]
                if moves:
                    chosen.symmetric_difference_update(moves[int(rng.integers(len(moves)))])
        return problem.repair(tuple(sorted(chosen)), rng)
