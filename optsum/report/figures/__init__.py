"""Figures of comparisons, frontiers and studies, and their data."""
