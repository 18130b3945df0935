"""Executors: one interface for this process, other processes, a cluster, or an executor of the caller."""
