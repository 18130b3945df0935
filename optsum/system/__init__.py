"""The layer below all others: compiled functions, time limits, files, processes, notebooks."""
