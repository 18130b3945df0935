"""Twenty-two problems of operations research, about ten lines each.

Each function makes one small instance from a seed. On the command line, give a problem in place of topics:

    optsum solve examples/problems/classic.py:set_cover
    optsum compare examples/problems/classic.py:maximized --strategies greedy,vns,genetic
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from random import Random
from typing import Any

import pyomo.environ as pyo

import optsum
from optsum import Coverage, CoverageProblem, Row, Sense

MINIMIZE = Sense.MINIMIZE


def knapsack(seed: int = 0, n: int = 40) -> optsum.Problem:
    """Choose items of most worth that the knapsack holds."""
    rng = Random(seed)
    weights = [rng.randint(10, 99) for _ in range(n)]
    worth = [[weight + rng.randint(-9, 30)] for weight in weights]
    instance = Coverage.of(weights, [{item: 1} for item in range(n)], worth, max_length=sum(weights) // 3)
    return CoverageProblem.of(instance, name="knapsack")


def subset_sum(seed: int = 0, n: int = 40) -> optsum.Problem:
    """Come as near to a sum as numbers of a set allow, from below: a knapsack whose worth is the weight."""
    rng = Random(seed)
    numbers = [rng.randint(100, 999) for _ in range(n)]
    instance = Coverage.of(
        numbers, [{item: 1} for item in range(n)], [[number] for number in numbers], max_length=sum(numbers) // 3
    )
    return CoverageProblem.of(instance, name="subset-sum")


def several_knapsacks(seed: int = 0, n: int = 30, m: int = 4) -> optsum.Problem:
    """Keep several limits at once: the multidimensional knapsack. Further limits are rows."""
    rng = Random(seed)
    uses = [[rng.randint(5, 60) for _ in range(n)] for _ in range(m)]
    worth = [[sum(use[item] for use in uses) // m + rng.randint(0, 20)] for item in range(n)]
    rows = tuple(Row(tuple(range(n)), tuple(use), high=sum(use) // 2, name="resource") for use in uses[1:])
    limit = sum(uses[0]) // 2
    instance = Coverage.of(uses[0], [{item: 1} for item in range(n)], worth, max_length=limit, rows=rows)
    return CoverageProblem.of(instance, name="several-knapsacks")


def multiple_choice(seed: int = 0, groups: int = 10, each: int = 4) -> optsum.Problem:
    """Choose at most one item of each group: the multiple-choice knapsack."""
    rng = Random(seed)
    n = groups * each
    weights = [rng.randint(5, 50) for _ in range(n)]
    worth = [[weight + rng.randint(0, 15)] for weight in weights]
    rows = tuple(Row(tuple(range(g * each, (g + 1) * each)), (1,) * each, high=1, name="group") for g in range(groups))
    limit = sum(weights) // 6
    instance = Coverage.of(weights, [{item: 1} for item in range(n)], worth, max_length=limit, rows=rows)
    return CoverageProblem.of(instance, name="multiple-choice")


def max_coverage(seed: int = 0, n: int = 40, m: int = 120, k: int = 8) -> optsum.Problem:
    """Choose k sets that hold most elements together."""
    rng = Random(seed)
    sets = [dict.fromkeys(rng.sample(range(m), 12), 1) for _ in range(n)]
    return CoverageProblem.of(Coverage.of([1] * n, sets, [[1]] * m, max_length=k), name="max-coverage")


def budgeted_coverage(seed: int = 0, n: int = 40, m: int = 120) -> optsum.Problem:
    """Buy sets of different prices for a budget; elements have different worth."""
    rng = Random(seed)
    sets = [dict.fromkeys(rng.sample(range(m), rng.randint(5, 20)), 1) for _ in range(n)]
    prices = [len(held) + rng.randint(0, 10) for held in sets]
    worth = [[rng.randint(1, 9)] for _ in range(m)]
    return CoverageProblem.of(Coverage.of(prices, sets, worth, max_length=sum(prices) // 5), name="budgeted-coverage")


def set_cover(seed: int = 0, n: int = 60, m: int = 40) -> optsum.Problem:
    """Hold every element by as few sets as can be."""
    rng = Random(seed)
    sets = [dict.fromkeys(rng.sample(range(m), 6), 1) for _ in range(n)]
    for element in range(m):
        sets[rng.randrange(n)].setdefault(element, 1)
    return CoverageProblem.of(Coverage.of([1] * n, sets, [[1]] * m, goal=MINIMIZE), name="set-cover")


def weighted_set_cover(seed: int = 0, n: int = 60, m: int = 40) -> optsum.Problem:
    """Hold every element by sets that cost as little as can be."""
    rng = Random(seed)
    sets = [dict.fromkeys(rng.sample(range(m), rng.randint(3, 9)), 1) for _ in range(n)]
    for element in range(m):
        sets[rng.randrange(n)].setdefault(element, 1)
    prices = [rng.randint(1, 9) + len(held) for held in sets]
    return CoverageProblem.of(Coverage.of(prices, sets, [[1]] * m, goal=MINIMIZE), name="weighted-set-cover")


def multi_cover(seed: int = 0, n: int = 50, m: int = 25) -> optsum.Problem:
    """Hold every element twice: a copy more gains until the second."""
    rng = Random(seed)
    sets = [dict.fromkeys(rng.sample(range(m), 6), 1) for _ in range(n)]
    for element in range(m):
        for unit in rng.sample(range(n), 2):
            sets[unit].setdefault(element, 1)
    return CoverageProblem.of(Coverage.of([1] * n, sets, [[1, 1]] * m, goal=MINIMIZE), name="multi-cover")


def graph(seed: int, n: int, edges: int) -> list[tuple[int, int]]:
    """Return a random graph."""
    return Random(seed).sample(list(combinations(range(n), 2)), edges)


def vertex_cover(seed: int = 0, n: int = 40, edges: int = 90) -> optsum.Problem:
    """Touch every edge by as few vertices as can be: a cover whose elements are edges."""
    lines = graph(seed, n, edges)
    touched = [{number: 1 for number, line in enumerate(lines) if vertex in line} for vertex in range(n)]
    return CoverageProblem.of(Coverage.of([1] * n, touched, [[1]] * edges, goal=MINIMIZE), name="vertex-cover")


def dominating_set(seed: int = 0, n: int = 50, edges: int = 100) -> optsum.Problem:
    """Have every vertex chosen, or beside a chosen one."""
    beside: list[dict[int, int]] = [{vertex: 1} for vertex in range(n)]
    for one, other in graph(seed, n, edges):
        beside[one][other] = beside[other][one] = 1
    return CoverageProblem.of(Coverage.of([1] * n, beside, [[1]] * n, goal=MINIMIZE), name="dominating-set")


def independent_set(seed: int = 0, n: int = 50, edges: int = 120) -> optsum.Problem:
    """Choose as many vertices as can be of which no two are joined: each edge is a row."""
    rows = tuple(Row(line, (1, 1), high=1, name="edge") for line in graph(seed, n, edges))
    instance = Coverage.of([1] * n, [{vertex: 1} for vertex in range(n)], [[1]] * n, rows=rows)
    return CoverageProblem.of(instance, name="independent-set")


def clique(seed: int = 0, n: int = 40, edges: int = 500) -> optsum.Problem:
    """Choose as many vertices as can be of which all are joined: an independent set of what is not."""
    joined = set(graph(seed, n, edges))
    rows = tuple(Row(pair, (1, 1), high=1, name="gap") for pair in combinations(range(n), 2) if pair not in joined)
    instance = Coverage.of([1] * n, [{vertex: 1} for vertex in range(n)], [[1]] * n, rows=rows)
    return CoverageProblem.of(instance, name="clique")


def facility_location(seed: int = 0, clients: int = 40, sites: int = 20, k: int = 5) -> optsum.Problem:
    """Open k sites: each client is served by the open one that is worth most to it."""
    rng = Random(seed)
    values = [[rng.randint(0, 99) for _ in range(sites)] for _ in range(clients)]
    return CoverageProblem.of(Coverage.facility(values, k), name="facility-location")


def p_median(seed: int = 0, n: int = 30, k: int = 4) -> optsum.Problem:
    """Open k places so that the ways to the nearest are short: what they fall short of the longest way is worth."""
    rng = Random(seed)
    at = [(rng.randint(0, 99), rng.randint(0, 99)) for _ in range(n)]
    ways = [[abs(x - u) + abs(y - v) for u, v in at] for x, y in at]
    longest = max(map(max, ways))
    return CoverageProblem.of(Coverage.facility([[longest - way for way in row] for row in ways], k), name="p-median")


def on_time_jobs(seed: int = 0, n: int = 35) -> optsum.Problem:
    """Choose jobs of most worth that one machine ends before their due dates: a limit for each due date."""
    rng = Random(seed)
    takes = [rng.randint(1, 20) for _ in range(n)]
    due = sorted(rng.randint(10, sum(takes) // 2) for _ in range(n))
    worth = [[rng.randint(1, 50)] for _ in range(n)]
    rows = tuple(Row(tuple(range(j + 1)), tuple(takes[: j + 1]), high=due[j], name="due") for j in range(n))
    return CoverageProblem.of(Coverage.of(takes, [{j: 1} for j in range(n)], worth, rows=rows), name="on-time-jobs")


def intervals(seed: int = 0, n: int = 60) -> optsum.Problem:
    """Choose intervals of most worth of which no two meet: at each begin one at most is under way."""
    rng = Random(seed)
    begins = [rng.randint(0, 200) for _ in range(n)]
    ends = [begin + rng.randint(5, 40) for begin in begins]
    meets = [tuple(i for i in range(n) if begins[i] <= now < ends[i]) for now in begins]
    rows = tuple(Row(held, (1,) * len(held), high=1, name="moment") for held in meets)
    worth = [[ends[i] - begins[i] + rng.randint(0, 9)] for i in range(n)]
    return CoverageProblem.of(Coverage.of([1] * n, [{i: 1} for i in range(n)], worth, rows=rows), name="intervals")


def assignment(seed: int = 0, n: int = 8) -> optsum.Problem:
    """Give each worker at most one task, and each task to at most one worker: units are pairs."""
    rng = Random(seed)
    pairs = [(worker, task) for worker in range(n) for task in range(n)]
    sides = [tuple(u for u, pair in enumerate(pairs) if pair[side] == at) for side in (0, 1) for at in range(n)]
    rows = tuple(Row(held, (1,) * n, high=1, name="once") for held in sides)
    worth = [[rng.randint(1, 99)] for _ in pairs]
    instance = Coverage.of([1] * len(pairs), [{u: 1} for u in range(len(pairs))], worth, rows=rows)
    return CoverageProblem.of(instance, name="assignment", labels=[f"{worker} does {task}" for worker, task in pairs])


def max_cut(seed: int = 0, n: int = 16, edges: int = 40) -> optsum.Problem:
    """Part a graph so that most edges go across: a model of Pyomo, whose units are one side."""
    model = pyo.ConcreteModel()
    lines = graph(seed, n, edges)
    model.side = pyo.Var(range(n), within=pyo.Binary)
    model.cut = pyo.Var(range(edges), within=pyo.Binary)
    model.one = pyo.Constraint(range(edges), rule=lambda m, e: m.cut[e] <= m.side[lines[e][0]] + m.side[lines[e][1]])
    model.both = pyo.Constraint(
        range(edges), rule=lambda m, e: m.cut[e] <= 2 - m.side[lines[e][0]] - m.side[lines[e][1]]
    )
    model.across = pyo.Objective(expr=sum(model.cut[e] for e in range(edges)), sense=pyo.maximize)
    return optsum.PyomoProblem(model, units=[model.side[v] for v in range(n)], name="max-cut")


def bin_packing(seed: int = 0, items: int = 8, bins: int = 5, room: int = 100) -> optsum.Problem:
    """Pack items into as few bins as can be: a model of Pyomo, whose units are bins; the packing follows from them."""
    rng = Random(seed)
    sizes = [rng.randint(20, 60) for _ in range(items)]
    model = pyo.ConcreteModel()
    model.used = pyo.Var(range(bins), within=pyo.Binary)
    model.lies = pyo.Var(range(items), range(bins), within=pyo.Binary)
    model.once = pyo.Constraint(range(items), rule=lambda m, i: sum(m.lies[i, b] for b in range(bins)) == 1)
    model.fits = pyo.Constraint(
        range(bins), rule=lambda m, b: sum(sizes[i] * m.lies[i, b] for i in range(items)) <= room * m.used[b]
    )
    model.bins = pyo.Objective(expr=sum(model.used[b] for b in range(bins)))
    return optsum.PyomoProblem(model, units=[model.used[b] for b in range(bins)], name="bin-packing")


def graph_colouring(seed: int = 0, n: int = 9, edges: int = 18, colours: int = 5) -> optsum.Problem:
    """Colour a graph by as few colours as can be: units are colours, the colouring follows from them."""
    lines = graph(seed, n, edges)
    model = pyo.ConcreteModel()
    model.used = pyo.Var(range(colours), within=pyo.Binary)
    model.has = pyo.Var(range(n), range(colours), within=pyo.Binary)
    model.once = pyo.Constraint(range(n), rule=lambda m, v: sum(m.has[v, c] for c in range(colours)) == 1)
    model.differs = pyo.Constraint(
        range(edges), range(colours), rule=lambda m, e, c: sum(m.has[v, c] for v in lines[e]) <= m.used[c]
    )
    model.colours = pyo.Objective(expr=sum(model.used[c] for c in range(colours)))
    return optsum.PyomoProblem(model, units=[model.used[c] for c in range(colours)], name="graph-colouring")


@dataclass(frozen=True, eq=False, kw_only=True)
class QuadraticKnapsack(optsum.Problem):
    """Items are worth something, and something more in pairs: a function that can only be evaluated, and bounded."""

    worth: tuple[tuple[int, ...], ...]

    def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
        """Sum up items and pairs."""
        value = sum(self.worth[one][other] for one in selection for other in selection if one <= other)
        return optsum.Evaluation(value, self.excess(selection), value)

    def bound(self, chosen: tuple[int, ...], open: tuple[int, ...]) -> int:  # noqa: A002
        """Return what the chosen items are worth, and all open ones with all that they may be paired with."""
        may = {*chosen, *open}
        gains = [sum(self.worth[min(one, unit)][max(one, unit)] for one in may) for unit in open]
        return int(self.evaluate(chosen).key) + sum(gains)


def quadratic_knapsack(seed: int = 0, n: int = 16) -> optsum.Problem:
    """Choose items for a knapsack that are worth more in pairs."""
    rng = Random(seed)
    worth = tuple(tuple(rng.choice([0, 0, rng.randint(1, 30)]) if i < j else 20 for j in range(n)) for i in range(n))
    lengths = tuple(rng.randint(5, 30) for _ in range(n))
    return QuadraticKnapsack(worth=worth, lengths=lengths, max_length=sum(lengths) // 3, name="quadratic-knapsack")


MAXIMIZED: Any = (
    *(knapsack, subset_sum, several_knapsacks, multiple_choice, quadratic_knapsack, max_coverage, budgeted_coverage),
    *(facility_location, p_median, independent_set, clique, on_time_jobs, intervals, assignment, max_cut),
)
MINIMIZED: Any = (
    *(set_cover, weighted_set_cover, multi_cover, vertex_cover, dominating_set, bin_packing, graph_colouring),
)


def maximized() -> Iterator[optsum.Problem]:
    """Yield those in which much is better."""
    yield from (make() for make in MAXIMIZED)


def minimized() -> Iterator[optsum.Problem]:
    """Yield those in which little is better."""
    yield from (make() for make in MINIMIZED)


def of_size(make: Callable[..., optsum.Problem], n: int, m: int) -> Iterator[optsum.Problem]:
    """Yield three instances of n sets and m elements."""
    for seed in range(3):
        problem = make(seed, n, m)
        yield replace(problem, name=f"{problem.name}-{n}-{seed}")


coverage_50 = partial(of_size, budgeted_coverage, 50, 150)
coverage_100 = partial(of_size, budgeted_coverage, 100, 300)
coverage_200 = partial(of_size, budgeted_coverage, 200, 600)
cover_100 = partial(of_size, weighted_set_cover, 100, 60)
cover_200 = partial(of_size, weighted_set_cover, 200, 120)
cover_400 = partial(of_size, weighted_set_cover, 400, 240)
