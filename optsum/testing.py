"""Conformance suites for third parties' problems, strategies, backends, tokenizers, stemmers and splitters.

They need no framework for tests. A failed check raises `ConformanceError`, an `AssertionError` whose message names the
instance.

>>> from optsum.testing import check_strategy
>>> check_strategy("greedy", instances=1)
"""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import partial
from itertools import chain, combinations, pairwise, product
from numbers import Rational
from operator import attrgetter
from typing import Any, Final, cast

import numpy as np

from optsum.contracts.backend import Backend, Ending, RawOutcome
from optsum.contracts.result import Result, Status
from optsum.contracts.strategy import Strategy
from optsum.corpus.sentences import splitter_of
from optsum.coverage.instance import NO_LIMIT, Combination, Coverage, Joint, Key, Row, Sense, decisions, score
from optsum.errors import BackendError, OptionError, OptsumError, UnsupportedError
from optsum.plugins import named_function
from optsum.problem.problem import Capability, CoverageProblem, Evaluation, Problem, Selection
from optsum.program.model import LinearModel, new_highs, pass_model
from optsum.registry import STRATEGIES
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.text.analyzer import stemmer_of, tokenizer_of

__all__ = [
    "KINDS",
    "ConformanceError",
    "Enumeration",
    "OwnMetric",
    "brute_force",
    "check_backend",
    "check_problem",
    "check_splitter",
    "check_stemmer",
    "check_strategy",
    "check_tokenizer",
    "random_coverage",
    "random_topic",
]


KINDS: Final = (
    "recall",  # extracts: clipped counts in several references, without a minimum length
    "window",  # recall with a minimum length, which no selection may reach
    "compressive",  # units with parents, and occurrences that need several units or exclude some
    "joined",  # recall or F1 with n-grams across sentence ends, which need two units and exclude all between them
    "cover",  # the shortest selection that contains an alternative for every feature
    "precision",  # a linear denominator, whose constant may be negative
    "f1",  # a linear denominator with a constant
    "set",  # a denominator that counts each feature once
    "sum",  # a weighted sum of ratios of every kind
    "product",  # a weighted geometric mean of ratios of every kind
    "sided",  # any of the kinds before, with side constraints
    "huge",  # values whose products exceed 64 bits
)
"""The kinds of `random_coverage` on which every strategy is checked."""

HARMONIC: Final = "harmonic"
"""One more kind of `random_coverage`: a weighted harmonic mean of ratios, one of them with a varying denominator."""


def random_coverage(rng: np.random.Generator, *, kind: str = "recall", units: int = 7) -> Coverage:
    """Return a random instance of the normal form.

    It may have duplicate and zero-length units, units without features, repeated occurrences, features without gain, no
    units or features, and limits that no selection or every selection satisfies.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness; the same state gives the same instance.
    kind : str
        One of `KINDS`, or "harmonic".
    units : int
        Largest number of units.

    Raises
    ------
    OptionError
        If `kind` is none of these.
    """
    if kind not in {*KINDS, HARMONIC}:
        raise OptionError(f"There is no kind of instance {kind!r}: use {', '.join(KINDS)}.")
    return _Draw(rng, int(rng.integers(0, units + 1)) if rng.random() < 0.25 else units).make(kind)


class _Draw:
    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.rng, self.n = rng, n
        self.features = self.below(9)
        self.lengths = [self.below(10) for _ in range(n)]
        self.rows = [self.row() for _ in range(n)]
        for unit in range(1, n):
            if self.rng.random() < 0.15:  # a duplicate, such as the same sentence in another document
                twin = self.below(unit)
                self.lengths[unit], self.rows[unit] = self.lengths[twin], dict(self.rows[twin])

    def below(self, stop: int) -> int:
        return int(self.rng.integers(0, stop))

    def row(self) -> dict[int, int]:
        held = self.rng.permutation(self.features)[: self.below(5)]
        return {int(feature): 1 + self.below(3) for feature in held}

    def gains(self, scale: int = 1) -> list[list[int]]:
        """Return, for each feature and c >= 1, `scale` times the number of random references with at least c copies."""
        references = [[self.below(4) for _ in range(self.features)] for _ in range(1 + self.below(4))]
        return [
            [scale * sum(count >= copy for count in counts) for copy in range(1, max(counts) + 1)]
            for counts in zip(*references, strict=True)
        ]

    def limits(self, minimum: bool = False) -> dict[str, Any]:
        total = sum(self.lengths)
        most = (NO_LIMIT, 0, self.below(total + 1), total // 2, total // 3)[self.below(5)]
        return {"max_length": most, "min_length": min(most, 1 + self.below(total + 2)) if minimum else 0}

    def parents(self) -> list[int]:
        return [int(self.rng.integers(-1, unit)) if unit and self.below(2) else -1 for unit in range(self.n)]

    def joints(self) -> tuple[Joint, ...]:
        made = []
        for _ in range(self.below(7) if self.n and self.features else 0):
            order = self.rng.permutation(self.n).tolist()
            needs = 1 + self.below(min(3, self.n))
            banned = order[needs : needs + self.below(3)]
            made.append(Joint(self.below(self.features), tuple(order[:needs]), tuple(banned), 1 + self.below(2)))
        return tuple(made)

    def sides(self) -> tuple[Row, ...]:
        """Return random side constraints, which all selections, some selections or no selection may satisfy."""
        made = []
        for _ in range(1 + self.below(3)):
            units = tuple(sorted(self.rng.permutation(self.n)[: self.below(self.n + 1)].tolist()))
            most = 1 + self.below(2) * self.below(3)
            numbers = tuple(1 + self.below(most) for _ in units)
            low = self.below(sum(numbers) // 2 + 1) * self.below(2)
            high = None if self.below(3) == 0 else self.below(sum(numbers) + 1)
            if units and self.below(3) == 0:  # negative coefficients, as in "unit 1 only with unit 2"
                numbers = tuple(number * (1, -1)[self.below(2)] for number in numbers)
                low, high = (-self.below(4), None) if self.below(2) else (-(2**40), 1 - self.below(3))
            made.append(Row(units, numbers, low, high, "random"))
        return tuple(made)

    def make(self, kind: str) -> Coverage:
        if kind == "sided":
            before = KINDS[: KINDS.index("sided")]
            return replace(self.make(before[self.below(len(before))]), rows=self.sides())
        makers = {"joined": self.joined, "cover": self.cover, "set": self.set_counts, "harmonic": self.harmonic}
        if kind in makers:
            return makers[kind]()
        if kind in {"recall", "window", "compressive"}:
            return self.recall(kind)
        if kind in {"precision", "f1"}:
            return self.linear_denominator(kind == "f1")
        # Products of the kind "huge" exceed 64 bits by weights, by powers, or by the denominator of recall.
        means: dict[object, tuple[Combination, int, int]] = {
            "sum": (Combination.SUM, 12, 4),
            "product": (Combination.PRODUCT, 12, 4),
            0: (Combination.SUM, 2**40, 2**20),
            1: (Combination.PRODUCT, 12, 40),
        }
        if mean := means.get(self.below(3) if kind == "huge" else kind):
            return self.ratios(*mean)
        return self.coverage(self.gains(2**32), constants=(0, 2**60), **self.limits(self.below(2) == 1))

    def coverage(self, gains: Sequence[Sequence[int]], **more: Any) -> Coverage:
        return Coverage.of(self.lengths, self.rows, gains, **more)

    def recall(self, kind: str) -> Coverage:
        gains = self.gains()
        total = sum(map(sum, gains)) + self.below(5)
        extra: dict[str, Any] = self.limits(minimum=kind == "window")
        if kind == "compressive":
            extra |= {"parents": self.parents(), "joints": self.joints()}
        elif self.below(4) == 0:  # units with a gain of their own
            extra["mass"] = [[self.below(3) for _ in range(self.n)], [0] * self.n]
            total += sum(extra["mass"][0])
        return self.coverage(gains, constants=(self.below(2), max(1, total)), **extra)

    def joined(self) -> Coverage:
        """Return a random instance with bigrams across the ends of sentences (the kind "joined")."""
        f1 = self.below(2) == 1
        gains = self.gains(2 if f1 else 1)
        seams = [
            Joint(self.below(self.features), (i, j), range(i + 1, j))
            for i, j in combinations(range(self.n if self.features else 0), 2)
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
            for _ in range(1 + self.below(3) if self.below(12) else 0):  # sometimes no unit has the feature
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
        """Return an instance that counts each n-gram once: in the denominator, and if shared in the numerator too."""
        in_reference = [self.below(2) for _ in range(self.features)]
        number = [feature + sum(in_reference[:feature]) for feature in range(self.features)]
        rows = [
            {place + step: 1 for held in row for place in [number[held]] for step in range(1 + in_reference[held])}
            for row in self.rows
        ]
        slots = [slot for held in in_reference for slot in ([1, 0] if held else [1])]
        double = 1 + self.below(2)  # 1 for precision; 2 for F1, whose denominator adds the reference's n-grams
        gains = [[double] if slot == 0 else [1] for slot in slots]
        constants, limits = (0, 0 if double == 1 else sum(in_reference)), self.limits(self.below(3) == 0)
        return Coverage.of(self.lengths, rows, gains, slots=slots, constants=constants, **limits)

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

    The objective is the number of different words in a selection minus the number of words ``"bad"``; it is neither
    monotone nor in the normal form.

    Attributes
    ----------
    words : for each unit, a sequence of str
    """

    words: Sequence[Sequence[str]]

    def evaluate(self, selection: Selection) -> Evaluation:
        found = [word for unit in selection for word in self.words[unit]]
        key = Fraction(len(set(found)) - found.count("bad"))
        return Evaluation(key, self.excess(selection), float(key))


def random_topic(rng: np.random.Generator, *, name: str = "random", sentences: int = 8) -> dict[str, Any]:
    """Return a random topic in its JSON form, of few different words with many repetitions.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness; the same state gives the same topic.
    name : str
        The id of the topic.
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


class ConformanceError(AssertionError):
    """A problem, strategy, backend or text function violates its interface; the message names the instance."""


def expect(holds: object, where: str, sentence: str) -> None:
    """Raise `ConformanceError` unless `holds`; `where`: the instance, to reproduce it; `sentence`: what is wrong."""
    if not holds:
        raise ConformanceError(f"{where}: {sentence}")


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The result of evaluating every selection.

    Attributes
    ----------
    best : Key or None
        The optimal objective; None if nothing is feasible.
    optima : list of Selection
        Every optimal selection, by size and then by units; the empty one may be among them.
    feasible : int
        Number of feasible selections, including the empty one if it is feasible.
    """

    best: Key | None
    optima: list[Selection]
    feasible: int


def selections(size: int) -> Iterator[Selection]:
    """Yield every selection of `size` units: by number of units, then by units."""
    return chain.from_iterable(combinations(range(size), chosen) for chosen in range(size + 1))


def brute_force(problem: Problem) -> Enumeration:
    """Return the optimum, all optimal selections and the number of feasible selections, by evaluating all 2^n of them.

    Raises
    ------
    OptionError
        For more than 20 units.
    """
    if problem.size > 20:
        raise OptionError(f"{problem.size} units are too many to enumerate: give at most 20.")
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


_SAMPLES = 24  # Random selections, and random completions of each.


def check_problem(problem: Problem, *, name: str = "problem", seed: int = 0) -> None:
    """Check a problem and every capability that it declares.

    * evaluation: a selection always has the same value; values are ordered like keys; nothing is feasible outside the
      length limits;
    * moves: each flips distinct existing units; from every selection, each unit is in some move; in the normal form, a
      move from a selection that violates only limits leads to another such one (no move drops only a parent);
    * repair: the result satisfies the length limits (in the normal form all limits), or equals the input;
    * normal form: after random flips, the incremental state equals a fresh evaluation;
    * bound: no feasible selection exceeds it;
    * linear model: it has the enumerated optimum, and agrees with `Problem.evaluate` at single selections;
    * a capability that is not declared raises `UnsupportedError`.

    Problems of up to 12 units are enumerated; larger ones are sampled.

    Parameters
    ----------
    problem : Problem
        The problem to check.
    name : str
        Name of the problem in messages.
    seed : int
        Seed of the samples.

    Raises
    ------
    ConformanceError
        With a sentence that names the first check that failed.
    """
    where = f"{name} (seed {seed})"
    rng = np.random.default_rng(seed)
    expect(problem.size == len(problem.lengths), where, "size is not the number of lengths.")
    expect(all(length >= 0 for length in problem.lengths), where, "a length is negative.")
    expect(problem.length(range(problem.size)) == sum(problem.lengths), where, "length is not the sum of the lengths.")
    _evaluated(problem, (), where)
    truth = brute_force(problem) if problem.size <= 12 else None
    sample = _sample(problem, rng)
    evaluations = {selection: _evaluated(problem, selection, where) for selection in sample}
    for (left, low), (right, high) in pairwise(sorted(evaluations.items(), key=lambda item: item[1].key)):
        rising = low.value < high.value or abs(low.value - high.value) <= 1e-9 * max(1.0, abs(low.value))
        expect(rising, where, f"the values of {left} and {right} are not ordered as their keys.")
    _check_moves(problem, sample, where)
    _check_repair(problem, sample, rng, where)
    abilities: dict[Capability, Callable[[], object]] = {
        Capability.COVERAGE: lambda: problem.coverage,
        Capability.BOUND: problem.root_bound,
        Capability.LINEAR: lambda: problem.linear_model,
        Capability.COMPLETIONS: lambda: problem.bound((), ()),
    }
    for capability, ask in abilities.items():
        offered = capability not in problem.capabilities and _refusal(ask) is None
        expect(not offered, where, f"it offers {capability.value} that its capabilities do not declare.")
    if problem.can(Capability.COVERAGE):
        check_states(problem, rng, where)
    if problem.can(Capability.BOUND):
        _check_bound(problem, evaluations, truth, where)
    for selection, evaluation in evaluations.items() if problem.can(Capability.COMPLETIONS) else ():
        for _ in range(_SAMPLES if evaluation.feasible else 0):
            _check_completion(problem, selection, evaluation.key, rng, where)
    if problem.can(Capability.LINEAR):
        check_linear_model(problem, evaluations, truth, where)
    for selection, evaluation in evaluations.items():
        expect(problem.evaluate(selection) == evaluation, where, f"{selection} has another value after the checks.")


def _check_completion(problem: Problem, selection: Selection, key: Key, rng: np.random.Generator, where: str) -> None:
    chosen = tuple(unit for unit in selection if rng.random() < 0.5)
    others = np.flatnonzero(rng.random(problem.size) < 0.5).tolist()
    rest = tuple(sorted({*others, *selection} - {*chosen}))
    bound = problem.bound(chosen, rest)
    passed = bound is None or problem.sense.better(key, bound)
    expect(not passed, where, f"bound({chosen}, {rest}) is {bound}, and {selection} is worth {key}.")


def _sample(problem: Problem, rng: np.random.Generator) -> list[Selection]:
    """Return the empty and the full selection, single units, random selections, and repairs of these."""
    n = problem.size
    found: list[Selection] = [(), tuple(range(n)), *((unit,) for unit in rng.permutation(n)[:_SAMPLES].tolist())]
    for _ in range(_SAMPLES):
        selection = tuple(np.flatnonzero(rng.random(n) < rng.random()).tolist())
        found += [selection, problem.repair(selection, rng)]
    return list(dict.fromkeys(found))


def _evaluated(problem: Problem, selection: Selection, where: str) -> Evaluation:
    evaluation = problem.evaluate(selection)
    expect(isinstance(evaluation, Evaluation), where, f"evaluate({selection}) returns no Evaluation.")
    expect(problem.evaluate(selection) == evaluation, where, f"evaluate({selection}) differs from call to call.")
    expect(evaluation.violation >= 0, where, f"the violation of {selection} is negative.")
    if evaluation.feasible:
        excess = problem.excess(selection)
        expect(excess == 0, where, f"{selection} is called feasible, {excess} outside the length limits.")
    return evaluation


def _check_moves(problem: Problem, sample: list[Selection], where: str) -> None:
    limited = problem.sense is Sense.MAXIMIZE and problem.can(Capability.COVERAGE)  # others may have further limits

    def only_limits(selection: Selection) -> bool:
        rows = sum(row.excess(selection) for row in problem.coverage.rows)
        return problem.evaluate(selection).violation == problem.excess(selection) + rows

    for selection in sample:
        closed = limited and only_limits(selection)
        touched: set[int] = set()
        for move in problem.moves(selection):
            text = f"the move {move} from {selection}"
            expect(len(move) > 0, where, f"a move from {selection} flips nothing.")
            expect(len(set(move)) == len(move), where, f"{text} flips a unit twice.")
            expect(set(move) <= set(range(problem.size)), where, f"{text} flips a unit that does not exist.")
            touched.update(move)
            after = tuple(sorted(set(selection).symmetric_difference(move)))
            expect(not closed or only_limits(after), where, f"{text} violates more than limits.")
        expect(touched == set(range(problem.size)), where, f"the moves from {selection} do not reach every unit.")


def _check_repair(problem: Problem, sample: list[Selection], rng: np.random.Generator, where: str) -> None:
    for selection in sample:
        repaired = problem.repair(selection, rng)
        ordered = repaired == tuple(sorted(set(repaired)))
        expect(ordered, where, f"repair({selection}) is no sorted tuple: {repaired!r}.")
        within = not (problem.can(Capability.COVERAGE) or problem.excess(repaired))
        kept = problem.evaluate(repaired).feasible or within or repaired == selection
        expect(kept, where, f"repair({selection}) changed it to {repaired}, which violates limits too.")


def _check_bound(
    problem: Problem, evaluations: dict[Selection, Evaluation], truth: Enumeration | None, where: str
) -> None:
    bound: Any = problem.root_bound()
    expect(bound is not None, where, "it declares a bound, but root_bound returns none without a time limit.")
    exact = isinstance(bound, Rational) or all(not isinstance(e.key, Fraction) for e in evaluations.values())
    expect(exact, where, f"the bound {bound!r} is a float where objectives are exact.")
    for selection, evaluation in evaluations.items():
        passed = evaluation.feasible and problem.sense.better(evaluation.key, bound)
        expect(not passed, where, f"{selection} is worth {evaluation.key} and exceeds the bound {bound}.")
    best = None if truth is None else truth.best
    passed = best is not None and problem.sense.better(best, bound)
    expect(not passed, where, f"the optimum {best} exceeds the bound {bound}.")


def check_linear_model(
    problem: Problem, evaluations: dict[Selection, Evaluation], truth: Enumeration | None, where: str
) -> None:
    """Check that a linear model has the true optimum, and the value of each selection if its units are fixed."""
    model = problem.linear_model
    expect(model.units == problem.size, where, "the linear model has another number of units.")
    expect(bool(model.integral[: model.units].all()), where, "a unit of the linear model is not integral.")
    expect(bool((model.upper[: model.units] == 1).all()), where, "a unit of the linear model is not a 0/1 decision.")
    expect(model.sense is problem.sense, where, f"the linear model does not {problem.sense.value}.")
    if problem.size == 0:
        return
    if truth is not None:
        highs = new_highs()
        highs.setOptionValue("mip_rel_gap", 0.0)
        pass_model(highs, model)
        _compare(highs, model, truth.best, where, "the linear model's optimum")
    fixed = new_highs()
    pass_model(fixed, model, relaxed=not model.integral[model.units :].any())
    columns = np.arange(model.units, dtype=np.int32)
    for selection, evaluation in evaluations.items():
        values = decisions(model.units, selection, np.float64)
        fixed.changeColsBounds(model.units, columns, values, values)
        expected = evaluation.key if evaluation.feasible else None
        _compare(fixed, model, expected, where, f"the linear model at {selection}")


def _compare(highs: Any, model: LinearModel, expected: Any, where: str, what: str) -> None:
    import highspy

    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        expect(expected is None, where, f"{what} is infeasible instead of {expected}.")
        return
    expect(expected is not None, where, f"{what} is feasible, but should be infeasible.")
    claimed, wanted = highs.getInfo().objective_function_value, _worth(model, expected)
    close = abs(claimed - wanted) <= max(1e-5, 1e-9 * abs(wanted))
    expect(close, where, f"{what} is {claimed} instead of {wanted}, in the model's integers.")


def _worth(model: LinearModel, key: Any) -> float:
    """Return an objective on the integer scale of a linear model."""
    return float(Fraction(key) * model.denominator - model.offset)


def check_states(problem: Problem, rng: np.random.Generator, where: str) -> None:
    """Flip random units, and compare the state of the kernels with fresh evaluations, unless values exceed 64 bits."""
    from optsum.coverage.state import CHOSEN, LENGTH, MISSING, arrays_of, empty_state, flip, true_totals, value_pair

    instance = problem.coverage
    arrays = arrays_of(instance)
    if arrays is None:
        return
    covering = instance.goal is Sense.MINIMIZE
    state = empty_state(arrays)
    chosen: set[int] = set()
    before = None
    for _ in range(60):
        selection = tuple(sorted(chosen))
        text = f"the state after flips to {selection}"
        expect(tuple(np.flatnonzero(state.chosen).tolist()) == selection, where, f"{text} holds other units.")
        totals, length, violation = score(instance, selection)
        evaluation = problem.evaluate(selection)
        expect(evaluation.violation == violation, where, f"{text}: evaluate and the independent scorer disagree.")
        kept = true_totals(arrays, state).tolist()
        if instance.constant_denominator:  # the kernels use 1 instead
            kept[1] = totals[1]
        expect(tuple(kept) == totals, where, f"{text} has the totals {kept} instead of {totals}.")
        expect(int(state.scalars[LENGTH]) == length, where, f"{text} has another length than {length}.")
        expect(int(state.scalars[CHOSEN]) == len(selection), where, f"{text} counts other units.")
        if covering or instance.rows:
            found = sum(unit not in chosen for child in chosen for unit in instance.ancestors(child)[:1])
            found += int(state.scalars[MISSING]) + (0 if covering else problem.excess(selection))
            expect(found == violation, where, f"{text} has the violation {found} instead of {violation}.")
        value = Fraction(*map(int, value_pair(arrays, state))) * (-1 if covering else 1)
        if before is not None:
            change, key_change = value - before[0], evaluation.key - before[1]
            agree = (change > 0) - (change < 0) == (key_change > 0) - (key_change < 0)
            expect(agree, where, f"{text}: the objective changes by {change}, the key by {key_change}.")
        before = value, evaluation.key
        if problem.size == 0:
            return
        unit = int(rng.integers(0, problem.size))
        flip(arrays, state, unit)
        chosen ^= {unit}


def check_strategy(
    strategy: str | Strategy,
    *,
    instances: int = 3,
    seed: int = 0,
    problems: Mapping[str, Problem] | None = None,
    **options: Any,
) -> None:
    """Check a strategy on empty, single-unit, tied, infeasible and random instances, and on a user's own metric.

    * an unsupported problem raises `UnsupportedError` before anything is evaluated;
    * reported selections are feasible, have the stated value, and are not better than the true optimum;
    * "optimal" and "infeasible" are true; an exact strategy reports one of them if it completes, others never do;
    * the true optimum exceeds no bound;
    * the trace improves step by step and ends with the result, which can be converted to JSON and back;
    * the same seed gives the same result, and the problem is not changed;
    * tiny limits, a target, a gap, Ctrl-C and a callback end the search with the right termination.

    Parameters
    ----------
    strategy : str or Strategy
        The name of a strategy, or a strategy.
    instances : int
        Number of random instances of each kind.
    seed : int
        Seed of the first instance of each kind; following instances use the following seeds.
    problems : mapping of name to Problem, optional
        More problems to try, of at most 14 units, such as those of a third party's formulation.
    **options
        Options of the strategy that is named.

    Raises
    ------
    ConformanceError
        With a sentence that names the instance and the first check that failed.
    """
    chosen = STRATEGIES.create(strategy, options) if isinstance(strategy, str) else strategy
    for name, problem in _problems(instances, seed, problems or {}):
        where = f"{chosen.name} on {name}"
        try:
            chosen.accept(problem)
        except UnsupportedError:
            _check_refusal(chosen, problem, where)
        else:
            try:
                _check_served(chosen, problem, seed, where)
            except BackendError as error:  # its claims contradict one another, or what greedy search knows
                raise ConformanceError(f"{where}: {error}") from error


def _problems(instances: int, seed: int, others: Mapping[str, Problem]) -> Iterator[tuple[str, Problem]]:
    corners = {
        "an instance without units": Coverage.of([], [], []),
        "an infeasible instance without units": Coverage.of([], [], [], min_length=1),
        "a single unit": Coverage.of([3], [{0: 2}], [[2, 1]], constants=(0, 4), max_length=3),
        "a single unit that is too long": Coverage.of([3], [{0: 2}], [[2, 1]], constants=(0, 4), max_length=2),
        "units that are all alike": Coverage.of([2] * 6, [{0: 1}] * 6, [[1, 1, 1]], constants=(0, 3), max_length=5),
        "units without length": Coverage.of([0] * 4, [{0: 1}, {1: 1}, {}, {0: 2}], [[1], [1]], max_length=0),
        "units that gain nothing": Coverage.of([1, 2], [{}, {}], [], max_length=2),
        "a minimum length out of reach": Coverage.of([3, 4], [{0: 1}, {0: 1}], [[1]], max_length=9, min_length=8),
    }
    for name, instance in (*corners.items(), *_random_coverages(KINDS, instances, seed)):
        yield name, watched(instance)
    words = [["a", "b"], ["b", "bad"], ["c"], ["bad"], ["a", "c", "d"]]
    for sense in Sense:
        own = OwnMetric(lengths=(2, 2, 1, 1, 3), max_length=5, min_length=1, words=words, sense=sense)
        yield f"a metric of one's own, to {sense.value}", own
    yield from others.items()


def _random_coverages(kinds: Sequence[str], instances: int, seed: int) -> Iterator[tuple[str, Coverage]]:
    for kind, number in product(kinds, range(seed, seed + instances)):
        made = random_coverage(np.random.default_rng(number), kind=kind)
        yield f"random_coverage(default_rng({number}), kind={kind!r})", made


def _check_refusal(strategy: Strategy, problem: Problem, where: str) -> None:
    calls = len(problem.calls) if isinstance(problem, Watched) else 0
    message = _refusal(lambda: search(problem, strategy))
    expect(message is not None, where, "accept refuses the problem, but it was searched all the same.")
    expect((message or "").strip(), where, "the problem is refused without a message.")
    if isinstance(problem, Watched):
        expect(len(problem.calls) == calls, where, "the problem is evaluated before it is refused.")


def _refusal(attempt: Callable[[], object], error: type[OptsumError] = UnsupportedError) -> str | None:
    """Return the message of the error with which an attempt is refused; None if it is not."""
    try:
        attempt()
    except error as refused:
        return str(refused)
    return None


def _check_served(strategy: Strategy, problem: Problem, seed: int, where: str) -> None:
    expect(problem.size <= 14, where, f"{problem.size} units are too many for this suite.")
    truth, before = brute_force(problem), fingerprint(problem)
    try:
        result = search(problem, strategy, seed=seed)
    except UnsupportedError as error:
        raise ConformanceError(f"{where}: accept does not refuse it, but the search does ({error})") from error
    check_claims(strategy, problem, result, truth, where)
    ended = result.termination
    expect(ended is Termination.COMPLETED, where, f"without limits the search ended with {ended.value}.")
    expect(result.seed == seed, where, f"the result has the seed {result.seed} instead of {seed}.")
    again = search(problem, strategy, seed=seed)
    expect(_essence(again) == _essence(result), where, f"seed {seed} gives another result the second time.")
    expect(fingerprint(problem) == before, where, "the search changed the problem.")
    _check_limits(strategy, problem, truth, where)
    if isinstance(problem, Watched):
        _check_interrupt(strategy, problem, truth, where)


_essence = attrgetter(*("status", "termination", "objective_exact", "bound_exact", "selection", "evaluations", "nodes"))
"""Function that returns the parts of a result that must be equal in all runs with the same seed."""


def _check_limits(strategy: Strategy, problem: Problem, truth: Enumeration, where: str) -> None:
    far, done = 1e300, Termination.COMPLETED
    enough = -far if problem.sense is Sense.MAXIMIZE else far
    cases: list[tuple[Limits, set[Termination]]] = [
        (Limits(time_s=0), {Termination.TIME_LIMIT}),
        (Limits(time_s=60.0), {done}),
        (Limits(evaluations=0), {Termination.EVALUATION_LIMIT}),
        (Limits(evaluations=1), {Termination.EVALUATION_LIMIT, done}),
        (Limits(evaluations=3), {Termination.EVALUATION_LIMIT, done}),
        (Limits(nodes=0), {Termination.NODE_LIMIT}),
        (Limits(nodes=1), {Termination.NODE_LIMIT, done}),
        (Limits(target=-enough), {done}),
        (Limits(target=enough), {Termination.TARGET_REACHED}),
        (Limits(gap=far), {Termination.GAP_REACHED, done}),
    ]
    for limits, allowed in cases:
        text = f"{where}, {limits}"
        try:
            result = search(problem, strategy, limits)
        except UnsupportedError:
            refusable = limits.nodes is not None or limits.gap is not None  # some solvers do not have these limits
            expect(refusable, text, "the limit is refused; only node limits and gaps may be refused.")
            continue
        check_claims(strategy, problem, result, truth, text)
        nothing = result.status in {Status.NO_SOLUTION, Status.INFEASIBLE} and limits.target == enough
        fine = result.termination in ({done} if nothing else allowed)
        expect(fine, text, f"it ended with {result.termination.value}.")

    stopped = search(problem, strategy, on_progress=lambda _: False)
    check_claims(strategy, problem, stopped, truth, where)
    ended = stopped.termination
    expect(ended is Termination.INTERRUPTED, where, f"a callback that says stop ended it with {ended.value}.")


def _check_interrupt(strategy: Strategy, problem: Watched, truth: Enumeration, where: str) -> None:
    for allowed in range(3):
        copy = watched(problem.instance, interrupt_after=allowed)
        result = search(copy, strategy)
        text = f"{where}, Ctrl-C after {allowed} evaluations"
        interrupted = len(copy.calls) > allowed
        expected = Termination.INTERRUPTED if interrupted else Termination.COMPLETED
        expect(result.termination is expected, text, f"it ended with {result.termination.value}.")
        check_claims(strategy, watched(problem.instance), result, truth, text)
        if interrupted and allowed == 0:  # a starting selection may be found after the interrupt
            held = result.selection is None or result.selection in map(tuple, copy.calls[1:])
            expect(held, text, "it has a selection that was never evaluated.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Watched(CoverageProblem):
    """A `CoverageProblem` that records every selection it evaluates."""

    calls: list[Selection] = field(default_factory=list)
    interrupt_after: int | None = None  # Number of evaluations after which the next one raises `KeyboardInterrupt`.

    def evaluate(self, selection: Selection) -> Evaluation:
        self.calls.append(selection)
        if len(self.calls) - 1 == self.interrupt_after:
            raise KeyboardInterrupt
        return super().evaluate(selection)


def watched(instance: Coverage, *, interrupt_after: int | None = None) -> Watched:
    made: Any = Watched.of(instance)  # a `Watched`, though annotated as its base class
    return cast("Watched", replace(made, interrupt_after=interrupt_after))


def fingerprint(problem: Problem) -> tuple[object, ...]:
    """Return all data of a problem in a form that differs after any change."""
    owner = problem.coverage if isinstance(problem, CoverageProblem) else problem
    values = [getattr(owner, item.name) for item in fields(owner)]
    limits = (problem.lengths, problem.min_length, problem.max_length, problem.sense)
    return (*limits, *(value.tobytes() if isinstance(value, np.ndarray) else repr(value) for value in values))


def check_claims(strategy: Strategy, problem: Problem, result: Result, truth: Enumeration, where: str) -> None:
    expect(result.strategy == strategy.name, where, f"the result names the strategy {result.strategy!r}.")
    expect(result.seconds >= 0, where, "the search took negative time.")
    expect(result.evaluations >= 0 <= result.nodes, where, "a counter is negative.")
    _check_selection(problem, result, truth, where)
    status, best, bound, trace = result.status, truth.best, result.bound_key, result.trace
    expect(status is not Status.ERROR, where, f"it failed: {result.error}.")
    if status is Status.OPTIMAL:
        expect(result.key == best, where, f"{result.key} is called optimal; the optimum is {best}.")
    if status is Status.INFEASIBLE:
        expect(best is None, where, f"it is called infeasible; {truth.optima[:1]} is feasible.")
    proven = status in {Status.OPTIMAL, Status.INFEASIBLE}
    if not strategy.exact:
        expect(not proven, where, f"a strategy that is not exact claims {status.value}.")
    elif result.termination is Termination.COMPLETED:
        expect(proven, where, f"an exact strategy completed with {status.value}.")
    if bound is None:
        wanted = problem.can(Capability.BOUND) and status is not Status.INFEASIBLE
        expect(not wanted, where, "there is no bound, though the problem has one.")
    elif best is not None:
        passed = problem.sense.better(best, bound)
        expect(not passed, where, f"the true optimum {best} exceeds the bound {bound}.")
    expect(bool(trace) == (result.selection is not None), where, "the trace and the selection do not match.")
    for first, second in pairwise(trace):
        worse = problem.sense.better(first.objective, second.objective)
        expect(not worse, where, f"the trace falls back from {first.objective} to {second.objective}.")
        expect(first.seconds <= second.seconds, where, "the trace goes back in time.")
        expect(first.evaluations <= second.evaluations, where, "the trace counts evaluations backwards.")
    if trace:
        expect(trace[-1].objective == result.objective, where, "the trace does not end with the result.")
        expect(trace[-1].seconds <= result.seconds, where, "the trace goes on after the end.")
    try:
        text = json.dumps(result.to_row(), allow_nan=False)
    except (TypeError, ValueError) as error:
        expect(False, where, f"the result is not JSON: {error}.")
    expect(Result.from_row(json.loads(text)) == result, where, "the result changes when converted to JSON and back.")


def _check_selection(problem: Problem, result: Result, truth: Enumeration, where: str) -> None:
    if (selection := result.selection) is None:
        return
    expect(selection == tuple(sorted(set(selection))), where, f"the selection {selection} is not sorted.")
    evaluation = problem.evaluate(selection)
    expect(evaluation.feasible, where, f"the selection {selection} is not feasible.")
    same = result.key == evaluation.key and result.objective == evaluation.value
    expect(same, where, f"the objective is {result.key}, but {selection} is worth {evaluation.key}.")
    expect(result.length == problem.length(selection), where, f"{selection} is not {result.length} long.")
    beaten = truth.best is None or problem.sense.better(evaluation.key, truth.best)
    expect(not beaten, where, f"{selection} is worth {evaluation.key}, better than the true optimum {truth.best}.")


_TIED = "units that are all alike"


def check_backend(name: str, *, instances: int = 3, seed: int = 0) -> None:
    """Check an installed backend.

    * every final status of its interface is declared;
    * optima of problems that maximize or minimize equal the enumerated ones, and the optimum exceeds no bound;
    * infeasible instances, and instances without variables, are recognised;
    * a time limit ends it in time, and no selection exceeds the bound that it states then;
    * limits that are not declared are refused; declared ones are obeyed, and the result names the one that was reached;
    * an unknown option is refused; threads and a start are accepted if they are declared;
    * the same seed gives the same result.

    Parameters
    ----------
    name : str
        Its name for ``--backend``.
    instances : int
        Number of random instances of each kind.
    seed : int
        Seed of the first instance of each kind.

    Raises
    ------
    ConformanceError
        With a sentence that names the instance and the first check that failed.
    """
    backend = _backend(name)
    state = backend.available()
    expect(state.usable, name, f"it cannot be used here: {state.reason}.")
    expect(backend.licence().strip(), name, "it states no licence.")
    missing = sorted(set(backend.native_statuses()) - set(backend.declaration.statuses))
    expect(not missing, name, f"it does not declare the statuses {', '.join(missing)}.")
    endings = set(backend.declaration.statuses.values())
    expect({Ending.OPTIMAL, Ending.INFEASIBLE} <= endings, name, "it declares no optimal or no infeasible status.")
    tried = [(where, CoverageProblem.of(instance)) for where, instance in _linear_coverages(instances, seed)]
    served = [problem for where, problem in tried if _check_optimum(name, where, problem)]
    expect(served, name, "it refuses every instance.")
    empty = search(CoverageProblem.of(Coverage.of([], [], [])), "milp", backend=name)
    expect((empty.status, empty.selection) == (Status.OPTIMAL, ()), name, "without variables it is not optimal.")
    small, senses = served[-1], {problem.sense for problem in served}
    _check_options(name, small)
    hard, easier = next(pair for pair in _hard() if pair[0].sense in senses)
    if backend.declaration.names.time is not None:
        _check_time(name, hard)
    _check_others(name, easier)
    if backend.declaration.names.threads is not None:
        outcome = _backend(name, threads=2).solve(small, Limits(), seed)
        expect(outcome.optimal, name, "with two threads a small instance has no optimum.")


def _backend(name: str, **settings: Any) -> Backend:
    strategy: Any = STRATEGIES.create("milp", {"backend": name, **settings})
    backend: Backend = strategy.solver()
    return backend


def _linear_coverages(instances: int, seed: int) -> Iterator[tuple[str, Coverage]]:
    yield from _random_coverages(("recall", "window", "compressive", "cover"), instances, seed)
    yield "a minimum out of reach", Coverage.of([3, 4], [{0: 1}, {0: 1}], [[1]], max_length=9, min_length=8)
    yield "a clause that nothing covers", Coverage.of([1, 1], [{0: 1}, {}], [[1], [1]], goal=Sense.MINIMIZE)
    yield _TIED, Coverage.of([2] * 6, [{0: 1}] * 6, [[1, 1, 1]], constants=(0, 3), max_length=5)
    yield _TIED, Coverage.of([1] * 6, [{0: 1, 1: 1}] * 6, [[1], [1]], goal=Sense.MINIMIZE)
    yield "a cover of one unit", Coverage.of([1, 1], [{0: 1}, {}], [[1]], goal=Sense.MINIMIZE)


def _check_optimum(name: str, where: str, problem: Problem) -> bool:
    truth, tied, where = brute_force(problem), where == _TIED, f"{name} on {where}"
    expect(problem.can(Capability.LINEAR), where, "this suite is for linear models.")
    if not problem.size:
        return False
    backend = _backend(name)
    try:
        outcome = backend.solve(problem, Limits(), 7)
    except UnsupportedError:
        return False
    _check_sides(problem, outcome, truth.best, where)
    if truth.best is None:
        reported = outcome.infeasible and outcome.selection is None
        expect(reported, where, "it is infeasible, but was not reported as such.")
    else:
        expect(outcome.optimal, where, f"it ended with {outcome.native!r}, which is no optimum.")
        expect(outcome.selection in truth.optima, where, f"{outcome.selection} is no optimum.")
        if tied and backend.repeatable:
            again = _backend(name).solve(problem, Limits(), 7)
            expect(again.selection == outcome.selection, where, "the same seed gives another selection.")
        elif backend.declaration.warm_start:
            started = _backend(name).solve(problem, Limits(), 7, min(truth.optima))
            expect(started.selection in truth.optima, where, "started from an optimum, it does not find one.")
    expect(outcome.termination is Termination.COMPLETED, where, f"it ended with {outcome.termination.value}.")
    result = search(problem, "milp", backend=name)
    expect(result.key == truth.best, where, f"the strategy milp finds {result.key}, and the optimum is {truth.best}.")
    status = Status.INFEASIBLE if truth.best is None else Status.OPTIMAL
    expect(result.status is status, where, f"the strategy milp says {result.status.value}.")
    return truth.best is not None


def _check_sides(problem: Problem, outcome: RawOutcome, best: Any, where: str) -> None:
    """Check a solver's answer: a feasible selection, its true objective, and a bound that the best value respects."""
    model, sign = problem.linear_model, 1 if problem.sense is Sense.MAXIMIZE else -1
    held = best

    def above(claimed: float, key: Any) -> float:
        """Return how much better a claimed value is than the true value, relative to the true value."""
        worth = _worth(model, key)
        return sign * (claimed - worth) / max(1.0, abs(worth))

    if outcome.selection is not None:
        evaluation = problem.evaluate(outcome.selection)
        expect(evaluation.feasible, where, f"its answer violates the limits by {evaluation.violation}.")
        held = evaluation.key if held is None else held
        if outcome.objective is not None:
            honest = above(outcome.objective, evaluation.key) <= 1e-4
            expect(honest, where, "its claimed objective differs from its answer's.")
    if outcome.bound is not None and held is not None:
        said = f"the bound {outcome.bound} excludes a selection worth {_worth(model, held)} in the linear model."
        expect(above(outcome.bound, held) >= -1e-4, where, said)


def _check_options(name: str, problem: Problem) -> None:
    own = (("no_solver_has_an_option_of_this_name", 1),)
    message = _refusal(lambda: _backend(name, backend_options=own).solve(problem, Limits(), 0), OptionError)
    expect(message is not None, name, "an unknown option is silently accepted.")
    named = _backend(name).name in (message or "")
    expect(named, name, "an unknown option is refused by a sentence that does not name the backend.")
    names = _backend(name).declaration.names
    limits: dict[str, Any] = {"time_s": 60.0, "nodes": 10**6, "gap": 0.0}
    known = {"time_s": names.time, "nodes": names.nodes, "gap": names.gap}
    for what in [what for what in limits if known[what] is None]:
        message = _refusal(partial(_backend(name).solve, problem, Limits(**{what: limits.pop(what)}), 0))
        expect(message is not None, name, f"the backend accepts the limit {what}, which it does not declare.")
    try:
        outcome = _backend(name).solve(problem, Limits(**limits), 0)
    except UnsupportedError as error:
        expect(False, name, f"the backend refuses one of the limits it declares, {', '.join(limits)}: {error}")
    else:
        expect(outcome.optimal, name, f"limits that are not reached end it with {outcome.native!r}.")


def _hard() -> Iterator[tuple[Problem, Problem]]:
    """Yield pairs of a problem that takes a solver long and a similar, quicker one: to maximize, then to minimize."""

    def cover(size: int) -> Problem:
        rng = np.random.default_rng(0)
        sentences = [{int(one): 1 for one in rng.choice(size // 2, 5, replace=False)} for _ in range(size)]
        return CoverageProblem.of(Coverage.of([1] * size, sentences, [[1]] * (size // 2), goal=Sense.MINIMIZE))

    yield CoverageProblem.of(hard_instance()), CoverageProblem.of(hard_instance(units=50))
    yield cover(700), cover(100)


def hard_instance(units: int = 400) -> Coverage:
    """Return an instance of recall that takes a MILP solver seconds or more."""
    rng = np.random.default_rng(0)
    return Coverage.of(
        rng.integers(20, 60, units).tolist(),
        [{int(f): 1 for f in rng.choice(300, 12, replace=False)} for _ in range(units)],
        [[int(gain)] for gain in rng.integers(1, 4, 300)],
        constants=(0, 900),
        max_length=700,
    )


def _check_time(name: str, problem: Problem) -> None:
    reached = search(problem, "greedy").key  # no valid bound is exceeded by it
    for seconds in (0.01, 0.4):
        where = f"{name} at a time limit of {seconds} s"
        outcome = _backend(name).solve(problem, Limits(time_s=seconds), 0)
        expect(not outcome.infeasible, where, "it calls a feasible instance infeasible.")
        ended = (outcome.termination is Termination.TIME_LIMIT) != outcome.optimal
        expect(ended, where, f"it ended with {outcome.native!r}, {outcome.termination.value}.")
        _check_sides(problem, outcome, reached, where)
    result = search(problem, "milp", Limits(time_s=seconds), backend=name)
    ended = (result.termination is Termination.TIME_LIMIT) != (result.status is Status.OPTIMAL)
    expect(ended, where, f"the strategy milp ends with {result.status.value}, {result.termination.value}.")
    expect(result.seconds < seconds + 5, where, f"milp took {result.seconds:.1f} s, over {seconds + 5:g} s.")


def _check_others(name: str, problem: Problem) -> None:
    names = _backend(name).declaration.names
    limits = Limits(time_s=30.0 if names.time is not None else None)  # long enough for a busy machine
    if names.nodes is not None:
        ended = search(problem, "milp", replace(limits, nodes=1), backend=name).termination
        allowed = {Termination.NODE_LIMIT, Termination.COMPLETED}
        expect(ended in allowed, name, f"a node limit ends it with {ended.value}.")
    if names.gap is not None:
        result = search(problem, "milp", replace(limits, gap=0.9), backend=name)
        good = result.termination in {Termination.GAP_REACHED, Termination.COMPLETED}
        expect(good and result.gap is not None, name, f"a wide gap ends it with {result.termination.value}.")


_PIECES: Final = (
    *("The", "cats'", "running", "U.S.", "3.5", "e.g.", "Dr.", "naïve", "Straße", "İzmir", "ПРИВЕТ", "हिन्दी", "大桥。"),
    *("«Bonjour»", "—", '"', "(", ")", "x_y", "\u200d", "\u00ad", "\U0001f600", "a\u0301", "カタカナ", "ฝนตก"),
    *("ok?", "Yes!"),
)
_BLANKS: Final = (" ", " ", " ", "  ", "\t", "\n", "\u00a0", "\n\n")


def check_tokenizer(tokenizer: str | Callable[..., Any], texts: Sequence[str] = (), *, seed: int = 0) -> None:
    """Check that the tokens of a text depend only on the text, and are strings.

    The same text must have the same tokens each time, in every order of texts. No text may raise an error, including
    the empty one, blanks and lone surrogates. Other processes must compute the same tokens, or refuse the function with
    a message. Changing a list of tokens must not change later answers.

    Parameters
    ----------
    tokenizer : str or callable
        A name as for ``--tokenizer``, or a function.
    texts : sequence of str, optional
        Texts to try besides those of the suite.
    seed : int
        Seed of the random texts of the suite.

    Raises
    ------
    ConformanceError
        With the text on which it fails.

    Examples
    --------
    >>> check_tokenizer("unicode")
    >>> check_tokenizer(str.split)
    """
    name = named_function(tokenizer) if callable(tokenizer) else tokenizer
    _check_lists(f"the tokenizer {name}", tokenizer_of(name).split, _texts(texts, seed))
    _check_sent(name, lambda again: tokenizer_of(again).split("The cats ran."))


def check_stemmer(stemmer: str | Callable[[str], Any], words: Sequence[str] = (), *, seed: int = 0) -> None:
    """Check that the stem of a word depends only on the word, and is a string.

    Parameters
    ----------
    stemmer : str or callable
        A name as for ``--stemmer``, or a function.
    words : sequence of str, optional
        Words to try besides those of the suite.
    seed : int
        Seed of the random words of the suite.

    Raises
    ------
    ConformanceError
        With the word on which it fails.

    Examples
    --------
    >>> check_stemmer("snowball:german")
    """
    name = named_function(stemmer) if callable(stemmer) else stemmer
    found = [word for text in _texts((), seed) for word in text.lower().split()]
    stem = stemmer_of(name)
    _check_lists(f"the stemmer {name}", lambda word: [stem(word)], [*words, *dict.fromkeys(found), ""])
    _check_sent(name, lambda again: stemmer_of(again)("running"))


def check_splitter(
    splitter: str | Callable[..., Any], texts: Sequence[str] = (), *, language: str = "en", seed: int = 0
) -> None:
    """Check that the sentences of a text depend only on the text, and lose nothing of it.

    In addition to the checks of `check_tokenizer`, the joined sentences must equal the text, except for white space.

    Parameters
    ----------
    splitter : str or callable
        A name as for ``--splitter``, or a function.
    texts : sequence of str, optional
        Texts to try besides those of the suite.
    language : str
        The language of the texts, if the splitter needs it.
    seed : int
        Seed of the random texts of the suite.

    Raises
    ------
    ConformanceError
        With the text on which it fails.

    Examples
    --------
    >>> check_splitter("sentencex", language="de")
    """
    split = splitter_of(language, splitter)
    what, every = f"the splitter {split.name}", _texts(texts, seed)
    _check_lists(what, split, every)
    for text in every:
        readable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if "".join("".join(split(text)).split()) != "".join(readable.split()):
            raise ConformanceError(f"{what} changes the text {text!a}: letters are lost, added or moved")
    _check_sent(str(split.name), lambda again: splitter_of(language, again)("It ran. It sat."), split.name)


def _texts(own: Sequence[str], seed: int) -> list[str]:
    rng = random.Random(seed)  # noqa: S311
    made = ["".join(rng.choice(_PIECES) + rng.choice(_BLANKS) for _ in range(rng.randrange(1, 25))) for _ in range(100)]
    return [*own, *made, "", " ", "\n", ".", "\ud800 a", "a" * 1000, "\0"]


def _check_lists(what: str, function: Callable[[Any], list[str]], texts: Sequence[str]) -> None:
    try:
        first = [function(text) for text in texts]
        kept = [list(found) for found in first]
        for found in first:
            found.append("changed")
        again = [function(text) for text in reversed(texts)][::-1]
    except OptsumError as error:
        raise ConformanceError(f"{what} does not take every text: {error}") from error
    for text, before, after in zip(texts, kept, again, strict=True):
        if before != after:
            raise ConformanceError(f"{what} returned {before!a:.200} for {text!a:.200}, and later {after!a:.200}")


def _check_sent(name: str, ask: Callable[[str], Any], own: Any = None) -> None:
    """Check that a function gives the same answer in another process, or is refused with a message."""
    given = own if isinstance(own, str) else name
    try:
        again = pickle.loads(pickle.dumps(given))  # noqa: S301 - pickled in the same line
    except OptsumError:  # refused with a message
        return
    if not (hasattr(given, "function") and again == given) and ask(again) != ask(given):
        raise ConformanceError(f"the function {name} has another answer in another process")
