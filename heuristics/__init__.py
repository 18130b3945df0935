"""Heuristics: strategies without a proof of optimality; results have a certified bound if the problem offers one.

==================  ================================================================================================
module              content
==================  ================================================================================================
`local_search`      `greedy+ls`: the greedy selection, improved by moves; `vns` and `vns+greedy`: variable
                    neighbourhood search
`genetic`           `genetic` and `genetic+greedy`
`akhmetov_literal`  the heuristics of Akhmetov et al. 2022 as printed
`moves`             the moves and kernels that several of them share
`starting`          `lead`, `random` and `greedy`; time slices of kernels, stopping at the bound; local search for
                    problems that only have `evaluate`, `moves` and `repair`
==================  ================================================================================================
"""
