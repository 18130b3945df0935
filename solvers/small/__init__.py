"""Selections of few units: a plain depth-first search with a linear bound, which needs no relaxation."""
