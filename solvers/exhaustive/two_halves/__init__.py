"""The quick way of exhaustive search: each set of one half of the units with each of the other that fits."""
