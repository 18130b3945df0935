"""Files for and from other programs: instances for solvers, their solutions, and training labels."""
