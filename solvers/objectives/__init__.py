"""Objectives as programs of the engine: recall, one ratio, sums of ratios, near-optimal sets, many lengths."""
