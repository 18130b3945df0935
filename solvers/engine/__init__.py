"""Exact search of one program: all sets of units that reach a value, faster than a MILP solver finds one.

================  ===================================================================================================
module            idea
================  ===================================================================================================
`core`            what is searched: gains of features, counted once however often they are covered; the arrays of
                  such a program, and of what is left of it once units are decided
`bound`           linear programs, solved by HiGHS, whose multipliers are prices; the integer bound that prices give,
                  and the units that it decides
`search`          good sets at once; the depth-first search with merging of equal states: kernel, tables, memo, nodes
                  of the diagram
`driver`          bound, levels, fixing, which unit is decided next, search, splitting; several programs under the
                  limits of one run; statistics
================  ===================================================================================================

Units may be tied: by joints (occurrences that several units decide), by rows over joints, and by parents. Without ties
their arrays are empty, and the code for them is skipped.
"""
