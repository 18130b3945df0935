"""Exhaustive search: the strategy, and its three walks through all selections within the limits."""
