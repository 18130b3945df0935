"""Exact search of one program: all sets of units that reach a value, faster than a MILP solver finds one.

================  ===================================================================================================
module            content
================  ===================================================================================================
`core`            programs, which maximize gains of features that are concave in their copies; cores, the arrays that
                  remain of a program once units are decided
`bound`           linear relaxations, solved by HiGHS, whose multipliers are prices; the integer bound that prices
                  give, and the units that it decides
`search`          heuristics for good sets; the depth-first search that merges equal states: kernel, tables, memo,
                  nodes of the diagram
`driver`          the search of one program: bound, targets, fixing, order of units, splitting; several programs under
                  the limits of one run; statistics
================  ===================================================================================================

Units may be tied: by joints (occurrences that several units decide), by rows over joints, and by parents. Without ties
their arrays are empty, and the code for them is skipped.
"""
