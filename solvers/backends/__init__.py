"""The MILP and MaxSAT solvers; `optsum.contracts.backend.Declaration` describes what each of them declares."""
