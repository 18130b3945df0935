"""The normal form.

Units, occurrences and features in arrays, its independent evaluation, and the moves and kernels on it.
"""
