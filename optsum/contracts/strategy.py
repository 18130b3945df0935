"""The contract of a search strategy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from optsum.contracts.run import Limits, Run
from optsum.coverage.instance import Key
from optsum.errors import UnsupportedError
from optsum.problem.problem import Capability, Problem, Selection, require
from optsum.system.clock import Deadline

if TYPE_CHECKING:
    from optsum.optima.nearness import Nearness
    from optsum.optima.optima import Optima
    from optsum.problem.numbered import Extracts, Proven


class LengthSearch(Protocol):
    """A search for optima of one problem at one maximum length after another, each smaller than the one before."""

    @property
    def searched(self) -> int:
        """Number of lengths that were searched."""

    def learn(self, units: Selection) -> None:
        """Take in a selection that may be good."""

    def at(self, length: int, at_most: Key | None = None) -> tuple[Key, Selection] | None:
        """Return the best value at a maximum length and a selection worth it; None if nothing is feasible.

        Of such selections it is one that is an optimum of the most of the lengths below.
        """


class Strategy(ABC):
    """A way to search. Subclasses are frozen dataclasses whose fields are the strategy's options.

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
        Whether `enumerate` is there.
    all_units : bool
        Whether it must see every sentence as a unit, also those that can add nothing.
    flags : tuple of str
        Those of its fields that have a flag of their own among the options, under the same name.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    requires: ClassVar[frozenset[Capability]] = frozenset()
    exact: ClassVar[bool] = False
    enumerates: ClassVar[bool] = False
    all_units: ClassVar[bool] = False
    flags: ClassVar[tuple[str, ...]] = ()

    @property
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
        require(problem, self.requires, f"The strategy {self.name}")

    def prepare(self, problem: Problem | None = None) -> None:  # noqa: B027 - most have nothing to do
        """Compile or load every kernel that a search of such problems may use, before its clock starts.

        Every search of a third party's strategy calls it, so a second time costs next to nothing; built-in ones are
        prepared once for all problems that are alike (`optsum.Problem.prepared_as`). Numba compiles a kernel with all
        that it calls for the types of its arguments: one call of each kernel that Python calls is enough, on an
        instance of any size.

        Parameters
        ----------
        problem : Problem, optional
            The problem of the search, or a tiny one of its kind; None prepares for every kind.
        """

    def prove_extracts(self, extracts: Extracts) -> Proven | None:
        """Search several topics together with the results of `search`; return None where that is not quicker."""
        del extracts
        return None

    @abstractmethod
    def search(self, run: Run) -> None:
        """Search `run.problem`.

        Report selections with `run.see`, bounds with `run.raise_bound`, a proof with `run.prove`; call `run.check`
        often, and let `optsum.system.clock.Stopped` pass.
        """

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        """Return all optima of a problem, or what is known of them when a limit is reached.

        Parameters
        ----------
        problem : Problem
        limits : Limits
        should_stop : callable, optional
            Called now and then; a true answer ends the work.

        Raises
        ------
        UnsupportedError
            If the strategy finds one optimum only, or cannot search the problem.
        """
        del problem, limits, should_stop
        raise UnsupportedError(f"The strategy {self.name} does not enumerate optima.")

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        """Return all selections that are near the best (`least` and `best` say how near, and near what).

        Parameters and errors are those of `enumerate`, and

        Parameters
        ----------
        nearness : Nearness
            How near.
        """
        del problem, nearness, limits, should_stop
        raise UnsupportedError(f"The strategy {self.name} does not enumerate near-optimal selections.")

    def by_length(
        self, problem: Problem, lengths: Sequence[int], limits: Limits, deadline: Deadline
    ) -> LengthSearch | None:
        """Return a search for the optima at several maximum lengths together; None if `search` at each is as good.

        Parameters
        ----------
        problem : Problem
            With the largest of the lengths.
        lengths : ascending
            Those that are asked for.
        limits : Limits
            Of each search; its time is the deadline's.
        deadline : Deadline
            Of all of them.
        """
        del problem, lengths, limits, deadline
        return None
