"""Processes and threads that optsum starts, and ends when it ends or is interrupted."""
