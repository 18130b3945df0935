"""Searches for each kind of objective, mostly by programs of the engine: minimum covers, one ratio, means of ratios."""
