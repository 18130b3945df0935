"""Searches that prove their answer: exact strategies, the backends of `milp`, and what bounds other searches.

=====================  =============================================================================================
module                 answers
=====================  =============================================================================================
`auto`                 which search a topic gets if none is named
`branch_and_bound`     the strategy of that name; it asks `few_units` first, then `covers`, `levels` or `objectives`,
                       which make programs for the `engine`
`own_bound`            the same for problems that bound themselves, in plain Python
`exhaustive`           the strategy that looks at every selection
`milp`                 the strategy that asks a MILP solver of `backends`; ratios and their sums: `milp_ratio`,
                       `milp_sum`
`certificate`          a bound for a search that proves nothing
`audit`                whether a solver's claims are believed, and proven again
=====================  =============================================================================================
"""
