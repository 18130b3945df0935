"""Formulations: each one defines the units of a topic and builds an optimization problem from it.

==============  ====================================================================================================
module          content
==============  ====================================================================================================
`extractive`    whole sentences, for every metric that counts in texts, and for the similarity of vectors
`compressive`   chunks of sentences, which need their parents
`cover`         the fewest sentences that support an abstract, or the most claims within a budget
`without_text`  problems and lines of the normal form that are given instead of a text
==============  ====================================================================================================
"""
