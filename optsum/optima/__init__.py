"""Families of selections: decision diagrams, their algebra, and optima."""
