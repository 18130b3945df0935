"""The integer program of an instance, its relaxation, and its bounds, proven in integers."""
