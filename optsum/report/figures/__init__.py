"""Figures: data drawn, and what is drawn of comparisons and frontiers."""
