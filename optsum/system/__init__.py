"""The layer below all others: compiled functions, time limits, files, other processes, notebooks."""
