"""CBC, the program, through Pyomo."""

from __future__ import annotations

from functools import lru_cache
from re import findall
from typing import Any, Final

from optsum.contracts.declaration import BoundQuality, OptionNames
from optsum.contracts.run import Limits
from optsum.errors import OptionError
from optsum.system.processes.supervised import ask, find_program

from .pyomo import OLDER, PyomoBackend, PyomoDeclaration

CBC: Final = PyomoDeclaration(
    factory="cbc",
    newer=False,
    install="sudo apt install coinor-cbc",
    licence="free (EPL 2.0)",
    program="cbc",
    version_arguments=("-quit",),
    names=OptionNames(time="sec", gap="ratioGap", threads="threads", seed="randomCbcSeed", nodes="maxNodes"),
    # The objective is an integer: a bound less than 1 away proves it. CBC's preprocessing of integer programs puts
    # columns beyond their bounds when it is undone (2.10.8: 18 wrong answers to 100 small instances, none without it).
    fixed={"timeMode": "elapsed", "allowableGap": 0.999, "preprocess": "off"},
    bound=BoundQuality.PRINTED,
    statuses=OLDER,
    warm_start=True,
)


class Cbc(PyomoBackend):
    """CBC behind Pyomo's older interface, whose results have traps.

    When it stops early the upper bound has lost its sign, and without an incumbent a fractional point is held for one.
    """

    name = "cbc"
    about = "CBC of COIN-OR, the program, through Pyomo"
    declaration = CBC

    def settings(self, limits: Limits, seed: int) -> dict[str, Any]:
        """Leave one thread out: for CBC that is not the same as none."""
        settings = super().settings(limits, seed)
        if settings["threads"] == 1:
            del settings["threads"]
        return settings

    def check_options(self) -> None:
        """Refuse what CBC would ignore with a line in its log."""
        if refused := _refused(tuple((name, str(value)) for name, value in self.options.items())):
            raise OptionError(f"The backend {self.name} does not take its options: {refused}.")


@lru_cache(maxsize=16)
def _refused(options: tuple[tuple[str, str], ...]) -> str:
    if not options:
        return ""
    words = [word for name, value in options for word in (f"-{name}", value)]
    said = ask([find_program("cbc") or "", *words, "-quit"]) or ""
    lines = findall(r"(?m)^(?:No match for|String of|<Possible options|\S+ was provided for).*$", said)
    return "; ".join(line.strip("<; ") for line in lines)
