"""Minimum covers, searched as clauses: one with a proof, or all of them, counted exactly."""
