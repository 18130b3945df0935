"""What lies under all: compiled functions, time limits, files, other processes, notebooks."""
