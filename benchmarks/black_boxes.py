"""Compare `auto` with greedy search and VNS at the same limit, on problems that can only evaluate.

    python benchmarks/black_boxes.py [--problems 200] [--limits 0.1,1,5] [--first 0]

Problems are random, with 20 to 250 units: knapsacks, independent sets, coverage, sums of values of pairs, and products.
All searches have the same limit and seed. For each limit, the program prints how often `auto` is above, equal to and
below the better of the two, and every problem on which it is below, with the value of a repeated VNS, because a time
limit does not end two searches at exactly the same step. Seconds are CPU times of this process.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from time import process_time

import optsum
from optsum.system import clock


@dataclass(frozen=True, eq=False, kw_only=True)
class BlackBox(optsum.Problem):
    """A problem given by a function of the selection, with a length limit."""

    worth: Callable[[tuple[int, ...]], int]

    def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
        """Evaluate the function."""
        value = self.worth(selection)
        return optsum.Evaluation(value, self.excess(selection), value)


def knapsack(rng: Random, n: int) -> Callable[[tuple[int, ...]], int]:
    values = [rng.randint(1, 99) for _ in range(n)]
    return lambda chosen: sum(values[unit] for unit in chosen)


def independent(rng: Random, n: int) -> Callable[[tuple[int, ...]], int]:
    edges = {(rng.randrange(n), rng.randrange(n)) for _ in range(3 * n)}
    beside: list[set[int]] = [set() for _ in range(n)]
    for one, other in edges:
        if one != other:
            beside[one].add(other)

    def worth(chosen: tuple[int, ...]) -> int:
        held = set(chosen)
        return len(held) - 2 * sum(len(beside[unit] & held) for unit in chosen)

    return worth


def coverage(rng: Random, n: int) -> Callable[[tuple[int, ...]], int]:
    sets = [frozenset(rng.sample(range(3 * n), rng.randint(2, 12))) for _ in range(n)]
    return lambda chosen: len(frozenset().union(*(sets[unit] for unit in chosen)))


def pairs(rng: Random, n: int) -> Callable[[tuple[int, ...]], int]:
    gains = {(rng.randrange(n), rng.randrange(n)): rng.randint(-30, 40) for _ in range(6 * n)}
    by: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for (one, other), gain in gains.items():
        by[one].append((other, gain))

    def worth(chosen: tuple[int, ...]) -> int:
        held = set(chosen)
        return sum(gain for unit in chosen for other, gain in by[unit] if other in held)

    return worth


def product(rng: Random, n: int) -> Callable[[tuple[int, ...]], int]:
    one, other = ([rng.randint(0, 9) for _ in range(n)] for _ in range(2))
    return lambda chosen: sum(one[unit] for unit in chosen) * sum(other[unit] for unit in chosen)


KINDS = (knapsack, independent, coverage, pairs, product)


def problem_of(number: int) -> BlackBox:
    rng = Random(number)
    n = rng.choice([20, 40, 80, 150, 250])
    lengths = tuple(rng.randint(1, 20) for _ in range(n))
    kind = KINDS[number % len(KINDS)]
    name = f"{kind.__name__} of {n} units, number {number}"
    return BlackBox(worth=kind(rng, n), lengths=lengths, max_length=sum(lengths) // rng.randint(3, 10), name=name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--limits", default="0.1,1,5")
    given = parser.parse_args()
    clock.perf_counter = process_time
    for limit in map(float, given.limits.split(",")):
        above = equal = below = 0
        for number in range(given.first, given.first + given.problems):
            problem = problem_of(number)
            held = {
                strategy: optsum.search(problem, strategy, time_limit=limit, bound="none").objective or 0
                for strategy in ("greedy", "vns", "auto")
            }
            best = max(held["greedy"], held["vns"])
            above, equal, below = (
                above + (held["auto"] > best),
                equal + (held["auto"] == best),
                below + (held["auto"] < best),
            )
            if held["auto"] < best:
                again = optsum.search(problem, "vns", time_limit=limit, bound="none").objective
                print(f"  {limit:g} s, {problem.name}: {held}, vns once more {again}", flush=True)
        print(f"{limit:g} s: auto above {above}, equal {equal}, below {below} of {given.problems}", flush=True)


if __name__ == "__main__":
    main()
