"""Problems: the objects that strategies search.

`Problem`, the small part that one's own metric needs, and `CoverageProblem`, all of it on the normal form.
"""
