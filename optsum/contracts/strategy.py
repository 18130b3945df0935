"""The interface that a search strategy implements (`Strategy`), and the search in progress that it receives (`Run`)."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import isfinite
from numbers import Rational, Real
from operator import index
from sys import float_info
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import numpy as np

from optsum.contracts.result import TracePoint, relative_gap
from optsum.coverage.instance import Key
from optsum.errors import InputError, UnsupportedError
from optsum.problem.problem import Capability, Evaluation, Problem, Selection, checked_bound, require
from optsum.system.clock import Deadline, Limits, Stopped, Termination, clock, of_search
from optsum.whole import whole

if TYPE_CHECKING:
    from optsum.optima.optima import Nearness, Optima
    from optsum.problem.objective import Extracts


_SLOW_S: Final = 0.05  # Seconds of an evaluation by a user's code above which none begins after the time limit.
_REMEMBERED: Final = 200_000  # Number of selections whose evaluations are kept.
_LARGEST: Final = int(float_info.max)  # All values fit a float.
_LOG = logging.getLogger("optsum")


class Run:
    """A search in progress: it evaluates selections, keeps the best one, its bound and counts, and obeys the limits.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    rng : numpy.random.Generator, optional
        The only source of randomness that a strategy may use; by default made from the seed when it is needed.
    seed : int
        The seed of `rng`, and of solvers with random choices of their own.
    on_progress : callable, optional
        Called from time to time with the run; returning False, or numpy's, stops the search
        (`Termination.INTERRUPTED`).
    root_bound : Key, optional
        A bound on all selections of the problem (`Problem.root_bound`), if it is known already.
    certify : callable, optional
        Function that computes a root bound by a deadline; by default `Problem.root_bound`.
    starting : callable, optional
        Function that takes the run and a deadline, and reports a starting selection to the run; `begin` calls it.

    Attributes
    ----------
    selection, evaluation : tuple of int, Evaluation, or None
        The incumbent: the best feasible selection so far.
    bound : Key or None
        The best proven bound so far.
    proven : bool
        Whether the search is exhausted (`prove`).
    root_bound : Key or None
        The root bound, once `raise_root_bound` has computed it.
    cutoff : Key or None
        The search may omit selections that are not better than this value.
    ran, backend : str or None
        Names of the strategy to which this one has delegated the search, and of the solver.
    deadline : Deadline
        The remaining time, to be checked in every long step; checking it also calls `on_progress`.
    known : dict
        Evaluations of selections, so that none is evaluated twice.
    evaluation_s : float
        Seconds of the last evaluation.
    """

    def __init__(
        self,
        problem: Problem,
        limits: Limits,
        rng: np.random.Generator | None = None,
        seed: int = 0,
        on_progress: Callable[[Run], bool | None] | None = None,
        root_bound: Key | None = None,
        certify: Callable[[Deadline], Key | None] | None = None,
        starting: Callable[[Run, Deadline], None] | None = None,
    ) -> None:
        self.problem, self.limits, self.seed, self._rng = problem, limits, seed, rng
        self.selection: Selection | None = None
        self.evaluation: Evaluation | None = None
        self.bound: Key | None = None
        self.proven = False
        self.evaluations = self.nodes = 0
        self.trace: list[TracePoint] = []
        self.statistics: dict[str, Any] = {}
        self.detail: str | None = None
        self.ran: str | None = None
        self.backend: str | None = None
        self._start = clock()
        self.deadline = Deadline(limits.time_s, None if on_progress is None else lambda: _is_false(on_progress(self)))
        self.root_bound = checked_bound(root_bound, "root_bound", "give a number, or None")
        self._asked = root_bound is not None
        self.cutoff: Key | None = None
        self._certify = certify or problem.root_bound
        self._starting = starting
        self.known: dict[Selection, Evaluation] = {}
        self.evaluation_s = 0.0
        self._own = not (problem.can(Capability.COVERAGE) or problem.can(Capability.LINEAR))

    @property
    def rng(self) -> np.random.Generator:
        """The only source of randomness that a strategy may use."""
        if self._rng is None:  # made when needed, because it takes longer than many searches
            self._rng = np.random.default_rng(self.seed)
        return self._rng

    @property
    def elapsed(self) -> float:
        """Seconds since the search started."""
        return clock() - self._start

    @property
    def remaining_s(self) -> float:
        """Seconds left until the time limit; infinite without one."""
        return self.deadline.left_s

    def see(self, selection: Iterable[int]) -> Evaluation:
        """Evaluate a selection, and keep it if it is feasible and strictly better than the incumbent.

        Raises
        ------
        Stopped
            When the target or the gap is reached.
        InputError
            For a unit that does not exist or is no whole number, or an objective that is not finite.
        """
        try:
            units: Selection = tuple(sorted(set(map(index, selection))))
        except TypeError as error:
            raise InputError(
                f"The selection {selection!r:.60} is not a list of unit numbers: give whole numbers."
            ) from error
        if units and not 0 <= units[0] <= units[-1] < len(self.problem.lengths):
            raise InputError(f"The selection {units} names a unit outside 0..{self.problem.size - 1}.")
        evaluation = self.evaluate(units)
        self.evaluations += 1
        better = self.problem.sense.better
        if evaluation.violation == 0 and (self.evaluation is None or better(evaluation.key, self.evaluation.key)):
            value = self._shown(units, evaluation.value)
            self.selection, self.evaluation = units, evaluation
            self.trace.append(TracePoint(self.elapsed, self.evaluations, value))
            self._stop_if_good_enough()
        return evaluation

    def evaluate(self, selection: Selection) -> Evaluation:
        """Return the evaluation of a sorted selection, without making it the incumbent as `see` does.

        Raises
        ------
        Stopped
            After the time limit, if a user's own code evaluates slowly.
        InputError
            For an objective that is not finite.
        """
        known = self.known.get(selection)
        if known is None:
            if self.is_slow:
                self.deadline.check()
            began, before = clock(), of_search.set(self.deadline)
            try:
                known = self.problem.evaluate(selection)
            finally:
                of_search.reset(before)
            self.evaluation_s = clock() - began
            self._refuse(selection, known)
            if len(self.known) < _REMEMBERED:
                self.known[selection] = known
        return known

    @property
    def is_slow(self) -> bool:
        """Whether a user's own code evaluates so slowly that it must not be called after the time limit."""
        return self._own and self.evaluation_s > _SLOW_S

    def _refuse(self, units: Selection, evaluation: Any) -> None:
        if not isinstance(evaluation, Evaluation):
            raise InputError(
                f"evaluate of {type(self.problem).__name__} returned {evaluation!r:.40} for the selection {units}: "
                "let it return an optsum.Evaluation(key, violation, value)."
            )
        if type(evaluation.violation) is not int or evaluation.violation < 0:
            whole(evaluation.violation, f"The violation of the selection {units}", least=0)
        key: Any = evaluation.key
        number = isinstance(key, Rational) or (isinstance(key, Real | Decimal) and isfinite(key))
        if evaluation.violation == 0 and (not number or isinstance(key, bool | np.timedelta64)):
            raise InputError(
                f"The objective of the selection {units} is {key!s:.40}, which cannot be compared: let evaluate "
                f"return a finite number, or a violation."
            )

    def _shown(self, units: Selection, value: Any) -> float:
        with suppress(OverflowError, ValueError):
            if isinstance(value, Real | Decimal) and isfinite(found := float(value)):
                return found
        raise InputError(
            f"The value of the selection {units} is {value!s:.40}: let evaluate of {type(self.problem).__name__} "
            "return a number that fits a float."
        )

    def be_searched(self, search: Callable[[Run], object]) -> None:
        """Call a search function with this run; at its deadline, even an evaluation that calls a solver is stopped."""
        before = of_search.set(self.deadline)
        try:
            returned = search(self)
        finally:
            of_search.reset(before)
        if isinstance(returned, Generator) or (returned is not None and not self.evaluations and not self.proven):
            raise UnsupportedError(
                f"The search returned {returned!r:.60}, which is ignored, and has reported no selection: call run.see "
                "with each selection, and return or yield nothing."
            )

    def tell(self, sentence: str) -> None:
        """Log a message about the progress of the search, to the logger "optsum"."""
        _LOG.info(sentence)

    def count(self, *, evaluations: int = 0, nodes: int = 0) -> None:
        """Add to the counters without checking the limits."""
        self.evaluations += evaluations
        self.nodes += nodes

    def check(self) -> None:
        """Raise `Stopped` if a limit is reached; a strategy calls it often."""
        limits = self.limits
        if limits.nodes is not None and self.nodes >= limits.nodes:
            raise Stopped(Termination.NODE_LIMIT)
        if limits.evaluations is not None and self.evaluations >= limits.evaluations:
            raise Stopped(Termination.EVALUATION_LIMIT)
        self.deadline.check()

    def raise_bound(self, bound: Key) -> None:
        """Record a proven bound if it is tighter; when maximizing, a tighter bound is lower despite the name."""
        better = self.problem.sense.better
        found: Any = checked_bound(bound, "The bound that the search reports", "give run.raise_bound a number")
        if found is None:  # as from a `Problem.root_bound` that does not know one
            return
        if not -_LARGEST <= found <= _LARGEST:
            if better(0, found):
                raise InputError(f"The search reports the bound {found!s:.40}, which no value can reach.")
        elif self.bound is None or better(self.bound, found):
            self.bound = found
            self._stop_if_good_enough()

    def raise_root_bound(self, deadline: Deadline | None = None) -> None:
        """Record the root bound; it is computed at the first call only, unless the run began with it.

        Parameters
        ----------
        deadline : Deadline, optional
            When the computation must end, even without a bound; by default the run's own deadline.
        """
        if not self._asked:
            self._asked = True
            self.root_bound = self._certify(deadline or self.deadline)
        if self.root_bound is not None:
            self.raise_bound(self.root_bound)

    def begin(self, deadline: Deadline | None = None) -> None:
        """Report the starting selection, unless that has been done or the run has no function for it.

        An exact search calls it if it takes longer than a moment; otherwise its caller does, if a limit was reached.

        Parameters
        ----------
        deadline : Deadline, optional
            When finding the selection must end; given only after the time limit, and then no slow evaluation begins. By
            default the run's own deadline, which is extended to `Limits.grace_s` if evaluations are quick.
        """
        if self._starting is None:
            return
        starting, self._starting = self._starting, None
        if deadline is not None and self._own and not self.evaluations:
            self.see(())
        if not self.is_slow:
            starting(self, deadline or self.limits.late(self.deadline))
        elif deadline is None:
            starting(self, self.deadline)

    def prove(self) -> None:
        """Declare the search exhausted: the incumbent is optimal, nothing is feasible, or the cutoff is the bound."""
        held = None if self.evaluation is None else self.evaluation.key
        if self.cutoff is not None and (held is None or self.problem.sense.better(self.cutoff, held)):
            self.bound = self.problem.sense.tighter(self.bound, self.cutoff)
            return
        self.proven = True
        if self.evaluation is not None:
            self.bound = self.evaluation.key

    def _stop_if_good_enough(self) -> None:
        if self.evaluation is None:
            return
        limits, value = self.limits, self.evaluation.value
        if limits.target is not None and not self.problem.sense.better(limits.target, value):
            raise Stopped(Termination.TARGET_REACHED)
        if limits.gap is not None and isinstance(self.bound, Fraction | int):
            gap = relative_gap(float(self.evaluation.key), float(self.bound))
            if gap is not None and gap <= limits.gap:
                raise Stopped(Termination.GAP_REACHED)


def _is_false(answer: object) -> bool:
    """Return whether a callback returned False of Python or numpy; other values, such as None, continue."""
    return isinstance(answer, bool | np.bool_) and not answer


def is_certified(run: Run) -> bool:
    """Return whether the incumbent reaches the bound, so that no selection is better."""
    return run.evaluation is not None and run.evaluation.key == run.bound


def limits_left(run: Run, gap: float | None = None) -> Limits:
    """Return the remaining time and nodes of a run, as limits of a search with another objective and this gap."""
    left = run.limits.after(run.elapsed, nodes=run.nodes)
    return replace(left, gap=gap, target=None, evaluations=None)


class LengthSearch(Protocol):
    """A search for the optima of one problem at several maximum lengths, asked for in descending order."""

    @property
    def searched(self) -> int:
        """Number of lengths for which a search was necessary."""

    def learn(self, units: Selection) -> None: ...

    def at(self, length: int, at_most: Key | None = None) -> tuple[Key, Selection] | None:
        """Return the best value at a maximum length and a selection with this value; None if nothing is feasible.

        Of several such selections, a shortest one is returned, because it stays optimal down to its own length.
        """


class Strategy(ABC):
    """A search strategy. Subclasses are frozen dataclasses whose fields are the strategy's options.

    Attributes
    ----------
    name : str
        Its name for ``--strategy``.
    about : str
        Description of one line for ``optsum list strategies``.
    requires : frozenset of Capability
        Capabilities that a problem must have.
    exact : bool
        Whether a search that completes proves its answer.
    enumerates : bool
        Whether it implements `enumerate`.
    all_units : bool
        Whether it needs every sentence as a unit, including sentences that cannot improve the objective.
    flags : tuple of str
        Names of the fields that take the value of the search option with the same name.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    requires: ClassVar[frozenset[Capability]] = frozenset()
    exact: ClassVar[bool] = False
    enumerates: ClassVar[bool] = False
    all_units: ClassVar[bool] = False
    flags: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def backend_name(self) -> str | None:
        """Name of the solver behind the strategy, if it has one."""
        return None

    def accept(self, problem: Problem) -> None:
        """Refuse a problem that this strategy cannot search.

        Raises
        ------
        UnsupportedError
            If the problem lacks a required capability; the message says which.
        """
        if self.requires:
            require(problem, self.requires, f"The strategy {self.name}")

    def prepare(self, problem: Problem | None = None) -> None:  # noqa: B027 - most have nothing to do
        """Compile or load every kernel that a search may use, before its time is measured.

        It is called before every search of a third party's strategy, so a second call must cost next to nothing;
        built-in strategies are prepared once for all similar problems (`optsum.Problem.prepared_as`). Numba compiles a
        kernel and all functions that it calls for the types of its arguments, so one call of each kernel on an instance
        of any size is enough.

        Parameters
        ----------
        problem : Problem, optional
            The problem of the search, or a tiny one of its kind; None prepares for every kind.
        """

    def prove_extracts(self, extracts: Extracts) -> Extracts | None:
        """Add to several topics the optima that `search` would prove; return None if searching each is as quick."""
        del extracts
        return None

    @abstractmethod
    def search(self, run: Run) -> None:
        """Search `run.problem`.

        Report selections with `run.see`, bounds with `run.raise_bound`, and the end of an exhaustive search with
        `run.prove`; call `run.check` often, and do not catch `optsum.system.clock.Stopped`.
        """

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        """Return all optima of a problem, or those known when a limit is reached.

        Parameters
        ----------
        problem : Problem
        limits : Limits
        should_stop : callable, optional
            Called from time to time; a true answer ends the work.

        Raises
        ------
        UnsupportedError
            If the strategy finds only one optimum, or cannot search the problem.
        """
        del problem, limits, should_stop
        raise UnsupportedError(f"The strategy {self.name} does not enumerate optima: use auto.")

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        """Return all near-optimal selections: an `Optima` with `least` (the threshold) and `best` (a best selection).

        Parameters and errors are those of `enumerate`, with one more:

        Parameters
        ----------
        nearness : Nearness
            The threshold.
        """
        del problem, nearness, limits, should_stop
        raise UnsupportedError(f"The strategy {self.name} does not enumerate near-optimal selections: use auto.")

    def by_length(
        self, problem: Problem, lengths: Sequence[int], limits: Limits, deadline: Deadline
    ) -> LengthSearch | None:
        """Return a joint search for the optima at several maximum lengths; None if `search` at each is as good.

        Parameters
        ----------
        problem : Problem
            The problem with the largest of the lengths as its maximum length.
        lengths : sequence of int
            The requested maximum lengths, ascending.
        limits : Limits
            Limits of the search at each length, except its time.
        deadline : Deadline
            When all searches must end.
        """
        del problem, lengths, limits, deadline
        return None
