"""Compressions: sentences of which parts may be left out."""
