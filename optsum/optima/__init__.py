"""Families of selections: decision diagrams, their algebra, and the optima that they hold."""
