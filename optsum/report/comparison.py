"""Comparison of strategies on the same topics with the exact optimum or the best bound; statistics and tests for it.

Work that strategies share, such as building the problem, is done once but counted in the time of each. The statistical
tests are implemented here because a package of statistics would be a quarter of an installation.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, groupby, islice
from logging import getLogger
from math import atan, cos, erfc, isfinite, pi, sin, sqrt
from pathlib import Path
from statistics import fmean, mean, median, mode, stdev
from typing import Any, Final, Literal, NamedTuple, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optsum.contracts.result import Result, Status
from optsum.corpus.topic import Topic
from optsum.corpus.topics import AnyColumns, AnyTopics, with_columns
from optsum.coverage.instance import Key, Sense
from optsum.errors import InputError, OptionError, counted, spoken, unknown_name
from optsum.options.keywords import Keywords
from optsum.options.options import (
    Options,
    OwnOptions,
    check_solver_is_used,
    own_of_solver,
    own_options,
    read_config,
    reading_of,
    report_idle,
    resolve,
    resolve_as,
    shared_out,
    solving,
    takes_backend,
)
from optsum.plugins import is_place
from optsum.problem.formulation import Task
from optsum.registry import BACKENDS, BASELINES, STRATEGIES
from optsum.report.tables import Cell, Table, Tabular, data_frame, headline, number, seconds, share, shown
from optsum.running.each_topic import attempt, each_topic, posed, started
from optsum.running.one_problem import Setup, best_of_references, build, refused, run_task, setup_of, unsolved, unusable
from optsum.system.clock import Stopped, Termination, clock
from optsum.system.compiled import patience
from optsum.whole import flag, is_list

_LOG = getLogger("optsum")
_MOST_SEEDS = 10_000


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return the ranks of numbers along the last axis, from 1; equal numbers share their mean rank."""
    given = np.asarray(values, np.float64)
    if given.ndim > 1:
        return np.reshape([ranks(row) for row in given], given.shape)
    _, place, count = np.unique(given, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


@cache
def student(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t.

    `degrees`: degrees of freedom, 1 or more.

    Notes
    -----
    Abramowitz & Stegun 1964, 26.7.3 and 26.7.4 (the distribution of whole degrees, solved by bisection) and 26.7.5 (the
    expansion).
    """
    z = 1.959963984540054  # the quantile of the normal distribution
    if degrees > 100:  # from here on, the error of the expansion is below 1e-9
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + sum(term / float(degrees**power) for power, term in enumerate(terms, 1))
    low, high, odd = 1.0, 13.0, degrees % 2  # the quantile falls from 12.7 to 1.96
    while low < (middle := (low + high) / 2) < high:
        angle, total = atan(middle / sqrt(degrees)), 0.0
        term = cos(angle) if odd else 1.0
        for step in range(2 + odd, degrees + 1, 2):
            total += term
            term *= cos(angle) ** 2 * (step - 1) / step
        within = 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total
        low, high = (middle, high) if within < 0.95 else (low, middle)
    return middle


def wilcoxon(differences: Sequence[float]) -> float | None:
    """Return the two-sided p of Wilcoxon's signed-rank test, exact up to 50 differences; None if under six differ."""
    apart = [one for one in differences if one]
    if len(apart) < 6:  # no result would be significant at 5 %
        return None
    twice = [round(2 * rank) for rank in ranks([abs(one) for one in apart])]  # whole, as shared ranks may end in .5
    above = sum(rank for one, rank in zip(apart, twice, strict=True) if one > 0)
    extreme = min(above, sum(twice) - above)
    if len(apart) <= 50:  # the sum of more ranks is approximated as normal
        arrangements = np.array([1] + [0] * sum(twice), object)  # number of sets of ranks, by their sum
        for rank in twice:
            arrangements[rank:] += arrangements[:-rank].copy()
        return float(min(1.0, 2 * arrangements[: extreme + 1].sum() / (1 << len(apart))))
    spread = sqrt(sum(rank * rank for rank in twice)) / 2
    return erfc((sum(twice) / 2 - extreme) / spread / sqrt(2))


CHANCE: Final = "p: Wilcoxon's signed-rank test over {}, two-sided; - if fewer than six differ."
"""The caption of a column made by `chance`; {} is the kind of pairs, such as topics."""


def chance(differences: Sequence[float]) -> Cell:
    return shown(wilcoxon(differences), ".2g")


def claims(results: Sequence[Result]) -> tuple[Key | None, list[Key], bool]:
    """Return the optimum, if known, and all bounds of the results of a problem; None, [] and False if they conflict."""
    keys = [key for result in results if (key := result.key) is not None]
    bounds = [bound for result in results if (bound := result.bound_key) is not None]
    optima = {key for result in results if result.status is Status.OPTIMAL and (key := result.key) is not None}
    # A selection whose value equals a bound is optimal, even if two strategies found them.
    optima |= {key for key in keys if key in bounds}
    # Bounds lie above all selections when maximizing, below when minimizing.
    sides = {bound > key for key in keys for bound in bounds if bound != key}
    infeasible = any(result.status is Status.INFEASIBLE for result in results)
    if len(optima) > 1 or len(sides) > 1 or (infeasible and keys):  # a claim is wrong, and nobody knows which
        return None, [], False
    return next(iter(optima), None), bounds, True


def _ratio(key: Key, best: Key) -> float:
    if key == best:
        return 1.0
    small, large = sorted((abs(Fraction(key)), abs(Fraction(best))))  # either may be the larger, so at most 1
    return float(small / large) if (key > 0) == (best > 0) else 0.0


def ratio_to_best(key: Key | None, optimum: Key | None, bounds: Sequence[Key]) -> tuple[float | None, bool]:
    """Return the ratio to the optimum and False, or to the tightest bound (a lower limit of the ratio) and True."""
    if key is None:
        return None, False
    if optimum is not None:
        return _ratio(key, optimum), False
    return max((_ratio(key, bound) for bound in bounds), default=None), bool(bounds)


Interval: TypeAlias = Literal["student", "z"]

INTERVALS: Final[dict[Interval, str]] = {
    "student": "95 % confidence interval of the mean, Student's t",
    "z": "95 % confidence interval of the mean by the normal distribution (too narrow for few topics)",
}
"""Description of each kind of interval, for captions."""

OVER_SEEDS: Final = "± seeds: standard deviation of the mean objective over {} seeds; exact strategies are run once."
"""The caption of a column of `seeds_deviation`; {} is the number of seeds."""

FEWEST: Final = 3  # Fewest points with a correlation; two points are always on a line.


class Spread(NamedTuple):
    """Mean and spread of numbers, as in Tables 4 and 5 of Akhmetov et al. 2022."""

    mean: float
    std: float  # Standard deviation of a sample (the sum is divided by its size - 1); 0 for a single number.
    cv: float | None  # Coefficient of variation, std / mean (eq. 5); None if the mean is 0.
    # The 95 % confidence interval of the mean (eq. 6); None for a single number.
    half_width: float | None = None
    lower: float | None = None
    upper: float | None = None


SPREADS: Final = ("mean", "std", "CV", "CI +/- mean", "CI lower", "CI upper")  # Headings of the numbers of a `Spread`.


def spread_of(values: Sequence[float], interval: Interval = "student", z: float = 1.96) -> Spread | None:
    """Return the `Spread` of numbers, None without any; the interval is by Student's t, or `z` standard errors."""
    if not values:
        return None
    middle = mean(values)
    deviation = stdev(values) if len(values) > 1 else 0.0
    cv = deviation / middle if middle else None
    if len(values) == 1:
        return Spread(middle, deviation, cv)
    half = (z if interval == "z" else student(len(values) - 1)) * deviation / sqrt(len(values))
    return Spread(middle, deviation, cv, half, middle - half, middle + half)


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def average(values: Iterable[float | None], digits: int = 4) -> Cell:
    return number(mean_of(values), digits)


def seeds_deviation(by_seed: Iterable[Sequence[float]]) -> float | None:
    """Return the standard deviation of the seeds' mean values; None for fewer than two seeds with values."""
    means = [fmean(values) for values in by_seed if values]
    return stdev(means) if len(means) > 1 else None


def pearson(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Pearson's r; None for fewer than `FEWEST` points, or if all numbers of a side are equal."""
    one, other = (np.asarray(side, np.float64) for side in (left, right))
    # Differences from the mean are used, because they are 0 for equal numbers in spite of rounding.
    if len(one) < FEWEST or not np.ptp(one - one.mean()) or not np.ptp(other - other.mean()):
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Spearman's rho, which is Pearson's r of the ranks; equal numbers share their mean rank."""
    return pearson(ranks(left).tolist(), ranks(right).tolist())


NO_EXACT: Final = "A time limit of the exact strategy needs such a strategy: name it by --exact."

Solver: TypeAlias = tuple[str, OwnOptions]  # A backend with its own options.


@dataclass(frozen=True)
class Plan:
    """The strategies, backends, time limits and seeds of a comparison."""

    variants: tuple[Options, ...]  # The options of each run on a problem, those of the exact strategy first.
    exact: str | None  # The strategy that proves the optima with which the others are compared.
    added: bool = False  # Whether the exact strategy is run only for the optima, as the user did not list it.
    backends: tuple[Solver, ...] = ()  # Solvers on which each strategy with a backend is run; empty for a single one.
    seeds: tuple[int, ...] = ()  # Seeds with which each strategy that is not exact is run; empty for a single run.
    time_limits: tuple[float, ...] = ()  # Limits (s) with which each strategy is run; empty for one limit, or none.

    @property
    def strategies(self) -> list[str]:
        """The lines of the table: names of strategies, with the solver or time limit if several are compared."""
        return list(dict.fromkeys(self.names))

    @property
    def names(self) -> list[str]:
        limited = bool(self.time_limits)
        return [self.searcher_of(each) + (f" in {each.time_limit:g} s" if limited else "") for each in self.variants]

    def searcher_of(self, variant: Options) -> str:
        if not self.backends or not takes_backend(variant.strategy):
            return variant.strategy
        alike = sum(name == variant.backend for name, _ in self.backends) > 1
        own = ", ".join(f"{name}={value}" for name, value in variant.backend_options) if alike else ""
        return f"{variant.strategy} on {variant.backend}{f' ({own})' if own else ''}"

    def said_of(self, variant: Options) -> dict[str, Any]:
        own = {"backend_options": dict(variant.backend_options)} if any(own for _, own in self.backends) else {}
        return {**({"time_limit": variant.time_limit} if self.time_limits else {}), **own}


def plan_of(
    strategies: Sequence[str] | str | None = None,
    exact: str | None = None,
    backends: Sequence[str | Mapping[str, Any]] | str | None = None,
    *,
    seeds: Iterable[int] | str | None = None,
    exact_time_limit: float | None = None,
    config: str | Path | None = None,
    **options: Any,
) -> Plan:
    file = read_config(config) if config is not None else {}
    seeds = file.get("seeds") if seeds is None and options.get("seed") is None else seeds
    exact_time_limit = file.get("exact_time_limit") if exact_time_limit is None else exact_time_limit
    several = seeds_of(seeds, options.get("seed"))
    limits = options.get("time_limit")
    options["time_limit"], limits = time_limits_of(file.get("time_limit") if limits is None else limits)
    if options.get("backend") is not None:
        if backends is not None:
            raise OptionError("One solver is named by --backend, and several by --backends: leave out one of the two.")
    elif backends is None:
        backends = file.get("backends")
    default = (solving(),) if backends is not None else BASELINES
    strategies = _names(strategies if strategies is not None else file.get("strategies", default))
    base = resolve(options, config=config, among_others=True, taken=("time_limit",))
    exact = exact if exact is not None else file.get("exact")
    if exact is None:
        exact = solving() if backends is not None else _serving(base, strategies if exact_time_limit is None else ())
    exact = None if exact == "none" else exact
    added = exact is not None and exact not in strategies
    for name in [*strategies, *([exact] if exact else [])]:
        if not isinstance(name, str):
            raise OptionError(f"A strategy to compare is {name!r:.60}: give its name.")
        if name not in STRATEGIES.names() and not is_place(name):
            raise unknown_name("strategy", name, STRATEGIES)
    if exact is not None:
        check_exact(exact)
    names = [*([exact] if exact else []), *(name for name in strategies if name != exact)]
    check_solver_is_used(options, *names, compares=True)
    report_idle(options, base, names)
    if (other := file.get("strategy")) is not None and other not in names:
        _LOG.warning("%s: strategy changes nothing in a comparison, whose strategies are %s", config, ", ".join(names))
    own = shared_out(base.strategy_options, names)
    variants = [base.model_copy(update={"strategy": name, "strategy_options": own[name]}) for name in names]
    timed = [
        [variant.model_copy(update={"time_limit": limit}) for limit in limits] or [variant] for variant in variants
    ]
    if exact_time_limit is not None:
        if exact is None:
            raise OptionError(NO_EXACT)
        own_limit = resolve_as(Options, {"time_limit": exact_time_limit}).time_limit
        timed[0] = [variants[0].model_copy(update={"time_limit": own_limit})]
    elif added:
        timed[0] = timed[0][-1:]
    variants = [seeded for same in timed for variant in same for seeded in each_seed(variant, several)]
    if backends is None:
        own_of = partial(own_of_solver, base.backend_options)
        variants = [each.model_copy(update={"backend_options": own_of(each.backend)}) for each in variants]
        return Plan(tuple(variants), exact, added, seeds=several, time_limits=limits)
    if not any(map(takes_backend, names)):
        raise OptionError(f"Backends apply only to the strategy {solving()}: name it in --strategies, or for --exact.")
    solvers = solvers_of(backends, base)
    each = (
        variant.model_copy(update={"backend": solver, "backend_options": given})
        for variant in variants
        for solver, given in (solvers if takes_backend(variant.strategy) else [(variant.backend, ())])
    )
    return Plan(tuple(each), exact, added, solvers, several, limits)


def solvers_of(given: object, base: Options) -> tuple[Solver, ...]:
    """Return (backend, its own options) from names ("usable": all backends that work here), or tables with both."""
    found: list[Solver] = []
    for part in given if isinstance(given, list | tuple) and given else [given]:
        if isinstance(part, Mapping):
            if strange := next((key for key in part if key not in {"name", "options"}), None):
                raise unknown_name("key of [[backends]]", strange, ["name", "options"])
            if not isinstance(name := part.get("name"), str):
                raise OptionError("A table of [[backends]] names no backend: give its name, such as highs.")
            try:
                found.append((name, own_options(part.get("options", {}))))
            except ValueError as error:
                raise OptionError(f"The options of the backend {name} cannot be used: {error}.") from None
        else:
            for name in _names(part, "backend"):
                found += [(each, ()) for each in (_usable(base) if name == "usable" else [name])]
    names = [name for name, _ in found]
    solvers = []
    for name, own in found:
        BACKENDS.load(name)
        wide = own_of_solver(base.backend_options, name, names)
        solvers.append((name, tuple(sorted({**dict(wide), **dict(own)}.items()))))
    if twice := next((solver for solver in solvers if solvers.count(solver) > 1), None):
        raise OptionError(f"The backend {twice[0]} is named twice: name each once, or with its own options.")
    return tuple(solvers)


def _usable(base: Options) -> list[str]:
    missing: dict[str, str] = {}
    for name in BACKENDS:
        own = tuple(each for each in base.backend_options if each[0].startswith(f"{name}."))
        of_it = {"backend": name, "backend_options": own_of_solver(own, name)}
        reason = unusable(base.model_copy(update={"strategy": solving(), "strategy_options": (), **of_it}))
        if reason is not None:
            why = reason.rstrip(".").removeprefix(f"The backend {name} cannot be used, because ").partition(": use ")[0]
            missing[name] = f"{name} ({why})"
    found = [name for name in BACKENDS if name not in missing]
    if not found:
        raise OptionError(f"No backend can be used on this machine: {'; '.join(missing.values())}.")
    if missing:
        _LOG.warning("these backends are left out: %s", "; ".join(missing.values()))
    return found


def check_exact(strategy: str) -> None:
    if not STRATEGIES.load(strategy).exact:
        able = ", ".join(name for name in STRATEGIES if STRATEGIES.load(name).exact)
        raise OptionError(f"The strategy {strategy} is not exact: for --exact choose {able}, or none.")


def _serving(base: Options, among: Sequence[str]) -> str:
    """Return the first exact strategy that accepts the options: one of `among`, of `base`, or any built-in one."""
    for name in (*among, base.strategy, *STRATEGIES.builtin):
        able = name in STRATEGIES.names() and STRATEGIES.load(name).exact
        if able and not refused(base.model_copy(update={"strategy": name, "strategy_options": ()})):
            return name
    return solving()  # when it is run, its error says why no strategy fits


def _names(given: object, kind: str = "strategy") -> list[str]:
    names = given.split(",") if isinstance(given, str) else given
    several, example = ("strategies", "greedy,lead") if kind == "strategy" else ("backends", "highs,cbc")
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise OptionError(f"The {several} {given!r:.80} are not a list of names: give them as {example}.")
    names = [name.strip() for name in names if name.strip()]
    if not names:
        raise OptionError(f"There is no {kind} to compare: name at least one.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise OptionError(f"The {kind} {twice} is named twice: name each once.")
    return names


def seeds_of(given: object, seed: int | None = None) -> tuple[int, ...]:
    """Return seeds from numbers, "0:10" (0 to 9) or "1,2,3"; `seed`, a single one, must then be None."""
    if given is None:
        return ()
    if seed is not None:
        raise OptionError("One seed is named by --seed, and several by --seeds: leave out one of the two.")
    wrong = OptionError(
        f"The seeds {given!r:.80} are not a list of whole numbers from 0: give them as 0:10, or as 1,2,3."
    )
    if isinstance(given, str):
        first, colon, last = given.partition(":")
        try:
            given = range(int(first), int(last)) if colon else [int(one) for one in given.split(",")]
        except ValueError:
            raise wrong from None
    found = tuple(islice(given, _MOST_SEEDS + 1)) if is_list(given, ordered=False) else ()
    if not found or not all(isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in found):
        raise wrong
    if len(found) > _MOST_SEEDS:
        raise OptionError(f"There are more than {_MOST_SEEDS:,} seeds: give fewer.")
    if len(set(found)) < len(found):
        raise OptionError(f"The seed {mode(found)} is given twice: give each seed once.")
    return found


def each_seed(options: Options, seeds: Sequence[int]) -> list[Options]:
    """Return copies of the options, one for each seed; for an exact strategy, only the given options."""
    if not seeds or STRATEGIES.load(options.strategy).exact:
        return [options]
    return [options.model_copy(update={"seed": seed}) for seed in seeds]


def time_limits_of(given: object) -> tuple[object, tuple[float, ...]]:
    """Return the longest time limit, and all in ascending order if several are given (a list, or text with commas)."""
    wrong = OptionError(f"The time limits {given!r:.80} are not seconds: give them as 0.1,1,10, each once.")
    if isinstance(given, str):
        try:
            given = [float(part) for part in given.split(",")]
        except ValueError:
            raise wrong from None
        if len(given) == 1:  # a single limit is checked later, with a better message
            return given[0], ()
    if not isinstance(given, list | tuple):
        return given, ()
    numbers = [each for each in given if isinstance(each, int | float) and not isinstance(each, bool)]
    if not given or len(set(numbers)) < len(given) or not all(isfinite(each) and each >= 0 for each in numbers):
        raise wrong
    limits = tuple(sorted(map(float, numbers)))
    return limits[-1], limits if len(limits) > 1 else ()


def by_problem(results: Iterable[Result]) -> Iterator[list[Result]]:
    for _, group in groupby(results, key=lambda result: result.id):
        yield list(group)


def compare_topics(topics: AnyTopics, plan: Plan, *, details: bool = False) -> Generator[list[Result], None, None]:
    """Run all strategies on each topic one after another, so that times are comparable, and yield the results."""
    from optsum.running.enumerate import with_details

    patience.load()
    setups = [setup_of(options) for options in plan.variants]
    said = [plan.said_of(options) for options in plan.variants]
    work = partial(_solve_part, setups=setups, said=said)
    return each_topic(topics, setups, partial(with_details, setups=setups, solve_part=work) if details else work)


def _solve_part(part: Topic, setups: Sequence[Setup], said: Sequence[Mapping[str, Any]]) -> list[Result]:
    """Search a topic with each setup; its problems (one for each reference if searched separately) are built once."""
    tasks: dict[tuple[int, bool], tuple[Task, float]] = {}
    bounds: dict[tuple[int, bool], Key] = {}

    def search(
        number: int, topic: Topic, setup: Setup, root_bound: Key | None = None, cutoff: Key | None = None
    ) -> Result:
        strategy, key = setup.strategy, (number, setup.strategy.all_units)
        if key not in tasks:
            began = clock()
            try:
                task = build(topic, setup, setup.limits.building())
            except Stopped as stop:
                return unsolved(topic.id, setup, stop, seconds=clock() - began)
            tasks[key] = task, clock() - began
        task, seconds = tasks[key]
        fresh = replace(task, problem=task.problem.fresh())  # without cached results of earlier searches
        # A bound known from an earlier search is reused only if it changes neither the search nor when it ends.
        known = root_bound if strategy.exact or setup.limits.gap is not None else bounds.get(key)
        result = run_task(fresh, setup, began=clock() - seconds, root_bound=known, cutoff=cutoff)
        if not strategy.exact and result.bound_key is not None:
            bounds[key] = result.bound_key
        return result

    results: list[Result] = []
    for setup, own in zip(setups, said, strict=True):
        of_one = partial(best_of_references, single=search) if setup.best_of_references else partial(search, 0)
        result = attempt(of_one, part, setup)
        results.append(result.changed(extra={**result.extra, **own}) if own else result)
        if results[-1].termination is Termination.INTERRUPTED:
            break
    return results


TARGETS: Final = (0.95, 0.99, 1.0)  # Shares of the optimum whose times are reported.

_SOLVED: Final = "Means are over the problems that a strategy solved."
_SHARES: Final = {"least": 0.0, "5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75}


class Pair(NamedTuple):
    """Two strategies on the problems for which both have a selection."""

    first: str
    second: str
    # Number of problems on which the first is better, equal and worse; objectives are compared exactly.
    wins: int
    ties: int
    losses: int
    # p-value of Wilcoxon's signed-rank test, two-sided, without ties; None if fewer than six problems differ.
    p_value: float | None


def time_to_target(result: Result, target: float, sense: Sense) -> float | None:
    reached = (one for one in result.trace if one.objective == target or sense.better(one.objective, target))
    return next((point.seconds for point in reached), None)


@dataclass
class Details(Tabular):
    """Objectives, ratios and times of every strategy by problem, and the tables of them."""

    strategies: list[str]
    sense: Sense

    def __post_init__(self) -> None:
        self._keys: dict[str, list[Key | None]] = {name: [] for name in self.strategies}
        self.ratios_of: dict[str, list[float]] = {name: [] for name in self.strategies}  # run by run
        self._times: defaultdict[tuple[str, float], list[float | None]] = defaultdict(list)

    def add(
        self, names: Sequence[str], results: Sequence[Result], optimum: Key | None, ratios: Sequence[float | None]
    ) -> None:
        """Record the results of a problem; the objectives of results with the same name (seeds) are averaged."""
        keys: dict[str, list[Key | None]] = {}
        for name, result, ratio in zip(names, results, ratios, strict=True):
            keys.setdefault(name, []).append(result.key)
            if ratio is not None:
                self.ratios_of[name].append(ratio)
            if optimum is None:
                continue
            for target in TARGETS:
                reach = float(optimum) * target if self.sense is Sense.MAXIMIZE else float(optimum) / target
                self._times[name, target].append(time_to_target(result, reach, self.sense))
        for name, found in keys.items():
            known = [key for key in found if key is not None]
            mean = known[0] if len(known) == 1 else sum(known) / Fraction(len(found))
            self._keys[name].append(mean if len(known) == len(found) else None)

    def pairs(self) -> list[Pair]:
        found = []
        for first, second in combinations(self.strategies, 2):
            keys = zip(self._keys[first], self._keys[second], strict=True)
            both = [(left, right) for left, right in keys if left is not None and right is not None]
            wins = sum(self.sense.better(left, right) for left, right in both)
            ties = sum(left == right for left, right in both)
            apart = [float(left - right) for left, right in both if left != right]
            found.append(Pair(first, second, wins, ties, len(both) - wins - ties, wilcoxon(apart)))
        return found

    def tables(self) -> list[Table]:
        return [self.objectives(), self.ratios(), self.pairwise(), self.times()]

    def objectives(self) -> Table:
        known = {name: [float(key) for key in keys if key is not None] for name, keys in self._keys.items()}
        rows = [[name, *map(number, spread)] for name, values in known.items() if (spread := spread_of(values))]
        caption = [f"CI: {INTERVALS['student']}; over problems, each with its mean over seeds.", *self._solved]
        return Table.of(["strategy"], SPREADS, "Spread of the objective", rows=rows, caption=caption)

    @property
    def _solved(self) -> list[str]:
        return [_SOLVED] if any(None in keys for keys in self._keys.values()) else []

    def ratios(self) -> Table:
        known = {name: found for name, found in self.ratios_of.items() if found}
        quantiles = {name: np.quantile(found, [*_SHARES.values()]).tolist() for name, found in known.items()}
        rows = [[name, *map(number, quantiles[name]), share(of.count(1) / len(of))] for name, of in known.items()]
        return Table.of(["strategy"], [*_SHARES, "at 1"], "Distribution of the ratio", rows=rows, caption=self._solved)

    def pairwise(self) -> Table:
        rows = [[*pair[:2], *map(str, pair[2:5]), shown(pair.p_value, ".2g")] for pair in self.pairs()]
        caption = ["p: Wilcoxon's signed-rank test, two-sided; - if fewer than six problems differ."]
        headings = ["wins", "ties", "losses", "p"]
        return Table.of(["strategy", "against"], headings, "Every two strategies", rows=rows, caption=caption)

    def times(self) -> Table:
        def cell(found: list[float | None]) -> Cell:
            reached = [one for one in found if one is not None]
            middle = median(reached) if reached else None
            return Cell(f"{seconds(middle)} ({len(reached)}/{len(found)})", middle)

        rows = [[name, *(cell(self._times[name, target]) for target in TARGETS)] for name in self.strategies]
        caption = ["Median time of search until it was reached (how often, among problems with a known optimum)."]
        headings, title = [f"{target:.0%}" for target in TARGETS], "Time to a share of the optimum"
        return Table.of(["strategy"], headings, title, rows=rows, caption=caption)


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """The results of one strategy on all problems.

    Attributes
    ----------
    strategy : str
        Its name, with solver and time limit if several are compared.
    time_limit : float or None
        Its time limit in seconds if several are compared.
    problems, solved, failed, infeasible : int
        Numbers of problems. A problem is solved by a feasible selection, or by a proof that there is none (infeasible).
    seeds : int
        Number of seeds for each problem. If there are several, all numbers of problems count runs: each problem as
        often as there are seeds.
    mean_objective : float or None
        Mean objective over the problems with a selection.
    std_over_seeds : float or None
        Standard deviation over seeds of the mean objective; None for fewer than two seeds.
    mean_ratio, min_ratio : float or None
        Mean and least approximation ratio: objective / optimum when maximizing, optimum / objective when minimizing,
        inverted for negative values; 1 if both are equal, 0 if their signs differ.
    ratios, guaranteed : int
        Number of ratios, and how many of them are only lower limits of the true ratio, computed from the best bound
        because the optimum is not known.
    reached, optima : int
        Problems whose selection is proven optimal, and problems with a known optimum. Values are compared exactly.
    mean_seconds, median_seconds : float or None
        Time from the text to the answer, without a bound that is computed only as a certificate.
    mean_bound : float or None
        Mean bound over the problems with one.
    mean_nodes : float or None
        Mean number of nodes of the search tree; None if the solver does not report them.
    """

    strategy: str
    time_limit: float | None = None
    problems: int
    solved: int
    failed: int
    infeasible: int
    seeds: int
    mean_objective: float | None
    std_over_seeds: float | None
    mean_ratio: float | None
    min_ratio: float | None
    ratios: int
    guaranteed: int
    reached: int
    optima: int
    mean_seconds: float | None
    median_seconds: float | None
    mean_bound: float | None
    mean_nodes: float | None


_MEANS: Final = ("objective", "seconds", "bound", "nodes")  # Numbers of a row that are means over problems.
_COUNTS: Final = ("solved", "infeasible", "guaranteed", "reached")  # Numbers of problems.


class Comparison(Tabular):
    """The table that `compare` returns; ``print(table)`` shows it.

    Attributes
    ----------
    plan : Plan
    results : list of Result
        All results, problem by problem; empty if they are not kept.
    problems : int
        Problems on which every strategy was run.
    optima : int
        Problems whose optimum is known.
    chosen : int
        Problems for which some strategy has a selection that is not empty.
    contradictions : list of str
        Each problem on which claims of strategies contradict one another, with the claims; empty unless a solver is
        wrong.
    details : Details
        Spread, quantiles, wins and ties with their significance, and times to targets.
    """

    def __init__(self, plan: Plan, *, keep_results: bool = True) -> None:
        self.plan = plan
        self.results: list[Result] = []
        self.problems = 0
        self.optima = 0
        self.chosen = 0
        self.contradictions: list[str] = []
        self.details = Details(plan.strategies, plan.variants[0].formulated().sense)
        self._keep = keep_results
        # By strategy and kind of number (or seed), the numbers of all problems.
        kinds: list[str | int] = [*_MEANS, *_COUNTS, *{variant.seed for variant in plan.variants}]
        self._numbers: dict[str, dict[str | int, array[float]]] = {
            name: {kind: array("d") for kind in kinds} for name in plan.strategies
        }
        # A strategy given as a file has two names: the place, which errors name, and the `name` of the class.
        self._names = [{variant.strategy, variant.searcher().name} for variant in plan.variants]

    def add(self, results: Sequence[Result]) -> None:
        """Record the results of a problem, one for each variant of the plan; interrupted ones are kept, not counted."""
        others = (result.strategy not in names for result, names in zip(results, self._names, strict=False))
        if len(results) > len(self._names) or any(others):
            found, planned = (", ".join(one.strategy for one in each) for each in (results, self.plan.variants))
            raise InputError(
                f"The results of problem {results[0].id!r} are of {found}, and the comparison is of {planned}: give "
                "one of each, in this order."
            )
        if self._keep:
            self.results += results
        interrupted = any(result.termination is Termination.INTERRUPTED for result in results)
        if interrupted or len(results) != len(self.plan.variants):
            return
        self.problems += 1
        optimum, bounds, consistent = claims(results)
        self.optima += optimum is not None
        self.chosen += any(result.selection for result in results)
        if not consistent:
            said = []
            for name, result in zip(self.plan.names, results, strict=True):
                bound = "" if result.status is Status.OPTIMAL or result.bound is None else f" (bound {result.bound:g})"
                value = "" if result.objective is None else f" {result.objective:g}"
                said.append(f"{name} {result.status.value.replace('_', ' ')}{value}{bound}")
            self.contradictions.append(f"{results[0].id or '?'}: {', '.join(said)}")
        ratios: list[float | None] = []
        for name, variant, result in zip(self.plan.names, self.plan.variants, results, strict=True):
            infeasible, searched = result.status is Status.INFEASIBLE, result.status is not Status.ERROR
            ratio, guaranteed = ratio_to_best(result.key, optimum, bounds)
            numbers: dict[str | int, float | None] = {
                "solved": result.selection is not None or infeasible, "infeasible": infeasible,
                "reached": optimum is not None and result.key == optimum, "guaranteed": guaranteed,
                "seconds": result.timing.answer_s if searched else None, "nodes": result.nodes if searched else None,
                "bound": result.bound, "objective": result.objective, variant.seed: result.objective,
            }  # fmt: skip
            for what, known in numbers.items():
                if known is not None:
                    self._numbers[name][what].append(known)
            ratios.append(ratio)
        self.details.add(self.plan.names, results, optimum, ratios)

    @property
    def rows(self) -> list[ComparisonRow]:
        names, found = self.plan.names, []
        variants = dict(zip(names, self.plan.variants, strict=True))
        for name, numbers in self._numbers.items():
            ratios, problems = self.details.ratios_of[name], len(numbers["solved"])
            by_seed = [values for kind, values in numbers.items() if isinstance(kind, int)]
            own: dict[str, Any] = {f"mean_{kind}": mean_of(numbers[kind]) for kind in _MEANS}
            own |= {kind: int(sum(numbers[kind])) for kind in _COUNTS}
            own |= {"problems": problems, "failed": problems - own["solved"], "seeds": names.count(name)}
            own |= {"mean_ratio": mean_of(ratios), "min_ratio": min(ratios, default=None), "ratios": len(ratios)}
            own |= {"std_over_seeds": seeds_deviation(by_seed), "optima": self.optima * names.count(name)}
            own["median_seconds"] = median(numbers["seconds"]) if numbers["seconds"] else None
            own["time_limit"] = variants[name].time_limit if self.plan.time_limits else None
            found.append(ComparisonRow(strategy=name, **own))
        return found

    def tables(self) -> list[Table]:
        """Return the table, and one of the ratios at each time limit if there are several; `details` has more."""
        return [_table(self), *([_ratios_at_limits(self)] if self.plan.time_limits else [])]

    def to_pandas(self) -> Any:
        """Return the rows as a `pandas.DataFrame` with all fields."""
        return data_frame(list(map(asdict, self.rows)))


def compare(
    topics: AnyTopics,
    strategies: Sequence[str] | str | None = None,
    exact: str | None = None,
    backends: Sequence[str | Mapping[str, Any]] | str | None = None,
    *,
    seeds: Iterable[int] | str | None = None,
    exact_time_limit: float | None = None,
    config: str | Path | None = None,
    keep_results: bool = True,
    details: bool = False,
    columns: AnyColumns | None = None,
    start: Mapping[str, Iterable[Any]] | str | Path | Iterable[Result] | None = None,
    **options: Unpack[Keywords],
) -> Comparison:
    """Run strategies on the same topics and compare them with the exact optimum.

    Parameters
    ----------
    topics : iterable
        Topics, as in `optsum.solve_all`.
    strategies : sequence of str, or str
        Names of strategies, or one text of names joined by commas; by default greedy, lead and random.
    exact : str
        The strategy that computes the optima, even if it is not listed; with "none", ratios use the best bound. By
        default the first exact one of `strategies`, or "auto" if there is none or if `exact_time_limit` is given.
    backends : sequence of str or mapping, or str
        Solvers to compare, on which "milp" is run; "milp" is then the default of `strategies` and `exact`. "usable"
        stands for all that work here. A solver's own options are given as ``{"name": "highs", "options": {"presolve":
        "off"}}`` or as ``backend_options={"highs.presolve": "off"}``.
    seeds : iterable of int, or str
        Seeds with each of which a strategy that is not exact is run: ``range(10)``, "0:10" or "1,2,3".
    exact_time_limit : float, optional
        Seconds per problem for the exact strategy, if its limit differs from ``time_limit``.
    config : path, optional
        A TOML file of options, which may include `strategies`, `exact`, `backends`, `seeds` and `exact_time_limit`.
    keep_results : bool
        Whether to keep every result in memory, as ``table.results``.
    details : bool
        Whether the first result of each problem includes its text and all optima, for `optsum.write_page`.
    columns : str or mapping, optional
        The names of columns, as in `optsum.solve_all`.
    start : mapping, path or results, optional
        Selections from which every strategy starts, as in `optsum.solve_all`.
    **options
        Options as for `optsum.solve`, except `strategy`; ``backend`` is the solver of "milp". ``time_limit`` may be a
        list, ``[0.1, 1, 10]``: every strategy is run with each limit, and an unlisted exact one with the longest.

    Returns
    -------
    Comparison

    Raises
    ------
    OptsumError
        Before any search, if the options cannot be used, or a solver is missing.

    Examples
    --------
    >>> topic = {"id": "t", "documents": [["a b c", "a b d", "d"]], "references": [["a b c d"]]}
    >>> table = compare([topic], strategies=["greedy"], exact="exhaustive", max_length=4)
    >>> [(row.strategy, row.mean_objective, row.mean_ratio, row.reached) for row in table.rows]
    [('exhaustive', 1.0, 1.0, 1), ('greedy', 1.0, 1.0, 1)]
    """
    if options.get("strategy") is not None:
        raise OptionError("A comparison is of several strategies: name them by --strategies, and leave out --strategy.")
    keep_results, details = flag(keep_results, "The option keep_results"), flag(details, "The option details")
    topics, named = posed(topics, options, config, columns=columns)
    named |= {"seeds": seeds, "exact_time_limit": exact_time_limit, "config": config}
    table = Comparison(plan_of(strategies, exact, backends, **named), keep_results=keep_results)
    reading = reading_of(table.plan.variants[0])
    given = started(with_columns(topics, columns, reading), start, reading)
    for results in compare_topics(given, table.plan, details=details):
        for problem in by_problem(results):
            table.add(problem)
    return table


def _table(comparison: Comparison) -> Table:
    rows = comparison.rows
    guaranteed = max((row.guaranteed for row in rows), default=0)
    mark = "≥ " if guaranteed else ""
    columns: dict[str, Callable[[ComparisonRow], Cell]] = {
        "objective": lambda row: (
            Cell("infeasible", None) if 0 < row.infeasible == row.problems else number(row.mean_objective)
        ),
        **({"± seeds": lambda row: number(row.std_over_seeds)} if len(comparison.plan.seeds) > 1 else {}),
        f"{mark}ratio": lambda row: number(row.mean_ratio),
        f"{mark}lowest": lambda row: number(row.min_ratio),
        "optimal": lambda row: Cell(f"{row.reached}/{row.optima}", row.reached) if row.optima else number(None),
        "mean time": lambda row: seconds(row.mean_seconds),
        "median": lambda row: seconds(row.median_seconds),
        "solved": lambda row: number(row.solved, 0),
        "failed": lambda row: number(row.failed, 0),
    }
    if comparison.plan.backends:
        columns |= {"bound": lambda row: number(row.mean_bound), "nodes": lambda row: number(row.mean_nodes, 1)}
    title = f"{counted(comparison.problems, 'problem')}: {headline(comparison.plan.variants[0])}"
    table = Table.of(["strategy"], columns, title, caption=_caption(comparison, guaranteed))
    for place, row in enumerate(rows):
        name = row.strategy
        if comparison.plan.added and place == 0:
            name = Cell(f"{'optimum' if row.reached == row.problems > 0 else 'exact'} ({name})", name)
        table.add(name, *(cell(row) for cell in columns.values()))
    return table


def _ratios_at_limits(comparison: Comparison) -> Table:
    plan, rows = comparison.plan, {row.strategy: row for row in comparison.rows}
    limits = sorted({variant.time_limit for variant in plan.variants if variant.time_limit is not None})
    cells: dict[str, dict[float | None, float | None]] = {}
    for name, variant in zip(plan.names, plan.variants, strict=True):
        cells.setdefault(plan.searcher_of(variant), {})[variant.time_limit] = rows[name].mean_ratio
    lines = [[name, *(number(found.get(limit)) for limit in limits)] for name, found in cells.items()]
    caption = [_SOLVED] if any(row.failed for row in rows.values()) else []
    headings, title = [f"{limit:g} s" for limit in limits], "Mean ratio at each time limit"
    return Table.of(["strategy"], headings, title, rows=lines, caption=caption)


def why_all_are_empty(options: Options) -> str | None:
    """Return why all selections of a search are empty, if it has a maximum length: perhaps sentences were meant."""
    limit, unit = options.max_length, options.length_unit
    if not isinstance(limit, int) or not options.formulated().reads_topics:
        return None
    return spoken(
        f"every selection is empty: no unit of at most {limit} {unit} adds to the objective (see --length-unit)"
    )


def _caption(comparison: Comparison, guaranteed: int) -> Iterator[str]:
    plan = comparison.plan
    backend = plan.variants[0].searcher().backend_name if plan.exact else None
    by = f" (exact: {plan.exact}{f' on {backend}' if backend else ''})" if plan.exact else ""
    if comparison.optima:
        yield f"optimal: solved to the optimum, of {comparison.optima} whose optimum is known{by}."
    if guaranteed:
        yield (
            f"≥: for {counted(guaranteed, 'problem')} without a known optimum the ratio uses the best bound, so it "
            f"is a guaranteed lower limit."
        )
    if comparison.optima and not comparison.chosen and (why := why_all_are_empty(plan.variants[0])):
        yield f"{why[0].upper()}{why[1:]}."
    yield "time: from text to answer, without bounds that are computed only for this table."
    if len(plan.seeds) > 1:
        yield OVER_SEEDS.format(len(plan.seeds))
    if plan.backends:
        yield "bound, nodes: means; each solver counts nodes in its own way, and some do not report them."
    if any(row.failed for row in comparison.rows):
        yield _SOLVED
    for row in comparison.rows:
        if row.infeasible:
            yield f"No selection keeps all limits in {row.infeasible} of {row.problems}, as {row.strategy} has proven."
    if comparison.contradictions:
        yield (
            f"CONTRADICTION on {counted(len(comparison.contradictions), 'problem')}: claims of strategies "
            "contradict each other, so a solver is wrong, and no ratio is given "
            f"({'; '.join(comparison.contradictions[:5])})."
        )
