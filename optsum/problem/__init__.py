"""Problems, which strategies search.

`Problem` is the small interface that a user's own metric needs; `CoverageProblem` implements all of it on the normal
form.
"""
