"""Processes and threads that work beside optsum, and end when it ends or is told to."""
