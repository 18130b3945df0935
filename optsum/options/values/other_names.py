"""Names that are no option here: of single commands, or of other libraries, understood where they mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from optsum.errors import OptionError, UnknownNameError
from optsum.metrics.metric import Metric
from optsum.metrics.names import official_name
from optsum.plugins import place_of

__all__ = ["ONLY_IN", "in_our_names", "our_name", "our_value"]

ONLY_IN: Final = {
    "strategies": "compare",
    "exact": "compare",
    "backends": "compare",
    "seeds": "compare, study",
    "exact_time_limit": "compare, study",
    "threshold": "align",
    "map": "--map",
}
"""Options of one command that are no field of a model, and the command."""

_SAME: Final = {"random_state": "seed", "n_jobs": "workers"}
"""As in scikit-learn."""

_NEAR: Final = {
    **_SAME,
    "algorithm": "strategy",
    "budget": "max_length",
    "length_limit": "max_length",
    "max_words": "max_length",
    "method": "strategy",
    "num_workers": "workers",
    "processes": "workers",
    "solver": "backend",
    "timeout": "time_limit",
    "rouge_type": "metric",
    "rouge_types": "metric",
}

_ELSEWHERE: Final = {
    "seeds": "optsum compare and the studies akhmetov, gap and hirao run what is random with several",
    "exact_time_limit": "optsum compare and the studies akhmetov, gap and hirao prove beside what does not prove; here "
    "the time limit is of every search",
}
"""Options of some commands only, and what these do."""

_OTHER_VALUES: Final[Mapping[str, Mapping[str, str]]] = {
    "measure": dict.fromkeys(("fmeasure", "f_measure", "f-measure", "f1-score", "f1_score", "f"), "f1"),
    "length_unit": {
        "word": "words",
        "sentence": "sentences",
        "character": "characters",
        "chars": "characters",
        "token": "tokens",
    },
    "best_by": dict.fromkeys(("fmeasure", "f_measure", "f-measure", "f1-score", "f1_score", "f"), "f1"),
}
"""Of these options; those of rouge-score and of people who write the singular."""


def in_our_names(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as they are called here.

    Raises
    ------
    OptionError
        If one is given by two names.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        ours = _SAME.get(name, name)
        if ours in found or (ours != name and given.get(ours) is not None):
            raise OptionError(f"The options {name} and {ours} are the same: give one of them.")
        found[ours] = value
    return found


def our_value(option: str, given: object) -> object:
    """Return what an option is given, as it is written here; of a metric given itself, where its class stands."""
    if option != "metric":
        return _OTHER_VALUES.get(option, {}).get(given, given) if isinstance(given, str) else given
    if isinstance(given, Metric):
        given = type(given) if given == type(given).read(given.form) else given.name
    if isinstance(given, type) and issubclass(given, Metric):
        return place_of(given)
    return official_name(given) if isinstance(given, str) else given


def our_name(name: str) -> UnknownNameError | None:
    """Return what answers an option, or a flag, that other libraries call so; None for any other name."""
    plain = name.lstrip("-").replace("-", "_")
    if (why := _ELSEWHERE.get(plain)) is not None:
        return UnknownNameError(f"there is no option {name!r} here: {why}")
    ours = _NEAR.get(plain)
    if ours is None:
        return None
    ours = f"--{ours.replace('_', '-')}" if name.startswith("-") else ours
    return UnknownNameError(f"there is no option {name!r}; optsum calls it {ours}")
