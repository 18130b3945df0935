"""Formulations: each one defines the units of a topic and builds an optimization problem from it."""
