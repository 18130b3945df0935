"""The MILP strategy: any backend solves the integer program, and its claims are checked.

Each answer is compared with known values and bounds, and with `--verify` proven again. A refuted claim is an error,
never a result. A consistent error, such as a good selection claimed to be optimal, is found only by `verify`.

One ratio is maximized by a short sequence of programs (Dinkelbach 1967). For means of several ratios,
`optsum.program.surrogate` makes linear programs that contain all better selections, one for each corner of a box of
denominators; boxes with coarse programs are split, and a solver searches the boxes that relaxations leave open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, count
from math import ceil, floor, inf
from typing import Any, ClassVar, Final, NoReturn

import numpy as np

from optsum.contracts.backend import Backend, RawOutcome
from optsum.contracts.strategy import Run, Strategy, is_certified, limits_left
from optsum.coverage.greedy import climb, prepare_climb
from optsum.coverage.instance import Coverage, Facility, Sense, score
from optsum.errors import BackendError, UnsupportedError
from optsum.problem.problem import Capability, Problem, Selection, require
from optsum.program.model import LinearModel, coverage_model, model_bound
from optsum.program.surrogate import DenominatorBox, Weighted, excess, programs, wish_of
from optsum.registry import BACKENDS
from optsum.system.clock import Limits, Stopped, Termination

from .branch_and_bound import BranchAndBound, search_by_levels
from .objectives.one_ratio import dinkelbach
from .objectives.sums import Bound, Part, RatioRows, Side, rows_of_box, search_parts

_TOLERANCE: Final = 1e-6  # Absolute error that is allowed in a solver's integer objective and bound.
RELATIVE: Final = 1e-9  # Relative error that is allowed if it is larger, as for a large common denominator.
_TRIED: Final = 64  # Largest number of neighbours of a claimed optimum that are evaluated.
_ANY: Final = 1e9  # Relative gap from which a solver may call even a selection of value 0 optimal.
_COUNTS: Final = 1e-4  # Slack from which a bound that is rounded to an integer may differ by 1 more.


def slack_of(value: float) -> float:
    """Return the largest error that is allowed in a number stated by a solver."""
    return max(_TOLERANCE, RELATIVE * abs(value))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The conclusions from a solver's answer after it was checked."""

    bound: int | None = None  # Bound of the program's objective, if it is known.
    proven: bool = False  # Whether the answer's selection is optimal; without one, whether nothing is feasible.
    within_gap: bool = False  # Whether the claimed optimum is known to be optimal only within the gap.


def _verdict(
    name: str,
    outcome: RawOutcome,
    model: LinearModel,
    worth: Fraction | None,
    known: Fraction | None,
    *,
    gap: float | None,
    size: float,
    neighbours: Iterable[Fraction],
) -> Verdict:
    """Compare an answer of the solver `name` with known values; a contradiction raises `BackendError` (see `judge`)."""
    sign = 1 if model.sense is Sense.MAXIMIZE else -1

    def slack_at(value: float) -> float:
        return slack_of(max(abs(value), size))

    def shown(value: float | Fraction) -> str:
        return f"{(float(value) + model.offset) / model.denominator:.6g}"

    def refuse(said: str) -> NoReturn:
        raise BackendError(f"{name} {said}: its answer is not valid.")

    def check_known(worth: Fraction, known: Fraction | None, slack: float) -> None:
        if known is not None and sign * (known - worth) > slack:
            refuse(f"calls {shown(worth)} optimal, but a selection worth {shown(known)} is known")

    best = max((value for value in (worth, known) if value is not None), key=lambda value: sign * value, default=None)
    if outcome.infeasible:
        if best is not None:
            refuse("calls the problem infeasible, but a feasible selection is known")
        return Verdict(proven=True)
    if outcome.objective is not None and worth is not None:
        surplus, slack = sign * (outcome.objective - float(worth)), max(0.5, 1000 * slack_at(outcome.objective))
        # Auxiliary columns may understate the value of a feasible answer, and that of an optimum by less than 1.
        if surplus > slack or (outcome.optimal and gap is None and -surplus >= max(1.0, slack)):
            raise BackendError(
                f"{name} claims an objective of {shown(outcome.objective)}, but its selection has {shown(worth)}: "
                "this is not a valid result."
            )
    bound: int | None = None
    if outcome.bound is not None:
        # Solvers may violate each row by their tolerance; the errors may add up, so a larger slack is tried next.
        for slack in (slack_at(outcome.bound), 100 * slack_at(outcome.bound)):
            bound = floor(outcome.bound + slack) if sign > 0 else ceil(outcome.bound - slack)
            if best is None or sign * (best - bound) <= 0:
                break
        else:
            claim = "claims optimality with" if outcome.optimal else "states"
            refuse(f"{claim} a bound of {shown(outcome.bound)}, which a selection worth {shown(best or 0)} exceeds")
    if not outcome.optimal:
        return Verdict(bound)
    if worth is None:
        raise BackendError(f"{name} ended with {outcome.native!r} without an answer that can be used.")
    slack = 2 * slack_at(max(abs(float(worth)), abs(outcome.bound or 0.0)))
    if gap is not None:
        agrees = bound is not None and abs(bound - worth) <= slack
        if gap < _ANY:
            check_known(worth, known, slack + 1 + gap * abs(float(worth)))
        return Verdict(bound, proven=agrees, within_gap=not agrees)
    if bound is not None and abs(bound - worth) > slack + (slack >= _COUNTS):
        refuse(f"calls {shown(worth)} optimal, but its own bound is {outcome.bound:.6g} / {model.denominator}")
    for other in chain([known], neighbours):
        check_known(worth, other, slack)
    return Verdict(bound, proven=True)


_LONGEST_S: Final = 60.0  # Longest time (s) of a verification that was requested.
_UNASKED_S: Final = 10.0  # Longest time (s) of a proof by branch and bound that was not requested.


def prove(run: Run) -> bool:
    """Return whether branch-and-bound proves the run's selection optimal, or that none is feasible; keep its bound."""
    seconds = min(_UNASKED_S, run.remaining_s)
    if run.evaluation is not None and run.problem.can(Capability.BOUND):
        run.raise_root_bound(run.deadline.within(seconds))
        if is_certified(run):
            return True
    try:
        own = _own(run, min(seconds, run.remaining_s))
    except UnsupportedError:
        return False
    if own.selection is not None:
        run.see(own.selection)
    found, held = own.evaluation, run.evaluation
    if own.proven:
        if found is not None:
            run.raise_bound(found.key)
        return found is None or (held is not None and held.key == found.key)
    if own.bound is not None:
        run.raise_bound(own.bound)
    return is_certified(run)


def _is_beyond(model: LinearModel) -> bool:
    """Return whether a model has numbers so large that a solver, with its relative tolerance, may err by 1."""
    sides = np.concatenate([model.row_lower, model.row_upper]).astype(np.float64)
    worth = np.abs(model.objective.astype(np.float64)) @ model.upper.astype(np.float64)
    rows = np.abs(np.concatenate([model.row_value.astype(np.float64), sides[np.isfinite(sides)]]))
    return slack_of(max(float(worth), float(rows.max(initial=0.0)))) >= 1


def verify(run: Run, name: str) -> None:
    """Prove that the run's selection is optimal, or that nothing is feasible if it has none.

    A root bound that is attained is a proof; otherwise branch-and-bound searches within the remaining time limit, for
    at most a minute. The statistic ``verified`` tells whether a proof was found, and the run's detail why not. `name`:
    the name of the solver, for messages. A refuted claim raises `BackendError`.
    """
    seconds = min(_LONGEST_S, run.remaining_s)
    run.statistics["verified"] = True
    if run.evaluation is not None and run.problem.can(Capability.BOUND):
        if run.problem.root_bound(run.deadline.within(seconds)) == run.evaluation.key:
            return
        seconds = min(seconds, run.remaining_s)
    try:
        own = _own(run, seconds)
    except UnsupportedError as error:
        why = str(error)
    else:
        found, held = own.evaluation, run.evaluation
        if found is not None and (held is None or run.problem.sense.better(found.key, held.key)):
            claimed = "the problem infeasible" if held is None else f"{float(held.value):.6g} optimal"
            raise BackendError(
                f"{name} calls {claimed}, but branch-and-bound finds {float(found.value):.6g}: its answer is not valid."
            )
        if own.proven or (held is not None and own.bound == held.key):
            return
        why = f"branch-and-bound did not end within {seconds:.3g} s"
    run.statistics["verified"] = False
    run.detail = f"only claimed by {name}, not verified: {why}"


def _own(run: Run, seconds: float) -> Run:
    strategy = BranchAndBound()
    strategy.accept(run.problem)
    own = Run(run.problem, Limits(time_s=seconds), seed=run.seed)
    if run.selection is not None:
        own.see(run.selection)
    try:
        strategy.search(own)
    except Stopped as stop:
        if stop.termination is Termination.INTERRUPTED:
            raise
    return own


@dataclass(frozen=True, eq=False)
class _Round:
    linear_model: LinearModel

    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.LINEAR})

    @property
    def sense(self) -> Sense:
        return self.linear_model.sense

    def can(self, capability: Capability) -> bool:
        return capability in self.capabilities


def _wanted(run: Run) -> Fraction:
    """Return the value that a better selection must exceed, in a run that has a selection."""
    assert run.evaluation is not None  # noqa: S101 - a search for better selections begins with one
    held = Fraction(run.evaluation.key)
    return held if run.cutoff is None else max(held, Fraction(run.cutoff))


def _only_tops(coverage: Coverage) -> Coverage:
    return replace(
        coverage,
        constants=np.array([coverage.constants[0], 1]),
        mass=np.vstack([coverage.mass[0], np.zeros_like(coverage.mass[1])]),
        level=np.where(np.repeat(coverage.slot == 1, np.diff(coverage.level_start)), 0, coverage.level),
        slot=np.zeros_like(coverage.slot),
    )


def see_greedy(run: Run) -> None:
    """Give a run the greedy selection, by `Run.begin` or else by `climb`; raise `Stopped` at a limit."""
    run.begin()
    if not run.selection and run.problem.can(Capability.COVERAGE):
        climbed = climb(run.problem.coverage, run.deadline)
        if climbed is not None:
            run.count(evaluations=climbed.evaluations)
            run.see(climbed.units)
    run.check()


class _Claims:
    """The programs that a backend solves for a run, and the checks of the claims in its answers."""

    def __init__(self, run: Run, backend: Backend, name: str) -> None:
        self.run, self.backend, self.name = run, backend, name
        self._rounds = count(1)

    def answer(
        self, problem: Any, *, gap: float | None = None, start: Selection | None = None, **told: Any
    ) -> RawOutcome:
        """Return the backend's answer to a problem within the remaining limits of the run; `told`: more statistics."""
        run, backend = self.run, self.backend
        outcome = backend.solve(problem, limits_left(run, gap), run.seed, start)
        if not isinstance(outcome, RawOutcome):
            raise BackendError(f"{backend.name} returned {outcome!r:.40}: let its solve return an optsum.RawOutcome.")
        if outcome.termination is Termination.INTERRUPTED:
            run.deadline.interrupt()  # so that no further round begins
        run.count(nodes=outcome.nodes or 0)
        run.statistics.update({**outcome.statistics, **told, "native_status": outcome.native})
        run.detail = outcome.detail or run.detail
        if outcome.termination is not Termination.FAILED:
            return outcome
        # A failure of the solver ends the search: with a selection as a limit does, otherwise with an error.
        said = outcome.detail or f"{backend.name} ended with the status {outcome.native!r}, which is not a proof"
        if backend.options and (given := backend.given()) not in said:
            said = f"{said}; it was given {given}"
        run.detail = said
        run.statistics["solver_failed"] = True
        if outcome.selection is not None and set(outcome.selection) <= set(range(run.problem.size)):
            run.see(outcome.selection)
        see_greedy(run)
        if run.evaluation is None:
            raise BackendError(f"{said}.")
        raise Stopped(Termination.COMPLETED, said)

    def stopped_by_options(self, outcome: RawOutcome) -> Stopped:
        """Return the exception that ends a search if options of the solver's own prevented a proof."""
        said = f"{self.name} ended with {outcome.native!r} under {self.backend.given()}"
        return Stopped(Termination.COMPLETED, f"{said}, which does not prove the optimum")

    def prove_beyond(self, outcome: RawOutcome) -> None:
        """Prove the optimum by branch and bound, because numbers are too large for the solver, or raise `Stopped`."""
        said = f"numbers of this program are larger than {self.name} can distinguish"
        if not prove(self.run):
            raise Stopped(Termination.COMPLETED, f"{said}: it ended with {outcome.native!r}, which is not a proof")
        self.run.detail = f"proven by branch-and-bound, because {said}"
        self.run.prove()

    def totals(self, coverage: Coverage, outcome: RawOutcome) -> tuple[int, ...] | None:
        """Return the totals of an answer's selection, computed here; None if there is no selection.

        An infeasible selection raises `BackendError`; if options of the solver's own may be the cause, it is ignored.
        """
        if (selection := outcome.selection) is None:
            return None
        try:
            self.check_units(coverage.size, selection)
            totals, _, violation = score(coverage, selection)
            self.check_violation(violation)
        except BackendError:
            if self.backend.options:
                return None
            raise
        return totals

    def check_units(self, size: int, selection: Selection) -> None:
        if not set(selection) <= set(range(size)):
            raise BackendError(f"The answer of {self.name} names units that do not exist: this is not a valid result.")

    def check_violation(self, violation: int) -> None:
        if violation:
            raise BackendError(
                f"The answer of {self.name} violates the limits by {violation}: this is not a valid result."
            )

    def judge(
        self,
        outcome: RawOutcome,
        model: LinearModel,
        worth: Fraction | int | None,
        known: Fraction | int | None,
        *,
        gap: float | None = None,
        size: float = 0.0,
        neighbours: Iterable[Fraction] = (),
    ) -> Verdict:
        """Return the conclusions from an answer.

        Options of the solver's own may stop it anywhere or change its numbers. With them an answer counts as optimal
        only if it attains the stated bound, and the bound is valid (`Backend.keeps_bound`); refuted claims are then
        ignored instead of being errors.

        `worth`, `known`: the value of the program at the answer's selection, and at the best selection known otherwise,
        both computed here; None without such a selection. `gap`: relative gap within which the solver may claim
        optimality. `size`: magnitude of the terms of the objective, which determines the precision of the solver's
        numbers. `neighbours`: the objective at neighbouring selections, which are computed only if optimality is
        claimed.
        """
        trusted = not self.backend.options
        if not trusted and (outcome.infeasible or not self.backend.keeps_bound):
            return Verdict()

        def of(value: Fraction | int | None) -> Fraction | None:
            return None if value is None else Fraction(value - model.offset)

        gap = gap if trusted else inf
        try:
            return _verdict(self.name, outcome, model, of(worth), of(known), gap=gap, size=size, neighbours=neighbours)
        except BackendError:
            if trusted and not _is_beyond(model):
                raise
            return Verdict()

    def conclude(self, verdict: Verdict, outcome: RawOutcome, *, proven: bool) -> None:
        """Return if the answer is proven; otherwise raise `Stopped` for a limit, or `BackendError`."""
        if verdict.proven and proven:
            return
        if outcome.termination is not Termination.COMPLETED:
            raise Stopped(outcome.termination)
        if self.backend.options:
            raise self.stopped_by_options(outcome)
        raise BackendError(f"{self.name} ended with {outcome.native!r} without an answer that can be used.")

    def maximize_ratio(self) -> None:
        r"""Solve :math:`\max q T - p D` at the incumbent's ratio p / q, again and again, until no ratio exceeds it."""
        run, coverage = self.run, self.run.problem.coverage

        def beaten(ratio: Fraction) -> bool:
            held = run.evaluation
            model = coverage_model(_only_tops(coverage)) if held is None else coverage_model(coverage, ratio)
            p, q = max(ratio, Fraction(0)).as_integer_ratio()
            before = () if held is None else score(coverage, run.selection or ())[0]
            outcome = self.answer(_Round(model), rounds=next(self._rounds))
            totals = self.totals(coverage, outcome)
            surplus = None if totals is None else q * totals[0] - p * totals[1]
            known = q * before[0] - p * before[1] if held is not None and before[1] > 0 else None
            verdict = self.judge(outcome, model, surplus, known)
            if outcome.selection is not None and totals is not None:
                run.see(outcome.selection)
            if surplus is not None and surplus > 0:
                if held is not None and run.evaluation is held and self.backend.options:
                    raise self.stopped_by_options(outcome)
                run.check()
                return True
            if (outcome.optimal or outcome.infeasible) and _is_beyond(model):
                self.prove_beyond(outcome)
                return False
            self.conclude(verdict, outcome, proven=verdict.bound is None or verdict.bound + model.offset <= 0)
            return False

        dinkelbach(lambda: Fraction(-1) if run.evaluation is None else _wanted(run), beaten, self.name)


_REACH: Final = 2.0**28  # Approximate largest objective of a program for which solvers notice a difference of 1.
_STEEPEST: Final = 2.0**18  # Approximate largest coefficient of a numerator, because it multiplies violations of rows.
_GRID: Final = 10**9  # Bounds are rounded up to multiples of 1 / `_GRID`.
_COARSE: Final = 3e-4  # Boxes are split only if their programs overestimate typical numerators by more than this share.
_SHARE: Final = 0.25  # Boxes are split only if that overestimate exceeds this share of the gap left by relaxations.
_FINEST: Final = 1e-7  # Boxes with a smaller overestimate are not split after any number of answers.
_SURPASSED: Final = 4  # Answers without a better selection after which boxes are split down to `_FINEST`.


class _Search(_Claims):
    """A search for the proven maximum of a weighted mean of ratios, one part of the selections after another."""

    def __init__(self, run: Run, backend: Backend, name: str) -> None:
        super().__init__(run, backend, name)
        self.coverage: Coverage = run.problem.coverage.merged
        self.rows = RatioRows(self.coverage)
        self.seen: list[tuple[int, ...]] = []
        self.surpassed: list[tuple[int, ...]] = []

    def search(self) -> None:
        if self.run.selection is not None:
            self.seen.append(score(self.coverage, self.run.selection)[0])
        elif self._largest((1,) * self.coverage.ratios, (0,) * self.coverage.ratios, ()) is None:
            return  # nothing is feasible
        search_parts(self.coverage, self._wish, self._look_at)

    def _wish(self, ratios: tuple[int, ...]) -> Weighted:
        assert self.run.selection is not None  # noqa: S101 - a search begins with one
        return wish_of(self.coverage, ratios, _wanted(self.run), score(self.coverage, self.run.selection)[0])

    def _look_at(self, bound: Bound, part: Part) -> Iterator[tuple[Bound, Part]]:
        """Bound a part; if it may have better selections, split it or let the solver search it; yield what is left."""
        value = _wanted(self.run)
        if bound <= value or (box := _whole(part.box)) is None:
            return
        if isinstance(bound, Fraction):
            self.run.raise_bound(bound)
        self.run.check()
        part, wish = replace(part, box=box), self._wish(part.ratios)
        sides = (*part.sides, *rows_of_box(part.box, part.ratios, self.rows.constants))
        left: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        largest: Bound = Fraction(0)
        constants, check = self.rows.constants, self.run.check
        least = part.box.at(part.box.low)  # the least denominators
        if part.box.quotient:
            least = tuple(Fraction(constants[2 * h + 1]) for h in part.ratios)
        for weights in programs(self.coverage, part.box, wish, largest=_REACH, steepest=_STEEPEST, check=check):
            tops, bottoms = (tuple(2 * weight for weight in each) for each in weights)  # a positive surplus is >= 2
            model = self.rows.program(tops, bottoms, sides)
            assert model is not None  # noqa: S101 - no selections are excluded
            surplus = model_bound(model, self.run.deadline) + model.offset
            if surplus < 2:
                continue
            left.append((tops, bottoms))
            below = sum(bottoms[h] * max(Fraction(1), at_least) for h, at_least in zip(part.ratios, least, strict=True))
            largest = max(largest, Fraction(surplus) / below if below > 0 else inf)
        if not left:
            return
        if value and largest < inf:
            bound = min(bound, Fraction(ceil(value * (1 + largest) * _GRID), _GRID))
        coarse = excess(part.box, wish, check)
        halves = part.box.halves() if coarse > max(_COARSE, _SHARE * float(largest)) else None
        for each in halves or self._closed(part, left, sides, coarse=coarse > _COARSE):
            yield bound, replace(part, box=each)

    def _closed(
        self,
        part: Part,
        left: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
        sides: tuple[Side, ...],
        *,
        coarse: bool,
    ) -> Sequence[DenominatorBox]:
        """Let the solver maximize the programs of a part; return the boxes that remain to be examined."""
        times = 0
        for tops, bottoms in left:
            while True:
                held = self.run.evaluation
                found = self._largest(tops, bottoms, sides)
                if found is None:
                    break
                if found in self.surpassed:
                    if self.backend.options:
                        raise Stopped(Termination.COMPLETED, f"{self.name} violates rows under {self.backend.given()}")
                    raise BackendError(
                        f"{self.name} repeated a selection that its program excludes: it would search forever."
                    )
                self.surpassed.append(found)
                if self.run.evaluation is not held:
                    return (part.box,)
                times += 1
                halves = part.box.halves() if coarse or times >= _SURPASSED else None
                if halves is not None and excess(part.box, self._wish(part.ratios), self.run.check) > _FINEST:
                    return halves
        return ()

    def _largest(
        self, tops: tuple[int, ...], bottoms: tuple[int, ...], sides: tuple[Side, ...]
    ) -> tuple[int, ...] | None:
        """Solve a program; return the totals of the selection if its value is positive, or it is the first; or None."""
        any_will_do = self.run.evaluation is None
        worse = [totals for totals in self.surpassed if self.rows.worth(tops, bottoms, totals) > 0]
        self.run.check()
        model = self.rows.program(tops, bottoms, sides, worse)
        if model is None:
            return None
        outcome = self.answer(_Round(model), rounds=next(self._rounds))
        selection, totals = outcome.selection, self.totals(self.coverage, outcome)
        worth = None if totals is None else self.rows.worth(tops, bottoms, totals)
        known = max(
            (
                self.rows.worth(tops, bottoms, each)
                for each in self.seen
                if all(side.holds(each, self.rows.constants) for side in sides)
                and not any(_no_better(each, other) for other in worse)
            ),
            default=None,
        )
        size = sum(a * most for a, most in zip(tops, self.rows.most[0::2], strict=True))
        verdict = self.judge(outcome, model, worth, known, size=float(size))
        if selection is not None and totals is not None and worth is not None:
            self.run.see(selection)
            self.seen.append(totals)
            if worth > 0 or any_will_do:
                self.run.check()
                return totals
        surplus = None if verdict.bound is None else verdict.bound + model.offset
        self.conclude(verdict, outcome, proven=surplus is None or surplus < 2)
        return None


def _no_better(totals: Sequence[int], other: Sequence[int]) -> bool:
    tops = all(one <= two for one, two in zip(totals[0::2], other[0::2], strict=True))
    return tops and all(one >= two for one, two in zip(totals[1::2], other[1::2], strict=True))


def _whole(box: DenominatorBox) -> DenominatorBox | None:
    """Return a box of denominators with its limits rounded inwards to integers, or None if it becomes empty."""
    if box.quotient:
        return box
    straight = 1 if box.outlines else len(box.low)
    low = (*map(float, map(ceil, box.low[:straight])), *box.low[straight:])
    high = (*map(float, map(floor, box.high[:straight])), *box.high[straight:])
    return None if any(one > two for one, two in zip(low, high, strict=True)) else replace(box, low=low, high=high)


def backend_of(name: str, *, threads: int = 1, options: Mapping[str, Any] | None = None) -> Backend:
    return BACKENDS.load(name)(threads=threads, options=options)


@dataclass(frozen=True)
class Milp(Strategy):
    """Integer linear programming: one program for recall, and a sequence of programs for other ratios and their means.

    Parameters
    ----------
    backend : str
        A name (``optsum list backends``), or "pyomo:NAME": the readable model of the paper's equations, solved by
        any solver that Pyomo knows.
    threads : int
        Number of threads of the solver.
    backend_options : tuple of (name, value)
        The solver's own options.
    verify : bool
        Whether optima that the solver claims are proven again, if possible (`verify`).
    """

    backend: str = "highs"
    threads: int = 1
    backend_options: tuple[tuple[str, Any], ...] = ()
    verify: bool = False

    name: ClassVar[str] = "milp"
    about: ClassVar[str] = "integer linear programming on any solver (Hirao et al. 2017, eq. 3-8)"
    exact: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ("backend", "threads", "backend_options", "verify")

    @property
    def backend_name(self) -> str | None:
        return self.backend

    def accept(self, problem: Problem) -> None:
        if not (problem.can(Capability.RATIO) or problem.can(Capability.RATIOS)):
            require(problem, frozenset({Capability.LINEAR}), "The strategy milp")
        self.solver()

    def prepare(self, problem: Problem | None = None) -> None:
        """Refuse a missing solver, and compile greedy search, which finds the first selection."""
        self.solver().accept(Limits())
        if problem is None or problem.can(Capability.COVERAGE):
            prepare_climb()
            if self.verify:
                BranchAndBound().prepare(problem)

    def solver(self) -> Backend:
        return backend_of(self.backend, threads=self.threads, options=dict(self.backend_options))

    def search(self, run: Run) -> None:
        coverage = run.problem.coverage if run.problem.can(Capability.COVERAGE) else None
        if isinstance(coverage, Facility):
            search_by_levels(run, coverage, self.search)
            return
        solver = self.solver()
        try:
            self._search(run, solver)
        except Stopped as stop:
            # Options of the solver's own may make its bounds invalid; then the proof is left to branch and bound.
            if stop.termination is not Termination.COMPLETED or solver.keeps_bound or not prove(run):
                raise
            run.prove()
        except BackendError as error:
            if not solver.options:
                raise
            said, given = str(error).rstrip("."), solver.given()
            said = said if given in said else f"{said}; it was given {given}"
            if own := [name for name in solver.declaration.fixed if name in solver.options]:
                said = f"{said}; optsum itself sets {' and '.join(own)}: try without --backend-option {own[0]}"
            raise BackendError(f"{said}.") from error
        if self.verify and run.proven:
            verify(run, self.backend)

    def _search(self, run: Run, solver: Backend) -> None:
        problem, limits = run.problem, run.limits
        solver.accept(limits)
        run.statistics["access"] = solver.access
        if not solver.repeatable:
            run.detail = (
                f"{self.backend} got no seed, because the name of its option for the seed is unknown: give it with "
                "--backend-option"
            )
        # The empty selection needs no solver, and some solvers cannot read a model without variables.
        run.see(())
        if problem.size == 0:
            run.prove()
            return
        run.check()
        if not problem.can(Capability.LINEAR):
            see_greedy(run)
            if problem.can(Capability.RATIO):
                _Claims(run, solver, self.backend).maximize_ratio()
            else:
                _Search(run, solver, self.backend).search()
            run.prove()
            return
        limited = bool(solver.options) or (limits.time_s, limits.nodes, limits.gap) != (None, None, None)
        if limited and problem.can(Capability.COVERAGE):  # other problems evaluate slowly: the solver gets the time
            see_greedy(run)  # an answer in case the solver has none at the limit
        # The solver starts from the incumbent, if it can, and if this is not empty.
        start = run.selection if solver.declaration.warm_start and run.selection else None
        claims, model = _Claims(run, solver, self.backend), problem.linear_model
        outcome = claims.answer(problem, gap=limits.gap, start=start)
        known, worth, beyond = run.evaluation, None, _is_beyond(model)
        if outcome.selection is not None:
            try:
                claims.check_units(problem.size, outcome.selection)
                evaluation = problem.evaluate(outcome.selection)
                claims.check_violation(evaluation.violation)
                worth = Fraction(evaluation.key) * model.denominator
            except BackendError:
                if not solver.options and not beyond:
                    raise
                outcome = replace(outcome, selection=None, bound=None)  # ignored: tolerances may be the cause
        verdict = claims.judge(
            outcome,
            model,
            worth,
            None if known is None else Fraction(known.key) * model.denominator,
            gap=limits.gap,
            neighbours=[] if outcome.selection is None else _neighbours(problem, model, outcome.selection),
        )
        if outcome.selection is not None:
            run.see(outcome.selection)
        if verdict.bound is not None and not beyond:
            run.raise_bound(model.value(verdict.bound))
        if beyond and (outcome.optimal or outcome.infeasible):
            claims.prove_beyond(outcome)
            return
        if verdict.within_gap and run.limits.gap is not None and not solver.options:
            raise Stopped(Termination.GAP_REACHED)
        stopped = outcome.termination not in {Termination.COMPLETED, Termination.INTERRUPTED}
        # The solver may have reached its limit just before it could report the proof.
        if verdict.proven or (stopped and is_certified(run)):
            run.prove()
        else:
            claims.conclude(verdict, outcome, proven=False)


def _neighbours(problem: Problem, model: LinearModel, selection: Selection) -> Iterator[Fraction]:
    """Yield the objective at feasible selections that differ in one of at most `_TRIED` evenly spaced units."""
    for unit in range(0, problem.size, max(1, -(-problem.size // _TRIED))):
        other = tuple(sorted(set(selection) ^ {unit}))
        # Most are too long, and need no evaluation.
        if not problem.excess(other) and (evaluation := problem.evaluate(other)).feasible:
            yield Fraction(evaluation.key) * model.denominator - model.offset
