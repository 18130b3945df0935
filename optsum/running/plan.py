"""Compare strategies on the same topics: common work is done once, and times are comparable."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from logging import getLogger
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeAlias

from optsum.contracts.result import Result
from optsum.corpus.arguments import AnyTopics
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Key
from optsum.errors import OptionError, unknown_name
from optsum.options.options import Options, check_solver_is_used, read_config, resolve, resolve_as
from optsum.options.values import OwnOptions, own_of_solver, own_options, shared_out, solving, takes_backend
from optsum.plugins import is_place
from optsum.problem.formulation import Task
from optsum.registry import BACKENDS, BASELINES, STRATEGIES
from optsum.running.each_topic import attempt, each_topic
from optsum.running.one_problem import Setup, best_of_references, build, refused, run_task, setup_of, unsolved, unusable
from optsum.system.clock import Stopped, Termination, clock
from optsum.system.compiled import patience

_LOG = getLogger("optsum")

_MOST_SEEDS = 10_000
NO_EXACT: Final = "A time limit of the exact strategy needs one: name it by --exact."

Solver: TypeAlias = tuple[str, OwnOptions]  # A backend with its own options.

USABLE: Final = "usable"  # All backends that work on this machine.


@dataclass(frozen=True)
class Plan:
    """The strategies, backends, time limits and seeds of a comparison."""

    variants: tuple[Options, ...]  # The same options for each strategy, the exact one first.
    exact: str | None  # The strategy whose proven optimum the others are held against.
    added: bool = False  # Whether that strategy is there for the optima alone: nobody has asked to compare it.
    # Solvers that a strategy with a backend is run on, a variant each; empty where it is run on one.
    backends: tuple[Solver, ...] = ()
    # Each strategy that proves nothing is run once with each; empty where all are run once.
    seeds: tuple[int, ...] = ()
    # Seconds that each strategy is run with, a variant each; empty where all have one limit, or none.
    time_limits: tuple[float, ...] = ()

    @property
    def strategies(self) -> list[str]:
        """Names in the order of the table: strategies, with their solvers and limits if several are compared."""
        return list(dict.fromkeys(self.names))

    @property
    def names(self) -> list[str]:
        """The line of the table for each variant."""
        limited = bool(self.time_limits)
        return [self.searcher_of(each) + (f" in {each.time_limit:g} s" if limited else "") for each in self.variants]

    def searcher_of(self, variant: Options) -> str:
        """Return the strategy's name, with its solver if several are compared."""
        if not self.backends or not takes_backend(variant.strategy):
            return variant.strategy
        alike = sum(name == variant.backend for name, _ in self.backends) > 1
        own = ", ".join(f"{name}={value}" for name, value in variant.backend_options) if alike else ""
        return f"{variant.strategy} on {variant.backend}{f' ({own})' if own else ''}"

    def said_of(self, variant: Options) -> dict[str, Any]:
        """Return the fields of a row that distinguish its variant."""
        own = {"backend_options": dict(variant.backend_options)} if any(own for _, own in self.backends) else {}
        return {**({"time_limit": variant.time_limit} if self.time_limits else {}), **own}

    @classmethod
    def of(
        cls,
        strategies: Sequence[str] | str | None = None,
        exact: str | None = None,
        backends: Sequence[str | Mapping[str, Any]] | str | None = None,
        *,
        seeds: Iterable[int] | str | None = None,
        exact_time_limit: float | None = None,
        config: str | Path | None = None,
        **options: Any,
    ) -> Plan:
        """Resolve the options; see `compare`."""
        file = read_config(config) if config is not None else {}
        seeds = file.get("seeds") if seeds is None and options.get("seed") is None else seeds
        exact_time_limit = file.get("exact_time_limit") if exact_time_limit is None else exact_time_limit
        several = seeds_of(seeds, options.get("seed"))
        limits = options.get("time_limit")
        options["time_limit"], limits = time_limits_of(file.get("time_limit") if limits is None else limits)
        if options.get("backend") is not None:
            if backends is not None:
                raise OptionError(
                    "One solver is named by --backend, and several by --backends: leave out one of the two."
                )
        elif backends is None:
            backends = file.get("backends")
        default = (solving(),) if backends is not None else BASELINES
        strategies = _names(strategies if strategies is not None else file.get("strategies", default))
        base = resolve(options, config=config, among_others=True, taken=("time_limit",))
        exact = exact if exact is not None else file.get("exact")
        if exact is None:
            among = strategies if exact_time_limit is None else ()
            exact = solving() if backends is not None else _serving(base, among)
        exact = None if exact == "none" else exact
        added = exact is not None and exact not in strategies
        for name in [*strategies, *([exact] if exact else [])]:
            if name not in STRATEGIES.names() and not is_place(name):
                raise unknown_name("strategy", name, STRATEGIES)
        if exact is not None:
            check_exact(exact)
        names = [*([exact] if exact else []), *(name for name in strategies if name != exact)]
        check_solver_is_used(options, *names)
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
            return cls(tuple(variants), exact, added, seeds=several, time_limits=limits)
        if not any(map(takes_backend, names)):
            raise OptionError(
                f"Backends are those of the strategy {solving()}: name it among --strategies, or for --exact."
            )
        solvers = solvers_of(backends, base)
        each = (
            variant.model_copy(update={"backend": solver, "backend_options": given})
            for variant in variants
            for solver, given in (solvers if takes_backend(variant.strategy) else [(variant.backend, ())])
        )
        return cls(tuple(each), exact, added, solvers, several, limits)


def solvers_of(given: object, base: Options) -> tuple[Solver, ...]:
    """Return backends with the options of each.

    `given`: names, or tables with ``name`` and ``options``; "usable" means all that work here, and others are reported.
    `base`: options of the search, whose `backend_options` have names like ``highs.presolve``.
    """
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
                found += [(each, ()) for each in (_usable(base) if name == USABLE else [name])]
    names = [name for name, _ in found]
    solvers = []
    for name, own in found:
        BACKENDS.load(name)
        wide = own_of_solver(base.backend_options, name, names)
        solvers.append((name, tuple(sorted({**dict(wide), **dict(own)}.items()))))
    for name, own in solvers:
        if solvers.count((name, own)) > 1:
            raise OptionError(f"The backend {name} is named twice: name each once, or with options of its own.")
    return tuple(solvers)


def _usable(base: Options) -> list[str]:
    """Return the backends that work here with some options, and report the others."""
    found: list[str] = []
    missing: list[str] = []
    for name in BACKENDS:
        own = tuple(each for each in base.backend_options if each[0].startswith(f"{name}."))
        of_it = {"backend": name, "backend_options": own_of_solver(own, name)}
        reason = unusable(base.model_copy(update={"strategy": solving(), "strategy_options": (), **of_it}))
        if reason is None:
            found.append(name)
        else:
            why = reason.rstrip(".").removeprefix(f"The backend {name} cannot be used, because ").partition(": use ")[0]
            missing.append(f"{name} ({why})")
    if not found:
        raise OptionError(f"No backend works here: {'; '.join(missing)}.")
    if missing:
        _LOG.warning("these backends are left out: %s", "; ".join(missing))
    return found


def check_exact(strategy: str) -> None:
    """Refuse a strategy for ``--exact`` that is not exact."""
    if not STRATEGIES.load(strategy).exact:
        able = ", ".join(name for name in STRATEGIES if STRATEGIES.load(name).exact)
        raise OptionError(f"The strategy {strategy} proves nothing: for --exact choose {able}, or none.")


def _serving(base: Options, among: Sequence[str]) -> str:
    """Return the first exact strategy: of `among`, else the preset's, else any."""
    for name in (*among, base.strategy, *STRATEGIES.builtin):
        if name not in STRATEGIES.names() or not STRATEGIES.load(name).exact:
            continue
        if not refused(base.model_copy(update={"strategy": name, "strategy_options": ()})):
            return name
    return solving()  # which says why


def _names(given: object, kind: str = "strategy") -> list[str]:
    names = given.split(",") if isinstance(given, str) else given
    several, example = ("strategies", "greedy,lead") if kind == "strategy" else ("backends", "highs,cbc")
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise OptionError(f"The {several} {given!r:.80} are no list of names: give them as {example}.")
    names = [name.strip() for name in names if name.strip()]
    if not names:
        raise OptionError(f"There is no {kind} to compare: name at least one.")
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"The {kind} {name} is named twice: name each once.")
    return names


def seeds_of(given: object, seed: int | None = None) -> tuple[int, ...]:
    """Return seeds from numbers, or from text: "0:10" for the ten from 0, or "1,2,3"; an empty result for None."""
    if given is None:
        return ()
    if seed is not None:
        raise OptionError("One seed is named by --seed, and several by --seeds: leave out one of the two.")
    wrong = OptionError(f"The seeds {given!r:.80} are no list of whole numbers from 0: give them as 0:10, or as 1,2,3.")
    if isinstance(given, str):
        first, colon, last = given.partition(":")
        try:
            given = range(int(first), int(last)) if colon else [int(one) for one in given.split(",")]
        except ValueError:
            raise wrong from None
    if not isinstance(given, Iterable):
        raise wrong
    found = tuple(islice(given, _MOST_SEEDS + 1))
    if not found or not all(isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in found):
        raise wrong
    if len(found) > _MOST_SEEDS or len(set(found)) < len(found):
        raise OptionError(f"Seeds are at most {_MOST_SEEDS}, and each is given once.")
    return found


def each_seed(options: Options, seeds: Sequence[int]) -> list[Options]:
    """Yield the options for each seed; those of an exact strategy once, unchanged."""
    if not seeds or STRATEGIES.load(options.strategy).exact:
        return [options]
    return [options.model_copy(update={"seed": seed}) for seed in seeds]


def time_limits_of(given: object) -> tuple[object, tuple[float, ...]]:
    """Read time limits; return the longest, and all in ascending order if there are several.

    `given`: seconds, or text joined by commas.
    """
    wrong = OptionError(f"The time limits {given!r:.80} are no seconds: give them as 0.1,1,10, each once.")
    if isinstance(given, str):
        try:
            given = [float(part) for part in given.split(",")]
        except ValueError:
            raise wrong from None
        if len(given) == 1:  # a single limit, whose own sentence says what is wrong with it
            return given[0], ()
    if not isinstance(given, list | tuple):
        return given, ()
    numbers = [each for each in given if isinstance(each, int | float) and not isinstance(each, bool)]
    if not given or len(set(numbers)) < len(given) or not all(isfinite(each) and each >= 0 for each in numbers):
        raise wrong
    limits = tuple(sorted(map(float, numbers)))
    return limits[-1], limits if len(limits) > 1 else ()


def by_problem(results: Iterable[Result]) -> Iterator[list[Result]]:
    """Split the results of a topic by problem."""
    for _, group in groupby(results, key=lambda result: result.id):
        yield list(group)


def compare_topics(topics: AnyTopics, plan: Plan, *, details: bool = False) -> Generator[list[Result], None, None]:
    """Run all strategies on each topic, and yield the results of each topic together.

    Common parts are computed once (the problem, for each set of units; the root bound), but all work for an answer is
    done by each strategy, so that times are comparable. With `details`, the first result of each problem includes them
    (`optsum.running.oracles`).
    """
    from optsum.running.oracles import detailed

    patience.load()
    setups = [setup_of(options) for options in plan.variants]
    said = [plan.said_of(options) for options in plan.variants]
    return each_topic(topics, setups, detailed(partial(_solve_part, setups=setups, said=said), setups, details))


def _solve_part(part: Topic, setups: Sequence[Setup], said: Sequence[Mapping[str, Any]]) -> list[Result]:
    shared = _Shared()
    results: list[Result] = []
    for setup, own in zip(setups, said, strict=True):
        result = attempt(shared.search, part, setup)
        results.append(result.changed(extra={**result.extra, **own}) if own else result)
        if results[-1].termination is Termination.INTERRUPTED:
            break
    return results


class _Shared:
    """The problems of a topic, built once for each separately searched reference and each set of units."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[int, bool], tuple[Task, float]] = {}
        self._bounds: dict[tuple[int, bool], Key] = {}

    def search(self, topic: Topic, setup: Setup) -> Result:
        """Search the topic, or each of its references if the best of them counts."""
        if setup.best_of_references:
            return best_of_references(topic, setup, self._search)
        return self._search(0, topic, setup)

    def _search(self, number: int, part: Topic, setup: Setup, root_bound: Key | None = None) -> Result:
        strategy, key = setup.strategy, (number, setup.strategy.all_units)
        if key not in self._tasks:
            began = clock()
            try:
                task = build(part, setup, setup.limits.building())
            except Stopped:
                return unsolved(part.id, setup, Termination.TIME_LIMIT, seconds=clock() - began)
            self._tasks[key] = task, clock() - began
        task, seconds = self._tasks[key]
        fresh = replace(task, problem=task.problem.fresh())  # without what earlier searches computed on it
        # A certificate is no part of a search, unless it decides when that ends.
        known = root_bound if strategy.exact or setup.limits.gap is not None else self._bounds.get(key)
        result = run_task(fresh, setup, began=clock() - seconds, root_bound=known)
        if not strategy.exact and result.bound_key is not None:
            self._bounds[key] = result.bound_key
        return result
