"""Formulations: they define the units of a topic (sentences, chunks, covers) and build the problem from them."""
