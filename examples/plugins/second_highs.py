"""A backend of your own: a solver that Pyomo drives needs only a declaration."""

from typing import ClassVar

import highspy

import optsum


class Quiet(highspy.Highs):
    """HiGHS without the version that release 1.16 prints when its callbacks are enabled."""

    def enableCallbacks(self) -> None:  # noqa: N802
        """Turn the output off first."""
        self.silent()
        super().enableCallbacks()


class SecondHighs(optsum.PyomoBackend):
    """HiGHS by way of Pyomo, under a name of its own."""

    name: ClassVar[str] = "second-highs"
    about: ClassVar[str] = "HiGHS through Pyomo, declared outside the package"
    declaration: ClassVar = optsum.PyomoDeclaration(
        factory="highs",
        newer=True,
        install="pip install highspy",
        licence="free (MIT)",
        module="highspy",
        names=optsum.OptionNames(time="time_limit", gap="rel_gap", seed="random_seed"),
        fixed={"abs_gap": 0.999},
        statuses=optsum.PYOMO_NEWER,
    )

    def check_options(self) -> None:
        """Refuse options that HiGHS does not have: Pyomo would pass them over without a word."""
        solver = Quiet()
        for name in self.options:
            if solver.getOptionType(name)[0] != highspy.HighsStatus.kOk:
                raise optsum.OptionError(f"The backend {self.name} has no option {name}.")
