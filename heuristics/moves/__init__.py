"""Moves of local search on the normal form: what they gain, the best of them, and the descent through them."""
