"""Files for other programs: instances for solvers and their answers, and training labels."""
