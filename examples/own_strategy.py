"""A strategy of your own, without a package: late acceptance hill climbing (Burke & Bykov 2017).

python own_strategy.py [TOPICS]; the same on the command line:
optsum compare TOPICS --strategies greedy,examples/own_strategy.py:LateAcceptance --max-length 75 --seeds 0:5
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"


@dataclass(frozen=True)
class LateAcceptance(optsum.Strategy):
    """Take a random move if it leads to something no worse than what was held some steps ago."""

    steps: int = 2000
    memory: int = 20
    name: ClassVar[str] = "late-acceptance"
    about: ClassVar[str] = "random moves, taken if no worse than what was held some steps ago"

    def search(self, run: optsum.Run) -> None:
        """Search; the run keeps the best of what it sees."""
        problem, rng = run.problem, run.rng
        sign = 1 if problem.sense is optsum.Sense.MAXIMIZE else -1

        def worth(selection: tuple[int, ...]) -> Any:
            found = run.see(selection)
            return -found.violation, sign * found.key

        here = problem.repair((), rng)
        now = worth(here)
        held = [now] * self.memory
        for step in range(self.steps):
            run.check()
            moves = list(problem.moves(here))
            if not moves:
                return
            flipped = set(here).symmetric_difference(moves[rng.integers(len(moves))])
            there = problem.repair(tuple(sorted(flipped)), rng)
            then, late = worth(there), step % self.memory
            if then >= min(now, held[late]):
                here, now = there, then
            held[late] = max(now, held[late])


if __name__ == "__main__":
    topics = list(optsum.read_topics(sys.argv[1] if len(sys.argv) > 1 else NEWS))
    print(optsum.compare(topics, ["greedy", f"{__file__}:LateAcceptance"], max_length=75, seeds=range(5)))
