"""Formulations: each one defines the units of a topic and builds an optimization problem from it.

==============  ====================================================================================================
module          content
==============  ====================================================================================================
`extractive`    whole sentences, for every metric that counts in texts
`compressive`   chunks of sentences, which need their parents
`cover`         the fewest sentences that support an abstract, or the most claims within a budget
`similar`       sentences by the similarity of vectors, for the metrics `similarity` and `similarity-shifted`
`without_text`  problems and lines of the normal form that are given instead of a text
==============  ====================================================================================================
"""
