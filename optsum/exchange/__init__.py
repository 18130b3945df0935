"""Instances for other solvers, and their answers back."""
