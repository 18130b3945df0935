"""Exhaustive search: the strategy, and its three ways through all selections within the limits."""
