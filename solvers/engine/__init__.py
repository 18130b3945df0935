"""Exact search for one program: all sets of units that reach a value, faster than a MILP solver finds one.

=================  ==================================================================================================
module             idea
=================  ==================================================================================================
`program`          what is searched: gains of features, counted once however often they are covered
`driver`           bound, levels, fixing, search, splitting, for either family of programs
`operations`       what the driver calls, as functions of a core: those of `singles` or of `joints`
`monitor`          limits and statistics of a run
`relaxation`       one HiGHS session: multipliers from linear relaxations
`search`           depth-first search with merging of equal states, whatever the kernel
`store`            the nodes of the decision diagram
`effort`           when to give up and split
`reduction`        what becomes of a core once units are decided (`terms`)
`tables`           what the depth-first search looks up
`singles`          programs whose occurrences are decided by single units
`joints`           programs with joints, parents and negative terms
=================  ==================================================================================================

Both packages have the same modules: `operations` (what the driver calls), `core` (the arrays of what is undecided),
`relaxation` (its linear program), `bound` (the integer bound, and the units it decides), `order` (which unit to decide
next), `kernel` (the depth-first search), `guess` (a good set at once).
"""
