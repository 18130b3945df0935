"""The processes that optsum starts: they import what it imports, keep their limits, and end when it ends."""
