"""The normal form: arrays of units, occurrences and features; their evaluation, moves and kernels."""
