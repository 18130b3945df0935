"""The root instance of a program: units in preorder, joints simplified, rows between joints that exclude each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from optsum.contracts.result import Termination
from optsum.contracts.run import Stopped
from optsum.coverage.instance import IntArray, Joint
from optsum.errors import UnsupportedError
from optsum.system.clock import NEVER, Deadline, TimeOver

from .core import DROPPED, FREE, NEED, NO_TIES, VETO, CappedCosts, Core, JointRows, States, Ties, reduced
from .monitor import stop_at
from .program import Program, first_gains, widths

_MAX_VALUE: Final = 2**56
_MAX_SCALED: Final = 2**59
_SCALE: Final = 1 << 16

_MANY: Final = 100_000  # Vetoes from which on the making of a root is worth a look at the clock.

_VETO_S: Final = 1e-7
"""Seconds that a veto takes at least in the making of a root, on a quick machine: what cannot end is not begun."""

_PAIRS: Final = 40  # Joints of one unit that are compared with one another, at most.


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """A joint in the new numbers, sorted; `gives` are its features and copies."""

    needs: tuple[int, ...]
    vetoes: Sequence[int]
    seam: bool
    gives: dict[int, int]


def _preorder(parents: IntArray) -> IntArray:
    """Units in an order in which every unit is followed by its descendants."""
    if not (parents >= 0).any():
        return np.arange(len(parents))
    children: list[list[int]] = [[] for _ in parents]
    stack: list[int] = []
    for unit in range(len(parents) - 1, -1, -1):
        (stack if parents[unit] < 0 else children[parents[unit]]).append(unit)
    order = []
    while stack:
        unit = stack.pop()
        order.append(unit)
        stack += children[unit]
    return np.array(order, np.int64)


def _simplified(
    joints: Iterable[Joint], number: IntArray, parent: IntArray, idle: set[int], deadline: Deadline
) -> list[_Occurrence]:
    """Joints in new numbers, without what follows from the rest; equal ones are one.

    A need's ancestors are needed anyway and a veto's descendants veto anyway; a joint whose needs meet its vetoes is
    never active.
    """
    above: list[tuple[int, ...]] = []
    for mother in parent.tolist():
        above.append(() if mother < 0 else (mother, *above[mother]))
    identity = bool((number == np.arange(len(number))).all())
    flat = not any(above)
    found: dict[tuple[tuple[int, ...], Sequence[int]], _Occurrence] = {}
    for joint in deadline.watching(joints):
        if joint.feature in idle:
            continue
        needs = {int(number[unit]) for unit in joint.needs}
        vetoes: Sequence[int]
        if flat and identity and joint.seam:
            vetoes = joint.vetoes
        else:
            needed = needs.union(*(above[unit] for unit in needs))
            banned = {int(number[unit]) for unit in joint.vetoes}
            if needed & banned:
                continue
            needs -= {mother for unit in needs for mother in above[unit]}
            vetoes = tuple(sorted(unit for unit in banned if banned.isdisjoint(above[unit])))
        key = (tuple(sorted(needs)), vetoes)
        occurrence = found.setdefault(key, _Occurrence(*key, False, {}))
        occurrence.gives[joint.feature] = occurrence.gives.get(joint.feature, 0) + joint.count
    return _with_seams(list(found.values()), deadline) if flat else list(found.values())


def _with_seams(joints: list[_Occurrence], deadline: Deadline) -> list[_Occurrence]:
    """Mark the joints of two units that veto each other as seams do.

    They are vetoed by units between the two, and by every one of those that any of them needs (sentences without
    text between them may stay). So one that starts or ends between the units of another excludes it.
    """
    pairs = [
        joint
        for joint in joints
        if len(joint.needs) == 2
        and (not joint.vetoes or joint.needs[0] < joint.vetoes[0] <= joint.vetoes[-1] < joint.needs[1])
    ]
    needed = {unit for joint in pairs for unit in joint.needs}
    seams: dict[tuple[int, ...], int] = {}
    for joint in deadline.watching(pairs):
        inner = range(joint.needs[0] + 1, joint.needs[1])
        if joint.vetoes == inner or needed.isdisjoint(set(inner).difference(joint.vetoes)):
            seams.setdefault(joint.needs, id(joint))  # a second one of the same two units may be active with the first
    marked = set(seams.values())
    return [
        _Occurrence(joint.needs, joint.vetoes, True, joint.gives) if id(joint) in marked else joint for joint in joints
    ]


def _excludes(one: _Occurrence, other: _Occurrence) -> bool:
    return any(unit in other.vetoes for unit in one.needs) or any(unit in one.vetoes for unit in other.needs)


def _cliques(members: list[int], joints: Sequence[_Occurrence]) -> list[list[int]]:
    """Split joints into groups; at most one joint of each is active."""
    groups: list[list[int]] = []
    for joint in members[:_PAIRS]:
        for group in groups:
            if all(_excludes(joints[joint], joints[other]) for other in group):
                group.append(joint)
                break
        else:
            groups.append([joint])
    return groups + [[joint] for joint in members[_PAIRS:]]


def _rows_of(joints: Sequence[_Occurrence], units: int, deadline: Deadline) -> JointRows:
    """Rows of all joints: those of seams at once (a path has one successor), others by comparing them.

    Seams veto tens of millions of units in a topic of thousands of sentences: each step takes a part of a second.
    """
    seams = [number for number, joint in enumerate(joints) if joint.seam]
    # Cell: a unit, and whether it is the first or the second that seams need, or one between the two.
    spans = [_array(joints[number].vetoes) for number in seams]
    ends = np.array([joints[number].needs for number in seams], np.int64).reshape(-1, 2)
    stop_at(deadline)
    between = np.concatenate([np.zeros(0, np.int64), *spans])
    stop_at(deadline)
    between += 2 * units
    cells = np.concatenate([ends[:, 0], units + ends[:, 1], between])
    stop_at(deadline)
    members = np.concatenate([seams, seams, np.repeat(seams, [len(span) for span in spans])]).astype(np.int64)
    stop_at(deadline)
    is_there = np.bincount(cells, minlength=3 * units) > 0
    stop_at(deadline)
    cell, row = np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[cells]
    stop_at(deadline)

    others: dict[tuple[int, int], list[int]] = {}
    for number, joint in enumerate(joints):
        if not joint.seam:
            for sign, group in ((NEED, joint.needs), (VETO, joint.vetoes)):
                for unit in group:
                    others.setdefault((unit, sign), []).append(number)
    rows = [(unit, sign, group) for (unit, sign), all_ in others.items() for group in _cliques(all_, joints)]
    sizes = np.array([len(group) for _, _, group in rows], np.int64)
    return JointRows(
        np.append(cell % max(1, units), [unit for unit, _, _ in rows]).astype(np.int64),
        np.append(np.where(cell < 2 * units, NEED, VETO), [sign for _, sign, _ in rows]).astype(np.int64),
        np.zeros(len(cell) + len(rows), np.int64),
        np.append(row, np.repeat(len(cell) + np.arange(len(rows)), sizes)).astype(np.int64),
        np.append(members, [joint for _, _, group in rows for joint in group]).astype(np.int64),
    )


def _array(units: Sequence[int]) -> IntArray:
    if isinstance(units, range):
        return np.arange(units.start, units.stop, units.step)
    return np.asarray(units, np.int64)


def _entries(groups: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    groups = list(groups)
    joint = np.repeat(np.arange(len(groups)), [len(group) for group in groups]).astype(np.int64)
    return joint, np.concatenate([np.zeros(0, np.int64), *map(_array, groups)])


def core_of(program: Program, deadline: Deadline = NEVER) -> tuple[Core, int]:
    """Return the root instance of a program, and the divisor of its values.

    Values of the core times the divisor, plus the program's base, are values of the program. Units longer than the
    maximum, and those below them, are left out. Where thousands of joints have a thousand vetoes each this takes some
    seconds, so the deadline is asked between the steps.
    """
    if program.singletons:
        return _plain_core(program)
    deadline = _patience(program, deadline)
    order = _preorder(program.parents)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    parent = program.parents[order]
    parent = np.where(parent >= 0, number[parent], -1)
    table, table_start = program.table, program.table_start
    last = table[table_start[1:] - 1]
    idle = set(np.flatnonzero(last == 0).tolist())
    try:
        joints = _simplified(program.joints, number, parent, idle, deadline)
    except TimeOver:
        raise Stopped(Termination(deadline.reason or "time_limit")) from None

    n, items = len(order), len(order) + len(joints)
    item, feature, count = _gained(program, number, joints)
    by_item = np.argsort(item, kind="stable")
    start = np.zeros(items + 1, np.int64)
    np.cumsum(np.bincount(item, minlength=items), out=start[1:])

    stop_at(deadline)
    mass = np.concatenate([program.mass[order], np.zeros(len(joints), np.int64)])
    rows = _rows_of(joints, n, deadline)
    stop_at(deadline)
    divisor = _divisor(table, mass)
    reach = _reach_of_ties(table_start, table, item, feature, count, mass, rows) / divisor
    if reach > _MAX_SCALED:
        _refuse(f"{reach:.3g}")
    stop_at(deadline)
    need_joint, need_unit = _entries(joint.needs for joint in joints)
    veto_joint, veto_unit = _entries(joint.vetoes for joint in joints)
    stop_at(deadline)
    whole = Core(
        ids=order,
        lengths=program.lengths[order],
        mass=mass // divisor,
        start=start,
        feature=feature[by_item],
        count=count[by_item],
        table_start=table_start,
        table=table // divisor,
        price=np.zeros(len(table_start) - 1, np.int64),
        costs=CappedCosts.none(items),
        base=0,
        low=max(program.min_length, 0),
        high=program.max_length,
        scale=_scale(reach),
        ties=Ties(parent, need_joint, need_unit, veto_joint, veto_unit, rows),
    )
    stop_at(deadline)
    return reduced(whole, _fitting(whole)), divisor


def _plain_core(program: Program) -> tuple[Core, int]:
    table, mass = program.table, program.mass
    divisor = _divisor(table, mass)
    # Python's integers: the sum may be beyond 64 bits.
    total = sum(np.abs(table[program.table_start[1:] - 1]).tolist()) + sum(np.abs(mass).tolist())
    reach = float(total) * program.size * len(table)  # beyond all prices and shares, and mostly small all the same
    if reach * _SCALE > _MAX_SCALED:
        reach = _reach(program)
    reach /= divisor
    if max(total // divisor, reach) > _MAX_VALUE:
        _refuse(str(total))
    lengths = program.lengths
    state = np.where(lengths <= program.max_length, np.int8(FREE), np.int8(DROPPED))
    whole = Core(
        ids=np.arange(program.size, dtype=np.int64),
        lengths=lengths,
        mass=mass // divisor if divisor > 1 else mass,
        start=program.unit_start,
        feature=program.unit_feature,
        count=program.unit_count,
        table_start=program.table_start,
        table=table // divisor if divisor > 1 else table,
        price=np.zeros(len(program.table_start) - 1, np.int64),
        costs=CappedCosts.none(program.size),
        base=0,
        low=max(program.min_length, 0),
        high=min(program.max_length, int(lengths[state == FREE].sum())),
        scale=_scale(reach),
        ties=NO_TIES,
    )
    return reduced(whole, state), divisor


def _divisor(table: IntArray, mass: IntArray) -> int:
    found = int(np.gcd.reduce(table)) if len(table) else 0
    if len(mass):
        found = int(np.gcd.reduce(mass, initial=found))
    return max(abs(found), 1)


def _refuse(total: str) -> None:
    raise UnsupportedError(
        f"The gains add up to {total}, beyond the exact engine's integers; use the strategy milp or exhaustive."
    )


def _scale(reach: float) -> int:
    scale = _SCALE
    while scale > 1 and reach * scale > _MAX_SCALED:
        scale //= 2
    return scale


def _reach(program: Program) -> float:
    first = np.abs(first_gains(program.table_start, program.table)).astype(np.float64)
    copies = np.minimum(program.unit_count, widths(program.table_start)[program.unit_feature] - 1)
    return float(first[program.unit_feature] @ copies) + float(np.abs(program.mass).sum(dtype=np.float64))


def _reach_of_ties(
    table_start: IntArray,
    table: IntArray,
    item: IntArray,
    feature: IntArray,
    count: IntArray,
    mass: IntArray,
    rows: JointRows,
) -> float:
    """Return the largest sum that the kernels can meet; prices of rows are cut at their members' gains."""
    slope = np.abs(first_gains(table_start, table)).astype(np.float64)
    gains = np.zeros(len(mass))
    np.add.at(gains, item, slope[feature] * count)
    first_joint = len(mass) - (int(rows.joint.max()) + 1 if len(rows.joint) else 0)
    most = np.zeros(len(rows.unit))
    np.maximum.at(most, rows.row, gains[first_joint + rows.joint])
    return float(2 * gains.sum() + 2 * most.sum() + np.abs(mass.astype(np.float64)).sum())


def _patience(program: Program, deadline: Deadline) -> Deadline:
    """Return the deadline to ask while the instance is made; raise `Stopped` where that is known to take longer."""
    vetoes = sum(len(joint.vetoes) for joint in program.joints)
    if vetoes < _MANY:
        return NEVER  # it does not take long, and gives something to answer
    if vetoes * _VETO_S > deadline.left_s:
        raise Stopped(Termination.TIME_LIMIT)
    return deadline


def _gained(program: Program, number: IntArray, joints: Sequence[_Occurrence]) -> tuple[IntArray, IntArray, IntArray]:
    """Return item, feature and copies for all items: units by their numbers, and after them joints."""
    n = len(number)
    gives = [(n + o, feature, count) for o, joint in enumerate(joints) for feature, count in joint.gives.items()]
    extra = np.array(gives, np.int64).reshape(-1, 3)
    return (
        np.concatenate([number[np.repeat(np.arange(n), widths(program.unit_start))], extra[:, 0]]),
        np.concatenate([program.unit_feature, extra[:, 1]]),
        np.concatenate([program.unit_count, extra[:, 2]]),
    )


def _fitting(core: Core) -> States:
    """Drop units that are longer than the maximum, and those below them."""
    state = np.where(core.lengths <= core.high, np.int8(FREE), np.int8(DROPPED))
    for unit in np.flatnonzero(core.ties.parent >= 0):
        if state[core.ties.parent[unit]] == DROPPED:
            state[unit] = DROPPED
    return state
