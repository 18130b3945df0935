"""A strategy's own options: which of those given go to which strategy."""

from __future__ import annotations

from collections.abc import Sequence

from optsum.errors import OptionError, unknown_name
from optsum.options.values.own import OwnOptions, Scalar
from optsum.registry import STRATEGIES

__all__ = ["shared_out", "solving", "takes_backend"]


def shared_out(given: OwnOptions, strategies: Sequence[str]) -> dict[str, OwnOptions]:
    """Return the options of each strategy.

    Parameters
    ----------
    given : pairs of name and value
        ``k_max`` goes to every strategy that has such an option, ``vns.k_max`` to `vns` alone and before the former;
        hyphens and underscores are the same.
    strategies : sequence of str
        All that are run.

    Raises
    ------
    UnknownNameError
        For an option that none of them has, with the nearest names.
    OptionError
        For an option that is given twice.
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


def takes_backend(strategy: str) -> bool:
    """Return whether a solver is behind a strategy."""
    return STRATEGIES.create(strategy, {}).backend_name is not None


def solving() -> str:
    """Return the first strategy that a solver is behind."""
    return next(filter(takes_backend, STRATEGIES))
