"""Options of strategies and solvers: which of those given go to which of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from optsum.errors import OptionError, unknown_name
from optsum.options.values import OwnOptions, Scalar
from optsum.registry import BACKENDS, STRATEGIES


def shared_out(given: OwnOptions, strategies: Sequence[str]) -> dict[str, OwnOptions]:
    """Return the options of each strategy.

    `given`: ``k_max`` goes to every strategy that has such an option, ``vns.k_max`` to `vns` alone and before the
    former; hyphens and underscores are the same. `strategies`: all that are run.
    """
    known = {name: STRATEGIES.options_of(name) for name in strategies}
    found: dict[str, dict[str, Scalar]] = {name: {} for name in strategies}
    for wide in (True, False):  # what is given to one strategy wins
        given_here = set()
        for name, value in given:
            strategy, dot, option = name.rpartition(".")
            option = option.replace("-", "_")
            if wide != (not dot):
                continue
            if dot and strategy not in known:
                raise unknown_name("strategy in this run", strategy, known)
            if (strategy, option) in given_here:
                raise OptionError(f"The option {name} of a strategy is given twice: give it once.")
            given_here.add((strategy, option))
            takers = [strategy] if dot else [each for each in strategies if option in known[each]]
            if not takers or (dot and option not in known[strategy]):
                among = known[strategy] if dot else dict.fromkeys(each for own in known.values() for each in own)
                whose = strategy if dot else " or ".join(strategies)
                raise unknown_name(f"option of the strategy {whose}", option, list(among))
            for each in takers:
                found[each][option] = value
    return {name: tuple(sorted(own.items())) for name, own in found.items()}


def own_of_solver(
    given: OwnOptions, backend: str, among: Collection[str] | None = None, *, shared: bool = False
) -> OwnOptions:
    """Return the options of a solver.

    `given`: ``highs.presolve`` goes to `highs` alone, ``presolve`` to the only solver that there is. `among`: all
    solvers that are run; if not given, it is the only one. `shared`: whether ``presolve`` goes to each of them.
    """
    found: dict[str, Scalar] = {}
    for name, value in given:
        prefixes = [each for each in {backend, *(among or ()), *BACKENDS} if name.startswith(f"{each}.")]
        solver = max(prefixes, key=len, default=None)  # pyomo:cbc.ratio is no option of another
        if solver is None and among is not None and not shared:
            raise OptionError(
                f"Options of one solver cannot be those of several: say whose {name} is, as in {backend}.{name}."
            )
        if solver is not None and solver not in (among or (backend,)):
            raise unknown_name("solver in this run", solver, [*(among or (backend,))])
        if solver in (None, backend):
            option = name if solver is None else name[len(solver) + 1 :]
            if option in found:
                raise OptionError(f"The option {option} of the solver {backend} is given twice: give it once.")
            found[option] = value
    return tuple(sorted(found.items()))


def takes_backend(strategy: str) -> bool:
    """Return whether a solver is behind a strategy."""
    return STRATEGIES.create(strategy, {}).backend_name is not None


def solving() -> str:
    """Return the first strategy that a solver is behind."""
    return next(filter(takes_backend, STRATEGIES))
