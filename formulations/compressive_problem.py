"""The problem of compressions: the normal form, and whole sentences as what a baseline takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.problem import Move

__all__ = ["CompressiveProblem"]


@dataclass(frozen=True, eq=False, kw_only=True)
class CompressiveProblem(CoverageProblem):
    """A coverage problem whose units are parts of sentences: the trees of the forest."""

    def entries(self) -> Iterator[Move]:
        """Yield whole sentences in document order."""
        parents = self.instance.parents.tolist()
        sentence: list[int] = []
        for unit, parent in enumerate(parents):
            if parent < 0 and sentence:
                yield tuple(sentence)
                sentence = []
            sentence.append(unit)
        if sentence:
            yield tuple(sentence)
