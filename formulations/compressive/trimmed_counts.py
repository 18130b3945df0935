"""Count the n-grams of each group of chunks of a sentence, and find the groups that can matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from optsum.coverage.clauses import members
from optsum.metrics.metric import Counts, Gram, Metric

from .candidates import candidates
from .trimming import TrimmableSentence

_Joint = tuple[Gram, tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class TrimmedCounts:
    """Counts of one sentence.

    Attributes
    ----------
    kept : tuple of int
        The groups that become units, parents first.
    tokens : tuple of int
        Counted tokens of each group.
    single : tuple of tuples of Counts
        By metric and group: n-grams that are there as soon as the group is.
    joint : tuple of Counters
        By metric: n-gram, groups it needs, groups that must be gone -> copies.
    needs : tuple of int
        Each group with its ancestors, as bits.
    """

    kept: tuple[int, ...]
    tokens: tuple[int, ...]
    single: tuple[tuple[Counts, ...], ...]
    joint: tuple[Counter[_Joint], ...]
    needs: tuple[int, ...]

    def masses(self, metric: Metric) -> list[int] | None:
        """Return what each kept group adds to the number of n-grams of the summary; None if that is not linear.

        A text of w > 0 tokens has w - 1 bigrams: one less for the topmost group that has tokens, if there is one.
        """
        bearing = [group for group in self.kept if self.tokens[group]]
        masses = [0] * len(self.tokens)
        for size in metric.sizes:
            for group in bearing:
                masses[group] += self.tokens[group]
            if size == 2 and bearing:
                top = bearing[0]
                if any(not self.needs[group] >> top & 1 for group in bearing):
                    return None
                masses[top] -= 1
        return [masses[group] for group in self.kept]

    def joints(
        self, metric: int, unit_of: Mapping[int, int]
    ) -> list[tuple[Gram, tuple[int, ...], tuple[int, ...], int]]:
        """Return the n-grams of several units, in the numbers of the units."""
        return [
            (key, tuple(unit_of[group] for group in stay), tuple(unit_of[group] for group in go), copies)
            for (key, stay, go), copies in self.joint[metric].items()
        ]


@lru_cache(maxsize=16)
def _of_size(grams: frozenset[Gram], size: int) -> frozenset[tuple[str, ...]]:
    return frozenset(gram for gram in grams if isinstance(gram, tuple) and len(gram) == size)


def trimmed_counts(
    sentence: TrimmableSentence,
    tokens: Sequence[tuple[str, int]],
    metrics: Sequence[Metric],
    wanted: Sequence[Collection[Gram]],
    *,
    alive: int,
    all_unigrams: bool,
    keep_all: bool,
) -> TrimmedCounts:
    """Count.

    Parameters
    ----------
    tokens : sequence of (token, group)
        As `TrimmableSentence.tokens` has them.
    wanted : one collection of n-grams a metric
        Those of the references.
    alive : int
        The groups that fit into the summary, as bits, with each all its ancestors.
    all_unigrams : bool
        Count unigrams that are not wanted too.
    keep_all : bool
        Keep groups that hold nothing that is wanted and lead to nothing that does.
    """
    groups = range(len(sentence.chunks))
    tokens = [token for token in tokens if alive >> token[1] & 1]
    single: list[list[Counts]] = [[Counter() for _ in groups] for _ in metrics]
    joint: list[Counter[_Joint]] = [Counter() for _ in metrics]
    useful = alive if keep_all else 0
    for number, (metric, grams) in enumerate(zip(metrics, wanted, strict=True)):
        for size in metric.sizes:
            if size == 1:
                for token, group in tokens:
                    if token in grams:
                        useful |= sentence.needs[group]
                    if token in grams or all_unigrams:
                        single[number][group][token] += 1
                continue
            for found in candidates(tokens, sentence.needs, _of_size(frozenset(grams), size), size):
                stay, go = found.least_needed(sentence.needs), found.topmost_gone(sentence.needs)
                for group in stay:
                    useful |= sentence.needs[group]
                joint[number][found.gram, stay, go] += 1
    settled = [_settle(found, of, useful) for found, of in zip(joint, single, strict=True)]
    lengths = Counter(group for _, group in tokens)
    return TrimmedCounts(
        tuple(members(useful)),
        tuple(lengths[group] for group in groups),
        tuple(map(tuple, single)),
        tuple(settled),
        sentence.needs,
    )


def _settle(joint: Counter[_Joint], single: Sequence[Counts], useful: int) -> Counter[_Joint]:
    """Leave groups that are no units out of the gaps; move what a single group decides to what that group holds."""
    several: Counter[_Joint] = Counter()
    for (key, stay, go), copies in joint.items():
        staying = tuple(group for group in go if useful >> group & 1)
        if staying or len(stay) > 1:
            several[key, stay, staying] += copies
        else:
            single[stay[0]][key] += copies
    return several
