"""Solvers that are reached through Pyomo: what they share, and the one that Pyomo reaches in this process."""
