"""Families of selections, such as all optima, as decision diagrams that are counted and compared without listing."""
