"""Heuristics: strategies without a proof of optimality; results have a certified bound if the problem offers one.

==================  ================================================================================================
module              content
==================  ================================================================================================
`local_search`      `greedy+ls`: the greedy selection, improved by moves; `vns` and `vns+greedy`: variable
                    neighbourhood search
`genetic`           `genetic` and `genetic+greedy`: genetic algorithms
`akhmetov_literal`  the heuristics of Akhmetov et al. 2022 as printed
`moves`             the moves, kernels and time slices that local search and genetic algorithms share
`baselines`         `lead`, `random` and `greedy`; stopping at the bound, and local search for
                    problems that only have `evaluate`, `moves` and `repair`
==================  ================================================================================================
"""
