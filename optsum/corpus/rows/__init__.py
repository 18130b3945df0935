"""Rows of results and labels: written in the format of the output's name, kept after every failure, and read back."""
