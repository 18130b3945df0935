"""The contract of a search strategy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Protocol

from optsum.contracts.run import Run
from optsum.coverage.instance import Key
from optsum.errors import UnsupportedError
from optsum.problem.problem import Capability, Problem, Selection, require
from optsum.system.clock import Deadline, Limits

if TYPE_CHECKING:
    from optsum.optima.nearness import Nearness
    from optsum.optima.optima import Optima
    from optsum.problem.objective import Extracts


class LengthSearch(Protocol):
    """A search for optima of one problem at several maximum lengths, in descending order."""

    @property
    def searched(self) -> int:
        """Number of lengths that were searched."""

    def learn(self, units: Selection) -> None:
        """Take a selection that may be good."""

    def at(self, length: int, at_most: Key | None = None) -> tuple[Key, Selection] | None:
        """Return the best value at a maximum length and a selection worth it; None if nothing is feasible.

        Of several such selections, it is one that stays optimal for the most smaller lengths.
        """


class Strategy(ABC):
    """A search strategy. Subclasses are frozen dataclasses whose fields are the strategy's options.

    Attributes
    ----------
    name : str
        As in ``--strategy``.
    about : str
        One line for ``optsum list strategies``.
    requires : frozenset of Capability
        Capabilities that a problem must have.
    exact : bool
        Whether a search that completes proves its answer.
    enumerates : bool
        Whether it implements `enumerate`.
    all_units : bool
        Whether it needs every sentence as a unit, including those that can add nothing.
    flags : tuple of str
        Its fields that are also options under the same name.
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
            One sentence that says what is missing.
        """
        if self.requires:
            require(problem, self.requires, f"The strategy {self.name}")

    def prepare(self, problem: Problem | None = None) -> None:  # noqa: B027 - most have nothing to do
        """Compile or load every kernel that a search of such problems may use, before its time starts.

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
        """Return several topics with their optima, the same as of `search`; None if that is not quicker."""
        del extracts
        return None

    @abstractmethod
    def search(self, run: Run) -> None:
        """Search `run.problem`.

        Report selections with `run.see`, bounds with `run.raise_bound`, a proof with `run.prove`; call `run.check`
        often, and let `optsum.system.clock.Stopped` pass.
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
        raise UnsupportedError(f"The strategy {self.name} does not enumerate optima.")

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        """Return all near-optimal selections (`least` and `best` are their threshold and the best value).

        Parameters and errors are those of `enumerate`, with one more:

        Parameters
        ----------
        nearness : Nearness
            The threshold.
        """
        del problem, nearness, limits, should_stop
        raise UnsupportedError(f"The strategy {self.name} does not enumerate near-optimal selections.")

    def by_length(
        self, problem: Problem, lengths: Sequence[int], limits: Limits, deadline: Deadline
    ) -> LengthSearch | None:
        """Return a joint search for the optima at several maximum lengths; None if `search` at each is as good.

        Parameters
        ----------
        problem : Problem
            With the largest of the lengths.
        lengths : ascending
            The requested lengths.
        limits : Limits
            Limits of each search; the deadline gives its time.
        deadline : Deadline
            The end of all searches.
        """
        del problem, lengths, limits, deadline
        return None
