"""The MILP solvers, one in each file; `optsum.contracts.backend.Declaration` describes their declarations."""
