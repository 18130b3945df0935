"""Exact strategies, the backends of `milp`, and bounds for other searches.

=====================  =============================================================================================
module                 content
=====================  =============================================================================================
`auto`                 the default strategy: `few_units` first, then the strategies in the order of `auto_order`
`branch_and_bound`     the strategy `branch-and-bound`: `few_units` first, then `objectives`, which make programs for
                       the `engine`
`exhaustive`           the strategy that evaluates every selection
`milp`                 the strategy that uses a MILP solver of `backends`, also for ratios and their sums, and
                       checks the claims of the solver
`certificate`          a bound for heuristic searches
=====================  =============================================================================================
"""
