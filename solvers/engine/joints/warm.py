"""A run of every kernel on a small program, so that they are compiled before anything is timed."""

from __future__ import annotations

from optsum.contracts.run import Limits
from optsum.coverage.instance import Coverage, Joint

from ..driver import Driver
from ..monitor import rehearsal
from ..program import program_of
from .operations import JOINTS


def run_every_kernel() -> None:
    """Search a program with trees, joints and a fee that is not settled at the root."""
    units = range(36)
    instance = Coverage.of(
        [2 + unit * unit % 7 for unit in units],
        [{(7 * unit + 11 * step) % 24: 1 + unit % 2 for step in range(3)} for unit in units],
        [[3, 2, 1]] * 24 + [[1]],
        slots=[0] * 24 + [1],
        parents=[-1 if unit % 3 == 0 else unit - 1 for unit in units],
        joints=(*(Joint(unit % 24, (unit, unit + 2), (unit + 1,)) for unit in range(0, 33, 3)), Joint(24, (1, 5))),
        max_length=45,
    )
    with rehearsal() as deadline:
        engine = Driver(program_of(instance, (5, -1)), JOINTS, Limits(), deadline)
        engine.guess()
        while engine.one_of(engine.upper) is None:
            engine.upper -= 1
        engine.all_of(engine.upper)
