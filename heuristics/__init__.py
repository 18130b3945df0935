"""Heuristics: strategies that prove nothing, each result with a certified bound where the problem has one.

==================  ================================================================================================
module              answers
==================  ================================================================================================
`greedy`            `greedy`: the unit of most gain for its length, again and again
`local_search`      `greedy+ls`: the greedy selection, improved by moves
`vns`               `vns` and `vns+greedy`: variable neighbourhood search
`genetic`           `genetic` and `genetic+greedy`
`akhmetov_literal`  the heuristics of Akhmetov et al. 2022 as printed
`baselines`         `lead` and `random`
`moves`             the moves and kernels that several of them share
`starting`          starts the others, limits how long a kernel runs, stops at the bound; local search for problems
                    that only have `evaluate`, `moves` and `repair`
==================  ================================================================================================
"""
