"""The normal form of problems: arrays of units, occurrences and features, their evaluation, and compiled kernels."""
