"""What is left of a core once units are decided, and which units matter.

A joint whose last needed unit is left is as good as a part of that unit; one that no longer adds anything goes.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from ...program import widths
from ...reduction import DROPPED, FREE, TAKEN, States, reduce_core
from .core import Core, Fees, Rows


@njit(cache=True)
def _pass_up(parent, found):
    for i in range(len(parent) - 1, -1, -1):
        if found[i] and parent[i] >= 0:
            found[parent[i]] = True


@njit(cache=True)
def _pass_down(parent, found):
    for i in range(len(parent)):
        if parent[i] >= 0:
            found[i] = found[parent[i]]


def effective(core: Core) -> NDArray[np.bool_]:
    """Whether a unit, or any below it, gains, loses, or matters to a joint."""
    n = core.size
    item = (core.mass != 0) | (widths(core.start) > 0)
    item |= widths(core.fees.start) > 0
    found: NDArray[np.bool_] = item[:n].copy()
    found[core.need_unit] = True
    found[core.veto_unit] = True
    _pass_up(core.parent, found)
    return found


def above(core: Core, unit: int) -> IntArray:
    """Return a unit and its ancestors."""
    chain = [unit]
    while core.parent[chain[-1]] >= 0:
        chain.append(int(core.parent[chain[-1]]))
    return np.array(chain)


def below(core: Core, unit: int) -> IntArray:
    """Return a unit and its descendants."""
    return np.arange(unit, int(core.skip[unit]))


def fillers(core: Core) -> NDArray[np.bool_]:
    """Whether a unit stands in a tree that is not `effective`: it can only fill the summary up."""
    found = effective(core)
    _pass_down(core.parent, found)
    return ~found


def _merged(
    item_of: IntArray, start: IntArray, feature: IntArray, count: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Rows of the items after some items' entries have moved to others."""
    width = int(feature.max(initial=0)) + 1
    cell, where = np.unique(item_of.repeat(widths(start)) * width + feature, return_inverse=True)
    total = np.zeros(len(cell), np.int64)
    np.add.at(total, where, count)
    starts = np.zeros(len(item_of) + 1, np.int64)
    np.bincount(cell // width, minlength=len(item_of)).cumsum(out=starts[1:])
    return starts, cell % width, total


def _kept_rows(rows: Rows, state: States, alive: NDArray[np.bool_], unit_of: IntArray, joint_of: IntArray) -> Rows:
    """Keep the members that may become active; a row whose unit is decided is one only if it has two of them."""
    kept = alive[rows.joint]
    members = np.bincount(rows.row[kept], minlength=len(rows.unit))
    free = np.zeros(len(rows.unit), np.bool_)
    tied = rows.unit >= 0
    free[tied] = state[rows.unit[tied]] == FREE
    stays = np.where(free, members >= 1, members >= 2)
    kept &= stays[rows.row]
    number = stays.cumsum() - 1
    return Rows(
        np.where(free, unit_of[rows.unit], -1)[stays] if len(unit_of) else np.full(int(stays.sum()), -1, np.int64),
        rows.sign[stays],
        rows.price[stays],
        number[rows.row[kept]],
        joint_of[rows.joint[kept]],
    )


def _into_units(core: Core, lone: NDArray[np.bool_]) -> tuple[IntArray, IntArray, IntArray, IntArray, Fees]:
    """Return entries, mass and fees of all items where joints are parts of a unit; `lone` marks those needs."""
    if not lone.any():
        return core.start, core.feature, core.count, core.mass, core.fees
    n, fees = core.size, core.fees
    joint, unit = core.need_joint[lone], core.need_unit[lone]
    item_of = np.arange(n + core.joints)
    item_of[n + joint] = unit
    mass = core.mass.copy()
    np.add.at(mass, unit, mass[n + joint])
    if len(fees.fee):
        fees = Fees(*_merged(item_of, fees.start, fees.fee, fees.count), fees.weight, fees.step)
    return *_merged(item_of, core.start, core.feature, core.count), mass, fees


def reduced(core: Core, state: States) -> Core:
    """Return the core that remains once units are taken (`TAKEN`) or dropped (`DROPPED`).

    A unit may be taken only with its parent, and is dropped with it: the caller sees to that.
    """
    n, joints = core.size, core.joints
    dead = np.zeros(joints, np.bool_)
    dead[core.need_joint[state[core.need_unit] == DROPPED]] = True
    dead[core.veto_joint[state[core.veto_unit] == TAKEN]] = True
    needed = (state[core.need_unit] == FREE) & ~dead[core.need_joint]
    vetoed = (state[core.veto_unit] == FREE) & ~dead[core.veto_joint]
    needs = np.bincount(core.need_joint[needed], minlength=joints)
    vetoes = np.bincount(core.veto_joint[vetoed], minlength=joints)
    active = ~dead & (needs + vetoes == 0)
    single = ~dead & (needs == 1) & (vetoes == 0)  # as good as a part of its unit

    item_state = np.full(n + joints, np.int8(FREE))
    item_state[:n] = state
    item_state[n:][dead | single] = DROPPED
    item_state[n:][active] = TAKEN
    start, feature, count, mass, fees = _into_units(core, needed & single[core.need_joint])
    entries = start, feature, count, core.table_start, core.table, core.price
    paid = fees.start, fees.fee, fees.count, np.zeros(len(fees.fee), np.int64), fees.weight, fees.step
    keep, mass, entries, gained, paid = reduce_core(item_state, mass, entries, core.scale, paid)
    start, feature, count, table_start, table, price = entries
    fee_start, fee, fee_count, _, fee_weight, fee_step = paid
    number = np.full(n + joints, -1, np.int64)
    number[keep] = np.arange(len(keep))

    # Joints that no longer matter go: without mass and features nothing distinguishes active from not.
    size = int((state == FREE).sum())
    matters = (mass != 0) | (widths(start) > 0) | (widths(fee_start) > 0)
    matters[:size] = True
    joint_of = np.full(joints, -1, np.int64)
    joint_of[keep[size:][matters[size:]] - n] = np.arange(int(matters[size:].sum()))
    alive = joint_of >= 0
    if not matters.all():
        mass = mass[matters]
        start, fee_start = (np.append(starts[:-1][matters], starts[-1]) for starts in (start, fee_start))
    needed &= alive[core.need_joint]
    vetoed &= alive[core.veto_joint]
    unit_of = number[:n]
    free = state == FREE
    parent = core.parent[free]
    used = int(core.lengths[state == TAKEN].sum())
    lengths = core.lengths[free]
    return Core(
        ids=core.ids[free],
        lengths=lengths,
        parent=np.where(parent >= 0, unit_of[parent], -1) if n else parent,  # a taken parent is number -1
        mass=mass,
        start=start,
        feature=feature,
        count=count,
        table_start=table_start,
        table=table,
        price=price,
        fees=Fees(fee_start, fee, fee_count, fee_weight, fee_step),
        need_joint=joint_of[core.need_joint[needed]],
        need_unit=unit_of[core.need_unit[needed]],
        veto_joint=joint_of[core.veto_joint[vetoed]],
        veto_unit=unit_of[core.veto_unit[vetoed]],
        rows=_kept_rows(core.rows, state, alive, unit_of, joint_of),
        base=core.base + int(gained),
        low=core.low - used,
        high=min(core.high - used, int(lengths.sum())),
        scale=core.scale,
    )


def lean(core: Core) -> Core:
    """Return the core without units that can only fill a summary up, unless it must be filled."""
    if core.low > 0:
        return core
    useful = effective(core)
    return core if useful.all() else reduced(core, np.where(useful, np.int8(FREE), np.int8(DROPPED)))
