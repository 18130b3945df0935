"""What is said while the work goes on, where, and how much of it."""
