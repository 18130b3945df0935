"""Objectives as programs of the engine: recall, one ratio, sums of ratios, what is near the best, many lengths."""
