"""All optima of one instance, or all near-optimal selections: counted, sampled and compared without listing them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import count, islice
from math import inf, isfinite, isnan
from numbers import Real
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from optsum.coverage.instance import Key, Sense
from optsum.errors import InputError, OptionError, UnsupportedError, unknown_name, visible
from optsum.optima.diagram import MAX_BYTES, PAIRS, Diagram, Estimate, mean_jaccard, minimal_sets, sampled_jaccard
from optsum.system.clock import Termination
from optsum.system.files import NPZ_ERRORS, as_path, describe_os_error, replacing
from optsum.whole import flag, is_list, whole, whole_numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    """The threshold that selections must reach to be near-optimal, given by exactly one of the attributes."""

    within: Fraction | None = None  # Share of the best value that may be lost: 1/100 is 1 %.
    at_least: Fraction | None = None  # Least objective; if a length is minimized, the largest length.
    steps: int | None = None  # Number of integer steps below the best value (`optsum.optima.tally.step_of`).
    values: int | None = None  # Number of different values, counted from the best.
    key: Fraction | None = None  # The threshold on the scale on which values are compared; no option sets it.

    def __post_init__(self) -> None:
        given = [name for name in ("within", "at_least", "steps", "values", "key") if getattr(self, name) is not None]
        if len(given) != 1:
            raise OptionError(
                "Near-optimal sets need one threshold: give one of --within, --at-least, --within-steps and --best."
            )
        if self.within is not None and not 0 <= self.within <= 1:
            raise OptionError(f"--within is a share of the best value from 0 to 1 (or 0% to 100%), not {self.within}.")
        for name, option, least in (("steps", "--within-steps", 0), ("values", "--best", 1)):
            if (number := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole(number, option, least=least, error=OptionError))

    @classmethod
    def given(
        cls,
        within: float | str | None = None,
        at_least: float | str | None = None,
        within_steps: int | None = None,
        best: int | None = None,
    ) -> Nearness | None:
        """Return the threshold that an option gives, such as ``within="1%"``; None without one; several are refused."""
        if within is None and at_least is None and within_steps is None and best is None:
            return None
        share = None if within is None else _exactly(within, "--within takes a share of the best value, such as 1%")
        if share == 1 and "%" not in str(within):
            raise OptionError(
                f"--within {within} may mean 1 % or 100 % of the best value: write 1% or 0.01 for the former, 100% for "
                "the latter."
            )
        return cls(
            within=share,
            at_least=None if at_least is None else _exactly(at_least, "--at-least takes an objective, such as 0.475"),
            steps=within_steps,
            values=best,
        )

    @property
    def known(self) -> bool:
        return self.at_least is not None or self.key is not None

    def __str__(self) -> str:
        if self.within is not None:
            return f"within {_decimal(100 * self.within)}%"
        if self.known:
            return f"at least {_decimal(self.at_least or self.key or Fraction(0))}"
        if self.steps is not None:
            return f"within {self.steps} step{'' if self.steps == 1 else 's'}"
        return f"best {self.values} value{'' if self.values == 1 else 's'}"

    def least(self, best: Key, sense: Sense, *, step: Fraction | None, power: int) -> Fraction:
        """Compute the threshold from the best value; `step` and `power`: `step_of` and `power_of` the instance."""
        if self.key is not None:
            return self.key
        key, sign = Fraction(best), 1 if sense is Sense.MAXIMIZE else -1
        if self.at_least is not None:
            return max(self.at_least, Fraction(0)) ** power if power > 1 else self.at_least
        if self.steps is not None:
            if step is None:
                raise UnsupportedError(
                    "The objective has no steps of one size, which --within-steps needs: use --within, --at-least or "
                    "--best."
                )
            return key - sign * self.steps * step
        if self.within is None:
            raise AssertionError("the threshold of a number of values depends on the values")
        return key * (1 - self.within) ** power if power > 1 else key - sign * abs(key) * self.within


_TEXT: Final = re.compile(r"\s*(-?(?:\d{1,18}(\.\d{0,30})?|\.\d{1,30}|\d{1,18}/0*[1-9]\d{0,17}))\s*(%?)\s*", re.ASCII)


def _exactly(given: object, wanted: str) -> Fraction:
    """Return a number exactly as written, so that 0.475 is 475/1000; `wanted`: the beginning of an error message."""
    text = format(Decimal(repr(float(given))), "f") if isinstance(given, float) else str(given)
    found = _TEXT.fullmatch(text)
    if found is None or isinstance(given, bool) or not isinstance(given, str | Real | Decimal):
        raise OptionError(f"{wanted}, not {given!r}.")
    return Fraction(found[1]) / (100 if found[3] else 1)


def _decimal(number: Fraction) -> str:
    """Return a number as a decimal, or as a fraction if the decimal would not end."""
    bottom = number.denominator
    if pow(10, bottom.bit_length(), bottom):  # not 0 if the denominator divides no power of ten
        return str(number)
    text = format(Decimal(number.numerator) / Decimal(number.denominator), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


_FORMAT: Final = "optsum optima 1"


@dataclass(frozen=True)
class Agreement:
    """The comparison of a selection S with all optima (Hirao et al. 2017, section 6.2.3)."""

    precision: Fraction  # Mean over the optima O of |O and S| / |S|.
    recall: Fraction  # Mean over the optima O of |O and S| / |O|.
    jaccard: Fraction  # Mean over the optima O of |O and S| / |O or S|.

    @property
    def f_measure(self) -> Fraction:
        """``2 P R / (P + R)`` of the averaged precision P and recall R; 0 if both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else Fraction(0)


@dataclass(frozen=True)
class UnitNames:
    """The input's names for the units of a problem."""

    units: tuple[Any, ...]  # The name of each unit, in order.
    # For compressions: the names of all chunks of a unit, by the name of the unit.
    members: Mapping[Any, tuple[Any, ...]] = field(default_factory=dict)

    def of(self, selection: Iterable[int]) -> tuple[Any, ...]:
        if self.members:
            return tuple(sorted(name for unit in selection for name in self.members[self.units[unit]]))
        return tuple(self.units[unit] for unit in selection)

    def numbers(self, names: object, *, foreign: bool = True) -> set[int]:
        """Return the numbers of the units with given names.

        `foreign`: whether names of other sentences are allowed; each gets a number that no unit has.
        """
        number = {name: unit for unit in range(len(self.units)) for name in self.of((unit,))}
        kinds, spare, found = set(map(type, number)), count(len(self.units)), set()
        if not is_list(names, ordered=False):
            raise InputError(f"The selection is {names!r:.40}: give a list of units.")
        for name in set(map(_unit, names)):
            is_text = isinstance(name, str) and not name.isdecimal()
            if name not in number and (not foreign or (kinds and type(name) not in kinds and not is_text)):
                known = ", ".join(map(repr, islice(number, 5))) + (", ..." if len(number) > 5 else "")
                raise InputError(f"There is no unit {name!r:.40}: the units are {known or 'none'}.")
            found.add(number[name] if name in number else next(spare))
        return found


def _unit(name: Any) -> Any:
    """Return the name of a unit: a text, a whole number or, for a part of a sentence, a tuple of them."""
    if isinstance(name, list | tuple):
        return tuple(map(_unit, name))
    return name if isinstance(name, str) else whole(name, "A unit of the selection", least=0)


@dataclass(frozen=True, eq=False)
class Optima:
    """All best sets of units, or all near-optimal ones.

    Attributes
    ----------
    diagram : Diagram
    value : int or Fraction
        The best value, which all sets have unless there is a threshold: the numerator if every selection has the same
        denominator (recall), a length if that is minimized, otherwise the objective for comparisons
        (`optsum.coverage.instance.key_of`).
    bound : int, Fraction or None
        A proven limit of all values: the value is optimal if it equals the bound. None if no bound is known.
    complete : bool
        Whether the diagram has all of these sets. If not, a limit was reached, and `count` is a lower bound on their
        number if `proven`.
    termination : str
        ``completed``, or the limit that was reached: ``time_limit``, ``node_limit``, ``memory_limit``,
        ``interrupted``.
    statistics : mapping
        Counts and times of the search, as numbers and texts.
    names : UnitNames or None
        The names by which methods take and return units; None if they use unit numbers.
    least : Fraction or None
        The threshold of near-optimal sets, on the scale of `value`; None if all sets are optima.
    best : tuple of int or None
        A set of the best value, as numbers of units; None if every set has the best value.
    known : mapping of selection to Evaluation
        Evaluations of sets, kept only if a user's own code evaluates slowly.

    Notes
    -----
    Iteration yields each set once, as a sorted tuple of unit numbers, in the order of the diagram, not of values: at
    each decision all sets with the unit come before all sets without it. The order is always the same, also after
    saving and loading.
    """

    diagram: Diagram
    value: int | Fraction
    bound: int | Fraction | None
    complete: bool = True
    termination: str = "completed"
    statistics: Mapping[str, Any] = field(default_factory=dict)
    names: UnitNames | None = None
    least: Fraction | None = None
    best: tuple[int, ...] | None = None
    known: Mapping[tuple[int, ...], Any] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of_sets(
        sets: Iterable[Sequence[int]],
        value: int | Fraction,
        bound: int | Fraction | None = None,
        *,
        complete: bool = True,
        termination: str = "completed",
        statistics: Mapping[str, Any] | None = None,
    ) -> Optima:
        """Build `Optima` from a list of sets of unit numbers; `bound` defaults to `value`, so they count as proven.

        Raises
        ------
        OptsumError
            If a unit is no whole number from 0, the value or the bound is no number, or another argument is wrong.
        """
        if not is_list(sets, ordered=False):
            raise InputError(f"The sets are {sets!r:.40}: give a list of sets of unit numbers.")
        bound = value if bound is None else bound
        given: Any
        for what, given in (("value", value), ("bound", bound)):
            known = isinstance(given, Real) and not isinstance(given, bool)
            if not known or not (isfinite(given) or (what == "bound" and given == inf)):
                raise InputError(f"The {what} of the sets is {given!r:.40}: give a number.")
        complete = flag(complete, "The option complete")
        if termination not in list(Termination):
            raise unknown_name("termination", termination, Termination)
        if not isinstance(statistics, Mapping | None):
            raise InputError(f"The statistics are {statistics!r:.40}: give them by name, as a dictionary.")
        units = [  # diagrams have 32-bit numbers
            whole_numbers(chosen, f"Unit {{}} of set {place}", ordered=False, least=0, most=2**31 - 2)
            for place, chosen in enumerate(sets)
        ]
        return Optima(Diagram.of_sets(units), value, bound, complete, termination, statistics or {})

    @property
    def nodes(self) -> int:
        """Number of nodes of the search; 0 if it had none."""
        return int(self.statistics.get("nodes", 0))

    def __repr__(self) -> str:
        return f"<Optima: {self._said()}>"

    def _said(self) -> str:
        number = f"{self.count:,}" if self.count < 10**9 else f"{Decimal(self.count):.3e}"
        sets = f"{number} set{'' if self.count == 1 else 's'}"
        if not self.proven:
            return f"{sets} of value {self.value}, which is not proven to be the best"
        least = "" if self.complete else "at least "
        if self.least is not None:
            return f"{least}{sets} near the best value, {self.value}"
        return f"{least}{number} {'optimum' if self.count == 1 else 'optima'} of value {self.value}"

    def near(self, least: Fraction | None, best: tuple[int, ...] | None) -> Self:
        """Return a copy with `least`, the threshold that all sets reach, and `best`, a set with the best value."""
        return replace(self, least=least, best=best)

    @property
    def proven(self) -> bool:
        """Whether the value is proven to be the optimum."""
        return self.value == self.bound

    @property
    def count(self) -> int:
        """Number of sets, an exact integer that may exceed 64 bits."""
        return self.diagram.count

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.diagram) if self.names is None else map(self.names.of, self.diagram)

    def _named(self, selection: tuple[int, ...]) -> tuple[Any, ...]:
        return selection if self.names is None else self.names.of(selection)

    def __bool__(self) -> bool:
        return self.diagram.root != 0

    def sample(self, k: int, seed: int = 0) -> list[tuple[Any, ...]]:
        """Draw `k` sets independently and uniformly.

        Raises
        ------
        InputError
            If there is no set, or the sets are incomplete.
        """
        self._need_all("drawn from")
        k, seed = whole(k, "The number of sets", least=0), whole(seed, "The seed", most=10**400)
        rng = random.Random(seed)  # noqa: S311 - nothing secret
        return [self._named(self.diagram.sample(rng)) for _ in range(k)]

    def share(self) -> dict[Any, Fraction]:
        """Return by unit the share of sets that contain it; units in no set are left out.

        Raises
        ------
        InputError
            If there is no set, or the sets are incomplete, because the sets found first are not a fair sample.
        """
        self._need_all("shared out")
        held = {unit: Fraction(held, self.count) for unit, held in sorted(self.diagram.holding.items()) if held}
        return held if self.names is None else {self.names.units[unit]: share for unit, share in held.items()}

    @property
    def always(self) -> tuple[Any, ...]:
        """The units that are in every set; `InputError` if the sets are incomplete."""
        self._need_all("compared", sets=False)
        return self._named(tuple(sorted(unit for unit, held in self.diagram.holding.items() if held == self.count)))

    def missing(self, units: Collection[Any]) -> tuple[Any, ...]:
        """Return those of the given units that are in no set; `InputError` for a unit that does not exist."""
        return self._absent(self._numbers(units, foreign=False))

    def _numbers(self, units: object, *, foreign: bool = True) -> set[int]:
        if self.names is not None:
            return self.names.numbers(units, foreign=foreign)
        return set(whole_numbers(units, "Unit {} of the selection", ordered=False, least=0))

    def _absent(self, numbers: Iterable[int]) -> tuple[Any, ...]:
        return self._named(tuple(sorted(unit for unit in numbers if not self.diagram.holding.get(unit, 0))))

    def minimal(self) -> Self:
        """Return a copy with only the sets that contain no other set.

        Raises
        ------
        UnsupportedError
            If the diagram of ordered units has too many nodes.
        """
        return replace(self, diagram=minimal_sets(self.diagram))

    def agreement(self, selection: Collection[Any]) -> Agreement:
        """Compare a selection with all optima.

        The averages are those of Hirao et al. 2017, section 6.2.3. They are computed from the number of optima by size
        and by the number of selected units in them. The precision of an empty selection is 0, and so is the recall of
        an empty optimum; if both are empty, precision, recall and Jaccard index are 1.

        Raises
        ------
        InputError
            If there is no optimum, or the selection is no list of units.
        """
        self._need_sets("compared with")
        chosen = self._numbers(selection)
        size = len(chosen)
        precision = recall = jaccard = Fraction(0)
        for (held, common), number in self.diagram.sizes(chosen).items():
            alike = number * (common if held or size else 1)
            precision += Fraction(alike, size or 1)
            recall += Fraction(alike, held or 1)
            jaccard += Fraction(alike, held + size - common or 1)
        return Agreement(precision / self.count, recall / self.count, jaccard / self.count)

    def f_measure(self, selection: Collection[Any]) -> float:
        """Return the F-measure of the averaged precision and recall of a selection (`Agreement.f_measure`)."""
        return float(self.agreement(selection).f_measure)

    def jaccard(self, max_bytes: int = MAX_BYTES) -> Fraction:
        """Return the mean Jaccard index over all pairs of different optima; 1 if there is only one optimum.

        Parameters
        ----------
        max_bytes : int
            Memory limit for tables, which are needed only for more than a few thousand optima.

        Raises
        ------
        InputError
            If there is no optimum.
        UnsupportedError
            If the tables need more memory; use `sampled_jaccard` then.
        """
        self._need_sets("compared with")
        return Fraction(1) if self.count == 1 else mean_jaccard(self.diagram, max_bytes=max_bytes)

    def sampled_jaccard(self, pairs: int = PAIRS, seed: int = 0) -> Estimate:
        """Estimate `jaccard` from random pairs of different optima; `InputError` for fewer than two optima."""
        return sampled_jaccard(self.diagram, pairs, seed)

    def save(self, path: str | Path) -> None:
        """Write to a file in NumPy's format npz, without pickled objects; names of units are not saved.

        Raises
        ------
        OptionError
            If the file cannot be written.
        """
        bound, least = (None if one is None else str(one) for one in (self.bound, self.least))
        about = {"format": _FORMAT, "root": self.diagram.root, "value": str(self.value), "bound": bound}
        about |= {"complete": self.complete, "termination": self.termination, "statistics": dict(self.statistics)}
        about |= {"least": least, "best": None if self.best is None else list(self.best)}
        place = as_path(path, "The file of the optima")
        try:
            with replacing(place) as new, new.open("wb") as file:
                np.savez_compressed(file, about=np.array(json.dumps(about)), nodes=self.diagram.nodes)
        except (OSError, ValueError) as error:  # the latter for a path that no file can have
            why = describe_os_error(error)
            raise OptionError(f"The file of the optima {visible(str(place))} cannot be written: {why}.") from error

    @staticmethod
    def load(path: str | Path) -> Optima:
        """Read a file written by `save`.

        Raises
        ------
        InputError
            If `save` did not write the file, or an incompatible version did.
        """
        place = as_path(path, "The file of the optima")
        try:
            with place.open("rb") as file, np.load(file, allow_pickle=False) as held:
                about = json.loads(str(held["about"]))
                nodes = held["nodes"]
            written = about["format"]
            optima = Optima(
                Diagram(nodes, about["root"]),
                _number(about["value"], finite=True),
                None if about["bound"] is None else _number(about["bound"]),
                about["complete"],
                about["termination"],
                about["statistics"],
                least=None if about.get("least") is None else Fraction(about["least"]),
                best=None if about.get("best") is None else tuple(map(int, about["best"])),
            )
        except (*NPZ_ERRORS, TypeError, AttributeError, ArithmeticError) as error:
            raise InputError(f"{path} does not hold optima that optsum saved ({type(error).__name__}).") from error
        if written != _FORMAT:
            raise InputError(f"{path} was saved by another version ({written}); save it again.")
        return optima

    def diverse(self, k: int) -> list[tuple[Any, ...]]:
        """Return up to `k` sets that differ much, beginning with a best one.

        Each further set has the largest summed distance (number of units in exactly one of two sets) to those before
        it. The total distance is at least half of the largest possible one for this number of sets
        (`optsum.optima.tally`).
        """
        from optsum.optima.tally import far_apart  # imported late because it loads numba

        k = whole(k, "The number of sets", least=0)
        first = self.best if self.best is not None and self.diagram.holds(self.best) else None
        return [self._named(found) for found in far_apart(self.diagram, k, first)]

    def _need_all(self, what: str, *, sets: bool = True) -> None:
        if sets:
            self._need_sets(what)
        if not self.complete:
            why = self.termination.replace("_", " ")
            raise InputError(
                f"A limit stopped the enumeration ({why}): the sets found by then are not a fair sample to be {what}; "
                "raise the limit, or request less."
            )

    def _need_sets(self, what: str) -> None:
        if not self:
            why = f"a limit stopped the enumeration ({self.termination.replace('_', ' ')})"
            why = "the instance has no feasible selection" if self.complete else f"{why}; raise the limit"
            raise InputError(f"There is no optimum to be {what}: {why}.")


def _number(text: str, *, finite: bool = False) -> Any:
    """Return the number that `str` has written: an integer, a fraction or, as users may give, a float."""
    if "/" in text:
        return Fraction(text)
    if text.lstrip("-").isdigit():
        return int(text)
    if isnan(number := float(text)) or (finite and not isfinite(number)):
        raise ValueError(f"{text} is no number")
    return number
