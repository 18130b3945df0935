"""Heuristics: greedy, local search, VNS, genetic search and baselines, each with a certified bound."""
