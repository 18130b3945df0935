"""Formulations: each defines the units of a topic and builds its problem.

==============  ====================================================================================================
module          answers
==============  ====================================================================================================
`extractive`    whole sentences, for every metric that counts in texts
`compressive`   chunks of sentences, which need their parents
`cover`         the fewest sentences that support an abstract, or the most claims within a budget
`similar`       sentences by the similarity of vectors, for the metrics `similarity` and `similarity-shifted`
`given`         a problem that stands in place of a topic
==============  ====================================================================================================
"""
