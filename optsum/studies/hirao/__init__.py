"""Enumeration of extractive oracles (Hirao et al. 2017)."""
