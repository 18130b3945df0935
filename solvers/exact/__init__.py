"""The exact engine: all sets of units that reach a value, faster than a MILP solver finds one.

=================  ==================================================================================================
module             idea
=================  ==================================================================================================
`solve`            recall: `solve_all`, `solve_one`
`knapsack`         the baseline, Algorithms 1-3 of Hirao et al. 2017: `solve_knapsack_all`, `..._one`
`engine`           all of the following together, for one program
`arrays`           the program of the kernels
`reduction`        what becomes of it once units are decided (`terms`)
`root_lp`          multipliers from the linear relaxation
`lagrangian`       the integer bound, and the units it decides
`order`            which unit to decide next
`search`           depth-first search with merging of equal states; its arrays (`state`, `tables`)
`effort`           when to give up and split
`store`            the nodes of the decision diagram
`primal`           a good set at once
=================  ==================================================================================================
"""

from __future__ import annotations

from .knapsack import knapsack_bound, solve_knapsack_all, solve_knapsack_one
from .running import Limits, Statistics
from .solve import Answer, solve_all, solve_one

__all__ = [
    "Answer",
    "Limits",
    "Statistics",
    "knapsack_bound",
    "solve_all",
    "solve_knapsack_all",
    "solve_knapsack_one",
    "solve_one",
]
