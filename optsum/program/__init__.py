"""The integer program of an instance, its relaxation, and the bounds that follow from it, proven in integers."""
