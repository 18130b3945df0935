"""Small random instances of every kind, including edge cases, and the truth about small problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations
from typing import Any, Final

import numpy as np

from optsum.coverage.instance import NO_LIMIT, Combination, Coverage, Joint, Key, Row, Sense
from optsum.errors import OptionError
from optsum.problem.problem import Evaluation, Problem, Selection

KINDS: Final = (
    "recall",  # extracts: several references, clipped, no minimum length
    "window",  # the same with a minimum length, which may be out of reach
    "compressive",  # parents, and occurrences that several units decide, some vetoed
    "joined",  # recall or F1 with n-grams across the ends of sentences: seams that every unit between vetoes
    "cover",  # the shortest selection that reaches every feature, by alternatives
    "precision",  # a linear denominator, which may start below 0
    "f1",  # a linear denominator with a constant
    "set",  # a denominator that is a coverage itself
    "sum",  # a weighted sum of ratios, anything in them
    "product",  # a weighted geometric mean of ratios, anything in them
    "sided",  # any of those before, with side constraints
    "huge",  # products beyond 64 bits
)
"""Kinds of `random_coverage` on which every strategy is checked."""

HARMONIC: Final = "harmonic"
"""A further kind: a weighted harmonic mean of ratios, one with a varying denominator, like F1 of similarity."""


def random_coverage(rng: np.random.Generator, *, kind: str = "recall", units: int = 7) -> Coverage:
    """Return a random instance.

    It may have duplicate and zero-length units, units without features, repeated occurrences, features without gain, no
    units or features, and limits that nothing or everything fits.

    Parameters
    ----------
    rng : numpy.random.Generator
        The same state gives the same instance.
    kind : str
        One of `KINDS`, or "harmonic".
    units : int
        Largest number of units.

    Raises
    ------
    OptionError
        For another kind.
    """
    if kind not in {*KINDS, HARMONIC}:
        raise OptionError(f"There is no kind of instance {kind!r}: use {', '.join(KINDS)}.")
    n = int(rng.integers(0, units + 1)) if rng.random() < 0.25 else units
    return _Draw(rng, n).make(kind)


class _Draw:
    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.rng = rng
        self.n = n
        self.features = self.below(9)
        self.lengths = [self.below(10) for _ in range(n)]
        self.rows = [self.row() for _ in range(n)]
        for unit in range(1, n):
            if self.rng.random() < 0.15:  # the same sentence in another document
                twin = self.below(unit)
                self.lengths[unit], self.rows[unit] = self.lengths[twin], dict(self.rows[twin])

    def below(self, stop: int) -> int:
        return int(self.rng.integers(0, stop))

    def row(self) -> dict[int, int]:
        held = self.rng.permutation(self.features)[: self.below(5)]
        return {int(feature): 1 + self.below(3) for feature in held}

    def gains(self, scale: int = 1) -> list[list[int]]:
        """Return gain tables of clipped counts in one to four references."""
        references = [[self.below(4) for _ in range(self.features)] for _ in range(1 + self.below(4))]
        return [
            [scale * sum(count >= copy for count in counts) for copy in range(1, max(counts) + 1)]
            for counts in zip(*references, strict=True)
        ]

    def limits(self, minimum: bool = False) -> dict[str, Any]:
        total = sum(self.lengths)
        most = (NO_LIMIT, 0, self.below(total + 1), total // 2, total // 3)[self.below(5)]
        least = min(most, 1 + self.below(total + 2)) if minimum else 0
        return {"max_length": most, "min_length": least}

    def parents(self) -> list[int]:
        return [int(self.rng.integers(-1, unit)) if unit and self.below(2) else -1 for unit in range(self.n)]

    def joints(self, vetoes: bool = True) -> tuple[Joint, ...]:
        made = []
        for _ in range(self.below(7) if self.n and self.features else 0):
            order = self.rng.permutation(self.n).tolist()
            needs = 1 + self.below(min(3, self.n))
            banned = order[needs : needs + self.below(3)] if vetoes else []
            made.append(Joint(self.below(self.features), tuple(order[:needs]), tuple(banned), 1 + self.below(2)))
        return tuple(made)

    def sides(self) -> tuple[Row, ...]:
        """Return rows that everything, something or nothing satisfies, over any units; most with equal coefficients."""
        made = []
        for _ in range(1 + self.below(3)):
            units = tuple(sorted(self.rng.permutation(self.n)[: self.below(self.n + 1)].tolist()))
            most = 1 + self.below(2) * self.below(3)
            numbers = tuple(1 + self.below(most) for _ in units)
            low = self.below(sum(numbers) // 2 + 1) * self.below(2)
            high = None if self.below(3) == 0 else self.below(sum(numbers) + 1)
            if units and self.below(3) == 0:  # some ask for others
                numbers = tuple(number * (1, -1)[self.below(2)] for number in numbers)
                low, high = (-self.below(4), None) if self.below(2) else (-(2**40), 1 - self.below(3))
            made.append(Row(units, numbers, low, high, "random"))
        return tuple(made)

    def make(self, kind: str) -> Coverage:
        if kind == "sided":
            before = KINDS[: KINDS.index("sided")]
            return replace(self.make(before[self.below(len(before))]), rows=self.sides())
        makers: dict[str, Callable[[], Coverage]] = {
            **dict.fromkeys(("recall", "window", "compressive"), lambda: self.recall(kind)),
            **dict.fromkeys(("precision", "f1"), lambda: self.linear_denominator(kind == "f1")),
            "joined": self.joined,
            "cover": self.cover,
            "set": self.set_counts,
            "harmonic": self.harmonic,
            "sum": lambda: self.ratios(Combination.SUM, 12, 4),
            "product": lambda: self.ratios(Combination.PRODUCT, 12, 4),
        }
        if kind in makers:
            return makers[kind]()
        # Beyond 64 bits: by the weights, by the constants, or by a large recall denominator alone.
        match self.below(3):
            case 0:
                return self.ratios(Combination.SUM, 2**40, 2**20)
            case 1:
                return self.ratios(Combination.PRODUCT, 12, 40)
        return self.coverage(self.gains(2**32), constants=(0, 2**60), **self.limits(self.below(2) == 1))

    def coverage(self, gains: Sequence[Sequence[int]], **more: Any) -> Coverage:
        return Coverage.of(self.lengths, self.rows, gains, **more)

    def recall(self, kind: str) -> Coverage:
        gains = self.gains()
        total = sum(map(sum, gains)) + self.below(5)
        extra: dict[str, Any] = self.limits(minimum=kind == "window")
        if kind == "compressive":
            extra |= {"parents": self.parents(), "joints": self.joints()}
        elif self.below(4) == 0:  # units that are worth something by themselves
            mass = [[self.below(3) for _ in range(self.n)], [0] * self.n]
            extra["mass"] = mass
            total += sum(mass[0])
        return self.coverage(gains, constants=(self.below(2), max(1, total)), **extra)

    def joined(self) -> Coverage:
        """Count n-grams across seams like any other; a text of w words has w - 1 bigrams."""
        f1 = self.below(2) == 1
        gains = self.gains(2 if f1 else 1)
        seams = [
            Joint(self.below(self.features), (i, j), range(i + 1, j))
            for i in range(self.n if self.features else 0)
            for j in range(i + 1, self.n)
            if self.below(3) == 0
        ]
        mass = [[0] * self.n, [sum(row.values()) + 1 + self.below(3) if f1 else 0 for row in self.rows]]
        total = sum(map(sum, gains)) + self.below(4) - 1 if f1 else max(1, sum(map(sum, gains)))
        limits = self.limits(self.below(4) == 0)
        return self.coverage(gains, constants=(0, total), mass=mass, joints=tuple(seams), **limits)

    def cover(self) -> Coverage:
        lengths = [1] * self.n if self.below(3) else self.lengths
        rows: list[dict[int, int]] = [{} for _ in range(self.n)]
        joints = []
        for feature in range(self.features):
            for _ in range(1 + self.below(3) if self.below(12) else 0):  # now and then a feature out of reach
                wanted = self.rng.permutation(self.n)[: 1 + self.below(3)].tolist()
                if len(wanted) == 1:
                    rows[wanted[0]][feature] = 1 + self.below(2)
                elif wanted:
                    joints.append(Joint(feature, tuple(wanted)))
        gains = [[1] if self.below(4) else [1, 1] for _ in range(self.features)]
        parents = self.parents() if self.below(4) == 0 else []
        return Coverage.of(lengths, rows, gains, parents=parents, joints=tuple(joints), goal=Sense.MINIMIZE)

    def linear_denominator(self, f1: bool) -> Coverage:
        gains = self.gains(2 if f1 else 1)
        mass = [[0] * self.n, [sum(row.values()) + self.below(4) for row in self.rows]]
        total = sum(map(sum, gains)) + self.below(5) if f1 else -max(0, self.below(6) - 3)
        return self.coverage(gains, constants=(0, total), mass=mass, **self.limits(self.below(3) == 0))

    def set_counts(self) -> Coverage:
        """Count every n-gram once: those of the reference in the numerator, all of the summary's in the denominator."""
        in_reference = [self.below(2) for _ in range(self.features)]
        number = [feature + sum(in_reference[:feature]) for feature in range(self.features)]
        rows = [
            {place + step: 1 for held in row for place in [number[held]] for step in range(1 + in_reference[held])}
            for row in self.rows
        ]
        slots = [slot for held in in_reference for slot in ([1, 0] if held else [1])]
        double = 1 + self.below(2)  # 2: F1, over the reference's n-grams as well
        gains = [[double] if slot == 0 else [1] for slot in slots]
        constants = (0, 0) if double == 1 else (0, sum(in_reference))
        return Coverage.of(
            self.lengths, rows, gains, slots=slots, constants=constants, **self.limits(self.below(3) == 0)
        )

    def ratios(self, combination: Combination, most: int, heaviest: int) -> Coverage:
        count = 1 + self.below(3)
        mass = [[self.below(4) if self.below(3) == 0 else 0 for _ in range(self.n)] for _ in range(2 * count)]
        return self.coverage(
            self.gains(),
            slots=[self.below(2 * count) for _ in range(self.features)],
            constants=[self.below(most) for _ in range(2 * count)],
            mass=mass,
            weights=tuple(1 + self.below(heaviest) for _ in range(count)),
            combination=combination,
            parents=self.parents() if self.below(3) == 0 else (),
            joints=self.joints() if self.below(3) == 0 else (),
            **self.limits(self.below(3) == 0),
        )

    def harmonic(self) -> Coverage:
        instance = self.ratios(Combination.HARMONIC, 12, 4)
        varying, mass = self.below(instance.ratios), instance.mass.copy()
        mass[[2 * h + 1 for h in range(instance.ratios) if h != varying]] = 0
        return replace(instance, mass=mass, slot=instance.slot // 2 * 2)


@dataclass(frozen=True, eq=False, kw_only=True)
class OwnMetric(Problem):
    """A problem that implements only `evaluate`, like a user's own metric.

    The objective is the number of different words of a selection minus the number of ``"bad"``, which is neither
    monotone nor in the normal form.

    Attributes
    ----------
    words : one sequence of strings for each unit
    """

    words: Sequence[Sequence[str]]

    def evaluate(self, selection: Selection) -> Evaluation:
        """Count."""
        found = [word for unit in selection for word in self.words[unit]]
        key = Fraction(len(set(found)) - found.count("bad"))
        return Evaluation(key, self.excess(selection), float(key))


def random_topic(rng: np.random.Generator, *, name: str = "random", sentences: int = 8) -> dict[str, Any]:
    """Return a random topic in its JSON form, from a small vocabulary with many repetitions.

    Parameters
    ----------
    name : str
        Its id.
    sentences : int
        Largest number of sentences; some may be empty or repeated.
    """
    vocabulary = "a b c d e f"[: 3 + 2 * int(rng.integers(1, 5))].split()

    def sentence(most: int) -> str:
        return " ".join(rng.choice(vocabulary, int(rng.integers(0, most + 1))).tolist())

    texts = [sentence(6) for _ in range(int(rng.integers(1, sentences + 1)))]
    texts += [texts[0]] * (len(texts) < sentences and int(rng.integers(0, 3)) == 0)
    cut = int(rng.integers(0, len(texts) + 1))
    references = [[sentence(9) for _ in range(int(rng.integers(1, 4)))] for _ in range(int(rng.integers(1, 4)))]
    references[0].append(" ".join(vocabulary))  # so that there is always something to count
    return {"id": name, "documents": [texts[:cut], texts[cut:]], "references": references}


# The truth about a small problem, from `Problem.evaluate` alone, and how a check against it fails.


class ConformanceError(AssertionError):
    """A problem or a strategy violates its contract; the message names the instance."""


def expect(holds: object, where: str, sentence: str) -> None:
    """Fail unless `holds`. `where`: the instance, to reproduce it. `sentence`: the violation."""
    if not holds:
        raise ConformanceError(f"{where}: {sentence}")


_MOST_UNITS = 20


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The result of evaluating every selection.

    Attributes
    ----------
    best : Key or None
        The optimal objective; None if nothing is feasible.
    optima : list of Selection
        Every optimal selection, perhaps the empty one; by size, then by units.
    feasible : int
        Number of feasible selections, perhaps with the empty one.
    """

    best: Key | None
    optima: list[Selection]
    feasible: int


def selections(size: int) -> Iterator[Selection]:
    """Yield every selection of `size` units: by number of units, then by units."""
    return chain.from_iterable(combinations(range(size), chosen) for chosen in range(size + 1))


def brute_force(problem: Problem) -> Enumeration:
    """Evaluate all ``2 ** problem.size`` selections.

    Raises
    ------
    OptionError
        For more than 20 units.
    """
    if problem.size > _MOST_UNITS:
        raise OptionError(f"{problem.size} units are too many to enumerate: give at most {_MOST_UNITS}.")
    best: Key | None = None
    optima: list[Selection] = []
    feasible = 0
    for selection in selections(problem.size):
        evaluation = problem.evaluate(selection)
        if not evaluation.feasible:
            continue
        feasible += 1
        if best is None or problem.sense.better(evaluation.key, best):
            best, optima = evaluation.key, []
        if evaluation.key == best:
            optima.append(selection)
    return Enumeration(best, optima, feasible)
