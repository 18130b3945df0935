"""Formulations: each one defines the units of a topic and builds an optimization problem from it.

==============  ====================================================================================================
module          content
==============  ====================================================================================================
`extractive`    selects whole sentences, for every ROUGE metric and for similarities of vectors
`compressive`   selects chunks of sentences; a chunk needs its parent in the dependency tree
`cover`         selects the fewest sentences that support an abstract, or the most claims within a length
`without_text`  takes a problem, or an instance in the normal form as JSON, instead of a text
==============  ====================================================================================================
"""
