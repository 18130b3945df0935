"""Compare `auto`, two heuristics and two solvers with known optima of problems of operations research.

    python benchmarks/problems.py [--limit 5] [--backends highs,cp-sat] [--heuristics greedy,vns] [--seeds 1]
    python benchmarks/problems.py --others [--limit 5]        # five problems, with pymoo and pagmo at equal time
    python benchmarks/problems.py --sizes [--limit 10] [--backends highs,cbc,glpk,scip,cp-sat,gurobi]

The program prints the table of docs/problems.md, or with --sizes, for each size of an instance, the median seconds, the
number of proofs, and the mean gap. The known optimum comes from an independent method (examples/problems/known.py). A
ratio is value / optimum, or optimum / value when minimizing. A value better than a known optimum, or a proven value
that differs from it, ends the program. pymoo's genetic algorithm and pagmo's ant colony (gaco) and harmony search (ihs)
evaluate selections by `Problem.evaluate`, as optsum's heuristics do on a problem that can only evaluate: pip install
pymoo pygmo.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

import numpy as np

import optsum

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples/problems"))
import classic
import known

NAMES = ("coverage_50", "coverage_100", "coverage_200", "cover_100", "cover_200", "cover_400")
SIZES: list[Callable[[], Iterator[optsum.Problem]]] = [getattr(classic, name) for name in NAMES]
FIVE = (classic.knapsack, classic.several_knapsacks, classic.max_coverage, classic.independent_set, classic.set_cover)


def ratio(problem: optsum.Problem, value: float | None, best: int) -> float | None:
    if value is None:
        return None
    larger, smaller = (best, value) if problem.sense is optsum.Sense.MAXIMIZE else (value, best)
    assert smaller <= larger, f"{problem.name}: {value} is better than the optimum {best}"
    return smaller / larger if larger else 1.0


def line(cells: list[object]) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def shown(problem: optsum.Problem, result: optsum.Result, best: int, *, heuristic: bool, limit: float) -> str:
    """Return the ratio of a heuristic, or the seconds of a proof; without a proof, the ratio at the limit."""
    share = ratio(problem, result.objective, best)
    if share is None:
        return "-"
    if result.status is optsum.Status.OPTIMAL:
        assert result.objective == best, f"{problem.name}: {result.objective} is called optimal, and {best} is"
        return f"{share:.3f}" if heuristic else f"{result.timing.answer_s:.2f}"
    return f"{share:.3f}" if heuristic else f"{share:.3f} at {limit:g} s"


def table(given: argparse.Namespace) -> None:
    """Print a line for each problem."""
    heuristics, backends = given.heuristics.split(","), started(given)
    line(["function", "optimum", "auto, s", *heuristics, *(f"{backend}, s" for backend in backends)])
    line(["---", *["--:"] * (2 + len(heuristics) + len(backends))])
    for make in (*classic.MAXIMIZED, *classic.MINIMIZED):
        problem = make()
        best = known.optimum(problem)
        compared = optsum.compare(
            [problem], ["auto", *heuristics, "milp"], exact="auto", backends=backends, time_limit=given.limit
        )
        assert not compared.contradictions, problem.name
        found = {
            f"{result.strategy} {result.backend or ''}" if result.strategy == "milp" else result.strategy: result
            for result in compared.results
        }
        names = ["auto", *heuristics, *(f"milp {backend}" for backend in backends)]
        cells = (
            shown(problem, found[name], best, heuristic=name in heuristics, limit=given.limit) if name in found else "-"
            for name in names
        )
        line([f"`{make.__name__}`", best, *cells])


def started(given: argparse.Namespace) -> list[str]:
    """Return the solvers; those that need a process have started it."""
    backends = given.backends.split(",")
    for backend in backends:
        optsum.search(classic.knapsack(), "milp", backend=backend)
    return backends


def sizes(given: argparse.Namespace) -> None:
    """Print a line for each solver, with a column for each size of budgeted coverage and weighted set cover."""
    backends = started(given)
    cells: dict[str, list[str]] = {name: [] for name in ("auto", *backends)}
    for make in SIZES:
        compared = optsum.compare(
            list(make()), ["auto", "milp"], exact="auto", backends=backends, time_limit=given.limit
        )
        assert not compared.contradictions, make
        for name, held in cells.items():
            found = [
                each
                for each in compared.results
                if name == (each.backend if each.strategy == "milp" else each.strategy)
            ]
            proven = sum(each.status is optsum.Status.OPTIMAL for each in found)
            gaps = [each.gap for each in found if each.gap is not None]
            gap = f"{fmean(gaps):.1%}".replace("%", " %") if len(gaps) == len(found) else "-"
            held.append(f"{median(each.timing.answer_s for each in found):.1f}, {proven}/{len(found)}, {gap}")
    line(["solver", *(f"`{name}`" for name in NAMES)])
    line(["---"] * (1 + len(SIZES)))
    for name, held in cells.items():
        line(["auto, not a solver" if name == "auto" else name, *held])


class OnlyEvaluates(optsum.Problem):
    """A problem that can only evaluate, made from another problem."""

    def __init__(self, inner: optsum.Problem) -> None:
        limits = {"min_length": inner.min_length, "max_length": inner.max_length}
        super().__init__(lengths=inner.lengths, sense=inner.sense, name=inner.name, **limits)
        object.__setattr__(self, "inner", inner)

    inner: optsum.Problem

    def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
        """Evaluate by the other problem."""
        return self.inner.evaluate(selection)


def scored(problem: optsum.Problem, chosen: Any) -> tuple[float, float]:
    """Return the minimized value of a selection, and its violation of the limits."""
    seen = problem.evaluate(tuple(np.flatnonzero(np.asarray(chosen) > 0.5).tolist()))
    return (-1 if problem.sense is optsum.Sense.MAXIMIZE else 1) * float(seen.key), float(seen.violation)


def by_pymoo(problem: optsum.Problem, limit: float, seed: int) -> float | None:
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.core.problem import ElementwiseProblem
    from pymoo.operators.crossover.pntx import TwoPointCrossover
    from pymoo.operators.mutation.bitflip import BitflipMutation
    from pymoo.operators.sampling.rnd import BinaryRandomSampling
    from pymoo.optimize import minimize
    from pymoo.termination.max_time import TimeBasedTermination

    class Posed(ElementwiseProblem):  # type: ignore[misc]
        def _evaluate(self, x: Any, out: dict[str, Any], *_: Any, **__: Any) -> None:
            value, violation = scored(problem, x)
            out["F"], out["G"] = [value], [violation]

    algorithm = GA(
        pop_size=100, sampling=BinaryRandomSampling(), crossover=TwoPointCrossover(), mutation=BitflipMutation()
    )
    posed = Posed(n_var=problem.size, n_obj=1, n_ieq_constr=1, xl=0, xu=1, vtype=bool)
    found = minimize(posed, algorithm, TimeBasedTermination(limit), seed=seed)
    return None if found.F is None else abs(float(found.F[0]))


def by_pagmo(name: str) -> Callable[[optsum.Problem, float, int], float | None]:
    def run(problem: optsum.Problem, limit: float, seed: int) -> float | None:
        import pygmo

        class Posed:
            def fitness(self, x: Any) -> list[float]:
                return list(scored(problem, x))

            def get_bounds(self) -> tuple[list[int], list[int]]:
                return [0] * problem.size, [1] * problem.size

            def get_nix(self) -> int:
                return problem.size

            def get_nic(self) -> int:
                return 1

        began = perf_counter()
        many = 100 if name == "gaco" else 20
        population = pygmo.population(pygmo.problem(Posed()), many, seed=seed)
        maker = {"gaco": lambda: pygmo.gaco(gen=5, ker=50, seed=seed), "ihs": lambda: pygmo.ihs(gen=200, seed=seed)}
        algorithm = pygmo.algorithm(maker[name]())
        while perf_counter() - began < limit:
            population = algorithm.evolve(population)
        value, violation = population.champion_f
        return None if violation > 0 else abs(float(value))

    return run


def others(given: argparse.Namespace) -> None:
    """Print the values that each library reaches in the same time."""
    programs: dict[str, Callable[[optsum.Problem, float, int], float | None]] = {
        "pymoo GA": by_pymoo,
        "pagmo gaco": by_pagmo("gaco"),
        "pagmo ihs": by_pagmo("ihs"),
    }
    ours = ["vns", "genetic", "auto"]
    line(["problem", "optimum", *programs, *(f"{name}, evaluating" for name in ours), "auto"])
    line(["---", *["---:"] * (1 + len(programs) + len(ours) + 1)])
    for make in FIVE:
        problem = make()
        best = known.optimum(problem)
        cells: list[object] = [problem.name, best]
        found = [[program(problem, given.limit, seed) for seed in range(given.seeds)] for program in programs.values()]
        found += [list(values(OnlyEvaluates(problem), name, given)) for name in ours]
        cells += [mean(problem, best, each) for each in found]
        cells.append(mean(problem, best, list(values(problem, "auto", given))))
        line(cells)


def values(problem: optsum.Problem, strategy: str, given: argparse.Namespace) -> Iterator[float | None]:
    for seed in range(given.seeds):
        yield optsum.search(problem, strategy, seed=seed, time_limit=given.limit).objective


def mean(problem: optsum.Problem, best: int, found: list[float | None]) -> str:
    ratios = [ratio(problem, value, best) or 0.0 for value in found]
    return f"{sum(ratios) / len(ratios):.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, help="seconds of a search [5, or 10 with --sizes]")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--backends", help="[highs,cp-sat, or highs,cbc,glpk,scip,cp-sat,gurobi with --sizes]")
    parser.add_argument("--heuristics", default="greedy,vns")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--sizes", action="store_true")
    arguments = parser.parse_args()
    arguments.limit = arguments.limit or (10.0 if arguments.sizes else 5.0)
    arguments.backends = arguments.backends or (
        "highs,cbc,glpk,scip,cp-sat,gurobi" if arguments.sizes else "highs,cp-sat"
    )
    (others if arguments.others else sizes if arguments.sizes else table)(arguments)
