"""Searches that prove their answer: exact strategies, the backends of `milp`, and what bounds other searches.

=====================  =============================================================================================
module                 answers
=====================  =============================================================================================
`auto`                 which search a topic gets if none is named: `few_units` first, then the best of `choices`
`branch_and_bound`     the strategy of that name; it asks `few_units` first, then `levels` or `objectives`,
                       which make programs for the `engine`
`exhaustive`           the strategy that looks at every selection
`milp`                 the strategy that asks a MILP solver of `backends`, for ratios and their sums too,
                       and believes no claim unchecked
`certificate`          a bound for a search that proves nothing
=====================  =============================================================================================
"""
