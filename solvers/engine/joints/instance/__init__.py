"""The engine's instance: what it is, how one is made of a program, and what is left of it once units are decided."""
