"""The MILP solvers, one file each; what all of them declare is `optsum.contracts.backend.Declaration`."""
