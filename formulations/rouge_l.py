r"""ROUGE-L of extracts: a problem that is no instance of the normal form.

Lin 2004, section 3.2. A position of a reference is covered once some chosen sentence's longest common subsequence
passes it, and a token hits at most as often as it occurs in the summary:

.. math:: \sum_k \sum_t \min\Bigl(|\{\text{covered positions of } t \text{ in } k\}|,
          \sum_{u \text{ chosen}} c_{ut}\Bigr)

The first is a coverage of positions, the second a linear cap; their minimum is not in the normal form, but it is
linear for an integer program (`longest_model`), as long as denominators are constant (recall).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from optsum.corpus.topic import Topic
from optsum.coverage.clauses import members
from optsum.coverage.instance import NO_LIMIT, Key, Sense
from optsum.metrics.lcs import lcs_positions
from optsum.problem.counted import nothing_to_count
from optsum.problem.problem import Capability, Evaluation, Problem, Selection
from optsum.problem.spec import Spec
from optsum.program.dual_bound import model_bound
from optsum.program.model import LinearModel
from optsum.program.rows import LinearRows
from optsum.system.deadline import NEVER, Deadline


@dataclass(frozen=True, eq=False)
class Positions:
    """One reference, its positions numbered through all of its sentences; sets of positions are bits of an integer.

    Attributes
    ----------
    total : int
        Number of positions.
    once : int
        Positions whose token occurs nowhere else in the reference: covered is hit.
    repeated : tuple of (int, token)
        Positions of each token that occurs several times.
    covered : one integer a unit
        The positions that the unit covers.
    """

    total: int
    once: int
    repeated: tuple[tuple[int, str], ...]
    covered: tuple[int, ...]

    @classmethod
    def of(cls, reference: Sequence[Sequence[str]], units: Sequence[Sequence[str]]) -> Positions:
        """Find the common subsequences of every reference sentence and every unit."""
        places: dict[str, int] = {}
        covered = [0] * len(units)
        first = 0
        for sentence in reference:
            for position, token in enumerate(sentence, first):
                places[token] = places.get(token, 0) | 1 << position
            for unit, tokens in enumerate(units):
                for position in lcs_positions(sentence, tokens):
                    covered[unit] |= 1 << (first + position)
            first += len(sentence)
        repeated = tuple((bits, token) for token, bits in places.items() if bits.bit_count() > 1)
        return cls(first, sum(bits for bits in places.values() if bits.bit_count() == 1), repeated, tuple(covered))

    def of_units(self, units: Sequence[int]) -> Positions:
        """Return the same reference for some of the units."""
        return replace(self, covered=tuple(self.covered[unit] for unit in units))

    def hits(self, selection: Selection, counts: Counter[str]) -> int:
        """Return the hits of a selection whose tokens are counted in `counts`."""
        union = 0
        for unit in selection:
            union |= self.covered[unit]
        hits = (union & self.once).bit_count()
        for places, token in self.repeated:
            if found := (union & places).bit_count():
                hits += min(found, counts[token])
        return hits


@dataclass(frozen=True, eq=False, kw_only=True)
class LongestProblem(Problem):
    """ROUGE-L of a choice of sentences.

    Attributes
    ----------
    references : tuple of Positions
    tokens : one tuple of tokens a unit
    measure : {"recall", "precision", "f1"}
    mean : bool
        The mean over the references instead of all together.
    """

    references: tuple[Positions, ...] = field(repr=False)
    tokens: tuple[tuple[str, ...], ...] = field(repr=False)
    measure: str = "recall"
    mean: bool = False

    @cached_property
    def _repeated(self) -> tuple[Counter[str], ...]:
        """How often each unit has each token that some reference repeats."""
        wanted = {token for reference in self.references for _, token in reference.repeated}
        return tuple(Counter(token for token in tokens if token in wanted) for tokens in self.tokens)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """A linear model where denominators are constant; no arrays, so no search that lives on them."""
        return frozenset({Capability.LINEAR, Capability.BOUND}) if self.measure == "recall" else frozenset()

    def explain(self, missing: frozenset[Capability]) -> str:
        """Say what does search it."""
        del missing
        serve = "exhaustive, a heuristic, or milp" if self.measure == "recall" else "exhaustive or a heuristic"
        return f"rouge-l is no coverage of n-grams: use {serve}."

    def totals(self, selection: Selection) -> tuple[int, ...]:
        """Return numerator and denominator of each ratio, in turn."""
        counts: Counter[str] = Counter()
        for unit in selection:
            counts.update(self._repeated[unit])
        mass = sum(len(self.tokens[unit]) for unit in selection)
        scale = 2 if self.measure == "f1" else 1
        found: list[tuple[int, int]] = []
        for reference in self.references:
            bottom = {"recall": reference.total, "precision": mass, "f1": reference.total + mass}[self.measure]
            found.append((scale * reference.hits(selection, counts), bottom))
        if self.mean:
            return tuple(number for pair in found for number in pair)
        return sum(top for top, _ in found), sum(bottom for _, bottom in found)

    def evaluate(self, selection: Selection) -> Evaluation:
        """Score a selection."""
        totals = self.totals(selection)
        ratios = [
            Fraction(top, bottom) if bottom else Fraction(0)
            for top, bottom in zip(totals[0::2], totals[1::2], strict=True)
        ]
        key = sum(ratios, Fraction(0)) / max(1, len(ratios))
        return Evaluation(key, self.excess(selection), float(key))

    @cached_property
    def linear_model(self) -> LinearModel:
        """The integer program with covered positions as columns."""
        if self.measure != "recall":
            raise self._lacks(Capability.LINEAR)
        return longest_model(self)

    def root_bound(self, deadline: Deadline = NEVER) -> Key:
        """Return the bound of the root relaxation, proven in integers (`optsum.program.dual_bound.dual_bound`)."""
        if self.measure != "recall":
            raise self._lacks(Capability.BOUND)
        model = self.linear_model
        return Fraction(model_bound(model, deadline) + model.offset, model.denominator)


def longest_model(problem: LongestProblem) -> LinearModel:
    """Return the program: units x, covered positions y, hits h of tokens that a reference repeats.

    ``y_p <= sum of x_u over the units that cover p``; ``h_t <= sum of y_p over the positions of t`` and ``h_t <= sum of
    c_ut x_u``. Positions of a token that occurs once are hits themselves. Only x is integral: whatever x, the rest
    takes its largest values.
    """
    n = problem.size
    totals = [reference.total for reference in problem.references]
    common = lcm(*(total for total in totals if total)) if problem.mean else 1
    objective: list[int] = [0] * n
    upper: list[int] = [1] * n
    rows = LinearRows()

    def row(entries: list[tuple[int, int]], lower: float, most: float) -> None:
        columns = np.array([column for column, _ in entries], np.int64)
        rows.add(np.zeros(len(entries), np.int64), columns, np.array([value for _, value in entries], np.int64))
        rows.close(1, lower, most)

    def column(gain: int, most: int) -> int:
        objective.append(gain)
        upper.append(most)
        return len(objective) - 1

    for reference, total in zip(problem.references, totals, strict=True):
        gain = common // total if problem.mean and total else 1
        covers: dict[int, list[int]] = {}
        for unit, bits in enumerate(reference.covered):
            for position in members(bits):
                covers.setdefault(position, []).append(unit)
        place: dict[int, int] = {}
        for position, units in sorted(covers.items()):
            place[position] = column(gain if reference.once >> position & 1 else 0, 1)
            row([(place[position], 1), *((unit, -1) for unit in units)], -np.inf, 0)
        for bits, token in reference.repeated:
            places = [place[position] for position in members(bits) if position in place]
            if not places:
                continue
            hits = column(gain, len(places))
            row([(hits, 1), *((one, -1) for one in places)], -np.inf, 0)
            held = [(unit, -count) for unit in range(n) if (count := problem.tokens[unit].count(token))]
            row([(hits, 1), *held], -np.inf, 0)
    most = np.inf if problem.max_length >= NO_LIMIT else float(problem.max_length)
    row(list(enumerate(problem.lengths)), float(problem.min_length), most)
    return LinearModel(
        sense=Sense.MAXIMIZE,
        objective=np.array(objective, np.int64),
        upper=np.array(upper, np.int64),
        integral=np.arange(len(objective)) < n,
        **rows.arrays()._asdict(),
        units=n,
        denominator=max(1, common * len(totals) if problem.mean else sum(totals)),
    )


def longest_problem(
    topic: Topic, spec: Spec, candidates: Sequence[tuple[int, int, list[str]]]
) -> tuple[LongestProblem, tuple[int, ...]]:
    """Return the problem of a topic, whose references must have a token, and the sentence numbers of its units.

    `candidates` are number, length and tokens of each sentence that is not too long.
    """
    tokens = [tuple(words) for _, _, words in candidates]
    references = [
        Positions.of([spec.analyzer.tokens(sentence) for sentence in reference], tokens)
        for reference in topic.references
    ]
    if not any(reference.total for reference in references):
        raise nothing_to_count(topic, "token")
    kept = [
        unit
        for unit in range(len(candidates))
        if spec.keep_unmatched or spec.min_length > 0 or any(reference.covered[unit] for reference in references)
    ]
    problem = LongestProblem(
        lengths=tuple(candidates[unit][1] for unit in kept),
        min_length=spec.min_length,
        max_length=spec.max_length,
        references=tuple(reference.of_units(kept) for reference in references),
        tokens=tuple(tokens[unit] for unit in kept),
        measure=spec.measure,
        reference_units=topic.reference_sentences,
        mean=spec.references == "mean",
    )
    return problem, tuple(candidates[unit][0] for unit in kept)
