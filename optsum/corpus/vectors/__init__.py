"""Vectors of sentences and references, for metrics of similarity."""
