"""Start processes and threads that end when optsum ends or is interrupted."""
